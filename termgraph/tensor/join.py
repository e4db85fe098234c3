"""Tensors joined, split, repeated and rearranged along a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from termgraph.errors import GraphTypeError, StaticShapeError
from termgraph.graph.apply import Apply
from termgraph.graph.null import DisconnectedType
from termgraph.graph.op import Op, is_pattern
from termgraph.graph.variable import Constant
from termgraph.tensor.creation import alloc, zeros_like
from termgraph.tensor.dimshuffle import dimshuffle, expand_dims
from termgraph.tensor.elementwise import cast, float_zeros_like, unbroadcast
from termgraph.tensor.getitem import getitem
from termgraph.tensor.scalar import add, maximum, mod, mul, same, sub
from termgraph.tensor.shape import as_length, elements, flatten, known_length, reshape, shape_i, shape_tuple
from termgraph.tensor.type import DISCRETE, TensorType
from termgraph.tensor.variable import as_tensor_variable


def _normal_axis(axis: int, ndim: int, what: str) -> int:
    if not -ndim <= axis < ndim:
        raise GraphTypeError(f"{what}: there is no dimension {axis} in a tensor with {ndim} dimensions.")
    return axis % ndim


class _Axis(Op):
    """An op along one dimension, counted from 0."""

    axis: int

    def set_axis(self, axis: int) -> None:
        """Keep `axis`; raises GraphTypeError where it is no dimension counted from 0."""
        if not isinstance(axis, (int, np.integer)) or axis < 0:
            raise GraphTypeError(f"{type(self).__name__} takes a dimension counted from 0, got {axis!r}.")
        self.axis = int(axis)


# --- joining ----------------------------------------------------------------------------------------------------------


class Join(_Axis):
    """Tensors one after the other along a dimension, in the dtype NumPy promotes theirs to.

    Raises GraphTypeError where the ranks differ, StaticShapeError where known lengths of other dimensions differ, ValueError
    where they do at run time: joining never broadcasts.

    >>> import termgraph.tensor as tt
    >>> Join(0)(tt.vector("x", shape=(2,)), tt.vector("y", shape=(3,))).type
    Vector(float64, shape=(5,))
    """

    __props__ = ("axis",)
    typed_by_inputs = True

    def __init__(self, axis: int = 0) -> None:
        self.set_axis(axis)

    def make_node(self, *tensors: Any) -> Apply:
        if not tensors:
            raise GraphTypeError("join takes at least one tensor.")
        inputs = [as_tensor_variable(t) for t in tensors]
        shapes = [t.type.shape for t in inputs]
        if any(len(s) != len(shapes[0]) for s in shapes) or self.axis >= len(shapes[0]):
            raise GraphTypeError(f"join along dimension {self.axis} takes tensors with the same number of dimensions, more "
                                 f"than {self.axis}; got {', '.join(str(t.type) for t in inputs)}.")
        static: list[int | None] = []
        for d, lengths in enumerate(zip(*shapes, strict=True)):
            known = {s for s in lengths if s is not None}
            if d == self.axis:
                static.append(None if None in lengths else sum(s for s in lengths if s is not None))
            elif len(known) > 1:
                raise StaticShapeError(f"cannot join along dimension {self.axis}", shapes, "equal lengths elsewhere")
            else:
                static.append(known.pop() if known else None)
        return Apply(self, inputs, [TensorType(same([t.type.dtype for t in inputs]), static).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        output_storage[0][0] = np.concatenate(inputs, axis=self.axis)

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        shape = list(input_shapes[0])
        for other in input_shapes[1:]:
            length, more = shape[self.axis], other[self.axis]
            shape[self.axis] = length + more if isinstance(length, int) and isinstance(more, int) else add(length, more)
        return [tuple(shape)]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        (g,) = cotangents
        results = []
        start: Any = 0
        for x in inputs:
            length = x.type.shape[self.axis]
            stop = start + length if length is not None and isinstance(start, int) else add(start, shape_i(x, self.axis))
            if x.type.dtype in DISCRETE:
                results.append(float_zeros_like(x))
            else:
                part = getitem(g, (*[slice(None)] * self.axis, slice(start, stop)))
                results.append(unbroadcast(part, x))
            start = stop
        return results

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        if outputs[0].type.dtype in DISCRETE or all(t is None for t in tangents):
            return [None]
        dtype = outputs[0].type.dtype
        return [self(*[zeros_like(x, dtype) if t is None else cast(t, dtype)
                       for x, t in zip(inputs, tangents, strict=True)])]


def join(axis: int, *tensors: Any) -> Any:
    """The tensors one after the other along dimension `axis`; a single one is returned as it is.

    Raises GraphTypeError where the ranks differ, StaticShapeError where known lengths of other dimensions differ.
    """
    if any(is_pattern(t) for t in tensors):
        return Join(axis)(*tensors)
    inputs = [as_tensor_variable(t) for t in tensors]
    if not inputs:
        raise GraphTypeError("join takes at least one tensor.")
    axis = _normal_axis(axis, inputs[0].type.ndim, "join")
    return inputs[0] if len(inputs) == 1 else Join(axis)(*inputs)


def concatenate(tensors: Sequence[Any], axis: int = 0) -> Any:
    """`join(axis, *tensors)`, under NumPy's name."""
    return join(axis, *tensors)


