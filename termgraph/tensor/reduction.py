"""Reductions: sums, products, extremes and what follows from them, and running sums and products.

A reduction drops the dimensions it runs over; `keepdims` puts them back with length 1, by a DimShuffle on the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod as int_prod
from typing import Any as Anything  # Any is the op
from typing import ClassVar

import numpy as np

from termgraph.config import config
from termgraph.errors import GraphTypeError
from termgraph.graph.apply import Apply
from termgraph.graph.op import Op, Thunk, is_pattern
from termgraph.tensor.dimshuffle import dimshuffle
from termgraph.tensor.elementwise import cast, float_zeros_like
from termgraph.tensor.scalar import abs as absolute
from termgraph.tensor.scalar import eq, mul, neq, second, sqr, sqrt, sub, switch, true_div
from termgraph.tensor.shape import known_length, product, shape_i
from termgraph.tensor.type import COMPLEX, DISCRETE, TensorType
from termgraph.tensor.variable import as_tensor_variable
from termgraph.terms.term import OpTerm

__all__ = ["All", "Any", "Argmax", "Argmin", "CAReduce", "Max", "Min", "Prod", "Sum", "all", "any", "argmax",
           "argmin", "max", "max_and_argmax", "mean", "min", "prod", "std", "sum", "var"]

Axes = tuple[int, ...]


# --- axes -------------------------------------------------------------------------------------------------------------


def op_axis(axis: Anything) -> Axes | None:
    """An Op's axis: None for all, or a sorted tuple of ints >= 0. Raises GraphTypeError for any other number."""
    if axis is None:
        return None
    axes = tuple(sorted(int(a) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))))
    if len(set(axes)) != len(axes) or (axes and axes[0] < 0):
        raise GraphTypeError(f"the axes of an op must be different and not negative, got {axis}; "
                             "the functions (sum, max, ...) accept negative ones.")
    return axes


