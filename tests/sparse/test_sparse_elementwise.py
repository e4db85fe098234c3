"""Functions of stored values, sums, products, reductions, diagonals and tidying of sparse matrices."""

import numpy as np
import pytest
from sparse_helpers import (
    FORMATS,
    SHAPES,
    check_derivatives,
    check_value,
    compute,
    dense_value,
    pull_back,
    sparse_value,
    variables_like,
)

import termgraph.sparse as sparse
import termgraph.tensor as tt
from termgraph.errors import GraphTypeError, StaticShapeError
from termgraph.graph import evaluate
from termgraph.sparse import SparseTensorType
from termgraph.sparse import structured as structured_functions
from termgraph.sparse.clean import EnsureSortedIndices, Remove0
from termgraph.sparse.storage import with_values
from termgraph.tensor.type import TensorType
from termgraph.terms import Term, var

UNARY = sorted(n for n in structured_functions.__all__
               if n.startswith("structured_") and getattr(structured_functions, n).scalar_op.nin == 1)
WIDE = [(False, False), (True, False), (False, True), (True, True)]


# --- structured functions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    op = getattr(sparse, name)
    row = op.scalar_op
    for fmt, shape in (("csr", (4, 3)), ("csc", (3, 5)), ("csr", (0, 2)), ("csc", (1, 1))):
        x = sparse_value(shape, fmt, low=row.domain[0], high=row.domain[1])
        if row.domain[0] <= 0 <= row.domain[1] and x.nnz:
            x.data[0] = 0.3  # away from kinks
        assert check_value(op, [x], with_values(x, row.numpy(x.data))).nnz == x.nnz
        if row.partials[0] is not None:
            check_derivatives(op, [x])


@pytest.mark.parametrize("name", [n for n in structured_functions.__all__ if not n.startswith("structured_")])
def test_plain_names_are_of_functions_that_keep_zero(name):
    row = getattr(sparse, name).scalar_op
    assert row.numpy(np.zeros(1)) == 0


def test_integers_follow_the_dtype_rules_of_the_table():
    x = sparse_value((4, 3), dtype="int32", high=5)
    check_value(sparse.structured_exp, [x], with_values(x, np.exp(x.data)))
    check_value(sparse.neg, [x], -x)
    check_value(lambda v: abs(-v), [x], x)


@pytest.mark.parametrize("name", ["add", "pow", "maximum", "minimum"])
@pytest.mark.parametrize("fmt", FORMATS)
def test_with_a_scalar(name, fmt):
    op = getattr(sparse, f"structured_{name}")
    x, y = sparse_value((5, 4), fmt), np.array(1.2)
    check_value(op, [x, y], with_values(x, op.scalar_op.numpy(x.data, y)))
    check_derivatives(op, [x, y])
    check_derivatives(op, [x, y], wrt=[1])
    check_value(lambda v: op(v, 2), [x.astype("float32")], with_values(x, op.scalar_op.numpy(x.data, 2)).astype("float32"))


def test_structured_errors_and_patterns():
    x = var("x")
    assert sparse.structured_exp(x) == Term(sparse.structured_exp, (x,))
    with pytest.raises(GraphTypeError, match="exp"):
        sparse.structured_exp(tt.matrix())
    with pytest.raises(GraphTypeError, match="dimensions"):
        sparse.structured_pow(sparse.csr_matrix(), tt.vector())
    with pytest.raises(GraphTypeError, match="2 arguments"):
        sparse.structured_pow(sparse.csr_matrix())


# --- sums and products ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formats", [(a, b) for a in FORMATS for b in FORMATS])
@pytest.mark.parametrize("shape", SHAPES)
def test_of_two_sparse_matrices(formats, shape):
    x, y = sparse_value(shape, formats[0], low=-1), sparse_value(shape, formats[1], seed=3, low=-1)
    check_value(lambda a, b: a + b, [x, y], (x + y).asformat(formats[0]))
    check_value(lambda a, b: a - b, [x, y], (x - y).asformat(formats[0]))
    check_value(lambda a, b: a * b, [x, y], x.multiply(y).asformat(formats[0]))
    for f in (lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a * a + b * a):
        check_derivatives(f, [x, y])
        check_derivatives(f, [x, y], wrt=[0])


def test_a_sum_stores_the_union_whatever_the_values():
    x = sparse_value((5, 4))
    y = with_values(x, -x.data)
    z = sparse_value((5, 4), "csc", seed=3)
    a, b, c = variables_like([x, y, z])
    assert compute(a + b, [a, b], [x, y]).nnz == x.nnz
    pattern = lambda m: with_values(m, np.ones(m.nnz)).toarray() > 0  # noqa: E731
    assert compute(a + b + c, [a, b, c], [x, y, z]).nnz == (pattern(x) | pattern(z)).sum()


