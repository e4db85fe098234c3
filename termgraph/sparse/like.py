"""Sparse matrices made after a model: without stored values, or with ones for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import termgraph.tensor as tt
from termgraph.config import config
from termgraph.graph.apply import Apply
from termgraph.graph.null import DisconnectedType
from termgraph.graph.op import Op, is_pattern
from termgraph.sparse.parts import csm_data, with_data
from termgraph.sparse.type import SparseTensorType
from termgraph.sparse.variable import as_sparse_variable, sparse_input
from termgraph.tensor.type import DISCRETE
from termgraph.terms.term import OpTerm


class ZerosLike(Op):
    """A sparse matrix of the shape and format of the argument that stores nothing; `dtype` None is that of the argument."""

    __props__ = ("dtype",)
    typed_by_inputs = True

    def __init__(self, dtype: Any = None) -> None:
        self.dtype = None if dtype is None else config.floatX if dtype == "floatX" else str(np.dtype(dtype))

    def make_node(self, x: Any) -> Apply:
        x = sparse_input(self, x)
        return Apply(self, [x], [x.type.clone(dtype=self.dtype).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        out: SparseTensorType = node.outputs[0].type
        output_storage[0][0] = out.value_class(inputs[0].shape, dtype=out.numpy_dtype)

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [input_shapes[0]]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False]]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        return [DisconnectedType()()]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None]


def sp_zeros_like(x: Any, dtype: Any = None) -> Any:
    """A sparse matrix of the shape and format of `x` that stores nothing, of its dtype by default.

    >>> from termgraph.sparse.variable import csr_matrix
    >>> sp_zeros_like(csr_matrix("x", shape=(None, 3)), "float32").type
    SparseMatrix(csr, float32, shape=(?, 3))
    """
    if is_pattern(x):
        return OpTerm(ZerosLike)(x) if dtype is None else OpTerm(ZerosLike, dtype=dtype)(x)
    return ZerosLike(dtype)(x)


def sp_ones_like(x: Any) -> Any:
    """The structure of `x` with ones as its values."""
    x = as_sparse_variable(x)
    return with_data(x, tt.ones_like(csm_data(x)))


def float_zeros_like(x: Any) -> Any:
    """`sp_zeros_like(x)` in a dtype that a cotangent of `x` may have: floatX where `x` is of integers."""
    return sp_zeros_like(x, config.floatX if x.type.dtype in DISCRETE else x.type.dtype)
