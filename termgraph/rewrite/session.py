"""Session: one run of a rule set: the table nodes are made in, the counters, the fires, and the bound on them."""

from __future__ import annotations

from typing import Any

from termgraph.config import config
from termgraph.errors import RewriteGrowthError, RewriteLoopError
from termgraph.graph.variable import Variable
from termgraph.rewrite.matcher import Context
from termgraph.rewrite.nodes import NodeTable
from termgraph.rewrite.report import Report, RuleStats, Step
from termgraph.rewrite.ruleset import RuleSet
from termgraph.terms.term import render


class Session:
    """What both drivers share.

    `stopped` becomes true when the rules loop or the bound is passed; from then on nothing fires and the report says why.
    """

    def __init__(self, rules: RuleSet, nodes: int, phase: str = "", graph: Any = None) -> None:
        self.rules = rules
        self.matchers = rules.matchers
        self.entries = self.matchers.entries
        self.table = NodeTable()
        self.context = Context(len(self.entries), self.table, graph)
        self.report = Report(phase=phase, nodes_before=nodes)
        self.visits: dict[Any, int] = {}
        self.steps: list[tuple[Any, Variable, Variable]] = []
        self.bound = config.max_fires_per_node * (nodes + 20)
        self.stopped = False
        self.merges = 0

    def fire(self, variable: Variable) -> Variable | None:
        """The result of the first rule that fires on `variable`, recorded; None where none does."""
        head = variable.head
        try:
            match = self.matchers.index[head]
        except KeyError:
            match = self.matchers.function_for(head)
        visits = self.visits
        visits[head] = visits.get(head, 0) + 1
        rule = None
        if match is not None:
            hit = match(variable, self.context)
            if hit is not None:
                rule, after = self.entries[hit[0]][0], hit[1]
        if rule is None and self.rules.searched:
            found = self.rules.search(variable, self.context)
            if found is not None:
                rule, after = found
        if rule is None:
            return None
        if len(self.steps) >= self.bound:
            self.stop(RewriteGrowthError(rule.name, rule.where, render(after), len(self.steps), self.bound))
            return None
        self.steps.append((rule, variable, after))
        return after  # type: ignore[no-any-return]

    def stop(self, error: RewriteLoopError | RewriteGrowthError) -> None:
        """Fire no more, and say why."""
        self.stopped = True
        self.report.stop_reason = "loop" if isinstance(error, RewriteLoopError) else "growth"
        self.report.error = error

    def loop(self, terms: list[Variable]) -> None:
        """Stop because the rules lead from each of `terms` to the next and from the last back to the first."""
        members = set(terms)
        cycle = [(rule.name, rule.where, render(after)) for rule, before, after in self.steps if before in members]
        self.stop(RewriteLoopError(cycle[-len(terms):], render(terms[0])))

    def finish(self, nodes: int, seconds: float) -> Report:
        """The report."""
        report, context = self.report, self.context
        report.nodes_after, report.seconds = nodes, seconds
        stats = report.rules = {rule.name: RuleStats() for rule in self.rules}
        for head, count in self.visits.items():
            for name in {self.entries[n][0].name for n in self.matchers.numbers_for(head)}:
                stats[name].tries += count
        for number, (rule, _) in enumerate(self.entries):
            stats[rule.name].matches += context.matched[number]
            stats[rule.name].seconds += context.seconds[number]
        for (number, guard), count in context.refused.items():
            refused = stats[self.entries[number][0].name].refused
            refused[guard] = refused.get(guard, 0) + count
        for rule, before, after in self.steps:
            stats[rule.name].fires += 1
            trace = before.owner.trace if before.owner is not None else None
            report.steps.append(Step(rule, before, after, trace, report.phase))
        for name in self.rules.merging:
            stats[name].matches = stats[name].fires = self.merges
        return report

