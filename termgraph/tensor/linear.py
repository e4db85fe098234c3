"""Products of vectors and matrices, norms, and diagonals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from termgraph.errors import GraphTypeError, StaticShapeError
from termgraph.graph.apply import Apply
from termgraph.graph.op import Op, Thunk, is_pattern
from termgraph.graph.variable import Variable
from termgraph.tensor.creation import arange
from termgraph.tensor.dimshuffle import dimshuffle, expand_dims, squeeze, transpose
from termgraph.tensor.elementwise import broadcast_static, cast, float_zeros_like, unbroadcast
from termgraph.tensor.getitem import inc_subtensor
from termgraph.tensor.scalar import abs as abs_
from termgraph.tensor.scalar import add, maximum, minimum, mul, neq, same, sqr, sqrt
from termgraph.tensor.scalar import pow as pow_
from termgraph.tensor.shape import flatten, product, reshape, shape_i, shape_tuple
from termgraph.tensor.type import DISCRETE, TensorType
from termgraph.tensor.variable import as_tensor_variable


def sum_of(tangents: Sequence[Any]) -> Any:
    """The sum of those that are not None, None where all are."""
    present = [t for t in tangents if t is not None]
    total = present[0] if present else None
    for t in present[1:]:
        total = add(total, t)
    return total


# --- products ---------------------------------------------------------------------------------------------------------


class _Product(Op):
    """What products share: one output, linear in each of two inputs. `product` applies the op to other factors."""

    __props__ = ()
    typed_by_inputs = True

    def adjoints(self, x: Any, y: Any, g: Any) -> tuple[Any, Any]:
        """The cotangents of the factors."""
        raise NotImplementedError

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        if outputs[0].type.dtype in DISCRETE:
            return [float_zeros_like(i) for i in inputs]
        x, y = inputs
        gx, gy = self.adjoints(x, y, cotangents[0])
        return [unbroadcast(gx, x), unbroadcast(gy, y)]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        if outputs[0].type.dtype in DISCRETE:
            return [None]
        (x, y), (tx, ty) = inputs, tangents
        return [sum_of([None if tx is None else self(tx, y), None if ty is None else self(x, ty)])]


class Dot(_Product):
    """The product of two vectors, a matrix and a vector, or two matrices, with the dtype NumPy promotes theirs to.

    Raises GraphTypeError for other ranks, StaticShapeError where the inner lengths are known and differ.

    >>> import termgraph.tensor as tt
    >>> Dot()(tt.matrix("x", shape=(2, None)), tt.vector("y")).type
    Vector(float64, shape=(2,))
    """

    __props__ = ()

    def make_node(self, x: Any, y: Any) -> Apply:
        x, y = as_tensor_variable(x), as_tensor_variable(y)
        a, b = x.type.shape, y.type.shape
        if len(a) not in (1, 2) or len(b) not in (1, 2):
            raise GraphTypeError(f"Dot takes vectors and matrices, got {x} of type {x.type} and {y} of type {y.type}; "
                                 "the function dot takes tensors of any rank.")
        if None not in (a[-1], b[0]) and a[-1] != b[0]:
            raise StaticShapeError("cannot apply dot", [a, b], "equal inner lengths")
        return Apply(self, [x, y], [TensorType(same([x.type.dtype, y.type.dtype]), a[:-1] + b[1:]).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        output_storage[0][0] = np.asarray(np.dot(inputs[0], inputs[1]))

    def make_thunk(self, node: Apply, storage_map: Any, compute_map: Any, no_recycling: Any, impl: str | None = None) -> Thunk:
        left, right = (storage_map[i] for i in node.inputs)
        target, computed = storage_map[node.outputs[0]], compute_map[node.outputs[0]]
        multiply, asarray = np.dot, np.asarray

        if node.outputs[0].type.ndim:
            def thunk() -> None:
                target[0] = multiply(left[0], right[0])
                computed[0] = True
        else:
            def thunk() -> None:
                target[0] = asarray(multiply(left[0], right[0]))
                computed[0] = True
        return thunk

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        a, b = input_shapes
        return [tuple(a[:-1]) + tuple(b[1:])]

    def adjoints(self, x: Any, y: Any, g: Any) -> tuple[Any, Any]:
        nx, ny = x.type.ndim, y.type.ndim
        if nx == ny == 1:
            return mul(g, y), mul(g, x)
        if nx == 1:
            return dot(y, g), outer(x, g)
        if ny == 1:
            return outer(g, y), dot(transpose(x), g)
        return dot(g, transpose(y)), dot(transpose(x), g)

    def __str__(self) -> str:
        return "dot"


class MatMul(_Product):
    """Products of stacks of matrices: both inputs have the same number of dimensions, at least 3, of which those before the
    last two broadcast.

    Raises StaticShapeError where known lengths do not fit.
    """

    __props__ = ()

    def make_node(self, x: Any, y: Any) -> Apply:
        x, y = as_tensor_variable(x), as_tensor_variable(y)
        a, b = x.type.shape, y.type.shape
        if len(a) != len(b) or len(a) < 3:
            raise GraphTypeError(f"MatMul takes two tensors with the same number of dimensions, at least 3, got {x} of type "
                                 f"{x.type} and {y} of type {y.type}; the function matmul aligns them.")
        if None not in (a[-1], b[-2]) and a[-1] != b[-2]:
            raise StaticShapeError("cannot apply matmul", [a, b], "equal inner lengths")
        shape = (*broadcast_static("matmul", [a[:-2], b[:-2]]), a[-2], b[-1])
        return Apply(self, [x, y], [TensorType(same([x.type.dtype, y.type.dtype]), shape).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        x, y = inputs
        for d, (i, j) in enumerate(zip(x.shape[:-2], y.shape[:-2], strict=True)):
            if i != j and not any(v.type.broadcastable[d] for v in node.inputs):
                raise ValueError(f"matmul: the inputs differ in length along dimension {d}: {x.shape} and {y.shape}. "
                                 "A dimension broadcasts only where its type says its length is 1.")
        output_storage[0][0] = np.matmul(x, y)

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        a, b = input_shapes
        wide = node.inputs[0].type.broadcastable
        batch = [j if w else i for i, j, w in zip(a[:-2], b[:-2], wide, strict=False)]
        return [(*batch, a[-2], b[-1])]

    def adjoints(self, x: Any, y: Any, g: Any) -> tuple[Any, Any]:
        return self(g, _swap_last(y)), self(_swap_last(x), g)


def _swap_last(x: Any) -> Any:
    ndim = x.type.ndim
    return dimshuffle(x, [*range(ndim - 2), ndim - 1, ndim - 2])


_dot = Dot()
_matmul = MatMul()


def _is_sparse(x: Any) -> bool:
    return isinstance(x, Variable) and not isinstance(x.type, TensorType) and hasattr(x.type, "format")


def _is_number(x: Any) -> bool:
    return isinstance(x, (bool, int, float, complex))


def dot(x: Any, y: Any) -> Any:
    """The product of `x` and `y` as `numpy.dot` has it: the sum over the last dimension of `x` and the last but one of `y`
    (the last of a vector), the elementwise product where one has no dimensions.

    Raises StaticShapeError where the inner lengths are known and differ.

    >>> import termgraph.tensor as tt
    >>> dot(tt.matrix("x"), tt.matrix("y")).type
    Matrix(float64, shape=(?, ?))
    """
    for side in (x, y):
        if _is_sparse(side):
            return side.functions["dot"](x, y)
    if is_pattern(x) or is_pattern(y):
        return _dot(x, y)
    if _is_number(x) or _is_number(y):
        return mul(x, y)
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    if x.type.ndim == 0 or y.type.ndim == 0:
        return mul(x, y)
    if x.type.ndim <= 2 and y.type.ndim <= 2:
        return _dot(x, y)
    return tensordot(x, y, [[x.type.ndim - 1], [max(y.type.ndim - 2, 0)]])


def matmul(x: Any, y: Any) -> Any:
    """`x @ y` as `numpy.matmul` has it: `dot` for vectors and matrices, products of stacks of matrices for more dimensions.

    Raises GraphTypeError where one has no dimensions, StaticShapeError where known lengths do not fit.
    """
    if is_pattern(x) or is_pattern(y) or _is_sparse(x) or _is_sparse(y):
        return dot(x, y)
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    nx, ny = x.type.ndim, y.type.ndim
    if nx == 0 or ny == 0:
        raise GraphTypeError(f"matmul takes tensors with at least one dimension, got {x} of type {x.type} and {y} of type "
                             f"{y.type}; use * for the product with a scalar.")
    if nx <= 2 and ny <= 2:
        return _dot(x, y)
    if nx == 1:
        return squeeze(matmul(expand_dims(x, 0), y), -2)
    if ny == 1:
        return squeeze(matmul(x, expand_dims(y, 1)), -1)
    ndim = max(nx, ny)
    return _matmul(as_tensor_variable(x, ndim=ndim), as_tensor_variable(y, ndim=ndim))


def _as_matrix(x: Any, rows: Sequence[int], columns: Sequence[int]) -> Any:
    """`x` with the dimensions `rows` merged into one and `columns` into another."""
    shuffled = dimshuffle(x, [*rows, *columns])
    if len(rows) == len(columns) == 1:
        return shuffled
    lengths = shape_tuple(x)
    return reshape(shuffled, (product([lengths[r] for r in rows]), product([lengths[c] for c in columns])))


def tensordot(a: Any, b: Any, axes: int | Sequence[Any] = 2) -> Any:
    """The sum over the products of elements along `axes`: a pair of (sequences of) dimensions, one of `a` and one of `b`, or
    a number n, which stands for the last n of `a` and the first n of `b`.

    Raises GraphTypeError where the axes do not fit, StaticShapeError where their lengths are known and differ.
    """
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    na, nb = a.type.ndim, b.type.ndim
    if isinstance(axes, int):
        axes = (range(na - axes, na), range(axes))
    axes_a, axes_b = ([int(i) for i in ([s] if isinstance(s, (int, np.integer)) else s)] for s in axes)
    if len(axes_a) != len(axes_b) or any(not -na <= i < na for i in axes_a) or any(not -nb <= i < nb for i in axes_b):
        raise GraphTypeError(f"tensordot: the axes {axes_a} and {axes_b} do not fit {a} of type {a.type} and {b} of type "
                             f"{b.type}; give as many for one as for the other, each within the dimensions.")
    axes_a, axes_b = [i % na for i in axes_a], [i % nb for i in axes_b]
    for i, j in zip(axes_a, axes_b, strict=True):
        if None not in (a.type.shape[i], b.type.shape[j]) and a.type.shape[i] != b.type.shape[j]:
            raise StaticShapeError(f"cannot apply tensordot over the axes {axes_a} and {axes_b}",
                                   [a.type.shape, b.type.shape], "equal lengths along them")
    free_a = [i for i in range(na) if i not in axes_a]
    free_b = [i for i in range(nb) if i not in axes_b]
    result = _dot(_as_matrix(a, free_a, axes_a), _as_matrix(b, axes_b, free_b))
    if len(free_a) == len(free_b) == 1:
        return result
    la, lb = shape_tuple(a), shape_tuple(b)
    return reshape(result, [la[i] for i in free_a] + [lb[i] for i in free_b])


def outer(x: Any, y: Any) -> Any:
    """The matrix of the products of each element of `x` with each of `y`; both are flattened."""
    x, y = (v if v.type.ndim == 1 else flatten(v) for v in (as_tensor_variable(x), as_tensor_variable(y)))
    return mul(dimshuffle(x, (0, "x")), dimshuffle(y, ("x", 0)))


def inner(x: Any, y: Any) -> Any:
    """The sum of products over the last dimension of each; the product where one has no dimensions."""
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    if x.type.ndim == 0 or y.type.ndim == 0:
        return mul(x, y)
    return _dot(x, y) if x.type.ndim == y.type.ndim == 1 else tensordot(x, y, [[-1], [-1]])


def norm(x: Any, ord: float | str | None = None, axis: Any = None, keepdims: bool = False) -> Any:  # noqa: A002
    """The vector norm of order `ord` (2 by default; any number, infinities too) of the elements over `axis`, all by default;
    "fro" is another name for 2.

    Raises GraphTypeError for the orders that only matrices have.
    """
    x = as_tensor_variable(x)
    if ord in (None, 2, "fro"):
        return sqrt(sqr(abs_(x)).sum(axis=axis, keepdims=keepdims))
    if isinstance(ord, str) or (axis is None and x.type.ndim != 1) or isinstance(axis, (tuple, list)):
        raise GraphTypeError(f"norm: the order {ord!r} is defined here for vectors; give one axis, or use None or 'fro'.")
    if ord == math.inf:
        return abs_(x).max(axis=axis, keepdims=keepdims)
    if ord == -math.inf:
        return abs_(x).min(axis=axis, keepdims=keepdims)
    if ord == 0:
        return cast(neq(x, 0), x.type.dtype).sum(axis=axis, keepdims=keepdims)
    if ord == 1:
        return abs_(x).sum(axis=axis, keepdims=keepdims)
    return pow_(pow_(abs_(x), ord).sum(axis=axis, keepdims=keepdims), 1.0 / ord)


# --- diagonals --------------------------------------------------------------------------------------------------------


def _minimum(a: Any, b: Any) -> Any:
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else minimum(a, b)


def _diagonal_length(rows: Any, columns: Any, offset: int) -> Any:
    length = _minimum(rows + min(offset, 0), columns - max(offset, 0))
    return max(length, 0) if isinstance(length, int) else maximum(length, 0)


class ExtractDiag(Op):
    """The diagonal `offset` places above the main one, over `axis1` and `axis2`, as the last dimension of the output."""

    __props__ = ("offset", "axis1", "axis2")
    typed_by_inputs = True

    def __init__(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> None:
        self.offset, self.axis1, self.axis2 = offset, axis1, axis2
        if axis1 == axis2 or axis1 < 0 or axis2 < 0:
            raise GraphTypeError(f"a diagonal needs two different dimensions, counted from 0; got {axis1} and {axis2}.")

    def _rest(self, ndim: int) -> list[int]:
        return [d for d in range(ndim) if d not in (self.axis1, self.axis2)]

    def _shape(self, lengths: Sequence[Any]) -> tuple[Any, ...]:
        rows, columns = lengths[self.axis1], lengths[self.axis2]
        length = None if rows is None or columns is None else _diagonal_length(rows, columns, self.offset)
        return (*[lengths[d] for d in self._rest(len(lengths))], length)

    def make_node(self, x: Any) -> Apply:
        x = as_tensor_variable(x)
        if x.type.ndim <= max(self.axis1, self.axis2):
            raise GraphTypeError(f"no diagonal over the dimensions {self.axis1} and {self.axis2} of {x} of type {x.type}.")
        return Apply(self, [x], [TensorType(x.type.dtype, self._shape(x.type.shape)).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        # NumPy's diagonal is a read-only view.
        output_storage[0][0] = inputs[0].diagonal(self.offset, self.axis1, self.axis2).copy()

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [self._shape(input_shapes[0])]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        (x,), (g,) = inputs, cotangents
        if x.type.dtype in DISCRETE:
            return [float_zeros_like(x)]
        ndim = x.type.ndim
        order = [self.axis1, self.axis2, *self._rest(ndim)]
        at = arange(shape_i(g, -1))
        below, right = (at + k if k else at for k in (max(-self.offset, 0), max(self.offset, 0)))
        zeros = float_zeros_like(dimshuffle(x, order))
        filled = inc_subtensor(zeros[below, right], dimshuffle(g, [ndim - 2, *range(ndim - 2)]))
        return [dimshuffle(filled, [order.index(d) for d in range(ndim)])]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None if tangents[0] is None else self(tangents[0])]


class AllocDiag(Op):
    """The square matrix with the input vector on the diagonal `offset` places above the main one, zero elsewhere."""

    __props__ = ("offset",)
    typed_by_inputs = True

    def __init__(self, offset: int = 0) -> None:
        self.offset = offset

    def make_node(self, x: Any) -> Apply:
        x = as_tensor_variable(x)
        if x.type.ndim != 1:
            raise GraphTypeError(f"AllocDiag takes a vector, got {x} of type {x.type}.")
        n = None if x.type.shape[0] is None else x.type.shape[0] + abs(self.offset)
        return Apply(self, [x], [TensorType(x.type.dtype, (n, n)).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        output_storage[0][0] = np.diag(inputs[0], self.offset)

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        n = input_shapes[0][0] + abs(self.offset)
        return [(n, n)]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        (x,), (g,) = inputs, cotangents
        return [float_zeros_like(x) if x.type.dtype in DISCRETE else unbroadcast(diagonal(g, self.offset), x)]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None if tangents[0] is None else self(tangents[0])]


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonal of `a` over two of its dimensions, `offset` places above the main one, as the last dimension."""
    if not is_pattern(a):
        a = as_tensor_variable(a)
        axis1, axis2 = (d + a.type.ndim if d < 0 else d for d in (axis1, axis2))
    return ExtractDiag(offset, axis1, axis2)(a)


def diag(v: Any, k: int = 0) -> Any:
    """The matrix with the vector `v` on its k-th diagonal, or the k-th diagonal of the matrix `v`.

    Raises GraphTypeError for other ranks (and for a pattern, whose rank is not known).
    """
    if is_pattern(v):
        raise GraphTypeError("diag of a pattern is ambiguous: write ExtractDiag()(v) or AllocDiag()(v).")
    v = as_tensor_variable(v)
    if v.type.ndim == 1:
        return AllocDiag(k)(v)
    if v.type.ndim == 2:
        return diagonal(v, k)
    raise GraphTypeError(f"diag takes a vector or a matrix, got {v} of type {v.type}; diagonal takes more dimensions.")


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The sum of `diagonal(a, offset, axis1, axis2)`."""
    return diagonal(a, offset, axis1, axis2).sum(axis=-1)


__all__ = [
    "AllocDiag", "Dot", "ExtractDiag", "MatMul", "diag", "diagonal", "dot", "inner", "matmul", "norm", "outer", "tensordot",
    "trace",
]
