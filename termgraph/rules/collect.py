"""Sums and products modulo association and order: like terms are gathered, common factors cancelled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from termgraph.rewrite.flatten import like_terms, operands, together, without
from termgraph.rewrite.goals import apply
from termgraph.rewrite.relation import relation
from termgraph.tensor import add, mul, neg

Clauses = Iterator[tuple[Any, ...]]


@relation
def cancel_in_product(x: Any, y: Any, xs: Any, rest: Any, r: Any) -> Clauses:
    """(a * b * c) / b = a * c

    Soundness: unsafe: b is 0, infinite or NaN, or a product overflows.
    """
    yield x / y, r, operands(mul, x, xs), without(xs, y, rest), together(mul, rest, r)


@relation
def cancel_in_sum(x: Any, y: Any, xs: Any, rest: Any, r: Any) -> Clauses:
    """(a + b + c) - b = a + c

    Soundness: unsafe: b is infinite or NaN, or much larger than the rest.
    """
    yield x - y, r, operands(add, x, xs), without(xs, y, rest), together(add, rest, r)


@relation
def gather_terms(ts: Any, xs: Any, ys: Any, r: Any) -> Clauses:
    """x + 2 * x + y - x = 2 * x + y

    Soundness: real.
    """
    whole = apply(add, ts)
    yield whole, r, operands(add, whole, xs), like_terms(mul, xs, ys, {neg: -1}), together(add, ys, r)
