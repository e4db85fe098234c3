"""Elemwise: a scalar function applied to each element, with broadcasting. What the function is, is a Row of the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from termgraph.config import config
from termgraph.errors import GraphTypeError, StaticShapeError
from termgraph.graph.apply import Apply
from termgraph.graph.null import DisconnectedType
from termgraph.graph.op import Op, Thunk
from termgraph.graph.type import describe_value
from termgraph.graph.variable import Variable
from termgraph.tensor.dimshuffle import DimShuffle
from termgraph.tensor.type import COMPLEX, DISCRETE, TensorType
from termgraph.tensor.variable import TensorConstant, TensorVariable, as_tensor_variable, constant

#: For one input: (cotangent or tangent, *inputs, output) -> its product with the partial derivative.
Partial = Callable[..., Any]
DtypeRule = Callable[[Sequence[str]], str]


@dataclass(frozen=True, eq=False)
class Row:
    """One scalar function. Invariant: there is one Row for each function, so identity is equality.

    `partials[i](g, *inputs, output)` is g times the derivative with respect to input i, None where that is zero wherever
    it exists. It serves both derivative modes, since an elementwise function has a diagonal Jacobian.
    """

    name: str
    nin: int
    numpy: Callable[..., Any]
    dtype: DtypeRule
    partials: tuple[Partial | None, ...]
    commutative: bool = False
    #: f(identity, x) = x, where there is such a number
    identity: float | None = None
    #: f(absorbing, x) = absorbing
    absorbing: float | None = None
    #: name of the function with f(inverse(x)) = x on the domain
    inverse: str | None = None
    #: where real arguments must lie, as (low, high); tests draw from it
    domain: tuple[float, float] = (-3.0, 3.0)
    #: whether the first argument only selects among the others
    selects: bool = False
    #: facts that hold of the result whatever the arguments, over the reals: "positive", "nonnegative"
    result: tuple[str, ...] = ()
    #: the sign or strength with which it is printed: ("+", 4)
    sign: tuple[str, int] | None = None

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> Any:
        return row_named, (self.name,)


_rows: dict[str, Row] = {}


def row_named(name: str) -> Row:
    """The row of the function called `name`; raises KeyError."""
    found = _rows.get(name)
    if found is None and name.startswith("cast_"):
        return cast_row(name[5:])
    return _rows[name]


def rows() -> tuple[Row, ...]:
    """All rows of the table, in its order."""
    return tuple(_rows.values())


class Elemwise(Op):
    """`scalar_op` on each element; inputs broadcast along dimensions of static length 1.

    Lower-dimensional inputs get a DimShuffle that adds dimensions at the left. `inplace_pattern` maps the output to the
    input whose memory it takes.

    Raises GraphTypeError for inputs that are no tensors, StaticShapeError where known lengths differ and neither is 1.
    """

    __props__ = ("scalar_op", "inplace_pattern")
    typed_by_inputs = True

    def __init__(self, scalar_op: Row, inplace_pattern: dict[int, int] | tuple[tuple[int, int], ...] | None = None) -> None:
        self.scalar_op = scalar_op
        pairs = inplace_pattern.items() if isinstance(inplace_pattern, dict) else (inplace_pattern or ())
        self.inplace_pattern = tuple(sorted(pairs))
        self.destroy_map = {o: [i] for o, i in self.inplace_pattern}
        self.commutative = scalar_op.commutative
        self.nin = scalar_op.nin
        self.linear = scalar_op.name == "neg"
        self.fills_with = 1 if scalar_op.name == "second" else None

    @property
    def name(self) -> str:
        """The name of the scalar function."""
        return self.scalar_op.name

    # --- building -----------------------------------------------------------------------------------------------------

    def make_node(self, *inputs: Any) -> Apply:
        row = self.scalar_op
        if len(inputs) != row.nin:
            raise GraphTypeError(f"{row.name} takes {row.nin} arguments, got {len(inputs)}.")
        apart = int(row.selects)  # a condition has no say in the dtype of a number among the branches
        tensors = [*as_same_kind(inputs[:apart]), *as_same_kind(inputs[apart:])]
        ndim = max(t.type.ndim for t in tensors)
        aligned = [t if t.type.ndim == ndim else
                   DimShuffle(input_ndim=t.type.ndim, new_order=("x",) * (ndim - t.type.ndim) + tuple(range(t.type.ndim)))(t)
                   for t in tensors]
        dtype = row.dtype([t.type.dtype for t in aligned])
        shape = broadcast_static(row.name, [t.type.shape for t in aligned])
        return Apply(self, aligned, [TensorType(dtype, shape).make_variable()])

    # --- computing ----------------------------------------------------------------------------------------------------

    def function_for(self, node: Apply) -> Callable[..., Any]:
        """The NumPy function that gives the output its dtype on inputs of the node's dtypes."""
        return _function_for(self.scalar_op, node.outputs[0].type.numpy_dtype, *[i.type.numpy_dtype for i in node.inputs])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        check_broadcast(self, node, inputs)
        result = np.asarray(self.function_for(node)(*inputs))
        if self.inplace_pattern:
            target = inputs[self.inplace_pattern[0][1]]
            target[...] = result
            result = target
        elif any(result is i for i in inputs) or result.base is not None:
            result = result.copy()
        output_storage[0][0] = result

    def make_thunk(self, node: Apply, storage_map: Any, compute_map: Any, no_recycling: Any, impl: str | None = None) -> Thunk:
        function = self.function_for(node)
        cells = [storage_map[i] for i in node.inputs]
        target = storage_map[node.outputs[0]]
        computed = compute_map[node.outputs[0]]
        if self.inplace_pattern:
            return _inplace_thunk(self, node, function, cells, cells[self.inplace_pattern[0][1]], target, computed)
        if len(cells) > 1 and node.outputs[0].type.ndim > 0:
            return _checked_thunk(self, node, function, cells, target, computed)
        if not isinstance(function, np.ufunc):
            return self.make_py_thunk(node, storage_map, compute_map, no_recycling)
        if node.outputs[0].type.ndim == 0:
            return _scalar_thunk(function, cells, target, computed)
        return _unary_thunk(function, cells[0], target, computed)

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        lengths = []
        for d, static in enumerate(node.outputs[0].type.shape):
            if static is not None:
                lengths.append(static)
                continue
            wide = [s[d] for s, i in zip(input_shapes, node.inputs, strict=True) if not i.type.broadcastable[d]]
            lengths.append(wide[0])
        return [tuple(lengths)]

    # --- derivatives --------------------------------------------------------------------------------------------------

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        if self.scalar_op.name == "second":  # only the shape of the first argument matters
            return [[False], [True]]
        return [[True] for _ in node.inputs]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        (g,), (out,) = cotangents, outputs
        arguments = self._real_arguments(inputs, out)
        results = []
        for position, (x, partial) in enumerate(zip(inputs, self.scalar_op.partials, strict=True)):
            if self.scalar_op.name == "second" and position == 0:
                results.append(DisconnectedType()())
            elif partial is None or out.type.dtype in DISCRETE:
                results.append(float_zeros_like(x))
            else:
                results.append(unbroadcast(partial(g, *arguments, out), x))
        return results

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        (out,) = outputs
        total = None
        if out.type.dtype not in DISCRETE:
            arguments = self._real_arguments(inputs, out)
            for t, partial in zip(tangents, self.scalar_op.partials, strict=True):
                if t is not None and partial is not None:
                    part = partial(t, *arguments, out)
                    total = part if total is None else TensorVariable.functions["add"](total, part)
        if total is not None and total.type.broadcastable != out.type.broadcastable:
            total = TensorVariable.functions["second"](out, total)
        return [total if total is None else cast(total, out.type.dtype)]

    def _real_arguments(self, inputs: Sequence[Any], out: Any) -> list[Any]:
        """The arguments of the partial derivatives: integers that count as reals are converted, since 1 + x * x or y - 1 may
        not fit into their dtype."""
        if out.type.dtype in DISCRETE:
            return list(inputs)
        return [cast(x, out.type.dtype) if partial is not None and x.type.dtype in DISCRETE else x
                for x, partial in zip(inputs, self.scalar_op.partials, strict=True)]

    def __str__(self) -> str:
        name = self.scalar_op.name
        if name.startswith("cast_"):
            name = f"Cast{{{name[5:]}}}"
        return f"{name[0].upper()}{name[1:]}" + ("{inplace}" if self.inplace_pattern else "")


