"""The shape of a tensor as a value, and reshaping.

A shape is an int64 vector (`shape`), or one int64 scalar for each dimension (`shape_tuple`); what the type knows becomes a
constant.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from termgraph.errors import GraphTypeError, StaticShapeError
from termgraph.graph.apply import Apply
from termgraph.graph.null import DisconnectedType
from termgraph.graph.op import Op, Thunk, is_pattern
from termgraph.graph.variable import Constant, Variable, literal_of
from termgraph.tensor.elementwise import as_same_kind, cast, float_zeros_like
from termgraph.tensor.scalar import lt, maximum, mul, switch
from termgraph.tensor.type import DISCRETE, TensorType
from termgraph.tensor.variable import TensorVariable, as_tensor_variable, constant
from termgraph.terms.term import OpTerm

__all__ = ["MakeVector", "Reshape", "Shape", "Shape_i", "SpecifyShape", "flatten", "make_vector", "reshape", "shape", "shape_i",
           "shape_tuple", "size", "specify_shape", "stack_list"]


class Shape(Op):
    """The shape of a variable whose type has dimensions, an int64 vector."""

    __props__ = ()
    typed_by_inputs = True

    def make_node(self, x: Any) -> Apply:
        x = _with_dimensions(x)
        return Apply(self, [x], [TensorType("int64", (x.type.ndim,)).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        output_storage[0][0] = np.array(inputs[0].shape, dtype=np.int64)

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [(node.inputs[0].type.ndim,)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False]]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        return [DisconnectedType()()]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None]


class Shape_i(Op):
    """The length of dimension `i`, an int64 scalar."""

    __props__ = ("i",)
    typed_by_inputs = True

    def __init__(self, i: int) -> None:
        self.i = int(i)

    def make_node(self, x: Any) -> Apply:
        x = _with_dimensions(x)
        if not 0 <= self.i < x.type.ndim:
            raise GraphTypeError(f"{x} of type {x.type} has {x.type.ndim} dimensions, so it has no dimension {self.i}.")
        return Apply(self, [x], [TensorType("int64", ()).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        output_storage[0][0] = np.array(inputs[0].shape[self.i], dtype=np.int64)

    def make_thunk(self, node: Apply, storage_map: Any, compute_map: Any, no_recycling: Any, impl: str | None = None) -> Thunk:
        source, target = storage_map[node.inputs[0]], storage_map[node.outputs[0]]
        computed, i, int64 = compute_map[node.outputs[0]], self.i, np.dtype("int64")

        def thunk() -> None:
            target[0] = np.array(source[0].shape[i], int64)
            computed[0] = True
        return thunk

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [()]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False]]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        return [DisconnectedType()()]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None]


def _with_dimensions(x: Any) -> Any:
    """`x` as a variable that has a shape: a tensor, or one of another type with `ndim` (sparse)."""
    if not isinstance(x, Variable):
        x = as_tensor_variable(x)
    if x.type.ndim is None:
        raise GraphTypeError(f"expected a variable with a shape, got {x} of type {x.type}.")
    return x


def shape(x: Any) -> Any:
    """The shape of `x`, an int64 vector of static length `x.ndim`; a constant where the type knows all lengths.

    >>> import termgraph.tensor as tt
    >>> tt.shape(tt.matrix("x")).type
    Vector(int64, shape=(2,))
    >>> tt.shape([[1.0, 2.0]]).data
    array([1, 2])
    """
    if is_pattern(x):
        return Shape()(x)
    x = _with_dimensions(x)
    if None not in x.type.shape:
        return constant(np.array(x.type.shape, dtype=np.int64))
    return Shape()(x)


def shape_i(x: Any, i: Any) -> Any:
    """The length of dimension `i` of `x`, an int64 scalar; a constant where the type knows it.

    `i` may be negative. Raises GraphTypeError where `x` has no such dimension.
    """
    if is_pattern(x) or is_pattern(i):
        return OpTerm(Shape_i, i=i)(x)
    x = _with_dimensions(x)
    position = i + x.type.ndim if i < 0 else i
    if not 0 <= position < x.type.ndim:
        raise GraphTypeError(f"{x} of type {x.type} has {x.type.ndim} dimensions, so it has no dimension {i}.")
    static = x.type.shape[position]
    return Shape_i(position)(x) if static is None else as_length(static)


def shape_tuple(x: Any) -> tuple[Any, ...]:
    """The lengths of all dimensions of `x`, int64 scalars; constants where the type knows them."""
    x = _with_dimensions(x)
    return tuple(shape_i(x, i) for i in range(x.type.ndim))


def size(x: Any) -> Any:
    """The number of elements of `x`, an int64 scalar; a constant where the type knows it."""
    return product(shape_tuple(x))


# --- lengths ----------------------------------------------------------------------------------------------------------


def as_length(x: Any) -> Any:
    """`x` as an int64 scalar variable; raises GraphTypeError where it is no integer scalar."""
    x = as_tensor_variable(x)
    if x.type.ndim != 0 or x.type.dtype not in DISCRETE or x.type.dtype == "bool":
        raise GraphTypeError(f"a length must be an integer scalar, got {x} of type {x.type}.")
    if isinstance(x, Constant) and x.type.dtype != "int64":
        return constant(int(x.data))
    return cast(x, "int64")


def known_length(x: Any) -> int | None:
    """The value of a length (a variable or an int) where it is known before running."""
    found = literal_of(x) if isinstance(x, Variable) else x
    return None if found is None else int(found)


def as_lengths(lengths: Any) -> list[Any]:
    """A shape in any notation (an int, a sequence, a scalar, a vector of static length) as int64 scalars."""
    if not isinstance(lengths, Variable):
        return [as_length(n) for n in (lengths if isinstance(lengths, Iterable) else (lengths,))]
    if lengths.type.ndim == 0:
        return [as_length(lengths)]
    return elements(lengths, None)


def known_elements(vector: Any, count: int) -> list[int | None]:
    """For each of the `count` elements of a shape vector its value, None where that is not known before running."""
    if isinstance(vector, Constant):
        return [int(n) for n in vector.data]
    if vector.owner is not None and isinstance(vector.owner.op, MakeVector):
        return [known_length(n) for n in vector.owner.inputs]
    if vector.owner is not None and isinstance(vector.owner.op, Shape):
        return list(vector.owner.inputs[0].type.shape)
    return [None] * count


def elements(vector: Any, count: int | None) -> list[Any]:
    """The elements of a shape vector as int64 scalars. `count` says how many, where the type does not."""
    if vector.type.ndim != 1:
        raise GraphTypeError(f"a shape must be a vector of integers, got {vector} of type {vector.type}.")
    count = vector.type.shape[0] if vector.type.shape[0] is not None else count
    if count is None:
        raise GraphTypeError(f"the number of dimensions must be known, but the shape {vector} of type {vector.type} has no "
                             "static length; say how many with ndim= or specify_shape.")
    owner = vector.owner
    if owner is not None and isinstance(owner.op, MakeVector):
        return [as_length(n) for n in owner.inputs]
    if owner is not None and isinstance(owner.op, Shape):
        return list(shape_tuple(owner.inputs[0]))
    known = known_elements(vector, count)
    getitem = TensorVariable.functions["getitem"]
    return [as_length(getitem(vector, i) if n is None else n) for i, n in enumerate(known)]


def product(lengths: Iterable[Any]) -> Any:
    """The product of lengths (ints or variables), an int64 scalar; the known ones are multiplied before running."""
    known, unknown = 1, None
    for length in lengths:
        value = known_length(length)
        if value is not None:
            known *= value
        else:
            unknown = length if unknown is None else mul(unknown, length)
    if unknown is None or known == 0:
        return as_length(known)
    return unknown if known == 1 else mul(unknown, known)


# --- vectors of scalars -----------------------------------------------------------------------------------------------


class MakeVector(Op):
    """The vector of scalars, in `dtype`, to which the scalars are converted where nothing is lost.

    Raises GraphTypeError for inputs that have dimensions, or a dtype that `dtype` cannot hold.
    """

    __props__ = ("dtype",)
    typed_by_inputs = True

    def __init__(self, dtype: str = "int64") -> None:
        self.dtype = str(np.dtype(dtype))

    def make_node(self, *inputs: Any) -> Apply:
        scalars = [as_tensor_variable(i) for i in inputs]
        for position, x in enumerate(scalars):
            if x.type.ndim != 0:
                raise GraphTypeError(f"{self} takes scalars, got as argument {position} {x} of type {x.type}.")
            if not np.can_cast(x.type.numpy_dtype, self.dtype):
                raise GraphTypeError(f"{self} cannot hold argument {position}, {x} of type {x.type}, without loss; "
                                     f"convert it with .astype({self.dtype!r}).")
        converted = [cast(x, self.dtype) for x in scalars]
        return Apply(self, converted, [TensorType(self.dtype, (len(scalars),)).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        output_storage[0][0] = np.array(inputs, dtype=self.dtype)

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [(len(node.inputs),)]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        if self.dtype in DISCRETE:
            return [float_zeros_like(x) for x in inputs]
        return [TensorVariable.functions["getitem"](cotangents[0], i) for i in range(len(inputs))]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        if self.dtype in DISCRETE or all(t is None for t in tangents):
            return [None]
        zero = constant(0, dtype=self.dtype)
        return [self(*[zero if t is None else t for t in tangents])]


def make_vector(*scalars: Any) -> Any:
    """The vector of scalars (variables or numbers), in the dtype NumPy would promote them to.

    >>> import termgraph.tensor as tt
    >>> make_vector(tt.lscalar("n"), 2).type
    Vector(int64, shape=(2,))
    """
    if any(is_pattern(s) for s in scalars):
        return OpTerm(MakeVector)(*scalars)
    same = as_same_kind(scalars)
    dtype = np.result_type(*[s.type.numpy_dtype for s in same]) if same else np.dtype("int64")
    return MakeVector(str(dtype))(*same)


def stack_list(parts: Sequence[Any]) -> Any:
    """The tensor of a list, perhaps nested, that holds variables: its parts joined along a new first dimension."""
    converted = [p if isinstance(p, (bool, int, float)) else as_tensor_variable(p) for p in parts]
    if all(not isinstance(p, Variable) or p.type.ndim == 0 for p in converted):
        return make_vector(*converted)
    return TensorVariable.functions["stack"](converted)


# --- the same elements in another shape -------------------------------------------------------------------------------


class Reshape(Op):
    """The elements of the first input, in C order, in the shape that the second, an integer vector, says.

    One length may be -1: it follows from the others. Raises StaticShapeError where the numbers of elements are known and
    differ, ValueError where they differ at run time.
    """

    __props__ = ("ndim",)
    view_map = {0: [0]}  # noqa: RUF012
    fills_with = 0

    def __init__(self, ndim: int) -> None:
        self.ndim = int(ndim)

    def make_node(self, x: Any, lengths: Any) -> Apply:
        x = as_tensor_variable(x)
        lengths = constant(lengths, dtype="int64") if _empty(lengths) else as_tensor_variable(lengths)
        if lengths.type.ndim != 1 or lengths.type.dtype not in DISCRETE or lengths.type.dtype == "bool":
            raise GraphTypeError(f"a shape must be a vector of integers, got {lengths} of type {lengths.type}.")
        if lengths.type.shape[0] not in (None, self.ndim):
            raise GraphTypeError(f"{self} takes a shape with {self.ndim} lengths, got {lengths} of type {lengths.type}.")
        static = _reshaped(x.type.shape, known_elements(lengths, self.ndim))
        return Apply(self, [x, lengths], [TensorType(x.type.dtype, static).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        x, lengths = inputs
        if len(lengths) != self.ndim:
            raise ValueError(f"{self} takes a shape with {self.ndim} lengths, got {tuple(lengths.tolist())}.")
        if (lengths < -1).any():
            raise ValueError(f"cannot reshape {x.shape} to {tuple(lengths.tolist())}: a length must be at least 0, or -1 once.")
        output_storage[0][0] = x.reshape(lengths)

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        static = node.outputs[0].type.shape
        if None not in static:
            return [static]
        known = known_elements(node.inputs[1], self.ndim)
        entries = elements(node.inputs[1], self.ndim)
        total = product(input_shapes[0])

        def length(d: int) -> Any:
            if static[d] is not None:
                return static[d]
            if known[d] == -1:
                return total // maximum(product(entries[:d] + entries[d + 1:]), 1)
            if -1 in known or _is_length(entries[d]):
                return entries[d]
            return switch(lt(entries[d], 0), total // maximum(-product(entries), 1), entries[d])

        return [tuple(length(d) for d in range(self.ndim))]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True], [False]]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        x = inputs[0]
        if x.type.dtype in DISCRETE:
            return [float_zeros_like(x), DisconnectedType()()]
        return [Reshape(x.type.ndim)(cotangents[0], shape(x)), DisconnectedType()()]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None if tangents[0] is None else self(tangents[0], inputs[1])]


def _empty(lengths: Any) -> bool:
    return isinstance(lengths, Sequence) and len(lengths) == 0


def _is_length(x: Any) -> bool:
    """Whether `x` is the length of something, and so not negative."""
    return x.owner is not None and isinstance(x.owner.op, Shape_i)


def _reshaped(old: Sequence[int | None], new: Sequence[int | None]) -> list[int | None]:
    """The static shape of an `old` reshaped to `new`, of which -1 follows from the others and None is not known."""
    if list(new).count(-1) > 1 or any(n is not None and n < -1 for n in new):
        raise StaticShapeError("cannot reshape", [tuple(old), tuple(new)], "lengths that are at least 0, or -1 once")
    static = [None if n == -1 else n for n in new]
    if None in old:
        return static
    total, rest = prod(n for n in old if n is not None), prod(n for n in static if n is not None)
    open_places = [d for d, n in enumerate(static) if n is None]
    if (not open_places and total != rest) or (open_places and total and (rest == 0 or total % rest)):
        raise StaticShapeError("cannot reshape", [tuple(old), tuple(new)], "the same number of elements")
    if len(open_places) == 1 and rest:
        static[open_places[0]] = total // rest
    return static


def reshape(x: Any, newshape: Any, ndim: int | None = None) -> Any:
    """The elements of `x`, in C order, in the shape `newshape`; one length may be -1.

    `newshape` is an int, a sequence of ints and integer scalars, or an integer vector; `ndim` is needed for a vector
    whose static length is not known. The result may be a view.

    >>> import termgraph.tensor as tt
    >>> x = tt.vector("x")
    >>> tt.reshape(x, (-1, 3)).type
    Matrix(float64, shape=(?, 3))

    Raises StaticShapeError where the numbers of elements are known and differ.
    """
    several = isinstance(newshape, Sequence)
    if is_pattern(newshape) or (not several and is_pattern(x)):
        return (OpTerm(Reshape) if ndim is None else Reshape(ndim))(x, newshape)
    if several and any(is_pattern(n) for n in newshape):
        return Reshape(len(newshape))(x, make_vector(*newshape))
    if not (isinstance(newshape, (Variable, np.ndarray)) and newshape.ndim == 1):
        newshape = as_lengths(newshape)
        known = [known_length(n) for n in newshape]
        newshape = make_vector(*newshape) if None in known else constant(np.array(known, dtype=np.int64))
    newshape = as_tensor_variable(newshape)
    count = newshape.type.shape[0] if newshape.type.shape[0] is not None else ndim
    if count is None:
        raise GraphTypeError(f"the number of dimensions must be known, but the shape {newshape} of type {newshape.type} has "
                             "no static length; say how many with ndim=.")
    if ndim is not None and ndim != count:
        raise GraphTypeError(f"expected a shape with ndim={ndim} lengths, got {newshape} of type {newshape.type}.")
    return Reshape(count)(x, newshape)


def flatten(x: Any, ndim: int = 1) -> Any:
    """`x` with its last dimensions merged so that `ndim` are left, 1 <= ndim <= max(1, x.ndim).

    >>> import termgraph.tensor as tt
    >>> tt.flatten(tt.tensor3("x"), 2).type
    Matrix(float64, shape=(?, ?))
    """
    if is_pattern(x):
        if ndim != 1:
            raise GraphTypeError("a pattern can only be flattened to one dimension; write a reshape with its lengths.")
        return Reshape(1)(x, constant([-1]))
    x = as_tensor_variable(x)
    if not 1 <= ndim <= max(1, x.type.ndim):
        raise GraphTypeError(f"expected 1 <= ndim <= {max(1, x.type.ndim)} to flatten {x} of type {x.type}, got {ndim}.")
    if x.type.ndim == ndim:
        return x
    if ndim == 1:
        return Reshape(1)(x, constant([-1]))
    # Not -1, which is ambiguous where one of the lengths kept is 0.
    lengths = shape_tuple(x)
    return reshape(x, [*lengths[:ndim - 1], product(lengths[ndim - 1:])])


class SpecifyShape(Op):
    """The first input, whose lengths are checked at run time against the other inputs, one for each dimension.

    None (kept as -1) leaves a dimension unchecked. Lengths known before running become part of the type. Raises
    StaticShapeError where the type contradicts them, ValueError where the value does.
    """

    __props__ = ()
    view_map = {0: [0]}  # noqa: RUF012
    fills_with = 0

    def make_node(self, x: Any, *lengths: Any) -> Apply:
        x = as_tensor_variable(x)
        if len(lengths) != x.type.ndim:
            raise GraphTypeError(f"expected {x.type.ndim} lengths for {x} of type {x.type}, got {len(lengths)}.")
        checked = [as_length(-1 if n is None else n) for n in lengths]
        wanted = [None if n == -1 else n for n in map(known_length, checked)]
        if any(n is not None and s is not None and n != s for n, s in zip(wanted, x.type.shape, strict=True)):
            raise StaticShapeError(f"cannot specify the shape of {x}", [x.type.shape], str(tuple(wanted)))
        static = [s if n is None else n for n, s in zip(wanted, x.type.shape, strict=True)]
        return Apply(self, [x, *checked], [x.type.clone(shape=static).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        x, *lengths = inputs
        if any(n not in (-1, s) for n, s in zip(lengths, x.shape, strict=True)):
            wanted = tuple(None if n == -1 else int(n) for n in lengths)
            raise ValueError(f"{node.inputs[0]} was specified to have the shape {wanted} (None: any), got {x.shape}.")
        output_storage[0][0] = x

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        static = node.outputs[0].type.shape
        return [tuple(given if n is None else n for n, given in zip(static, input_shapes[0], strict=True))]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True]] + [[False]] * (len(node.inputs) - 1)

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        x = inputs[0]
        g = float_zeros_like(x) if x.type.dtype in DISCRETE else cotangents[0]
        return [g] + [DisconnectedType()() for _ in inputs[1:]]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None if tangents[0] is None else self(tangents[0], *inputs[1:])]


def specify_shape(x: Any, shape: Any) -> Any:  # the parameter has the field's name
    """`x` with a shape that its type does not know: a sequence of ints, integer scalars and None (any), or a vector.

    Checked at run time; where the type says it all already, `x` itself.

    >>> import termgraph.tensor as tt
    >>> tt.specify_shape(tt.matrix("x"), (None, 3)).type
    Matrix(float64, shape=(?, 3))
    """
    if is_pattern(x):
        return SpecifyShape()(x, *shape)
    x = as_tensor_variable(x)
    if isinstance(shape, Variable) and shape.type.ndim == 1:
        lengths = elements(shape, x.type.ndim)
    else:
        lengths = list(shape) if isinstance(shape, Iterable) and not isinstance(shape, Variable) else [shape]
    if len(lengths) == x.type.ndim and all(
            n is None or (s is not None and known_length(n) == s) for n, s in zip(lengths, x.type.shape, strict=True)):
        return x
    return SpecifyShape()(x, *lengths)
