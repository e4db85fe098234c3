"""Sparse variables, constants and shared variables: their operators and methods, and how values become them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import scipy.sparse

from termgraph.config import config
from termgraph.errors import GraphTypeError
from termgraph.graph.op import Op, is_pattern
from termgraph.graph.shared import SharedVariable
from termgraph.graph.type import describe_value
from termgraph.graph.variable import Constant, Variable
from termgraph.sparse.type import SparseTensorType
from termgraph.tensor.elementwise import weak_constant
from termgraph.tensor.type import TensorType
from termgraph.tensor.variable import as_tensor_variable
from termgraph.terms.operators import Operators


class SparseOperators(Operators):
    """Operators (see `Operators`) and methods of sparse variables; each calls the function of that name."""

    __slots__ = ()
    type: Any

    @property
    def format(self) -> str:
        """ "csr" or "csc"."""
        return self.type.format  # type: ignore[no-any-return]

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
    def T(self) -> Any:
        """The transpose, in the other format."""
        return self.functions["transpose"](self)

    def transpose(self) -> Any:
        """The transpose, in the other format."""
        return self.functions["transpose"](self)

    def dot(self, other: Any) -> Any:
        """The matrix product, dense."""
        return self.functions["dot"](self, other)

    def sum(self, axis: int | None = None, sparse_grad: bool = False) -> Any:
        """The sum over `axis` (all by default), dense. See `sp_sum`."""
        return self.functions["sp_sum"](self, axis=axis, sparse_grad=sparse_grad)

    def toarray(self) -> Any:
        """The same matrix, dense."""
        return self.functions["dense_from_sparse"](self)

    todense = toarray

    def astype(self, dtype: Any) -> Any:
        """Converted to `dtype`."""
        return self.functions["cast"](self, dtype)

    def asformat(self, format: str) -> Any:  # noqa: A002 - SciPy's name
        """Converted to "csr" or "csc"."""
        return self.functions["to_format"](self, format)

    def zeros_like(self, dtype: Any = None) -> Any:
        """A sparse matrix of this shape that stores nothing."""
        return self.functions["sp_zeros_like"](self, dtype)

    def __bool__(self) -> bool:
        raise TypeError("a symbolic variable is neither true nor false before running.")

    def __iter__(self) -> Any:
        raise TypeError("a symbolic variable cannot be iterated: its length is not known before running.")


class SparseVariable(SparseOperators, Variable):
    """A Variable of SparseTensorType."""

    __slots__ = ()


class SparseConstant(SparseOperators, Constant):
    """A Constant of SparseTensorType."""

    __slots__ = ()

    def __str__(self) -> str:
        return self.name if self.name is not None else f"{self.type} with {self.data.nnz} stored"


class SparseSharedVariable(SparseOperators, SharedVariable):
    """A SharedVariable of SparseTensorType."""

    __slots__ = ()


SparseTensorType.variable_type = SparseVariable
SparseTensorType.constant_type = SparseConstant
SparseTensorType.shared_type = SparseSharedVariable


def is_sparse_variable(x: Any) -> bool:
    """Whether `x` is a Variable of SparseTensorType."""
    return isinstance(x, Variable) and isinstance(x.type, SparseTensorType)


def is_sparse(x: Any) -> bool:
    """Whether `x` is a sparse variable or a sparse value of SciPy."""
    return is_sparse_variable(x) or scipy.sparse.issparse(x)


def constant(value: Any, name: str | None = None) -> SparseConstant:
    """The constant of a CSR or CSC matrix or array of SciPy, with its dtype and its full static shape.

    Raises GraphTypeError for another value.
    """
    if not scipy.sparse.issparse(value) or value.format not in ("csr", "csc"):
        raise GraphTypeError(f"expected a matrix of format csr or csc, got {describe_value(value)}. "
                             "Convert it with scipy.sparse.csr_matrix.")
    return SparseConstant(SparseTensorType(value.format, value.dtype, value.shape), value, name)


def as_sparse_variable(x: Any, name: str | None = None) -> Any:
    """`x` as a variable of SparseTensorType: itself, or the constant of a CSR or CSC matrix. A logic variable or a pattern is
    returned unchanged.

    Raises GraphTypeError for anything else, dense variables and arrays included.
    """
    if is_pattern(x) or is_sparse_variable(x):
        return x
    if isinstance(x, Variable):
        raise GraphTypeError(f"expected a sparse matrix, got {x} of type {x.type}; convert it with csr_from_dense.")
    return constant(x, name)


def as_sparse_or_tensor_variable(x: Any, name: str | None = None) -> Any:
    """`x` as a sparse variable where it is sparse, else as a tensor variable."""
    return as_sparse_variable(x, name) if is_sparse(x) else as_tensor_variable(x, name)


def sparse_input(op: Op, x: Any, which: str = "its argument") -> Any:
    """`x` as a sparse input of `op`; raises GraphTypeError that names op and argument."""
    try:
        return as_sparse_variable(x)
    except GraphTypeError as error:
        raise GraphTypeError(f"{op} takes a sparse matrix as {which}: {error}") from error


def dense_input(op: Op, y: Any, which: str, ndims: tuple[int, ...] = (2,), beside: Variable | None = None) -> Any:
    """`y` as a dense input of `op` with one of the numbers of dimensions `ndims`; a Python number takes the dtype of `beside`.

    Raises GraphTypeError that names op and argument.
    """
    if is_sparse(y):
        raise GraphTypeError(f"{op} takes a dense tensor as {which}, got the sparse {y}; convert it with dense_from_sparse.")
    if isinstance(y, (bool, int, float)) and beside is not None:
        y = weak_constant(y, [beside.type.numpy_dtype])
    y = as_tensor_variable(y)
    if not isinstance(y.type, TensorType) or y.type.ndim not in ndims:
        wanted = " or ".join(map(str, ndims))
        raise GraphTypeError(f"{op} takes {which} with {wanted} dimensions, got {y} of type {y.type}.")
    return y


def matrix(format: str, name: str | None = None, dtype: Any = None, shape: Sequence[int | None] | None = None) -> Any:  # noqa: A002
    """A sparse variable of `format` and `dtype` (config.floatX by default).

    >>> matrix("csr", "x", shape=(3, None)).type
    SparseMatrix(csr, float64, shape=(3, ?))
    """
    return SparseTensorType(format, dtype or config.floatX, shape)(name)


def csr_matrix(name: str | None = None, dtype: Any = None, shape: Sequence[int | None] | None = None) -> Any:
    """A variable of format CSR; dtype is config.floatX by default."""
    return matrix("csr", name, dtype, shape)


def csc_matrix(name: str | None = None, dtype: Any = None, shape: Sequence[int | None] | None = None) -> Any:
    """A variable of format CSC; dtype is config.floatX by default."""
    return matrix("csc", name, dtype, shape)


def csr_dmatrix(name: str | None = None, shape: Sequence[int | None] | None = None) -> Any:
    """A variable of format CSR and dtype float64."""
    return matrix("csr", name, "float64", shape)


def csr_fmatrix(name: str | None = None, shape: Sequence[int | None] | None = None) -> Any:
    """A variable of format CSR and dtype float32."""
    return matrix("csr", name, "float32", shape)


def csc_dmatrix(name: str | None = None, shape: Sequence[int | None] | None = None) -> Any:
    """A variable of format CSC and dtype float64."""
    return matrix("csc", name, "float64", shape)


def csc_fmatrix(name: str | None = None, shape: Sequence[int | None] | None = None) -> Any:
    """A variable of format CSC and dtype float32."""
    return matrix("csc", name, "float32", shape)


def sparse_constructor(value: Any, name: str | None = None, strict: bool = False, allow_downcast: bool | None = None,
                       borrow: bool = False) -> SparseSharedVariable:
    """A shared variable of a CSR or CSC matrix, of its format and dtype and any shape.

    Raises GraphTypeError for another value.
    """
    if not scipy.sparse.issparse(value) or value.format not in ("csr", "csc"):
        raise GraphTypeError(f"expected a matrix of format csr or csc, got {describe_value(value)}.")
    return SparseSharedVariable(SparseTensorType(value.format, value.dtype), value if borrow else value.copy(), name,
                                strict, allow_downcast)


as_sparse = as_sparse_variable
