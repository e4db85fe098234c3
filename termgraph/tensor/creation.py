"""Tensors made from little: filled with one value, the identity, ranges, triangles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from termgraph.config import config
from termgraph.errors import GraphTypeError, StaticShapeError
from termgraph.graph.apply import Apply
from termgraph.graph.null import DisconnectedType
from termgraph.graph.op import Op, is_pattern
from termgraph.graph.variable import Constant
from termgraph.tensor.dimshuffle import dimshuffle
from termgraph.tensor.elementwise import as_same_kind, cast, float_zeros_like, unbroadcast
from termgraph.tensor.scalar import add, ceil, ge, maximum, mul, second, switch
from termgraph.tensor.shape import as_length, as_lengths, known_length, shape_i
from termgraph.tensor.type import DISCRETE, TensorType
from termgraph.tensor.variable import TensorVariable, as_tensor_variable, constant

__all__ = ["ARange", "Alloc", "Eye", "alloc", "arange", "empty", "empty_like", "eye", "full", "full_like", "identity_like",
           "ones", "ones_like", "tri", "tril", "triu", "zeros", "zeros_like"]


class Alloc(Op):
    """A new tensor of the shape given by the inputs after the first, filled with the first, which is broadcast to it.

    Raises StaticShapeError where a length of the value is known not to fit, ValueError where it does not at run time:
    like everywhere, only dimensions of static length 1 broadcast.
    """

    __props__ = ()
    fills_with = 0

    def make_node(self, value: Any, *lengths: Any) -> Apply:
        value = as_tensor_variable(value)
        lengths = tuple(as_length(n) for n in lengths)
        missing = len(lengths) - value.type.ndim
        if missing < 0:
            raise GraphTypeError(f"cannot fill {len(lengths)} dimensions with {value} of type {value.type}.")
        static: list[int | None] = [known_length(n) for n in lengths]
        for d, own in enumerate(value.type.shape, start=missing):
            if own is None or own == 1:
                continue
            if static[d] not in (None, own):
                raise StaticShapeError(f"cannot fill with {value}", [value.type.shape, tuple(static)], "lengths that fit")
            static[d] = own
        return Apply(self, [value, *lengths], [TensorType(value.type.dtype, static).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        value, *lengths = inputs
        result = np.empty([int(n) for n in lengths], dtype=value.dtype)
        for own, length, broadcasts in zip(value.shape[::-1], result.shape[::-1], node.inputs[0].type.broadcastable[::-1],
                                           strict=False):
            if own != length and not broadcasts:
                raise ValueError(f"cannot fill the shape {result.shape} with {node.inputs[0]} of shape {value.shape}: a "
                                 "dimension broadcasts only where its type says its length is 1.")
        result[...] = value
        output_storage[0][0] = result

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [tuple(node.inputs[1:])]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True]] + [[False]] * (len(node.inputs) - 1)

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        value, g = inputs[0], cotangents[0]
        rest = [DisconnectedType()() for _ in inputs[1:]]
        if value.type.dtype in DISCRETE:
            return [float_zeros_like(value), *rest]
        missing = outputs[0].type.ndim - value.type.ndim
        if missing:
            g = TensorVariable.functions["sum"](g, axis=tuple(range(missing)))
        return [unbroadcast(g, value), *rest]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None if tangents[0] is None else self(tangents[0], *inputs[1:])]


def alloc(value: Any, *shape: Any) -> Any:
    """A new tensor of shape `shape` filled with `value`, which may have fewer dimensions; a scalar without `shape` is itself.

    >>> import termgraph.tensor as tt
    >>> tt.alloc(1.0, tt.lscalar("n"), 3).type
    Matrix(float64, shape=(?, 3))
    """
    if is_pattern(value) or any(is_pattern(n) for n in shape):
        return Alloc()(value, *shape)
    lengths = as_lengths(shape[0] if len(shape) == 1 else shape)
    value = as_tensor_variable(value)
    return value if not lengths and value.type.ndim == 0 else Alloc()(value, *lengths)


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """A tensor of shape `shape` (an int, a sequence, or a vector of static length) filled with `fill_value`.

    Its dtype is `dtype`, by default that of `fill_value`.
    """
    value = _filling(fill_value, dtype)
    return alloc(value, *as_lengths(shape))


def _filling(value: Any, dtype: Any) -> Any:
    """A value to fill with, as a variable of `dtype` (its own where that is None)."""
    if dtype == "floatX":
        dtype = config.floatX
    if isinstance(value, (bool, int, float)):
        return constant(value, dtype=dtype)
    return as_tensor_variable(value) if dtype is None else cast(value, dtype)


def zeros(shape: Any, dtype: Any = None) -> Any:
    """A tensor of zeros, of dtype config.floatX by default. `shape` as in `full`.

    >>> import termgraph.tensor as tt
    >>> tt.zeros((2, 3)).type
    Matrix(float64, shape=(2, 3))
    """
    return full(shape, 0, dtype or config.floatX)


def ones(shape: Any, dtype: Any = None) -> Any:
    """A tensor of ones, of dtype config.floatX by default. `shape` as in `full`."""
    return full(shape, 1, dtype or config.floatX)


def empty(shape: Any, dtype: Any = None) -> Any:
    """A tensor whose elements do not matter. They are zeros, so that results never depend on chance."""
    return zeros(shape, dtype)


def full_like(a: Any, fill_value: Any, dtype: Any = None) -> Any:
    """`fill_value` spread to the shape of `a`, in `dtype` (by default that of `a`): `second(a, fill_value)`.

    A scalar `fill_value` for a scalar `a` is itself.
    """
    if is_pattern(a):
        value = fill_value if dtype is None else _filling(fill_value, dtype)
        return second(a, value)
    a = as_tensor_variable(a)
    value = _filling(fill_value, dtype or a.type.dtype)
    return value if a.type.ndim == 0 and value.type.ndim == 0 else second(a, value)


def zeros_like(model: Any, dtype: Any = None) -> Any:
    """Zeros in the shape of `model`, and in its dtype by default.

    >>> import termgraph.tensor as tt
    >>> zeros_like(tt.vector("x")).owner.op, zeros_like(tt.scalar("x"))
    (Second, 0.0)
    """
    return full_like(model, 0, dtype)


def ones_like(model: Any, dtype: Any = None) -> Any:
    """Ones in the shape of `model`, and in its dtype by default."""
    return full_like(model, 1, dtype)


def empty_like(model: Any, dtype: Any = None) -> Any:
    """A tensor in the shape of `model` whose elements do not matter (they are zeros)."""
    return full_like(model, 0, dtype)


# --- the identity and ranges ------------------------------------------------------------------------------------------


class Eye(Op):
    """The matrix with n rows and m columns (the inputs, with k) that has ones on its k-th diagonal and zeros elsewhere."""

    __props__ = ("dtype",)

    def __init__(self, dtype: Any = None) -> None:
        self.dtype = str(np.dtype(dtype or config.floatX))

    def make_node(self, n: Any, m: Any, k: Any) -> Apply:
        n, m, k = as_length(n), as_length(m), as_length(k)
        return Apply(self, [n, m, k], [TensorType(self.dtype, (known_length(n), known_length(m))).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        n, m, k = (int(i) for i in inputs)
        output_storage[0][0] = np.eye(n, m, k, dtype=self.dtype)

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [tuple(node.inputs[:2])]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False]] * 3

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        return [DisconnectedType()() for _ in inputs]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None]


def eye(n: Any, m: Any = None, k: Any = 0, dtype: Any = None) -> Any:
    """The n x m matrix (n x n by default) with ones on its k-th diagonal, of dtype config.floatX by default."""
    return Eye(dtype)(n, n if m is None else m, k)


def identity_like(x: Any, dtype: Any = None) -> Any:
    """The matrix with ones on its diagonal in the shape of the matrix `x`, and in its dtype by default."""
    x = as_tensor_variable(x)
    if x.type.ndim != 2:
        raise GraphTypeError(f"expected a matrix, got {x} of type {x.type}.")
    return eye(shape_i(x, 0), shape_i(x, 1), dtype=dtype or x.type.dtype)


class ARange(Op):
    """The vector start, start + step, ... of the numbers before stop; the inputs are start, stop and step."""

    __props__ = ("dtype",)

    def __init__(self, dtype: Any) -> None:
        self.dtype = str(np.dtype(dtype))

    def make_node(self, start: Any, stop: Any, step: Any) -> Apply:
        inputs = [as_tensor_variable(i) for i in (start, stop, step)]
        for name, i in zip(("start", "stop", "step"), inputs, strict=True):
            if i.type.ndim != 0:
                raise GraphTypeError(f"the {name} of a range must be a scalar, got {i} of type {i.type}.")
        static = len(self._range([i.data for i in inputs])) if all(isinstance(i, Constant) for i in inputs) else None
        return Apply(self, inputs, [TensorType(self.dtype, (static,)).make_variable()])

    def _range(self, values: Sequence[Any]) -> Any:
        return np.arange(*[v.item() for v in values], dtype=self.dtype)

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        output_storage[0][0] = self._range(inputs)

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        static = node.outputs[0].type.shape[0]
        if static is not None:
            return [(static,)]
        if all(i.type.dtype in DISCRETE for i in node.inputs):
            start, stop, step = (cast(i, "int64") for i in node.inputs)
            return [(maximum(-((start - stop) // step), 0),)]
        start, stop, step = (cast(i, "float64") for i in node.inputs)
        return [(maximum(cast(ceil((stop - start) / step), "int64"), 0),)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True], [False], [True]]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        start, _, step = inputs
        (g,), (out,) = cotangents, outputs
        if out.type.dtype in DISCRETE:
            return [float_zeros_like(start), DisconnectedType()(), float_zeros_like(step)]
        total = TensorVariable.functions["sum"]
        return [_as_cotangent(total(g), start), DisconnectedType()(),
                _as_cotangent(total(mul(g, _positions(out))), step)]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        start, _, step = tangents
        (out,) = outputs
        if out.type.dtype in DISCRETE or (start is None and step is None):
            return [None]
        parts = []
        if start is not None:
            parts.append(second(out, cast(start, self.dtype)))
        if step is not None:
            parts.append(mul(cast(step, self.dtype), _positions(out)))
        return [parts[0] if len(parts) == 1 else add(*parts)]


def _positions(vector: Any) -> Any:
    """0, 1, ... as long as `vector` and in its dtype."""
    return arange(shape_i(vector, 0), dtype=vector.type.dtype)


def _as_cotangent(g: Any, x: Any) -> Any:
    return g if x.type.dtype in DISCRETE else cast(g, x.type.dtype)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    """The numbers from `start` (0 when only one number is given) to before `stop` in steps of `step`, as a vector.

    The dtype is by default that of the arguments, at least int64. The static length is known where all are constants.

    >>> import termgraph.tensor as tt
    >>> tt.arange(2, 10, 3).type
    Vector(int64, shape=(3,))
    """
    if stop is None:
        start, stop = 0, start
    if any(is_pattern(i) for i in (start, stop, step)):
        return ARange(dtype or "int64")(start, stop, step)
    inputs = as_same_kind([start, stop, step])
    if dtype is None:
        promoted = np.result_type(*[i.type.numpy_dtype for i in inputs])
        dtype = "int64" if promoted.kind in "biu" else promoted
    return ARange(config.floatX if dtype == "floatX" else dtype)(*inputs)


# --- triangles --------------------------------------------------------------------------------------------------------


def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = None) -> Any:
    """The N x M matrix (N x N by default) with ones at and below its k-th diagonal, of dtype config.floatX by default."""
    rows = dimshuffle(add(arange(N), k), (0, "x"))
    columns = dimshuffle(arange(N if M is None else M), ("x", 0))
    return cast(ge(rows, columns), dtype or config.floatX)


def _lower(x: Any, k: Any) -> Any:
    if x.type.ndim < 2:
        raise GraphTypeError(f"expected a matrix or a stack of matrices, got {x} of type {x.type}.")
    return tri(shape_i(x, -2), shape_i(x, -1), k, dtype="bool")


def tril(m: Any, k: Any = 0) -> Any:
    """The matrix `m`, or each of a stack (..., n, m) of them, with zeros above its k-th diagonal."""
    m = as_tensor_variable(m)
    return switch(_lower(m, k), m, 0)


def triu(m: Any, k: Any = 0) -> Any:
    """The matrix `m`, or each of a stack (..., n, m) of them, with zeros below its k-th diagonal."""
    m = as_tensor_variable(m)
    return switch(_lower(m, k - 1), 0, m)
