"""What is known of values: clauses of the facts in `termgraph.rewrite.facts`, over the reals.

The facts that hold of a function's result whatever its arguments stand in the table of scalar functions (`result`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from cons import cons

from termgraph.rewrite.facts import FACTS, Fact, finite, negative, nonnegative, nonzero, positive
from termgraph.rewrite.goals import an, apply
from termgraph.tensor import (
    Alloc,
    DimShuffle,
    Elemwise,
    Max,
    Min,
    Shape_i,
    Softmax,
    Sum,
    cos,
    maximum,
    minimum,
    reciprocal,
    second,
    sigmoid,
    sin,
    switch,
    tanh,
)
from termgraph.tensor.elementwise import rows as table
from termgraph.terms.term import LogicVar

Clauses = Iterator[Any]


def by_the_table(fact: str) -> Callable[[], Clauses]:
    """Clauses for the functions of the table whose result has this fact."""
    def results() -> Clauses:
        for row in table():
            if fact in row.result:
                yield Elemwise(row)(*[LogicVar.fresh() for _ in range(row.nin)])
    return results


def elementwise_keeps(fact: Fact) -> Callable[[Any, Any, Any], Clauses]:
    """Clauses for what moves, spreads or selects elements: it keeps what holds of each."""
    def moved(x: Any, y: Any, lengths: Any) -> Clauses:
        yield an(DimShuffle)(x), fact(x)
        yield second(y, x), fact(x)
        yield apply(an(Alloc), cons(x, lengths)), fact(x)
        yield an(Max)(x), fact(x)
        yield an(Min)(x), fact(x)
    return moved


for _name, _fact in FACTS.items():
    _fact.when(by_the_table(_name))
    _fact.when(elementwise_keeps(_fact))


@positive.when
def positives(x: Any, y: Any, c: Any) -> Clauses:
    """Sums, products, quotients, powers and selections of positives are positive."""
    yield x + y, positive(x), nonnegative(y)
    yield x * y, positive(x), positive(y)
    yield x * y, negative(x), negative(y)
    yield x / y, positive(x), positive(y)
    yield x ** y, positive(x)
    yield reciprocal(x), positive(x)
    yield -x, negative(x)
    yield maximum(x, y), positive(x)
    yield minimum(x, y), positive(x), positive(y)
    yield switch(c, x, y), positive(x), positive(y)
    yield an(Softmax)(x)


@nonnegative.when
def nonnegatives(x: Any, y: Any, c: Any) -> Clauses:
    """As for positives; besides, squares and lengths are never negative."""
    yield x + y, nonnegative(x), nonnegative(y)
    yield x * y, nonnegative(x), nonnegative(y)
    yield x * x
    yield x / y, nonnegative(x), positive(y)
    yield x ** 2
    yield -x, negative(x)
    yield maximum(x, y), nonnegative(x)
    yield minimum(x, y), nonnegative(x), nonnegative(y)
    yield switch(c, x, y), nonnegative(x), nonnegative(y)
    yield an(Shape_i)(x)
    yield an(Sum)(x), nonnegative(x)


@negative.when
def negatives(x: Any, y: Any, c: Any) -> Clauses:
    """Sums of negatives, and products of a positive with a negative, are negative."""
    yield x + y, negative(x), negative(y)
    yield x * y, positive(x), negative(y)
    yield -x, positive(x)
    yield switch(c, x, y), negative(x), negative(y)


@nonzero.when
def nonzeros(x: Any, y: Any) -> Clauses:
    """A product of what is not zero is not zero."""
    yield x * y, nonzero(x), nonzero(y)
    yield -x, nonzero(x)
    yield reciprocal(x), nonzero(x)


@finite.when
def finites(x: Any, y: Any) -> Clauses:
    """Bounded functions of what is finite are finite."""
    yield -x, finite(x)
    for bounded in (sin, cos, tanh, sigmoid):
        yield bounded(x), finite(x)
    yield maximum(x, y), finite(x), finite(y)
    yield minimum(x, y), finite(x), finite(y)
