"""Clauses that can never fire: an earlier clause always fires in their place, or has rewritten a part of their pattern."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from unification import Var

from termgraph.checking.clauses import Entry, Stratum, may_meet
from termgraph.checking.finding import Finding
from termgraph.checking.instances import Workbench, bindings
from termgraph.checking.overlap import Path, implied, matched, positions, renamed, substituted
from termgraph.graph.variable import Variable
from termgraph.rewrite.skeleton import show, split_pattern


def unreachable(strata: Sequence[Stratum], bench: Workbench) -> Iterator[Finding]:
    """A finding for each clause of which every variant is subsumed or consumed."""
    for level, stratum in enumerate(strata):
        for _, variants in itertools.groupby(sorted(stratum.entries, key=lambda e: (e.line, e.number)), lambda e: e.line):
            found = [(e, _reason(e, stratum, strata[:level], strata[level:], bench)) for e in variants]
            if all(reason is not None for _, reason in found):
                yield found[0][1]  # type: ignore[misc]


def _reason(entry: Entry, own: Stratum, earlier: Sequence[Stratum], later: Sequence[Stratum],
            bench: Workbench) -> Finding | None:
    """A clause that keeps `entry` from firing; one that always does is preferred."""
    if entry.open:
        return None
    found = itertools.chain(_subsuming(entry, own, bench), _consuming(entry, own, bench), _before(entry, earlier, later, bench))
    return min(found, key=lambda f: f.verdict != "error", default=None)


def always_fires(by: Entry, entry: Entry, path: Path) -> bool:
    """Whether `by` matches wherever `entry` does, at this place of its pattern, and asks for nothing that entry does not."""
    term = dict(positions(entry.skeleton.before))[path]
    clause = renamed(by.skeleton)
    s = matched(clause.before, term)
    return s is not None and implied(substituted(clause, s).residue, entry.skeleton.residue)


def _subsuming(entry: Entry, own: Stratum, bench: Workbench) -> Iterator[Finding]:
    for by in own.candidates(entry.skeleton.before):
        if by.number < entry.number and by.line != entry.line and always_fires(by, entry, ()):
            verdict, but = _unless_type(by, entry, (), bench)
            yield Finding("unreachable", verdict, (entry.clause, by.clause),
                          f"{show(entry.skeleton.before)} is never seen by {entry.rule.name}: {by.rule.name} comes first and "
                          f"matches whatever it matches{but}.", (entry.skeleton.before, by.skeleton.before))


def _consuming(entry: Entry, own: Stratum, bench: Workbench) -> Iterator[Finding]:
    """Inputs are in normal form when a term is looked at; a driver that looks at the graph around makes that no promise."""
    for path, term in positions(entry.skeleton.before):
        for by in own.candidates(term) if path else ():
            if always_fires(by, entry, path):
                verdict, but = _unless_type(by, entry, path, bench)
                if own.rules.contextual and verdict == "error":
                    verdict, but = "warning", ", unless this comes up while its inputs are still being rewritten"
                yield Finding("unreachable", verdict, (entry.clause, by.clause),
                              f"{show(entry.skeleton.before)} is never seen by {entry.rule.name}: inputs are rewritten first, "
                              f"and {by.rule.name} consumes {show(term)}{but}.", (entry.skeleton.before, by.skeleton.before))


def _before(entry: Entry, earlier: Sequence[Stratum], later: Sequence[Stratum], bench: Workbench) -> Iterator[Finding]:
    for stratum in earlier:
        for path, term in positions(entry.skeleton.before):
            for by in stratum.candidates(term):
                if always_fires(by, entry, path):
                    verdict, but = _unless_type(by, entry, path, bench)
                    if verdict == "error" and _makes(later, term):
                        verdict, but = "warning", ", unless a later phase makes it"
                    yield Finding("unreachable", verdict, (entry.clause, by.clause),
                                  f"{show(entry.skeleton.before)} is never seen by {entry.rule.name}: {by.rule.name}, of the "
                                  f"earlier phase {stratum.phase}, consumes {show(term)}{but}.",
                                  (entry.skeleton.before, by.skeleton.before))


def _makes(strata: Sequence[Stratum], term: object) -> bool:
    """Whether a right side has the head of `term`, or may have."""
    head = split_pattern(term)[0]
    entries = [e for s in strata for e in s.entries]
    made = [split_pattern(p)[0] for e in entries for _, p in positions(e.skeleton.after)]
    open_ended = any(e.computed for e in entries) or any(s.rules.searched for s in strata)
    return open_ended or any(isinstance(h, Var) or may_meet(head, h) for h in made)


def _unless_type(by: Entry, entry: Entry, path: Path, bench: Workbench) -> tuple[str, str]:
    """The verdict, and what to add: `by` may refuse where its result would have another type."""
    fired = refused = False
    for bound in bindings(entry.skeleton.before, entry.skeleton.residue):
        whole = bench.built(entry.skeleton.before, bound)
        if whole is None or bench.rewritten(entry.rule, entry.skeleton, whole) is None:
            continue
        if bench.rewritten(by.rule, by.skeleton, _at(whole, path)) is None:
            refused = True
        fired = True
    if not fired:
        return "warning", " (no term was found on which either fires)"
    return ("warning", f", except where {by.rule.name} would change the type") if refused else ("error", "")


def _at(variable: Variable, path: Path) -> Variable:
    for i in path:
        variable = variable.owner.inputs[i]  # type: ignore[union-attr]
    return variable


