"""What the derivatives of sparse Ops share.

The cotangent of a sparse variable x is a sparse variable of the same format. Only its values on the structure of x mean
something: they are the derivatives with respect to the stored values (the *structured* gradient). Stored values are taken
to be one for each position.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

from termgraph.errors import StaticShapeError
from termgraph.graph.op import Op
from termgraph.tensor.type import DISCRETE, StaticShape


def sparse_cotangent(g: Any, x: Any) -> Any:
    """The sparse `g` as a cotangent of the sparse `x`: in its format, and in its dtype where that is a float."""
    g = g.asformat(x.type.format)
    return g if x.type.dtype in DISCRETE else g.astype(x.type.dtype)


def total(tangents: Iterable[Any], dtype: str) -> Any:
    """The sum of those tangents that are not None, in `dtype`; None where all are."""
    given = [t for t in tangents if t is not None]
    return reduce(lambda a, b: a + b, given).astype(dtype) if given else None


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
