"""What a rewriting did: which rules were tried, matched and fired, what each step made, and why it stopped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table

from termgraph.errors import RuleError
from termgraph.graph.trace import Trace, describe
from termgraph.graph.variable import Variable
from termgraph.terms.term import render


@dataclass
class RuleStats:
    """The counts of one rule: how often a node had a head it can match (`tries`), its pattern matched, it fired; the seconds
    from match to result; and how often each guard (or "type", the obligation to keep the type) refused."""

    tries: int = 0
    matches: int = 0
    fires: int = 0
    seconds: float = 0.0
    refused: dict[str, int] = field(default_factory=dict)

    def add(self, other: RuleStats) -> None:
        """Add another count to this one."""
        self.tries += other.tries
        self.matches += other.matches
        self.fires += other.fires
        self.seconds += other.seconds
        for guard, count in other.refused.items():
            self.refused[guard] = self.refused.get(guard, 0) + count


@dataclass(frozen=True)
class Step:
    """One fire: `rule` put `after` in the place of `before`, which the user built at `trace`."""

    rule: Any
    before: Variable
    after: Variable
    trace: Trace | None
    phase: str = ""

    @property
    def where_built(self) -> str | None:
        """The user's file and line."""
        return describe(self.trace)

    def __str__(self) -> str:
        return f"{self.rule.name}: {render(self.before)} -> {render(self.after)}"


class Report:
    """The account of a rewriting.

    `stop_reason` is "equilibrium" (no rule fires any more), "loop" (the rules bring a term back: see `error`) or "growth"
    (more fires than the bound: see `error`). After "loop" and "growth" the graph is in its last good state. What takes time
    to count is counted when it is asked for.
    """

    def __init__(self, phase: str = "", fired: list[tuple[Any, Variable, Variable]] | None = None,
                 count_rules: Callable[[], dict[str, RuleStats]] = dict,
                 count_nodes: Callable[[], tuple[int, int]] = lambda: (0, 0)) -> None:
        self.phase = phase
        self.stop_reason = "equilibrium"
        self.error: RuleError | None = None
        #: The rules that could not be staged, and why; they ran as kanren search at the heads they can match.
        self.searched: dict[str, str] = {}
        #: Wall time of the whole rewriting, in seconds.
        self.seconds = 0.0
        self._fired = [] if fired is None else fired
        self._count_rules, self._count_nodes = count_rules, count_nodes

    @classmethod
    def joined(cls, reports: Sequence[Report]) -> Report:
        """One account of rewritings that followed each other."""
        def count_rules() -> dict[str, RuleStats]:
            total: dict[str, RuleStats] = {}
            for report in reports:
                for name, stats in report.rules.items():
                    total.setdefault(name, RuleStats()).add(stats)
            return total

        result = cls("", None, count_rules, lambda: (reports[0].nodes_before, reports[-1].nodes_after))
        result.steps = [step for report in reports for step in report.steps]
        result.seconds = sum(r.seconds for r in reports)
        result.searched = {name: why for r in reports for name, why in r.searched.items()}
        stopped = next((r for r in reports if r.error is not None), None)
        if stopped is not None:
            result.stop_reason, result.error = stopped.stop_reason, stopped.error
        return result

    @cached_property
    def rules(self) -> dict[str, RuleStats]:
        """The counts of each rule of the set."""
        return self._count_rules()

    @cached_property
    def steps(self) -> list[Step]:
        """Every fire, in order."""
        return [Step(rule, before, after, before.owner.trace if before.owner is not None else None, self.phase)
                for rule, before, after in self._fired]

    @cached_property
    def nodes(self) -> tuple[int, int]:
        """The numbers of nodes before and after."""
        return self._count_nodes()

    @property
    def nodes_before(self) -> int:
        """The number of nodes before."""
        return self.nodes[0]

    @property
    def nodes_after(self) -> int:
        """The number of nodes after."""
        return self.nodes[1]

    @property
    def fires(self) -> int:
        """The number of fires of all rules."""
        return sum(s.fires for s in self.rules.values())

    def raise_error(self) -> None:
        """Raise `error` if the rewriting stopped for one."""
        if self.error is not None:
            raise self.error

    @property
    def summary(self) -> str:
        """One line."""
        name = f"{self.phase}: " if self.phase else ""
        fires = "1 fire" if self.fires == 1 else f"{self.fires} fires"
        return (f"{name}stopped: {self.stop_reason}; {self.nodes_before} -> {self.nodes_after} nodes, {fires}, "
                f"{self.seconds * 1e3:.2f} ms")

    def _active(self) -> list[tuple[str, RuleStats]]:
        """The rules that matched something, the busiest first."""
        return sorted(((n, s) for n, s in self.rules.items() if s.matches), key=lambda item: -item[1].fires)

    def __str__(self) -> str:
        lines = [self.summary]
        for name, stats in self._active():
            refused = "".join(f", {guard} refused {count}" for guard, count in stats.refused.items())
            lines.append(f"  {name}: {stats.tries} tries, {stats.matches} matches, {stats.fires} fires, "
                         f"{stats.seconds * 1e6:.0f} us{refused}")
        lines.extend(f"  {name} runs as kanren search: {why}" for name, why in self.searched.items())
        if self.error is not None:
            lines.append(str(self.error))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Report {self.summary}>"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.summary
        yield from (f"{name} runs as kanren search: {why}" for name, why in self.searched.items())
        if not self._active():
            return
        table = Table()
        for heading in ("rule", "tries", "matches", "fires", "us", "refused"):
            table.add_column(heading, justify="left" if heading in ("rule", "refused") else "right")
        for name, stats in self._active():
            refused = ", ".join(f"{guard} {count}" for guard, count in stats.refused.items())
            counts = (stats.tries, stats.matches, stats.fires)
            table.add_row(name, *map(str, counts), f"{stats.seconds * 1e6:.0f}", refused)
        yield table
        if self.error is not None:
            yield str(self.error)
