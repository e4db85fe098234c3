"""TensorVariable and TensorConstant: variables with operators and methods, and conversion of Python values to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from termgraph.config import config
from termgraph.errors import GraphTypeError
from termgraph.graph.op import is_pattern
from termgraph.graph.shared import SharedVariable
from termgraph.graph.type import describe_value
from termgraph.graph.variable import Constant, Variable
from termgraph.tensor.type import TensorType
from termgraph.terms.operators import Operators


class TensorOperators(Operators):
    """Operators (see `Operators`) and the methods that NumPy's arrays have; each calls the function of that name."""

    __slots__ = ()
    type: Any

    @property
    def dtype(self) -> str:
        """The dtype, as a string."""
        return self.type.dtype  # type: ignore[no-any-return]

    @property
    def broadcastable(self) -> tuple[bool, ...]:
        """Which dimensions have the static length 1."""
        return self.type.broadcastable  # type: ignore[no-any-return]

    @property
    def shape(self) -> Any:
        """The shape at run time, an integer vector."""
        return self.functions["shape"](self)

    @property
    def size(self) -> Any:
        """The number of elements at run time."""
        return self.functions["size"](self)

    @property
    def T(self) -> Any:
        """The transpose: dimensions in reverse order."""
        return self.functions["transpose"](self)

    def transpose(self, *axes: Any) -> Any:
        """The dimensions in another order."""
        chosen = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
        return self.functions["transpose"](self, chosen or None)

    def dimshuffle(self, *pattern: Any) -> Any:
        """Dimensions reordered, dropped (length 1 only) or added where the pattern has 'x'."""
        chosen = pattern[0] if len(pattern) == 1 and isinstance(pattern[0], (tuple, list)) else pattern
        return self.functions["dimshuffle"](self, chosen)

    def reshape(self, *shape: Any, ndim: int | None = None) -> Any:
        """The same elements in another shape; one length may be -1."""
        return self.functions["reshape"](self, shape[0] if len(shape) == 1 else shape, ndim=ndim)

    def flatten(self, ndim: int = 1) -> Any:
        """The trailing dimensions merged, so that `ndim` are left."""
        return self.functions["flatten"](self, ndim)

    def ravel(self) -> Any:
        """All elements in one dimension."""
        return self.functions["flatten"](self)

    def astype(self, dtype: Any) -> Any:
        """Converted to `dtype`."""
        return self.functions["cast"](self, dtype)

    def dot(self, other: Any) -> Any:
        """The matrix product."""
        return self.functions["dot"](self, other)

    def sum(self, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        """Sum over `axis` (all by default)."""
        return self.functions["sum"](self, axis=axis, dtype=dtype, keepdims=keepdims)

    def prod(self, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        """Product over `axis` (all by default)."""
        return self.functions["prod"](self, axis=axis, dtype=dtype, keepdims=keepdims)

    def mean(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Mean over `axis` (all by default)."""
        return self.functions["mean"](self, axis=axis, keepdims=keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Maximum over `axis` (all by default)."""
        return self.functions["max"](self, axis=axis, keepdims=keepdims)

    def min(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Minimum over `axis` (all by default)."""
        return self.functions["min"](self, axis=axis, keepdims=keepdims)

    def argmax(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Index of the maximum along `axis` (of the flattened array by default)."""
        return self.functions["argmax"](self, axis=axis, keepdims=keepdims)

    def clip(self, low: Any, high: Any) -> Any:
        """Elements limited to [low, high]."""
        return self.functions["clip"](self, low, high)

    def __len__(self) -> int:
        raise TypeError("the length of a symbolic variable is not known before running; use x.shape[0].")

    def __iter__(self) -> Any:
        raise TypeError("a symbolic variable cannot be iterated: its length is not known before running.")

    def __bool__(self) -> bool:
        raise TypeError("a symbolic variable is neither true nor false before running; use switch(condition, a, b).")


class TensorVariable(TensorOperators, Variable):
    """A Variable of TensorType."""

    __slots__ = ()


class TensorConstant(TensorOperators, Constant):
    """A Constant of TensorType."""

    __slots__ = ()


class TensorSharedVariable(TensorOperators, SharedVariable):
    """A SharedVariable of TensorType."""

    __slots__ = ()


TensorType.variable_type = TensorVariable
TensorType.constant_type = TensorConstant
TensorType.shared_type = TensorSharedVariable


def constant(value: Any, name: str | None = None, dtype: Any = None) -> TensorConstant:
    """A constant with the value's dtype (config.floatX for Python floats) and its full static shape.

    >>> constant([1, 2]).type
    Vector(int64, shape=(2,))
    """
    if isinstance(value, TensorConstant) and name is None and dtype is None:
        return value
    if dtype is None and not isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        if array.dtype == np.float64:
            array = array.astype(config.floatX)
    else:
        array = np.asarray(value, dtype=dtype)
    if array.dtype.kind not in "biufc":
        raise GraphTypeError(f"expected a number or a numeric array, got {describe_value(value)}.")
    return TensorConstant(TensorType(array.dtype, array.shape), array, name)


def as_tensor_variable(x: Any, name: str | None = None, ndim: int | None = None, dtype: Any = None) -> Any:
    """`x` as a variable of TensorType: itself, the constant of a number or array, or for a list that holds variables the
    variables joined. `ndim` adds broadcasting dimensions at the left. A logic variable or pattern is returned unchanged.

    Raises GraphTypeError for anything else.
    """
    if is_pattern(x):
        return x
    if isinstance(x, Variable):
        if not isinstance(x.type, TensorType):
            raise GraphTypeError(f"expected a tensor, got {x} of type {x.type}.")
        variable = x
    elif isinstance(x, Sequence) and not isinstance(x, str) and _holds_variable(x):
        variable = TensorVariable.functions["stack_list"](x)
    else:
        variable = constant(x, name=name, dtype=dtype)
    if ndim is not None and variable.type.ndim < ndim:
        order = ("x",) * (ndim - variable.type.ndim) + tuple(range(variable.type.ndim))
        variable = TensorVariable.functions["dimshuffle"](variable, order)
    elif ndim is not None and variable.type.ndim > ndim:
        raise GraphTypeError(f"expected at most {ndim} dimensions, got {variable} of type {variable.type}.")
    return variable


def _holds_variable(x: Sequence[Any]) -> bool:
    return any(isinstance(i, Variable) or (isinstance(i, (list, tuple)) and _holds_variable(i)) for i in x)


as_tensor = as_tensor_variable
