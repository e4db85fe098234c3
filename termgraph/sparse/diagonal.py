"""The diagonal of a square sparse matrix, and the matrix of a diagonal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse

from termgraph.errors import StaticShapeError
from termgraph.graph.apply import Apply
from termgraph.graph.op import Op
from termgraph.sparse.derivative import sparse_cotangent
from termgraph.sparse.restrict import restrict
from termgraph.sparse.type import SparseTensorType
from termgraph.sparse.variable import dense_input, sparse_input
from termgraph.tensor.elementwise import unbroadcast
from termgraph.tensor.type import TensorType


class Diag(Op):
    """The diagonal of a square sparse matrix as a dense vector.

    Raises StaticShapeError where the matrix is known not to be square, ValueError where it is not at run time.
    """

    __props__ = ()
    typed_by_inputs = True

    def make_node(self, x: Any) -> Apply:
        x = sparse_input(self, x)
        rows, cols = x.type.shape
        if None not in (rows, cols) and rows != cols:
            raise StaticShapeError(str(self), [x.type.shape], "a square matrix")
        length = cols if rows is None else rows
        return Apply(self, [x], [TensorType(x.type.dtype, (length,)).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        (x,) = inputs
        if x.shape[0] != x.shape[1]:
            raise ValueError(f"{self} takes a square matrix, got one of shape {x.shape}.")
        output_storage[0][0] = np.array(x.diagonal(), dtype=x.dtype)

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [(input_shapes[0][0],)]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        (x,) = inputs
        g = square_diagonal(cotangents[0])
        return [sparse_cotangent(restrict(g.asformat(x.type.format), x), x)]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None if tangents[0] is None else self(tangents[0])]


class SquareDiagonal(Op):
    """The square sparse matrix, of format CSC, with a dense vector on its diagonal; it stores the zeros of the vector too."""

    __props__ = ()
    typed_by_inputs = True

    def make_node(self, diagonal: Any) -> Apply:
        d = dense_input(self, diagonal, "its argument", (1,))
        return Apply(self, [d], [SparseTensorType("csc", d.type.dtype, d.type.shape * 2).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        (d,) = inputs
        n = len(d)
        parts = (d.copy(), np.arange(n, dtype=np.int32), np.arange(n + 1, dtype=np.int32))
        output_storage[0][0] = scipy.sparse.csc_matrix(parts, shape=(n, n))

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [(input_shapes[0][0], input_shapes[0][0])]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        return [unbroadcast(diag(cotangents[0]), inputs[0])]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None if tangents[0] is None else self(tangents[0])]


diag = Diag()
square_diagonal = SquareDiagonal()
