"""A Python number as a tensor of a given type and shape: what `yield x - x, 0` builds."""

from __future__ import annotations

from typing import Any

import numpy as np

from termgraph.errors import MethodNotDefined
from termgraph.graph.variable import Variable
from termgraph.tensor.creation import alloc
from termgraph.tensor.shape import shape_tuple
from termgraph.tensor.type import TensorType
from termgraph.tensor.variable import TensorConstant, constant
from termgraph.terms.literal import typed_literal


@typed_literal.register
def _tensor_literal(type: TensorType, number: Any, like: Variable) -> Variable | None:  # noqa: A002
    if isinstance(number, bool) != (type.dtype == "bool") or not isinstance(number, (int, float)):
        return None
    element = constant(np.asarray(number).astype(type.dtype))
    if type.ndim == 0:
        return element
    if all(s == 1 for s in type.shape):
        return TensorConstant(type, np.full(type.shape, element.data))  # type: ignore[arg-type]
    lengths = lengths_from_inputs(like)
    return None if lengths is None else alloc(element, *lengths)  # type: ignore[no-any-return]


def lengths_from_inputs(variable: Variable) -> list[Any] | None:
    """The run-time lengths of `variable`'s dimensions, computed from those of its owner's inputs; None where its op does
    not say how."""
    node = variable.owner
    static = variable.type.shape
    if all(s is not None for s in static):
        return list(static)
    if node is None:
        return None
    shapes = [shape_tuple(i) if isinstance(i.type, TensorType) else None for i in node.inputs]
    try:
        inferred = node.op.infer_shape(None, node, shapes)[variable.index or 0]
    except MethodNotDefined:
        return None
    return [s if s is not None else length for s, length in zip(static, inferred, strict=True)]
