"""In-place promotion: a result takes the memory of an input that nobody reads any more."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from termgraph.rewrite.goals import apply, choose, destroyable
from termgraph.rewrite.relation import relation
from termgraph.sparse import Usmm
from termgraph.tensor import Elemwise, Row


@cache
def writing_over(row: Row, position: int) -> Elemwise:
    """The elementwise op of this function that writes over the input at `position`."""
    return Elemwise(row, {0: position})


def overwriting(f: Any, xs: tuple[Any, ...]) -> Iterator[tuple[Any, Any]]:
    """The variants of `f` that write over one of the inputs `xs`, and that input: only where memory of the right size and
    dtype is taken."""
    if isinstance(f, Elemwise) and not f.inplace_pattern and xs[0].type.ndim > 0:
        dtype = f.scalar_op.dtype([x.type.dtype for x in xs])
        wide = tuple(all(x.type.broadcastable[d] for x in xs) for d in range(xs[0].type.ndim))
        for position, x in enumerate(xs):
            if x.type.dtype == dtype and x.type.broadcastable == wide:
                yield x, writing_over(f.scalar_op, position)
    elif isinstance(f, Usmm) and not f.inplace:
        yield xs[3], Usmm(inplace=True)


@relation(phase="inplace")
def reuse_input(f: Any, g: Any, x: Any, xs: Any) -> Iterator[tuple[Any, ...]]:
    """f(xs) = g(xs), where g computes what f does and writes it over its input x

    Soundness: exact.
    """
    node = apply(f, xs)
    yield node, apply(g, xs), choose((x, g), overwriting, f, xs), destroyable(x, node)
