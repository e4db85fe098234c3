"""Sums over a sparse matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import termgraph.tensor as tt
from termgraph.errors import GraphTypeError
from termgraph.graph.apply import Apply
from termgraph.graph.op import Op, is_pattern
from termgraph.sparse.convert import SparseFromDense
from termgraph.sparse.derivative import sparse_cotangent
from termgraph.sparse.restrict import restrict
from termgraph.sparse.variable import sparse_input
from termgraph.tensor.dimshuffle import dimshuffle
from termgraph.tensor.type import TensorType
from termgraph.terms.term import OpTerm


class SpSum(Op):
    """The sum of a sparse matrix over `axis`: 0 or 1 gives a dense vector, None a scalar; in the dtype of the matrix.

    With `sparse_grad` the cotangent of the matrix is taken on its structure; without, everywhere, which takes the memory of
    the dense matrix. Raises GraphTypeError for another axis.
    """

    __props__ = ("axis", "sparse_grad")
    typed_by_inputs = True

    def __init__(self, axis: int | None = None, sparse_grad: bool = False) -> None:
        if axis not in (None, 0, 1, -1, -2):
            raise GraphTypeError(f"the axis of a sum of a sparse matrix must be None, 0 or 1, got {axis!r}.")
        self.axis = None if axis is None else axis % 2
        self.sparse_grad = bool(sparse_grad)

    def _kept(self, lengths: Sequence[Any]) -> tuple[Any, ...]:
        return () if self.axis is None else (lengths[1 - self.axis],)

    def make_node(self, x: Any) -> Apply:
        x = sparse_input(self, x)
        return Apply(self, [x], [TensorType(x.type.dtype, self._kept(x.type.shape)).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        total = np.array(inputs[0].sum(axis=self.axis), dtype=node.outputs[0].type.numpy_dtype)
        output_storage[0][0] = total.reshape(self._kept(inputs[0].shape))

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [self._kept(input_shapes[0])]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        (x,) = inputs
        g = dimshuffle(cotangents[0], ("x", "x") if self.axis is None else ("x", 0) if self.axis == 0 else (0, "x"))
        if self.sparse_grad:
            return [sparse_cotangent(restrict(g, x), x)]
        return [sparse_cotangent(SparseFromDense(x.type.format)(tt.alloc(g, *tt.shape_tuple(x))), x)]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None if tangents[0] is None else self(tangents[0])]


def sp_sum(x: Any, axis: int | None = None, sparse_grad: bool = False) -> Any:
    """The sum of the sparse `x` over `axis`, dense. See `SpSum`.

    >>> from termgraph.sparse.variable import csr_matrix
    >>> sp_sum(csr_matrix("x"), axis=0).type
    Vector(float64, shape=(?,))
    """
    if is_pattern(x):
        return OpTerm(SpSum, axis=axis, **({"sparse_grad": True} if sparse_grad else {}))(x)
    return SpSum(axis, sparse_grad)(x)
