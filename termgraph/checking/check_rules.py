"""check_rules: what is wrong with a set of rules, found without running it on anybody's graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import perf_counter
from typing import Any

from termgraph.checking.clauses import strata, unanalysed
from termgraph.checking.critical_pairs import divergences
from termgraph.checking.finding import Finding, RuleCheck
from termgraph.checking.instances import Workbench
from termgraph.checking.termination import endless
from termgraph.checking.unreachable import unreachable
from termgraph.rewrite.ruleset import RuleSet


def check_rules(rules: Any) -> RuleCheck:
    """Look for clauses that can never fire, clauses that undo each other, cycles, growth, and critical pairs whose results
    differ, among `rules`: a rule, a RuleSet, a plain relation, or a sequence of these.

    Rules of different phases meet only in that an earlier phase may leave nothing for a later one. Patterns are compared by
    unification; whether a term loops, and whether two results are one, is found by rewriting generic instances, whose leaves
    are distinct variables. A finding says "error", "warning" or "unknown" (see `Finding`). Clauses that match any op, or whose
    right side is computed, are named once as "undecided".

    >>> import termgraph as tg, termgraph.tensor as tt
    >>> @tg.relation
    ... def swap(x, y):
    ...     yield x - y, y - x
    >>> [f.kind for f in check_rules(swap)]
    ['undo']
    """
    start = perf_counter()
    ruleset = rules if isinstance(rules, RuleSet) else RuleSet(rules if isinstance(rules, Iterable) else [rules])
    levels, bench = strata(ruleset), Workbench()
    pairs = list(divergences(levels, bench))
    findings = [*unreachable(levels, bench), *endless(levels, bench), *(f for f in pairs if f is not None), *_undecided(levels)]
    order = {"error": 0, "warning": 1, "unknown": 2}
    findings.sort(key=lambda f: order[f.verdict])
    clauses = sum(len(level.lines) for level in levels)
    return RuleCheck(tuple(findings), clauses, len(pairs), perf_counter() - start)


def _undecided(levels: Any) -> Iterator[Finding]:
    for clause, reason in unanalysed(levels):
        yield Finding("undecided", "unknown", (clause,), f"{clause.rule} is left out: {reason}.")
