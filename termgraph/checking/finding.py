"""Findings: what a check of rules found out about them, and how it reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from termgraph.graph.variable import Variable
from termgraph.rewrite.skeleton import show
from termgraph.terms.term import render

STYLES = {"error": "red", "warning": "yellow", "unknown": "dim"}


@dataclass(frozen=True)
class Clause:
    """A clause of a rule, as a finding names it: the rule's name, its file and line, and `before -> after if goals`."""

    rule: str
    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.rule} ({self.where}): {self.text}"


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with rules, or may be.

    `kind` is "unreachable" (a clause that can never fire), "undo" (two clauses that lead back and forth), "loop" (a longer
    cycle), "growth" (rewriting without end), "divergence" (a critical pair whose two results do not become the same term) or
    "undecided" (a clause that could not be examined). `verdict` is "error", "warning" (it holds for some terms, or the
    result depends on the order of rules) or "unknown" (it could not be decided). `terms` are those the message speaks of.
    """

    kind: str
    verdict: str
    clauses: tuple[Clause, ...]
    message: str
    terms: tuple[Any, ...] = ()

    @property
    def rules(self) -> tuple[str, ...]:
        """The names of the rules involved, each once."""
        return tuple(dict.fromkeys(c.rule for c in self.clauses))

    @property
    def shown_terms(self) -> tuple[str, ...]:
        """The terms as text."""
        return tuple(render(t) if isinstance(t, Variable) else show(t) for t in self.terms)

    @property
    def key(self) -> str:
        """What the finding is, in one line that does not change when rules move in their files."""
        return f"{self.kind}: {', '.join(self.rules)}: {' ; '.join(self.shown_terms or [c.text for c in self.clauses])}"

    def to_dict(self) -> dict[str, Any]:
        """The finding in strings, lists and dictionaries."""
        clauses = [{"rule": c.rule, "where": c.where, "clause": c.text} for c in self.clauses]
        return {"kind": self.kind, "verdict": self.verdict, "clauses": clauses, "message": self.message,
                "terms": list(self.shown_terms)}

    def __str__(self) -> str:
        return "\n    ".join([f"{self.verdict}: {self.kind}: {self.message}", *map(str, self.clauses)])


@dataclass(frozen=True)
class RuleCheck:
    """The outcome of `check_rules`: the findings, and how much was examined."""

    findings: tuple[Finding, ...]
    clauses: int
    critical_pairs: int
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether there is no finding that is an error."""
        return not self.of("error")

    def of(self, verdict: str | None = None, kind: str | None = None) -> tuple[Finding, ...]:
        """The findings of a verdict, of a kind, or of both."""
        return tuple(f for f in self.findings if verdict in (None, f.verdict) and kind in (None, f.kind))

    @property
    def summary(self) -> str:
        """One line."""
        counts = ", ".join(f"{len(self.of(v))} {v}{'' if v == 'unknown' or len(self.of(v)) == 1 else 's'}" for v in STYLES)
        return f"{self.clauses} clauses, {self.critical_pairs} critical pairs, {self.seconds:.1f} s: {counts}"

    def to_dict(self) -> dict[str, Any]:
        """The outcome in strings, numbers, lists and dictionaries."""
        return {"clauses": self.clauses, "critical_pairs": self.critical_pairs, "seconds": self.seconds,
                "findings": [f.to_dict() for f in self.findings]}

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return "\n".join([self.summary, *map(str, self.findings)])

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = Table(title=self.summary, title_justify="left", show_lines=True)
        for heading in ("verdict", "kind", "message", "clauses"):
            table.add_column(heading)
        for f in self.findings:
            # Text, not str: a rule's terms may hold what rich would take for markup.
            table.add_row(Text(f.verdict, STYLES[f.verdict]), f.kind, Text(f.message), Text("\n".join(map(str, f.clauses))))
        yield table
