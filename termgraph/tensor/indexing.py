"""Indices: what `x[...]` selects, how long it is, and which dimensions the result has.

An index is kept as a template, a hashable tuple with an entry for each indexed dimension: an int, a `Slice`, or `INPUT`
where a variable stands, which is then an input of the node. Trailing full slices are left out. Newaxis and Ellipsis are
resolved before: the template has neither.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from termgraph.errors import GraphTypeError
from termgraph.graph.op import Op
from termgraph.graph.variable import Constant, Variable
from termgraph.tensor.elementwise import broadcast_static, cast
from termgraph.tensor.scalar import add, int_div, lt, maximum, minimum, sub, switch


class Marker(enum.Enum):
    """What a template holds where a variable stands."""

    INPUT = "input"

    def __repr__(self) -> str:
        return "INPUT"


INPUT = Marker.INPUT


class Slice(NamedTuple):
    """A slice that can be hashed; each part is None, an int or INPUT."""

    start: Any = None
    stop: Any = None
    step: Any = None

    def __repr__(self) -> str:
        parts = ["" if p is None else str(p) if isinstance(p, int) else "?" for p in self]
        return f"{parts[0]}:{parts[1]}" + (f":{parts[2]}" if parts[2] else "")


FULL = Slice()
Template = tuple[Any, ...]


def as_template(entries: Sequence[Any]) -> Template:
    """`entries` with slices made hashable and trailing full slices left out; raises GraphTypeError for other entries."""
    template: list[Any] = []
    for entry in entries:
        if isinstance(entry, slice):
            entry = Slice(entry.start, entry.stop, entry.step)
        parts = entry if isinstance(entry, Slice) else (entry,)
        if any(not (p is INPUT or isinstance(p, int) or (p is None and isinstance(entry, Slice))) for p in parts):
            raise GraphTypeError(f"an index template holds ints, slices and INPUT, got {entry!r}.")
        if isinstance(entry, Slice) and entry.step == 0:
            raise ValueError("the step of a slice cannot be 0.")
        template.append(Slice(entry.start, entry.stop, None if entry.step == 1 else entry.step)
                        if isinstance(entry, Slice) else entry)
    while template and template[-1] == FULL:
        template.pop()
    return tuple(template)


def count_inputs(template: Template) -> int:
    """How many variables the template has a place for."""
    return sum(part is INPUT for entry in template for part in (entry if isinstance(entry, Slice) else (entry,)))


def fill_template(template: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """The entries of the template with its markers replaced by `values`, in order; the Slices stay Slices."""
    rest = iter(values)
    return [Slice(*[next(rest) if p is INPUT else p for p in entry]) if isinstance(entry, Slice)
            else next(rest) if entry is INPUT else entry for entry in template]


def numpy_index(template: Template, values: Sequence[Any]) -> tuple[Any, ...]:
    """The index NumPy takes; 0-d arrays become ints, and a final Ellipsis makes sure that the result is an array."""
    plain = [v.item() if v.ndim == 0 else v for v in values]
    return (*[slice(*e) if isinstance(e, Slice) else e for e in fill_template(template, plain)], Ellipsis)


# --- lengths of slices ------------------------------------------------------------------------------------------------


def static_slice_length(entry: Slice, length: int | None) -> int | None:
    if entry == FULL:
        return length
    if length is None or any(p is INPUT for p in entry):
        return None
    return len(range(*slice(*entry).indices(length)))


def _int64(x: Any) -> Any:
    """As a Python int where it is known, else as an int64 variable (a smaller one could overflow)."""
    if isinstance(x, int):
        return x
    return int(x.data) if isinstance(x, Constant) else cast(x, "int64")


def _choose(condition: Any, yes: Any, no: Any) -> Any:
    if isinstance(condition, bool):
        return yes if condition else no
    return switch(condition, yes, no)


def _either(constant: Callable[..., Any], symbolic: Callable[..., Any]) -> Callable[..., Any]:
    """`constant` on ints, else `symbolic`."""
    return lambda a, b: (constant if isinstance(a, int) and isinstance(b, int) else symbolic)(a, b)


_low, _high = _either(min, minimum), _either(max, maximum)
_plus, _minus = _either(int.__add__, add), _either(int.__sub__, sub)
_over, _below = _either(int.__floordiv__, int_div), _either(int.__lt__, lt)


def slice_length(entry: Slice, length: Any) -> Any:
    """How many positions of a dimension of this `length` (int or variable) a slice with ints and variables selects.

    >>> slice_length(Slice(1, None, 2), 6)
    3
    """
    if entry == FULL:
        return length
    n = _int64(length)
    start, stop, step = (None if p is None else _int64(p) for p in entry)
    if step is None:
        step = 1

    def bound(value: Any, default: Any, low: Any, high: Any) -> Any:
        if value is None:
            return default
        return _choose(_below(value, 0), _high(_plus(value, n), low), _low(value, high))

    def forward() -> Any:
        distance = _minus(bound(stop, n, 0, n), bound(start, 0, 0, n))
        return _high(distance if step == 1 else _over(_plus(distance, _minus(step, 1)), step), 0)

    def backward() -> Any:
        last = _minus(n, 1)
        distance = _minus(bound(start, last, -1, last), bound(stop, -1, -1, last))
        return _high(_over(_minus(_plus(1, step), distance), step), 0)

    if isinstance(step, int):
        return forward() if step > 0 else backward()
    return switch(lt(step, 0), backward(), forward())


# --- where the dimensions go ------------------------------------------------------------------------------------------


class Layout(NamedTuple):
    """The dimensions of a result, in order: ("dim", d) for a sliced dimension of the input, ("array", i) for dimension i of
    the broadcast index arrays, None for a newaxis; and which dimensions of the input the index arrays take."""

    dims: list[Any]
    taken: list[int]


def is_mask(entry: Any) -> bool:
    return isinstance(entry, Variable) and entry.type.dtype == "bool"  # type: ignore[attr-defined]


def is_index_array(entry: Any) -> bool:
    return isinstance(entry, Variable) and (entry.type.ndim > 0 or is_mask(entry))  # type: ignore[attr-defined]


def layout(entries: Sequence[Any], ndim: int) -> Layout:
    """The layout of a result by NumPy's rule: the dimensions of the index arrays replace those they index where these are
    neighbours, and come first where something else stands between them. Integers count as arrays among arrays."""
    arrays = [e for e in entries if is_index_array(e)]
    block = [("array", i) for i in range(max((1 if is_mask(a) else a.type.ndim for a in arrays), default=0))]
    dims: list[Any] = []
    taken: list[int] = []
    runs, at, position, inside = 0, 0, 0, False
    for entry in entries:
        if entry is None or isinstance(entry, Slice):
            dims.append(None if entry is None else ("dim", position))
            position += entry is not None
            inside = False
            continue
        if arrays and not inside:
            runs, at, inside = runs + 1, len(dims), True
        width = entry.type.ndim if is_mask(entry) else 1
        taken.extend(range(position, position + width))
        position += width
    dims.extend(("dim", d) for d in range(position, ndim))
    if arrays:
        at = at if runs == 1 else 0
        dims[at:at] = block
    return Layout(dims, taken)


def aligned_lengths(shapes: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """For each dimension of the broadcast index arrays, the lengths that meet there."""
    ndim = max(len(s) for s in shapes)
    return [[s[d - ndim + len(s)] for s in shapes if d - ndim + len(s) >= 0] for d in range(ndim)]


# --- index arrays -----------------------------------------------------------------------------------------------------


def static_block(arrays: Sequence[Any]) -> list[int | None]:
    ndim = max(1 if is_mask(a) else a.type.ndim for a in arrays)
    shapes = [(None,) if is_mask(a) else a.type.shape for a in arrays]
    return broadcast_static("an index", [(1,) * (ndim - len(s)) + tuple(s) for s in shapes])


def entry_of(entries: Sequence[Any], dimension: int) -> int | None:
    """The position of the entry that indexes `dimension`, None where no entry does."""
    position = 0
    for at, entry in enumerate(entries):
        width = entry.type.ndim if is_mask(entry) else 1
        if position <= dimension < position + width:
            return at
        position += width
    return None


def run_time_block(arrays: Sequence[Any], shape_of: dict[Any, Any]) -> list[Any]:
    """The lengths of the broadcast index arrays, at run time."""
    shapes = [[(cast(a, "int64").sum(), None)] if is_mask(a) else list(zip(shape_of[a], a.type.shape, strict=True))
              for a in arrays]
    if not shapes:
        return []
    return [next((length for length, static in met if static != 1), 1) for met in aligned_lengths(shapes)]


def check_block(op: Op, variables: Sequence[Any], values: Sequence[Any]) -> None:
    """Raise IndexError where index arrays differ in length and no type allows broadcasting there."""
    shapes = []
    for variable, value in zip(variables, values, strict=True):
        if is_mask(variable):
            shapes.append([(int(np.count_nonzero(value)), False)])
        elif variable.type.ndim:
            shapes.append(list(zip(value.shape, variable.type.broadcastable, strict=True)))
    if len(shapes) < 2:
        return
    for met in aligned_lengths(shapes):
        lengths = {length for length, broadcasts in met if not broadcasts}
        if len(lengths) > 1:
            raise IndexError(f"{op}: the index arrays differ in length: {sorted(lengths)}. "
                             "A dimension broadcasts only where its type says its length is 1.")
