"""Fact tables: relations given by their rows, in order and indexed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from unification import reify, unify

from termgraph.graph.op import Op
from termgraph.rewrite.delay import Goal, State, substitution_of, variables_of


class FactTable:
    """The relation that holds of exactly these rows.

    As a goal it gives its answers in the order of the rows, the same in every process; a column whose value is known is
    looked up, so a miss costs no scan. Invariant: `_index[column]` maps each value of a column to the numbers of its rows.
    """

    def __init__(self, rows: Sequence[tuple[Any, ...]], name: str) -> None:
        self.rows, self.name = tuple(rows), name
        lengths = {len(r) for r in self.rows}
        if len(lengths) > 1:
            raise ValueError(f"the rows of {name} differ in length: {sorted(lengths)}.")
        self._index: list[dict[Any, list[int]]] = [{} for _ in range(lengths.pop() if lengths else 0)]
        for number, row in enumerate(self.rows):
            for column, value in enumerate(row):
                self._index[column].setdefault(_key(value), []).append(number)

    def __call__(self, *args: Any) -> Goal:
        """The goal that `args` are a row."""
        def goal(state: State) -> Iterator[State]:
            known = reify(args, substitution_of(state))
            for number in self._candidates(known):
                extended = unify(args, self.rows[number], state)
                if extended is not False:
                    yield extended
        return goal

    def _candidates(self, args: tuple[Any, ...]) -> Sequence[int]:
        """The rows that agree in the known column that leaves fewest."""
        found = [self._index[c].get(_key(a), []) for c, a in enumerate(args[: len(self._index)]) if not variables_of(a)]
        return min(found, key=len) if found else range(len(self.rows))

    def __repr__(self) -> str:
        return f"<facts {self.name}, {len(self.rows)} rows>"


def _key(value: Any) -> Any:
    return value.canonical if isinstance(value, Op) else value


def facts(*rows: tuple[Any, ...], name: str = "facts") -> Callable[..., Goal]:
    """The relation of these rows, for use in rules; staged, each row becomes a clause.

    >>> import termgraph as tg, termgraph.tensor as tt
    >>> from kanren import eq, lall
    >>> from termgraph.rewrite.goals import apply
    >>> inverse = facts((tt.log, tt.exp), (tt.sinh, tt.arcsinh))
    >>> @tg.relation
    ... def undo(before, after):
    ...     f, g, x = tg.vars("f g x")
    ...     return lall(inverse(f, g), eq(before, apply(f, (apply(g, (x,)),))), eq(after, x))
    >>> len(undo.skeletons)
    2
    >>> x = tt.vector("x")
    >>> tg.rewrite_graph(tt.log(tt.exp(x)), rules=[undo])[0] is x
    True
    """
    return FactTable(rows, name)
