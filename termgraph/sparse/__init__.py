"""Sparse matrices: their type, the functions on them, and the constructors of variables.

>>> import termgraph.sparse as sparse, termgraph.tensor as tt
>>> x = sparse.csr_matrix("x")
>>> (x @ tt.matrix("y")).owner
StructuredDot(x, y)
"""

from collections.abc import Callable
from typing import Any, NoReturn

from termgraph.errors import GraphTypeError
from termgraph.sparse import elementwise as _elementwise
from termgraph.sparse.clean import EnsureSortedIndices, Remove0, clean, ensure_sorted_indices, remove0
from termgraph.sparse.convert import (
    Cast,
    DenseFromSparse,
    SparseFromDense,
    ToFormat,
    as_csc,
    as_csr,
    cast,
    csc_from_dense,
    csr_from_dense,
    dense_from_sparse,
    to_format,
)
from termgraph.sparse.diagonal import Diag, SquareDiagonal, diag, square_diagonal
from termgraph.sparse.dot import (
    SamplingDot,
    StructuredDot,
    StructuredDotGrad,
    Transpose,
    TrueDot,
    dot,
    sampling_dot,
    structured_dot,
    structured_dot_grad,
    transpose,
    true_dot,
)
from termgraph.sparse.elementwise import (
    AddSD,
    AddSS,
    MulSD,
    MulSS,
    add,
    add_s_d,
    add_s_s,
    col_scale,
    mul,
    mul_s_d,
    mul_s_s,
    multiply,
    row_scale,
    sub,
    subtract,
    true_div,
)
from termgraph.sparse.like import ZerosLike, sp_ones_like, sp_zeros_like
from termgraph.sparse.parts import (
    CSC,
    CSM,
    CSR,
    CSMProperties,
    WithData,
    csm_data,
    csm_indices,
    csm_indptr,
    csm_properties,
    csm_shape,
    with_data,
)
from termgraph.sparse.reduction import SpSum, sp_sum
from termgraph.sparse.restrict import Restrict, restrict
from termgraph.sparse.structured import *  # noqa: F403
from termgraph.sparse.structured import Structured, neg, structured_abs
from termgraph.sparse.type import SparseTensorType
from termgraph.sparse.usmm import Usmm, usmm, usmm_inplace
from termgraph.sparse.variable import (
    SparseConstant,
    SparseSharedVariable,
    SparseVariable,
    as_sparse,
    as_sparse_or_tensor_variable,
    as_sparse_variable,
    constant,
    csc_dmatrix,
    csc_fmatrix,
    csc_matrix,
    csr_dmatrix,
    csr_fmatrix,
    csr_matrix,
    is_sparse,
    is_sparse_variable,
    matrix,
    sparse_constructor,
)
from termgraph.tensor.shape import shape
from termgraph.tensor.variable import TensorConstant, TensorSharedVariable, TensorVariable
from termgraph.terms.operators import bind_operators


class _Functions(dict[str, Callable[..., Any]]):
    """What the operators of sparse variables call; for those that have no meaning, a function that says so."""

    def __missing__(self, name: str) -> Callable[..., Any]:
        def undefined(*args: Any, **kwargs: Any) -> NoReturn:
            raise GraphTypeError(f"sparse variables have no {name}; convert them with dense_from_sparse first.")
        return undefined


def _with_sparse(name: str) -> Callable[..., Any]:
    """The dense function `name`, but the sparse one where an argument is sparse."""
    dense, sparse = TensorVariable.functions[name], getattr(_elementwise, name)

    def either(x: Any, y: Any) -> Any:
        return sparse(x, y) if is_sparse(x) or is_sparse(y) else dense(x, y)

    return either


_functions = _Functions(
    abs=structured_abs, add=add, cast=cast, dense_from_sparse=dense_from_sparse, dot=dot, matmul=dot, mul=mul, neg=neg,
    shape=shape, sp_sum=sp_sum, sp_zeros_like=sp_zeros_like, sub=sub, to_format=to_format, transpose=transpose,
    true_div=true_div,
)
for _class in (SparseVariable, SparseConstant, SparseSharedVariable):
    bind_operators(_class, _functions)

# `dense + sparse` asks the dense variable first.
_mixed = {**TensorVariable.functions, **{_name: _with_sparse(_name) for _name in ("add", "sub", "mul", "true_div")}}
for _dense_class in (TensorVariable, TensorConstant, TensorSharedVariable):
    bind_operators(_dense_class, _mixed)
