"""A sparse matrix taken apart into its vectors (csm = compressed sparse matrix), and put together from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from termgraph.errors import GraphTypeError, StaticShapeError
from termgraph.graph.apply import Apply
from termgraph.graph.null import DisconnectedType
from termgraph.graph.op import Op, is_pattern
from termgraph.sparse.restrict import restrict
from termgraph.sparse.storage import VALUE_CLASSES, with_values
from termgraph.sparse.type import FORMATS, SparseTensorType
from termgraph.sparse.variable import dense_input, sparse_input
from termgraph.tensor.elementwise import cast
from termgraph.tensor.type import DISCRETE, TensorType


class CSMProperties(Op):
    """The vectors of a sparse matrix: data, indices, indptr and shape; all but data are int32.

    CSR: `indices[indptr[i]:indptr[i + 1]]` are the columns that row i stores and `data[...]` their values; CSC: rows of
    column i. Raises ValueError at run time where an index does not fit int32.
    """

    __props__ = ()
    typed_by_inputs = True
    view_map = {0: [0], 1: [0], 2: [0]}  # noqa: RUF012

    def make_node(self, csm: Any) -> Apply:
        csm = sparse_input(self, csm)
        types = [TensorType(csm.type.dtype, (None,)), TensorType("int32", (None,)), TensorType("int32", (None,)),
                 TensorType("int32", (2,))]
        return Apply(self, [csm], [t.make_variable() for t in types])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        csm = inputs[0]
        if max(*csm.shape, csm.nnz) > np.iinfo(np.int32).max:
            raise ValueError(f"{self}: a matrix of shape {csm.shape} with {csm.nnz} stored values does not fit int32 indices.")
        output_storage[0][0] = csm.data
        for cell, value in zip(output_storage[1:], (csm.indices, csm.indptr, csm.shape), strict=True):
            cell[0] = np.asarray(value, dtype=np.int32)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True, False, False, False]]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        g = cotangents[0]
        return [DisconnectedType()() if isinstance(g.type, DisconnectedType) else with_data(inputs[0], g)]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None if tangents[0] is None else csm_data(tangents[0]), None, None, None]


class CSM(Op):
    """The sparse matrix of `format` with the vectors data, indices, indptr and shape (see `CSMProperties`).

    The result is a view of `data`; the integers are copied, as int32. Raises GraphTypeError where an argument is no vector or
    not of integers, ValueError at run time where the vectors do not fit together.
    """

    __props__ = ("format",)
    typed_by_inputs = True
    view_map = {0: [0]}  # noqa: RUF012

    def __init__(self, format: str) -> None:  # noqa: A002 - PyTensor's name
        if format not in FORMATS:
            raise GraphTypeError(f"CSM makes matrices of format {' or '.join(FORMATS)}, not {format!r}.")
        self.format = format

    def make_node(self, data: Any, indices: Any, indptr: Any, shape: Any) -> Apply:
        data = dense_input(self, data, "data", (1,))
        integers = []
        for name, vector in (("indices", indices), ("indptr", indptr), ("shape", shape)):
            vector = dense_input(self, vector, name, (1,))
            if vector.type.dtype not in DISCRETE:
                raise GraphTypeError(f"{self} takes integers as {name}, got {vector} of type {vector.type}.")
            integers.append(vector)
        if integers[2].type.shape[0] not in (None, 2):
            raise StaticShapeError(f"the argument shape of {self}", [integers[2].type.shape], "two lengths")
        return Apply(self, [data, *integers], [SparseTensorType(self.format, data.type.dtype).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        data, indices, indptr, shape = inputs
        if len(shape) != 2 or len(data) != len(indices):
            raise ValueError(f"{self} takes as many data as indices and two lengths, got {len(data)} data, {len(indices)} "
                             f"indices and {len(shape)} lengths.")
        parts = (data, indices.astype(np.int32), indptr.astype(np.int32))
        result = VALUE_CLASSES[self.format](parts, shape=tuple(int(n) for n in shape), copy=False)
        result.check_format(full_check=True)
        output_storage[0][0] = result

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        shape = node.inputs[3]
        return [(shape[0], shape[1])]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True], [False], [False], [False]]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        none = [DisconnectedType()() for _ in range(3)]
        return [_data_cotangent(cotangents[0], outputs[0], inputs[0]), *none]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None if tangents[0] is None else self(tangents[0], *inputs[1:])]


class WithData(Op):
    """The structure of the sparse matrix x with the vector `data` as its values, in storage order; a view of `data`."""

    __props__ = ()
    typed_by_inputs = True
    view_map = {0: [1]}  # noqa: RUF012

    def make_node(self, x: Any, data: Any) -> Apply:
        x, data = sparse_input(self, x, "its first argument"), dense_input(self, data, "data", (1,))
        return Apply(self, [x, data], [x.type.clone(dtype=data.type.dtype).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        x, data = inputs
        if len(data) != x.nnz:
            raise ValueError(f"{self}: {len(data)} values for a matrix that stores {x.nnz}.")
        output_storage[0][0] = with_values(x, data)

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [input_shapes[0]]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False], [True]]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        return [DisconnectedType()(), _data_cotangent(cotangents[0], outputs[0], inputs[1])]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None if tangents[1] is None else self(inputs[0], tangents[1])]


def _data_cotangent(g: Any, matrix: Any, data: Any) -> Any:
    """The cotangent of the vector `data` that `matrix` was made of, given that of `matrix`."""
    values = csm_data(restrict(g, matrix))
    return values if data.type.dtype in DISCRETE else cast(values, data.type.dtype)


csm_properties = CSMProperties()
CSR = CSM("csr")
CSC = CSM("csc")
with_data = WithData()


def _part(csm: Any, index: int) -> Any:
    if is_pattern(csm):
        return csm_properties.symbol_of(index, 4)(csm)
    return csm_properties(csm)[index]


def csm_data(csm: Any) -> Any:
    """The stored values of `csm`, a vector."""
    return _part(csm, 0)


def csm_indices(csm: Any) -> Any:
    """For each stored value its column (CSR) or row (CSC), an int32 vector."""
    return _part(csm, 1)


def csm_indptr(csm: Any) -> Any:
    """Where each row (CSR) or column (CSC) begins in data, an int32 vector one longer than their number."""
    return _part(csm, 2)


def csm_shape(csm: Any) -> Any:
    """The two lengths, an int32 vector."""
    return _part(csm, 3)