@pytest.mark.parametrize("wide", WIDE)
@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("shape", [(4, 3), (0, 2), (2, 0)])
def test_of_a_sparse_and_a_dense_matrix(wide, fmt, shape):
    x = sparse_value(shape, fmt, low=-1)
    y = dense_value(tuple(1 if w else n for w, n in zip(wide, shape, strict=True)))
    types = [SparseTensorType(fmt, "float64"), TensorType("float64", tuple(1 if w else None for w in wide))]
    check_value(lambda a, b: a + b, [x, y], x.toarray() + y, types)
    check_value(lambda a, b: b - a, [x, y], y - x.toarray(), types)
    check_value(lambda a, b: a - b, [x, y], x.toarray() - y, types)
    for f in (lambda a, b: a * b, lambda a, b: b * a):
        assert check_value(f, [x, y], x.__class__(x.toarray() * y), types).nnz == x.nnz
    check_value(lambda a, b: a / b, [x, y], x.__class__(x.toarray() / y), types)
    for f in (lambda a, b: a + b, lambda a, b: b - a, lambda a, b: a * b, lambda a, b: a / b):
        check_derivatives(f, [x, y], types=types)
        check_derivatives(f, [x, y], wrt=[0], types=types)
        check_derivatives(f, [x, y], wrt=[1], types=types)


@pytest.mark.parametrize("fmt", FORMATS)
def test_with_scalars_and_vectors(fmt):
    x, s, v = sparse_value((4, 3), fmt), np.array(1.5), dense_value((3,))
    check_value(lambda a, b: a * b, [x, s], x * 1.5)
    check_value(lambda a, b: a * b, [x, v], x.__class__(x.toarray() * v))
    check_value(lambda a, b: b + a, [x, v], x.toarray() + v)
    for f in (lambda a, b: a * b, lambda a, b: a + b, lambda a, b: a / b):
        check_derivatives(f, [x, s])
        check_derivatives(f, [x, v])
    single = x.astype("float32")  # numbers take the dtype of the matrix
    check_value(lambda a: 2 * a, [single], single * np.float32(2))
    check_value(lambda a: a / 2, [single], single * np.float32(0.5))
    check_value(lambda a: a - 2, [single], single.toarray() - np.float32(2))
    check_value(lambda a: 2 - a, [single], np.float32(2) - single.toarray())


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_row_scale_and_col_scale(fmt, shape):
    x, r, c = sparse_value(shape, fmt), dense_value((shape[0],)), dense_value((shape[1],))
    check_value(sparse.row_scale, [x, r], x.__class__(x.toarray() * r[:, None]))
    check_value(sparse.col_scale, [x, c], x.__class__(x.toarray() * c))
    check_derivatives(sparse.row_scale, [x, r])
    check_derivatives(sparse.col_scale, [x, c])


def test_what_is_not_stored_does_not_count_in_a_product():
    x = sparse_value((2, 2), density=0)
    (found,) = evaluate([sparse.mul(v := sparse.csr_matrix(), np.full((2, 2), np.nan))], {v: x})
    assert found.nnz == 0


def test_derivative_of_a_product_with_a_scalar_stays_sparse():
    x, y = sparse.csr_matrix(), tt.row()
    output = x * y
    assert [g.type for g in pull_back(output, [x, y], output.type())] == [x.type, y.type]


def test_elementwise_patterns():
    x, y = var("x"), var("y")
    assert sparse.add(x, y) == Term(sparse.add_s_s, (x, y))
    assert sparse.mul(x, 2) == Term(sparse.mul_s_d, (x, 2)) == sparse.mul(2, x)
    assert sparse.mul(tt.matrix("m"), x).head is sparse.mul_s_d.canonical
    assert sparse.add_s_d(x, y) == Term(sparse.add_s_d, (x, y))


def test_elementwise_errors():
    x = SparseTensorType("csr", "float64", (3, 4))("x")
    for wrong in (lambda: x + SparseTensorType("csr", "float64", (3, 5))(), lambda: x * TensorType("float64", (2, 4))()):
        with pytest.raises(StaticShapeError, match="equal shapes"):
            wrong()
    with pytest.raises(GraphTypeError, match=r"tensor\.mul"):
        sparse.mul(tt.matrix(), 2)
    with pytest.raises(GraphTypeError, match="divide"):
        1 / x
    with pytest.raises(GraphTypeError, match="dimensions"):
        x * tt.tensor3()
    a, b, c = sparse.csr_matrix(), tt.matrix(), sparse.csc_matrix()
    value = sparse_value((4, 3))
    for output in (a * b, a + b, a + c, a * c):  # a length that happens to be 1 does not broadcast
        with pytest.raises(ValueError):
            evaluate([output], {a: value, b: np.ones((1, 3)), c: sparse_value((1, 3), "csc")})


