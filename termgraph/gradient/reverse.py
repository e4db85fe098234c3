"""Reverse mode: one sweep over the nodes between some variables and what is computed from them.

What a variable's cotangent may be, during the sweep:

* missing: nothing that was seeded depends on the variable;
* ZERO: something does, but only through integers or through partial derivatives that are zero. It is not built;
* of NullType: a derivative on the way does not exist;
* a variable: the sum of what its clients contributed. It is an `add` only where there are several.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from termgraph.gradient.bridge import has_pullback, is_disconnected, is_null, pullback_of
from termgraph.graph.apply import Apply
from termgraph.graph.null import DisconnectedType, grad_not_implemented
from termgraph.graph.traversal import toposort
from termgraph.graph.variable import Constant, Variable
from termgraph.tensor.elementwise import float_zeros_like
from termgraph.tensor.type import DISCRETE, TensorType


class _Zero:
    def __repr__(self) -> str:
        return "ZERO"


ZERO: Any = _Zero()

Pattern = Sequence[Sequence[bool]]


def active_nodes(outputs: Iterable[Variable], wrt: Iterable[Variable],
                 stop: Collection[Variable] = ()) -> tuple[list[tuple[Apply, Pattern]], set[Variable]]:
    """The nodes through which `outputs` depend on `wrt`, dependencies first, each with its connection pattern; and the
    variables that depend on `wrt`. Nothing is looked for behind `stop`."""
    stop = set(stop)
    reached = {w for w in wrt if w not in stop}
    active: list[tuple[Apply, Pattern]] = []
    for node in toposort(outputs, stop):
        sources = [i for i, v in enumerate(node.inputs) if v in reached]
        if not sources:
            continue
        pattern = node.op.connection_pattern(node)
        targets = [o for j, o in enumerate(node.outputs) if o not in stop and any(pattern[i][j] for i in sources)]
        if targets:
            reached.update(targets)
            active.append((node, pattern))
    return active, reached


class Sweep:
    """The cotangents of all variables between `wrt` and the seeded ones, in `cotangents`.

    `seeds` are (variable, its cotangent); several for one variable add up. `fixed` gives cotangents that are final: what
    the sweep would contribute to those variables is dropped. Linear in the nodes; nothing recurses.
    """

    def __init__(self, seeds: Sequence[tuple[Variable, Any]], wrt: Sequence[Variable], stop: Collection[Variable] = (),
                 fixed: Mapping[Variable, Any] | None = None) -> None:
        self.fixed = dict(fixed or {})
        self.cotangents: dict[Variable, Any] = dict(self.fixed)
        self.null_at: dict[Variable, Apply] = {}
        active, self.reached = active_nodes([*(v for v, _ in seeds), *self.fixed], wrt, stop)
        for variable, cotangent in seeds:
            self._give(variable, ZERO if is_discrete(variable) else cotangent)
        for node, pattern in reversed(active):
            arrived = [self.cotangents.get(o) for o in node.outputs]
            for position, cotangent in self._through(node, pattern, arrived):
                self._give(node.inputs[position], cotangent)

    def _give(self, variable: Variable, cotangent: Any) -> None:
        if variable in self.fixed:
            return
        known = self.cotangents.get(variable)
        if known is None or known is ZERO or (is_null(cotangent) and not is_null(known)):
            self.cotangents[variable] = cotangent
        elif cotangent is not ZERO and not is_null(known):
            self.cotangents[variable] = known + cotangent

    def _through(self, node: Apply, pattern: Pattern, arrived: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """The cotangents of those inputs of `node` that depend on what is asked for, given those of its outputs."""
        wanted = [i for i, v in enumerate(node.inputs) if v in self.reached
                  and any(c and g is not None for c, g in zip(pattern[i], arrived, strict=True))]
        if not wanted:
            return
        null = next((g for g in arrived if is_null(g)), None)
        if null is not None:
            yield from ((i, null) for i in wanted)
        elif all(g is None or g is ZERO or is_discrete(o) for g, o in zip(arrived, node.outputs, strict=True)):
            yield from ((i, ZERO) for i in wanted)
        elif not has_pullback(node.op):
            for i in wanted:
                null = grad_not_implemented(node.op, i, node.inputs[i], f"Define pullback() in {type(node.op).__name__}")
                self.null_at[null] = node
                yield i, null
        else:
            complete = [absent(o) if g is None or g is ZERO or is_discrete(o) else g
                        for g, o in zip(arrived, node.outputs, strict=True)]
            found = pullback_of(node, complete)
            for i in wanted:
                if is_null(found[i]):
                    self.null_at[found[i]] = node
                if not is_disconnected(found[i]):
                    yield i, ZERO if _built_zero(found[i]) else found[i]


def is_discrete(variable: Any) -> bool:
    """Whether the variable holds integers or bools, so that nothing depends on it smoothly."""
    return getattr(variable.type, "dtype", None) in DISCRETE


def absent(output: Any) -> Any:
    """What an Op is given as the cotangent of an output that has none: zeros, which any pullback gets right, and
    DisconnectedType where there are no zeros to give (integers, and types that are no tensors)."""
    if isinstance(output.type, TensorType) and not is_discrete(output):
        return float_zeros_like(output)
    return DisconnectedType()()


def _built_zero(cotangent: Any) -> bool:
    """Whether `cotangent` is a 0 that was spread over a shape.

    Only what `zeros_like` builds is looked for, a few nodes deep: to follow longer chains would cost the sweep its linear
    time.
    """
    for _ in range(4):
        owner = cotangent.owner
        if owner is None:
            return isinstance(cotangent, Constant) and cotangent.literal == 0
        if owner.op.fills_with is None:
            return False
        cotangent = owner.inputs[owner.op.fills_with]
    return False
