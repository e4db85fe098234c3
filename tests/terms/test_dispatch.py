"""Variables as terms of cons, unification and kanren."""

import numpy as np
import pytest
from cons import car, cdr, cons
from cons.core import ConsError
from etuples import apply as etuple_apply
from etuples import etuple, rands, rator
from etuples import etuplize as etuples_etuplize
from kanren import conde, eq, lall, run
from unification import reify, unify

import termgraph.tensor as tt
from termgraph.graph import Apply, Op
from termgraph.terms import OpTerm, Term, equals_literal, same_term, var, vars  # noqa: A004

FLOATS = ["float16", "float32", "float64"]


class Halves(Op):
    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type(), x.type()])


@pytest.fixture
def xy():
    return tt.dvectors("x", "y")


# --- cons -------------------------------------------------------------------------------------------------------------


def test_car_and_cdr(xy):
    x, y = xy
    z = x + y
    assert car(z) is z.head is tt.add.canonical and cdr(z) == (x, y)
    first, second = Halves()(x)
    assert car(second) is second.head and car(first) is not car(second)


def test_a_leaf_has_neither(xy):
    for leaf in (xy[0], tt.constant(1.0)):
        with pytest.raises(ConsError):
            car(leaf)
        with pytest.raises(ConsError):
            cdr(leaf)


def test_car_and_cdr_of_terms():
    a, b = vars("a b")
    assert car(a + b) is tt.add.canonical and cdr(a + b) == (a, b)


def test_cons_patterns(xy):
    x, y = xy
    head, tail, rest = vars("head tail rest")
    assert unify(cons(head, tail), x + y, {}) == {head: tt.add.canonical, tail: (x, y)}
    assert unify(x + y, cons(tt.add, cons(head, rest)), {}) == {head: x, rest: (y,)}
    assert unify(cons(tt.mul, tail), x + y, {}) is False
    assert unify(cons(head, tail), x, {}) is False


# --- unification ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("write", [
    lambda op, *args: op(*args), lambda op, *args: Term(op, args), lambda op, *args: etuple(op, *args),
    lambda op, *args: (op, *args), lambda op, *args: cons(op, args),
], ids=["call", "Term", "etuple", "tuple", "cons"])
def test_every_notation_of_a_pattern(xy, write):
    x, y = xy
    a, b = vars("a b")
    graph = tt.exp(x) * y
    pattern = write(tt.mul, write(tt.exp, a), b)
    for left, right in ((pattern, graph), (graph, pattern)):
        assert unify(left, right, {}) == {a: x, b: y}
    assert unify(write(tt.mul, write(tt.sin, a), b), graph, {}) is False
    assert unify(write(tt.mul, a, a), graph, {}) is False
    assert unify(write(tt.exp, a), graph, {}) is False
    assert unify(write(tt.exp, a), x, {}) is False


def test_a_repeated_variable_needs_the_same_term(xy):
    x, y = xy
    a = var("a")
    assert unify(a * a, tt.exp(x) * tt.exp(x), {}) is not False
    assert unify(a * a, tt.exp(x) * tt.exp(y), {}) is False
    assert unify(a / a, (x + 2.0) / (x + 3.0), {}) is False


def test_a_bound_variable_is_the_very_node(xy):
    a, b = vars("a b")
    inner = tt.exp(xy[0])
    s = unify(a * b, inner * xy[1], {})
    assert s[a] is inner and reify(a, s) is inner
    assert run(0, (a, b), eq(a * b, inner * xy[1]))[0][0] is inner


def test_variables_unify_as_the_same_term(xy):
    x, y = xy
    assert unify(x, x, {}) == {} and unify(x, y, {}) is False
    assert unify(tt.exp(x), tt.exp(x), {}) == {} and unify(tt.exp(x), tt.exp(y), {}) is False


def test_same_term(xy):
    x, y = xy
    assert same_term(x + 2.0, x + 2.0) and not same_term(x + 2.0, x + 3.0) and not same_term(x, y)
    assert not same_term(tt.constant(1), tt.constant(1.0)) and same_term(tt.constant(1), tt.constant(1))
    assert same_term(tt.constant(np.nan), tt.constant(np.nan))
    first, second = Halves()(x)
    assert not same_term(first, second) and same_term(first, Halves()(x)[0])


def test_an_output_of_several(xy):
    a = var("a")
    first, second = Halves()(xy[0])
    assert unify(second.head(a), second, {}) == {a: xy[0]}
    assert unify(second.head(a), first, {}) is False


def test_a_logic_variable_as_head(xy):
    op, a = vars("op a")
    assert unify(Term(op, [a]), tt.exp(xy[0]), {}) == {op: tt.exp.canonical, a: xy[0]}
    assert unify(Term(op, [Term(op, [a])]), tt.exp(tt.sin(xy[0])), {}) is False


def test_the_number_of_arguments_counts(xy):
    x, y = xy
    a = var("a")
    assert unify(Term(tt.add, [a]), x + y, {}) is False
    assert unify(etuple(tt.add, a, a, a), x + y, {}) is False


