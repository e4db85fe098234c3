"""TensorType: interning, what `filter` accepts and refuses, comparison, pickling."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import termgraph.tensor as tt
from termgraph.errors import GraphTypeError
from termgraph.tensor.type import DTYPES, TensorType


def test_equal_types_are_identical():
    assert TensorType("float64", (None, 3)) is TensorType(np.float64, [None, np.int64(3)])
    assert TensorType("float64", (True, False)) is TensorType("float64", (1, None))
    assert TensorType("float64", broadcastable=(False, True)) is TensorType("float64", (None, 1))
    assert TensorType("float64", (None,)) is not TensorType("float32", (None,))
    assert TensorType("float64", (None,)) != TensorType("float64", (1,))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (None,), (1, 2, None)])
def test_copies_are_the_type_itself(dtype, shape):
    made = TensorType(dtype, shape)
    assert pickle.loads(pickle.dumps(made)) is made
    assert copy.deepcopy(made) is made
    assert copy.copy(made) is made
    assert made.clone() is made
    assert (made.ndim, made.dtype, made.shape) == (len(shape), dtype, shape)
    assert made.broadcastable == tuple(n == 1 for n in shape)


@pytest.mark.parametrize(("dtype", "shape"), [("object", ()), ("U3", ()), ("datetime64[s]", ()), ("float64", (-1,)),
                                              ("float64", (1.5,)), ("float64", None), ("float64", ("n",))])
def test_what_is_no_tensor_type(dtype, shape):
    with pytest.raises(GraphTypeError):
        TensorType(dtype, shape)


ACCEPTED = [
    ("float64", (), 1.5), ("float64", (), 1), ("float64", (), True), ("float64", (None,), [1, 2.5]), ("float64", (2,), (1, 2)),
    ("float64", (None,), np.ones(2, "float32")), ("float64", (None,), np.ones(2, "int32")), ("float32", (), 0.1),
    ("float32", (None,), [0.1, 0.2]), ("float32", (None,), np.ones(2, "int16")), ("int8", (), 127), ("int8", (), -128),
    ("int64", (None,), [1, 2]), ("int64", (None,), np.ones(2, "int8")), ("bool", (), True), ("bool", (), 1),
    ("complex128", (), 1 + 2j), ("complex128", (), 1.0), ("float64", (0,), np.zeros(0)), ("float16", (), 0.5),
    ("float64", (None, 1), np.zeros((3, 1))), ("float64", (1,), np.zeros(1)), ("uint8", (), 255),
]


@pytest.mark.parametrize(("dtype", "shape", "value"), ACCEPTED, ids=str)
def test_accepted(dtype, shape, value):
    tensor_type = TensorType(dtype, shape)
    got = tensor_type.filter(value)
    assert isinstance(got, np.ndarray)
    assert got.dtype == np.dtype(dtype)
    np.testing.assert_allclose(got, value, rtol=1e-6)
    assert tensor_type.is_valid_value(value, strict=False)


REFUSED = [
    ("float64", (), "text"), ("float64", (), None), ("float64", (), object()), ("float64", (), [1.0]),
    ("float64", (None,), 1.0),
    ("float64", (None,), np.ones((2, 2))), ("float64", (3,), np.ones(2)), ("float64", (1,), np.ones(2)),
    ("float32", (None,), np.ones(2)), ("float32", (), np.float64(1)), ("int8", (), 128), ("int8", (), 1.0),
    ("int8", (), np.int64(1)),
    ("int64", (), 1.5), ("uint8", (), -1), ("bool", (), 2), ("float64", (), 1j), ("float64", (None,), [[1.0], [1.0, 2.0]]),
    ("float32", (None,), np.ones(2, "int64")), ("bool", (None,), np.ones(2, "int8")),
]


@pytest.mark.parametrize(("dtype", "shape", "value"), REFUSED, ids=lambda v: str(v).partition(" at 0x")[0])
def test_refused(dtype, shape, value):
    tensor_type = TensorType(dtype, shape)
    with pytest.raises((TypeError, ValueError)):
        tensor_type.filter(value)
    assert not tensor_type.is_valid_value(value, strict=False)


def test_the_very_array_is_returned_where_it_fits():
    value = np.ones(3)
    assert TensorType("float64", (None,)).filter(value) is value
    assert TensorType("float64", (3,)).filter(value, strict=True) is value


def test_strict_converts_nothing():
    for value in ([1.0], np.ones(1, "float32"), np.ones(1, "int64")):
        with pytest.raises(GraphTypeError, match="strict"):
            TensorType("float64", (None,)).filter(value, strict=True)


def test_allow_downcast():
    f32, i8 = TensorType("float32", (None,)), TensorType("int8", (None,))
    assert f32.filter(np.ones(2), allow_downcast=True).dtype == np.float32
    assert i8.filter([1.7], allow_downcast=True).tolist() == [1]
    with pytest.raises(GraphTypeError, match="lose precision"):
        f32.filter([0.1], allow_downcast=False)


def test_a_variable_is_no_value():
    with pytest.raises(GraphTypeError, match="symbolic variable x"):
        TensorType("float64", (None,)).filter(tt.vector("x"))


@pytest.mark.parametrize(("a", "b", "holds"), [
    ((None,), (3,), True), ((3,), (None,), False), ((3,), (3,), True), ((None,), (None, None), False), ((1,), (None,), False),
])
def test_is_super(a, b, holds):
    assert TensorType("float64", a).is_super(TensorType("float64", b)) == holds
    assert not TensorType("float32", a).is_super(TensorType("float64", b))


def test_in_same_class_ignores_lengths_that_do_not_broadcast():
    assert TensorType("float64", (None, 3)).in_same_class(TensorType("float64", (2, None)))
    assert not TensorType("float64", (None,)).in_same_class(TensorType("float64", (1,)))


def test_filter_variable():
    wide, narrow = tt.vector(), TensorType("float64", (3,))()
    assert wide.type.filter_variable(narrow) is narrow
    with pytest.raises(GraphTypeError):
        wide.type.filter_variable(tt.matrix())
    assert wide.type.filter_variable([1.0, 2.0]).data.tolist() == [1.0, 2.0]


def test_values_eq():
    t = TensorType("float64", (None,))
    nan = np.array([np.nan, 1.0])
    assert t.values_eq(nan, nan.copy())
    assert not t.values_eq(nan, np.array([np.nan, 1.0 + 1e-12]))
    assert t.values_eq_approx(nan, np.array([np.nan, 1.0 + 1e-12]))
    assert not t.values_eq_approx(nan, np.array([np.nan, 1.1]))
    assert not t.values_eq(np.ones(1), np.ones(2))
    assert not t.values_eq(np.ones(1), np.ones(1, "float32"))


def test_may_share_memory():
    a = np.ones(3)
    assert TensorType.may_share_memory(a, a[1:])
    assert not TensorType.may_share_memory(a, a.copy())
    assert not TensorType.may_share_memory(a, 3)


def test_text():
    assert str(TensorType("float64", ())) == "Scalar(float64, shape=())"
    assert str(TensorType("int8", (None,))) == "Vector(int8, shape=(?,))"
    assert str(TensorType("bool", (1, 2, 3))) == "Tensor3(bool, shape=(1, 2, 3))"
