"""Rules: the two ways to write one, and what it is besides: a kanren goal in both directions, with a name and a soundness."""

import numpy as np
import pytest
from kanren import Relation, conde, eq, facts, lall, run
from kanren.constraints import isinstanceo, neq
from rewrite_helpers import found, relational, texts

import termgraph as tg
import termgraph.tensor as tt
from termgraph.errors import RuleExecutionError
from termgraph.rewrite import Rule
from termgraph.rewrite.goals import an, apply, compute, constant, in_context, positive, where
from termgraph.terms import build, var, vars  # noqa: A004

x, y = tt.dvectors("x", "y")
n = tt.lvector("n")
s = tt.dscalar("s")
m = tt.dmatrix("m")


@tg.relation
def sums(a, b):
    """exp(a) * exp(b) = exp(a + b)"""
    yield tt.exp(a) * tt.exp(b), tt.exp(a + b)


def sums_plainly(before, after):
    a, b = vars("a b")
    return lall(eq(before, tt.exp(a) * tt.exp(b)), eq(after, tt.exp(a + b)))


@tg.relation(phase="specialize", soundness="exact", name="undo", tags=("pairs", "mine"))
def inverse_pair(a):
    yield tt.log(tt.exp(a)), a
    yield tt.exp(tt.log(a)), a


# --- what a rule knows ------------------------------------------------------------------------------------------------


def test_name_place_algebra_phase_soundness_and_tags():
    assert (sums.name, sums.algebra, sums.phase, sums.soundness) == ("sums", "exp(a) * exp(b) = exp(a + b)", "simplify", "real")
    assert sums.where == f"test_relation.py:{sums.function.__code__.co_firstlineno}" and sums.tags == {"simplify"}
    assert (inverse_pair.name, inverse_pair.phase, inverse_pair.soundness) == ("undo", "specialize", "exact")
    assert inverse_pair.tags == {"pairs", "mine", "specialize"} and inverse_pair.algebra == ""
    assert repr(inverse_pair) == f"<rule undo ({inverse_pair.where}), 2 skeletons, exact>"
    assert isinstance(sums, Rule) and sums.staged and sums.not_staged is None


def test_the_soundness_may_be_a_line_of_the_docstring():
    @tg.relation
    def cancel(a):
        """a / a = 1

        Soundness: unsafe: a is 0.
        """
        yield a / a, 1

    assert cancel.soundness == "unsafe: a is 0"
    assert tg.relation(cancel.function, soundness="real").soundness == "real"


@pytest.mark.parametrize("rule", [sums, tg.relation(sums_plainly)], ids=["yield", "plain"])
def test_the_source_is_python_and_names_the_rule(rule):
    source = rule.source()
    compile(source, "rules", "exec")
    assert f"{rule.name} ({rule.where})" in source and "exp" in source.lower() and str(rule.skeletons[0]) in source


def test_the_source_of_all_rules_is_python_and_names_each():
    source = tg.rules.ALL.matchers.source()
    compile(source, "rules", "exec")
    staged = [r for r in tg.rules.ALL if r.name != "merge"]
    assert [r.name for r in staged if f"# {r.name} ({r.where}): " not in source] == []


# --- the two forms say the same ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [sums, tg.relation(sums_plainly)], ids=["yield", "plain"])
def test_forwards(rule):
    assert rule.staged
    assert found(rule, tt.exp(x) * tt.exp(y)) == ["exp(x + y)", "exp(y + x)"]
    assert found(rule, tt.exp(x) * y) == found(rule, tt.exp(x) + tt.exp(y)) == found(rule, x) == []


@pytest.mark.parametrize("rule", [sums, tg.relation(sums_plainly)], ids=["yield", "plain"])
def test_backwards(rule):
    q = var("q")
    answers = run(0, q, rule(q, tt.exp(x + y)))
    assert "exp(x) * exp(y)" in {tg.pprint(build(a)) for a in answers}
    assert run(0, q, rule(q, tt.log(x))) == ()


