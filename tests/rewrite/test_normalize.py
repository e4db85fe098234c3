"""The bottom-up driver: normal forms, sharing, depth, and rules that do not end."""

import numpy as np
import pytest
from rewrite_helpers import assert_same_values, normalized, random_graph, texts, values_for

import termgraph as tg
import termgraph.tensor as tt
from termgraph.config import config
from termgraph.errors import RewriteGrowthError, RewriteLoopError
from termgraph.graph import FunctionGraph, ancestors, equal_computations, toposort
from termgraph.rewrite import RuleSet, normalize

SIMPLIFY = tg.rules.ALL.filter(phase="simplify")
x, y = tt.dvectors("x", "y")
s = tt.dscalar("s")


def picture(outputs):
    """Every node with its inputs, to see whether anything changed."""
    return [(node, tuple(node.inputs), tuple(o.name for o in node.outputs)) for node in toposort(outputs)]


def test_what_no_rule_touches_is_the_users_own():
    term = tt.exp(x + y) * tt.sin(x)
    (result,), report = normalize([term], SIMPLIFY)
    assert result is term and report.fires == 0 and report.steps == []


def test_what_is_above_a_change_is_made_anew_and_the_rest_is_shared():
    untouched = tt.exp(x + y)
    (result,), _ = normalize([tt.sin(untouched - tt.log(tt.exp(x)))], SIMPLIFY)
    assert tg.pprint(result) == "sin(exp(x + y) - x)" and result.owner.inputs[0].owner.inputs[0] is untouched


def test_fresh_shares_no_node_with_the_graph_given():
    outputs = random_graph(3)[1]
    for rules in (RuleSet(), SIMPLIFY):
        results, _ = normalize(outputs, rules, fresh=True)
        assert not set(toposort(results)) & set(toposort(outputs))
    copies, report = normalize(outputs, RuleSet(), fresh=True)
    assert equal_computations(outputs, copies) and report.nodes_after <= report.nodes_before


@pytest.mark.parametrize("seed", range(20))
def test_random_graphs_keep_their_values_and_the_user_keeps_the_graph(seed):
    inputs, outputs = random_graph(seed)
    before = picture(outputs)
    results, report = normalize(outputs, SIMPLIFY)
    assert picture(outputs) == before and report.stop_reason == "equilibrium"
    assert_same_values(outputs, results, values_for(inputs, seed))


@pytest.mark.parametrize("seed", range(20))
def test_a_normal_form_is_normal(seed):
    results, _ = normalize(random_graph(seed)[1], SIMPLIFY)
    again, report = normalize(results, SIMPLIFY)
    assert all(a is b for a, b in zip(results, again, strict=True)) and report.fires == 0


def test_equal_terms_become_one():
    (a, b), report = normalize([tt.exp(x + y), tt.exp(x + y)], RuleSet([tg.rules.ALL["merge"]]))
    assert a is b and report.rules["merge"].fires == 2 and report.nodes_after == 2


def test_outputs_that_are_leaves_constants_or_repeated():
    two = tt.constant(2.0)
    e = tt.log(tt.exp(x))
    results, report = normalize([x, two, e, e, tt.constant(2.0)], SIMPLIFY)
    assert results[0] is x and results[2] is x and results[3] is x and results[1] is results[4] and report.fires >= 1
    assert normalize([], SIMPLIFY)[0] == []


def test_a_rule_fires_on_what_another_has_made():
    term = tt.log(tt.exp(x * 1 + 0) * 1)
    (result,), report = normalize([term], SIMPLIFY)
    assert result is x and {"neutral", "add_zero", "inverse"} <= {step.rule.name for step in report.steps}


def test_sharing_is_kept():
    term = s
    for _ in range(200):
        term = tt.exp(term * 1) - tt.log(term * 1)  # as a tree, 2 ** 200 nodes
    (result,), report = normalize([term], SIMPLIFY)
    assert len(toposort([result])) == 600 and report.rules["neutral"].fires == 200


def test_a_chain_of_100_000_nodes(deep):
    _, term = deep
    (result,), report = normalize([term], SIMPLIFY)
    assert result is term and report.nodes_after == 100_000


def test_a_long_chain_in_which_every_node_changes():
    @tg.relation
    def up(a):
        yield tt.sin(a), tt.cos(a)

    term = s
    for _ in range(5000):
        term = tt.sin(term)
    (result,), report = normalize([term], RuleSet([up]))
    assert report.fires == 5000 and all(node.op == tt.cos for node in toposort([result]))


