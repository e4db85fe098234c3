"""The type of sparse matrices, and the variables of it."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse
from sparse_helpers import FORMATS, SHAPES, sparse_value

import termgraph.sparse as sparse
import termgraph.tensor as tt
from termgraph.config import config
from termgraph.errors import GraphTypeError
from termgraph.graph import evaluate
from termgraph.sparse import SparseConstant, SparseSharedVariable, SparseTensorType, SparseVariable
from termgraph.sparse.storage import arrays
from termgraph.terms import var

CSR = SparseTensorType("csr", "float64")


def test_types_are_interned():
    assert SparseTensorType("csr", np.float64, (None, None)) is CSR
    assert SparseTensorType("csr", "float64", (np.int64(3), None)) is SparseTensorType("csr", "float64", (3, None))
    others = {CSR.clone(format="csc"), SparseTensorType("csr", "float32"), SparseTensorType("csr", "float64", (1, None))}
    assert CSR not in others and len(others) == 3
    for t in (CSR, *others):
        assert pickle.loads(pickle.dumps(t)) is t and copy.deepcopy(t) is t
    assert (CSR.ndim, CSR.broadcastable) == (2, (False, False))
    assert SparseTensorType("csr", "float64", (1, 3)).broadcastable == (True, False)
    assert CSR.clone(dtype="int8", shape=(1, 2), format="csc") is SparseTensorType("csc", "int8", (1, 2))


@pytest.mark.parametrize("arguments", [("coo", "float64"), ("csr", "bool"), ("csr", "float16"), ("csr", "float64", (1,)),
                                       ("csr", "float64", (1, -1))])
def test_impossible_types_are_refused(arguments):
    with pytest.raises(GraphTypeError):
        SparseTensorType(*arguments)


def test_is_super_and_in_same_class():
    known = SparseTensorType("csr", "float64", (3, 4))
    assert CSR.is_super(known) and not known.is_super(CSR) and CSR.in_same_class(known)
    assert not CSR.in_same_class(SparseTensorType("csr", "float64", (1, None)))
    for other in (SparseTensorType("csc", "float64"), SparseTensorType("csr", "float32"), tt.matrix().type):
        assert not CSR.is_super(other) and not CSR.in_same_class(other)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("source", ["csr_matrix", "csc_matrix", "coo_matrix", "csr_array", "csc_array", "lil_matrix"])
@pytest.mark.parametrize("fmt", FORMATS)
def test_filter_takes_all_sparse_values(shape, source, fmt):
    value = getattr(scipy.sparse, source)(sparse_value(shape))
    target = SparseTensorType(fmt, "float64")
    result = target.filter(value)
    assert type(result) is getattr(scipy.sparse, f"{fmt}_matrix")
    np.testing.assert_array_equal(result.toarray(), value.toarray())
    exact = source == f"{fmt}_matrix"
    assert (result is value) == exact == target.is_valid_value(value, strict=True)


def test_filter_refuses_what_would_lose_something():
    x = sparse_value((2, 3))
    single = SparseTensorType("csr", "float32")
    assert CSR.filter(x.astype("float32")).dtype == "float64"
    assert CSR.filter(x.astype("int32")).dtype == "float64"
    with pytest.raises(GraphTypeError, match="precision"):
        single.filter(x)
    assert single.filter(x, allow_downcast=True).dtype == "float32"
    with pytest.raises(GraphTypeError, match="static shape"):
        SparseTensorType("csr", "float64", (None, 2)).filter(x)
    with pytest.raises(GraphTypeError, match=r"csr_from_dense.*scipy\.sparse\.csr_matrix"):
        CSR.filter(x.toarray())
    with pytest.raises(GraphTypeError, match="symbolic"):
        CSR.filter(sparse.csr_matrix("x"))


@pytest.mark.parametrize("fmt", FORMATS)
def test_constants_are_frozen_and_told_apart(fmt):
    x = sparse_value((4, 3), fmt)
    c = sparse.constant(x, "c")
    assert isinstance(c, SparseConstant) and c.type.shape == (4, 3) and c.literal is None
    for array in arrays(c.data):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    before = x.copy()
    x.data[0] += 1
    assert c.data.data[0] != x.data[0]
    assert not c.equals(sparse.constant(x))
    x = before
    assert c.equals(sparse.constant(x))
    assert not c.equals(sparse.constant(x.astype("float32")))
    assert not c.equals(sparse.constant(x.T))
    moved = x.copy()
    moved.indices[0] = (moved.indices[0] + 1) % 2
    assert not c.equals(sparse.constant(moved))


@pytest.mark.parametrize("fmt", FORMATS)
def test_values_eq(fmt):
    x = sparse_value((5, 4), fmt)
    t = SparseTensorType(fmt, "float64")
    unsorted = x.copy()
    for i in range(len(x.indptr) - 1):
        line = slice(x.indptr[i], x.indptr[i + 1])
        unsorted.indices[line], unsorted.data[line] = x.indices[line][::-1].copy(), x.data[line][::-1].copy()
    unsorted.has_sorted_indices = False
    assert t.values_eq(x, unsorted)
    with_zero = x.asformat("lil")
    with_zero[0, 0] = with_zero[0, 0]
    assert t.values_eq(x, with_zero.asformat(fmt))
    near, far, nan = x.copy(), x.copy(), x.copy()
    near.data[0] *= 1 + 1e-12
    far.data[0] *= 1.1
    nan.data[0] = np.nan
    assert not t.values_eq(x, near) and t.values_eq_approx(x, near)
    assert not t.values_eq_approx(x, far)
    assert t.values_eq(nan, nan.copy()) and not t.values_eq_approx(x, nan)
    assert not t.values_eq(x, x.astype("float32")) and not t.values_eq(x, x[:, :2])
    empty = t.value_class(x.shape)
    assert not t.values_eq(x, empty) and not t.values_eq(empty, x)  # whichever stores more


def test_may_share_memory():
    x = sparse_value((4, 3))
    assert CSR.may_share_memory(x, x.T) and CSR.may_share_memory(x, x.data) and CSR.may_share_memory(x.indices, x)
    assert not CSR.may_share_memory(x, x.copy())


@pytest.mark.parametrize(("make", "fmt", "dtype"), [
    (sparse.csr_matrix, "csr", None), (sparse.csc_matrix, "csc", None), (sparse.csr_dmatrix, "csr", "float64"),
    (sparse.csc_dmatrix, "csc", "float64"), (sparse.csr_fmatrix, "csr", "float32"), (sparse.csc_fmatrix, "csc", "float32"),
])
def test_constructors(make, fmt, dtype):
    with config.change_flags(floatX="float32"):
        x = make("x")
    assert isinstance(x, SparseVariable) and x.name == "x" and x.trace is not None
    assert (x.format, x.dtype, x.ndim) == (fmt, dtype or "float32", 2)
    assert make(shape=(3, None)).type.shape == (3, None)


def test_as_sparse_variable():
    x, q = sparse.csr_matrix("x"), var("q")
    assert sparse.as_sparse_variable(x) is x and sparse.as_sparse_variable(q) is q
    array = scipy.sparse.csc_array(sparse_value((2, 2)))
    assert sparse.as_sparse_variable(array).type == SparseTensorType("csc", "float64", (2, 2))
    for wrong in (tt.matrix("m"), np.eye(2), 1.0, scipy.sparse.coo_matrix((2, 2))):
        with pytest.raises(GraphTypeError):
            sparse.as_sparse_variable(wrong)
    assert sparse.is_sparse_variable(x) and not sparse.is_sparse_variable(sparse_value((2, 2)))
    assert not sparse.is_sparse_variable(tt.matrix())
    assert sparse.as_sparse_or_tensor_variable(np.eye(2)).type == tt.as_tensor_variable(np.eye(2)).type


def test_shared_variables_keep_their_value():
    value = sparse_value((3, 2), "csc")
    w = sparse.sparse_constructor(value, "w")
    assert isinstance(w, SparseSharedVariable) and w.type == SparseTensorType("csc", "float64")
    value.data[:] = 0
    assert w.get_value().data.all()
    np.testing.assert_allclose(evaluate([w @ np.ones(2)], {})[0], w.get_value() @ np.ones(2))
    before = w.get_value()
    with pytest.raises(GraphTypeError):
        w.set_value(np.eye(2))
    assert w.type.values_eq(w.get_value(), before)
    w.set_value(sparse_value((5, 5)))  # another shape and fmt
    assert (w.get_value().format, w.get_value().shape) == ("csc", (5, 5))


def test_operators_that_do_not_exist_say_so():
    x = sparse.csr_matrix("x")
    for wrong in (lambda: x < 1, lambda: x[0], lambda: x ** 2, lambda: 1 // x):
        with pytest.raises(GraphTypeError, match="dense_from_sparse"):
            wrong()
    with pytest.raises(TypeError):
        bool(x)
    with pytest.raises(TypeError):
        iter(x)


def test_scipy_values_on_the_left_leave_the_operator_to_the_variable():
    x, value = sparse.csr_matrix("x"), sparse_value((3, 3))
    given = {x: sparse_value((3, 3), seed=5)}
    for output, expected in ((value + x, value + given[x]), (value * x, value.multiply(given[x])),
                             (value @ x, value @ given[x])):
        found = evaluate([output], given)[0]
        np.testing.assert_allclose(found.toarray() if scipy.sparse.issparse(found) else found, expected.toarray())


def test_shape():
    x = sparse.csr_matrix("x")
    np.testing.assert_array_equal(evaluate([x.shape], {x: sparse_value((3, 5))})[0], [3, 5])