# --- reductions, diagonals, storage -----------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [None, 0, 1, -1, -2])
@pytest.mark.parametrize("sparse_grad", [False, True])
@pytest.mark.parametrize("fmt", FORMATS)
def test_sp_sum(axis, sparse_grad, fmt):
    for shape in SHAPES:
        x = sparse_value(shape, fmt, low=-1)
        f = lambda v: v.sum(axis=axis, sparse_grad=sparse_grad)  # noqa: E731
        check_value(f, [x], np.asarray(x.toarray().sum(axis=axis)))
        check_derivatives(f, [x])


def test_sp_sum_keeps_the_dtype():
    x = sparse_value((4, 3), dtype="int8", high=5)
    check_value(sparse.sp_sum, [x], x.toarray().sum(dtype="int8"))


def test_sp_sum_with_sparse_grad_is_structured():
    x = sparse_value((5, 4))
    (v,) = variables_like([x])
    for sparse_grad, stored in ((True, x.nnz), (False, 20)):
        output = sparse.sp_sum(v, sparse_grad=sparse_grad)
        w = output.type()
        (g,) = pull_back(output, [v], w)
        assert compute(g, [v, w], [x, np.array(2.0)]).nnz == stored


def test_sp_sum_patterns_and_errors():
    x = var("x")
    assert sparse.sp_sum(x, axis=0).head.params == (("axis", 0),)
    with pytest.raises(GraphTypeError, match="axis"):
        sparse.sp_sum(sparse.csr_matrix(), axis=2)
    with pytest.raises(GraphTypeError, match="SpSum"):
        sparse.sp_sum(tt.matrix())


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("fmt", FORMATS)
def test_diagonals(n, fmt):
    x, d = sparse_value((n, n), fmt, density=0.7), dense_value((n,))
    check_value(sparse.diag, [x], x.toarray().diagonal())
    check_derivatives(sparse.diag, [x])
    check_value(sparse.square_diagonal, [d], sparse_value((n, n), "csc").__class__(np.diag(d).reshape(n, n)))
    check_derivatives(sparse.square_diagonal, [d])
    with pytest.raises(StaticShapeError, match="square"):
        sparse.diag(SparseTensorType(fmt, "float64", (2, 3))())
    variable = sparse.matrix(fmt)
    with pytest.raises(ValueError, match="square"):
        evaluate([sparse.diag(variable)], {variable: sparse_value((2, 3), fmt)})


def untidy(fmt):
    """Indices in no order, and two stored zeros."""
    parts = np.array([1.0, 0.0, 2.0, 0.0, 3.0]), np.array([2, 0, 1, 2, 0]), np.array([0, 2, 4, 5])
    return {"csr": sparse.SparseTensorType("csr", "float64"), "csc": sparse.SparseTensorType("csc", "float64")}[
        fmt].value_class(parts, shape=(3, 3))


@pytest.mark.parametrize("fmt", FORMATS)
def test_tidying(fmt):
    x = untidy(fmt)
    result = check_value(sparse.ensure_sorted_indices, [x], x)
    assert result.nnz == 5 and all((np.diff(result.indices[a:b]) > 0).all() for a, b in zip(
        result.indptr, result.indptr[1:], strict=False))
    np.testing.assert_array_equal(x.indices, [2, 0, 1, 2, 0])
    assert check_value(sparse.remove0, [x], x).nnz == 3
    cleaned = check_value(sparse.clean, [x], x)
    assert cleaned.nnz == 3 and cleaned.has_sorted_indices
    full = sparse_value((4, 3), fmt)
    for f in (sparse.ensure_sorted_indices, sparse.remove0, sparse.clean):
        check_derivatives(f, [full])


@pytest.mark.parametrize("op", [EnsureSortedIndices, Remove0])
def test_tidying_in_place(op):
    x = untidy("csr")
    v = sparse.csr_matrix()
    (result,) = evaluate([op(inplace=True)(v)], {v: x})
    assert result is x and op(inplace=True).destroy_map == {0: [0]} and op().destroy_map == {}
    assert x.nnz == 3 if op is Remove0 else list(x.indices[:2]) == [0, 2]
