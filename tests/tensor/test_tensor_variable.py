"""Operators and methods of tensor variables against NumPy's, constants, and conversion of Python values."""

from __future__ import annotations

import operator
import pickle

import numpy as np
import pytest

import termgraph.tensor as tt
from termgraph.config import config
from termgraph.errors import GraphTypeError
from termgraph.graph import evaluate
from termgraph.graph.variable import Variable
from termgraph.tensor.type import TensorType

A = np.array([1.0, 2.5, 3.0])
B = np.array([2.0, 0.5, 3.0])
REAL = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
        operator.lt, operator.le, operator.gt, operator.ge]
BITS = [operator.and_, operator.or_, operator.xor]


def check(function, values):
    xs = [TensorType(v.dtype, v.shape)() for v in values]
    (got,) = evaluate([function(*xs)], dict(zip(xs, values, strict=True)))
    wanted = function(*values)
    assert got.dtype == np.asarray(wanted).dtype
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("function", REAL, ids=lambda f: f.__name__)
@pytest.mark.parametrize("other", [B, 2.0, 2, np.float64(2), np.array(2.0), [2.0, 0.5, 3.0]], ids=lambda o: type(o).__name__)
def test_binary_operators_both_ways(function, other):
    check(function, [A, B])
    check(lambda a: function(a, other), [A])
    check(lambda a: function(other, a), [A])


@pytest.mark.parametrize("function", BITS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["bool", "int64", "uint8"])
def test_bit_operators(function, dtype):
    a, b = np.array([0, 1, 1, 0]).astype(dtype), np.array([0, 0, 1, 1]).astype(dtype)
    check(function, [a, b])
    check(lambda x: function(b, x), [a])
    check(operator.invert, [a])


def test_unary_operators():
    check(operator.neg, [A])
    check(operator.abs, [-A])
    x = tt.vector()
    assert +x is x


def test_an_array_on_the_left_is_left_to_the_variable():
    x = tt.vector()
    for y in (A + x, A * x, A - x, A / x, A ** x, A @ x, A < x):  # noqa: SIM300 - the order is the point
        assert isinstance(y, Variable)
    assert evaluate([A - x], {x: B})[0].tolist() == (A - B).tolist()
    assert evaluate([A < x], {x: B})[0].tolist() == (A < B).tolist()  # noqa: SIM300


def test_matrix_product():
    m = np.arange(6.0).reshape(2, 3)
    check(operator.matmul, [m, A])
    check(operator.matmul, [m, m.T])


def test_equality_is_identity_and_eq_is_elementwise():
    x, y = tt.vectors("x", "y")
    assert (x == y) is False
    assert (x == x) is True
    assert evaluate([tt.eq(x, y)], {x: A, y: B})[0].tolist() == (A == B).tolist()
    assert len({x, y}) == 2


@pytest.mark.parametrize(("function", "message"), [
    (len, "x.shape"), (bool, "neither true nor false"), (list, "cannot be iterated"),
], ids=["len", "bool", "iter"])
def test_what_a_symbolic_variable_cannot_do(function, message):
    with pytest.raises(TypeError, match=message):
        function(tt.vector("x"))


M = np.arange(6.0).reshape(2, 3) - 2


@pytest.mark.parametrize("function", [
    lambda m: m.T, lambda m: m.transpose(), lambda m: m.transpose(1, 0), lambda m: m.transpose((1, 0)), lambda m: m.sum(),
    lambda m: m.sum(axis=0), lambda m: m.sum(axis=1, keepdims=True), lambda m: m.prod(axis=1), lambda m: m.mean(),
    lambda m: m.mean(axis=0), lambda m: m.max(), lambda m: m.min(axis=1), lambda m: m.argmax(axis=1), lambda m: m.clip(-1, 1),
    lambda m: m.flatten(), lambda m: m.ravel(), lambda m: m.reshape((3, 2)), lambda m: m.reshape(3, 2), lambda m: m.reshape(-1),
    lambda m: m.astype("float32"), lambda m: m.dot(A), lambda m: m[0], lambda m: m[:, 1:], lambda m: m.dot(M.T),
])
def test_methods(function):
    check(function, [M])


