"""Powers, signs, products and sums: the same value in fewer or cheaper operations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from termgraph.rewrite.goals import constant
from termgraph.rewrite.relation import relation
from termgraph.tensor import abs as magnitude
from termgraph.tensor import maximum, minimum, reciprocal, sqr, sqrt, switch

Clauses = Iterator[tuple[Any, ...]]


@relation
def powers(x: Any) -> Clauses:
    """x ** 2 = sqr(x), x ** 0.5 = sqrt(x), x ** -1 = 1 / x

    Soundness: real.
    """
    yield x ** 2, sqr(x)
    yield x ** 0.5, sqrt(x)
    yield x ** -1, reciprocal(x)
    yield 1 / x, reciprocal(x)
    yield x * x, sqr(x)


@relation
def quotients(x: Any, y: Any) -> Clauses:
    """x * (1 / y) = x / y, x / (1 / y) = x * y

    Soundness: real.
    """
    yield x * reciprocal(y), x / y
    yield x / reciprocal(y), x * y


@relation
def magnitudes(x: Any) -> Clauses:
    """||x|| = |-x| = |x|, |x|^2 = (-x)^2 = x^2, sqrt(x^2) = |x|

    Soundness: unsafe: x^2 overflows.
    """
    yield magnitude(magnitude(x)), magnitude(x)
    yield magnitude(-x), magnitude(x)
    yield sqr(magnitude(x)), sqr(x)
    yield sqr(-x), sqr(x)
    yield sqrt(sqr(x)), magnitude(x)


@relation
def gather_constants(x: Any, a: Any, b: Any) -> Clauses:
    """(x * a) * b = x * (a * b), (x + a) + b = x + (a + b) and their kin for constants a and b, which folding then joins

    Soundness: real.
    """
    yield x * a * b, x * (a * b), constant(a), constant(b)
    yield x * a / b, x * (a / b), constant(a), constant(b)
    yield x / a * b, x * (b / a), constant(a), constant(b)
    yield x / a / b, x / (a * b), constant(a), constant(b)
    yield x + a + b, x + (a + b), constant(a), constant(b)
    yield x + a - b, x + (a - b), constant(a), constant(b)
    yield x - a + b, x + (b - a), constant(a), constant(b)
    yield x - a - b, x - (a + b), constant(a), constant(b)


@relation
def factor(x: Any, y: Any, z: Any) -> Clauses:
    """x + x = 2 * x, x * y + x * z = x * (y + z) and its kin for constants y and z

    Soundness: real.
    """
    yield x + x, x * 2
    yield x * y + x * z, x * (y + z), constant(y), constant(z)
    yield x * y - x * z, x * (y - z), constant(y), constant(z)
    yield x * y + x, x * (y + 1), constant(y)
    yield x * y - x, x * (y - 1), constant(y)
    yield x - x * y, x * (1 - y), constant(y)


@relation
def idempotent(x: Any, c: Any) -> Clauses:
    """max(x, x) = min(x, x) = x, switch(c, x, x) = x

    Soundness: exact.
    """
    yield maximum(x, x), x
    yield minimum(x, x), x
    yield switch(c, x, x), x
