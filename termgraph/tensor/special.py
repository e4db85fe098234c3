"""Softmax, log-softmax, log-sum-exp, and the losses built from them.

All three subtract the maximum first, so that nothing overflows (Blanchard, Higham and Higham 2021, "Accurately computing the
log-sum-exp and softmax functions").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from termgraph.errors import GraphTypeError
from termgraph.graph.apply import Apply
from termgraph.graph.op import Op, is_pattern
from termgraph.tensor.creation import arange
from termgraph.tensor.dimshuffle import dimshuffle
from termgraph.tensor.elementwise import float_zeros_like
from termgraph.tensor.scalar import eq, exp, floating, log, log1p, mul, neg, sub, switch
from termgraph.tensor.shape import shape_i
from termgraph.tensor.type import DISCRETE, TensorType
from termgraph.tensor.variable import as_tensor_variable
from termgraph.terms.term import OpTerm


def _shifted(x: Any, axis: Any) -> tuple[Any, Any]:
    """x - m and m, the maximum over `axis` (0 where that is infinite or NaN: shifting would make NaN of it)."""
    high = x.max(axis=axis, keepdims=True, initial=-np.inf)
    high = np.where(np.isfinite(high), high, x.dtype.type(0))
    return x - high, high


def _softmax(x: Any, axis: Any) -> Any:
    # inf/inf and 0/0 are NaN, as they are where the formula is written out.
    with np.errstate(over="ignore", invalid="ignore"):
        e = np.exp(_shifted(x, axis)[0])
        return e / e.sum(axis=axis, keepdims=True)


def _log_softmax(x: Any, axis: Any) -> Any:
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        shifted, _ = _shifted(x, axis)
        return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


def _logsumexp(x: Any, axis: Any) -> Any:
    with np.errstate(over="ignore", divide="ignore"):
        shifted, high = _shifted(x, axis)
        return np.squeeze(np.log(np.exp(shifted).sum(axis=axis, keepdims=True)) + high, axis=axis)


class _AlongAxis(Op):
    """What Softmax and LogSoftmax share: the shape stays, `axis` is one dimension or None for all elements."""

    typed_by_inputs = True

    def __init__(self, axis: int | None = None) -> None:
        self.axis = axis
        if axis is not None and (not isinstance(axis, (int, np.integer)) or axis < 0):
            raise GraphTypeError(f"{type(self).__name__} takes axis=None or a dimension counted from 0, got {axis!r}.")

    def make_node(self, x: Any) -> Apply:
        x = as_tensor_variable(x)
        if self.axis is not None and self.axis >= x.type.ndim:
            raise GraphTypeError(f"there is no dimension {self.axis} in {x} of type {x.type}.")
        return Apply(self, [x], [x.type.clone(dtype=floating([x.type.dtype])).make_variable()])

    def compute(self, x: Any) -> Any:
        """The value."""
        raise NotImplementedError

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        x = inputs[0].astype(node.outputs[0].type.dtype, copy=False)
        output_storage[0][0] = np.asarray(self.compute(x)) if x.size else x.copy()

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [tuple(input_shapes[0])]

    def total(self, x: Any) -> Any:
        """The sum along the axis, kept as a dimension."""
        return x.sum(axis=self.axis, keepdims=True)


class Softmax(_AlongAxis):
    """exp(x) / sum(exp(x)) along one dimension, or over all elements with `axis=None`; integers become floats."""

    __props__ = ("axis",)

    def compute(self, x: Any) -> Any:
        return _softmax(x, self.axis)

    # With s the softmax, ds = s (dx - sum(s dx)): the Jacobian is symmetric.
    def _derivative(self, s: Any, direction: Any) -> Any:
        weighted = mul(direction, s)
        return sub(weighted, mul(s, self.total(weighted)))

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        x = inputs[0]
        return [float_zeros_like(x) if x.type.dtype in DISCRETE else self._derivative(outputs[0], cotangents[0])]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None if tangents[0] is None else self._derivative(outputs[0], tangents[0])]


class LogSoftmax(_AlongAxis):
    """x - log(sum(exp(x))) along one dimension, or over all elements with `axis=None`; integers become floats."""

    __props__ = ("axis",)

    def compute(self, x: Any) -> Any:
        return _log_softmax(x, self.axis)

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        (x,), (g,) = inputs, cotangents
        return [float_zeros_like(x) if x.type.dtype in DISCRETE else sub(g, mul(exp(outputs[0]), self.total(g)))]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        t = tangents[0]
        return [None if t is None else sub(t, self.total(mul(exp(outputs[0]), t)))]


class LogSumExp(Op):
    """log(sum(exp(x))) over the dimensions `axis`, a sorted tuple, or None for all; -inf where there is nothing to sum.

    Integers become floats.
    """

    __props__ = ("axis",)
    typed_by_inputs = True

    def __init__(self, axis: Sequence[int] | None = None) -> None:
        self.axis = None if axis is None else tuple(sorted({int(a) for a in axis}))
        if self.axis and self.axis[0] < 0:
            raise GraphTypeError(f"LogSumExp takes axis=None or a tuple of dimensions counted from 0, got {axis!r}.")

    def _kept(self, ndim: int) -> list[int]:
        return [] if self.axis is None else [d for d in range(ndim) if d not in self.axis]

    def make_node(self, x: Any) -> Apply:
        x = as_tensor_variable(x)
        if self.axis and self.axis[-1] >= x.type.ndim:
            raise GraphTypeError(f"there is no dimension {self.axis[-1]} in {x} of type {x.type}.")
        shape = [x.type.shape[d] for d in self._kept(x.type.ndim)]
        return Apply(self, [x], [TensorType(floating([x.type.dtype]), shape).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        x = inputs[0].astype(node.outputs[0].type.dtype, copy=False)
        output_storage[0][0] = np.asarray(_logsumexp(x, self.axis))

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [tuple(input_shapes[0][d] for d in self._kept(len(input_shapes[0])))]

    def expand(self, reduced: Any, x: Any) -> Any:
        """`reduced` with dimensions of length 1 where `x` was reduced."""
        kept = self._kept(x.type.ndim)
        return dimshuffle(reduced, [kept.index(d) if d in kept else "x" for d in range(x.type.ndim)])

    def _weights(self, x: Any, out: Any) -> Any:
        return exp(sub(x, self.expand(out, x)))

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        x = inputs[0]
        if x.type.dtype in DISCRETE:
            return [float_zeros_like(x)]
        return [mul(self.expand(cotangents[0], x), self._weights(x, outputs[0]))]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        (x,), (t,) = inputs, tangents
        return [None if t is None else mul(t, self._weights(x, outputs[0])).sum(axis=self.axis)]


# --- the functions ----------------------------------------------------------------------------------------------------


def _along(op_class: type[_AlongAxis], x: Any, axis: Any) -> Any:
    if is_pattern(x):
        return (OpTerm(op_class) if axis is None else OpTerm(op_class, axis=axis))(x)
    x = as_tensor_variable(x)
    if axis is not None and not -x.type.ndim <= axis < x.type.ndim:
        raise GraphTypeError(f"there is no dimension {axis} in {x} of type {x.type}.")
    return op_class(None if axis is None else axis % x.type.ndim)(x)


def softmax(x: Any, axis: Any = None) -> Any:
    """exp(x) / sum(exp(x)) along `axis`, over all elements by default.

    >>> import termgraph.tensor as tt
    >>> softmax(tt.matrix("x"), axis=-1).type
    Matrix(float64, shape=(?, ?))
    """
    return _along(Softmax, x, axis)


def log_softmax(x: Any, axis: Any = None) -> Any:
    """log(softmax(x, axis)), without the underflow."""
    return _along(LogSoftmax, x, axis)


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """log(sum(exp(x))) over `axis`: a dimension, several, or None for all; -inf where there is nothing to sum."""
    if is_pattern(x):
        if keepdims:
            raise GraphTypeError(f"keepdims needs the rank, which the pattern {x} has not; add the dimension outside.")
        axis = (axis,) if isinstance(axis, int) else axis
        return (OpTerm(LogSumExp) if axis is None else OpTerm(LogSumExp, axis=axis))(x)
    x = as_tensor_variable(x)
    ndim = x.type.ndim
    if axis is not None:
        given = (axis,) if isinstance(axis, (int, np.integer)) else tuple(axis)
        if any(not -ndim <= a < ndim for a in given):
            raise GraphTypeError(f"there is no dimension {axis} in {x} of type {x.type}.")
        axis = tuple(sorted({int(a) % ndim for a in given}))
    op = LogSumExp(axis)
    result = op(x)
    return op.expand(result, x) if keepdims else result


def logit(x: Any) -> Any:
    """log(x / (1 - x)), the inverse of sigmoid."""
    return sub(log(x), log1p(neg(x)))


def xlogx(x: Any) -> Any:
    """x log(x), 0 at 0."""
    return xlogy0(x, x)


def xlogy0(x: Any, y: Any) -> Any:
    """x log(y), 0 where x is 0."""
    zero = eq(x, 0)
    return switch(zero, 0.0, mul(x, log(switch(zero, 1, y))))


def crossentropy_categorical_1hot(coding_dist: Any, true_one_of_n: Any) -> Any:
    """For each row, minus the log of the probability that `coding_dist` (a matrix) gives to the class `true_one_of_n`."""
    coding_dist, classes = as_tensor_variable(coding_dist), as_tensor_variable(true_one_of_n)
    if coding_dist.type.ndim != 2 or classes.type.ndim != 1 or classes.type.dtype not in DISCRETE:
        raise GraphTypeError("crossentropy_categorical_1hot takes a matrix of probabilities and a vector of integer classes, "
                             f"got {coding_dist.type} and {classes.type}.")
    rows = arange(shape_i(classes, 0))
    return neg(log(coding_dist)[rows, classes])


def categorical_crossentropy(coding_dist: Any, true_dist: Any) -> Any:
    """-sum(true_dist * log(coding_dist)) over the last dimension; `true_dist` may also be a vector of integer classes."""
    coding_dist, true_dist = as_tensor_variable(coding_dist), as_tensor_variable(true_dist)
    if true_dist.type.ndim == coding_dist.type.ndim:
        return neg(mul(true_dist, log(coding_dist)).sum(axis=-1))
    return crossentropy_categorical_1hot(coding_dist, true_dist)


def binary_crossentropy(output: Any, target: Any) -> Any:
    """-(target log(output) + (1 - target) log(1 - output)), elementwise."""
    return neg(mul(target, log(output)) + mul(sub(1.0, target), log1p(neg(output))))


__all__ = [
    "LogSoftmax", "LogSumExp", "Softmax", "binary_crossentropy", "categorical_crossentropy", "crossentropy_categorical_1hot",
    "log_softmax", "logit", "logsumexp", "softmax", "xlogx", "xlogy0",
]