@cache
def _function_for(row: Row, out: np.dtype[Any], *dtypes: np.dtype[Any]) -> Callable[..., Any]:
    function = row.numpy
    if isinstance(function, np.ufunc):
        try:
            natural = function.resolve_dtypes((*dtypes, None))[-1]
        except TypeError:
            natural = None
        if natural == out:
            return function
    floating = out if out.kind in "fc" else None

    def converted(*values: Any) -> Any:
        if floating is not None:
            values = tuple(v if v.dtype.kind in "fc" else v.astype(floating) for v in values)
        return np.asarray(function(*values)).astype(out, copy=False)

    return converted


def _unary_thunk(function: Any, source: list[Any], target: list[Any], computed: list[Any]) -> Thunk:
    def thunk() -> None:
        target[0] = function(source[0])
        computed[0] = True
    return thunk


def _scalar_thunk(function: Any, cells: list[Any], target: list[Any], computed: list[Any]) -> Thunk:
    asarray = np.asarray  # ufuncs on 0-d arrays return NumPy scalars, and a value of TensorType is an array
    if len(cells) == 2:
        left, right = cells

        def thunk() -> None:
            target[0] = asarray(function(left[0], right[0]))
            computed[0] = True
    else:
        def thunk() -> None:
            target[0] = asarray(function(*[c[0] for c in cells]))
            computed[0] = True
    return thunk


