import numpy as np
import pytest
from scipy.sparse import csc_matrix, csr_matrix

import termgraph.tensor as tt
from termgraph.compile import shared
from termgraph.errors import GraphTypeError
from termgraph.graph import SharedVariable
from termgraph.sparse.type import SparseTensorType
from termgraph.tensor.type import TensorType
from termgraph.tensor.variable import TensorSharedVariable


@pytest.mark.parametrize(("value", "dtype", "ndim"), [
    (1.5, "float64", 0), (2, "int64", 0), (True, "bool", 0), (1j, "complex128", 0), (np.float32(1), "float32", 0),
    ([1.0, 2.0], "float64", 1), (((1, 2), (3, 4)), "int64", 2), (np.zeros((1, 3), "int8"), "int8", 2), ([], "float64", 1),
])
def test_type_of_value(value, dtype, ndim):
    s = shared(value, "s")
    assert s.type == TensorType(dtype, (None,) * ndim)
    assert isinstance(s, TensorSharedVariable)
    np.testing.assert_array_equal(s.get_value(), value)
    assert s.name == "s"
    assert s.trace is not None


@pytest.mark.parametrize("make", [csr_matrix, csc_matrix])
def test_sparse(make):
    value = make(np.eye(3))
    s = shared(value)
    assert s.type == SparseTensorType(value.format, "float64")
    assert isinstance(s, SharedVariable)
    assert (s.get_value() != value).nnz == 0
    assert s.get_value(borrow=True) is not value


def test_static_shape_when_asked():
    s = shared(np.zeros((1, 3)), shape=(1, None))
    assert s.type.broadcastable == (True, False)
    with pytest.raises(GraphTypeError):
        s.set_value(np.zeros((2, 3)))


def test_copies_unless_borrow():
    value = np.zeros(3)
    own, lent = shared(value), shared(value, borrow=True)
    value[0] = 7
    assert own.get_value()[0] == 0
    assert lent.get_value(borrow=True) is value
    got = own.get_value()
    got[1] = 5
    assert own.get_value()[1] == 0


def test_strict_and_downcast():
    assert shared(np.float32(0)).set_value(1.5) is None
    with pytest.raises(GraphTypeError, match="strict"):
        shared(np.float32(0), strict=True).set_value(1.5)
    narrow = np.zeros(2, "float32")
    with pytest.raises(GraphTypeError):
        shared(narrow).set_value(np.zeros(2))
    loose = shared(narrow, allow_downcast=True)
    loose.set_value(np.full(2, 0.1))
    assert loose.get_value().dtype == "float32"


@pytest.mark.parametrize("value", ["text", None, {}, ["a"], tt.vector("x")])
def test_what_cannot_be_shared(value):
    with pytest.raises(GraphTypeError, match="shared takes"):
        shared(value)
