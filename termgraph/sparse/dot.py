"""Transposes and products of sparse matrices.

A product of a sparse and a dense matrix is one Op, `StructuredDot`, whatever the formats and whichever side is sparse:
x @ y = (y.T @ x.T).T, and a sparse transpose is only the other format. Its derivatives are products of the same kind and
never make a sparse operand dense.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import termgraph.tensor as tt
from termgraph.errors import GraphTypeError
from termgraph.graph.apply import Apply
from termgraph.graph.null import DisconnectedType
from termgraph.graph.op import Op, is_pattern
from termgraph.sparse.convert import DenseFromSparse, to_format
from termgraph.sparse.derivative import check_inner, merged_shape, sparse_cotangent, total
from termgraph.sparse.elementwise import mul_s_s
from termgraph.sparse.restrict import restrict
from termgraph.sparse.storage import sampled_product, with_values
from termgraph.sparse.variable import dense_input, is_sparse, sparse_input
from termgraph.tensor.elementwise import unbroadcast
from termgraph.tensor.scalar import same
from termgraph.tensor.type import TensorType


class Transpose(Op):
    """The transpose of a sparse matrix: the same vectors, read in the other format."""

    __props__ = ()
    typed_by_inputs = True
    view_map = {0: [0]}  # noqa: RUF012

    def make_node(self, x: Any) -> Apply:
        x = sparse_input(self, x)
        out = x.type.clone(format="csc" if x.type.format == "csr" else "csr", shape=x.type.shape[::-1])
        return Apply(self, [x], [out.make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        output_storage[0][0] = inputs[0].transpose(copy=False)

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [input_shapes[0][::-1]]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        return [sparse_cotangent(self(cotangents[0]), inputs[0])]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None if tangents[0] is None else self(tangents[0])]


class StructuredDot(Op):
    """a @ b for a sparse `a` and a dense matrix or vector `b`; the result is dense.

    Raises GraphTypeError where an operand is of the wrong kind, StaticShapeError where the inner lengths are known and
    differ, ValueError where they differ at run time.
    """

    __props__ = ()
    typed_by_inputs = True

    def make_node(self, a: Any, b: Any) -> Apply:
        a = sparse_input(self, a, "its first argument")
        b = dense_input(self, b, "its second argument", (1, 2))
        check_inner(self, a.type.shape, b.type.shape)
        out = TensorType(same([a.type.dtype, b.type.dtype]), (a.type.shape[0], *b.type.shape[1:]))
        return Apply(self, [a, b], [out.make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        a, b = inputs
        output_storage[0][0] = np.asarray(a @ b, dtype=node.outputs[0].type.numpy_dtype)

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        a, b = input_shapes
        return [(a[0], *b[1:])]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        (a, b), (g,) = inputs, cotangents
        return [sparse_cotangent(structured_dot_grad(a, b, g), a), unbroadcast(self(transpose(a), g), b)]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        (a, b), (ta, tb) = inputs, tangents
        parts = (None if ta is None else self(ta, b), None if tb is None else self(a, tb))
        return [total(parts, outputs[0].type.dtype)]


class StructuredDotGrad(Op):
    """The cotangent of the sparse operand of a @ b, given that of the product, g: on the structure of `a`, the values
    g_i . b_j. What `a` does not store is never computed, and the values of `a` do not matter.

    `b` and `g` are both matrices, or both vectors. Errors as for `StructuredDot`.
    """

    __props__ = ()
    typed_by_inputs = True

    def make_node(self, a: Any, b: Any, g: Any) -> Apply:
        a = sparse_input(self, a, "its first argument")
        b = dense_input(self, b, "its second argument", (1, 2))
        g = dense_input(self, g, "its third argument", (b.type.ndim,))
        check_inner(self, a.type.shape, b.type.shape)
        merged_shape(self, (a.type.shape[0], *b.type.shape[1:]), g.type.shape)
        return Apply(self, [a, b, g], [a.type.clone(dtype=same([b.type.dtype, g.type.dtype])).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        a, b, g = inputs
        output_storage[0][0] = with_values(a, sampled_product(a, g, b))

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [input_shapes[0]]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False], [True], [True]]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        a, b, g = inputs
        c = restrict(cotangents[0], a)
        return [DisconnectedType()(), unbroadcast(structured_dot(transpose(c), g), b),
                unbroadcast(structured_dot(c, b), g)]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        (a, b, g), (_, tb, tg) = inputs, tangents
        parts = (None if tb is None else self(a, tb, g), None if tg is None else self(a, b, tg))
        return [total(parts, outputs[0].type.dtype)]


class SamplingDot(Op):
    """p * (x @ y.T) for dense matrices x and y and a sparse p, computed for the stored positions of p only.

    Raises GraphTypeError and StaticShapeError as `StructuredDot` does.
    """

    __props__ = ()
    typed_by_inputs = True

    def make_node(self, x: Any, y: Any, p: Any) -> Apply:
        x, y = dense_input(self, x, "its first argument"), dense_input(self, y, "its second argument")
        p = sparse_input(self, p, "its third argument")
        check_inner(self, x.type.shape, y.type.shape[::-1])
        shape = merged_shape(self, p.type.shape, (x.type.shape[0], y.type.shape[0]))
        dtype = same([v.type.dtype for v in (x, y, p)])
        return Apply(self, [x, y, p], [p.type.clone(dtype=dtype, shape=shape).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        x, y, p = inputs
        output_storage[0][0] = with_values(p, p.data * sampled_product(p, x, y))

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [input_shapes[2]]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        x, y, p = inputs
        g = restrict(cotangents[0], p)
        weighted = mul_s_s(g, p)
        return [unbroadcast(structured_dot(weighted, y), x), unbroadcast(structured_dot(transpose(weighted), x), y),
                sparse_cotangent(self(x, y, g), p)]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        parts = []
        for position, tangent in enumerate(tangents):
            if tangent is not None:
                arguments = list(inputs)
                arguments[position] = tangent
                parts.append(self(*arguments))
        return [total(parts, outputs[0].type.dtype)]


class TrueDot(Op):
    """x @ y for sparse x and y; the result is sparse, in the format of x, and does not store elements that come out as 0.

    Raises StaticShapeError where the inner lengths are known and differ, ValueError where they differ at run time.
    """

    __props__ = ()
    typed_by_inputs = True

    def make_node(self, x: Any, y: Any) -> Apply:
        x, y = sparse_input(self, x, "its first argument"), sparse_input(self, y, "its second argument")
        y = to_format(y, x.type.format)
        check_inner(self, x.type.shape, y.type.shape)
        out = x.type.clone(dtype=same([x.type.dtype, y.type.dtype]), shape=(x.type.shape[0], y.type.shape[1]))
        return Apply(self, [x, y], [out.make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        x, y = inputs
        output_storage[0][0] = (x @ y).astype(node.outputs[0].type.numpy_dtype, copy=False)

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        x, y = input_shapes
        return [(x[0], y[1])]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        (x, y), (g,) = inputs, cotangents
        return [sparse_cotangent(restrict(self(g, transpose(y)), x), x),
                sparse_cotangent(restrict(to_format(self(transpose(x), g), y.type.format), y), y)]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        (x, y), (tx, ty) = inputs, tangents
        parts = (None if tx is None else self(tx, y), None if ty is None else self(x, ty))
        return [total(parts, outputs[0].type.dtype)]


transpose = Transpose()
structured_dot_op = StructuredDot()
structured_dot_grad = StructuredDotGrad()
sampling_dot = SamplingDot()
true_dot = TrueDot()


def structured_dot(x: Any, y: Any) -> Any:
    """x @ y where one is sparse at least: dense for a sparse and a dense one, sparse for two sparse ones.

    Called with a logic variable, the pattern of the product of a sparse x and a dense y. Raises GraphTypeError where both
    are dense, and where the dense one is neither matrix nor vector.

    >>> import termgraph.tensor as tt
    >>> from termgraph.sparse.variable import csr_matrix
    >>> structured_dot(csr_matrix("x"), tt.matrix("y")).type
    Matrix(float64, shape=(?, ?))
    """
    if is_pattern(x) or is_pattern(y):
        return structured_dot_op(x, y)
    if is_sparse(x):
        return true_dot(x, y) if is_sparse(y) else structured_dot_op(x, y)
    if not is_sparse(y):
        raise GraphTypeError(f"sparse.dot takes a sparse matrix as one of its arguments at least, got {x} and {y}; "
                             "use tensor.dot for dense ones.")
    x = dense_input(structured_dot_op, x, "its dense argument", (1, 2))
    return tt.transpose(structured_dot_op(transpose(y), tt.transpose(x)))


def dot(x: Any, y: Any) -> Any:
    """x @ y where one is sparse at least; the result is dense. See `structured_dot`, and `true_dot` for a sparse result."""
    product = structured_dot(x, y)
    # Not structured: which elements of the product are stored depends on its values.
    return DenseFromSparse(structured=False)(product) if is_sparse(product) else product