def _checked_thunk(op: Elemwise, node: Apply, function: Any, cells: list[Any], target: list[Any],
                   computed: list[Any]) -> Thunk:
    # Only inputs that are not meant to broadcast against each other are compared, so the check is one comparison.
    wide = [position for position, i in enumerate(node.inputs) if not any(i.type.broadcastable)]
    ufunc = isinstance(function, np.ufunc)
    if len(cells) == 2 and ufunc and len(wide) == 2:
        left, right = cells

        def thunk() -> None:
            a, b = left[0], right[0]
            if a.shape != b.shape:
                check_broadcast(op, node, (a, b))
            target[0] = function(a, b)
            computed[0] = True
        return thunk

    def general() -> None:
        values = [c[0] for c in cells]
        check_broadcast(op, node, values)
        result = function(*values)
        if not ufunc and (result.base is not None or any(result is v for v in values)):
            result = result.copy()
        target[0] = result
        computed[0] = True
    return general


def _inplace_thunk(op: Elemwise, node: Apply, function: Any, cells: list[Any], memory: list[Any], target: list[Any],
                   computed: list[Any]) -> Thunk:
    ufunc = isinstance(function, np.ufunc)

    def thunk() -> None:
        values, out = [c[0] for c in cells], memory[0]
        if any(v.shape != out.shape for v in values):
            check_broadcast(op, node, values)  # NumPy would broadcast any input to the shape of `out`
        if ufunc:
            function(*values, out=out)
        else:
            out[...] = function(*values)
        target[0] = out
        computed[0] = True
    return thunk


def check_broadcast(op: Elemwise, node: Apply, values: Sequence[Any]) -> None:
    """Raise ValueError where dimensions differ in length and none of the types allows broadcasting there."""
    for d in range(node.outputs[0].type.ndim):
        lengths = {v.shape[d] for v, i in zip(values, node.inputs, strict=True) if not i.type.broadcastable[d]}
        if len(lengths) > 1:
            listed = ", ".join(f"{i} {v.shape}" for v, i in zip(values, node.inputs, strict=True))
            raise ValueError(f"{op.name}: the inputs differ in length along dimension {d}: {listed}. A dimension broadcasts "
                             "only where its type says its length is 1.")


def broadcast_static(name: str, shapes: Sequence[Sequence[int | None]]) -> list[int | None]:
    """The static shape of the result; raises StaticShapeError where known lengths differ and neither is 1."""
    result: list[int | None] = []
    for lengths in zip(*shapes, strict=True):
        known = {s for s in lengths if s is not None and s != 1}
        if len(known) > 1:
            raise StaticShapeError(f"cannot apply {name} elementwise", [tuple(s) for s in shapes],
                                   "lengths that are equal, or 1 where one broadcasts")
        if known:
            result.append(known.pop())
        else:
            result.append(None if None in lengths else 1)
    return result


