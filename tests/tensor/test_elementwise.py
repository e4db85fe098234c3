"""Elemwise: broadcasting, static shapes, weak Python numbers, the gradient of a broadcast, infer_shape, pickling."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import termgraph.tensor as tt
from termgraph.config import config
from termgraph.errors import GraphTypeError, StaticShapeError
from termgraph.gradient import grad, verify_grad
from termgraph.graph import FunctionGraph, evaluate
from termgraph.tensor.elementwise import Elemwise, row_named, unbroadcast
from termgraph.tensor.type import TensorType

SHAPES = [(), (1,), (3,), (1, 3), (2, 1), (2, 3), (1, 1), (0,), (2, 0)]


def broadcast_together(*shapes):
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


PAIRS = [(a, b) for a in SHAPES for b in SHAPES if broadcast_together(a, b) is not None]


def of_shape(shape, name=None):
    """A variable whose lengths of 1 are static, and no others."""
    return TensorType("float64", tuple(1 if n == 1 else None for n in shape))(name)


@pytest.mark.parametrize(("a", "b"), PAIRS, ids=str)
def test_broadcasting_and_its_derivatives(a, b):
    rng = np.random.default_rng(0)
    x, y = of_shape(a), of_shape(b)
    u, v = rng.normal(size=a), rng.normal(size=b)
    z = x * y
    (got,) = evaluate([z], {x: u, y: v})
    np.testing.assert_array_equal(got, u * v)
    assert got.shape == broadcast_together(a, b)
    assert [i.type.ndim for i in z.owner.inputs] == [z.type.ndim] * 2
    gx, gy = grad(z.sum(), [x, y])
    du, dv = evaluate([gx, gy], {x: u, y: v})
    assert du.shape == u.shape
    assert dv.shape == v.shape
    np.testing.assert_allclose(du, np.ones_like(u) * 0 + _summed(np.broadcast_to(v, got.shape), u.shape), atol=1e-12)
    np.testing.assert_allclose(dv, np.ones_like(v) * 0 + _summed(np.broadcast_to(u, got.shape), v.shape), atol=1e-12)


def _summed(g, shape):
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    return g.sum(axis=tuple(d for d, n in enumerate(shape) if n == 1), keepdims=True)


@pytest.mark.parametrize("shapes", [((1, 3), (2, 1), (), (3,)), ((), (1,), (1, 1), (2, 3))], ids=str)
def test_derivatives_of_mixed_ranks(shapes):
    rng = np.random.default_rng(1)
    verify_grad(lambda a, b, c, d: tt.exp(a * b) - c / (2 + tt.sin(d)), [rng.uniform(0.1, 1, s) for s in shapes])


def test_unbroadcast_sums_only_what_was_spread():
    g, x = tt.matrix(), tt.matrix(shape=(None, 1))
    assert unbroadcast(g, tt.matrix()) is g
    (got,) = evaluate([unbroadcast(g, x)], {g: np.ones((2, 3)), x: np.zeros((2, 1))})
    np.testing.assert_array_equal(got, [[3.0], [3.0]])


@pytest.mark.parametrize(("a", "b", "expected"), [
    ((None,), (3,), (3,)), ((1,), (None,), (None,)), ((1,), (1,), (1,)), ((2, 1), (1, 3), (2, 3)), ((), (4,), (4,)),
    ((None, 1), (None,), (None, None)), ((0,), (1,), (0,)),
])
def test_static_shape(a, b, expected):
    assert (TensorType("float64", a)() + TensorType("float64", b)()).type.shape == expected


@pytest.mark.parametrize(("a", "b"), [((2,), (3,)), ((2, 3), (2,)), ((0,), (2,))])
def test_static_shapes_that_contradict_each_other(a, b):
    with pytest.raises(StaticShapeError, match="cannot apply add elementwise"):
        TensorType("float64", a)() + TensorType("float64", b)()


def run_thunk(node, values):
    storage = {v: [u] for v, u in zip(node.inputs, values, strict=True)} | {node.outputs[0]: [None]}
    node.op.make_thunk(node, storage, {node.outputs[0]: [False]}, [])()
    return storage[node.outputs[0]][0]


@pytest.mark.parametrize("op", [tt.add, Elemwise(row_named("add"), {0: 0}), tt.switch], ids=str)
@pytest.mark.parametrize("lengths", [(3, 1, 1), (3, 2, 2)])
def test_only_a_static_length_of_one_broadcasts_at_run_time(op, lengths):
    xs = [tt.vector(f"x{i}") for i in range(op.scalar_op.nin)]
    values = [np.ones(n) for n in lengths[: len(xs)]]
    y = op(*xs)
    with pytest.raises(ValueError, match="differ in length along dimension 0"):
        evaluate([y], dict(zip(xs, values, strict=True)))
    with pytest.raises(ValueError, match="differ in length along dimension 0"):
        run_thunk(y.owner, values)


def test_in_place_on_a_view_of_another_argument():
    x = tt.matrix()
    memory = np.arange(9.0).reshape(3, 3)
    expected = memory + memory.T
    op = Elemwise(row_named("add"), {0: 0})
    y = tt.matrix()
    node = op(x, y).owner
    assert run_thunk(node, [memory, memory.T]) is memory
    np.testing.assert_array_equal(memory, expected)


@pytest.mark.parametrize(("dtype", "number", "expected"), [
    ("float32", 0.5, "float32"), ("float32", 2, "float32"), ("float16", 0.5, "float16"), ("int32", 0.5, "float64"),
    ("int8", 3, "int8"), ("uint8", 3, "uint8"), ("int8", True, "int8"), ("bool", 2, "int64"), ("complex64", 0.5, "complex64"),
    ("float64", 1, "float64"), ("float32", True, "float32"),
])
def test_a_python_number_takes_the_dtype_of_the_others(dtype, number, expected):
    x = TensorType(dtype, (None,))()
    for y in (x * number, number * x):
        assert y.type.dtype == expected
    (got,) = evaluate([x * number], {x: np.ones(2, dtype)})
    np.testing.assert_array_equal(got, np.ones(2, dtype) * number)


def test_a_float_among_integers_has_floatX():
    with config.change_flags(floatX="float32"):
        assert (tt.vector(dtype="int8") * 0.5).type.dtype == "float32"
        assert (tt.vector(dtype="float64") * 0.5).type.dtype == "float64"


@pytest.mark.parametrize(("dtype", "number"), [("int8", 1000), ("uint8", -1), ("int8", -129)])
def test_a_python_number_that_does_not_fit(dtype, number):
    with pytest.raises(GraphTypeError, match=f"{number} does not fit into {dtype}"):
        TensorType(dtype, (None,))() + number


@pytest.mark.parametrize("number", [0.0, -0.0, float("nan"), float("inf")])
def test_special_numbers_are_not_mistaken_for_each_other(number):
    x = tt.vector()
    tt.maximum(x, 0.0)
    (got,) = evaluate([tt.second(x, number)], {x: np.ones(1)})
    np.testing.assert_array_equal(got, [number])
    assert np.signbit(got[0]) == np.signbit(number)


def test_arrays_and_numpy_scalars_keep_their_dtype():
    x = tt.vector(dtype="float32")
    assert (x + np.float64(1)).type.dtype == "float64"
    assert (x + np.ones(3)).type.dtype == "float64"
    assert (x + [1.0, 2.0]).type == TensorType("float64", (2,))


def test_wrong_arguments():
    with pytest.raises(GraphTypeError, match="add takes 2 arguments, got 1"):
        tt.add(tt.vector())
    with pytest.raises(GraphTypeError):
        tt.add(tt.vector(), "text")
    with pytest.raises(GraphTypeError):
        tt.add(tt.vector(), None)


@pytest.mark.parametrize(("a", "b"), PAIRS, ids=str)
def test_infer_shape(a, b):
    x, y = of_shape(a), of_shape(b)
    node = (x + y).owner
    values = {x: np.zeros(a), y: np.zeros(b)}
    aligned = evaluate(node.inputs, values)
    (inferred,) = node.op.infer_shape(FunctionGraph(clone=False, inputs=[x, y], outputs=[node.outputs[0]]), node,
                                      [v.shape for v in aligned])
    assert tuple(int(n) for n in inferred) == broadcast_together(a, b)


def test_connection_of_second():
    assert tt.second(tt.vector(), tt.scalar()).owner.op.connection_pattern(None) == [[False], [True]]


@pytest.mark.parametrize("op", [tt.add, Elemwise(row_named("exp"), {0: 0}), Elemwise(row_named("cast_int8"))], ids=str)
def test_pickling_and_identity(op):
    twin = pickle.loads(pickle.dumps(op))
    assert twin == op
    assert hash(twin) == hash(op)
    assert twin.scalar_op is op.scalar_op
    assert twin.canonical is op.canonical
