"""What the Ops do with scipy's matrices: stored positions, values at positions, structures. Nothing here is symbolic.

`x` is always a `csr_matrix` or `csc_matrix`. Its *structure* is the set of positions it stores a value for, whether or not
that value is 0. SciPy's own `+`, `multiply` and `@` forget results that are exactly 0; the functions here keep the
structure, so that it does not depend on values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse import _sparsetools  # the kernels behind SciPy's `@`: they alone can add a product to an existing array

Array = np.ndarray[Any, Any]

VALUE_CLASSES: dict[str, Any] = {"csr": scipy.sparse.csr_matrix, "csc": scipy.sparse.csc_matrix}


def positions(x: Any) -> tuple[Array, Array]:
    """The rows and the columns of the stored values, in storage order."""
    lines = np.repeat(np.arange(len(x.indptr) - 1, dtype=x.indices.dtype), np.diff(x.indptr))
    return (lines, x.indices) if x.format == "csr" else (x.indices, lines)


def with_values(x: Any, data: Array) -> Any:
    """The structure of `x` with other values; it shares `data` and nothing with `x`."""
    return VALUE_CLASSES[x.format]((data, x.indices.copy(), x.indptr.copy()), shape=x.shape, copy=False)


def same_structure(x: Any, y: Any) -> bool:
    """Whether both store values for the same positions in the same order."""
    return bool(x.format == y.format and x.shape == y.shape and np.array_equal(x.indptr, y.indptr)
                and np.array_equal(x.indices, y.indices))


def values_at(y: Any, x: Any) -> Array:
    """The values of `y`, of the same shape, at the stored positions of `x`: a new vector in the storage order of `x`."""
    if y.shape != x.shape:
        raise ValueError(f"two sparse matrices must have one shape, got {y.shape} and {x.shape}.")
    if same_structure(y, x):
        return y.data.copy()  # type: ignore[no-any-return]
    if x.nnz == 0 or y.nnz == 0:
        return np.zeros(x.nnz, y.dtype)
    return np.asarray(y[positions(x)]).ravel()


def gather(y: Array, x: Any, broadcastable: tuple[bool, bool]) -> Array:
    """The elements of the dense matrix `y` at the stored positions of `x`; `y` broadcasts where `broadcastable` says so."""
    for d, (length, wide) in enumerate(zip(y.shape, broadcastable, strict=True)):
        if not wide and length != x.shape[d]:
            raise ValueError(f"the dense matrix has shape {y.shape} and the sparse one {x.shape}: they differ along dimension "
                             f"{d}, which broadcasts only where the type of the dense one says its length is 1.")
    rows, cols = positions(x)
    index = (0 if broadcastable[0] else rows, 0 if broadcastable[1] else cols)
    return np.broadcast_to(y[index], rows.shape)


def add(x: Any, y: Any) -> Any:
    """x + y in the format of `x`, storing the union of the structures."""
    if x.shape != y.shape:
        raise ValueError(f"cannot add sparse matrices of the shapes {x.shape} and {y.shape}.")
    if same_structure(x, y):
        return with_values(x, x.data + y.data)
    rows, cols = (np.concatenate(pair) for pair in zip(positions(x), positions(y), strict=True))
    return VALUE_CLASSES[x.format]((np.concatenate([x.data, y.data]), (rows, cols)), shape=x.shape)


def add_product(total: Array, x: Any, y: Array) -> None:
    """total += x @ y, without a temporary. All of one dtype; `total` and `y` are matrices in C order."""
    kernel = _sparsetools.csr_matvecs if x.format == "csr" else _sparsetools.csc_matvecs
    kernel(*x.shape, y.shape[1], x.indptr, x.indices, x.data, y.ravel(), total.ravel())


def sampled_product(x: Any, left: Array, right: Array) -> Array:
    """left_i . right_j for each stored position (i, j) of `x`: `left @ right.T` where it is needed only."""
    if left.shape[0] != x.shape[0] or right.shape[0] != x.shape[1] or left.shape[1:] != right.shape[1:]:
        raise ValueError(f"cannot sample the product of {left.shape} and the transpose of {right.shape} at the positions of a "
                         f"sparse matrix of shape {x.shape}.")
    rows, cols = positions(x)
    if left.ndim == 1:
        return left[rows] * right[cols]  # type: ignore[no-any-return]
    result = np.empty(rows.shape, np.result_type(left, right))
    step = max(1, 2**18 // max(1, left.shape[1]))  # bounds the memory of the two gathered blocks
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        np.einsum("ij,ij->i", left[rows[part]], right[cols[part]], out=result[part])
    return result


def equal(a: Any, b: Any, rtol: float = 0.0, atol: float = 0.0) -> bool:
    """Whether two matrices have one format, dtype and shape and equal elements (NaN equals NaN), stored or not."""
    if (a.format, a.dtype, a.shape) != (b.format, b.dtype, b.shape):
        return False
    return all(bool(np.allclose(values_at(a, x), values_at(b, x), rtol=rtol, atol=atol, equal_nan=True)) for x in (a, b))


def arrays(value: Any) -> list[Array]:
    """The arrays that hold a sparse or dense value."""
    if scipy.sparse.issparse(value):
        return [value.data, value.indices, value.indptr]
    return [value] if isinstance(value, np.ndarray) else []
