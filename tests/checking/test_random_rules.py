"""Staged equals relational for rules nobody wrote, and the comparison sees faults planted in what generates matchers."""

from functools import cache

import pytest

from termgraph.checking import agreement
from termgraph.checking.random_rules import random_rule
from termgraph.errors import TermgraphError
from termgraph.rewrite import codegen, matcher, plan
from termgraph.rewrite.matcher import Matchers
from termgraph.rewrite.skeleton import is_node, split_pattern
from termgraph.rules import ALL
from termgraph.terms.term import OpTerm, Term

SEEDS, BATCH, TERMS = 200, 25, 50
rule_of = cache(random_rule)


@pytest.mark.parametrize("first", range(0, SEEDS, BATCH))
def test_staged_equals_relational(first, long):
    with_result = 0
    for seed in range(first, first + BATCH):
        outcome = agreement(rule_of(seed), 20 * TERMS if long else TERMS, seed=seed)
        assert [str(d) for d in outcome.disagreements] == []
        with_result += outcome.with_result
    assert with_result > BATCH * TERMS / 10  # rules that never have a result would agree about nothing


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.name)
def test_shipped_rules(rule, long):
    outcome = agreement(rule, 10_000 if long else TERMS, seed=1)
    assert [str(d) for d in outcome.disagreements] == []


def test_equal_seeds_give_equal_rules():
    texts = [[str(s) for s in random_rule(seed).skeletons] for seed in range(20)]
    assert texts == [[str(s) for s in random_rule(seed).skeletons] for seed in range(20)]
    assert len({tuple(t) for t in texts}) > 15


def subterms(pattern):
    """The applications in a pattern."""
    if is_node(pattern):
        yield pattern
        for argument in split_pattern(pattern)[1]:
            yield from subterms(argument)


def leaves(pattern):
    """The variables and numbers of a pattern, as often as they occur."""
    return [a for node in subterms(pattern) for a in split_pattern(node)[1] if not is_node(a)]


HAS = {
    "a guard": lambda s: any(g.outs is None for g in s.residue),
    "a guard on the graph": lambda s: s.contextual,
    "a guard on a term": lambda s: any(isinstance(a, Term) for g in s.residue for a in g.args),
    "a computed result": lambda s: any(g.outs is not None and not g.many for g in s.residue),
    "a choice": lambda s: any(g.many for g in s.residue),
    "a repeated variable": lambda s: len(set(leaves(s.before))) < len(leaves(s.before)),
    "a number": lambda s: any(isinstance(leaf, (int, float)) for leaf in leaves(s.before)),
    "a commutative head": lambda s: any(getattr(split_pattern(n)[0], "commutative", False) for n in subterms(s.before)),
    "any tail": lambda s: split_pattern(s.before)[2] is not None,
    "any head": lambda s: not hasattr(s.head, "commutative") and not isinstance(s.head, OpTerm),
    "nesting": lambda s: len(list(subterms(s.before))) > 2,
    "a parameter": lambda s: any(getattr(split_pattern(n)[0], "params", ()) for n in subterms(s.before)),
}


@pytest.mark.parametrize("feature", HAS)
def test_the_drawn_rules_have(feature):
    rules = [rule_of(seed) for seed in range(SEEDS)]
    assert sum(any(HAS[feature](s) for s in rule.skeletons) for rule in rules) >= 5
    assert any(rule.yields for rule in rules) and not all(rule.yields for rule in rules)


# --- faults ---------------------------------------------------------------------------------------------------------------

def variables_never_compared(patch):
    patch.setattr(plan._Builder, "bind", lambda self, variable, path, expression, kind:
                  self.bound.setdefault(variable, expression))


def without_tests(kind):
    """The fault that tests of a kind are left out."""
    def plant(patch):
        whole = plan.plan

        def planned(skeleton):
            made = whole(skeleton)
            return plan.Plan(tuple(t for t in made.tests if t[0] != kind), made.bound, made.paths, made.residue)
        patch.setattr(codegen, "plan", planned)
    return plant


def guards_not_asked(patch):
    goal = codegen.Leaf.goal
    patch.setattr(codegen.Leaf, "goal", lambda self, waiting, value:
                  None if waiting.outs is None else goal(self, waiting, value))


def only_the_first_clause(patch):
    numbers = matcher.Matchers.numbers_for
    patch.setattr(matcher.Matchers, "numbers_for", lambda self, symbol: numbers(self, symbol)[:1])


def types_not_kept(patch):
    say = codegen.Leaf.say
    patch.setattr(codegen.Leaf, "say", lambda self, line: say(self, line.replace("after.type is not v.type", "False")))


def template_arguments_reversed(patch):
    node = codegen.Leaf.node
    patch.setattr(codegen.Leaf, "node", lambda self, term: node(
        self, Term(term.head, term.args[::-1]) if isinstance(term, Term) else term))


def numbers_of_any_value(patch):
    patch.setattr(codegen.Compiled, "_literal", lambda self, path, number, name, symbol: f"{symbol}.fills")


FAULTS = [variables_never_compared, guards_not_asked, only_the_first_clause, types_not_kept, template_arguments_reversed,
          numbers_of_any_value, *map(without_tests, ("symbol", "same", "literal", "class", "param"))]
NAMES = [f.__name__ if f.__name__ != "plant" else f"no test of {f.__closure__[0].cell_contents}" for f in FAULTS]


@pytest.mark.parametrize("plant", FAULTS, ids=NAMES)
def test_a_fault_in_the_generator_is_seen(plant, monkeypatch):
    """One of the rules at least disagrees with its relation, or its matcher breaks."""
    rules = [rule_of(seed) for seed in range(SEEDS)]
    plant(monkeypatch)
    assert any(disagrees(rule) for rule in rules)


def disagrees(rule):
    try:
        matchers = Matchers([(rule, s) for s in rule.skeletons])
        return bool(agreement(rule, TERMS, matchers=matchers).disagreements)
    except (TermgraphError, AttributeError):
        return True
