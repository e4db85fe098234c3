"""Rules that do not come to an end: clauses that undo each other, longer cycles, and growth.

Termination cannot be decided in general. What is found here is certain where the verdict is "error": there is a term on which
the driver stopped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from termgraph.checking.clauses import Entry, Stratum
from termgraph.checking.finding import Clause, Finding
from termgraph.checking.instances import Workbench, bindings, is_ground, never_holds
from termgraph.checking.overlap import implied, is_variant, matched, positions, renamed, substituted
from termgraph.errors import RewriteLoopError
from termgraph.graph.variable import Variable
from termgraph.rewrite.driver import rewrite_graph
from termgraph.rewrite.report import Report
from termgraph.rewrite.skeleton import is_node, show
from termgraph.terms.term import render


def endless(strata: Sequence[Stratum], bench: Workbench) -> Iterator[Finding]:
    """Every undoing pair, cycle and growth that was found."""
    for stratum in strata:
        runs = {entry.number: _run(entry, stratum, bench) for entry in stratum.lines}
        stops = {number: run[1].stop_reason for number, run in runs.items() if run is not None}
        pairs = list(_undoing(stratum, bench))
        yield from pairs
        yield from _stopped(stratum, runs, known={frozenset(f.rules) for f in pairs})
        yield from _embedding(stratum, stops)


def _run(entry: Entry, stratum: Stratum, bench: Workbench) -> tuple[Variable, Report] | None:
    """The generic instance of a clause on which it fires, and the report of rewriting it; None where there is none."""
    for bound in () if entry.open else bindings(entry.skeleton.before, entry.skeleton.residue):
        term = bench.built(entry.skeleton.before, bound)
        if term is not None and bench.rewritten(entry.rule, entry.skeleton, term) is not None:
            return term, rewrite_graph(term, stratum.rules)[1]
    return None


def _undoing(stratum: Stratum, bench: Workbench) -> Iterator[Finding]:
    """Pairs where the result of one clause is rewritten by another to what there was."""
    seen: set[frozenset[int]] = set()
    for first in stratum.lines:
        before, after = first.skeleton.before, first.skeleton.after
        for second in stratum.candidates(after) if is_node(after) and not first.open else ():
            clause = renamed(second.skeleton)
            s = matched(clause.before, after)
            pair = frozenset((first.line, second.line))
            back = None if s is None or pair in seen else substituted(clause, s)
            if back is None or not is_node(back.after) or not is_variant(back.after, before):
                continue
            outcome = _outcome(first, second, back.residue, stratum, bench)
            if outcome is not None:
                seen.add(pair)
                yield Finding("undo", outcome[0], tuple(dict.fromkeys((first.clause, second.clause))),
                              f"{first.rule.name} makes {show(after)} of {show(before)}, and {second.rule.name} makes "
                              f"{show(back.after)} of that{outcome[1]}.", (before, after, back.after))


def _outcome(first: Entry, second: Entry, goals: Sequence[Any], stratum: Stratum, bench: Workbench) -> tuple[str, str] | None:
    """The verdict on a pair whose second clause asks for `goals`, and what to add; None where it cannot come up."""
    if never_holds((*first.skeleton.residue, *goals)):
        return None
    for bound in bindings(first.skeleton.before, (*first.skeleton.residue, *goals)):
        term = bench.built(first.skeleton.before, bound)
        middle = None if term is None else bench.rewritten(first.rule, first.skeleton, term)
        if term is None or middle is None or bench.rewritten(second.rule, second.skeleton, middle) is None:
            continue
        if rewrite_graph(term, stratum.rules)[1].stop_reason != "equilibrium":
            return "error", ""
        # What holds constants only is folded before either can fire.
        return None if is_ground(term) else ("warning", ", though another rule comes first")
    return "unknown", ", if its goals hold there"


def _stopped(stratum: Stratum, runs: dict[int, tuple[Variable, Report] | None],
             known: set[frozenset[str]]) -> Iterator[Finding]:
    """The runs on generic instances that did not come to an end, one for each set of rules."""
    for entry in stratum.lines:
        run = runs[entry.number]
        if run is None or run[1].stop_reason == "equilibrium":
            continue
        term, report = run
        clauses = _involved(report, entry)
        if frozenset(c.rule for c in clauses) not in known:
            known.add(frozenset(c.rule for c in clauses))
            kind = report.stop_reason
            problem = report.error.problem.partition("\n")[0] if report.error is not None else ""
            yield Finding(kind, "error", clauses, f"beginning with {render(term)}, {problem}", (term,))


def _involved(report: Report, entry: Entry) -> tuple[Clause, ...]:
    """The rules of the cycle, or those that fired last; clauses are not recorded, so the first is named by its own."""
    if isinstance(report.error, RewriteLoopError):
        named = {name: where for name, where, _ in report.error.cycle}
    else:
        named = {step.rule.name: step.rule.where for step in report.steps[-50:]}
    return tuple(entry.clause if name == entry.rule.name else Clause(name, where, "...") for name, where in named.items())


def _embedding(stratum: Stratum, stops: dict[int, str]) -> Iterator[Finding]:
    """Clauses whose right side holds an instance of their left side, where no run shows what becomes of that."""
    for entry in stratum.lines:
        if entry.open or stops.get(entry.number) in ("loop", "growth"):
            continue
        clause: Any = renamed(entry.skeleton)
        for _, part in positions(entry.skeleton.after):
            s = matched(clause.before, part)
            if s is not None and implied(substituted(clause, s).residue, entry.skeleton.residue):
                yield Finding("growth", "unknown", (entry.clause,),
                              f"the right side holds {show(part)}, an instance of the left side, though rewriting "
                              f"{show(entry.skeleton.before)} ended.", (entry.skeleton.before, entry.skeleton.after))
                break