def normal_axes(axis: Anything, ndim: int) -> Axes:
    """`axis` (None, an int or several, negative ones too) as a sorted tuple. Raises GraphTypeError where there is none such."""
    if axis is None:
        return tuple(range(ndim))
    given = [int(a) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    for a in given:
        if not -ndim <= a < ndim:
            raise GraphTypeError(f"axis {a} is out of range for {ndim} dimensions; it must be from {-ndim} to {ndim - 1}.")
    axes = tuple(sorted({a % ndim for a in given}))
    if len(axes) != len(given):
        raise GraphTypeError(f"axis {axis} names a dimension twice; there are {ndim} dimensions.")
    return axes


def expand(reduced: Anything, ndim: int, axis: Axes | None) -> Anything:
    """`reduced` with the dimensions `axis` (None: all) put back, with length 1, so that there are `ndim`."""
    rest = iter(range(reduced.type.ndim))
    return dimshuffle(reduced, ["x" if axis is None or d in axis else next(rest) for d in range(ndim)])


def check_axis(op: Op, axis: Axes | None, x: Anything) -> None:
    """Raise GraphTypeError where `x` has no dimension that is the largest of `axis`."""
    if axis and axis[-1] >= x.type.ndim:
        raise GraphTypeError(f"axis {axis[-1]} of {op} is out of range for {x}, which has {x.type.ndim} dimensions.")


# --- the ops ----------------------------------------------------------------------------------------------------------


def widened(dtype: str) -> str:
    """The dtype of a sum: int64 of bools and integers, uint64 of unsigned ones, else the same (as in NumPy)."""
    if dtype not in DISCRETE:
        return dtype
    return "uint64" if dtype.startswith("u") else "int64"


class CAReduce(Op):
    """A commutative and associative function of two arguments run over some dimensions: `axis` is None for all, or ints.

    Raises GraphTypeError for an axis that the input does not have.
    """

    __props__: ClassVar[tuple[str, ...]] = ("axis",)
    typed_by_inputs = True
    ufunc: ClassVar[np.ufunc]

    def __init__(self, axis: Anything = None) -> None:
        self.axis = op_axis(axis)

    def out_dtype(self, dtype: str) -> str:
        """The dtype of the result, given that of the input."""
        return dtype

    def make_node(self, x: Anything) -> Apply:
        x = as_tensor_variable(x)
        check_axis(self, self.axis, x)
        static = [] if self.axis is None else [s for d, s in enumerate(x.type.shape) if d not in self.axis]
        return Apply(self, [x], [TensorType(self.out_dtype(x.type.dtype), static).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Anything], output_storage: list[list[Anything]]) -> None:
        dtype = node.outputs[0].type.numpy_dtype
        output_storage[0][0] = np.asarray(self.ufunc.reduce(inputs[0], axis=self.axis, dtype=dtype))

    def make_thunk(self, node: Apply, storage_map: Anything, compute_map: Anything, no_recycling: Anything,
                   impl: str | None = None) -> Thunk:
        source, target = storage_map[node.inputs[0]], storage_map[node.outputs[0]]
        computed, dtype = compute_map[node.outputs[0]], node.outputs[0].type.numpy_dtype
        reduce, axis, asarray = self.ufunc.reduce, self.axis, np.asarray

        def thunk() -> None:
            target[0] = asarray(reduce(source[0], axis, dtype))
            computed[0] = True
        return thunk

    def infer_shape(self, fgraph: Anything, node: Apply, input_shapes: Sequence[Anything]) -> list[Anything]:
        return [() if self.axis is None else tuple(n for d, n in enumerate(input_shapes[0]) if d not in self.axis)]

    def weights(self, x: Anything, out: Anything) -> Anything:
        """The derivative of the result with respect to each element of `x`, in the dtype of the result; None for ones."""
        raise NotImplementedError(f"{type(self).__name__} does not define weights()")

    def pullback(self, inputs: Sequence[Anything], outputs: Sequence[Anything],
                 cotangents: Sequence[Anything]) -> list[Anything]:
        (x,), (out,) = inputs, outputs
        if out.type.dtype in DISCRETE:
            return [float_zeros_like(x)]
        g = expand(cotangents[0], x.type.ndim, self.axis)
        weights = self.weights(x, out)
        g = second(x, g) if weights is None else mul(g, weights)
        return [g if x.type.dtype in DISCRETE else cast(g, x.type.dtype)]

    def pushforward(self, inputs: Sequence[Anything], outputs: Sequence[Anything],
                    tangents: Sequence[Anything]) -> list[Anything]:
        (x,), (out,), (t,) = inputs, outputs, tangents
        if t is None or out.type.dtype in DISCRETE:
            return [None]
        weights = self.weights(x, out)
        return [Sum(axis=self.axis, dtype=out.type.dtype)(t if weights is None else mul(t, weights))]


class Sum(CAReduce):
    """The sum over `axis`, computed in `dtype`: by default that of the input, int64 or uint64 for integers."""

    linear = True
    __props__ = ("axis", "dtype")
    ufunc = np.add

    def __init__(self, axis: Anything = None, dtype: Anything = None) -> None:
        super().__init__(axis)
        self.dtype = None if dtype is None else str(np.dtype(dtype))

    def out_dtype(self, dtype: str) -> str:
        return self.dtype or widened(dtype)

    def weights(self, x: Anything, out: Anything) -> Anything:
        return None


class Prod(CAReduce):
    """The product over `axis`, computed in `dtype` (as for Sum).

    Its derivative is right where elements are zero; the second derivative with respect to an element that is zero is not.
    """

    __props__ = ("axis", "dtype")
    ufunc = np.multiply

    def __init__(self, axis: Anything = None, dtype: Anything = None) -> None:
        super().__init__(axis)
        self.dtype = None if dtype is None else str(np.dtype(dtype))

    def out_dtype(self, dtype: str) -> str:
        return self.dtype or widened(dtype)

    def weights(self, x: Anything, out: Anything) -> Anything:
        # The product of the other elements: that of the nonzero ones (without x itself), if none of the others is zero.
        zero, ndim = eq(x, 0), x.type.ndim
        nonzero = cast(switch(zero, 1, x), out.type.dtype)
        zeros = expand(Sum(axis=self.axis)(zero), ndim, self.axis)
        product_of_nonzero = expand(Prod(axis=self.axis)(nonzero), ndim, self.axis)
        return switch(eq(zeros, zero), true_div(product_of_nonzero, nonzero), 0)


class _Extreme(CAReduce):
    """A maximum or minimum: not defined for no elements, NaN where an element is. Tied elements share the cotangent equally."""

    __props__ = ("axis",)

    def weights(self, x: Anything, out: Anything) -> Anything:
        # Of the subgradients at a tie this is the one that does not depend on the order of the elements.
        extreme = eq(x, expand(out, x.type.ndim, self.axis))
        count = Sum(axis=self.axis, dtype=out.type.dtype)(extreme)
        return true_div(cast(extreme, out.type.dtype), expand(count, x.type.ndim, self.axis))


class Max(_Extreme):
    """The largest element over `axis`; NaN where one is NaN."""

    __props__ = ("axis",)
    ufunc = np.maximum


class Min(_Extreme):
    """The smallest element over `axis`; NaN where one is NaN."""

    __props__ = ("axis",)
    ufunc = np.minimum


class _Boolean(CAReduce):
    """A reduction of bools to bools."""

    __props__ = ("axis",)

    def make_node(self, x: Anything) -> Apply:
        x = as_tensor_variable(x)
        return super().make_node(x if x.type.dtype == "bool" else neq(x, 0))


class All(_Boolean):
    """Whether all elements over `axis` are true (not zero)."""

    __props__ = ("axis",)
    ufunc = np.logical_and


class Any(_Boolean):
    """Whether an element over `axis` is true (not zero)."""

    __props__ = ("axis",)
    ufunc = np.logical_or


class _Position(Op):
    """The first position of an extreme: its index in the dimensions `axis`, seen as one in C order (None: all)."""

    __props__: ClassVar[tuple[str, ...]] = ("axis",)
    typed_by_inputs = True

    def __init__(self, axis: Anything = None) -> None:
        self.axis = op_axis(axis)

    def position(self, x: Anything, axis: int | None) -> Anything:
        """NumPy's function."""
        raise NotImplementedError(f"{type(self).__name__} does not define position()")

    def make_node(self, x: Anything) -> Apply:
        x = as_tensor_variable(x)
        check_axis(self, self.axis, x)
        static = [] if self.axis is None else [s for d, s in enumerate(x.type.shape) if d not in self.axis]
        return Apply(self, [x], [TensorType("int64", static).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Anything], output_storage: list[list[Anything]]) -> None:
        x, axis = inputs[0], self.axis
        if axis is not None:
            kept = [d for d in range(x.ndim) if d not in axis]
            merged = int_prod(x.shape[d] for d in axis)
            x = x.transpose([*kept, *axis]).reshape([x.shape[d] for d in kept] + [merged])
        output_storage[0][0] = np.asarray(self.position(x, None if axis is None else -1), dtype=np.int64)

    def infer_shape(self, fgraph: Anything, node: Apply, input_shapes: Sequence[Anything]) -> list[Anything]:
        return [() if self.axis is None else tuple(n for d, n in enumerate(input_shapes[0]) if d not in self.axis)]

    def pullback(self, inputs: Sequence[Anything], outputs: Sequence[Anything],
                 cotangents: Sequence[Anything]) -> list[Anything]:
        return [float_zeros_like(inputs[0])]

    def pushforward(self, inputs: Sequence[Anything], outputs: Sequence[Anything],
                    tangents: Sequence[Anything]) -> list[Anything]:
        return [None]


class Argmax(_Position):
    """The position of the largest element, the first NaN where there is one; the first of several."""

    __props__ = ("axis",)

    def position(self, x: Anything, axis: int | None) -> Anything:
        return np.argmax(x, axis=axis)


class Argmin(_Position):
    """The position of the smallest element, the first NaN where there is one; the first of several."""

    __props__ = ("axis",)

    def position(self, x: Anything, axis: int | None) -> Anything:
        return np.argmin(x, axis=axis)


# --- the functions ----------------------------------------------------------------------------------------------------


def _pattern(op_class: type[Op], x: Anything, axis: Anything, keepdims: bool, dtype: Anything = None) -> Anything:
    if keepdims:
        raise GraphTypeError(f"{op_class.__name__} of a pattern cannot keep dimensions, whose number is not known; "
                             "write the dimshuffle out.")
    params = {} if axis is None else {"axis": axis if is_pattern(axis) else op_axis(axis)}
    if dtype is not None:
        params["dtype"] = dtype if is_pattern(dtype) else str(np.dtype(dtype))
    return OpTerm(op_class, **params)(x)


def _applied(op_class: type[CAReduce] | type[_Position], x: Anything, axis: Anything, keepdims: bool,
             **params: Anything) -> Anything:
    """`op_class` applied over `axis`, written as None where that is all dimensions."""
    axes = normal_axes(axis, x.type.ndim)
    result = op_class(axis=None if len(axes) == x.type.ndim else axes, **params)(x)
    return expand(result, x.type.ndim, axes) if keepdims else result


def _reduced(op_class: type[CAReduce], x: Anything, axis: Anything, keepdims: bool, **params: Anything) -> Anything:
    """As `_applied`; over no dimensions at all only the dtype changes."""
    if normal_axes(axis, x.type.ndim) == ():
        return cast(x, op_class(**params).out_dtype(x.type.dtype))
    return _applied(op_class, x, axis, keepdims, **params)


def _summing(op_class: type[Sum] | type[Prod], x: Anything, axis: Anything, dtype: Anything, keepdims: bool) -> Anything:
    if is_pattern(x) or is_pattern(axis):
        return _pattern(op_class, x, axis, keepdims, dtype)
    x = as_tensor_variable(x)
    if dtype is not None:
        dtype = config.floatX if dtype == "floatX" else str(np.dtype(dtype))
        dtype = None if dtype == widened(x.type.dtype) else dtype
    return _reduced(op_class, x, axis, keepdims, dtype=dtype)


def sum(x: Anything, axis: Anything = None, dtype: Anything = None, keepdims: bool = False,  # noqa: A001
        acc_dtype: Anything = None) -> Anything:
    """The sum of `x` over `axis` (None: all; ints, negative ones count from the end), computed in `dtype`.

    By default floats keep their dtype, integers and bools give int64, unsigned integers uint64. `acc_dtype` is accepted
    and ignored: the result's dtype is also that of the computation.

    >>> import termgraph.tensor as tt
    >>> tt.sum(tt.matrix("x"), axis=-1, keepdims=True).type
    Matrix(float64, shape=(?, 1))

    Raises GraphTypeError for an axis that `x` does not have.
    """
    return _summing(Sum, x, axis, dtype, keepdims)


def prod(x: Anything, axis: Anything = None, dtype: Anything = None, keepdims: bool = False,
         acc_dtype: Anything = None) -> Anything:
    """The product of `x` over `axis`; arguments and dtype as for `sum`."""
    return _summing(Prod, x, axis, dtype, keepdims)


def max(x: Anything, axis: Anything = None, keepdims: bool = False) -> Anything:  # noqa: A001
    """The largest element of `x` over `axis`; NaN where one is NaN. Raises ValueError at run time for no elements.

    Its derivative is shared equally among the largest elements where there are several.
    """
    if is_pattern(x) or is_pattern(axis):
        return _pattern(Max, x, axis, keepdims)
    return _reduced(Max, as_tensor_variable(x), axis, keepdims)


def min(x: Anything, axis: Anything = None, keepdims: bool = False) -> Anything:  # noqa: A001
    """The smallest element of `x` over `axis`; as `max`."""
    if is_pattern(x) or is_pattern(axis):
        return _pattern(Min, x, axis, keepdims)
    return _reduced(Min, as_tensor_variable(x), axis, keepdims)


def all(x: Anything, axis: Anything = None, keepdims: bool = False) -> Anything:  # noqa: A001
    """Whether all elements of `x` over `axis` are true (not zero): bools."""
    if is_pattern(x) or is_pattern(axis):
        return _pattern(All, x, axis, keepdims)
    return _reduced(All, _truth(x), axis, keepdims)


def any(x: Anything, axis: Anything = None, keepdims: bool = False) -> Anything:  # noqa: A001
    """Whether an element of `x` over `axis` is true (not zero): bools."""
    if is_pattern(x) or is_pattern(axis):
        return _pattern(Any, x, axis, keepdims)
    return _reduced(Any, _truth(x), axis, keepdims)


def _truth(x: Anything) -> Anything:
    x = as_tensor_variable(x)
    return x if x.type.dtype == "bool" else neq(x, 0)


def argmax(x: Anything, axis: Anything = None, keepdims: bool = False) -> Anything:
    """The position (int64) of the first largest element along `axis`: an int, several (seen as one dimension), None: all.

    A NaN counts as the largest. Raises ValueError at run time for no elements.
    """
    if is_pattern(x) or is_pattern(axis):
        return _pattern(Argmax, x, axis, keepdims)
    return _applied(Argmax, as_tensor_variable(x), axis, keepdims)


def argmin(x: Anything, axis: Anything = None, keepdims: bool = False) -> Anything:
    """The position (int64) of the first smallest element along `axis`; as `argmax`."""
    if is_pattern(x) or is_pattern(axis):
        return _pattern(Argmin, x, axis, keepdims)
    return _applied(Argmin, as_tensor_variable(x), axis, keepdims)


def max_and_argmax(x: Anything, axis: Anything = None, keepdims: bool = False) -> list[Anything]:
    """[max(x, axis), argmax(x, axis)]."""
    return [max(x, axis, keepdims), argmax(x, axis, keepdims)]


def _composite_of(x: Anything, name: str) -> Anything:
    if is_pattern(x):
        raise GraphTypeError(f"{name} is no op of its own, so it is no pattern; write the sum and the division out.")
    return as_tensor_variable(x)


def _divided(total: Anything, x: Anything, axis: Anything, ddof: int = 0) -> Anything:
    """`total` divided by the number of elements of `x` over `axis`, less `ddof`."""
    count = product(shape_i(x, a) for a in normal_axes(axis, x.type.ndim))
    known = known_length(count)
    if known is not None:  # a Python number takes the dtype of the total
        return true_div(total, float(known - ddof))
    return true_div(total, cast(sub(count, ddof) if ddof else count, total.type.dtype))


def mean(x: Anything, axis: Anything = None, dtype: Anything = None, keepdims: bool = False,
         acc_dtype: Anything = None) -> Anything:
    """The mean of `x` over `axis`, computed in `dtype`: by default that of `x`, float64 for integers and bools.

    >>> import termgraph.tensor as tt
    >>> tt.mean(tt.ivector("x")).type
    Scalar(float64, shape=())
    """
    x = _composite_of(x, "the mean")
    if dtype is None and x.type.dtype in DISCRETE:
        dtype = "float64"
    return _divided(sum(x, axis, dtype=dtype, keepdims=keepdims), x, axis)


def var(x: Anything, axis: Anything = None, ddof: int = 0, keepdims: bool = False) -> Anything:
    """The variance of `x` over `axis`: the mean squared distance from the mean, dividing by the count less `ddof`."""
    x = _composite_of(x, "the variance")
    distance = sub(x, mean(x, axis, keepdims=True))
    squares = sqr(absolute(distance)) if distance.type.dtype in COMPLEX else sqr(distance)
    return _divided(sum(squares, axis, keepdims=keepdims), x, axis, ddof)


def std(x: Anything, axis: Anything = None, ddof: int = 0, keepdims: bool = False) -> Anything:
    """The standard deviation of `x` over `axis`: the square root of `var`."""
    return sqrt(var(x, axis, ddof, keepdims))


# --- running sums and products ----------------------------------------------------------------------------------------
