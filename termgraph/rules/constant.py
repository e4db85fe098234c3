"""Constant folding: what depends on constants only is computed while compiling."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from termgraph.graph.evaluate import perform
from termgraph.graph.op import Op
from termgraph.graph.variable import Constant
from termgraph.rewrite.goals import apply, compute, constants
from termgraph.rewrite.relation import relation

#: Nothing larger is folded, in elements, unless the inputs are as large: a graph should not carry big arrays it could make.
LARGEST = 1 << 16


def evaluated(f: Any, inputs: tuple[Any, ...]) -> Constant | None:
    """The value of the head `f` on constant inputs, as a Constant; None where the Op or the size forbids it."""
    op, index = (f, f.default_output or 0) if isinstance(f, Op) else (f.op, f.index)
    node = op.node_for(inputs, None) if op.typed_by_inputs else op.make_node(*inputs)
    if not op.do_constant_folding(None, node):
        return None
    size = 1
    for length in getattr(node.outputs[index].type, "shape", ()):
        size *= length if length is not None else 1
    if size > LARGEST and size > max(getattr(x.data, "size", 1) for x in inputs):
        return None
    with np.errstate(all="ignore"):  # a division by zero is the user's to see when the graph runs, not when it compiles
        value = perform(node, [x.data for x in inputs])[index]
    return node.outputs[index].type.make_constant(value)  # type: ignore[no-any-return]


@relation
def fold(f: Any, xs: Any, c: Any) -> Iterator[tuple[Any, ...]]:
    """f(constants) = its value

    Soundness: exact.
    """
    yield apply(f, xs), c, constants(xs), compute(c, evaluated, f, xs)
