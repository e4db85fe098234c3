"""The vocabulary of guards: what each says of concrete arguments, and that it waits for unknown ones."""

import numpy as np
import pytest
from kanren import run
from rewrite_helpers import equilibrated, found, texts

import termgraph as tg
import termgraph.sparse as sparse
import termgraph.tensor as tt
from termgraph.rewrite.delay import in_graph, waiting_goals
from termgraph.rewrite.goals import (
    an,
    apply,
    choose,
    compute,
    computed_by,
    constant,
    destroyable,
    differs,
    floating,
    in_context,
    integral,
    nonzero,
    positive,
    same_type,
    sole_client,
    where,
)
from termgraph.terms import var, vars  # noqa: A004

x, y = tt.dvectors("x", "y")
n = tt.lvector("n")
m = tt.dmatrix("m")


def holds(goal):
    """Whether a goal with known arguments succeeds; it must not wait."""
    states = list(goal({}))
    assert all(not waiting_goals(s) for s in states)
    return bool(states)


def number(*values, dtype="float64"):
    return tt.constant(np.array(values, dtype=dtype))


CASES = [
    (constant, number(1, 2), True), (constant, x, False), (constant, tt.exp(number(1, 2)), False), (constant, 2.0, True),
    (constant, tt.constant(2.0).dimshuffle("x", "x"), True),
    (nonzero, number(1, -2), True), (nonzero, number(1, 0), False), (nonzero, x, False), (nonzero, tt.constant(0), False),
    (nonzero, tt.constant(3.0).dimshuffle("x"), True), (nonzero, 0, False), (nonzero, 0.5, True),
    (positive, number(1, 2), True), (positive, number(1, 0), False), (positive, number(1, -2), False), (positive, x, False),
    (positive, tt.constant(2.0).dimshuffle("x"), True), (positive, number(1, np.nan), False), (positive, 2, True),
    (positive, -1.5, False), (positive, number(1, 2, dtype="complex128"), False), (positive, number(3, dtype="uint8"), True),
    (floating, x, True), (floating, n, False), (floating, tt.fvector(), True), (floating, tt.zvector(), False),
    (floating, tt.lt(x, y), False), (floating, sparse.csr_matrix("s"), True),
    (integral, n, True), (integral, x, False), (integral, tt.lt(x, y), False), (integral, tt.constant(1, dtype="uint8"), True),
]


@pytest.mark.parametrize(("goal", "argument", "expected"), CASES)
def test_of_one_value(goal, argument, expected):
    assert holds(goal(argument)) is expected


@pytest.mark.parametrize("goal", [constant, nonzero, positive, floating, integral])
def test_waits_for_an_unknown(goal):
    unknown = var("u")
    (state,) = goal(unknown)({})
    (waiting,) = waiting_goals(state)
    assert waiting.args == (unknown,) and waiting.outs is None


def test_same_type():
    assert holds(same_type(x, y)) and holds(same_type(x, tt.exp(y)))
    for other in (n, m, tt.fvector(), tt.dvector(shape=(3,)), tt.dscalar()):
        assert not holds(same_type(x, other))


def test_differs():
    assert holds(differs(x, y)) and not holds(differs(x, x))
    assert not holds(differs(tt.constant(2.0), tt.constant(2.0))) and holds(differs(tt.constant(2.0), tt.constant(2)))


def test_where_takes_ops_inputs_and_parameters():
    f, xs, a, b = vars("f xs a b")
    said = {}

    def note(op, inputs):
        said["op"], said["inputs"] = op, inputs
        return True

    noting = tg.relation(_relation(lambda: (apply(f, xs), tt.exp2(b), compute(b, lambda i: i[0], xs), where(note, f, xs))))
    assert texts(noting.rewrites(tt.sin(x))) == ["exp2(x)"]
    assert said["op"] == tt.sin and list(said["inputs"]) == [x]
    one = where(lambda axis: axis == (1,), a, name="one")
    along = tg.relation(_relation(lambda: (an(tt.Sum, axis=a)(b), an(tt.Prod, axis=a)(b), one)))
    assert found(along, tt.sum(m, axis=1)) == [tg.pprint(tt.prod(m, axis=1))]
    assert found(along, tt.sum(m, axis=0)) == found(along, tt.sum(m)) == []


def _relation(clause):
    def anonymous():
        yield clause()
    return anonymous


def test_apply_matches_any_op_with_given_inputs():
    a, f = vars("a f")
    twice = tg.relation(_relation(lambda: (apply(f, (apply(f, (a,)),)), apply(f, (a,)))))
    assert found(twice, tt.sin(tt.sin(x))) == ["sin(x)"]
    assert found(twice, tt.sin(tt.cos(x))) == found(twice, tt.add(tt.sin(x), y)) == []


