"""Conversions, the parts of a matrix, matrices made after a model, and restriction to a structure."""

import numpy as np
import pytest
from sparse_helpers import (
    FORMATS,
    SHAPES,
    check_derivatives,
    check_value,
    compute,
    dense_value,
    ops_of,
    pull_back,
    sparse_value,
    variables_like,
)

import termgraph.sparse as sparse
import termgraph.tensor as tt
from termgraph.errors import GraphTypeError, StaticShapeError
from termgraph.graph import evaluate
from termgraph.sparse import SparseTensorType
from termgraph.sparse.storage import with_values
from termgraph.tensor.type import TensorType
from termgraph.terms import Term, var


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fmt", FORMATS)
def test_between_sparse_and_dense(shape, fmt):
    x = sparse_value(shape, fmt)
    check_value(sparse.dense_from_sparse, [x], x.toarray())
    check_value(lambda v: v.toarray(), [x], x.toarray())
    check_derivatives(sparse.dense_from_sparse, [x])
    check_derivatives(sparse.DenseFromSparse(structured=False), [x])
    from_dense = {"csr": sparse.csr_from_dense, "csc": sparse.csc_from_dense}[fmt]
    assert check_value(from_dense, [x.toarray()], x).nnz == np.count_nonzero(x.toarray())
    check_derivatives(from_dense, [dense_value(shape)])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("target", FORMATS)
def test_between_formats(shape, fmt, target):
    x = sparse_value(shape, fmt, low=-1)
    convert = {"csr": sparse.as_csr, "csc": sparse.as_csc}[target]
    assert check_value(convert, [x], x.asformat(target)).nnz == x.nnz
    check_derivatives(sparse.ToFormat(target), [x])
    variable = sparse.matrix(fmt)
    assert (convert(variable) is variable) == (fmt == target)


@pytest.mark.parametrize("fmt", FORMATS)
def test_cast(fmt):
    x = sparse_value((4, 3), fmt, low=0, high=9)
    for dtype in ("float32", "int64", "complex128"):
        check_value(lambda v, dtype=dtype: v.astype(dtype), [x], x.astype(dtype))
    variable = sparse.matrix(fmt, dtype="float32")
    assert sparse.cast(variable, "float32") is variable
    output = sparse.cast(variable, "float64")
    (g,) = pull_back(output, [variable], output.type())
    assert g.type == variable.type
    with pytest.raises(GraphTypeError, match="imaginary"):
        sparse.cast(sparse.matrix(fmt, dtype="complex64"), "float32")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fmt", FORMATS)
def test_parts_and_whole(shape, fmt):
    x = sparse_value(shape, fmt, low=-1)
    for part, expected in ((sparse.csm_data, x.data), (sparse.csm_indices, x.indices), (sparse.csm_indptr, x.indptr),
                           (sparse.csm_shape, np.array(x.shape, "int32"))):
        check_value(part, [x], expected)
    check_derivatives(sparse.csm_data, [x])
    make = {"csr": sparse.CSR, "csc": sparse.CSC}[fmt]
    parts = [x.data, x.indices, x.indptr, np.array(shape)]
    assert check_value(make, parts, x).nnz == x.nnz
    check_derivatives(make, parts, wrt=[0])
    check_value(lambda v: make(*sparse.csm_properties(v)), [x], x)
    check_derivatives(lambda v: make(sparse.csm_data(v) * 2, *sparse.csm_properties(v)[1:]), [x])
    check_derivatives(sparse.with_data, [x, x.data], wrt=[1])


def test_csm_with_the_matrix_not_in_order():
    # indices in no order: the cotangent of data must still be in storage order
    data, indices, indptr = np.array([1.0, 2.0, 3.0]), np.array([2, 0, 1]), np.array([0, 2, 3])
    variables = variables_like([data, indices, indptr, np.array([2, 3])])
    output = sparse.CSR(*variables).toarray()
    w = output.type()
    (g,) = pull_back(output, variables[:1], w)
    found = compute(g, [*variables, w], [data, indices, indptr, np.array([2, 3]), np.arange(6.0).reshape(2, 3)])
    np.testing.assert_array_equal(found, [2.0, 0.0, 4.0])


