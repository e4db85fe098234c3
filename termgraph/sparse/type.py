"""SparseTensorType: sparse matrices of one format and dtype, with as much of the shape as is known before running."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from termgraph.errors import GraphTypeError
from termgraph.graph.type import Type, describe_value
from termgraph.graph.variable import Variable
from termgraph.sparse.storage import VALUE_CLASSES, arrays, equal
from termgraph.tensor.type import DISCRETE, DTYPES, StaticShape

#: SciPy has no float16, and its products of bools are not sums.
SPARSE_DTYPES = tuple(d for d in DTYPES if d not in ("bool", "float16"))
FORMATS = tuple(VALUE_CLASSES)


class SparseTensorType(Type):
    """Sparse matrices of `format` ("csr" or "csc") and `dtype`; `shape` holds two static lengths, None where unknown.

    The values are `scipy.sparse.csr_matrix` or `csc_matrix`; they may store zeros. Instances are interned.

    Raises GraphTypeError for a format, dtype or shape that no sparse matrix has.

    >>> SparseTensorType("csr", "float64", (None, 3))
    SparseMatrix(csr, float64, shape=(?, 3))
    """

    __slots__ = ("broadcastable", "dtype", "format", "numpy_dtype", "shape", "value_class")
    _interned: ClassVar[dict[Any, SparseTensorType]] = {}

    format: str
    dtype: str
    shape: StaticShape
    broadcastable: tuple[bool, ...]
    numpy_dtype: np.dtype[Any]
    value_class: Any

    def __new__(cls, format: str, dtype: Any, shape: Sequence[int | None] | None = None,  # noqa: A002 - PyTensor's name
                name: str | None = None) -> SparseTensorType:
        if format not in VALUE_CLASSES:
            raise GraphTypeError(f"no sparse type has the format {format!r}; the formats are {', '.join(FORMATS)}.")
        dtype = str(np.dtype(dtype))
        if dtype not in SPARSE_DTYPES:
            raise GraphTypeError(f"no sparse matrix has dtype {dtype!r}; the dtypes are {', '.join(SPARSE_DTYPES)}.")
        static = (None, None) if shape is None else tuple(shape)
        if len(static) != 2 or not all(s is None or (isinstance(s, (int, np.integer)) and s >= 0) for s in static):
            raise GraphTypeError(f"the shape of a sparse type must be two lengths, each None or an int >= 0, got {shape!r}.")
        static = tuple(None if s is None else int(s) for s in static)
        key = (cls, format, dtype, static)
        found = cls._interned.get(key)
        if found is None:
            found = super().__new__(cls)
            found.format, found.dtype, found.shape = format, dtype, static
            found.broadcastable = tuple(s == 1 for s in static)
            found.numpy_dtype = np.dtype(dtype)
            found.value_class = VALUE_CLASSES[format]
            found = cls._interned.setdefault(key, found)
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.format, self.dtype, self.shape)

    def __deepcopy__(self, memo: Any) -> SparseTensorType:
        return self

    __copy__ = __deepcopy__  # type: ignore[assignment]

    @property
    def ndim(self) -> int:
        return 2

    def clone(self, dtype: Any = None, shape: Sequence[int | None] | None = None,
              format: str | None = None) -> SparseTensorType:  # noqa: A002
        """This type with another dtype, static shape or format."""
        return type(self)(format or self.format, dtype or self.dtype, self.shape if shape is None else shape)

    def in_same_class(self, otype: Type) -> bool:
        return (isinstance(otype, SparseTensorType) and otype.format == self.format and otype.dtype == self.dtype
                and otype.broadcastable == self.broadcastable)

    def is_super(self, otype: Type) -> bool:
        if self is otype:
            return True
        return (isinstance(otype, SparseTensorType) and otype.format == self.format and otype.dtype == self.dtype
                and all(a is None or a == b for a, b in zip(self.shape, otype.shape, strict=True)))

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        if type(data) is not self.value_class or data.dtype != self.numpy_dtype:
            data = self._convert(data, strict, allow_downcast)
        if any(expected is not None and expected != got for expected, got in zip(self.shape, data.shape, strict=True)):
            raise GraphTypeError(f"expected {self}, got {describe_value(data)}: the static shape does not fit.")
        return data

    def _convert(self, data: Any, strict: bool, allow_downcast: bool | None) -> Any:
        if isinstance(data, Variable):
            raise GraphTypeError(f"expected a value of type {self}, got the symbolic variable {data}; "
                                 "pass matrices to a compiled function, variables to the graph.")
        if not scipy.sparse.issparse(data):
            raise GraphTypeError(f"expected {self}, got {describe_value(data)}, which is not sparse. Use "
                                 f"{self.format}_from_dense in the graph, or scipy.sparse.{self.format}_matrix on the value.")
        if strict:
            raise GraphTypeError(f"expected {self} exactly (strict), got {describe_value(data)}.")
        if data.ndim != 2:
            raise GraphTypeError(f"expected {self}, got {describe_value(data)}, which has {data.ndim} dimension.")
        if not (allow_downcast or np.can_cast(data.dtype, self.numpy_dtype, "safe")):
            raise GraphTypeError(f"expected {self}, got {describe_value(data)}: converting would lose precision. "
                                 "Convert it yourself, or use allow_downcast=True.")
        return self.value_class(data, dtype=self.numpy_dtype)

    def freeze(self, data: Any) -> Any:
        if any(a.flags.writeable for a in arrays(data)):
            data = data.copy()
            for array in arrays(data):
                array.flags.writeable = False
        return data

    def constant_key(self, data: Any) -> Any:
        return (data.shape, *(a.tobytes() for a in arrays(data)))

    @classmethod
    def samples(cls) -> tuple[Type, ...]:
        return tuple(cls(f, d) for d in ("float64", "float32", "int64") for f in FORMATS)

    def values_eq(self, a: Any, b: Any) -> bool:
        return equal(a, b)

    def values_eq_approx(self, a: Any, b: Any, rtol: float | None = None, atol: float | None = None) -> bool:
        if self.dtype in DISCRETE:
            return equal(a, b)
        loose = {"float32": 1e-4, "complex64": 1e-4}.get(self.dtype, 1e-8)
        return equal(a, b, loose if rtol is None else rtol, loose if atol is None else atol)

    @staticmethod
    def may_share_memory(a: Any, b: Any) -> bool:
        return any(np.may_share_memory(u, v) for u in arrays(a) for v in arrays(b))

    def __str__(self) -> str:
        shape = ", ".join("?" if s is None else str(s) for s in self.shape)
        return f"SparseMatrix({self.format}, {self.dtype}, shape=({shape}))"

    __repr__ = __str__
