"""shared: a variable with a value that outlives the calls of functions."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix

from termgraph.errors import GraphTypeError
from termgraph.graph.shared import SharedVariable
from termgraph.graph.trace import capture
from termgraph.graph.type import Type, describe_value
from termgraph.graph.variable import Variable
from termgraph.sparse.type import SparseTensorType
from termgraph.tensor.type import TensorType


@singledispatch
def shared_type(value: Any) -> Type:
    """The Type of a shared variable with this first value; register a function to serve values of another class."""
    raise GraphTypeError(f"shared takes a number, an array, a list of numbers or a sparse matrix, got {describe_value(value)}.")


@shared_type.register(bool)
@shared_type.register(int)
@shared_type.register(float)
@shared_type.register(complex)
@shared_type.register(list)
@shared_type.register(tuple)
@shared_type.register(np.generic)
@shared_type.register(np.ndarray)
def _(value: Any) -> Type:
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise GraphTypeError(f"shared takes numbers, got {describe_value(array)}.")
    # No static length: the value may get another shape later.
    return TensorType(array.dtype, (None,) * array.ndim)


@shared_type.register(csr_matrix)
@shared_type.register(csc_matrix)
def _(value: Any) -> Type:
    return SparseTensorType(value.format, value.dtype)


@shared_type.register(Variable)
def _(value: Any) -> Type:
    raise GraphTypeError(f"shared takes a value, got the symbolic variable {value}.")


def shared(value: Any, name: str | None = None, strict: bool = False, allow_downcast: bool | None = None,
           borrow: bool = False, *, shape: Sequence[int | None] | None = None) -> Any:
    """A shared variable holding `value`: an input with a value of its own, which functions read and may update.

    The type has the value's dtype and rank; its lengths are unknown unless `shape` gives them. `strict` refuses later
    values that would have to be converted, `allow_downcast` allows conversions that lose precision. The value is copied
    unless `borrow`.

    Raises GraphTypeError for a value that is not numeric.

    >>> w = shared([1.0, 2.0], "w")
    >>> w.type, w.get_value()
    (Vector(float64, shape=(?,)), array([1., 2.]))
    """
    chosen: Any = shared_type(value)
    if shape is not None:
        chosen = chosen.clone(shape=shape)
    own = value if borrow else copy.deepcopy(value)
    variable: SharedVariable = chosen.shared_type(chosen, own, name, strict=False, allow_downcast=allow_downcast)
    variable.container.strict = strict
    variable.trace = capture()
    return variable
