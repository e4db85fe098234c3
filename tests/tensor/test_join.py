"""Joining, splitting, repeating and rearranging, against NumPy."""

import numpy as np
import pytest
from tensor_helpers import check_derivatives, check_infer_shape, check_op, evaluate_all

import termgraph.tensor as tt
from termgraph.errors import GraphTypeError, StaticShapeError
from termgraph.graph import DisconnectedType, evaluate
from termgraph.tensor.join import Join, Split
from termgraph.tensor.type import TensorType
from termgraph.terms import Term, var


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


JOINS = [(0, [(2,), (3,)]), (0, [(0,), (3,), (1,)]), (1, [(2, 3), (2, 0), (2, 1)]), (-1, [(2, 3), (2, 2)]),
         (0, [(1, 3), (2, 3)]), (-2, [(2, 1, 3), (2, 4, 3)]), (0, [(2, 2)])]


@pytest.mark.parametrize(("axis", "shapes"), JOINS)
@pytest.mark.parametrize("static", [False, True])
def test_join(axis, shapes, static):
    values = [normal(*s, seed=i) for i, s in enumerate(shapes)]
    types = [TensorType("float64", s) for s in shapes] if static else None
    check_op(lambda *v: tt.join(axis, *v), values, np.concatenate(values, axis), types)
    check_op(lambda *v: tt.concatenate(v, axis), values, np.concatenate(values, axis), types)
    check_derivatives(lambda *v: tt.join(axis, *v), values, types)


def test_join_promotes_dtypes():
    values = [np.arange(2), normal(3).astype("float32"), np.array([True])]
    check_op(lambda *v: tt.join(0, *v), values, np.concatenate(values))
    check_derivatives(lambda *v: tt.join(0, *v), [normal(2), np.arange(2)])


def test_the_static_shape_of_a_join():
    x, y = tt.matrix("x", shape=(2, None)), tt.matrix("y", shape=(3, 4))
    assert tt.join(0, x, y).type.shape == (5, 4)
    assert tt.join(0, tt.matrix("z"), y).type.shape == (None, 4)
    with pytest.raises(StaticShapeError, match="equal lengths"):
        tt.join(1, x, y)


def test_joining_never_broadcasts():
    with pytest.raises(StaticShapeError):
        tt.join(0, tt.matrix("x", shape=(2, 1)), tt.matrix("y", shape=(2, 3)))


def test_what_cannot_be_joined():
    with pytest.raises(GraphTypeError, match="same number"):
        tt.join(0, tt.vector("x"), tt.matrix("y"))
    with pytest.raises(GraphTypeError, match="no dimension 1"):
        tt.join(1, tt.vector("x"), tt.vector("y"))
    with pytest.raises(GraphTypeError, match="at least one"):
        tt.join(0)
    with pytest.raises(GraphTypeError, match="counted from 0"):
        Join(-1)


def test_a_join_of_one_is_that_one():
    x = tt.vector("x")
    assert tt.join(0, x) is x


def test_a_join_of_patterns_is_a_pattern():
    x, y = var("x"), var("y")
    assert tt.join(1, x, y) == Term(Join(1), (x, y))
    with pytest.raises(GraphTypeError, match="rank"):
        tt.stack([x, y])


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_stack(axis):
    values = [normal(2, seed=i) for i in range(3)]
    check_op(lambda *v: tt.stack(v, axis), values, np.stack(values, axis))
    check_derivatives(lambda *v: tt.stack(v, axis), values)


def test_stacks_of_matrices_and_vectors():
    m, n, v = normal(2, 3), normal(1, 3), normal(3)
    check_op(tt.vertical_stack, [m, n, v], np.vstack([m, n, v]))
    check_op(tt.horizontal_stack, [m, m], np.hstack([m, m]))
    with pytest.raises(GraphTypeError, match="matrices"):
        tt.horizontal_stack(tt.matrix("x"), tt.vector("y"))
    with pytest.raises(GraphTypeError, match="same number"):
        tt.stack([tt.matrix("x"), tt.vector("y")])


SPLITS = [((6,), [1, 2, 3], 0), ((4, 2), [0, 4], 0), ((2, 5), [5], 1), ((2, 5), [1, 0, 4], -1), ((0,), [0, 0], 0)]


@pytest.mark.parametrize(("shape", "sizes", "axis"), SPLITS)
def test_split(shape, sizes, axis):
    x, lengths = normal(*shape), np.array(sizes)
    expected = np.split(x, np.cumsum(sizes)[:-1], axis)
    for i, part in enumerate(expected):
        check_op(lambda v, i=i: tt.split(v, sizes, len(sizes), axis)[i], [x], part)
        check_op(lambda v, n, i=i: tt.split(v, n, len(sizes), axis)[i], [x, lengths], part)
        check_derivatives(lambda v, n, i=i: tt.split(v, n, len(sizes), axis)[i], [x, lengths])
        assert tt.split(TensorType("float64", shape)(), sizes, len(sizes), axis)[i].type.shape == part.shape


