"""Constructors of variables: `scalar`, `vector`, ... in config.floatX, and `dscalar`, `fvector`, `imatrix`, ... in theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from termgraph.config import config
from termgraph.tensor.type import TensorType

_NDIMS = {"scalar": 0, "vector": 1, "row": 2, "col": 2, "matrix": 2, "tensor3": 3, "tensor4": 4, "tensor5": 5}
_DTYPES = {"b": "int8", "w": "int16", "i": "int32", "l": "int64", "f": "float32", "d": "float64", "c": "complex64",
           "z": "complex128"}


def _shape(kind: str) -> tuple[int | None, ...]:
    return {"row": (1, None), "col": (None, 1)}.get(kind) or (None,) * _NDIMS[kind]


def tensor(name: str | None = None, dtype: Any = None, shape: Sequence[int | None] = (), **kwargs: Any) -> Any:
    """A variable of TensorType(dtype, shape); dtype is config.floatX by default.

    >>> tensor("x", shape=(None, 3)).type
    Matrix(float64, shape=(?, 3))
    """
    return TensorType(dtype or config.floatX, shape)(name)


class _Constructor:
    """Makes variables of one kind; with a number of dimensions and perhaps a dtype."""

    def __init__(self, kind: str, dtype: str | None) -> None:
        self.kind, self._dtype = kind, dtype

    def __call__(self, name: str | None = None, dtype: Any = None, shape: Sequence[int | None] | None = None) -> Any:
        static = _shape(self.kind) if shape is None else tuple(shape)
        if len(static) != _NDIMS[self.kind]:
            raise ValueError(f"a {self.kind} has {_NDIMS[self.kind]} dimensions, got the shape {static}.")
        return TensorType(dtype or self._dtype or config.floatX, static)(name)

    @property
    def type(self) -> TensorType:
        """The type of the variables."""
        return TensorType(self._dtype or config.floatX, _shape(self.kind))

    def several(self, *names: str | int, dtype: Any = None) -> list[Any]:
        """Variables with these names, or as many nameless ones."""
        if len(names) == 1 and isinstance(names[0], int):
            return [self(dtype=dtype) for _ in range(names[0])]
        return [self(str(n), dtype=dtype) for n in names]


def _define() -> None:
    for kind in _NDIMS:
        for prefix, dtype in {"": None, **_DTYPES}.items():
            constructor = _Constructor(kind, dtype)
            globals()[prefix + kind] = constructor
            plural = f"{prefix}matrices" if kind == "matrix" else f"{prefix}{kind}s"
            globals()[plural] = constructor.several
            __all__.extend([prefix + kind, plural])


__all__ = ["tensor"]
_define()
