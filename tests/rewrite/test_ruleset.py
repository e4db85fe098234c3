"""RuleSet: rules as a value."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import termgraph as tg
import termgraph.tensor as tt
from termgraph.rewrite import Rule, RuleSet
from termgraph.rewrite.goals import sole_client


@tg.relation(tags=("waves",), soundness="exact")
def sines(a):
    yield tt.sin(tt.arcsin(a)), a


@tg.relation(phase="specialize", tags=("waves",), soundness="unsafe: overflow")
def exps(a):
    yield tt.exp(tt.log(a)), a


@tg.relation
def logs(a):
    yield tt.log(tt.exp(a)), a


def names(rules):
    return [r.name for r in rules]


BOTH = RuleSet([sines, exps])


def test_rules_keep_their_order_and_each_is_there_once():
    assert names(BOTH + logs) == ["sines", "exps", "logs"]
    assert names(RuleSet([logs, *BOTH, logs, BOTH])) == ["logs", "sines", "exps"]
    assert len(BOTH) == 2 and names(BOTH) == ["sines", "exps"]
    assert repr(BOTH) == "RuleSet(sines, exps)"


def test_plus_takes_rules_sets_and_lists():
    for more in (logs, [logs], (logs,), RuleSet([logs]), [RuleSet([logs]), [sines]]):
        assert names(BOTH + more) == ["sines", "exps", "logs"]
    assert names(BOTH) == ["sines", "exps"]


def test_a_plain_function_becomes_a_relation():
    def doubled(a):
        yield a + a, 2 * a

    rules = RuleSet([doubled])
    assert isinstance(rules["doubled"], Rule)
    with pytest.raises(TypeError, match="expected a rule, a rule set or a relation, got int 3"):
        RuleSet([3])


def test_minus_takes_names_rules_and_several():
    three = BOTH + logs
    for less in ("exps", exps, ["exps"], RuleSet([exps]), (exps,)):
        assert names(three - less) == ["sines", "logs"]
    assert names(three - ["exps", sines]) == ["logs"] and names(BOTH - logs) == ["sines", "exps"]
    with pytest.raises(KeyError, match="no rule 'nothing' here; there are sines, exps"):
        BOTH - "nothing"


def test_lookup_and_membership():
    assert BOTH["exps"] is exps and "exps" in BOTH and exps in BOTH and "logs" not in BOTH and logs not in BOTH
    with pytest.raises(KeyError, match="no rule 'logs'"):
        BOTH["logs"]


def test_two_rules_of_one_name_are_rejected():
    other = tg.relation(logs.function, name="exps")
    with pytest.raises(ValueError, match=r"two rules are called exps: test_ruleset.py:\d+ and test_ruleset.py:\d+") as caught:
        BOTH + other
    assert exps.where in str(caught.value) and other.where in str(caught.value)


def test_filter():
    three = BOTH + logs
    assert names(three.filter(tag="waves")) == ["sines", "exps"] and names(three.filter(tag="specialize")) == ["exps"]
    assert names(three.filter(phase="simplify")) == ["sines", "logs"] and names(three.filter(phase="no")) == []
    assert names(three.filter(soundness="exact")) == ["sines"] and names(three.filter(soundness="real")) == ["sines", "logs"]
    assert names(three.filter(soundness="unsafe")) == names(three)
    assert names(three.filter(lambda r: r.name != "logs", tag="waves", soundness="real")) == ["sines"]


def test_excluding_and_including():
    three = BOTH + logs
    assert names(three.excluding("waves")) == ["logs"] and names(three.excluding("logs", "specialize")) == ["sines"]
    assert names(three.excluding("no_such")) == names(three.including("anything")) == names(three)


def test_what_kind_of_rules_it_holds():
    @tg.relation
    def alone(a):
        yield tt.log(tt.exp(a)), a, sole_client(a)

    def searched(before, after):
        def goal(state):
            raise RecursionError
        return goal

    plain = RuleSet([logs])
    assert not plain.contextual and (plain + alone).contextual and not (plain + tg.rules.ALL["merge"]).contextual
    assert plain.searched == () and names((plain + searched).searched) == ["searched"]
    assert plain.merging == () and (plain + tg.rules.ALL["merge"]).merging == ("merge",)
    assert len(plain.matchers.entries) == 1 and len((plain + tg.rules.ALL["merge"]).matchers.entries) == 1


def test_shipped_rules_have_distinct_names_a_phase_and_a_stated_soundness():
    assert {r.phase for r in tg.rules.ALL} == {"simplify", "specialize", "inplace"}
    for rule in tg.rules.ALL:
        assert rule.algebra and "Soundness: " in rule.algebra and rule.staged and rule.skeletons
    assert sum(len(tg.rules.ALL.filter(phase=p)) for p in ("simplify", "specialize", "inplace")) == len(tg.rules.ALL)


SCRIPT = """
import termgraph as tg, termgraph.tensor as tt
from kanren import Relation, facts, lall, eq
from rewrite_helpers import random_graph, texts
from termgraph.rewrite.goals import apply
undo = Relation("undo")
names = "exp log sin cos tan sqrt sqr tanh sinh cosh abs".split()
facts(undo, *[(getattr(tt, f), getattr(tt, g)) for f in names for g in names if f < g])
def by_table(before, after):
    f, g, a = tg.vars("f g a")
    return lall(undo(f, g), eq(before, apply(g, (apply(f, (a,)),))), eq(after, a))
rules = tg.rules.ALL + by_table
for seed in range(6):
    outputs = random_graph(seed)[1]
    for these in (rules, rules.filter(phase="simplify")):
        results, report = tg.rewrite_graph(outputs, these)
        print(texts(results), report.stop_reason, report.nodes_after)
        print([(s.rule.name, str(s)) for s in report.steps])
        print(sorted((n, r.tries, r.matches, r.fires, r.refused) for n, r in report.rules.items()))
print([str(s) for s in rules["by_table"].skeletons])
"""


def test_results_and_reports_do_not_depend_on_the_hash_seed():
    outputs = []
    for seed in ("1", "2"):
        path = os.pathsep.join([str(Path(__file__).parent), str(Path(tg.__file__).parents[1])])
        ran = subprocess.run([sys.executable, "-W", "ignore", "-c", SCRIPT], capture_output=True, text=True, check=True,
                             env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path})
        outputs.append(ran.stdout)
    assert outputs[0] == outputs[1] and outputs[0].count("\n") == 37
