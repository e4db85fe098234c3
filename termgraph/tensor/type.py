"""TensorType: arrays of one dtype, with as much of the shape as is known before running."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from termgraph.errors import GraphTypeError
from termgraph.graph.type import Type, describe_value
from termgraph.graph.variable import Variable

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
)
DISCRETE = frozenset(DTYPES[:9])
FLOATING = frozenset(DTYPES[9:12])
COMPLEX = frozenset(DTYPES[12:])

StaticShape = tuple[int | None, ...]


class TensorType(Type):
    """Arrays of `dtype` whose dimension i has length `shape[i]`, None where that is not known before running.

    A dimension broadcasts exactly when its static length is 1: one that merely happens to be 1 at run time does not.
    Instances are interned: equal types are identical.

    >>> TensorType("float64", (None, 3))
    Matrix(float64, shape=(?, 3))
    """

    __slots__ = ("broadcastable", "dtype", "numpy_dtype", "shape")
    _interned: ClassVar[dict[Any, TensorType]] = {}

    dtype: str
    shape: StaticShape
    broadcastable: tuple[bool, ...]
    numpy_dtype: np.dtype[Any]

    def __new__(cls, dtype: Any, shape: Sequence[int | bool | None] | None = None, name: str | None = None,
                broadcastable: Sequence[bool] | None = None) -> TensorType:
        if type(dtype) is str and type(shape) is tuple and 0 not in shape:  # False would be found as the length 0
            found = cls._interned.get((cls, dtype, shape))
            if found is not None:
                return found
        if shape is None:
            if broadcastable is None:
                raise GraphTypeError("TensorType needs a shape: a tuple with an int or None for each dimension.")
            shape = tuple(1 if b else None for b in broadcastable)
        dtype = str(np.dtype(dtype))
        if dtype not in DTYPES:
            raise GraphTypeError(f"no tensor has dtype {dtype!r}; the dtypes are {', '.join(DTYPES)}.")
        static: list[int | None] = []
        for length in shape:
            if isinstance(length, (bool, np.bool_)):  # the older notation: whether the dimension broadcasts
                length = 1 if length else None
            if length is not None and (not isinstance(length, (int, np.integer)) or length < 0):
                raise GraphTypeError(f"a static length must be None or an int >= 0, got {length!r}.")
            static.append(None if length is None else int(length))
        key = (cls, dtype, tuple(static))
        found = cls._interned.get(key)
        if found is None:
            found = super().__new__(cls)
            found.dtype, found.shape = dtype, tuple(static)
            found.broadcastable = tuple(s == 1 for s in static)
            found.numpy_dtype = np.dtype(dtype)
            found = cls._interned.setdefault(key, found)
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.dtype, self.shape)

    def __deepcopy__(self, memo: Any) -> TensorType:
        return self

    def __copy__(self) -> TensorType:
        return self

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def clone(self, dtype: Any = None, shape: Sequence[int | None] | None = None) -> TensorType:
        """This type with another dtype or static shape."""
        return type(self)(dtype or self.dtype, self.shape if shape is None else shape)

    def in_same_class(self, otype: Type) -> bool:
        return (isinstance(otype, TensorType) and otype.dtype == self.dtype and otype.broadcastable == self.broadcastable)

    def is_super(self, otype: Type) -> bool:
        if self is otype:
            return True
        return (isinstance(otype, TensorType) and otype.dtype == self.dtype and len(otype.shape) == len(self.shape)
                and all(a is None or a == b for a, b in zip(self.shape, otype.shape, strict=True)))

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        if not (type(data) is np.ndarray and data.dtype is self.numpy_dtype):
            data = self._convert(data, strict, allow_downcast)
        if data.ndim != len(self.shape):
            raise GraphTypeError(f"expected {self}, which has {len(self.shape)} dimensions, "
                                 f"got {describe_value(data)}, which has {data.ndim}.")
        for expected, got in zip(self.shape, data.shape, strict=True):
            if expected is not None and expected != got:
                raise GraphTypeError(f"expected {self}, got {describe_value(data)}: the static shape does not fit.")
        return data

    def _convert(self, data: Any, strict: bool, allow_downcast: bool | None) -> np.ndarray[Any, Any]:
        if isinstance(data, Variable):
            raise GraphTypeError(f"expected a value of type {self}, got the symbolic variable {data}; "
                                 "pass numbers or arrays to a compiled function, variables to the graph.")
        if isinstance(data, np.ndarray) and data.dtype == self.numpy_dtype:
            return np.asarray(data)
        if strict:
            raise GraphTypeError(f"expected {self} exactly (strict), got {describe_value(data)}.")
        array = np.asarray(data)
        if array.dtype == object or array.dtype.kind not in "biufc":
            raise GraphTypeError(f"expected {self}, got {describe_value(data)}, which is not numeric.")
        if allow_downcast or np.can_cast(array.dtype, self.numpy_dtype, "safe"):
            return array.astype(self.numpy_dtype)
        weak = not isinstance(data, (np.ndarray, np.generic))  # Python numbers and lists of them have no dtype of their own
        if weak and allow_downcast is None and array.dtype.kind == "f" and self.dtype in FLOATING:
            return array.astype(self.numpy_dtype)
        if weak and array.dtype.kind in "biu":
            converted = array.astype(self.numpy_dtype)
            if np.array_equal(converted, array):
                return converted
        raise GraphTypeError(f"expected {self}, got {describe_value(data)}: converting would lose precision. "
                             "Convert it yourself, or use allow_downcast=True.")

    def freeze(self, data: Any) -> Any:
        if data.flags.writeable or data.base is not None:  # a read-only view of what others may write to
            data = data.copy()
            data.flags.writeable = False
        return data

    def constant_key(self, data: Any) -> Any:
        return data.shape, data.tobytes()

    def literal_of(self, data: Any) -> Any:
        if data.size == 0:
            return None
        first = data.flat[0]
        if data.size > 1 and not (data == first).all():
            return None
        return first.item() if first == first else None

    def rounded(self, number: Any) -> Any:
        return self.numpy_dtype.type(number).item() if self.dtype in FLOATING and math.isfinite(number) else number

    @classmethod
    def samples(cls) -> tuple[Type, ...]:
        return (cls("float64", ()), cls("float64", (None,)), cls("float64", (None, None)), cls("int64", (None,)),
                cls("float32", (None,)), cls("bool", (None,)))

    def values_eq(self, a: Any, b: Any) -> bool:
        return bool(a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))

    def values_eq_approx(self, a: Any, b: Any, rtol: float | None = None, atol: float | None = None) -> bool:
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if self.dtype in DISCRETE:
            return bool(np.array_equal(a, b))
        loose = {"float16": 5e-3, "float32": 1e-4, "complex64": 1e-4}.get(self.dtype, 1e-8)
        return bool(np.allclose(a, b, rtol=loose if rtol is None else rtol, atol=loose if atol is None else atol,
                                equal_nan=True))

    @staticmethod
    def may_share_memory(a: Any, b: Any) -> bool:
        return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.may_share_memory(a, b)

    def __str__(self) -> str:
        name = {0: "Scalar", 1: "Vector", 2: "Matrix"}.get(self.ndim, f"Tensor{self.ndim}")
        shape = ", ".join("?" if s is None else str(s) for s in self.shape) + ("," if self.ndim == 1 else "")
        return f"{name}({self.dtype}, shape=({shape}))"

    __repr__ = __str__
