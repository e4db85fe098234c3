"""DimShuffle and the functions made of it, against NumPy."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import termgraph.tensor as tt
from termgraph.errors import GraphTypeError
from termgraph.gradient import verify_grad
from termgraph.graph import evaluate
from termgraph.tensor.dimshuffle import DimShuffle
from termgraph.tensor.type import TensorType

CASES = [
    ((), ("x",)), ((), ("x", "x")), ((), ()), ((3,), (0, "x")), ((3,), ("x", 0)), ((2, 3), (1, 0)), ((2, 3), (0, 1)),
    ((2, 3), (1, "x", 0)), ((1, 3), (1,)), ((3, 1), (0,)), ((1, 1), ()), ((2, 1, 3), (2, "x", 0)), ((1, 2, 1, 3), ("x", 3, 1)),
    ((0, 2), (1, 0)), ((0,), ("x", 0)), ((1,), ("x",)), ((1,), (0,)), ((2, 3, 4), (2, 0, 1)),
]


def array_of(shape):
    return np.arange(float(np.prod(shape, dtype=int))).reshape(shape)


def expected(value, order):
    kept = [o for o in order if o != "x"]
    dropped = [d for d in range(value.ndim) if d not in kept]
    result = value.transpose(kept + dropped).reshape([value.shape[d] for d in kept])
    return result.reshape([1 if o == "x" else value.shape[o] for o in order])


@pytest.mark.parametrize(("shape", "order"), CASES, ids=str)
def test_values_types_and_thunk(shape, order):
    value = array_of(shape)
    x = TensorType("float64", shape)("x")
    y = DimShuffle(input_ndim=len(shape), new_order=order)(x)
    wanted = expected(value, order)
    assert y.type.shape == wanted.shape
    (got,) = evaluate([y], {x: value})
    np.testing.assert_array_equal(got, wanted)
    assert isinstance(got, np.ndarray)
    storage = {x: [value], y: [None]}
    y.owner.op.make_thunk(y.owner, storage, {y: [False]}, [])()
    np.testing.assert_array_equal(storage[y][0], wanted)
    assert value.size == 0 or np.may_share_memory(storage[y][0], value)
    assert y.owner.op.view_map == {0: [0]}
    assert tuple(y.owner.op.infer_shape(None, y.owner, [shape])[0]) == wanted.shape


@pytest.mark.parametrize(("shape", "order"), CASES, ids=str)
def test_derivatives(shape, order):
    verify_grad(lambda x: tt.sin(DimShuffle(input_ndim=len(shape), new_order=order)(x)), [array_of(shape)], n_tests=1)


@pytest.mark.parametrize(("shape", "order"), CASES, ids=str)
def test_the_inverse_undoes(shape, order):
    x = TensorType("float64", shape)("x")
    op = DimShuffle(input_ndim=len(shape), new_order=order)
    inverse = op.inverse()
    y = op(x) if inverse is None else inverse(op(x))
    np.testing.assert_array_equal(evaluate([y], {x: array_of(shape)})[0], array_of(shape))
    assert (inverse is None) == (list(order) == list(range(len(shape))))


@pytest.mark.parametrize(("ndim", "order", "message"), [
    (1, (1,), "not among the 1"), (2, (0, 0), "twice"), (1, (-1,), "not among"), (0, (0,), "not among"),
])
def test_wrong_orders(ndim, order, message):
    with pytest.raises(GraphTypeError, match=message):
        DimShuffle(input_ndim=ndim, new_order=order)


def test_only_a_length_known_to_be_one_is_dropped():
    with pytest.raises(GraphTypeError, match="must be known to be 1"):
        DimShuffle(input_ndim=2, new_order=(0,))(tt.matrix())
    with pytest.raises(GraphTypeError, match="takes 2 dimensions"):
        DimShuffle(input_ndim=2, new_order=(0, 1))(tt.vector())


def test_nothing_is_built_where_nothing_moves():
    x = tt.matrix()
    assert tt.dimshuffle(x, (0, 1)) is x
    assert tt.transpose(x, (0, 1)) is x
    assert tt.vector().T.owner is None
    assert tt.squeeze(x) is x


@pytest.mark.parametrize("axes", [None, (0, 2, 1), (2, 0, 1), (-1, 0, 1)])
def test_transpose(axes):
    x = tt.tensor3()
    value = array_of((2, 3, 4))
    np.testing.assert_array_equal(evaluate([tt.transpose(x, axes)], {x: value})[0], np.transpose(value, axes))


def test_transpose_refuses_what_is_no_permutation():
    with pytest.raises(GraphTypeError, match="not a permutation"):
        tt.transpose(tt.matrix(), (0, 0))


@pytest.mark.parametrize("axis", [0, 1, -1, 2, (0, 2), (0, -1), (0, 1)])
def test_expand_dims(axis):
    x = tt.matrix()
    value = array_of((2, 3))
    y = tt.expand_dims(x, axis)
    np.testing.assert_array_equal(evaluate([y], {x: value})[0], np.expand_dims(value, axis))


@pytest.mark.parametrize("axis", [None, 0, 2, (0, 2), -1])
def test_squeeze(axis):
    x = tt.tensor3(shape=(1, None, 1))
    value = array_of((1, 3, 1))
    np.testing.assert_array_equal(evaluate([tt.squeeze(x, axis)], {x: value})[0], np.squeeze(value, axis))


def test_equality_and_pickling():
    op = DimShuffle(input_ndim=2, new_order=(1, "x", 0))
    assert op == DimShuffle(input_ndim=2, new_order=[1, "x", 0])
    assert op != DimShuffle(input_ndim=2, new_order=(0, "x", 1))
    assert pickle.loads(pickle.dumps(op)) == op


@pytest.mark.parametrize(("order", "ndim", "text"), [
    (("x", 0), 1, "ExpandDims{axes=[0]}"), ((1, 0), 2, "Transpose{axes=[1, 0]}"), ((0, "x"), 1, "DimShuffle{order=[0,x]}"),
])
def test_names(order, ndim, text):
    assert str(DimShuffle(input_ndim=ndim, new_order=order)) == text
