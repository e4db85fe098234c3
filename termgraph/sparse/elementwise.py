"""Sums and products of sparse matrices with sparse and with dense ones.

A sum with a dense matrix is dense, all else is sparse: a product keeps the structure of a sparse operand, so that infinities
and NaNs of the other one count only there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import termgraph.tensor as tt
from termgraph.errors import GraphTypeError
from termgraph.graph.apply import Apply
from termgraph.graph.op import Op, is_pattern
from termgraph.graph.variable import Variable
from termgraph.sparse.convert import to_format
from termgraph.sparse.derivative import merged_shape, sparse_cotangent, total
from termgraph.sparse.restrict import restrict, summed_to
from termgraph.sparse.storage import add as add_matrices
from termgraph.sparse.storage import gather, values_at, with_values
from termgraph.sparse.structured import neg
from termgraph.sparse.variable import dense_input, is_sparse, sparse_input
from termgraph.tensor.dimshuffle import dimshuffle
from termgraph.tensor.elementwise import unbroadcast
from termgraph.tensor.scalar import neg as dense_neg
from termgraph.tensor.scalar import reciprocal, same, second
from termgraph.tensor.type import TensorType
from termgraph.terms.term import Term


def _two_sparse(op: Op, x: Any, y: Any) -> tuple[Any, Any, Any]:
    """The two inputs, the second in the format of the first, and the type of the result."""
    x, y = sparse_input(op, x, "its first argument"), sparse_input(op, y, "its second argument")
    y = to_format(y, x.type.format)
    shape = merged_shape(op, x.type.shape, y.type.shape)
    return x, y, x.type.clone(dtype=same([x.type.dtype, y.type.dtype]), shape=shape)


def _sparse_and_dense(op: Op, x: Any, y: Any) -> tuple[Any, Any, str, Any]:
    """The two inputs, the second as a matrix, and the dtype and the static shape of the result."""
    x = sparse_input(op, x, "its first argument")
    y = tt.as_tensor_variable(dense_input(op, y, "its second argument", (0, 1, 2), beside=x), ndim=2)
    shape = merged_shape(op, x.type.shape, [None if s == 1 else s for s in y.type.shape])
    return x, y, same([x.type.dtype, y.type.dtype]), shape


class AddSS(Op):
    """x + y for sparse x and y of one shape. It stores the union of the structures, zeros included; the format is that of x.

    Raises StaticShapeError where the shapes are known to differ, ValueError where they differ at run time.
    """

    __props__ = ()
    typed_by_inputs = True

    def make_node(self, x: Any, y: Any) -> Apply:
        x, y, out = _two_sparse(self, x, y)
        return Apply(self, [x, y], [out.make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        output_storage[0][0] = add_matrices(*inputs)

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [input_shapes[0]]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        return [sparse_cotangent(restrict(cotangents[0], x), x) for x in inputs]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [total(tangents, outputs[0].type.dtype)]


class AddSD(Op):
    """x + y for a sparse x and a dense y, which broadcasts where its static length is 1; the result is dense.

    Raises StaticShapeError where known lengths do not fit, ValueError where they do not at run time.
    """

    __props__ = ()
    typed_by_inputs = True

    def make_node(self, x: Any, y: Any) -> Apply:
        x, y, dtype, shape = _sparse_and_dense(self, x, y)
        return Apply(self, [x, y], [TensorType(dtype, shape).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        x, y = inputs
        for d, wide in enumerate(node.inputs[1].type.broadcastable):
            if not wide and y.shape[d] != x.shape[d]:
                raise ValueError(f"{self}: the sparse matrix has shape {x.shape} and the dense one {y.shape}: they differ "
                                 f"along dimension {d}, which broadcasts only where the type says its length is 1.")
        output_storage[0][0] = np.asarray(x + np.broadcast_to(y, x.shape), dtype=node.outputs[0].type.numpy_dtype)

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [input_shapes[0]]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        (x, y), (g,) = inputs, cotangents
        return [sparse_cotangent(restrict(g, x), x), unbroadcast(g, y)]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        tx, ty = tangents
        if ty is None:
            return [None if tx is None else tx.astype(outputs[0].type.dtype).toarray()]
        if tx is None:
            ty = tt.cast(ty, outputs[0].type.dtype)
            return [second(outputs[0], ty) if any(inputs[1].type.broadcastable) else ty]
        return [self(tx, ty)]


class MulSS(Op):
    """The elementwise product of sparse x and y of one shape, in the format of x, on the smaller of the two structures.

    Raises StaticShapeError where the shapes are known to differ, ValueError where they differ at run time.
    """

    __props__ = ()
    typed_by_inputs = True

    def make_node(self, x: Any, y: Any) -> Apply:
        x, y, out = _two_sparse(self, x, y)
        return Apply(self, [x, y], [out.make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        small, large = sorted(inputs, key=lambda m: m.nnz)
        output_storage[0][0] = with_values(small, small.data * values_at(large, small))

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [input_shapes[0]]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        (x, y), (g,) = inputs, cotangents
        return [sparse_cotangent(self(g, y), x), sparse_cotangent(self(g, x), y)]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        (x, y), (tx, ty) = inputs, tangents
        parts = (None if tx is None else self(tx, y), None if ty is None else self(x, ty))
        return [total(parts, outputs[0].type.dtype)]


class MulSD(Op):
    """The elementwise product of a sparse x and a dense y, which broadcasts where its static length is 1: a scalar, a row, a
    column, or a matrix. The result is sparse, with the structure of x.

    Raises StaticShapeError where known lengths do not fit, ValueError where they do not at run time.
    """

    __props__ = ()
    typed_by_inputs = True

    def make_node(self, x: Any, y: Any) -> Apply:
        x, y, dtype, shape = _sparse_and_dense(self, x, y)
        return Apply(self, [x, y], [x.type.clone(dtype=dtype, shape=shape).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        x, y = inputs
        output_storage[0][0] = with_values(x, x.data * gather(y, x, node.inputs[1].type.broadcastable))

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [input_shapes[0]]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        (x, y), (g,) = inputs, cotangents
        return [sparse_cotangent(self(g, y), x), unbroadcast(summed_to(mul_s_s(g, x), y), y)]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        (x, y), (tx, ty) = inputs, tangents
        parts = (None if tx is None else self(tx, y), None if ty is None else self(x, ty))
        return [total(parts, outputs[0].type.dtype)]


add_s_s = AddSS()
add_s_d = AddSD()
mul_s_s = MulSS()
mul_s_d = MulSD()


def _pair(name: str, both: Op, mixed: Op, x: Any, y: Any) -> Any:
    """The Op for two operands of which one at least is sparse. Of unknown ones, a pattern stands for a sparse matrix; a dense
    variable or a number beside it is known to be dense."""
    if is_pattern(x) or is_pattern(y):
        dense = [isinstance(v, (int, float)) or (isinstance(v, Variable) and not is_sparse(v)) for v in (x, y)]
        if any(dense):
            return Term(mixed, (y, x) if dense[0] else (x, y))
        return both(x, y)
    if is_sparse(x):
        return both(x, y) if is_sparse(y) else mixed(x, y)
    if is_sparse(y):
        return mixed(y, x)
    raise GraphTypeError(f"sparse.{name} takes a sparse matrix as one of its arguments at least, got {x} and {y}; "
                         f"use tensor.{name} for dense ones.")


def add(x: Any, y: Any) -> Any:
    """x + y where one is sparse at least: sparse if both are, else dense.

    >>> import termgraph.tensor as tt
    >>> from termgraph.sparse.variable import csr_matrix
    >>> add(csr_matrix("x"), csr_matrix("y")).type, add(tt.matrix("d"), csr_matrix("x")).type
    (SparseMatrix(csr, float64, shape=(?, ?)), Matrix(float64, shape=(?, ?)))
    """
    return _pair("add", add_s_s, add_s_d, x, y)


def sub(x: Any, y: Any) -> Any:
    """x - y where one is sparse at least: sparse if both are, else dense."""
    if isinstance(y, (int, float)):
        return add(x, -y)  # stays a Python number, which takes the dtype of x
    return add(x, neg(y) if is_pattern(y) or is_sparse(y) else dense_neg(y))


subtract = sub


def mul(x: Any, y: Any) -> Any:
    """x * y elementwise where one is sparse at least; the result is sparse. See `MulSD` for what a dense one may be."""
    return _pair("mul", mul_s_s, mul_s_d, x, y)


multiply = mul


def true_div(x: Any, y: Any) -> Any:
    """x / y for a sparse x and a dense y, on the structure of x. Raises GraphTypeError for a sparse y."""
    if is_sparse(y):
        raise GraphTypeError(f"cannot divide by the sparse matrix {y}: what it does not store is 0.")
    return mul(x, 1.0 / y if isinstance(y, (int, float)) else reciprocal(y))


def row_scale(x: Any, s: Any) -> Any:
    """The sparse `x` with each row i multiplied by s[i], for a dense vector `s`."""
    return mul_s_d(x, dimshuffle(s, (0, "x")))


def col_scale(x: Any, s: Any) -> Any:
    """The sparse `x` with each column j multiplied by s[j], for a dense vector `s`."""
    return mul_s_d(x, dimshuffle(s, ("x", 0)))