# --- literals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3)])
def test_a_literal_is_a_constant_of_any_float_dtype_and_shape(dtype, shape):
    two = tt.constant(np.full(shape, 2, dtype))
    for literal in (2, 2.0):
        assert unify(two, literal, {}) == {} == unify(literal, two, {})
    for other in (3, 2.5, True, float("nan"), "2", None):
        assert unify(two, other, {}) is False and unify(other, two, {}) is False


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_literal_is_seen_through_what_spreads_it(dtype):
    two, m = tt.constant(np.asarray(2, dtype)), tt.tensor("m", dtype=dtype, shape=(None, None))
    a = var("a")
    assert unify(a * 2, m * 2, {}) == {a: m}
    assert unify(a * 2, m * two.dimshuffle("x", "x"), {}) == {a: m}
    assert unify(a * 2, m * tt.second(m, two), {}) == {a: m}
    assert unify(a * 3, m * 2, {}) is False
    assert unify(a * 2, m * tt.constant(np.asarray([2, 3], dtype)), {}) is False


def test_true_is_not_one():
    one, true = tt.constant(1), tt.constant(True)
    assert unify(one, 1, {}) == {} == unify(true, True, {})
    assert unify(one, True, {}) is False and unify(true, 1, {}) is False and unify(true, 1.0, {}) is False
    assert unify(tt.constant(0), False, {}) is False and unify(one, true, {}) is False
    assert equals_literal(one, 1.0) and not equals_literal(one, True) and equals_literal(true, True)


def test_nan_is_no_literal():
    nan = tt.constant(np.nan)
    assert unify(nan, np.nan, {}) is False and not equals_literal(nan, np.nan)
    assert unify(tt.constant([np.nan, np.nan]), np.nan, {}) is False


def test_what_is_not_constant_is_no_literal(xy):
    assert unify(xy[0], 1, {}) is False and unify(1, tt.exp(xy[0]), {}) is False
    assert unify(tt.constant([]), 0, {}) is False
    assert unify(tt.constant([1, 2]), 1, {}) is False
    assert equals_literal(tt.constant(np.inf), float("inf"))


# --- kanren -----------------------------------------------------------------------------------------------------------


def test_run_forwards(xy):
    x, y = xy
    a, b, out = vars("a b out")

    def cancel(before, after):
        return conde([eq(before, a * b / b), eq(after, a)], [eq(before, tt.log(tt.exp(a))), eq(after, a)])

    inner = tt.sin(x)
    assert run(0, out, cancel(inner * y / y, out)) == (inner,)
    assert run(0, out, cancel(inner * y / y, out))[0] is inner
    assert run(0, out, cancel(tt.log(tt.exp(inner)), out))[0] is inner
    assert run(0, out, cancel(x * y / x, out)) == ()
    assert run(0, out, cancel(x, out)) == ()


def test_run_with_several_goals(xy):
    x, y = xy
    a, b, c = vars("a b c")
    graph = (x + y) * tt.exp(x)
    assert run(0, (a, b, c), lall(eq(a * b, graph), eq(b, tt.exp(c)))) == ((graph.owner.inputs[0], graph.owner.inputs[1], x),)


def test_run_builds_a_template(xy):
    x, y = xy
    a, b, out = vars("a b out")
    (found,) = run(0, out, lall(eq(tt.log(a * b), tt.log(x * y)), eq(out, tt.log(a) + tt.log(b))))
    assert found == Term(tt.add, [Term(tt.log, [x]), Term(tt.log, [y])])


def test_run_binds_the_parameters_of_ops():
    m = tt.dmatrix("m")
    order, a, out = vars("order a out")
    pattern = OpTerm(tt.DimShuffle, input_ndim=2, new_order=order)(a)
    assert run(0, (order, a), eq(pattern, m.T)) == (((1, 0), m),)
    assert run(0, out, eq(pattern, tt.exp(m))) == ()


# --- etuples ----------------------------------------------------------------------------------------------------------


def test_etuples_functions_know_variables(xy):
    x, y = xy
    z = x + y
    assert rator(z) is tt.add.canonical and tuple(rands(z)) == (x, y)
    assert etuples_etuplize(z).evaled_obj is z
    for head in (tt.add, OpTerm(tt.Elemwise, scalar_op=tt.row_named("add"))):
        built = etuple_apply(head, etuple(x, y))
        assert built.owner.op == tt.add and built.owner.inputs == [x, y]
    with pytest.raises(ConsError):
        rator(x)


# --- deep and shared --------------------------------------------------------------------------------------------------


def test_deep_terms_are_compared_without_recursion(deep):
    x, y = deep
    twin = x
    for _ in range(100_000):
        twin = tt.neg(twin)
    a = var("a")
    assert unify(a - a, y - twin, {}) is not False
    assert unify(a - a, y - tt.neg(twin), {}) is False
    assert run(0, a, eq(-a, y))[0] is y.owner.inputs[0]


def test_shared_terms_are_compared_in_the_size_of_the_graph(xy):
    one = two = xy[0]
    for _ in range(100):
        one, two = one + one, two + two
    a = var("a")
    assert same_term(one, two)
    assert unify(a * a, one * two, {}) is not False
