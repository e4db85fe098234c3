"""Session: one run of a rule set: the table nodes are made in, the counters, the fires, and the bound on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from operator import itemgetter
from typing import Any

from termgraph.config import config
from termgraph.errors import RewriteGrowthError, RewriteLoopError
from termgraph.graph.symbol import Symbol
from termgraph.graph.variable import Variable
from termgraph.rewrite.context import Context
from termgraph.rewrite.nodes import NodeTable
from termgraph.rewrite.report import Report, RuleStats
from termgraph.rewrite.ruleset import RuleSet
from termgraph.terms.term import render


class Session:
    """What both drivers share.

    `stopped` becomes true when the rules loop or the bound is passed; from then on nothing fires and the report says why.
    """

    def __init__(self, rules: RuleSet, phase: str = "", graph: Any = None,
                 count_nodes: Callable[[], tuple[int, int]] = lambda: (0, 0)) -> None:
        self.rules = rules
        self.matchers = rules.matchers
        self.entries = self.matchers.entries
        self.searched = rules.searched
        self.table = NodeTable()
        self.context = Context(len(self.entries), self.table, graph)
        self.steps: list[tuple[Any, Variable, Variable]] = []
        self.report = Report(phase, self.steps, self.count, count_nodes)
        self.report.searched = {rule.name: rule.not_staged or "" for rule in self.searched}
        #: How often a symbol was looked at; None where each variable of the table is looked at once.
        self.visits: Counter[Symbol] | None = None
        self.stopped = False
        self.merges = 0

    def fire(self, variable: Variable) -> Variable | None:
        """The result of the first rule that fires on `variable`, recorded; None where none does."""
        symbol = variable.symbol
        match = self.matchers.index.get(symbol) or self.matchers.function_for(symbol)
        if self.visits is not None:
            self.visits[symbol] += 1
        hit = None if match is None else match(variable, variable.owner.inputs, self.context)  # type: ignore[union-attr]
        if hit is not None:
            return self.accept(variable, self.entries[hit[0]][0], hit[1])
        return self.search(variable) if self.searched else None

    def search(self, variable: Variable) -> Variable | None:
        """The result of the first rule that has to be searched and finds one, recorded."""
        found = self.rules.search(variable, self.context)
        return None if found is None else self.accept(variable, *found)

    def accept(self, variable: Variable, rule: Any, after: Variable) -> Variable | None:
        """Record that `rule` makes `after` of `variable`; None, and the session stops, where the bound is passed."""
        # The table grows with the work done, so a bound proportional to it only stops what does not end.
        bound = 1000 + config.max_fires_per_node * self.size
        if len(self.steps) >= bound:
            self.stop(RewriteGrowthError(rule.name, rule.where, render(after), len(self.steps), bound))
            return None
        self.steps.append((rule, variable, after))
        return after

    def withdraw(self) -> None:
        """The last fire was not carried out."""
        self.steps.pop()

    #: The number of nodes the rewriting began with, as far as it is known.
    size = 0

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

    def count(self) -> dict[str, RuleStats]:
        """The counts of each rule, from those of the skeletons."""
        context = self.context
        stats = {rule.name: RuleStats() for rule in self.rules}
        visits = self.visits if self.visits is not None else Counter(map(itemgetter(0), self.table.nodes))
        for symbol, count in visits.items():
            for name in {self.entries[n][0].name for n in self.matchers.numbers_for(symbol)}:
                stats[name].tries += count
        for number, (rule, _) in enumerate(self.entries):
            stats[rule.name].matches += context.matched[number]
            stats[rule.name].seconds += context.seconds[number]
        for (number, guard), count in context.refused.items():
            refused = stats[self.entries[number][0].name].refused
            refused[guard] = refused.get(guard, 0) + count
        for rule, _, _ in self.steps:
            stats[rule.name].fires += 1
            if not rule.staged:
                stats[rule.name].matches += 1
        for name in self.rules.merging:
            stats[name].tries = stats[name].matches = stats[name].fires = self.merges
        return stats
