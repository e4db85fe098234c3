"""Logic variables, terms and terms for Ops."""

import pytest
from kanren import run
from kanren import var as kanren_var
from kanren.core import eq
from unification import reify, unify

import termgraph.tensor as tt
from termgraph.graph import Apply, Op
from termgraph.terms import LogicVar, OpTerm, Term, var, vars  # noqa: A004


class Window(Op):
    __props__ = ("size", "step")

    def __init__(self, size, step=1):
        self.size, self.step = size, step

    def make_node(self, x):
        return Apply(self, [x], [x.type()])


class Frame(Window):
    """Another class with the same parameters."""


@pytest.fixture
def x():
    return tt.dvector("x")


# --- logic variables --------------------------------------------------------------------------------------------------


def test_fresh_variables_differ():
    a, b = var("a"), var("a")
    assert a is not b and a != b and len({a, b}) == 2
    assert str(a) == repr(a) == "~a"
    assert isinstance(a, LogicVar)


def test_vars():
    assert [str(v) for v in vars("x y, z")] == ["~x", "~y", "~z"]
    assert len(set(vars(3))) == 3


def test_they_are_kanrens_variables(x):
    a = var("a")
    assert unify(a, x, {}) == {a: x}
    assert run(0, a, eq(a, x)) == (x,)


# --- terms ------------------------------------------------------------------------------------------------------------


def test_equality_is_structural(x):
    a, b = vars("a b")
    assert tt.exp(a) * 2 == tt.exp(a) * 2 and hash(tt.exp(a) * 2) == hash(tt.exp(a) * 2)
    assert tt.exp(a) != tt.exp(b) and tt.exp(a) != tt.sin(a)
    assert a + x == a + x and a + x != a + tt.dvector("x")
    assert tt.exp(a) != "exp"


@pytest.mark.parametrize(("one", "two"), [(1, 1.0), (1, True), (0, False), (1.0, True)])
def test_numbers_of_different_kinds_make_different_terms(one, two):
    a = var("a")
    assert a + one != a + two
    assert len({a + one, a + two}) == 2


def test_the_head_is_canonical():
    a = var("a")
    assert Term(Window(2), [a]).head is Term(Window(2), [a]).head


def test_equality_and_hash_of_deep_terms_do_not_recurse():
    a = var("a")
    one = two = a
    for _ in range(100_000):
        one, two = tt.neg(one), tt.neg(two)
    assert one == two and hash(one) == hash(two)
    assert one != tt.neg(two)


@pytest.mark.parametrize(("built", "text"), [
    (lambda a, b: a + b * 2, "~a + ~b * 2"), (lambda a, b: (a + b) * 2, "(~a + ~b) * 2"),
    (lambda a, b: a - (b - a), "~a - (~b - ~a)"), (lambda a, b: a - b - a, "~a - ~b - ~a"),
    (lambda a, b: (a ** b) ** a, "(~a ** ~b) ** ~a"), (lambda a, b: a ** b ** a, "~a ** ~b ** ~a"),
    (lambda a, b: (-a) ** b, "(-~a) ** ~b"), (lambda a, b: -(a * b), "-(~a * ~b)"),
    (lambda a, b: (a < b) & (b < a), "(~a < ~b) & (~b < ~a)"), (lambda a, b: tt.exp(a + b), "exp(~a + ~b)"),
    (lambda a, b: tt.log1p(-a), "log1p(-~a)"), (lambda a, b: -(a ** b), "-~a ** ~b"),
])
def test_str(built, text):
    assert str(built(*vars("a b"))) == text


# --- terms for Ops ----------------------------------------------------------------------------------------------------


def test_an_op_term_needs_parameters_of_the_op():
    with pytest.raises(TypeError, match=r"Window has no parameter width; it has size, step"):
        OpTerm(Window, width=1)


def test_op_term_equality_and_str():
    a = var("a")
    assert OpTerm(Window, size=a, step=1) == OpTerm(Window, step=1, size=a)
    assert hash(OpTerm(Window, size=a)) == hash(OpTerm(Window, size=a))
    assert OpTerm(Window, size=1) != OpTerm(Window, size=2) and OpTerm(Window) != OpTerm(Frame)
    assert str(OpTerm(Window, size=a)) == repr(OpTerm(Window, size=a)) == "Window{size=~a}"


def test_calling_an_op_term(x):
    a = var("a")
    assert OpTerm(Window, size=3)(x).owner.op == Window(3)
    assert isinstance(OpTerm(Window, size=3)(a), Term)
    assert isinstance(OpTerm(Window, size=a)(x), Term)
    assert OpTerm(Window, size=3, step=2).instance() == Window(3, 2)
    assert OpTerm(Window, size=3).ground and not OpTerm(Window, size=a).ground


def test_parameters_are_bound(x):
    size, step, a = vars("size step a")
    y = Window(3, 2)(x)
    assert unify(OpTerm(Window, size=size, step=step)(a), y, {}) == {size: 3, step: 2, a: x}
    assert unify(y, OpTerm(Window, step=step)(a), {}) == {step: 2, a: x}
    assert unify(OpTerm(Window)(a), y, {}) == {a: x}


def test_parameters_are_tested(x):
    a = var("a")
    y = Window(3, 2)(x)
    assert unify(OpTerm(Window, size=3)(a), y, {}) == {a: x}
    assert unify(OpTerm(Window, size=4)(a), y, {}) is False
    assert unify(OpTerm(Frame, size=3)(a), y, {}) is False
    assert unify(OpTerm(Window, size=3)(a), tt.exp(x), {}) is False


def test_one_variable_for_two_parameters(x):
    size, a = vars("size a")
    pattern = OpTerm(Window, size=size, step=size)(a)
    assert unify(pattern, Window(3, 3)(x), {}) == {size: 3, a: x}
    assert unify(pattern, Window(3, 2)(x), {}) is False
    nested = OpTerm(Window, size=size)(OpTerm(Window, size=size)(a))
    assert unify(nested, Window(3)(Window(3)(x)), {}) is not False
    assert unify(nested, Window(3)(Window(4)(x)), {}) is False


def test_op_terms_with_each_other_and_with_variables():
    size, op = vars("size op")
    assert unify(OpTerm(Window, size=size), OpTerm(Window, size=5), {}) == {size: 5}
    assert unify(OpTerm(Window, size=size), OpTerm(Window, step=5), {}) is False
    assert unify(OpTerm(Window, size=size), OpTerm(Frame, size=5), {}) is False
    assert unify(Window(5), OpTerm(Window, size=size), {}) == {size: 5}
    assert unify(op, OpTerm(Window, size=5), {}) == {op: OpTerm(Window, size=5)}
    assert reify(OpTerm(Window, size=size), {size: 5}) == OpTerm(Window, size=5)


def test_reifying_terms(x):
    a, op = vars("a op")
    assert reify(tt.exp(a) + 1, {a: x}) == Term(tt.add, [Term(tt.exp, [x]), 1])
    assert reify(Term(op, [a]), {op: tt.sin.canonical, a: x}) == Term(tt.sin, [x])
    assert reify(OpTerm(Window, size=a)(x), {a: 4}) == Term(OpTerm(Window, size=4), [x])


def test_kanrens_own_variables_build_patterns_too(x):
    q = kanren_var()
    assert isinstance(tt.exp(q), Term)
    assert run(0, q, eq(tt.exp(q), tt.exp(x))) == (x,)
