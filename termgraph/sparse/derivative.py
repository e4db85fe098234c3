"""What the derivatives of sparse Ops share.

The cotangent of a sparse variable x is a sparse variable of the same format. Only its values on the structure of x mean
something: they are the derivatives with respect to the stored values (the *structured* gradient). Stored values are taken
to be one for each position.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

import termgraph.tensor as tt
from termgraph.errors import StaticShapeError
from termgraph.graph.op import Op
from termgraph.tensor.elementwise import unbroadcast
from termgraph.tensor.type import DISCRETE, StaticShape


def sparse_cotangent(g: Any, x: Any) -> Any:
    """The sparse `g` as a cotangent of the sparse `x`: in its format, and in its dtype where that is a float."""
    g = g.asformat(x.type.format)
    return g if x.type.dtype in DISCRETE else g.astype(x.type.dtype)


def dense_cotangent(g: Any, y: Any) -> Any:
    """The dense `g` as a cotangent of the dense `y`: summed where `y` was broadcast, in its dtype where that is a float, and
    with the lengths 1 that its type knows."""
    if g.type.ndim == y.type.ndim:
        known = tuple(1 if b and not seen and s is None else None for b, seen, s in zip(
            y.type.broadcastable, g.type.broadcastable, g.type.shape, strict=True))
        return unbroadcast(tt.specify_shape(g, known), y)
    return g if y.type.dtype in DISCRETE else tt.cast(g, y.type.dtype)


def total(tangents: Iterable[Any]) -> Any:
    """The sum of those tangents that are not None; None where all are."""
    given = [t for t in tangents if t is not None]
    return reduce(lambda a, b: a + b, given) if given else None


def merged_shape(op: Op, *shapes: Sequence[int | None]) -> StaticShape:
    """What is known of a shape that all of `shapes` describe; raises StaticShapeError where they contradict each other."""
    merged: list[int | None] = []
    for lengths in zip(*shapes, strict=True):
        known = {s for s in lengths if s is not None}
        if len(known) > 1:
            raise StaticShapeError(str(op), [tuple(s) for s in shapes], "equal shapes")
        merged.append(known.pop() if known else None)
    return tuple(merged)


def check_inner(op: Op, left: Sequence[int | None], right: Sequence[int | None]) -> None:
    """Raise StaticShapeError where the inner lengths of a product are known and differ."""
    if None not in (left[-1], right[0]) and left[-1] != right[0]:
        raise StaticShapeError(str(op), [tuple(left), tuple(right)],
                               f"as many columns ({left[-1]}) on the left as rows ({right[0]}) on the right")
