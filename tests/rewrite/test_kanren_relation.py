"""KanrenRelation: relations as PyTensor's users write them, with results of every kind and nodes of every kind."""

import operator
from functools import partial

import numpy as np
import pytest
from etuples import etuple
from kanren import conde, eq, lall, run
from kanren.facts import Relation, fact

import termgraph as tg
import termgraph.tensor as tt
from termgraph.errors import RuleExecutionError
from termgraph.graph import Apply, Op, evaluate
from termgraph.rewrite import Rule, RuleSet

x, y, z = tt.dvectors("x", "y", "z")


class Both(Op):
    """(2 x, 3 x), with or without a default output."""

    __props__ = ("default_output",)
    typed_by_inputs = True

    def __init__(self, default_output=None):
        self.default_output = default_output

    def make_node(self, a):
        a = tt.as_tensor_variable(a)
        return Apply(self, [a], [a.type(), a.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0], output_storage[1][0] = 2 * inputs[0], 3 * inputs[0]

    def infer_shape(self, fgraph, node, input_shapes):
        return [input_shapes[0], input_shapes[0]]


def double(before, after):
    a = tg.var("a")
    return lall(eq(before, tt.add(a, a)), eq(after, tt.mul(2, a)))


def first(results):
    return next(results, None)


#: How a relation may be run: staged, or as search because of a filter.
WAYS = {"plain": {}, "results_filter": {"results_filter": first}, "node_filter": {"node_filter": lambda node: True},
        "both": {"results_filter": first, "node_filter": lambda node: True}}


@pytest.fixture(params=WAYS)
def way(request):
    return WAYS[request.param]


def rewritten(term, rule):
    new, report = tg.rewrite_graph(term, rules=[rule])
    report.raise_error()
    return new


# --- a rule like any other --------------------------------------------------------------------------------------------

def test_it_is_a_rule(way):
    rule = tg.KanrenRelation(double, **way)
    assert isinstance(rule, Rule) and rule.name == "double" and rule.where.startswith("test_kanren_relation.py:")
    assert rule in RuleSet([rule, tg.rules.neutral])
    assert tg.pprint(rewritten(tt.exp(x + x), rule)) == "exp(2 * x)"
    assert rewritten(tt.exp(x + y), rule).owner.op == tt.exp(x).owner.op
    f = tg.function([x], tt.exp(x + x), mode=tg.Mode([tg.Phase("mine", RuleSet([rule]))]))
    np.testing.assert_allclose(f([1.0]), np.exp([2.0]))


def test_it_is_staged_where_it_can_be(way):
    rule = tg.KanrenRelation(double, **way)
    assert rule.staged == (way == {})
    assert (rule.not_staged is None) == rule.staged


def test_backwards(way):
    q = tg.var("q")
    (found,) = run(1, q, tg.KanrenRelation(double, **way)(q, tt.mul(2, x)))
    assert tg.pprint(tg.from_etuple(found)) == "x + x"


def test_name_phase_soundness_and_docstring():
    def named(before, after):
        """a + a = 2 * a"""
        return double(before, after)

    rule = tg.KanrenRelation(named, phase="late", soundness="exact", name="mine", tags=["special"])
    assert (rule.name, rule.phase, rule.soundness, rule.algebra) == ("mine", "late", "exact", "a + a = 2 * a")
    assert {"special", "late"} <= rule.tags


@pytest.mark.parametrize("make", [
    lambda: lambda before, after: double(before, after),
    lambda: partial(lambda extra, before, after: double(before, after), None),
    lambda: type("Callable", (), {"__call__": lambda self, before, after: double(before, after)})(),
    lambda: lambda before, after, more=None: double(before, after),
    lambda: type("Holder", (), {"relation": lambda self, before, after: double(before, after)})().relation,
])
def test_anything_that_can_be_called_with_two_arguments(make, way):
    assert tg.pprint(rewritten(x + x, tg.KanrenRelation(make(), **way))) == "2 * x"


def test_a_table_of_facts(way):
    one, other = tt.sin(x), tt.cos(x)
    table = Relation("table")
    fact(table, one, other)
    assert tg.pprint(rewritten(tt.exp(one), tg.KanrenRelation(table, **way))) == "exp(cos(x))"


def test_clauses_are_accepted_too(way):
    def clauses(a):
        yield tt.sin(a), tt.cos(a)

    assert tg.pprint(rewritten(tt.exp(tt.sin(x)), tg.KanrenRelation(clauses, **way))) == "exp(cos(x))"


# --- what cannot be staged is searched --------------------------------------------------------------------------------

def looks_at_its_argument(before, after):
    return eq(after, tt.cos(before.owner.inputs[0])) if before.owner.op == tt.sin(x).owner.op else eq(1, 2)


def bare_left_side(before, after):
    return lall(eq(before, SINE), eq(after, COSINE))


SINE, COSINE = tt.sin(x), tt.cos(x)


@pytest.mark.parametrize("relation", [looks_at_its_argument, bare_left_side])
def test_searched_where_staging_fails(relation):
    rule = tg.KanrenRelation(relation)
    assert not rule.staged and rule.not_staged
    assert tg.pprint(rewritten(tt.exp(SINE), rule)) == "exp(cos(x))"


def test_the_reason_is_told():
    assert "AttributeError" in tg.KanrenRelation(looks_at_its_argument).not_staged
    assert "matches anything" in tg.KanrenRelation(bare_left_side).not_staged


def test_an_error_while_searching_names_the_rule():
    def broken(before, after):
        raise ZeroDivisionError("in the relation")

    rule = tg.KanrenRelation(broken)
    assert "ZeroDivisionError" in rule.not_staged
    with pytest.raises(RuleExecutionError, match=rf"broken \({rule.where}\): ZeroDivisionError"):
        tg.rewrite_graph(tt.sin(x), rules=[rule])


# --- results of every kind --------------------------------------------------------------------------------------------

RESULTS = {
    "bare variable": (lambda a: y, "y"),
    "computed variable": (lambda a: tt.cos(y), "cos(y)"),
    "term": (lambda a: tt.cos(a), "cos(x)"),
    "etuple of an op": (lambda a: etuple(tt.cos(x).owner.op, a), "cos(x)"),
    "etuple of a function": (lambda a: etuple(tt.cos, a), "cos(x)"),
    "etuple of an operator": (lambda a: etuple(operator.add, a, 1.0), "x + 1"),
    "nested etuple": (lambda a: etuple(tt.cos, etuple(tt.exp, a)), "cos(exp(x))"),
    "tuple": (lambda a: (tt.cos(x).owner.op, a), "cos(x)"),
    "integer": (lambda a: 2, "2"),
    "zero": (lambda a: 0, "0"),
    "float": (lambda a: 0.5, "0.5"),
}


@pytest.mark.parametrize("kind", RESULTS)
def test_results(kind, way):
    make, expected = RESULTS[kind]

    def relation(before, after):
        a = tg.var("a")
        return lall(eq(before, tt.sin(a)), eq(after, make(a)))

    new = rewritten(tt.exp(tt.sin(x)), tg.KanrenRelation(relation, **way))
    shown = tg.pprint(new)
    assert shown.startswith("exp(") and expected in shown
    value = evaluate([new], {x: np.array([0.1, 0.2]), y: np.array([0.3, 0.4])})[0]
    assert value.shape == (2,)


@pytest.mark.parametrize("nothing", [None, False, []])
def test_no_result(nothing):
    rule = tg.KanrenRelation(double, results_filter=lambda results: nothing)
    term = tt.exp(x + x)
    assert tg.pprint(rewritten(term, rule)) == "exp(x + x)"
    assert rule.transform(None, (x + x).owner) is False


def test_a_relation_without_answer(way):
    assert tg.pprint(rewritten(tt.exp(x), tg.KanrenRelation(double, **way))) == "exp(x)"


def test_a_result_of_another_type_is_no_result(way):
    def relation(before, after):
        a = tg.var("a")
        return lall(eq(before, tt.sin(a)), eq(after, S))

    rule = tg.KanrenRelation(relation, **way)
    assert tg.pprint(rewritten(tt.exp(tt.sin(x)), rule)) == "exp(sin(x))"


S = tt.dscalar("s")


def test_no_bound_is_asked_for_and_a_loop_is_told(way):
    def back_and_forth(before, after):
        a = tg.var("a")
        return conde([eq(before, tt.sin(a)), eq(after, tt.cos(a))], [eq(before, tt.cos(a)), eq(after, tt.sin(a))])

    _, report = tg.rewrite_graph(tt.exp(tt.sin(x)), rules=[tg.KanrenRelation(back_and_forth, **way)])
    assert report.stop_reason == "loop" and "back_and_forth" in str(report.error)


# --- the filters ------------------------------------------------------------------------------------------------------

def choices(before, after):
    a = tg.var("a")
    return lall(eq(before, tt.sin(a)), conde([eq(after, tt.cos(a))], [eq(after, tt.tanh(a))], [eq(after, tt.exp(a))]))


@pytest.mark.parametrize(("pick", "expected"), [
    (None, "cos(x)"),
    (first, "cos(x)"),
    (lambda results: list(results)[-1] if (results := list(results)) else None, "exp(x)"),
    (lambda results: next((r for r in results if "tanh" in str(r).lower()), None), "tanh(x)"),
    (lambda results: [r] if (r := next(results, None)) is not None else None, "cos(x)"),
])
def test_the_results_filter_picks(pick, expected):
    assert tg.pprint(rewritten(tt.sin(x), tg.KanrenRelation(choices, results_filter=pick))) == expected


def test_the_stream_is_lazy():
    def endless(before, after):
        a = tg.var("a")

        def goal(state):
            while matching := list(lall(eq(before, tt.sin(a)), eq(after, tt.cos(a)))(state)):
                yield from matching
        return goal

    assert tg.pprint(rewritten(tt.sin(x), tg.KanrenRelation(endless, results_filter=first))) == "cos(x)"


def test_the_node_filter_says_which_nodes():
    seen = []

    def only_of_x(node):
        seen.append(node)
        return node.inputs[0] is x

    new = rewritten([tt.sin(x), tt.sin(y)], tg.KanrenRelation(choices, node_filter=only_of_x))
    assert [tg.pprint(n) for n in new] == ["cos(x)", "sin(y)"]
    assert all(isinstance(node, Apply) for node in seen)


def test_together_with_staged_rules(way):
    new, report = tg.rewrite_graph(tt.exp((x + x) * 1), [tg.rules.neutral, tg.KanrenRelation(double, **way)])
    assert tg.pprint(new) == "exp(2 * x)" and report.rules["double"].fires == 1


# --- several outputs --------------------------------------------------------------------------------------------------

def outputs_of(op):
    return list(op.make_node(x).outputs)


@pytest.mark.parametrize("result", [lambda a: [a, y], lambda a: [tt.sin(a), None], lambda a: [etuple(tt.sin, a), 0.5]])
def test_several_outputs_without_default_are_a_list(result):
    def relation(before, after):
        return eq(after, result(x)) if isinstance(before, list) else eq(1, 2)

    outputs = outputs_of(Both())
    rule = tg.KanrenRelation(relation, results_filter=first)
    new = rewritten([tt.exp(o) for o in outputs], rule)
    given = {x: np.array([0.5]), y: np.array([2.0])}
    values = evaluate(new, given)
    old = evaluate(outputs, given)
    for value, before, wanted in zip(values, old, result(x), strict=True):
        expected = before if wanted is None else wanted
        expected = expected if isinstance(expected, (float, np.ndarray)) else evaluate([tg.from_etuple(expected)], given)[0]
        np.testing.assert_allclose(value, np.broadcast_to(np.exp(expected), (1,)))


def test_each_output_is_a_term_of_its_own(way):
    op = Both()
    second = outputs_of(op)[1].head

    def relation(before, after):
        a = tg.var("a")
        return lall(eq(before, second(a)), eq(after, tt.mul(3, a)))

    new = rewritten(outputs_of(op), tg.KanrenRelation(relation, **way))
    assert [tg.pprint(n) for n in new][1] == "3 * x" and new[0].owner.op == op


def test_too_few_results_for_the_outputs():
    def relation(before, after):
        return eq(after, [x]) if isinstance(before, list) else eq(1, 2)

    with pytest.raises(RuleExecutionError, match="2 outputs, and there are 1 results"):
        rewritten(outputs_of(Both())[0], tg.KanrenRelation(relation))


@pytest.mark.parametrize("default", [0, 1])
def test_of_several_outputs_the_default_is_looked_at(default):
    op = Both(default)

    def relation(before, after):
        return lall(eq(before, op(tg.var("a"))), eq(after, y))

    new = rewritten(outputs_of(op), tg.KanrenRelation(relation, results_filter=first))
    assert new[default] is y and new[1 - default].owner.op == op
    assert rewritten(op(x), tg.KanrenRelation(relation)) is y


def test_transform_gives_one_replacement_for_each_output():
    op = Both(0)
    rule = tg.KanrenRelation(lambda before, after: lall(eq(before, op(tg.var("a"))), eq(after, y)), name="rule")
    assert rule.transform(None, op.make_node(x)) == [y, None]
    assert tg.KanrenRelation(double).transform(None, tt.sin(x).owner) is False
    (new,) = tg.KanrenRelation(double).transform(None, (x + x).owner)
    assert tg.pprint(new) == "2 * x"
