"""The clauses of rules in the order in which they are tried, phase by phase."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from termgraph.checking.finding import Clause
from termgraph.checking.overlap import is_open, positions
from termgraph.graph.op import Op
from termgraph.rewrite.delay import variables_of
from termgraph.rewrite.relation import Rule
from termgraph.rewrite.ruleset import RuleSet
from termgraph.rewrite.skeleton import Skeleton, is_node, split_pattern
from termgraph.terms.term import OpTerm


@dataclass(frozen=True, eq=False)
class Entry:
    """A skeleton in the order in which skeletons are tried. Those with one `line` come from one clause: they differ in the
    order of the arguments of commutative Ops only."""

    number: int
    line: int
    rule: Rule
    skeleton: Skeleton

    @property
    def clause(self) -> Clause:
        """How a finding names it."""
        return Clause(self.rule.name, self.rule.where, str(self.skeleton))

    @cached_property
    def open(self) -> bool:
        """Whether a head, or a number of arguments, of its pattern is left open."""
        return is_open(self.skeleton.before)

    @cached_property
    def computed(self) -> bool:
        """Whether a goal computes a part of its right side, other than a parameter of an Op."""
        outs = {v for g in self.skeleton.residue if g.outs is not None for v in variables_of(g.outs)}
        after = self.skeleton.after
        parts = [after, *(a for _, p in positions(after) for a in (split_pattern(p)[0], *split_pattern(p)[1]))]
        return any(p in outs for p in parts if not is_node(p) and not isinstance(p, (OpTerm, int, float)))

    @property
    def opaque(self) -> bool:
        """Whether its pattern says too little about what it rewrites, or its right side about what it makes."""
        return self.open or self.computed


@dataclass(frozen=True, eq=False)
class Stratum:
    """The rules of one phase."""

    phase: str
    rules: RuleSet
    entries: tuple[Entry, ...]

    @cached_property
    def lines(self) -> tuple[Entry, ...]:
        """The first entry of each clause."""
        seen: dict[int, Entry] = {}
        for entry in self.entries:
            seen.setdefault(entry.line, entry)
        return tuple(seen.values())

    @cached_property
    def by_head(self) -> dict[Any, list[Entry]]:
        """The entries that are not opaque, by the class of the Op at its head and, where it is known, the Op."""
        index: dict[Any, list[Entry]] = {}
        for entry in self.entries:
            if not entry.opaque:
                index.setdefault(head_class(entry.skeleton.head), []).append(entry)
        return index

    def candidates(self, term: Any) -> Iterator[Entry]:
        """The entries whose pattern may meet a term."""
        head = split_pattern(term)[0]
        return (e for e in self.by_head.get(head_class(head), ()) if may_meet(head, e.skeleton.head))


def head_class(head: Any) -> Any:
    """The class of the Op that a head stands for."""
    return head.op_class if isinstance(head, OpTerm) else type(getattr(head, "op", head))


def may_meet(head: Any, other: Any) -> bool:
    """Whether there may be an Op that two heads, none of them a logic variable, both stand for."""
    if isinstance(head, Op) and isinstance(other, Op):
        return head.canonical is other.canonical
    return head_class(head) is head_class(other)


def strata(rules: RuleSet) -> list[Stratum]:
    """The rules phase by phase, in the order of the phases."""
    found, number = [], 0
    for phase, chosen in rules.by_phase().items():
        entries: list[Entry] = []
        for rule in chosen:
            lines: dict[Any, int] = {}
            for skeleton in rule.skeletons:
                if not skeleton.functional:  # it rewrites nothing: hash-consing keeps it true
                    line = lines.setdefault(_unordered(skeleton), number)
                    entries.append(Entry(number, line, rule, skeleton))
                    number += 1
        found.append(Stratum(phase, chosen, tuple(entries)))
    return found


def _unordered(skeleton: Skeleton) -> Any:
    """Equal for the skeletons of one clause, whose variables are the same."""
    goals = tuple((g.name, id(g.function), _shape(g.args)) for g in skeleton.residue)
    return _shape(skeleton.before), _shape(skeleton.after), goals


def _shape(term: Any) -> Any:
    """A pattern as nested tuples in which the order of commutative arguments is lost."""
    if isinstance(term, tuple):
        return tuple(map(_shape, term))
    if not is_node(term):
        return str(getattr(term, "token", term))
    head, args, rest = split_pattern(term)
    shapes: Iterable[Any] = map(_shape, args)
    if isinstance(head, Op) and head.commutative:
        shapes = sorted(shapes, key=repr)
    return str(getattr(head, "token", head)), tuple(shapes), str(rest)


def unanalysed(strata: Sequence[Stratum]) -> Iterator[tuple[Clause, str]]:
    """The clauses that patterns say too little about, each with the reason."""
    for stratum in strata:
        for rule in stratum.rules:
            if not rule.staged:
                yield Clause(rule.name, rule.where, "found by search"), f"it could not be staged: {rule.not_staged}"
        for entry in stratum.lines:
            reasons = (["its left side matches any op"] if entry.open else []) + \
                      (["its right side is computed"] if entry.computed else [])
            if reasons:
                yield entry.clause, " and ".join(reasons)