def test_a_chain_that_collapses(deep):
    v, _ = deep
    term = v
    for _ in range(20_001):
        term = -term
    (result,), report = normalize([term], SIMPLIFY)
    assert tg.pprint(result) == "-x" and report.rules["double_negation"].fires == 1  # from then on -(-x) is known


def test_a_rule_that_grows_downwards_over_a_deep_result():
    @tg.relation
    def down(a):
        yield tt.sin(tt.exp(a)), tt.exp(tt.sin(a))

    term = s
    for _ in range(3000):
        term = tt.exp(term)
    (result,), report = normalize([tt.sin(term)], RuleSet([down]))
    assert report.fires == 3000 and toposort([result])[0].op == tt.sin and report.stop_reason == "equilibrium"


# --- rules that do not end --------------------------------------------------------------------------------------------


@tg.relation
def swap(a, b):
    yield a + b, b + a


@tg.relation
def up(a):
    yield tt.exp(a), tt.exp2(a)


@tg.relation
def down(a):
    yield tt.exp2(a), tt.exp(a)


@tg.relation
def wrap(a):
    yield tt.sin(a), tt.cos(tt.sin(a))


@tg.relation
def grow(a):
    yield tt.tanh(a), tt.tanh(tt.cos(a))


LOOPS = [([swap], tt.log(x + y), {"swap"}, {"x + y", "y + x"}),
         ([up, down], tt.log(tt.exp(x)), {"up", "down"}, {"exp(x)", "exp2(x)"}),
         ([wrap], tt.log(tt.sin(x)), {"wrap"}, {"sin(x)"})]


@pytest.mark.parametrize(("rules", "term", "names", "back"), LOOPS, ids=["swap", "undo", "wrap"])
def test_a_loop_is_named(rules, term, names, back):
    result, report = normalized([term, tt.log(tt.exp(y)) - tt.exp(x)], rules)
    assert report.stop_reason == "loop" and isinstance(report.error, RewriteLoopError)
    message = str(report.error)
    assert {name for name, _, _ in report.error.cycle} == names and report.error.term in back
    for rule in rules:
        assert f"{rule.name} ({rule.where}) made " in message
    assert f"the term that came back is {report.error.term}" in message
    with pytest.raises(RewriteLoopError):
        report.raise_error()
    values = {x: np.array([0.5, 0.25]), y: np.array([0.75, 0.5])}
    assert texts(result) == texts([term, tt.log(tt.exp(y)) - tt.exp(x)])
    assert_same_values([term], result[:1], values)


def test_after_a_loop_nothing_fires_and_what_was_done_stays():
    @tg.relation
    def fine(a):
        yield tt.sqr(tt.sqrt(a)), a

    early, late = tt.sqr(tt.sqrt(x)), tt.sqr(tt.sqrt(y))
    result, report = normalized([early, tt.exp(x), late], [fine, up, down])
    assert texts(result) == ["x", "exp(x)", "sqr(sqrt(y))"] and report.stop_reason == "loop"


def test_growth_is_stopped_and_named():
    term = tt.log(tt.tanh(s))
    result, report = normalized([term], [grow])
    assert report.stop_reason == "growth" and isinstance(report.error, RewriteGrowthError)
    assert str(report.error).startswith(f"rule grow ({grow.where}): rewriting does not seem to end: ")
    assert "tanh(cos(" in str(report.error)
    assert f"{report.fires} fires (the bound is {report.fires})" in str(report.error)
    assert texts(result) == ["log(tanh(s))"]


def test_the_bound_is_a_setting():
    term, fires = tt.tanh(s), []
    for _ in range(50):
        term = tt.log(term)
    for most in (1, 50):
        with config.change_flags(max_fires_per_node=most):
            fires.append(normalized([term], [grow])[1].fires)
    assert fires[0] < fires[1]


def test_a_rule_that_ends_within_the_bound_is_left_alone():
    term = s
    for _ in range(300):
        term = tt.neg(-tt.exp(term))
    _, report = normalized([term], SIMPLIFY)
    assert report.stop_reason == "equilibrium" and report.rules["double_negation"].fires == 300


def test_multiple_readers_all_see_the_change():
    e = tt.log(tt.exp(x))
    outputs = [tt.sin(e), tt.cos(e), e + e]
    results, _ = normalize(outputs, RuleSet([tg.rules.ALL["inverse"]]))
    assert texts(results) == ["sin(x)", "cos(x)", "x + x"]
    assert not [v for v in ancestors(results) if v.owner is not None and v.owner.op == tt.exp]
    FunctionGraph([x], results, clone=False).check_integrity()
