"""RuleSet: rules as a value, to add to, take from and choose among; and their compiled matchers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any

from kanren import run

from termgraph.errors import RuleExecutionError
from termgraph.graph.trace import describe
from termgraph.graph.variable import Variable
from termgraph.rewrite.context import Context, typed_like
from termgraph.rewrite.delay import in_graph
from termgraph.rewrite.matcher import Matchers
from termgraph.rewrite.phases import phase_order
from termgraph.rewrite.relation import Rule, relation
from termgraph.terms.build import build
from termgraph.terms.term import render, var


class RuleSet:
    """An ordered set of rules with distinct names; immutable.

    >>> import termgraph.rules as rules
    >>> smaller = rules.ALL - "merge"
    >>> "merge" in rules.ALL, "merge" in smaller
    (True, False)
    """

    def __init__(self, rules: Iterable[Any] = ()) -> None:
        self.rules: tuple[Rule, ...] = tuple(dict.fromkeys(_rules(rules)))
        names: dict[str, Rule] = {}
        for rule in self.rules:
            other = names.setdefault(rule.name, rule)
            if other is not rule:
                raise ValueError(f"two rules are called {rule.name}: {other.where} and {rule.where}; "
                                 "give one another name with @relation(name=...).")
        self._by_name = names

    def __reduce__(self) -> tuple[Any, ...]:
        return RuleSet, (self.rules,)

    def __add__(self, other: Any) -> RuleSet:
        return RuleSet([*self.rules, *_rules([other])])

    def __sub__(self, other: Any) -> RuleSet:
        """Without the rules given, or those so named; raises KeyError for a name that is not here."""
        items = [other] if isinstance(other, (str, Rule)) else list(other)
        drop = {self[i] if isinstance(i, str) else i for i in items}
        return RuleSet(r for r in self.rules if r not in drop)

    def filter(self, keep: Callable[[Rule], bool] | None = None, *, tag: str | None = None, phase: str | None = None,
               soundness: str | None = None) -> RuleSet:
        """The rules that `keep` accepts, that carry `tag`, that belong to `phase`, and that are at least as sound as
        `soundness` ("exact" is sounder than "real", and "real" than "unsafe")."""
        ranks = {"exact": 0, "real": 1, "unsafe": 2}
        return RuleSet(
            r for r in self.rules
            if (keep is None or keep(r)) and (tag is None or tag in r.tags) and (phase is None or r.phase == phase)
            and (soundness is None or ranks[r.soundness.split(":")[0]] <= ranks[soundness])
        )

    @cached_property
    def _by_phase(self) -> dict[str, RuleSet]:
        own = list(dict.fromkeys(r.phase for r in self.rules))
        if len(own) == 1:
            return {own[0]: self}
        order = phase_order()
        names = [p for p in own if p not in order] + [p for p in order if p in own]
        return {name: self.filter(phase=name) for name in names}

    def by_phase(self) -> dict[str, RuleSet]:
        """The rules of each phase, in the order of the phases; phases that nobody declared come first.

        The sets are made once, for each holds the code that was generated for it.
        """
        return dict(self._by_phase)

    def including(self, *tags: str) -> RuleSet:
        """These rules: every rule of a set is on."""
        return self

    def excluding(self, *tags: str) -> RuleSet:
        """These rules without those that have one of these names or tags."""
        return RuleSet(r for r in self.rules if r.name not in tags and not r.tags & set(tags))

    def __getitem__(self, name: str) -> Rule:
        if name not in self._by_name:
            raise KeyError(f"no rule {name!r} here; there are {', '.join(self._by_name)}.")
        return self._by_name[name]

    def __contains__(self, item: Any) -> bool:
        return item in self._by_name if isinstance(item, str) else item in self.rules

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def __repr__(self) -> str:
        return f"RuleSet({', '.join(r.name for r in self.rules)})"

    # --- compiled -----------------------------------------------------------------------------------------------------

    @cached_property
    def matchers(self) -> Matchers:
        """The generated code of all rules together."""
        return Matchers([(rule, s) for rule in self.rules for s in rule.skeletons if not s.functional])

    @cached_property
    def merging(self) -> tuple[str, ...]:
        """The names of the rules that say nothing but what hash-consing keeps true; the drivers count merges as theirs."""
        return tuple(r.name for r in self.rules if any(s.functional for s in r.skeletons))

    @cached_property
    def searched(self) -> tuple[Rule, ...]:
        """The rules that could not be staged and run as kanren search."""
        return tuple(r for r in self.rules if not r.staged)

    @cached_property
    def contextual(self) -> bool:
        """Whether a rule asks about the graph around a term."""
        return any(s.contextual and not s.functional for r in self.rules for s in r.skeletons)

    def search(self, variable: Variable, context: Context) -> tuple[Rule, Variable] | None:
        """The first result of a rule that has to be searched, found by kanren."""
        for rule in self.searched:
            if not rule.can_match(variable.symbol):
                continue
            after = var("after")
            try:
                with in_graph(context.graph):
                    for answer in run(1, after, rule(variable, after)):
                        result = typed_like(variable, build(answer))
                        if result is not None and result is not variable:
                            trace = variable.owner.trace if variable.owner else None
                            return rule, context.table.intern(result, trace)
            except Exception as error:
                owner = variable.owner
                built = describe(owner.trace) if owner else None
                raise RuleExecutionError(rule.name, rule.where, render(variable), built, error) from error
        return None


def _rules(items: Iterable[Any]) -> Iterator[Rule]:
    """The rules in a mixture of rules, rule sets, sequences, and plain functions (made relations on the way)."""
    for item in items:
        if isinstance(item, Rule):
            yield item
        elif isinstance(item, (RuleSet, list, tuple)):
            yield from _rules(item)
        elif callable(item):
            yield relation(item)
        else:
            raise TypeError(f"expected a rule, a rule set or a relation, got {type(item).__name__} {item!r:.60}.")
