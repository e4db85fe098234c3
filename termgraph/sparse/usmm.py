"""Usmm: alpha * x @ y + z for a sparse x in one pass, with no array for the product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import termgraph.tensor as tt
from termgraph.errors import GraphTypeError
from termgraph.graph.apply import Apply
from termgraph.graph.op import Op
from termgraph.sparse.derivative import check_inner, merged_shape, sparse_cotangent, total
from termgraph.sparse.dot import structured_dot, structured_dot_grad, transpose
from termgraph.sparse.elementwise import mul_s_d
from termgraph.sparse.storage import add_product, with_values
from termgraph.sparse.variable import dense_input, sparse_input
from termgraph.tensor.dimshuffle import dimshuffle
from termgraph.tensor.elementwise import unbroadcast
from termgraph.tensor.scalar import same
from termgraph.tensor.type import TensorType


class Usmm(Op):
    """alpha * (x @ y) + z for a sparse `x`, dense matrices `y` and `z`, and a dense scalar `alpha` (any tensor of up to two
    dimensions whose static lengths are all 1 counts as one). `inplace` writes the result into `z`.

    Neither `y` nor `z` broadcasts. Raises GraphTypeError for operands of the wrong kind, and with `inplace` where the result
    has another dtype than `z`; StaticShapeError where known lengths do not fit, ValueError where they do not at run time.
    """

    __props__ = ("inplace",)
    typed_by_inputs = True

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = bool(inplace)
        if self.inplace:
            self.destroy_map = {0: [3]}

    def make_node(self, alpha: Any, x: Any, y: Any, z: Any) -> Apply:
        x = sparse_input(self, x, "its second argument")
        alpha = dense_input(self, alpha, "its first argument, a scalar,", (0, 1, 2), beside=x)
        if not all(alpha.type.broadcastable):
            raise GraphTypeError(f"{self} takes a scalar, or a tensor of static lengths 1, as its first argument; "
                                 f"got {alpha} of type {alpha.type}.")
        y, z = dense_input(self, y, "its third argument"), dense_input(self, z, "its fourth argument")
        check_inner(self, x.type.shape, y.type.shape)
        shape = merged_shape(self, (x.type.shape[0], y.type.shape[1]), z.type.shape)
        dtype = same([v.type.dtype for v in (alpha, x, y, z)])
        if self.inplace and dtype != z.type.dtype:
            raise GraphTypeError(f"{self} cannot write a result of dtype {dtype} into {z} of type {z.type}.")
        return Apply(self, [alpha, x, y, z], [TensorType(dtype, shape).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        alpha, x, y, z = inputs
        dtype = node.outputs[0].type.numpy_dtype
        if x.shape[1] != y.shape[0] or z.shape != (x.shape[0], y.shape[1]):
            raise ValueError(f"{self}: x {x.shape}, y {y.shape} and z {z.shape} do not fit together in alpha * x @ y + z.")
        scaled = with_values(x, np.multiply(x.data, alpha.reshape(()), dtype=dtype))
        result = z if self.inplace and z.flags.c_contiguous else np.array(z, dtype=dtype, order="C")
        add_product(result, scaled, np.ascontiguousarray(y, dtype=dtype))
        if self.inplace and result is not z:
            z[...] = result
            result = z
        output_storage[0][0] = result

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [input_shapes[3]]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        (alpha, x, y, z), (g,) = inputs, cotangents
        scalar = dimshuffle(alpha, ())
        by_alpha = dimshuffle(tt.sum(g * structured_dot(x, y)), ("x",) * alpha.type.ndim)
        return [unbroadcast(by_alpha, alpha), sparse_cotangent(mul_s_d(structured_dot_grad(x, y, g), scalar), x),
                unbroadcast(structured_dot(transpose(x), g * scalar), y), unbroadcast(g, z)]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        (alpha, x, y, _), (t_alpha, tx, ty, tz) = inputs, tangents
        scalar = dimshuffle(alpha, ())
        parts = (None if t_alpha is None else dimshuffle(t_alpha, ()) * structured_dot(x, y),
                 None if tx is None else scalar * structured_dot(tx, y),
                 None if ty is None else scalar * structured_dot(x, ty),
                 tz)
        return [total(parts, outputs[0].type.dtype)]


usmm = Usmm()
usmm_inplace = Usmm(inplace=True)
