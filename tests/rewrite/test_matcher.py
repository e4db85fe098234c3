"""The generated matchers: order, shared tests, deep patterns, every kind of head, and the counters."""

import numpy as np
import pytest
from rewrite_helpers import found, normalized, texts

import termgraph as tg
import termgraph.tensor as tt
from termgraph.graph import Apply, Op, evaluate
from termgraph.rewrite import Matchers, RuleSet
from termgraph.rewrite.goals import an, apply, choose, compute, constant, where
from termgraph.terms import OpTerm

x, y, z = tt.dvectors("x", "y", "z")
s = tt.dscalar("s")


class Halves(Op):
    """Two outputs; a call returns both."""

    __props__ = ()

    def make_node(self, v):
        return Apply(self, [v], [v.type(), v.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0], output_storage[1][0] = inputs[0] / 2, inputs[0] / 2


class Spread(Op):
    """Any number of inputs."""

    __props__ = ("factor",)

    def __init__(self, factor):
        self.factor = factor

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [inputs[0].type()])


def rule_of(*clause, name="anonymous"):
    def anonymous():
        yield clause
    return tg.relation(anonymous, name=name)


def test_the_first_rule_that_matches_wins():
    first = rule_of(tt.exp(tg.var("a") + 0), tt.sin(s), name="never")
    assert texts([tg.rewrite_graph(tt.log(tt.exp(s)), [named("one", tt.sin), named("two", tt.cos), first])[0]]) == ["sin(s)"]
    assert texts([tg.rewrite_graph(tt.log(tt.exp(s)), [named("two", tt.cos), named("one", tt.sin), first])[0]]) == ["cos(s)"]


def named(name, f):
    a = tg.var("a")
    return rule_of(tt.log(tt.exp(a)), f(a), name=name)


def test_the_order_holds_between_rules_that_share_tests_and_those_that_do_not():
    a, b, f, xs = tg.vars("a b f xs")
    rules = [rule_of(tt.log(tt.exp(a)), tt.sin(a), where(lambda v: v is x, a, name="is_x"), name="of_x"),
             rule_of(apply(f, xs), tt.cos(y), where(lambda f, xs: f == tt.log and xs[0].owner is not None, f, xs), name="open"),
             rule_of(tt.log(tt.exp(b)), tt.tan(b), name="general")]
    term = lambda v: tg.rewrite_graph(tt.log(tt.exp(v)), rules)[0]  # noqa: E731
    assert tg.pprint(term(x)) == "sin(x)" and tg.pprint(term(z)) == "cos(y)"
    reordered = [rules[0], rules[2], rules[1]]
    assert tg.pprint(tg.rewrite_graph(tt.log(tt.exp(z)), reordered)[0]) == "tan(z)"


def test_clauses_are_tried_in_their_order():
    @tg.relation
    def table(a):
        yield tt.exp(tt.log(a)), a
        yield tt.exp(a), tt.exp2(a)

    assert texts(table.rewrites(tt.exp(tt.log(x)))) == ["x", "exp2(log(x))"]
    assert texts([tg.rewrite_graph(tt.exp(tt.log(x)), table)[0]]) == ["x"]


def test_repeated_variables_anywhere_in_the_pattern():
    @tg.relation
    def twice(a, b):
        yield tt.exp(a) * tt.log(b - a) / b, a + b

    assert found(twice, tt.exp(x) * tt.log(y - x) / y) == ["x + y"]
    for wrong in (tt.exp(x) * tt.log(y - z) / y, tt.exp(x) * tt.log(y - x) / z, tt.exp(z) * tt.log(y - x) / y):
        assert found(twice, wrong) == []


def test_deep_patterns():
    a = tg.var("a")
    pattern, term = a, x
    for f in (tt.sin, tt.cos, tt.exp, tt.log) * 5:
        pattern, term = f(pattern), f(term)
    rule = rule_of(pattern, tt.tan(a))
    assert texts(rule.rewrites(term)) == ["tan(x)"] and rule.rewrites(tt.log(tt.sin(x))) == []
    assert rule.rewrites(tt.log(x)) == []


def test_the_other_output_of_an_op_is_a_head_of_its_own():
    a = tg.var("a")
    halves = Halves()
    first, second = halves(x)
    rule = rule_of(second.head(a), tt.sin(a))
    assert texts(rule.rewrites(second)) == ["sin(x)"] and rule.rewrites(first) == []
    result, report = normalized([first, second], rule)
    assert result[0].owner.op is halves and tg.pprint(result[1]) == "sin(x)" and report.fires == 1


def test_a_head_given_by_class_with_a_parameter_used_in_the_template():
    a, k = tg.vars("a k")
    rule = rule_of(OpTerm(Spread, factor=k)(a), OpTerm(Spread, factor=k)(a, a))
    (result,) = rule.rewrites(Spread(3)(x))
    assert result.owner.op == Spread(3) and result.owner.inputs == [x, x]
    assert rule.rewrites(Spread(3)(x, x)) == []


def test_patterns_of_any_number_of_inputs():
    xs, f, a = tg.vars("xs f a")
    flip = rule_of(apply(an(Spread, factor=1), xs), apply(f, xs), eq_op(f, Spread(2)))
    for inputs in ((x,), (x, y), (x, y, z)):
        (result,) = flip.rewrites(Spread(1)(*inputs))
        assert result.owner.op == Spread(2) and tuple(result.owner.inputs) == inputs
        assert flip.rewrites(Spread(3)(*inputs)) == []
    fixed = rule_of(Spread(1)(a, y), a)
    assert fixed.rewrites(Spread(1)(x, y)) == [x]
    assert fixed.rewrites(Spread(1)(x, z)) == fixed.rewrites(Spread(1)(x)) == fixed.rewrites(Spread(1)(x, y, y)) == []