def test_csm_refuses_parts_that_do_not_fit():
    v, i = tt.vector("v"), tt.lvector("i")
    with pytest.raises(GraphTypeError, match="indices"):
        sparse.CSR(v, v, i, i)
    with pytest.raises(GraphTypeError, match="data"):
        sparse.CSR(tt.matrix(), i, i, i)
    with pytest.raises(StaticShapeError, match="two lengths"):
        sparse.CSR(v, i, i, [1, 2, 3])
    with pytest.raises(GraphTypeError, match="format"):
        sparse.CSM("coo")
    variables = variables_like([np.ones(1), np.zeros(1, int), np.zeros(2, int)])
    output = sparse.CSR(*variables, [1, 2])
    for parts in ([np.ones(2), [0], [0, 1]], [np.ones(1), [2], [0, 1]], [np.ones(1), [0], [0, 1, 1]]):
        values = [np.asarray(p, v.type.dtype) for p, v in zip(parts, variables, strict=True)]
        with pytest.raises(ValueError):
            evaluate([output], dict(zip(variables, values, strict=True)))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fmt", FORMATS)
def test_like(shape, fmt):
    x = sparse_value(shape, fmt, low=-1)
    zeros = check_value(sparse.sp_zeros_like, [x], x.__class__(shape))
    assert zeros.nnz == 0
    check_value(lambda v: v.zeros_like("int8"), [x], x.__class__(shape, dtype="int8"))
    ones = check_value(sparse.sp_ones_like, [x], with_values(x, np.ones(x.nnz)))
    assert ones.nnz == x.nnz
    variable = sparse.matrix(fmt)
    for like in (sparse.sp_zeros_like, sparse.sp_ones_like):
        output = like(variable)
        assert not any(c for c in output.owner.op.connection_pattern(output.owner)[0])


@pytest.mark.parametrize("formats", [(a, b) for a in FORMATS for b in FORMATS])
@pytest.mark.parametrize("shape", SHAPES)
def test_restrict_sparse(formats, shape):
    g, x = sparse_value(shape, formats[0], low=-1), sparse_value(shape, formats[1], seed=3, low=-1)
    pattern = with_values(x, np.ones(x.nnz)).toarray() > 0
    found = check_value(sparse.restrict, [g, x], x.__class__(np.where(pattern, g.toarray(), 0)))
    assert found.nnz == x.nnz
    check_derivatives(sparse.restrict, [g, x], wrt=[0])


@pytest.mark.parametrize("wide", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("fmt", FORMATS)
def test_restrict_dense(wide, fmt):
    x = sparse_value((4, 3), fmt)
    g = dense_value(tuple(1 if w else n for w, n in zip(wide, x.shape, strict=True)))
    types = [TensorType("float64", tuple(1 if w else None for w in wide)), SparseTensorType(fmt, "float64")]
    pattern = with_values(x, np.ones(x.nnz)).toarray() > 0
    check_value(sparse.restrict, [g, x], x.__class__(np.where(pattern, g, 0)), types)
    check_derivatives(sparse.restrict, [g, x], wrt=[0], types=types)


def test_patterns():
    x = var("x")
    assert sparse.dense_from_sparse(x) == Term(sparse.DenseFromSparse(), (x,))
    assert sparse.as_csr(x) == Term(sparse.ToFormat("csr"), (x,))
    assert sparse.cast(x, "float32") == Term(sparse.Cast("float32"), (x,))
    assert sparse.csm_data(x) == Term(sparse.csm_data(sparse.csr_matrix()).head, (x,))
    assert isinstance(sparse.sp_zeros_like(x), Term)
    assert ops_of([sparse.sp_zeros_like(sparse.csr_matrix())]) == {"ZerosLike"}


def test_errors():
    with pytest.raises(GraphTypeError, match="DenseFromSparse"):
        sparse.dense_from_sparse(tt.matrix())
    with pytest.raises(GraphTypeError, match="SparseFromDense"):
        sparse.csr_from_dense(sparse.csr_matrix())
    with pytest.raises(GraphTypeError, match="2 dimensions"):
        sparse.csr_from_dense(tt.vector())
    with pytest.raises(GraphTypeError, match="csr or csc"):
        sparse.to_format(sparse.csr_matrix(), "coo")
