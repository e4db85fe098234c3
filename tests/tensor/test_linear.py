"""Products, norms and diagonals against NumPy."""

import numpy as np
import pytest
from tensor_helpers import check_derivatives, check_op

import termgraph.tensor as tt
from termgraph.errors import GraphTypeError, StaticShapeError
from termgraph.graph import toposort
from termgraph.tensor.linear import Dot, MatMul
from termgraph.tensor.type import TensorType
from termgraph.terms import OpTerm, Term, var


def normal(*shape, seed=0, dtype="float64"):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


PAIRS = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((1, 3), (3, 1)), ((2, 0), (0, 3)), ((0,), (0,)),
         ((0, 2), (2, 3)), ((1,), (1,))]


@pytest.mark.parametrize(("a", "b"), PAIRS)
@pytest.mark.parametrize("dtypes", [("float64", "float64"), ("float32", "float64"), ("int64", "float32"), ("int8", "int8")])
def test_dot(a, b, dtypes):
    x, y = (3 * normal(*a)).astype(dtypes[0]), (3 * normal(*b, seed=1)).astype(dtypes[1])
    check_op(tt.dot, [x, y], np.dot(x, y))


@pytest.mark.parametrize(("a", "b"), PAIRS)
@pytest.mark.parametrize("static", [False, True])
def test_dot_derivatives(a, b, static):
    values = [normal(*a), normal(*b, seed=1)]
    types = [TensorType("float64", v.shape) for v in values] if static else None
    check_derivatives(tt.dot, values, types)


def test_dot_of_an_integer_and_a_float_has_the_derivative_of_the_float():
    check_derivatives(tt.dot, [np.arange(6).reshape(2, 3), normal(3)])


def test_dot_knows_its_static_shape():
    x, y = tt.matrix("x", shape=(2, None)), tt.matrix("y", shape=(None, 5))
    assert tt.dot(x, y).type.shape == (2, 5)
    assert tt.dot(x[0], y).type.shape == (5,)


def test_dot_refuses_inner_lengths_that_differ():
    x, y = tt.matrix("x", shape=(2, 3)), tt.vector("y", shape=(4,))
    with pytest.raises(StaticShapeError, match=r"\(2, 3\), \(4,\)"):
        tt.dot(x, y)
    with pytest.raises(StaticShapeError):  # lengths of 1 do not broadcast
        tt.dot(x, tt.vector("z", shape=(1,)))


def test_dot_with_a_scalar_multiplies():
    check_op(lambda x, y: tt.dot(x, y), [np.array(2.0), normal(2, 3)], 2 * normal(2, 3))
    check_op(lambda x: tt.dot(2, x), [normal(3)], 2 * normal(3))


@pytest.mark.parametrize(("a", "b"), [((2, 3, 4), (4,)), ((2, 3, 4), (4, 5)), ((4,), (2, 4, 3)), ((2, 4), (3, 4, 1))])
def test_dot_of_more_dimensions(a, b):
    x, y = normal(*a), normal(*b, seed=1)
    check_op(tt.dot, [x, y], np.dot(x, y))


def test_the_op_refuses_other_ranks():
    with pytest.raises(GraphTypeError, match="vectors and matrices"):
        Dot()(tt.tensor3("x"), tt.vector("y"))


def test_dot_of_patterns_is_a_pattern():
    x, y = var("x"), var("y")
    assert tt.dot(x, y) == Term(Dot(), (x, y))
    assert x @ y == tt.dot(x, y)


@pytest.mark.parametrize("x, y", [(normal(3), normal(3)), (normal(2, 3), normal(3, 4)), (normal(2, 3), normal(3))])
def test_the_thunk_of_dot_computes_the_product(x, y):
    node = tt.dot(*(TensorType("float64", (None,) * v.ndim)() for v in (x, y))).owner
    storage = {v: [value] for v, value in zip(node.inputs + node.outputs, (x, y, None), strict=True)}
    computed = {v: [False] for v in storage}
    node.op.make_thunk(node, storage, computed, [])()
    (result,) = storage[node.outputs[0]]
    assert type(result) is np.ndarray
    np.testing.assert_allclose(result, x.dot(y))
    assert computed[node.outputs[0]] == [True]


BATCHES = [((2, 3, 4), (2, 4, 5)), ((1, 3, 4), (2, 4, 5)), ((2, 3, 4), (4, 5)), ((4,), (2, 4, 5)), ((2, 3, 4), (4,)),
           ((2, 1, 3, 4), (5, 4, 1)), ((0, 2, 3), (0, 3, 2)), ((2, 3), (3, 4)), ((3,), (3,)), ((2, 3, 0), (2, 0, 1))]


@pytest.mark.parametrize(("a", "b"), BATCHES)
def test_matmul(a, b):
    x, y = normal(*a), normal(*b, seed=1)
    types = [TensorType("float64", [1 if n == 1 else None for n in s]) for s in (a, b)]
    check_op(tt.matmul, [x, y], x @ y, types)
    check_derivatives(tt.matmul, [x, y], types)


def test_matmul_broadcasts_only_what_its_type_announces():
    with pytest.raises(ValueError, match="broadcasts only"):
        check_op(tt.matmul, [normal(1, 2, 3), normal(4, 3, 2)], np.zeros((4, 2, 2)))


def test_matmul_refuses_what_does_not_fit():
    with pytest.raises(GraphTypeError, match=r"use \*"):
        tt.matmul(tt.scalar("a"), tt.matrix("x"))
    with pytest.raises(StaticShapeError):
        tt.matmul(tt.tensor3("x", shape=(2, 3, 4)), tt.tensor3("y", shape=(2, 5, 4)))
    with pytest.raises(GraphTypeError, match="at least 3"):
        MatMul()(tt.matrix("x"), tt.matrix("y"))