def test_backwards_with_a_number_and_with_unknowns_left():
    q = var("q")
    assert tg.pprint(build(run(1, q, inverse_pair(q, x))[0])) == "log(exp(x))"

    @tg.relation
    def cancel(a, b):
        yield a * b / b, a
        yield a / b * b, a

    answers = run(0, q, cancel(q, x))
    assert [str(a) for a in answers] == ["x * ~b / ~b", "~b * x / ~b", "x / ~b * ~b", "~b * (x / ~b)"]


def test_both_sides_known():
    assert len(run(0, True, inverse_pair(tt.log(tt.exp(x)), x))) == 1
    assert run(0, True, inverse_pair(tt.log(tt.exp(x)), y)) == ()


def test_a_rule_is_a_goal_among_goals():
    a, out = vars("a out")
    goal = lall(eq(a, tt.log(tt.exp(x))), conde([inverse_pair(a, out)], [sums(a, out)]))
    assert run(0, out, goal) == (x,)


@pytest.mark.parametrize("form", ["yield", "plain"])
def test_commutative_ops_match_in_both_orders_without_being_asked(form):
    if form == "yield":
        def one_side(a, b):
            yield tt.exp(a) + b * 2, b - a
    else:
        def one_side(before, after):
            a, b = vars("a b")
            return lall(eq(before, tt.exp(a) + b * 2), eq(after, b - a))

    rule = tg.relation(one_side)
    for term in (tt.exp(x) + y * 2, tt.exp(x) + 2 * y, y * 2 + tt.exp(x), 2 * y + tt.exp(x)):
        assert found(rule, term) == ["y - x"]
    assert found(rule, tt.exp(x) - y * 2) == found(rule, tt.exp(x) + y * 3) == []


def test_ops_that_do_not_commute_match_in_one_order():
    @tg.relation
    def quotient(a, b):
        yield tt.exp(a) / b, tt.exp(a) * tt.reciprocal(b)

    assert found(quotient, tt.exp(x) / y) == ["exp(x) * reciprocal(y)"] and found(quotient, y / tt.exp(x)) == []


def test_an_applied_fact_table():
    undo = Relation("undo")
    facts(undo, (tt.log, tt.exp), (tt.exp, tt.log), (tt.sqr, tt.sqrt))

    def by_table(before, after):
        f, g, a = vars("f g a")
        return lall(undo(f, g), eq(before, apply(f, (apply(g, (a,)),))), eq(after, a))

    rule = tg.relation(by_table)
    assert rule.staged and found(rule, tt.sqr(tt.sqrt(x))) == ["x"] and found(rule, tt.sqrt(tt.sqr(x))) == []


@pytest.mark.parametrize("order", [1, -1])
def test_kanrens_constraints_hold_in_both(order):
    def different(before, after):
        a, b = vars("a b")
        return lall(*[neq(a, b), eq(before, a - b)][::order], eq(after, -(b - a)))

    def by_a_constant(before, after):
        a, b = vars("a b")
        return lall(*[isinstanceo(b, tg.graph.Constant), eq(before, a - b)][::order], eq(after, a + -b))

    different, by_a_constant = tg.relation(different), tg.relation(by_a_constant)
    assert found(different, x - y) == ["-(y - x)"] and found(different, x - x) == []
    assert found(by_a_constant, s - 2.0) == ["s + -2"] and found(by_a_constant, s - s) == []


# --- parameters and literals ------------------------------------------------------------------------------------------


def test_parameters_of_ops_bind_and_test():
    @tg.relation
    def move(a, k):
        yield an(tt.Sum, axis=k)(-a), -an(tt.Sum, axis=k)(a)

    for axis in (None, 0, 1):
        assert found(move, tt.sum(-m, axis=axis)) == [tg.pprint(-tt.sum(m, axis=axis))]

    @tg.relation
    def both(a, b, k):
        yield an(tt.Sum, axis=k)(a) + an(tt.Sum, axis=k)(b), an(tt.Sum, axis=k)(a + b)

    assert found(both, tt.sum(m, axis=0) + tt.sum(tt.exp(m), axis=0))
    assert found(both, tt.sum(m, axis=0) + tt.sum(tt.exp(m), axis=1)) == []

    @tg.relation
    def only_first(a):
        yield an(tt.Sum, axis=(0,))(-a), -an(tt.Sum, axis=(0,))(a)

    assert found(only_first, tt.sum(-m, axis=0)) and found(only_first, tt.sum(-m, axis=1)) == []


