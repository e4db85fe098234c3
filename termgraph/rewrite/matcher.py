"""Matchers: an index by head over the generated code of many skeletons."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from termgraph.graph.op import Op
from termgraph.graph.symbol import Symbol
from termgraph.graph.variable import Variable
from termgraph.rewrite.codegen import Compiled
from termgraph.rewrite.context import Context
from termgraph.rewrite.delay import Delayed
from termgraph.rewrite.nodes import NodeTable, symbol_of
from termgraph.rewrite.skeleton import Skeleton
from termgraph.terms.term import OpTerm


class Matchers:
    """The generated code for a sequence of (rule, skeleton), in the order in which they are tried.

    The function for a symbol is generated when that symbol is first asked for, so that rules for Ops a graph does not hold
    cost nothing. Rules need only have `name` and `where`.
    """

    def __init__(self, entries: Sequence[tuple[Any, Skeleton]]) -> None:
        self.entries = list(entries)
        self._exact: dict[Symbol, list[int]] = {}
        self._classes: dict[type, list[int]] = {}
        self._open: list[int] = []
        for number, (_, skeleton) in enumerate(self.entries):
            head = skeleton.head
            if isinstance(head, (Op, Symbol)):
                self._exact.setdefault(symbol_of(head), []).append(number)
            elif isinstance(head, OpTerm):
                self._classes.setdefault(head.op_class, []).append(number)
            else:
                self._open.append(number)
        self._compiled: dict[Any, Compiled] = {}
        #: symbol -> its function, None where nothing can match; filled as symbols are seen
        self.index: dict[Symbol, Any] = {}

    def numbers_for(self, symbol: Symbol) -> tuple[int, ...]:
        """The entries that can match a variable with this symbol."""
        if symbol.op is None:
            return ()
        numbers = [*self._exact.get(symbol, ()), *self._open]
        if self._classes and symbol.car is symbol.op:
            numbers += self._classes.get(type(symbol.op), ())
        return tuple(sorted(numbers))

    def compiled_for(self, symbol: Symbol) -> Compiled | None:
        """The generated code for a symbol, None where no entry can match."""
        numbers = self.numbers_for(symbol)
        return self._compile(numbers, symbol.op.nin) if numbers else None

    def _compile(self, numbers: tuple[int, ...], nin: int | None) -> Compiled:
        found = self._compiled.get((numbers, nin))
        if found is None:
            found = self._compiled[numbers, nin] = Compiled([(n, *self.entries[n]) for n in numbers], nin)
        return found

    def function_for(self, symbol: Symbol) -> Any:
        """`match(variable, inputs, context)` for a symbol, None where no entry can match. It returns (number, result) or
        None."""
        try:
            return self.index[symbol]
        except KeyError:
            compiled = self.compiled_for(symbol)
            self.index[symbol] = None if compiled is None else compiled.match
            return self.index[symbol]

    def bindings(self, variable: Variable) -> tuple[int, tuple[Any, ...]] | None:
        """The first entry whose pattern matches, and what it binds; guards and right sides are not looked at."""
        compiled = self.compiled_for(variable.symbol)
        return None if compiled is None else compiled.bind(variable, variable.owner.inputs, None)  # type: ignore[union-attr]

    def matches(self, variable: Variable) -> list[tuple[tuple[Delayed, ...], dict[Any, Any]]]:
        """For every entry whose pattern matches, the goals that wait and what the logic variables are bound to."""
        compiled = self.compiled_for(variable.symbol)
        found: list[tuple[int, tuple[Any, ...]]] = []
        if compiled is not None:
            compiled.every(variable, variable.owner.inputs, found)  # type: ignore[union-attr]
            plans = compiled.plans
            return [(plans[n].residue, dict(zip(plans[n].bound, values, strict=True))) for n, values in found]
        return []

    def rewrites(self, variable: Variable, graph: Any = None, table: NodeTable | None = None) -> list[Variable]:
        """Every result of every entry for `variable`."""
        match = self.function_for(variable.symbol)
        if match is None:
            return []
        context = Context(len(self.entries), table, graph)
        context.found = []
        match(variable, variable.owner.inputs, context)  # type: ignore[union-attr]
        return [after for _, after in context.found]

    def source(self) -> str:
        """The source of the functions of all heads that patterns name, and of one for any other where patterns are open."""
        parts = [f"# {symbol.car}\n{self._compile(self.numbers_for(symbol), symbol.op.nin).text}" for symbol in self._exact]
        if self._classes or self._open:
            numbers = tuple(sorted([*self._open, *itertools.chain.from_iterable(self._classes.values())]))
            classes = ", ".join(c.__name__ for c in self._classes) or "any op"
            parts.append(f"# {classes}\n{self._compile(numbers, None).text}")
        return "\n".join(parts)
