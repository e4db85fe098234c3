"""DimShuffle: dimensions reordered, dropped where they have length 1, and added with length 1. It moves no data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from termgraph.errors import GraphTypeError
from termgraph.graph.apply import Apply
from termgraph.graph.op import Op, is_pattern
from termgraph.tensor.type import TensorType
from termgraph.tensor.variable import as_tensor_variable

Order = tuple[int | str, ...]


class DimShuffle(Op):
    """Output dimension i is input dimension `new_order[i]`, or a new one of length 1 where that is 'x'.

    Input dimensions that `new_order` leaves out are dropped; they must have length 1.
    """

    __props__ = ("input_ndim", "new_order")
    view_map = {0: [0]}  # noqa: RUF012
    typed_by_inputs = True
    fills_with = 0
    nin = 1
    linear = True

    def __init__(self, *, input_ndim: int, new_order: Sequence[int | str]) -> None:
        self.input_ndim = input_ndim
        self.new_order: Order = tuple(o if o == "x" else int(o) for o in new_order)
        kept = [o for o in self.new_order if o != "x"]
        for o in kept:
            if not isinstance(o, int) or not 0 <= o < input_ndim:
                raise GraphTypeError(f"dimension {o} of {self.new_order} is not among the {input_ndim} of the input.")
        if len(set(kept)) != len(kept):
            raise GraphTypeError(f"{self.new_order} uses a dimension twice.")
        self.shuffle = [o for o in kept if isinstance(o, int)]
        self.drop = [d for d in range(input_ndim) if d not in kept]
        self._axes = tuple(self.shuffle + self.drop)
        self._index: tuple[Any, ...] = (
            *(np.newaxis if o == "x" else slice(None) for o in self.new_order), *(0 for _ in self.drop))
        if not self.new_order:
            self._index += (...,)  # else the result would be a NumPy scalar

    def make_node(self, x: Any) -> Apply:
        x = as_tensor_variable(x)
        shape = x.type.shape
        if len(shape) != self.input_ndim:
            raise GraphTypeError(f"{self} takes {self.input_ndim} dimensions, got {x} of type {x.type}.")
        for d in self.drop:
            if shape[d] != 1:
                raise GraphTypeError(f"{self} cannot drop dimension {d} of {x}: its length must be known to be 1, "
                                     f"and its type is {x.type}.")
        static = [1 if o == "x" else shape[o] for o in self.new_order]  # type: ignore[index]
        return Apply(self, [x], [TensorType(x.type.dtype, static).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        output_storage[0][0] = inputs[0].transpose(self._axes)[self._index]

    def make_thunk(self, node: Apply, storage_map: Any, compute_map: Any, no_recycling: Any, impl: str | None = None) -> Any:
        source, target = storage_map[node.inputs[0]], storage_map[node.outputs[0]]
        computed = compute_map[node.outputs[0]]
        index = self._index
        if self._axes == tuple(range(self.input_ndim)):
            def thunk() -> None:
                target[0] = source[0][index]
                computed[0] = True
        else:
            axes = self._axes

            def thunk() -> None:
                target[0] = source[0].transpose(axes)[index]
                computed[0] = True
        return thunk

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [tuple(1 if o == "x" else input_shapes[0][o] for o in self.new_order)]

    def inverse(self) -> Op | None:
        """The DimShuffle that undoes this one, None where nothing has to be undone."""
        order: list[int | str] = ["x"] * self.input_ndim
        for position, o in enumerate(self.new_order):
            if o != "x":
                order[o] = position  # type: ignore[index]
        if order == list(range(len(self.new_order))) and len(order) == len(self.new_order):
            return None
        return DimShuffle(input_ndim=len(self.new_order), new_order=order)

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        inverse = self.inverse()
        return [cotangents[0] if inverse is None else inverse(cotangents[0])]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None if tangents[0] is None else self(tangents[0])]

    def __str__(self) -> str:
        order = self.new_order
        if not self.drop and all(o == "x" for o in order[: len(order) - self.input_ndim]) and \
                list(order[len(order) - self.input_ndim:]) == list(range(self.input_ndim)):
            return f"ExpandDims{{axes={list(range(len(order) - self.input_ndim))}}}"
        if not self.drop and "x" not in order:
            return f"Transpose{{axes={list(order)}}}"
        return f"DimShuffle{{order=[{','.join(map(str, order))}]}}"


def dimshuffle(x: Any, new_order: Sequence[int | str]) -> Any:
    """`x` with its dimensions as in `new_order`: ints, and 'x' for a new dimension of length 1.

    >>> import termgraph.tensor as tt
    >>> dimshuffle(tt.vector("x"), (0, "x")).type
    Matrix(float64, shape=(?, 1))
    """
    if is_pattern(x):
        kept = [o for o in new_order if o != "x"]
        return DimShuffle(input_ndim=len(kept), new_order=new_order)(x)
    x = as_tensor_variable(x)
    order = tuple(new_order)
    if order == tuple(range(x.type.ndim)):
        return x
    return DimShuffle(input_ndim=x.type.ndim, new_order=order)(x)


def transpose(x: Any, axes: Sequence[int] | None = None) -> Any:
    """`x` with its dimensions reversed, or in the order `axes`."""
    if is_pattern(x):
        return DimShuffle(input_ndim=2 if axes is None else len(axes), new_order=(1, 0) if axes is None else axes)(x)
    x = as_tensor_variable(x)
    ndim = x.type.ndim
    order = tuple(range(ndim))[::-1] if axes is None else tuple(int(a) % max(ndim, 1) for a in axes)
    if sorted(order) != list(range(ndim)):
        raise GraphTypeError(f"the axes {axes} are not a permutation of the {ndim} dimensions of {x}.")
    return dimshuffle(x, order)


def expand_dims(x: Any, axis: int | Sequence[int]) -> Any:
    """`x` with new dimensions of length 1 at the positions `axis` of the result."""
    x = as_tensor_variable(x)
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    ndim = x.type.ndim + len(axes)
    at = {a % ndim for a in axes}
    rest = iter(range(x.type.ndim))
    return dimshuffle(x, ["x" if i in at else next(rest) for i in range(ndim)])


def squeeze(x: Any, axis: int | Sequence[int] | None = None) -> Any:
    """`x` without its dimensions of static length 1 (those at `axis`, all by default)."""
    x = as_tensor_variable(x)
    ndim = x.type.ndim
    if axis is None:
        drop = {i for i, s in enumerate(x.type.shape) if s == 1}
    else:
        drop = {a % max(ndim, 1) for a in ((axis,) if isinstance(axis, int) else axis)}
    return dimshuffle(x, [i for i in range(ndim) if i not in drop])
