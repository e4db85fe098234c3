"""Indexing: parts of tensors, and tensors with a part replaced or added to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from termgraph.errors import GraphTypeError, StaticShapeError
from termgraph.graph.apply import Apply
from termgraph.graph.null import DisconnectedType
from termgraph.graph.op import Op, Thunk
from termgraph.graph.variable import Constant, Variable
from termgraph.tensor.creation import arange, zeros_like
from termgraph.tensor.elementwise import cast, float_zeros_like, unbroadcast, weak_constant
from termgraph.tensor.indexing import (
    FULL,
    INPUT,
    Slice,
    Template,
    as_template,
    check_block,
    count_inputs,
    entry_of,
    fill_template,
    is_index_array,
    is_mask,
    layout,
    numpy_index,
    run_time_block,
    slice_length,
    static_block,
    static_slice_length,
)
from termgraph.tensor.scalar import eq, switch
from termgraph.tensor.shape import reshape, shape_tuple, size
from termgraph.tensor.type import DISCRETE, TensorType
from termgraph.tensor.variable import as_tensor_variable

# --- reading ----------------------------------------------------------------------------------------------------------


def _check_positions(op: Op, template: Template, x: Any) -> None:
    """Raise IndexError where a constant index lies outside a known length."""
    for d, entry in enumerate(template):
        length = x.type.shape[d] if d < x.type.ndim else None
        if isinstance(entry, int) and length is not None and not -length <= entry < length:
            raise IndexError(f"index {entry} is out of range for dimension {d} of {x}, whose length is {length}.")


class _Indexing(Op):
    """What the four ops have in common: a template, and the variables of the index as the last inputs."""

    typed_by_inputs = True
    arrays_allowed = False
    idx_list: Template

    def check_index(self, x: Any, index: Sequence[Any]) -> list[Any]:
        """The index variables, checked; raises GraphTypeError or IndexError."""
        if len(index) != count_inputs(self.idx_list):
            raise GraphTypeError(f"{self} takes {count_inputs(self.idx_list)} index variables, got {len(index)}.")
        variables = [as_tensor_variable(i) for i in index]
        entries = fill_template(self.idx_list, variables)
        for entry in entries:
            for part in entry if isinstance(entry, Slice) else (entry,):
                if not isinstance(part, Variable):
                    continue
                if part.type.dtype not in DISCRETE:  # type: ignore[attr-defined]
                    raise GraphTypeError(f"an index must be an integer or bool, got {part} of type {part.type}.")
                array = part.type.ndim > 0 or part.type.dtype == "bool"  # type: ignore[attr-defined, operator]
                if array and (isinstance(entry, Slice) or not self.arrays_allowed or part.type.ndim == 0):
                    raise GraphTypeError(f"expected a scalar integer in the index, got {part} of type {part.type}.")
        used = sum(e.type.ndim if is_mask(e) else 1 for e in entries)
        if used > x.type.ndim:
            raise IndexError(f"too many indices: {x} of type {x.type} has {x.type.ndim} dimensions, "
                             f"the index is for {used}.")
        if not any(is_mask(e) for e in entries):
            _check_positions(self, self.idx_list, x)
        return variables

    def part_type(self, x: Any, variables: Sequence[Any]) -> TensorType:
        """The type of the indexed part."""
        entries = fill_template(self.idx_list, variables)
        arrays = [e for e in entries if is_index_array(e)]
        block = [None] if not arrays else static_block(arrays)
        shape: list[int | None] = []
        for kind, d in layout(entries, x.type.ndim).dims:
            if kind == "array":
                shape.append(block[d])
            else:
                at = entry_of(entries, d)
                shape.append(x.type.shape[d] if at is None else
                             static_slice_length(self.idx_list[at], x.type.shape[d]))
        return TensorType(x.type.dtype, shape)

    def __str__(self) -> str:
        shown = ", ".join("?" if e is INPUT else repr(e) for e in self.idx_list)
        return f"{type(self).__name__}{{{shown}}}"


class _Reading(_Indexing):
    """An op whose output is the indexed part; it is linear in the tensor."""

    def __init__(self, idx_list: Sequence[Any]) -> None:
        self.idx_list = as_template(idx_list)

    def make_node(self, x: Any, *index: Any) -> Apply:
        x = as_tensor_variable(x)
        variables = self.check_index(x, index)
        return Apply(self, [x, *variables], [self.part_type(x, variables).make_variable()])

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True], *[[False] for _ in node.inputs[1:]]]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None if tangents[0] is None else self(tangents[0], *inputs[1:])]

    def writer(self, set_instead_of_inc: bool) -> Any:
        """The op that writes to the part this one reads."""
        raise NotImplementedError

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        x, *index = inputs
        zeros = float_zeros_like(x)
        if x.type.dtype not in DISCRETE:
            zeros = self.writer(False)(zeros, cotangents[0], *index)
        return [zeros, *[DisconnectedType()() for _ in index]]


class Subtensor(_Reading):
    """The part of a tensor that ints and slices select: a view.

    Raises IndexError where a constant index lies outside a known length, or there are too many.

    >>> import termgraph.tensor as tt
    >>> Subtensor((0, slice(None, 2)))(tt.matrix("x", shape=(3, 4))).type
    Vector(float64, shape=(2,))
    """

    __props__ = ("idx_list",)
    view_map = {0: [0]}  # noqa: RUF012

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        output_storage[0][0] = inputs[0][numpy_index(self.idx_list, inputs[1:])]

    def make_thunk(self, node: Apply, storage_map: Any, compute_map: Any, no_recycling: Any, impl: str | None = None) -> Thunk:
        if len(node.inputs) > 1:
            return self.make_py_thunk(node, storage_map, compute_map, no_recycling)
        source, target = storage_map[node.inputs[0]], storage_map[node.outputs[0]]
        computed, index = compute_map[node.outputs[0]], numpy_index(self.idx_list, ())

        def thunk() -> None:
            target[0] = source[0][index]
            computed[0] = True
        return thunk

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        shape: list[Any] = []
        static = iter(node.outputs[0].type.shape)
        entries = fill_template(self.idx_list, node.inputs[1:])
        for d, length in enumerate(input_shapes[0]):
            entry = entries[d] if d < len(entries) else FULL
            if isinstance(entry, Slice):
                known = next(static)
                shape.append(slice_length(entry, length) if known is None else known)
        return [tuple(shape)]

    def writer(self, set_instead_of_inc: bool) -> Any:
        return IncSubtensor(self.idx_list, set_instead_of_inc=set_instead_of_inc)


class AdvancedSubtensor(_Reading):
    """The part of a tensor that integer and bool arrays, ints and slices select by NumPy's rules: a copy.

    Index arrays broadcast against each other along dimensions of static length 1. A bool array stands for as many
    dimensions as it has. Raises IndexError as `Subtensor`, StaticShapeError where the lengths of index arrays differ.
    """

    __props__ = ("idx_list",)
    arrays_allowed = True

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        check_block(self, node.inputs[1:], inputs[1:])
        result = inputs[0][numpy_index(self.idx_list, inputs[1:])]
        # NumPy gives a view where the node was made with scalars only.
        output_storage[0][0] = result.copy() if np.may_share_memory(result, inputs[0]) else result

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        x, *variables = node.inputs
        entries = fill_template(self.idx_list, variables)
        block = run_time_block([e for e in entries if is_index_array(e)], dict(zip(variables, input_shapes[1:], strict=True)))
        shape: list[Any] = []
        for (kind, d), known in zip(layout(entries, x.type.ndim).dims, node.outputs[0].type.shape, strict=True):
            if known is not None:
                shape.append(known)
            elif kind == "array":
                shape.append(block[d])
            else:
                at = entry_of(entries, d)
                shape.append(slice_length(FULL if at is None else entries[at], input_shapes[0][d]))
        return [tuple(shape)]

    def writer(self, set_instead_of_inc: bool) -> Any:
        return AdvancedIncSubtensor(self.idx_list, set_instead_of_inc=set_instead_of_inc)


# --- writing ----------------------------------------------------------------------------------------------------------


class _Writing(_Indexing):
    """An op whose output is a tensor with something written to, or added to, a part."""

    def __init__(self, idx_list: Sequence[Any], inplace: bool = False, set_instead_of_inc: bool = False) -> None:
        self.idx_list, self.inplace, self.set_instead_of_inc = as_template(idx_list), inplace, set_instead_of_inc
        if inplace:
            self.destroy_map = {0: [0]}

    def make_node(self, x: Any, y: Any, *index: Any) -> Apply:
        x = as_tensor_variable(x)
        variables = self.check_index(x, index)
        part = self.part_type(x, variables)
        if x.type.dtype == "bool" and not self.set_instead_of_inc:
            raise GraphTypeError(f"{x} is of dtype bool: use set_subtensor, or convert it first.")
        y = _as_written(y, x, part)
        return Apply(self, [x, y, *variables], [x.type.make_variable()])

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [tuple(input_shapes[0])]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True], [True], *[[False] for _ in node.inputs[2:]]]

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        x, y, *values = inputs
        if self.arrays_allowed:
            check_block(self, node.inputs[2:], values)
        result = x if self.inplace else x.copy()
        index = numpy_index(self.idx_list, values)
        self.write(node, result, index, y)
        output_storage[0][0] = result

    def write(self, node: Apply, x: Any, index: Any, y: Any) -> None:
        """Write `y` to `x[index]`."""
        raise NotImplementedError

    def check_part(self, node: Apply, shape: Sequence[int], y: Any) -> None:
        """Raise ValueError where `y` does not fit the part without broadcasting that its type does not announce."""
        for expected, got, broadcasts in zip(shape, y.shape, node.inputs[1].type.broadcastable, strict=True):
            if expected != got and not broadcasts:
                raise ValueError(f"{self}: the part has shape {tuple(shape)}, the value {y.shape}. A dimension broadcasts "
                                 "only where its type says its length is 1.")

    def reader(self) -> Any:
        """The op that reads the part this one writes to."""
        raise NotImplementedError

    def _out_of_place(self) -> Any:
        return type(self)(self.idx_list, set_instead_of_inc=self.set_instead_of_inc) if self.inplace else self

    def only_last(self, g: Any, x: Any, index: Sequence[Any]) -> Any:
        """`g`, of the shape of the part, with zeros where a later element overwrites the one written there."""
        return g

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        (x, y, *index), (g,) = inputs, cotangents
        rest = [DisconnectedType()() for _ in index]
        if x.type.dtype in DISCRETE:
            return [float_zeros_like(x), float_zeros_like(y), *rest]
        part = self.reader()(g, *index)
        if not self.set_instead_of_inc:
            return [g, unbroadcast(part, y), *rest]
        return [self._out_of_place()(g, 0, *index), unbroadcast(self.only_last(part, x, index), y), *rest]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        x, _, *index = inputs
        tx, ty = tangents[:2]
        if x.type.dtype in DISCRETE or (tx is None and ty is None):
            return [None]
        if ty is None:
            return [self._out_of_place()(tx, 0, *index) if self.set_instead_of_inc else tx]
        return [self._out_of_place()(float_zeros_like(x) if tx is None else tx, ty, *index)]

    def __str__(self) -> str:
        verb = "Set" if self.set_instead_of_inc else "Inc"
        shown = super().__str__().replace("Inc", verb, 1)
        return shown[:-1] + (", inplace}" if self.inplace and self.idx_list else "inplace}" if self.inplace else "}")


def _fits(y: Any, dtype: np.dtype[Any]) -> bool:
    """Whether `y` can be converted to `dtype` and nothing is lost."""
    if np.can_cast(y.type.numpy_dtype, dtype, "safe"):
        return True
    if not isinstance(y, Constant) or not np.can_cast(y.type.numpy_dtype, dtype, "same_kind"):
        return False
    return np.array_equal(y.data.astype(dtype), y.data)


def _as_written(y: Any, x: Any, part: TensorType) -> Any:
    """`y` as a variable of the dtype of `x` and the rank of the part; raises GraphTypeError or StaticShapeError."""
    y = weak_constant(y, [x.type.numpy_dtype]) if isinstance(y, (bool, int, float)) else as_tensor_variable(y)
    if not _fits(y, x.type.numpy_dtype):
        raise GraphTypeError(f"cannot write {y} of dtype {y.type.dtype} into {x} of dtype {x.type.dtype} without losing "
                             "precision; convert it with .astype first.")
    y = cast(as_tensor_variable(y, ndim=part.ndim), x.type.dtype)
    if any(a is not None and b is not None and a != b and b != 1 for a, b in zip(part.shape, y.type.shape, strict=True)):
        raise StaticShapeError(f"cannot write {y} into a part of {x}", [part.shape, y.type.shape],
                               "a value of the shape of the part, or of length 1 where it broadcasts")
    return y


class IncSubtensor(_Writing):
    """`x` with `y` added to (or with `set_instead_of_inc` written to) the part that ints and slices select.

    `y` is converted to the dtype of `x` and broadcasts along dimensions of static length 1.
    """

    __props__ = ("idx_list", "inplace", "set_instead_of_inc")

    def write(self, node: Apply, x: Any, index: Any, y: Any) -> None:
        part = x[index]
        self.check_part(node, part.shape, y)
        if self.set_instead_of_inc:
            part[...] = y
        else:
            part += y

    def reader(self) -> Any:
        return Subtensor(self.idx_list)


class AdvancedIncSubtensor(_Writing):
    """`x` with `y` added to (or with `set_instead_of_inc` written to) the part that arrays, ints and slices select.

    An element selected repeatedly gets every value added, and keeps the last one written, as NumPy documents for
    `numpy.add.at` and for assignment.
    """

    __props__ = ("idx_list", "inplace", "set_instead_of_inc")
    arrays_allowed = True

    def write(self, node: Apply, x: Any, index: Any, y: Any) -> None:
        # A read-only array of one element has the shape of `x` at no cost, and indexing it the shape of the part.
        self.check_part(node, np.broadcast_to(np.empty((), bool), x.shape)[index].shape, y)
        if self.set_instead_of_inc:
            x[index] = y
        else:
            np.add.at(x, index, y)

    def reader(self) -> Any:
        return AdvancedSubtensor(self.idx_list)

    def only_last(self, g: Any, x: Any, index: Sequence[Any]) -> Any:
        arrays = [e for e in fill_template(self.idx_list, index) if is_index_array(e)]
        if len(arrays) == 1 and is_mask(arrays[0]):  # a mask selects nothing twice
            return g
        # Number the written elements, write the numbers, and see which are still there.
        numbers = reshape(arange(size(g)), shape_tuple(g))
        written = AdvancedIncSubtensor(self.idx_list, set_instead_of_inc=True)(zeros_like(x, "int64"), numbers, *index)
        return switch(eq(self.reader()(written, *index), numbers), g, 0)


__all__ = ["AdvancedIncSubtensor", "AdvancedSubtensor", "IncSubtensor", "Subtensor"]