def test_dimshuffle_method_takes_both_forms():
    x = tt.matrix()
    assert x.dimshuffle(1, "x", 0).type == x.dimshuffle((1, "x", 0)).type
    assert x.dimshuffle(1, "x", 0).type.shape == (None, 1, None)


def test_shape_size_dtype():
    x = tt.matrix(dtype="float32")
    assert x.dtype == "float32"
    assert x.ndim == 2
    assert x.broadcastable == (False, False)
    shape, size = evaluate([x.shape, x.size], {x: M.astype("float32")})
    assert shape.tolist() == [2, 3]
    assert int(size) == 6
    assert shape.dtype == np.int64


@pytest.mark.parametrize(("value", "dtype", "shape"), [
    (1, "int64", ()), (1.5, "float64", ()), (True, "bool", ()), (1j, "complex128", ()), ([1, 2], "int64", (2,)),
    ([[1.0], [2.0]], "float64", (2, 1)), (np.float32(1), "float32", ()), (np.ones((0, 2), "int8"), "int8", (0, 2)),
])
def test_constants_have_the_values_dtype_and_shape(value, dtype, shape):
    c = tt.constant(value)
    assert c.type is TensorType(dtype, shape)
    np.testing.assert_array_equal(c.data, value)
    assert tt.as_tensor_variable(value).equals(c)


def test_python_floats_have_floatX():
    with config.change_flags(floatX="float32"):
        assert tt.constant(1.5).type.dtype == "float32"
        assert tt.constant([1.5]).type.dtype == "float32"
        assert tt.constant(np.float64(1.5)).type.dtype == "float64"
        assert tt.constant(1.5, dtype="float64").type.dtype == "float64"


def test_constants_are_frozen_copies():
    value = np.ones(3)
    c = tt.constant(value)
    value[0] = 5
    assert c.data[0] == 1
    with pytest.raises(ValueError, match="read-only"):
        c.data[0] = 5


def test_constants_that_look_alike_are_told_apart():
    alike = [tt.constant(v) for v in (1, 1.0, True, np.float32(1), [1.0], -0.0, 0.0, np.nan)]
    assert len({c.key for c in alike}) == len(alike)
    assert tt.constant(np.nan).equals(tt.constant(np.nan))
    assert not tt.constant(0.0).equals(tt.constant(-0.0))


def test_literals():
    assert tt.constant([2.0, 2.0]).literal == 2.0
    assert tt.constant([2.0, 3.0]).literal is None
    assert tt.constant(np.zeros(0)).literal is None
    assert tt.constant(np.nan).literal is None


def test_as_tensor_variable():
    x = tt.vector()
    assert tt.as_tensor_variable(x) is x
    assert tt.as_tensor_variable(x, ndim=3).type.shape == (1, 1, None)
    with pytest.raises(GraphTypeError, match="at most 0"):
        tt.as_tensor_variable(x, ndim=0)
    for wrong in ("text", None, object(), [None]):
        with pytest.raises((GraphTypeError, TypeError, ValueError)):
            tt.as_tensor_variable(wrong)


def test_a_list_with_variables_is_joined():
    x, y = tt.scalars("x", "y")
    values = {x: np.array(1.0), y: np.array(2.0)}
    np.testing.assert_array_equal(evaluate([tt.as_tensor_variable([x, 5.0, y])], values)[0], [1.0, 5.0, 2.0])
    np.testing.assert_array_equal(evaluate([tt.as_tensor_variable([[x, y], [y, 0.0]])], values)[0], [[1.0, 2.0], [2.0, 0.0]])


def test_names_and_text():
    x = tt.vector("x")
    assert str(x) == "x"
    assert str(tt.vector()) == "<Vector(float64, shape=(?,))>"
    assert str(tt.constant(1.5)) == "1.5"
    assert str(tt.constant(1.5, name="c")) == "c"


def test_constants_pickle():
    c = tt.constant([1.0, 2.0], name="c")
    twin = pickle.loads(pickle.dumps(c))
    assert twin.equals(c)
    assert twin.name == "c"
    assert not twin.data.flags.writeable
