"""Softmax and its relatives against SciPy, at extreme arguments too."""

import warnings

import numpy as np
import pytest
import scipy.special
from tensor_helpers import check_derivatives, check_op, evaluate_all

import termgraph.tensor as tt
from termgraph.errors import GraphTypeError
from termgraph.tensor.special import LogSoftmax, LogSumExp, Softmax
from termgraph.tensor.type import TensorType
from termgraph.terms import OpTerm, var

SHAPES = [(3,), (2, 3), (1, 1), (2, 1, 3), ()]


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def axes_of(shape):
    return [None, *range(-len(shape), len(shape))]


CASES = [(s, a) for s in SHAPES for a in axes_of(s)]


@pytest.mark.parametrize(("shape", "axis"), CASES)
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_softmax(name, shape, axis, dtype):
    x = (3 * normal(*shape)).astype(dtype)
    expected = getattr(scipy.special, name)(x.astype("float64"), axis).astype("float32" if dtype == "float32" else "float64")
    check_op(lambda v: getattr(tt, name)(v, axis=axis), [x], expected)


@pytest.mark.parametrize(("shape", "axis"), CASES)
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
def test_derivatives(name, shape, axis):
    check_derivatives(lambda v: getattr(tt, name)(v, axis=axis), [normal(*shape)])
    check_derivatives(lambda v: getattr(tt, name)(v, axis=axis), [normal(*shape)], [TensorType("float64", shape)])


@pytest.mark.parametrize(("shape", "axis"), [*CASES, ((2, 3, 4), (0, 2)), ((2, 3, 4), (-1, 0)), ((2, 3), ())])
@pytest.mark.parametrize("keepdims", [False, True])
def test_logsumexp(shape, axis, keepdims):
    x = normal(*shape)
    expected = np.log(np.exp(x).sum(axis=axis, keepdims=keepdims))
    check_op(lambda v: tt.logsumexp(v, axis, keepdims), [x], expected)
    assert tt.logsumexp(TensorType("float64", shape)(), axis, keepdims).type.shape == expected.shape


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_no_elements(shape):
    x = np.zeros(shape)
    for axis in axes_of(shape):
        check_op(lambda v, axis=axis: tt.softmax(v, axis), [x], x)
        check_op(lambda v, axis=axis: tt.log_softmax(v, axis), [x], x)
        with np.errstate(divide="ignore"):
            check_op(lambda v, axis=axis: tt.logsumexp(v, axis), [x], np.log(np.exp(x).sum(axis)))


def quietly(f, x):
    v = tt.vector("v")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (result,) = evaluate_all([f(v)], {v: np.array(x)})
    return result


def test_large_and_infinite_arguments():
    inf = np.inf
    np.testing.assert_allclose(quietly(tt.softmax, [1000.0, 1000.0, -1000.0]), [0.5, 0.5, 0])
    np.testing.assert_allclose(quietly(tt.log_softmax, [1000.0, 0.0]), [0, -1000])
    np.testing.assert_allclose(quietly(tt.logsumexp, [-1000.0, -1000.0]), np.log(2) - 1000)
    np.testing.assert_array_equal(quietly(tt.softmax, [-inf, 0.0]), [0, 1])
    np.testing.assert_array_equal(quietly(tt.log_softmax, [-inf, 0.0]), [-inf, 0])
    assert quietly(tt.logsumexp, [-inf, -inf]) == -inf
    assert quietly(tt.logsumexp, [inf, 1000.0]) == inf
    assert np.isnan(quietly(tt.logsumexp, [np.nan, 1.0]))
    assert np.isnan(quietly(tt.softmax, [-inf, -inf])).all()


def test_patterns():
    x, a = var("x"), var("a")
    assert tt.softmax(x, axis=a) == OpTerm(Softmax, axis=a)(x)
    assert tt.softmax(x) == OpTerm(Softmax)(x)
    assert tt.log_softmax(x, axis=a) == OpTerm(LogSoftmax, axis=a)(x)
    assert tt.logsumexp(x, axis=a) == OpTerm(LogSumExp, axis=a)(x)
    assert tt.logsumexp(x, axis=1) == OpTerm(LogSumExp, axis=(1,))(x)
    with pytest.raises(GraphTypeError, match="keepdims"):
        tt.logsumexp(x, keepdims=True)


def test_axes_are_normalised():
    x = tt.tensor3("x")
    assert tt.softmax(x, axis=-1).owner.op == Softmax(2)
    assert tt.logsumexp(x, axis=(-1, 0)).owner.op == LogSumExp((0, 2))
    assert tt.logsumexp(x).owner.op == LogSumExp()
    for f in (tt.softmax, tt.log_softmax, tt.logsumexp):
        with pytest.raises(GraphTypeError, match="no dimension 3"):
            f(x, axis=3)
    with pytest.raises(GraphTypeError, match="counted from 0"):
        Softmax(-1)
    with pytest.raises(GraphTypeError, match="counted from 0"):
        LogSumExp((-1,))


def test_logit_and_xlogx():
    p = np.array([0.1, 0.5, 0.9])
    check_op(tt.logit, [p], scipy.special.logit(p))
    check_derivatives(tt.logit, [p])
    x, y = np.array([0.0, 0.5, 2.0]), np.array([0.0, 3.0, 0.5])
    check_op(tt.xlogx, [x], scipy.special.xlogy(x, x))
    check_op(tt.xlogy0, [x, y], scipy.special.xlogy(x, y))
    check_derivatives(tt.xlogx, [x[1:]])
    check_derivatives(tt.xlogy0, [x[1:], y[1:]])


def test_cross_entropies():
    p, t, classes = scipy.special.softmax(normal(3, 4), axis=1), np.abs(normal(3, 4, seed=1)), np.array([0, 3, 3])
    hot = -np.log(p)[np.arange(3), classes]
    check_op(tt.crossentropy_categorical_1hot, [p, classes], hot)
    check_op(tt.categorical_crossentropy, [p, classes], hot)
    check_op(tt.categorical_crossentropy, [p, t], -(t * np.log(p)).sum(-1))
    check_op(tt.binary_crossentropy, [p, t], -(t * np.log(p) + (1 - t) * np.log1p(-p)))
    check_derivatives(tt.crossentropy_categorical_1hot, [p, classes])
    check_derivatives(tt.categorical_crossentropy, [p, t])
    check_derivatives(tt.binary_crossentropy, [p, t])
    with pytest.raises(GraphTypeError, match="integer classes"):
        tt.crossentropy_categorical_1hot(tt.matrix("p"), tt.vector("t"))
