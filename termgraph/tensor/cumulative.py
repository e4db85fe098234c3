"""Running sums and products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything  # Any is the op

import numpy as np

from termgraph.errors import GraphTypeError
from termgraph.graph.apply import Apply
from termgraph.graph.op import Op, is_pattern
from termgraph.tensor.elementwise import float_zeros_like
from termgraph.tensor.reduction import normal_axes, widened
from termgraph.tensor.scalar import add, and_, eq, mul, switch, true_div
from termgraph.tensor.shape import flatten
from termgraph.tensor.type import DISCRETE
from termgraph.tensor.variable import as_tensor_variable
from termgraph.terms.term import OpTerm

__all__ = ["CumOp", "cumprod", "cumsum"]


class CumOp(Op):
    """The running sum (`mode` "add") or product ("mul") along the dimension `axis`, from the end where `reverse`.

    The dtype is that of a sum: int64 or uint64 for integers.
    """

    __props__ = ("axis", "mode", "reverse")
    typed_by_inputs = True

    def __init__(self, axis: int = 0, mode: str = "add", reverse: bool = False) -> None:
        if mode not in ("add", "mul"):
            raise GraphTypeError(f"the mode of a CumOp must be 'add' or 'mul', got {mode!r}.")
        self.axis, self.mode, self.reverse = int(axis), mode, bool(reverse)

    def make_node(self, x: Anything) -> Apply:
        x = as_tensor_variable(x)
        if not 0 <= self.axis < x.type.ndim:
            raise GraphTypeError(f"axis {self.axis} of {self} is out of range for {x}, which has {x.type.ndim} dimensions.")
        return Apply(self, [x], [x.type.clone(dtype=widened(x.type.dtype)).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Anything], output_storage: list[list[Anything]]) -> None:
        accumulate = (np.add if self.mode == "add" else np.multiply).accumulate
        dtype = node.outputs[0].type.numpy_dtype
        if self.reverse:
            flipped = accumulate(np.flip(inputs[0], self.axis), self.axis, dtype)
            output_storage[0][0] = np.ascontiguousarray(np.flip(flipped, self.axis))
        else:
            output_storage[0][0] = accumulate(inputs[0], self.axis, dtype)

    def infer_shape(self, fgraph: Anything, node: Apply, input_shapes: Sequence[Anything]) -> list[Anything]:
        return [tuple(input_shapes[0])]

    def _split(self, x: Anything) -> tuple[Anything, Anything, Anything]:
        """(where the first zero is, where there is none yet, the running product with the first zero taken for 1)."""
        zero = eq(x, 0)
        zeros = CumOp(self.axis, "add", self.reverse)(zero)
        first = and_(zero, eq(zeros, 1))
        return first, eq(zeros, 0), self(switch(first, 1, x))

    def pullback(self, inputs: Sequence[Anything], outputs: Sequence[Anything],
                 cotangents: Sequence[Anything]) -> list[Anything]:
        (x,), (out,), (g,) = inputs, outputs, cotangents
        if out.type.dtype in DISCRETE:
            return [float_zeros_like(x)]
        back = CumOp(self.axis, "add", not self.reverse)
        if self.mode == "add":
            return [back(g)]
        # Up to the first zero, d out_j / d x_i = out_j / x_i for j >= i; there, the product of the others; after it, 0.
        first, before, others = self._split(x)
        divided = true_div(back(mul(g, out)), switch(before, x, 1))
        return [switch(first, back(mul(g, others)), switch(before, divided, 0))]

    def pushforward(self, inputs: Sequence[Anything], outputs: Sequence[Anything],
                    tangents: Sequence[Anything]) -> list[Anything]:
        (x,), (out,), (t,) = inputs, outputs, tangents
        if t is None or out.type.dtype in DISCRETE:
            return [None]
        along = CumOp(self.axis, "add", self.reverse)
        if self.mode == "add":
            return [along(t)]
        first, before, others = self._split(x)
        relative = switch(before, true_div(t, switch(before, x, 1)), 0)
        return [add(mul(out, along(relative)), mul(others, along(switch(first, t, 0))))]


def _running(x: Anything, axis: Anything, mode: str) -> Anything:
    if is_pattern(x) or is_pattern(axis):
        return OpTerm(CumOp, mode=mode, reverse=False, **({} if axis is None else {"axis": axis}))(x)
    x = as_tensor_variable(x)
    if axis is None:
        return CumOp(0, mode)(flatten(x))
    return CumOp(normal_axes(axis, x.type.ndim)[0], mode)(x)


def cumsum(x: Anything, axis: int | None = None) -> Anything:
    """The running sum of `x` along `axis` (None: of the flattened `x`); integers give int64 or uint64."""
    return _running(x, axis, "add")


def cumprod(x: Anything, axis: int | None = None) -> Anything:
    """The running product of `x` along `axis` (None: of the flattened `x`); integers give int64 or uint64."""
    return _running(x, axis, "mul")