def eq_op(f, op):
    from_choice = lambda: [op]  # noqa: E731
    return choose(f, from_choice, name="op")


def test_a_pattern_may_hold_a_variable_of_the_graph():
    a = tg.var("a")
    rule = rule_of(tt.exp(a) + x, tt.exp(a))
    assert texts(rule.rewrites(tt.exp(y) + x)) == ["exp(y)"] and rule.rewrites(tt.exp(y) + z) == []


@pytest.mark.parametrize("literal", [0, 1, -1, 2, 0.5, 0.1, 1e30, 70000, -0.0, 3.7])
def test_literals_in_every_place(literal):
    a = tg.var("a")
    outer, inner = rule_of(a - literal, tt.sin(a)), rule_of(tt.exp(a - literal), tt.sin(a))
    for dtype in ("float64", "float32"):
        v = tt.vector("v", dtype=dtype)
        number = tt.constant(np.asarray(literal).astype(dtype))
        assert outer.rewrites(v - number) and inner.rewrites(tt.exp(v - number))
        assert outer.rewrites(v - (number + 1)) == inner.rewrites(tt.exp(v - v)) == []


def test_infinite_literals():
    a = tg.var("a")
    rule = rule_of(tt.minimum(a, float("inf")), a)
    assert rule.rewrites(tt.minimum(s, np.inf)) == [s] and rule.rewrites(tt.minimum(s, -np.inf)) == []


def test_literals_on_both_sides_and_beside_non_literals():
    a = tg.var("a")
    rules = RuleSet([rule_of(a + 0, a, name="zero"), rule_of(tt.exp(a) + a, tt.sin(a), name="no_number"),
                     rule_of(1 + a, tt.cos(a), name="one")])
    for term, expected in ((s + 0, "s"), (0 + s, "s"), (tt.exp(s) + s, "sin(s)"), (s + 1, "cos(s)"), (s + 2, "s + 2"),
                           (tt.exp(s) + 0, "exp(s)")):
        assert tg.pprint(tg.rewrite_graph(term, rules)[0]) == expected


def test_template_subterms_that_the_pattern_matched_are_reused():
    @tg.relation
    def keep(a, b):
        yield tt.exp(a * b) * tt.exp(a * b), tt.exp(a * b) - a * b

    inner = x * y
    e = tt.exp(inner)
    result = keep.rewrites(e * e)[0]
    assert result.owner.inputs[0] is e and result.owner.inputs[1] is inner


def test_numbers_in_templates_take_the_dtype_of_the_others():
    @tg.relation
    def half(a):
        yield tt.exp(a), tt.sqr(tt.exp(a * 0.5))

    f = tt.fvector("f")
    (result,) = half.rewrites(tt.exp(f))
    assert result.type.dtype == "float32"
    (value,) = evaluate([result], {f: np.array([1, 2], dtype="float32")})
    np.testing.assert_allclose(value, np.exp([1, 2]), rtol=1e-5)


def test_a_fire_that_changes_nothing_is_none():
    @tg.relation
    def itself(a, b):
        yield a + b, b + a
        yield tt.exp(a), tt.exp(a)

    term = tt.exp(x + x)
    result, report = tg.rewrite_graph(term, itself)
    assert result is term and report.fires == 0 and report.rules["itself"].matches >= 2


def test_matchers_of_several_rules_give_all_results():
    a = tg.var("a")
    rules = [rule_of(tt.exp(a), tt.sin(a), name="p"), rule_of(tt.log(a), tt.sin(a), name="q"),
             rule_of(tt.exp(a), tt.cos(a), name="r")]
    matchers = Matchers([(r, sk) for r in rules for sk in r.skeletons])
    assert texts(matchers.rewrites(tt.exp(x))) == ["sin(x)", "cos(x)"]
    assert matchers.rewrites(tt.tan(x)) == matchers.rewrites(x) == []
    source = matchers.source()
    compile(source, "rules", "exec")
    assert all(f"# {r.name} (" in source for r in rules)


def test_what_a_pattern_binds_whether_or_not_the_guards_hold():
    @tg.relation
    def gather(a, b):
        yield tt.log(a) - b, a, constant(b)

    assert gather.rewrites(tt.log(x) - y) == []
    assert gather.matchers.bindings(tt.log(x) - y) == (0, (x, y))
    assert gather.matchers.bindings(x - y) is None and gather.matchers.bindings(x) is None


def test_new_nodes_remember_where_the_user_built_what_they_replace():
    @tg.relation
    def renamed(a):
        yield tt.log(tt.exp(a)), tt.sin(tt.cos(a))

    term = tt.log(tt.exp(x))
    (result,) = renamed.rewrites(term)
    assert result.owner.trace is term.owner.trace is not None
    assert result.owner.inputs[0].owner.trace is term.owner.trace


def test_a_computed_term_on_the_left_of_a_goal():
    @tg.relation
    def pieces(a, b):
        yield tt.exp(a), b, compute(b * 2, lambda a: a, a, name="same")

    assert found(pieces, tt.exp(x * 2)) == ["x"]
