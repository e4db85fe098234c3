"""Inverse, determinant, Cholesky factor and linear systems, against NumPy and SciPy."""

import numpy as np
import pytest
import scipy.linalg
from tensor_helpers import check_derivatives, check_op, evaluate_all

import termgraph.tensor as tt
from termgraph.errors import GraphTypeError, StaticShapeError
from termgraph.tensor.square import Solve
from termgraph.tensor.type import TensorType

SIZES = [0, 1, 2, 4]


def invertible(n, seed=0, dtype="float64"):
    return (np.random.default_rng(seed).normal(size=(n, n)) + 3 * np.eye(n)).astype(dtype)


def positive(n, seed=0):
    a = np.random.default_rng(seed).normal(size=(n, n))
    return a @ a.T + n * np.eye(n)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_inv_and_det(n, dtype):
    a = invertible(n, dtype=dtype)
    check_op(tt.inv, [a], np.linalg.inv(a))
    check_op(tt.det, [a], np.linalg.det(a))


@pytest.mark.parametrize("n", SIZES)
def test_derivatives_of_inv_and_det(n):
    check_derivatives(tt.inv, [invertible(n)])
    check_derivatives(tt.det, [invertible(n)])


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("lower", [True, False])
def test_cholesky(n, lower):
    a = positive(n)
    expected = np.linalg.cholesky(a) if lower else np.linalg.cholesky(a).T
    check_op(lambda v: tt.cholesky(v, lower), [a], expected)
    check_derivatives(lambda v: tt.cholesky(v, lower), [a])


@pytest.mark.parametrize("lower", [True, False])
def test_cholesky_reads_one_triangle(lower):
    a = positive(3)
    other = np.triu(a, 1) if lower else np.tril(a, -1)
    check_op(lambda v: tt.cholesky(v, lower), [a - other], np.linalg.cholesky(a) if lower else np.linalg.cholesky(a).T)


def test_errors_at_run_time_are_those_of_linear_algebra():
    a = tt.matrix("a")
    with pytest.raises(np.linalg.LinAlgError):
        evaluate_all([tt.cholesky(a)], {a: -np.eye(2)})
    with pytest.raises(np.linalg.LinAlgError):
        evaluate_all([tt.inv(a)], {a: np.zeros((2, 2))})
    with pytest.raises(np.linalg.LinAlgError):
        evaluate_all([tt.solve_triangular(a, np.ones(2))], {a: np.zeros((2, 2))})


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("tail", [(), (1,), (3,), (0,)])
@pytest.mark.parametrize("assume_a", ["gen", "lower triangular", "upper triangular"])
def test_solve(n, tail, assume_a):
    a, b = invertible(n), np.random.default_rng(1).normal(size=(n, *tail))
    read = {"gen": lambda m: m, "lower triangular": np.tril, "upper triangular": np.triu}[assume_a](a)
    check_op(lambda u, v: tt.solve(u, v, assume_a), [a, b], np.linalg.solve(read, b))
    check_derivatives(lambda u, v: tt.solve(u, v, assume_a), [a, b])


def test_solve_triangular():
    a, b = invertible(3), np.ones(3)
    check_op(tt.solve_triangular, [a, b], scipy.linalg.solve_triangular(a, b))
    check_op(lambda u, v: tt.solve_triangular(u, v, lower=True), [a, b], scipy.linalg.solve_triangular(a, b, lower=True))


def test_static_shapes():
    a, b = tt.matrix("a", shape=(None, 3)), tt.matrix("b", shape=(None, 2))
    assert tt.inv(a).type.shape == (3, 3)
    assert tt.solve(a, b).type.shape == (3, 2)
    with pytest.raises(StaticShapeError, match="square"):
        tt.det(tt.matrix("a", shape=(2, 3)))
    with pytest.raises(StaticShapeError, match="rows"):
        tt.solve(a, tt.vector("b", shape=(2,)))


def test_what_is_refused():
    with pytest.raises(GraphTypeError, match="square matrix"):
        tt.inv(tt.vector("a"))
    with pytest.raises(GraphTypeError, match="assume_a"):
        Solve("diagonal")
    with pytest.raises(GraphTypeError, match="real"):
        tt.cholesky(tt.zmatrix("a"))
    with pytest.raises(GraphTypeError, match="vector or a matrix"):
        tt.solve(tt.matrix("a"), tt.tensor3("b"))


def test_a_solve_of_mixed_dtypes_takes_the_wider():
    a, b = invertible(2, dtype="float32"), np.ones(2)
    check_op(tt.solve, [a, b], np.linalg.solve(a.astype("float64"), b), [TensorType("float32", (2, 2)),
                                                                         TensorType("float64", (2,))])