def stack(tensors: Sequence[Any], axis: int = 0) -> Any:
    """Tensors of the same rank along a new dimension, at the position `axis` of the result."""
    inputs = [as_tensor_variable(t) for t in tensors]
    if not inputs:
        raise GraphTypeError("stack takes at least one tensor.")
    if any(is_pattern(t) for t in inputs):
        raise GraphTypeError("stack needs the ranks of its arguments, and a pattern has none: "
                             "write Join and DimShuffle instead.")
    if len({t.type.ndim for t in inputs}) > 1:
        raise GraphTypeError("stack takes tensors with the same number of dimensions, got "
                             f"{', '.join(str(t.type) for t in inputs)}.")
    axis = _normal_axis(axis, inputs[0].type.ndim + 1, "stack")
    return join(axis, *[expand_dims(t, axis) for t in inputs])


def vertical_stack(*tensors: Any) -> Any:
    """Matrices one below the other; a vector counts as one row."""
    return join(0, *[as_tensor_variable(t, ndim=2) for t in tensors])


def horizontal_stack(*tensors: Any) -> Any:
    """Matrices beside each other. Raises GraphTypeError for other ranks."""
    inputs = [as_tensor_variable(t) for t in tensors]
    if any(t.type.ndim != 2 for t in inputs):
        raise GraphTypeError(f"horizontal_stack takes matrices, got {', '.join(str(t.type) for t in inputs)}.")
    return join(1, *inputs)


# --- splitting --------------------------------------------------------------------------------------------------------


class Split(_Axis):
    """A tensor cut along a dimension into `n_splits` parts, views of it, whose lengths the second input says.

    Raises ValueError at run time where the lengths are negative or do not add up to that of the tensor.
    """

    __props__ = ("n_splits", "axis")
    typed_by_inputs = False  # constant lengths give static shapes

    def __init__(self, n_splits: int, axis: int = 0) -> None:
        self.n_splits = int(n_splits)
        self.set_axis(axis)
        self.view_map = {i: [0] for i in range(self.n_splits)}

    def make_node(self, x: Any, splits: Any) -> Apply:
        x, splits = as_tensor_variable(x), as_tensor_variable(splits)
        if self.axis >= x.type.ndim:
            raise GraphTypeError(f"split: there is no dimension {self.axis} in {x} of type {x.type}.")
        if splits.type.ndim != 1 or splits.type.dtype not in DISCRETE or splits.type.shape[0] not in (None, self.n_splits):
            raise GraphTypeError(f"split into {self.n_splits} takes a vector of as many integers, got {splits} of type "
                                 f"{splits.type}.")
        lengths: list[int | None] = [None] * self.n_splits
        if isinstance(splits, Constant):
            lengths = [int(n) for n in splits.data]
            self._check(lengths, x.type.shape[self.axis])
        parts = [x.type.clone(shape=[n if d == self.axis else s for d, s in enumerate(x.type.shape)]) for n in lengths]
        return Apply(self, [x, splits], [p.make_variable() for p in parts])

    def _check(self, lengths: Sequence[Any], total: int | None) -> None:
        if len(lengths) != self.n_splits or any(n < 0 for n in lengths) or total not in (None, sum(lengths)):
            raise ValueError(f"split: the lengths {list(map(int, lengths))} must be {self.n_splits}, not negative, and add up "
                             f"to the length of dimension {self.axis}, which is {'unknown' if total is None else total}.")

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        x, splits = inputs
        self._check(splits, x.shape[self.axis])
        start = 0
        for storage, length in zip(output_storage, splits, strict=True):
            storage[0] = x[(slice(None),) * self.axis + (slice(start, start + length),)]
            start += length

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        lengths = elements(node.inputs[1], self.n_splits)
        return [tuple(n if d == self.axis else s for d, s in enumerate(input_shapes[0])) for n in lengths]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True] * self.n_splits, [False] * self.n_splits]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        x = inputs[0]
        if x.type.dtype in DISCRETE:
            return [float_zeros_like(x), DisconnectedType()()]
        parts = [float_zeros_like(o) if isinstance(g.type, DisconnectedType) else g
                 for o, g in zip(outputs, cotangents, strict=True)]
        return [unbroadcast(join(self.axis, *parts), x), DisconnectedType()()]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        if tangents[0] is None:
            return [None] * self.n_splits
        return self(tangents[0], inputs[1], return_list=True)  # type: ignore[no-any-return]


