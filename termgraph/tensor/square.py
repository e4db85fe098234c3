"""Square matrices: inverse, determinant, Cholesky factor, and the solution of linear systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.linalg

from termgraph.errors import GraphTypeError, StaticShapeError
from termgraph.graph.apply import Apply
from termgraph.graph.op import Op
from termgraph.tensor.creation import tril, triu
from termgraph.tensor.dimshuffle import transpose
from termgraph.tensor.elementwise import unbroadcast
from termgraph.tensor.linear import diag, diagonal, dot, outer, sum_of, trace
from termgraph.tensor.scalar import mul, neg, same
from termgraph.tensor.type import DISCRETE, TensorType
from termgraph.tensor.variable import as_tensor_variable


def _lapack_dtype(*variables: Any) -> str:
    """The dtype LAPACK computes in: float32, float64 or complex, at least as precise as the inputs."""
    dtype = same([v.type.dtype for v in variables])
    return "float64" if dtype in DISCRETE else "float32" if dtype == "float16" else dtype


def _as_square(op: Op, a: Any) -> Any:
    a = as_tensor_variable(a)
    if a.type.ndim != 2:
        raise GraphTypeError(f"{op} takes a square matrix, got {a} of type {a.type}.")
    if None not in a.type.shape and a.type.shape[0] != a.type.shape[1]:
        raise StaticShapeError(f"cannot apply {op}", [a.type.shape], "a square matrix")
    return a


def _side(a: Any) -> int | None:
    return a.type.shape[0] if a.type.shape[0] is not None else a.type.shape[1]  # type: ignore[no-any-return]


class MatrixInverse(Op):
    """The inverse of a square matrix. Raises numpy.linalg.LinAlgError at run time where there is none."""

    __props__ = ()
    typed_by_inputs = True

    def make_node(self, a: Any) -> Apply:
        a = _as_square(self, a)
        return Apply(self, [a], [TensorType(_lapack_dtype(a), (_side(a), _side(a))).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        output_storage[0][0] = np.linalg.inv(inputs[0].astype(node.outputs[0].type.dtype, copy=False))

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [tuple(input_shapes[0])]

    # With B = inv(A): dB = -B dA B.
    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        bt = transpose(outputs[0])
        return [unbroadcast(neg(dot(dot(bt, cotangents[0]), bt)), inputs[0])]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        b, t = outputs[0], tangents[0]
        return [None if t is None else neg(dot(dot(b, t), b))]


class Det(Op):
    """The determinant of a square matrix.

    The derivatives are those where the matrix is invertible.
    """

    __props__ = ()
    typed_by_inputs = True

    def make_node(self, a: Any) -> Apply:
        a = _as_square(self, a)
        return Apply(self, [a], [TensorType(_lapack_dtype(a), ()).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        dtype = node.outputs[0].type.dtype
        output_storage[0][0] = np.asarray(np.linalg.det(inputs[0].astype(dtype, copy=False)), dtype=dtype)

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [()]

    # Jacobi's formula: d det(A) = det(A) trace(inv(A) dA).
    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        return [unbroadcast(mul(mul(cotangents[0], outputs[0]), transpose(inv(inputs[0]))), inputs[0])]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        t = tangents[0]
        return [None if t is None else mul(outputs[0], trace(solve(inputs[0], t)))]


def _triangle(x: Any, lower: bool) -> Any:
    return tril(x) if lower else triu(x)


def _half_triangle(x: Any) -> Any:
    """The lower triangle of `x` with half its diagonal."""
    return _triangle(x, lower=True) - 0.5 * diag(diagonal(x))


class Cholesky(Op):
    """The lower triangular L with L L^T = A (with `lower=False` the upper triangular L^T). Of A only that triangle is read.

    Raises numpy.linalg.LinAlgError at run time where A is not positive definite. Real matrices only.
    """

    __props__ = ("lower",)
    typed_by_inputs = True

    def __init__(self, lower: bool = True) -> None:
        self.lower = lower

    def make_node(self, a: Any) -> Apply:
        a = _as_square(self, a)
        if a.type.dtype.startswith("complex"):
            raise GraphTypeError(f"Cholesky takes a real matrix, got {a} of type {a.type}.")
        return Apply(self, [a], [TensorType(_lapack_dtype(a), (_side(a), _side(a))).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        a = inputs[0].astype(node.outputs[0].type.dtype, copy=False)
        output_storage[0][0] = np.linalg.cholesky(a) if self.lower else np.ascontiguousarray(np.linalg.cholesky(a.T).T)

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [tuple(input_shapes[0])]

    # Murray (2016), "Differentiation of the Cholesky decomposition", arXiv:1602.07527, with half(.) the lower triangle with
    # half the diagonal: dL = L half(inv(L) dA inv(L)^T), and its adjoint. Only one triangle of A is read, so the other gets
    # no cotangent and its tangent does not matter.
    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        g, factor = cotangents[0], outputs[0]
        if not self.lower:
            g, factor = transpose(g), transpose(factor)
        middle = _half_triangle(dot(transpose(factor), g))
        s = _solve_upper(transpose(factor), transpose(_solve_upper(transpose(factor), transpose(middle))))
        result = _triangle(s + transpose(s), lower=True) - diag(diagonal(s))
        return [unbroadcast(result if self.lower else transpose(result), inputs[0])]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        t, factor = tangents[0], outputs[0]
        if t is None:
            return [None]
        if not self.lower:
            t, factor = transpose(t), transpose(factor)
        half = _half_triangle(t)
        middle = _solve_lower(factor, transpose(_solve_lower(factor, half + transpose(half))))
        result = dot(factor, _half_triangle(middle))
        return [result if self.lower else transpose(result)]


_TRANSPOSED = {"gen": "gen", "lower triangular": "upper triangular", "upper triangular": "lower triangular"}


class Solve(Op):
    """The x with A x = b, for a square matrix A and a vector or matrix b.

    `assume_a` is "gen", or "lower triangular" or "upper triangular": then the rest of A is not read. Raises
    numpy.linalg.LinAlgError at run time where A is singular.
    """

    __props__ = ("assume_a",)
    typed_by_inputs = True

    def __init__(self, assume_a: str = "gen") -> None:
        if assume_a not in _TRANSPOSED:
            raise GraphTypeError(f"solve: assume_a is one of {', '.join(map(repr, _TRANSPOSED))}, got {assume_a!r}.")
        self.assume_a = assume_a

    def make_node(self, a: Any, b: Any) -> Apply:
        a, b = _as_square(self, a), as_tensor_variable(b)
        if b.type.ndim not in (1, 2):
            raise GraphTypeError(f"{self} takes a vector or a matrix as b, got {b} of type {b.type}.")
        if None not in (_side(a), b.type.shape[0]) and _side(a) != b.type.shape[0]:
            raise StaticShapeError(f"cannot apply {self}", [a.type.shape, b.type.shape], "as many rows in b as in A")
        shape = (_side(a) if b.type.shape[0] is None else b.type.shape[0], *b.type.shape[1:])
        return Apply(self, [a, b], [TensorType(_lapack_dtype(a, b), shape).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        a, b = (i.astype(node.outputs[0].type.dtype, copy=False) for i in inputs)
        if self.assume_a == "gen" or b.size == 0:
            output_storage[0][0] = np.linalg.solve(a, b)
        else:
            output_storage[0][0] = scipy.linalg.solve_triangular(a, b, lower=self.assume_a == "lower triangular")

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [tuple(input_shapes[1])]

    # dx = inv(A) (db - dA x)
    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        (a, b), (x,) = inputs, outputs
        gb = Solve(_TRANSPOSED[self.assume_a])(transpose(a), cotangents[0])
        ga = neg(outer(gb, x) if b.type.ndim == 1 else dot(gb, transpose(x)))
        return [unbroadcast(self._part(ga), a), unbroadcast(gb, b)]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        ta, tb = tangents
        right = sum_of([tb, None if ta is None else neg(dot(self._part(ta), outputs[0]))])
        return [None if right is None else self(inputs[0], right)]

    def _part(self, a: Any) -> Any:
        """What is read of `a`."""
        return a if self.assume_a == "gen" else _triangle(a, lower=self.assume_a == "lower triangular")


_inverse, _det = MatrixInverse(), Det()
_solve_lower, _solve_upper = Solve("lower triangular"), Solve("upper triangular")


def inv(a: Any) -> Any:
    """The inverse of a square matrix; LinAlgError at run time where there is none."""
    return _inverse(a)


matrix_inverse = inv


def det(a: Any) -> Any:
    """The determinant of a square matrix."""
    return _det(a)


def cholesky(a: Any, lower: bool = True) -> Any:
    """The lower triangular L with L L^T = `a`, or with `lower=False` its transpose; only that triangle of `a` is read.

    Raises numpy.linalg.LinAlgError at run time where `a` is not positive definite.
    """
    return Cholesky(lower)(a)


def solve(a: Any, b: Any, assume_a: str = "gen") -> Any:
    """The x with a x = b; `assume_a` may be "lower triangular" or "upper triangular".

    Raises numpy.linalg.LinAlgError at run time where `a` is singular.
    """
    return Solve(assume_a)(a, b)


def solve_triangular(a: Any, b: Any, lower: bool = False) -> Any:
    """The x with a x = b for a triangular `a`, of which the other triangle is not read."""
    return (_solve_lower if lower else _solve_upper)(a, b)


__all__ = [
    "Cholesky", "Det", "MatrixInverse", "Solve", "cholesky", "det", "inv", "matrix_inverse", "solve", "solve_triangular",
]