CONTRACTIONS = [((2, 3), (3, 4), 1), ((2, 3, 4), (3, 4, 5), 2), ((2, 3), (4, 5), 0), ((2, 3, 4), (4, 5, 3), [[1, 2], [2, 0]]),
                ((2, 3), (2, 3), [[0, 1], [0, 1]]), ((2, 3, 4), (3,), [1, 0]), ((2, 3), (5, 3), [[-1], [-1]]),
                ((0, 3), (3, 2, 2), 1)]


@pytest.mark.parametrize(("a", "b", "axes"), CONTRACTIONS)
def test_tensordot(a, b, axes):
    x, y = normal(*a), normal(*b, seed=1)
    check_op(lambda u, v: tt.tensordot(u, v, axes), [x, y], np.tensordot(x, y, axes))
    check_derivatives(lambda u, v: tt.tensordot(u, v, axes), [x, y])


def test_tensordot_knows_its_static_shape_and_refuses_axes_that_do_not_fit():
    x, y = tt.tensor3("x", shape=(2, 3, 4)), tt.tensor3("y", shape=(4, 3, 5))
    assert tt.tensordot(x, y, [[1, 2], [1, 0]]).type.shape == (2, 5)
    with pytest.raises(StaticShapeError):
        tt.tensordot(x, y, [[0], [1]])
    with pytest.raises(GraphTypeError, match="do not fit"):
        tt.tensordot(x, y, [[0, 1], [1]])
    with pytest.raises(GraphTypeError, match="do not fit"):
        tt.tensordot(x, y, [[3], [0]])


def test_outer_and_inner():
    x, y, m = normal(3), normal(4, seed=1), normal(2, 3)
    check_op(tt.outer, [x, y], np.outer(x, y))
    check_op(tt.outer, [m, y], np.outer(m, y))
    check_op(tt.inner, [x, x], np.inner(x, x))
    check_op(tt.inner, [m, m], np.inner(m, m))
    check_op(tt.inner, [np.array(2.0), m], 2 * m)
    check_derivatives(tt.outer, [x, y])


@pytest.mark.parametrize("p", [None, 2, 1, 0, 3, 2.5, np.inf, -np.inf])
def test_norm_of_vectors(p):
    x = normal(4)
    check_op(lambda v: tt.norm(v, p), [x], np.linalg.norm(x, p))
    if p != 0:
        check_derivatives(lambda v: tt.norm(v, p), [x])


def test_norm_over_axes():
    x = normal(3, 4)
    check_op(tt.norm, [x], np.linalg.norm(x))
    check_op(lambda v: tt.norm(v, 1, axis=1), [x], np.linalg.norm(x, 1, axis=1))
    check_op(lambda v: tt.norm(v, axis=0, keepdims=True), [x], np.linalg.norm(x, axis=0, keepdims=True))
    with pytest.raises(GraphTypeError, match="vectors"):
        tt.norm(tt.matrix("x"), 1)


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2), (1, 1), (0, 3), (2, 0)])
@pytest.mark.parametrize("offset", [0, 1, -1, 3])
def test_diagonal(shape, offset):
    x = normal(*shape)
    check_op(lambda v: tt.diagonal(v, offset), [x], np.diagonal(x, offset))
    check_op(lambda v: tt.diag(v, offset), [x], np.diag(x, offset), [TensorType("float64", shape)])
    check_derivatives(lambda v: tt.diagonal(v, offset), [x])


@pytest.mark.parametrize("axes", [(0, 1), (2, 0), (1, -1)])
def test_diagonals_of_stacks(axes):
    x = normal(2, 3, 4)
    check_op(lambda v: tt.diagonal(v, 1, *axes), [x], np.diagonal(x, 1, *axes))
    check_op(lambda v: tt.trace(v, 0, *axes), [x], np.trace(x, 0, *axes))
    check_derivatives(lambda v: tt.diagonal(v, 1, *axes), [x])


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("k", [0, 2, -1])
def test_diag_of_a_vector(n, k):
    x = normal(n)
    check_op(lambda v: tt.diag(v, k), [x], np.diag(x, k))
    check_derivatives(lambda v: tt.diag(v, k), [x])


def test_diag_refuses_other_ranks():
    with pytest.raises(GraphTypeError, match="vector or a matrix"):
        tt.diag(tt.tensor3("x"))
    with pytest.raises(GraphTypeError, match="ambiguous"):
        tt.diag(var("x"))
    with pytest.raises(GraphTypeError, match="no diagonal"):
        tt.diagonal(tt.vector("x"))


def test_the_static_length_of_a_diagonal():
    assert tt.diagonal(tt.matrix("x", shape=(3, 5)), 3).type.shape == (2,)
    assert tt.diagonal(tt.matrix("x", shape=(3, None))).type.shape == (None,)
    assert tt.diag(tt.vector("x", shape=(3,)), -1).type.shape == (4, 4)


def test_the_pullback_of_dot_builds_no_zeros():
    x, y = tt.matrix("x"), tt.matrix("y")
    out = tt.dot(x, y)
    found = out.owner.op.pullback([x, y], [out], [out])
    assert {str(n.op) for n in toposort(found)} == {"dot", "Transpose{axes=[1, 0]}"}


def test_patterns_of_diagonals_are_patterns():
    x = var("x")
    assert isinstance(tt.diagonal(x), Term)
    assert not isinstance(tt.diagonal(x).head, OpTerm)