def as_same_kind(inputs: Sequence[Any]) -> list[Any]:
    """The inputs as tensor variables, where a Python number takes the dtype the others need (as in NumPy 2)."""
    tensors = [i if isinstance(i, Variable) else None if isinstance(i, (bool, int, float)) else as_tensor_variable(i)
               for i in inputs]
    for position, t in enumerate(tensors):
        if t is not None and not isinstance(t.type, TensorType):
            raise GraphTypeError(f"argument {position} must be a tensor, got {t} of type {t.type}.")
    dtypes = [t.type.numpy_dtype for t in tensors if t is not None]
    return [t if t is not None else weak_constant(i, dtypes) for t, i in zip(tensors, inputs, strict=True)]


_weak: dict[Any, TensorConstant] = {}


def weak_constant(number: Any, dtypes: Sequence[Any]) -> TensorConstant:
    """The constant of a Python number among arguments of these dtypes; raises GraphTypeError where it does not fit."""
    if not isinstance(number, (bool, int, float)):
        raise GraphTypeError(f"expected a number, a variable or an array, got {describe_value(number)}.")
    key = (type(number), number, config.floatX, *dtypes)
    if number == number and number != 0 and key in _weak:  # NaN, and 0.0 against -0.0, would be mistaken
        return _weak[key]
    if isinstance(number, bool) or not dtypes:
        result = constant(number)
    else:
        base = np.result_type(*dtypes)
        dtype = np.result_type(base, number)
        if base.kind in "biu" and isinstance(number, float):
            dtype = np.dtype(config.floatX)
        try:
            result = constant(number, dtype=dtype)
        except OverflowError as error:
            raise GraphTypeError(f"the number {number} does not fit into {dtype}, the dtype of the other arguments; "
                                 "convert them with .astype first.") from error
    if len(_weak) < 4096:
        _weak[key] = result
    return result


def unbroadcast(g: Any, x: Any) -> Any:
    """The cotangent `g` of a broadcast result, summed back to the shape of the input `x`, in a float dtype."""
    f = TensorVariable.functions
    axes = [d for d, (small, large) in enumerate(zip(x.type.broadcastable, g.type.broadcastable, strict=True))
            if small and not large]
    if axes:
        g = f["sum"](g, axis=tuple(axes), keepdims=True)
    if any(b and not a for a, b in zip(x.type.broadcastable, g.type.broadcastable, strict=True)):
        g = f["second"](x, g)
    if x.type.dtype not in DISCRETE and g.type.dtype != x.type.dtype:
        if g.type.dtype in COMPLEX and x.type.dtype not in COMPLEX:
            g = f["real"](g)
        g = f["cast"](g, x.type.dtype)
    return g


def float_zeros_like(x: Any) -> Any:
    """Zeros of the shape of `x`, in its dtype where that is a float, else in floatX."""
    dtype = config.floatX if x.type.dtype in DISCRETE else x.type.dtype
    return TensorVariable.functions["zeros_like"](x, dtype=dtype)


def elementwise(name: str, nin: int, numpy: Callable[..., Any], dtype: DtypeRule, *partials: Partial | None,
                **facts: Any) -> Elemwise:
    """Add a row to the table, and return the Op: the function to call."""
    if name in _rows:
        raise ValueError(f"the table already has a row {name!r}.")
    if len(partials) != nin:
        raise ValueError(f"the row {name!r} takes {nin} arguments and has {len(partials)} partial derivatives.")
    row = _rows[name] = Row(name, nin, numpy, dtype, partials, **facts)
    return Elemwise(row)


_casts: dict[str, Row] = {}


def cast_row(dtype: str) -> Row:
    """The row of the conversion to `dtype`."""
    row = _casts.get(dtype)
    if row is None:
        target = np.dtype(dtype)
        row = _casts[dtype] = Row(f"cast_{dtype}", 1, lambda x: x.astype(target), lambda _: dtype, (lambda g, x, y: g,))
    return row


def cast(x: Any, dtype: Any) -> Any:
    """`x` converted to `dtype`; `x` itself where it has that dtype."""
    x = as_tensor_variable(x)
    dtype = config.floatX if dtype == "floatX" else str(np.dtype(dtype))
    if getattr(getattr(x, "type", None), "dtype", None) == dtype:
        return x
    return Elemwise(cast_row(dtype))(x)
