"""Sparse products: one operation that adds a scaled sparse-dense product to a matrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from termgraph.graph.variable import Constant
from termgraph.rewrite.goals import compute, sole_client, where
from termgraph.rewrite.relation import relation
from termgraph.rules.constant import evaluated
from termgraph.sparse import structured_dot, usmm
from termgraph.tensor import neg


def scalar(x: Any) -> bool:
    """Whether x has one element, however many dimensions."""
    return isinstance(x, (int, float)) or all(x.type.broadcastable)


def accumulates(x: Any, y: Any, z: Any) -> bool:
    """Whether z can take the product x @ y: a matrix of the product's dtype that does not broadcast."""
    dtypes = {x.type.dtype, y.type.dtype, z.type.dtype}
    return z.type.ndim == 2 and not any(z.type.broadcastable) and len(dtypes) == 1 and next(iter(dtypes)).startswith("float")


def negated(a: Any) -> Constant | None:
    """The constant -a; None where a is not constant."""
    return evaluated(neg, (a,)) if isinstance(a, Constant) else None


@relation(phase="specialize")
def add_product(a: Any, b: Any, x: Any, y: Any, z: Any) -> Iterator[tuple[Any, ...]]:
    """z + a * (x @ y) = usmm(a, x, y, z) for sparse x: no matrix is made for the product

    Soundness: real.
    """
    product = structured_dot(x, y)
    fits = where(accumulates, x, y, z), sole_client(product)
    yield z + product, usmm(1, x, y, z), *fits
    yield z - product, usmm(-1, x, y, z), *fits
    scaled = a * product
    fits_scaled = where(scalar, a), where(accumulates, x, y, z), sole_client(product), sole_client(scaled)
    yield z + scaled, usmm(a, x, y, z), *fits_scaled
    yield z - scaled, usmm(b, x, y, z), *fits_scaled, compute(b, negated, a)
    yield z - scaled, usmm(-a, x, y, z), *fits_scaled
