"""Context: what generated matchers need while they run, and the functions they call."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any, NoReturn

from unification import reify, unify

from termgraph.errors import RuleExecutionError
from termgraph.graph.symbol import CONSTANT
from termgraph.graph.trace import describe
from termgraph.graph.variable import Variable
from termgraph.rewrite.nodes import NodeTable
from termgraph.terms.literal import typed_literal
from termgraph.terms.term import render


class Context:
    """Where nodes are made, the graph around, and the counters.

    `matched` and `seconds` have an entry for each skeleton; `refused` counts (skeleton, guard).
    """

    __slots__ = ("found", "graph", "matched", "nodes", "refused", "seconds", "table")

    def __init__(self, count: int, table: NodeTable | None = None, graph: Any = None) -> None:
        self.table = table or NodeTable()
        self.nodes = self.table.nodes
        self.graph = graph
        self.matched = [0] * count
        self.seconds = [0.0] * count
        self.refused: dict[tuple[int, str], int] = {}
        #: None: the first result is returned. A list: all results are appended to it.
        self.found: list[tuple[int, Variable]] | None = None

    def refuse(self, number: int, guard: str, start: float) -> None:
        """Count a refusal."""
        self.refused[number, guard] = self.refused.get((number, guard), 0) + 1
        self.seconds[number] += perf_counter() - start


def typed_like(before: Any, after: Any) -> Variable | None:
    """`after` as a Variable that can stand in `before`'s place, or None: every rule's obligation to keep the type.

    A number takes the type and shape of `before`. A static length may become known, but not to be 1: a dimension of length
    1 broadcasts, one of unknown length does not, so there the shapes would differ.
    """
    if not isinstance(before, Variable):
        return None
    if not isinstance(after, Variable):
        return typed_literal(before.type, after, before)
    same = after.type is before.type or (before.type.in_same_class(after.type) and before.type.is_super(after.type))
    return after if same else None


def all_constant(inputs: Sequence[Variable]) -> bool:
    """Whether every input is a Constant, and there is one."""
    return bool(inputs) and all(i.symbol is CONSTANT for i in inputs)


def unified(pattern: Any, value: Any, known: dict[Any, Any], wanted: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """What the variables `wanted` of `pattern` are when it is `value` and others are as `known`; None where it cannot be."""
    state = unify(pattern, value, known)
    return None if state is False else tuple(reify(w, state) for w in wanted)


def reraise(rule: Any, variable: Variable, error: Exception) -> NoReturn:
    """What a leaf does with an exception: name the rule, the term and the user's line."""
    if isinstance(error, RuleExecutionError):
        raise error
    owner = variable.owner
    built = describe(owner.trace) if owner else None
    raise RuleExecutionError(rule.name, rule.where, render(variable), built, error) from error