@tg.relation
def doubled(a):
    yield a * 2, a + a


FITTING = [2, 2.0, np.float32(2), np.float16(2), np.array([2.0]), tt.constant(2, dtype="int8"), tt.constant(2.0),
           tt.constant(np.full((1,), 2.0)), tt.constant(2.0).dimshuffle("x"), tt.constant(np.float32(2)).dimshuffle("x")]


@pytest.mark.parametrize("two", FITTING, ids=lambda v: getattr(v, "__name__", str(v)))
def test_a_literal_matches_every_constant_of_that_value(two):
    assert found(doubled, x * two) == ["x + x"]
    assert found(doubled, two * x) == ["x + x"]
    assert found(doubled, m * two) == ["m + m"]


OTHERS = [3, 2.5, True, np.nan, tt.constant(np.array([2.0, 3.0])), y, tt.exp(tt.constant(2.0))]


@pytest.mark.parametrize("other", OTHERS, ids=lambda v: getattr(v, "__name__", str(v)))
def test_a_literal_matches_nothing_else(other):
    assert found(doubled, x * other) == []


def test_a_literal_that_floats_round():
    @tg.relation
    def tenth(a):
        yield a * 0.1, a / 10

    assert found(tenth, x * 0.1) == ["x / 10"] and found(tenth, x * 0.2) == []


def test_true_and_one_are_different_literals():
    @tg.relation
    def neutral(a):
        yield a & True, a

    b = tt.vector("b", dtype="bool")
    assert found(neutral, b & True) == ["b"] and found(neutral, n & 1) == []


def test_a_literal_made_of_elements_matches_where_the_shapes_allow():
    fixed = tt.dvector("f", shape=(3,))
    assert found(doubled, fixed * np.full(3, 2.0)) == ["f + f"]
    assert found(doubled, fixed * tt.alloc(2.0, 3)) == ["f + f"]
    assert found(doubled, x * np.full(3, 2.0)) == []  # x + x has no static length, the product has: the type would change


def test_an_equal_subterm_need_not_be_the_same_constant():
    @tg.relation
    def same(a, c):
        yield a + c - c, a, constant(c)

    assert found(same, s + 3.0 - 3.0) == ["s"]


# --- types ------------------------------------------------------------------------------------------------------------


def test_a_smaller_x_is_not_put_in_the_place_of_a_larger_product():
    row = tt.drow("r")
    result, report = tg.rewrite_graph(row * m / m, tg.rules.ALL["cancel_factor"])
    assert tg.pprint(result) == "r * m / m" and report.rules["cancel_factor"].refused == {"type": 1}
    assert report.rules["cancel_factor"].matches == 1 and report.rules["cancel_factor"].fires == 0
    assert relational(tg.rules.ALL["cancel_factor"], row * m / m) == []
    assert found(tg.rules.ALL["cancel_factor"], m * row / row) == ["m"]


def test_another_dtype_is_refused():
    result, report = tg.rewrite_graph(n * n / n, tg.rules.ALL["cancel_factor"])
    assert result.type.dtype == "float64" and set(report.rules["cancel_factor"].refused) == {"type"}
    single = tt.fvector("f")
    assert found(tg.rules.ALL["cancel_factor"], single * x / x) == []
    assert found(tg.rules.ALL["cancel_factor"], x * single / single) == ["x"]


def test_static_lengths_may_become_known_but_not_lost_nor_one():
    fixed, one = tt.dvector("f", shape=(3,)), tt.dvector("o", shape=(1,))
    either = tg.rules.ALL["cancel_term"]
    assert found(either, fixed + x - x) == ["f"]
    assert found(either, x + fixed - fixed) == []
    assert found(either, one + x - x) == []
    assert found(either, x + one - one) == ["x"]