def split(x: Any, splits_size: Any, n_splits: int, axis: int = 0) -> list[Any]:
    """`x` cut along `axis` into `n_splits` parts of the lengths `splits_size` (integers, or an integer vector).

    Raises ValueError where the lengths do not add up: here where they are known, otherwise at run time.
    """
    x = as_tensor_variable(x)
    axis = _normal_axis(axis, x.type.ndim, "split")
    return Split(n_splits, axis)(x, splits_size, return_list=True)  # type: ignore[no-any-return]


# --- repeating and rearranging ----------------------------------------------------------------------------------------


def _length_product(a: Any, b: Any) -> Any:
    m, n = known_length(a), known_length(b)
    return mul(as_length(a), as_length(b)) if m is None or n is None else m * n


def tile(x: Any, reps: Any) -> Any:
    """`x` put beside itself `reps` times: an int or integer scalar, or one for each dimension (of `x`, or more)."""
    x = as_tensor_variable(x)
    counts = list(reps) if isinstance(reps, (tuple, list)) else [reps]
    x = as_tensor_variable(x, ndim=max(len(counts), x.type.ndim))
    ndim = x.type.ndim
    counts = [1] * (ndim - len(counts)) + counts
    lengths = shape_tuple(x)
    interleaved = [part for d in range(ndim) for part in ("x", d)]
    spread = alloc(dimshuffle(x, interleaved), *[n for pair in zip(counts, lengths, strict=True) for n in pair])
    return reshape(spread, [_length_product(c, n) for c, n in zip(counts, lengths, strict=True)])


def repeat(x: Any, repeats: Any, axis: int | None = None) -> Any:
    """Each element of `x` along `axis` (of the flattened `x` by default) `repeats` times, an int or an integer scalar."""
    x = as_tensor_variable(x)
    if axis is None:
        x, axis = flatten(x), 0
    axis = _normal_axis(axis, x.type.ndim, "repeat")
    if not isinstance(repeats, int) and as_tensor_variable(repeats).type.ndim != 0:
        raise GraphTypeError(f"repeat takes one number for all elements, got {repeats}; for a number for each, index with "
                             "an array of repeated positions.")
    lengths = list(shape_tuple(x))
    at = axis + 1
    spread = alloc(expand_dims(x, at), *lengths[:at], repeats, *lengths[at:])
    return reshape(spread, [*lengths[:axis], _length_product(lengths[axis], repeats), *lengths[at:]])


def flip(x: Any, axis: int | Sequence[int] | None = None) -> Any:
    """`x` with the order of its elements reversed along `axis`: a dimension, several, or all by default."""
    x = as_tensor_variable(x)
    ndim = x.type.ndim
    given = range(ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    axes = {_normal_axis(a, ndim, "flip") for a in given}
    return getitem(x, tuple(slice(None, None, -1 if d in axes else None) for d in range(ndim)))


def roll(x: Any, shift: Any, axis: int | None = None) -> Any:
    """The elements of `x` moved by `shift` places along `axis`, those that fall off coming back at the other end.

    Without `axis` the flattened `x` is rolled and reshaped. `shift` is an int or an integer scalar.
    """
    x = as_tensor_variable(x)
    if axis is None:
        return x if x.type.ndim == 0 else reshape(roll(flatten(x), shift, 0), shape_tuple(x))
    axis = _normal_axis(axis, x.type.ndim, "roll")
    length = x.type.shape[axis]
    if length is not None and isinstance(shift, int):
        at: Any = -shift % max(length, 1)
    else:
        at = mod(sub(0, as_length(shift)), maximum(shape_i(x, axis), 1))
    before = (slice(None),) * axis
    return join(axis, getitem(x, (*before, slice(at, None))), getitem(x, (*before, slice(None, at))))


__all__ = [
    "Join", "Split", "concatenate", "flip", "horizontal_stack", "join", "repeat", "roll", "split", "stack", "tile",
    "vertical_stack",
]