def test_an_op_given_by_class_alone_matches_all_its_parameters():
    a = var("a")
    anyway = tg.relation(_relation(lambda: (an(tt.Sum)(tt.exp(a)), tt.sum(tt.exp2(a)))))
    assert anyway.rewrites(tt.sum(tt.exp(x))) and anyway.rewrites(tt.sum(tt.exp(x), axis=0))
    assert not anyway.rewrites(tt.prod(tt.exp(x)))


def test_compute_gives_a_value_and_refuses_with_none():
    @tg.relation
    def bigger(a, b, c):
        yield a + b, a + c, constant(b), compute(c, lambda b: None if b.data > 5 else tt.constant(b.data + 1), b, name="next")

    s = tt.dscalar("s")
    assert found(bigger, s + tt.constant(2.0)) == ["s + 3"]
    result, report = tg.rewrite_graph(s + tt.constant(3.0), bigger)
    assert tg.pprint(result) == "s + 6" and report.rules["bigger"].refused == {"next": 1, "constant": 1}
    assert report.rules["bigger"].fires == 3


def test_choose_offers_all_and_the_first_is_taken():
    @tg.relation
    def either(a, f):
        yield tt.sin(a), apply(f, (a,)), choose(f, lambda a: [tt.cos, tt.tan], a, name="options")

    assert found(either, tt.sin(x)) == ["cos(x)", "tan(x)"]
    assert tg.pprint(tg.rewrite_graph(tt.sin(x), either)[0]) == "cos(x)"


def test_a_choice_that_later_guards_refuse_is_passed_over():
    @tg.relation
    def either(a, f):
        yield (tt.sin(a), apply(f, (a,)), choose(f, lambda a: [tt.cos, tt.tan, tt.exp], a, name="options"),
               where(lambda f: f != tt.cos, f, name="not_cos"))

    assert found(either, tt.sin(x)) == ["exp(x)", "tan(x)"]
    result, report = tg.rewrite_graph(tt.sin(x), either)
    assert tg.pprint(result) == "tan(x)" and report.rules["either"].refused == {"not_cos": 1}


def test_a_choice_that_cannot_be_built_is_passed_over():
    @tg.relation
    def either(a, b, f):
        yield a + b, apply(f, (a, b)), choose(f, lambda a: [tt.and_, tt.maximum], a, name="options")

    # and_ takes no floats: building it raises GraphTypeError.
    assert found(either, x + y) == ["maximum(x, y)", "maximum(y, x)"]


def test_a_computation_may_give_a_tuple():
    @tg.relation
    def split(a, b, c):
        yield tt.exp(a), a * b + c, compute((b, c), lambda a: (2, 3), a, name="pair")

    assert found(split, tt.exp(x)) == ["x * 2 + 3"]


def test_sole_client():
    @tg.relation
    def alone(a):
        yield tt.log(tt.exp(a)), a, sole_client(tt.exp(a))

    e = tt.exp(x)
    assert texts([equilibrated(tt.log(e), alone)[0]]) == ["x"]
    outputs, report = equilibrated([tt.log(e), tt.sin(e)], alone)
    assert texts(outputs) == ["log(exp(x))", "sin(exp(x))"] and report.rules["alone"].refused == {"sole_client": 1}
    outputs, _ = equilibrated([tt.log(e), e], alone)  # an output is a reader too
    assert texts(outputs) == ["log(exp(x))", "exp(x)"]
    outputs, _ = equilibrated([tt.log(tt.exp(x)), tt.log(tt.exp(x))], alone)  # equal nodes are one, read by one
    assert texts(outputs) == ["x", "x"]


def test_in_context_gets_the_graph():
    @tg.relation
    def unread(a):
        yield tt.exp(a), tt.exp2(a), in_context(lambda graph, a: graph.client_count(a) == 2, a, name="two")

    assert texts(equilibrated([tt.exp(x), tt.sin(x)], unread)[0]) == ["exp2(x)", "sin(x)"]
    assert texts(equilibrated([tt.exp(x), tt.sin(y)], unread)[0]) == ["exp(x)", "sin(y)"]


def test_contextual_goals_hold_of_no_graph():
    for goal in (sole_client(x), destroyable(x, tt.exp(x))):
        (state,) = goal({})
        assert len(waiting_goals(state)) == 1


def test_computed_by_of_a_known_variable_and_of_known_inputs():
    f, xs, out = vars("f xs out")
    e = x + y
    assert run(0, (f, xs), computed_by(e, f, xs)) == ((tt.add.canonical, (x, y)),)
    assert run(0, f, computed_by(x, f, xs)) == (f,)  # nothing computes x: the fact waits for a graph

    class Facts:
        def lookup(self, op, inputs):
            return e if op == tt.add and list(inputs) == [x, y] else None

    with in_graph(Facts()):
        assert run(0, out, computed_by(out, tt.add.canonical, (x, y))) == (e,)
        assert run(0, out, computed_by(out, tt.mul.canonical, (x, y))) == ()
