"""Transposes and products of sparse matrices."""

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
from termgraph.sparse.dot import StructuredDot, Transpose
from termgraph.tensor.type import TensorType
from termgraph.terms import Term, build, var


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fmt", FORMATS)
def test_transpose_is_a_view_in_the_other_format(shape, fmt):
    x = sparse_value(shape, fmt)
    result = check_value(lambda v: v.T, [x], x.T)
    assert result.format != fmt
    check_derivatives(sparse.transpose, [x])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("columns", [None, 0, 1, 3])
def test_structured_dot(shape, fmt, columns):
    x = sparse_value(shape, fmt, low=-1)
    y = dense_value((shape[1],) if columns is None else (shape[1], columns))
    check_value(sparse.structured_dot, [x, y], x.toarray() @ y)
    check_derivatives(sparse.structured_dot, [x, y])


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("vector", [False, True])
def test_dense_times_sparse(fmt, vector):
    x, y = dense_value((4,) if vector else (2, 4)), sparse_value((4, 3), fmt)
    check_value(sparse.dot, [x, y], x @ y.toarray())
    check_derivatives(sparse.dot, [x, y])


@pytest.mark.parametrize("dtypes", [("float32", "float32"), ("float32", "float64"), ("int64", "float32"), ("int8", "int8"),
                                    ("int32", "int64"), ("complex64", "float64")])
@pytest.mark.parametrize("fmt", FORMATS)
def test_structured_dot_promotes_dtypes(dtypes, fmt):
    x, y = sparse_value((4, 3), fmt, dtype=dtypes[0], high=5), dense_value((3, 2), dtype=dtypes[1], high=5)
    check_value(sparse.structured_dot, [x, y], x.toarray() @ y)


@pytest.mark.parametrize("fmt", FORMATS)
def test_one_op_makes_every_product_of_sparse_and_dense(fmt):
    x, y = sparse.matrix(fmt, "x"), tt.matrix("y")
    for product in (x @ y, x.dot(y), sparse.dot(x, y), tt.dot(x, y), tt.matmul(x, y), sparse.structured_dot(x, y)):
        assert product.owner.op == StructuredDot()
        assert product.owner.inputs == [x, y]
    for product in (y @ x, y.dot(x), sparse.dot(y, x), tt.dot(y, x)):
        assert product.owner.inputs[0].owner.op == StructuredDot()
        a, b = product.owner.inputs[0].owner.inputs
        assert a.owner.op == Transpose() and a.owner.inputs == [x]
        assert b.owner.inputs == [y]


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("swapped", [False, True])
def test_no_product_or_its_derivative_makes_the_sparse_operand_dense(fmt, swapped):
    x, y = sparse.matrix(fmt, "x"), tt.matrix("y")
    output = y @ x if swapped else x @ y
    first = pull_back(output, [x, y], output.type("w"))
    assert first[0].type == x.type and first[1].type == y.type
    again = pull_back(first[0], [y], first[0].type("v"))
    names = ops_of([*first, *again])
    assert "StructuredDotGrad" in names
    assert not names & {"DenseFromSparse", "SparseFromDense"}


def test_a_product_too_large_to_be_dense():
    n = 300_000
    x = sparse_value((4, 3))
    x.resize((n, n))
    variables = vx, vy = variables_like([x, np.ones((n, 1))])
    output = vx @ vy
    w = output.type("w")
    (gx,) = pull_back(output, [vx], w)
    found = compute(gx, [*variables, w], [x, np.full((n, 1), 2.0), np.full((n, 1), 3.0)])
    assert found.nnz == x.nnz
    np.testing.assert_array_equal(found.data, np.full(x.nnz, 6.0))


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_structured_dot_grad(fmt, shape):
    x = sparse_value(shape, fmt)
    b, g = dense_value((shape[1], 3)), dense_value((shape[0], 3), seed=1)
    stored = (x != 0).toarray()
    result = check_value(sparse.structured_dot_grad, [x, b, g], x.__class__(np.where(stored, g @ b.T, 0)))
    assert result.nnz == x.nnz
    check_derivatives(sparse.structured_dot_grad, [x, b, g], wrt=[1, 2])