@pytest.mark.parametrize("variable", [
    tt.dscalar("v"), tt.fscalar("v"), tt.dvector("v"), tt.fmatrix("v"), tt.tensor("v", shape=(2, 3)),
    tt.tensor("v", shape=(1, 1)),
    tt.drow("v"), tt.tensor("v", shape=(None, 3)), tt.lvector("v"), tt.tensor("v", shape=(0,)),
], ids=lambda v: str(v.type))
def test_a_number_on_the_right_takes_dtype_and_run_time_shape(variable):
    shape = [2 if length is None else length for length in variable.type.shape]
    value = np.arange(1, 1 + np.prod(shape, dtype=int), dtype=variable.type.dtype).reshape(shape)
    result, report = tg.rewrite_graph(variable - variable, tg.rules.ALL["cancel_self"])
    assert report.rules["cancel_self"].fires == 1 and variable.type.is_super(result.type)
    (zeros,) = tg.graph.evaluate([result], {variable: value})
    assert zeros.dtype == value.dtype and zeros.shape == value.shape and not zeros.any()


def test_a_number_takes_the_shape_of_what_broadcasts():
    row, col = tt.drow("r"), tt.dcol("c")
    term = (row + col) - (row + col)
    result, _ = tg.rewrite_graph(term, tg.rules.ALL["cancel_self"])
    (zeros,) = tg.graph.evaluate([result], {row: np.ones((1, 4)), col: np.ones((3, 1))})
    assert zeros.shape == (3, 4) and not zeros.any()


# --- exceptions -------------------------------------------------------------------------------------------------------


def explode(*_):
    raise ValueError("kaboom")


def in_a_test(a):
    yield tt.log(a), a, where(explode, a)


def in_a_computation(a, b):
    yield tt.log(a), b, compute(b, explode, a)


def in_the_context(a):
    yield tt.log(a), a, in_context(explode, a)


def in_the_right_side(a):
    yield tt.log(a), Exploding()(a)


def in_a_search(before, after):
    def goal(state):
        if not isinstance(before, tg.graph.Variable):
            raise RecursionError  # so that it is not staged
        explode()
        yield state
    return goal


class Exploding(tg.graph.Op):
    __props__ = ()

    def make_node(self, v):
        explode()


@pytest.mark.parametrize("function", [in_a_test, in_a_computation, in_the_context, in_the_right_side, in_a_search])
def test_an_exception_names_rule_place_term_and_the_users_line(function):
    rule = tg.relation(function)
    term = tt.log(tt.exp(x))
    with pytest.raises(RuleExecutionError) as caught:
        tg.rewrite_graph(tt.sin(term) if rule.staged else term, rule)
    message = str(caught.value)
    assert message.startswith(f"rule {function.__name__} (test_relation.py:{function.__code__.co_firstlineno}): ValueError")
    assert "kaboom" in message and "test_relation.py" in message.split("\n")[1]
    assert "log(exp(x))" in message or (not rule.staged and "exp(x)" in message)  # a search is tried on every node
    assert isinstance(caught.value.__cause__, ValueError)  # the user's exception is kept


def test_a_type_error_in_the_right_side_is_a_refusal():
    @tg.relation
    def to_bits(a, b):
        yield a * b, a & b

    assert found(to_bits, n * n) == ["n & n"]
    result, report = tg.rewrite_graph(x * y, to_bits)
    assert tg.pprint(result) == "x * y" and report.rules["to_bits"].refused == {"type": 2}


def test_guards_refuse_what_they_do_not_hold_for():
    @tg.relation
    def logs(a, b):
        yield tt.log(a * b), tt.log(a) + tt.log(b), positive(a), where(lambda b: b.owner is not None, b, name="computed")

    assert found(logs, tt.log(2.0 * tt.exp(s))) == ["log(2) + log(exp(s))"]
    assert found(logs, tt.log(-2.0 * tt.exp(s))) == found(logs, tt.log(2.0 * s)) == []
    r = tt.dscalar("r")
    _, report = tg.rewrite_graph([tt.log(-2.0 * tt.sin(s)), tt.log(2.0 * s), tt.log(r * s)], logs)
    assert report.rules["logs"].refused == {"positive": 5, "computed": 1}
    assert report.rules["logs"].matches == 6 and report.rules["logs"].fires == 0


def test_texts_of_rewrites_are_of_distinct_variables():
    assert texts(inverse_pair.rewrites(tt.exp(tt.log(y)))) == ["y"]
