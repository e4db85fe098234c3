"""Forward mode: one sweep from some variables to what is computed from them, carrying tangents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from termgraph.errors import MethodNotDefined, NullTypeGradError
from termgraph.gradient.bridge import has_pullback, has_pushforward, is_disconnected, is_null, pullback_of, pushforward_of
from termgraph.gradient.reverse import ZERO, Pattern, Sweep, absent, active_nodes, is_discrete
from termgraph.graph.apply import Apply
from termgraph.graph.trace import describe
from termgraph.graph.variable import Variable
from termgraph.tensor.elementwise import float_zeros_like


def forward_sweep(outputs: Sequence[Variable], wrt: Sequence[Variable],
                  tangents: Sequence[Any]) -> tuple[dict[Variable, Any], set[Variable]]:
    """The tangents of the variables between `wrt` and `outputs`, those that are zero missing; and the variables that
    depend on `wrt` at all. A variable of `wrt` keeps the tangent it is given, whatever computes it."""
    active, reached = active_nodes(outputs, wrt)
    found = {w: t for w, t in zip(wrt, tangents, strict=True) if t is not None}
    given = set(wrt)
    for node, pattern in active:
        arriving = [found.get(v) if any(pattern[i]) else None for i, v in enumerate(node.inputs)]
        if all(t is None for t in arriving) or all(is_discrete(o) for o in node.outputs):
            continue
        pushed = zip(node.outputs, _push(node, pattern, arriving), strict=True)
        found.update((o, t) for o, t in pushed if t is not None and o not in given and not is_discrete(o))
    return found, reached


def _push(node: Apply, pattern: Pattern, tangents: Sequence[Any]) -> list[Any]:
    if has_pushforward(node.op):
        results = pushforward_of(node, tangents)
        for tangent in results:
            _refuse_null(node, node.outputs[0], tangent)
        return results
    if not has_pullback(node.op):
        raise MethodNotDefined(node.op, "pushforward() or pullback")
    return [_pull_twice(node, index, tangents) if any(t is not None and row[index] for t, row in
                                                      zip(tangents, pattern, strict=True)) else None
            for index in range(len(node.outputs))]


def _pull_twice(node: Apply, index: int, tangents: Sequence[Any]) -> Any:
    """The tangent of output `index` from the pullback alone.

    u(w) = J^T w is linear in w, so its own pullback at v is J v, whatever w is (Townsend 2017, "A new trick for calculating
    Jacobian vector products"). w is taken to be zeros, so that what still mentions it can be computed.
    """
    output = node.outputs[index]
    if is_discrete(output):
        return None
    w = float_zeros_like(output)
    pulled = pullback_of(node, [w if o is output else absent(o) for o in node.outputs])
    seeds = []
    for u, tangent, variable in zip(pulled, tangents, node.inputs, strict=True):
        if tangent is not None:
            _refuse_null(node, variable, u)
            if not is_disconnected(u):
                seeds.append((u, tangent))
    second = Sweep(seeds, [w])
    result = second.cotangents.get(w)
    _refuse_null(node, output, result)
    return None if result is ZERO else result


def _refuse_null(node: Apply, variable: Any, derivative: Any) -> None:
    if is_null(derivative):
        raise NullTypeGradError(variable, derivative.type.why_null, describe(node.trace))
