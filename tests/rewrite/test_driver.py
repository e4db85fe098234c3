"""rewrite_graph: what it takes, what it gives back, and that the user's graph stays."""

import pytest
from kanren import eq, lall
from rewrite_helpers import random_graph, random_matrix_graph, texts

import termgraph as tg
import termgraph.tensor as tt
from termgraph.graph import toposort
from termgraph.rewrite import Report, RuleSet
from termgraph.rewrite.goals import sole_client
from termgraph.terms import vars  # noqa: A004

x, y = tt.dvectors("x", "y")


@tg.relation
def logs(a):
    yield tt.log(tt.exp(a)), a


@tg.relation
def alone(a):
    yield tt.exp(tt.log(a)), a, sole_client(tt.log(a))


def test_one_variable_or_several():
    result, report = tg.rewrite_graph(tt.log(tt.exp(x)), logs)
    assert result is x and isinstance(report, Report)
    for outputs in ([tt.log(tt.exp(x)), y], (tt.log(tt.exp(x)), y)):
        result, report = tg.rewrite_graph(outputs, logs)
        assert result == [x, y]
    assert tg.rewrite_graph([], logs)[0] == []


@pytest.mark.parametrize("rules", [logs, [logs], (logs,), RuleSet([logs]), [RuleSet([logs]), alone], logs.function],
                         ids=lambda v: getattr(v, "__name__", str(v)))
def test_rules_in_every_form(rules):
    assert tg.rewrite_graph(tt.log(tt.exp(x)), rules)[0] is x


def test_a_plain_relation():
    def plain(before, after):
        (a,) = vars("a")
        return lall(eq(before, tt.log(tt.exp(a))), eq(after, a))

    result, report = tg.rewrite_graph(tt.log(tt.exp(x)), plain)
    assert result is x and report.rules["plain"].fires == 1


def test_what_is_no_variable_or_no_rule():
    with pytest.raises(TypeError, match=r"output 1 must be a Variable, got int 3"):
        tg.rewrite_graph([x, 3], logs)
    with pytest.raises(TypeError, match="expected a rule, a rule set or a relation"):
        tg.rewrite_graph(x, [3])


RULES = [tg.rules.ALL.filter(phase="simplify"), tg.rules.ALL, [logs, alone]]


@pytest.mark.parametrize("rules", RULES, ids=["down", "all", "some"])
@pytest.mark.parametrize("make", [random_graph, random_matrix_graph])
@pytest.mark.parametrize("seed", range(4))
def test_the_users_graph_is_untouched(rules, make, seed):
    _, outputs = make(seed)
    before = [(node, tuple(node.inputs), tuple(str(o) for o in node.outputs)) for node in toposort(outputs)]
    results, _ = tg.rewrite_graph(outputs, rules)
    assert [(node, tuple(node.inputs), tuple(str(o) for o in node.outputs)) for node in toposort(outputs)] == before
    assert all(old.type.is_super(new.type) for new, old in zip(results, outputs, strict=True))


def test_contextual_rules_see_the_whole_graph():
    inner = tt.log(x)
    assert texts(tg.rewrite_graph([tt.exp(inner), inner], alone)[0]) == ["exp(log(x))", "log(x)"]
    assert tg.rewrite_graph(tt.exp(inner), alone)[0] is x
    assert texts(tg.rewrite_graph([tt.exp(inner), tt.log(tt.exp(inner))], [alone, logs])[0]) == ["x", "log(x)"]


def test_shared_variables_and_constants_stay_themselves():
    w, c = tg.shared(2.0, name="w"), tt.constant(3.0)
    term = tt.exp(tt.log(tt.log(tt.exp(w)) + c))
    result, _ = tg.rewrite_graph(term, [logs, alone])
    assert tg.pprint(result) == "w + 3" and result.owner.inputs[0] is w


def test_deep_graphs(deep):
    _, term = deep
    assert tg.rewrite_graph(term, logs)[0] is term


def test_the_phase_names_the_report():
    assert tg.rewrite_graph(x, logs, phase="mine")[1].phase == "mine"
