"""Conversion: sparse to dense and back, from one format to the other, and from one dtype to another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from termgraph.config import config
from termgraph.errors import GraphTypeError
from termgraph.graph.apply import Apply
from termgraph.graph.op import Op, is_pattern
from termgraph.sparse.derivative import sparse_cotangent
from termgraph.sparse.restrict import restrict
from termgraph.sparse.type import FORMATS, SparseTensorType
from termgraph.sparse.variable import as_sparse_variable, dense_input, sparse_input
from termgraph.tensor.elementwise import unbroadcast
from termgraph.tensor.type import COMPLEX, TensorType


class DenseFromSparse(Op):
    """The dense matrix with the elements of a sparse one.

    With `structured` the cotangent of the sparse matrix is taken on its structure; without, everywhere.
    """

    __props__ = ("structured",)
    typed_by_inputs = True

    def __init__(self, structured: bool = True) -> None:
        self.structured = bool(structured)

    def make_node(self, x: Any) -> Apply:
        x = sparse_input(self, x)
        return Apply(self, [x], [TensorType(x.type.dtype, x.type.shape).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        output_storage[0][0] = inputs[0].toarray()

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [input_shapes[0]]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        (x,), (g,) = inputs, cotangents
        sparse = restrict(g, x) if self.structured else SparseFromDense(x.type.format)(g)
        return [sparse_cotangent(sparse, x)]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None if tangents[0] is None else self(tangents[0])]


class SparseFromDense(Op):
    """The sparse matrix of `format` with the elements of a dense one; it stores those that are not 0."""

    __props__ = ("format",)
    typed_by_inputs = True

    def __init__(self, format: str) -> None:  # noqa: A002 - PyTensor's name
        self.format = _checked_format(format)

    def make_node(self, x: Any) -> Apply:
        x = dense_input(self, x, "its argument")
        return Apply(self, [x], [SparseTensorType(self.format, x.type.dtype, x.type.shape).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        output_storage[0][0] = node.outputs[0].type.value_class(inputs[0])

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [input_shapes[0]]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        return [unbroadcast(dense_from_sparse(cotangents[0]), inputs[0])]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None if tangents[0] is None else self(tangents[0])]


class _Conversion(Op):
    """What changes how the values of a sparse matrix are stored, not where: linear, its own derivative."""

    typed_by_inputs = True

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [input_shapes[0]]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        return [sparse_cotangent(cotangents[0], inputs[0])]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None if tangents[0] is None else self(tangents[0])]


class ToFormat(_Conversion):
    """A sparse matrix in the other format. It stores the same values, in another order."""

    __props__ = ("format",)

    def __init__(self, format: str) -> None:  # noqa: A002
        self.format = _checked_format(format)

    def make_node(self, x: Any) -> Apply:
        x = sparse_input(self, x)
        return Apply(self, [x], [x.type.clone(format=self.format).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        output_storage[0][0] = inputs[0].asformat(self.format, copy=True)


class Cast(_Conversion):
    """A sparse matrix with its values converted to `dtype`; the structure stays."""

    __props__ = ("out_type",)

    def __init__(self, out_type: Any) -> None:
        self.out_type = config.floatX if out_type == "floatX" else str(np.dtype(out_type))

    def make_node(self, x: Any) -> Apply:
        x = sparse_input(self, x)
        if x.type.dtype in COMPLEX and self.out_type not in COMPLEX:
            raise GraphTypeError(f"{self} would drop the imaginary part of {x} of type {x.type}; use structured_real.")
        return Apply(self, [x], [x.type.clone(dtype=self.out_type).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        output_storage[0][0] = inputs[0].astype(self.out_type, copy=True)


def _checked_format(format: str) -> str:  # noqa: A002
    if format not in FORMATS:
        raise GraphTypeError(f"expected the format {' or '.join(FORMATS)}, got {format!r}.")
    return format


dense_from_sparse = DenseFromSparse()
csr_from_dense = SparseFromDense("csr")
csc_from_dense = SparseFromDense("csc")


def to_format(x: Any, format: str) -> Any:  # noqa: A002
    """`x` in `format`, "csr" or "csc"; `x` itself where it has it.

    >>> from termgraph.sparse.variable import csr_matrix
    >>> to_format(csr_matrix("x"), "csc").type
    SparseMatrix(csc, float64, shape=(?, ?))
    """
    x = as_sparse_variable(x)
    return x if not is_pattern(x) and x.type.format == format else ToFormat(format)(x)


def as_csr(x: Any) -> Any:
    """`x` in format CSR; `x` itself where it has it."""
    return to_format(x, "csr")


def as_csc(x: Any) -> Any:
    """`x` in format CSC; `x` itself where it has it."""
    return to_format(x, "csc")


def cast(x: Any, dtype: Any) -> Any:
    """The sparse `x` with values of `dtype`; `x` itself where it has it. Raises GraphTypeError from complex to real."""
    x = as_sparse_variable(x)
    op = Cast(dtype)
    return x if not is_pattern(x) and x.type.dtype == op.out_type else op(x)