def test_structured_dot_grad_in_several_blocks():
    x = sparse_value((40, 30))
    b, g = dense_value((30, 2000)), dense_value((40, 2000), seed=1)
    assert x.nnz * 2000 > 2 * 2**18
    check_value(sparse.structured_dot_grad, [x, b, g], x.__class__(np.where((x != 0).toarray(), g @ b.T, 0)))


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_sampling_dot(fmt, shape):
    p = sparse_value(shape, fmt, low=-1)
    x, y = dense_value((shape[0], 3)), dense_value((shape[1], 3), seed=1)
    result = check_value(sparse.sampling_dot, [x, y, p], p.__class__(p.toarray() * (x @ y.T)))
    assert result.nnz == p.nnz
    check_derivatives(sparse.sampling_dot, [x, y, p])


@pytest.mark.parametrize("formats", [("csr", "csr"), ("csc", "csc"), ("csr", "csc"), ("csc", "csr")])
@pytest.mark.parametrize("shape", SHAPES)
def test_true_dot_is_sparse(formats, shape):
    x, y = sparse_value(shape, formats[0]), sparse_value((shape[1], 4), formats[1], seed=1)
    check_value(sparse.true_dot, [x, y], (x @ y).asformat(formats[0]))
    check_derivatives(sparse.true_dot, [x, y])


@pytest.mark.parametrize("fmt", FORMATS)
def test_dot_of_two_sparse_matrices_is_dense(fmt):
    x, y = sparse_value((4, 3), fmt, low=-1), sparse_value((3, 5), fmt, seed=1, low=-1)
    assert 0 in x.data  # the product does not store what comes from a stored 0, yet its derivative is not 0
    check_value(sparse.dot, [x, y], x.toarray() @ y.toarray())
    check_derivatives(sparse.dot, [x, y])


def test_products_on_logic_variables_are_patterns():
    x, y = var("x"), var("y")
    assert sparse.structured_dot(x, y) == Term(StructuredDot(), (x, y)) == sparse.dot(x, y)
    assert sparse.transpose(x) == Term(Transpose(), (x,))
    a, b = sparse.csr_matrix("a"), tt.matrix("b")
    assert build(Term(StructuredDot(), (a, b))).owner.inputs == [a, b]


def test_products_keep_static_lengths():
    x, y = SparseTensorType("csr", "float64", (3, 4))("x"), TensorType("float64", (4, 1))("y")
    assert (x @ y).type.shape == (3, 1)
    assert x.T.type == SparseTensorType("csc", "float64", (4, 3))
    values = [sparse_value((3, 4)), dense_value((4, 1))]
    check_derivatives(lambda a, b: a @ b, values, types=[x.type, y.type])
    check_derivatives(lambda a, b: a @ b, [sparse_value((3, 1)), dense_value((1, 1))],
                      types=[SparseTensorType("csr", "float64"), TensorType("float64", (1, 1))])


def test_errors_name_the_op_and_the_operands():
    x, y = SparseTensorType("csr", "float64", (3, 4))("x"), TensorType("float64", (5, 2))("y")
    with pytest.raises(StaticShapeError, match=r"StructuredDot.*4.*5"):
        x @ y
    with pytest.raises(StaticShapeError, match="TrueDot"):
        sparse.true_dot(x, x)
    with pytest.raises(GraphTypeError, match="dimensions"):
        x @ tt.tensor3("t")
    with pytest.raises(GraphTypeError, match=r"tensor\.dot"):
        sparse.dot(y, y)
    with pytest.raises(GraphTypeError, match="dense tensor"):
        StructuredDot()(x, x)
    with pytest.raises(GraphTypeError, match="csr_from_dense"):
        StructuredDot()(y, y)
    a, b = sparse.csr_matrix("a"), tt.matrix("b")
    with pytest.raises(ValueError):
        evaluate([a @ b], {a: sparse_value((3, 4)), b: dense_value((5, 2))})
