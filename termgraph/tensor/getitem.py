"""`x[index]`, and writing to such a part: from Python's indices to the ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from termgraph.errors import GraphTypeError
from termgraph.graph.op import is_pattern
from termgraph.graph.variable import Constant, Variable
from termgraph.tensor.dimshuffle import DimShuffle, dimshuffle
from termgraph.tensor.indexing import (
    INPUT,
    Slice,
    as_template,
    fill_template,
    is_index_array,
    layout,
)
from termgraph.tensor.shape import flatten
from termgraph.tensor.subtensor import AdvancedIncSubtensor, AdvancedSubtensor, IncSubtensor, Subtensor
from termgraph.tensor.type import DISCRETE, TensorType
from termgraph.tensor.variable import as_tensor_variable

__all__ = ["getitem", "inc_subtensor", "set_subtensor", "take"]


# --- the functions ----------------------------------------------------------------------------------------------------


def _entry(item: Any, variables: list[Any]) -> Any:
    """The template entry of one item of an index; a variable it needs is added to `variables`."""
    if isinstance(item, slice):
        return Slice(*[None if p is None else _entry(p, variables) for p in (item.start, item.stop, item.step)])
    if isinstance(item, (int, np.integer)) and not isinstance(item, bool):
        return int(item)
    if not is_pattern(item):
        item = _index_variable(item)
        if isinstance(item, Constant) and item.type.ndim == 0 and item.type.dtype != "bool":
            return int(item.data)
    variables.append(item)
    return INPUT


def _index_variable(item: Any) -> Any:
    if not isinstance(item, Variable):
        array = None if _holds_variables(item) else np.asarray(item)
        if array is not None and array.size == 0 and array.dtype.kind == "f":  # an empty list
            array = array.astype("int64")
        item = as_tensor_variable(item if array is None else array)
    if not isinstance(item.type, TensorType) or item.type.dtype not in DISCRETE:
        raise GraphTypeError(f"an index must be an integer, a slice, None, Ellipsis, or an array of integers or bools; "
                             f"got {item} of type {item.type}.")
    if item.type.ndim == 0 and item.type.dtype == "bool":
        raise GraphTypeError(f"a bool without dimensions is not an index here: got {item}.")
    return item


def _holds_variables(item: Any) -> bool:
    return isinstance(item, (list, tuple)) and any(isinstance(i, Variable) or _holds_variables(i) for i in item)


def _expand(items: Sequence[Any], ndim: int, x: Any) -> list[Any]:
    """The items with the Ellipsis replaced by full slices."""
    def width(item: Any) -> int:
        if item is None or item is Ellipsis:
            return 0
        dtype = getattr(item, "dtype", None)
        if isinstance(item, (list, tuple)) and not _holds_variables(item):
            item = np.asarray(item)
            dtype = item.dtype
        return item.ndim if dtype is not None and str(dtype) == "bool" else 1

    used = sum(width(i) for i in items)
    if used > ndim:
        raise IndexError(f"too many indices: {x} of type {x.type} has {ndim} dimensions, the index is for {used}.")
    at = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(at) > 1:
        raise IndexError("an index can have one Ellipsis only.")
    if not at:
        return list(items)
    return [*items[: at[0]], *[slice(None)] * (ndim - used), *items[at[0] + 1:]]


def _reader(variables: Sequence[Any]) -> type[Subtensor] | type[AdvancedSubtensor]:
    return AdvancedSubtensor if any(is_index_array(v) for v in variables) else Subtensor


def getitem(x: Any, index: Any) -> Any:
    """`x[index]`: ints, slices, None, Ellipsis, and arrays of integers or bools, constant or symbolic, by NumPy's rules.

    Of a pattern, whose rank is not known, neither None nor Ellipsis. Raises IndexError where a constant index lies outside a
    known length or there are too many, GraphTypeError for what is no index.

    >>> import termgraph.tensor as tt
    >>> getitem(tt.matrix("x"), (0, slice(1, None))).type
    Vector(float64, shape=(?,))
    """
    items = list(index) if isinstance(index, tuple) else [index]
    variables: list[Any] = []
    if is_pattern(x):
        if any(item is None or item is Ellipsis for item in items):
            raise GraphTypeError(f"the pattern {x} has no known rank, so its index can have no None and no Ellipsis; "
                                 f"got {index!r}.")
        template = as_template([_entry(item, variables) for item in items])
        return _reader(variables)(template)(x, *variables)
    x = as_tensor_variable(x)
    items = _expand(items, x.type.ndim, x)
    entries: list[Any] = [None if item is None else _entry(item, variables) for item in items]
    kept = [e for e in entries if e is not None]
    template = as_template(kept)
    only_new_axes = not template and len(kept) < len(entries)
    result = x if only_new_axes else _reader(variables)(template)(x, *variables)
    return result if len(kept) == len(entries) else _with_new_axes(result, entries, variables, x.type.ndim)


def _with_new_axes(result: Any, entries: Sequence[Any], variables: Sequence[Any], ndim: int) -> Any:
    """`result`, indexed without the new axes among `entries`, with them."""
    filled = fill_template(entries, variables)
    wanted = layout(filled, ndim).dims
    have = layout([e for e in filled if e is not None], ndim).dims
    return dimshuffle(result, ["x" if label is None else have.index(label) for label in wanted])


def _written(x: Any, y: Any, inplace: bool, set_instead_of_inc: bool) -> Any:
    part = x
    while part.owner is not None and isinstance(part.owner.op, DimShuffle):
        inverse = part.owner.op.inverse()
        y = as_tensor_variable(y, ndim=part.type.ndim)
        y, part = y if inverse is None else inverse(y), part.owner.inputs[0]
    if part.owner is None or not isinstance(part.owner.op, (Subtensor, AdvancedSubtensor)):
        raise GraphTypeError(f"expected a part of a tensor, x[index], as the first argument; got {x}.")
    whole, *index = part.owner.inputs
    op = IncSubtensor if isinstance(part.owner.op, Subtensor) else AdvancedIncSubtensor
    return op(part.owner.op.idx_list, inplace=inplace, set_instead_of_inc=set_instead_of_inc)(whole, y, *index)


def set_subtensor(x: Any, y: Any, inplace: bool = False) -> Any:
    """For `x` = `a[index]`: the tensor `a` with `y` written to that part.

    Raises GraphTypeError where `x` is no part of a tensor or `y` would lose precision, StaticShapeError where `y` does not
    fit.

    >>> import termgraph.tensor as tt
    >>> a = tt.vector("a")
    >>> set_subtensor(a[:2], 0).type
    Vector(float64, shape=(?,))
    """
    return _written(x, y, inplace, True)


def inc_subtensor(x: Any, y: Any, inplace: bool = False) -> Any:
    """For `x` = `a[index]`: the tensor `a` with `y` added to that part, once for each time it is selected.

    Raises as `set_subtensor`.
    """
    return _written(x, y, inplace, False)


def take(a: Any, indices: Any, axis: int | None = None) -> Any:
    """The elements of `a` at `indices` along `axis`, of the flattened `a` by default."""
    a = as_tensor_variable(a)
    if axis is None:
        return getitem(flatten(a), indices if isinstance(indices, int) else _index_variable(indices))
    if not -a.type.ndim <= axis < a.type.ndim:
        raise GraphTypeError(f"take: there is no dimension {axis} in {a} of type {a.type}.")
    return getitem(a, (*[slice(None)] * (axis % a.type.ndim),
                       indices if isinstance(indices, int) else _index_variable(indices)))
