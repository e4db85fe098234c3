"""Critical pairs: terms that two clauses can rewrite in overlapping places, and whether the two results become one term.

By the lemma of Knuth and Bendix (1970) a terminating set of rules gives results that do not depend on the order of rewriting
exactly when every critical pair rejoins. Where one does not, the driver's order decides which simplification is had.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from termgraph.checking.clauses import Entry, Stratum
from termgraph.checking.finding import Finding
from termgraph.checking.instances import Workbench, bindings, is_ground, never_holds
from termgraph.checking.overlap import Path, applied, positions, renamed, replaced, substituted, unified
from termgraph.checking.sameness import contradict, same, shape_of, size
from termgraph.graph.variable import Variable
from termgraph.rewrite.driver import rewrite_graph
from termgraph.rewrite.skeleton import Skeleton, show
from termgraph.terms.term import render


@dataclass(frozen=True, eq=False)
class Overlap:
    """`outer` matches `term` and `inner` matches the subterm at `path`; both as they are there, variables put in."""

    outer: Entry
    inner: Entry
    path: Path
    outer_here: Skeleton
    inner_here: Skeleton

    @property
    def term(self) -> Any:
        """The pattern of the terms both match."""
        return self.outer_here.before

    @property
    def goals(self) -> tuple[Any, ...]:
        """What both clauses ask."""
        return (*self.outer_here.residue, *self.inner_here.residue)


def overlaps(stratum: Stratum) -> Iterator[Overlap]:
    """Every overlap of two clauses of a phase. For the outer clause one order of commutative arguments is enough, as the
    inner one is there in all."""
    for outer in stratum.lines:
        if outer.opaque:
            continue
        for path, term in positions(outer.skeleton.before):
            for inner in stratum.candidates(term):
                if not path and inner.line <= outer.line:
                    continue
                apart = renamed(inner.skeleton)
                s = unified(term, apart.before)
                if s is not None:
                    yield Overlap(outer, inner, path, substituted(outer.skeleton, s), substituted(apart, s))


@dataclass(frozen=True, eq=False)
class CriticalPair:
    """A term, and the normal forms of what the outer and the inner clause make of it."""

    overlap: Overlap
    term: Variable
    normal: tuple[Variable, Variable]
    stop_reason: str


def critical_pair(overlap: Overlap, stratum: Stratum, bench: Workbench) -> CriticalPair | None:
    """The overlap on its generic instance, None where no instance was found on which both clauses fire."""
    outer, inner = overlap.outer, overlap.inner
    for bound in bindings(overlap.term, overlap.goals):
        part = bench.built(overlap.inner_here.before, bound)
        whole = None if part is None else bench.built(overlap.term, bound)
        if whole is None or part is None:
            continue
        below = bench.rewritten(inner.rule, inner.skeleton, part)
        above = None if below is None else bench.rewritten(outer.rule, outer.skeleton, whole)
        if above is None:
            continue
        right = bench.built(replaced(applied(overlap.term, bound), overlap.path, below), {})
        if right is None:
            continue
        (left_normal, right_normal), report = rewrite_graph([above, right], stratum.rules)
        return CriticalPair(overlap, whole, (left_normal, right_normal), report.stop_reason)
    return None


def divergences(strata: Sequence[Stratum], bench: Workbench) -> Iterator[Finding | None]:
    """For each critical pair None where it rejoins, otherwise the finding; those that say the same of the same two clauses
    are given once."""
    for stratum in strata:
        seen: set[Any] = set()
        for overlap in overlaps(stratum):
            if never_holds(overlap.goals):
                continue
            pair = critical_pair(overlap, stratum, bench)
            finding = _undecided(overlap) if pair is None else _judged(pair, stratum)
            shape = None if pair is None else tuple(shape_of(v) for v in pair.normal)
            key = (overlap.outer.line, overlap.inner.line, shape)
            yield None if key in seen else finding
            if finding is not None:
                seen.add(key)


def _undecided(overlap: Overlap) -> Finding | None:
    """Without goals no types were found on which both fire: there is no such term."""
    if not overlap.goals:
        return None
    goals = ", ".join(dict.fromkeys(str(g) for g in overlap.goals))
    return Finding("divergence", "unknown", (overlap.outer.clause, overlap.inner.clause),
                   f"no term {show(overlap.term)} was found on which both fire: {goals}.", (overlap.term,))


def _judged(pair: CriticalPair, stratum: Stratum) -> Finding | None:
    """What is wrong with a critical pair, if anything."""
    left, right = pair.normal
    if pair.stop_reason != "equilibrium" or same(left, right):
        return None  # where the rules loop or grow, that is found by itself
    outer, inner = pair.overlap.outer, pair.overlap.inner
    chosen, report = rewrite_graph(pair.term, stratum.rules)
    first = report.steps[0]
    if first.rule not in (outer.rule, inner.rule) and is_ground(first.before):
        return None  # a part that holds constants only is folded before either clause can fire
    terms = (pair.term, left, right)
    wrong = contradict(pair.term, left, right)
    cost = ""
    if not wrong and size(chosen) > min(size(left), size(right)):
        cost = f" The driver gives {render(chosen)}, {size(chosen)} nodes where there might be {min(size(left), size(right))}."
    what = "two different values" if wrong else "two different terms"
    return Finding("divergence", "error" if wrong else "warning", (outer.clause, inner.clause),
                   f"{render(pair.term)} has {what}: {render(left)} by {outer.rule.name} first, {render(right)} by "
                   f"{inner.rule.name} first.{cost}", terms)