def test_derivatives_of_all_parts_together():
    def recombined(v):
        a, b, c = tt.split(v, [1, 1, 2], 3)
        return a * b * c

    check_derivatives(recombined, [normal(4)], [TensorType("float64", (4,))])


def test_parts_nobody_uses_are_disconnected():
    x = tt.vector("x")
    parts = tt.split(x, [1, 2], 2)
    node = parts[0].owner
    assert node.op.connection_pattern(node) == [[True, True], [False, False]]
    g = tt.vector("g", shape=(1,))
    (gx, glengths) = node.op.pullback(node.inputs, node.outputs, [g, DisconnectedType()()])
    assert isinstance(glengths.type, DisconnectedType)
    assert np.array_equal(evaluate([gx], {x: np.ones(3), g: np.array([5.0])})[0], [5, 0, 0])


def test_the_parts_of_a_split_are_views():
    x = tt.vector("x")
    value = np.zeros(3)
    parts = evaluate_all(tt.split(x, [1, 2], 2), {x: value})
    parts[1][0] = 7
    assert value[1] == 7
    check_infer_shape(tt.split(x, [1, 2], 2), {x: value})


def test_what_cannot_be_split():
    x, n = tt.vector("x"), tt.lvector("n")
    with pytest.raises(ValueError, match="add up"):
        tt.split(tt.vector("x", shape=(4,)), [1, 2], 2)
    with pytest.raises(ValueError, match="add up"):
        evaluate(tt.split(x, n, 2), {x: np.zeros(4), n: np.array([1, 2])})
    with pytest.raises(ValueError, match="negative"):
        evaluate(tt.split(x, n, 2), {x: np.zeros(4), n: np.array([5, -1])})
    with pytest.raises(GraphTypeError, match="vector of as many"):
        tt.split(x, [1, 2, 1], 2)
    assert Split(2, 0) == Split(2, 0) != Split(3, 0)


@pytest.mark.parametrize("shape", [(3,), (2, 3), (0, 2), (1, 1)])
@pytest.mark.parametrize("reps", [2, (2,), (1, 3), (2, 1, 2), 0])
def test_tile(shape, reps):
    x = normal(*shape)
    check_op(lambda v: tt.tile(v, reps), [x], np.tile(x, reps))
    assert tt.tile(TensorType("float64", shape)(), reps).type.shape == np.tile(x, reps).shape
    check_derivatives(lambda v: tt.tile(v, reps), [x])


def test_a_symbolic_number_of_repetitions():
    x, n = normal(2, 3), np.array(2)
    check_op(lambda v, k: tt.tile(v, (k, 1)), [x, n], np.tile(x, (2, 1)))
    check_op(lambda v, k: tt.repeat(v, k, 1), [x, n], np.repeat(x, 2, 1))
    check_op(lambda v: tt.tile(v, 3), [np.array(2.0)], np.tile(2.0, 3))


@pytest.mark.parametrize("shape", [(3,), (2, 3), (0, 2), (1, 1)])
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("repeats", [0, 1, 3])
def test_repeat(shape, axis, repeats):
    x = normal(*shape)
    check_op(lambda v: tt.repeat(v, repeats, axis), [x], np.repeat(x, repeats, axis))
    check_derivatives(lambda v: tt.repeat(v, repeats, axis), [x])


def test_repeat_takes_one_number():
    with pytest.raises(GraphTypeError, match="one number"):
        tt.repeat(tt.vector("x"), [1, 2])


@pytest.mark.parametrize("shape", [(3,), (2, 3), (0, 2)])
@pytest.mark.parametrize("axis", [None, 0, -1, (0,)])
def test_flip(shape, axis):
    x = normal(*shape)
    check_op(lambda v: tt.flip(v, axis), [x], np.flip(x, axis))
    check_derivatives(lambda v: tt.flip(v, axis), [x])


@pytest.mark.parametrize("shape", [(5,), (2, 3), (0, 2), (1,)])
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("shift", [0, 1, -2, 7])
def test_roll(shape, axis, shift):
    x = normal(*shape)
    expected = np.roll(x, shift, axis)
    check_op(lambda v: tt.roll(v, shift, axis), [x], expected)
    check_op(lambda v, s: tt.roll(v, s, axis), [x, np.array(shift, "int8")], expected)
    check_op(lambda v: tt.roll(v, shift, axis), [x], expected, [TensorType("float64", shape)])
    check_derivatives(lambda v: tt.roll(v, shift, axis), [x])
