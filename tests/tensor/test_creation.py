import numpy as np
import pytest
from tensor_helpers import check_derivatives, check_op, evaluate_all, variables_like

import termgraph.tensor as tt
from termgraph.config import config
from termgraph.errors import GraphTypeError, StaticShapeError
from termgraph.graph import Constant
from termgraph.tensor.type import TensorType
from termgraph.terms import var

RNG = np.random.default_rng(3)


def lengths(*numbers):
    return [np.asarray(n) for n in numbers]


@pytest.mark.parametrize("shape", [(0, 3), (2, 3), (1, 3)])
def test_alloc_fills_with_scalars_and_rows(shape):
    for value in (np.asarray(2.5), RNG.normal(size=3), np.asarray(7, "int8"), np.asarray(True)):
        check_op(lambda v, n, m: tt.alloc(v, n, m), [value, *lengths(*shape)], np.broadcast_to(value, shape))
    column = RNG.normal(size=(shape[0], 1))
    check_op(lambda v, n: tt.alloc(v, n, 3), [column, lengths(shape[0])[0]], np.broadcast_to(column, shape),
             [TensorType("float64", (None, 1)), TensorType("int64", ())])


def test_alloc_copies():
    (x,) = variables_like([np.ones(3)])
    value = np.ones(3)
    (result,) = evaluate_all([tt.alloc(x, 3)], {x: value})
    assert not np.shares_memory(result, value) and result.flags.writeable


def test_alloc_broadcasts_only_where_the_type_says_so():
    x, n = tt.vector("x"), tt.lscalar("n")
    with pytest.raises(ValueError, match="broadcasts only where its type"):
        evaluate_all([tt.alloc(x, n)], {x: np.ones(1), n: np.asarray(3)})
    with pytest.raises(StaticShapeError):
        tt.alloc(tt.tensor("y", shape=(2,)), 3)
    with pytest.raises(GraphTypeError, match="cannot fill"):
        tt.alloc(tt.matrix("m"), 3)
    with pytest.raises(GraphTypeError, match="length"):
        tt.alloc(1.0, 2.5)


def test_static_shape_of_alloc():
    n = tt.lscalar("n")
    assert tt.alloc(1.0, n, 3).type.shape == (None, 3)
    assert tt.alloc(tt.tensor("x", shape=(2,)), n).type.shape == (2,)
    assert tt.alloc(tt.tensor("x", shape=(1,)), n).type.shape == (None,)
    assert tt.alloc(1.0, tt.constant(2, dtype="int8")).type.shape == (2,)


def test_derivatives_of_alloc():
    check_derivatives(lambda v: tt.alloc(v, 2, 3), [np.asarray(1.5)])
    check_derivatives(lambda v: tt.alloc(v, 2, 3), [RNG.normal(size=3)])
    check_derivatives(lambda v: tt.alloc(v, 2, 3), [RNG.normal(size=(2, 1))], [TensorType("float64", (None, 1))])
    check_derivatives(lambda v, n: tt.alloc(v, n, 2, 3), [RNG.normal(size=(1, 3)), lengths(4)[0]],
                      [TensorType("float64", (1, None)), TensorType("int64", ())])
    check_derivatives(lambda v, n: tt.alloc(v, n) * tt.sum(n), [np.asarray(1.5), lengths(0)[0]])


def test_zeros_ones_full_empty():
    for shape in (3, (2, 3), [0, 2], ()):
        check_op(lambda s=shape: tt.zeros(s), [], np.zeros(shape))
        check_op(lambda s=shape: tt.ones(s, dtype="int8"), [], np.ones(shape, "int8"))
        check_op(lambda s=shape: tt.full(s, 7), [], np.full(shape, 7))
        check_op(lambda s=shape: tt.full(s, 7, dtype="float32"), [], np.full(shape, 7, "float32"))
        check_op(lambda s=shape: tt.empty(s), [], np.zeros(shape))
    check_op(lambda n: tt.zeros((n, 2)), lengths(4), np.zeros((4, 2)))
    check_op(lambda x: tt.ones(tt.shape(x)), [np.zeros((2, 3))], np.ones((2, 3)))
    check_op(lambda x: tt.full(x.shape, x[0, 0]), [np.full((2, 3), 4.0)], np.full((2, 3), 4.0))
    with config.change_flags(floatX="float32"):
        assert tt.zeros(3).type.dtype == "float32"


@pytest.mark.parametrize("name, number", [("zeros_like", 0), ("ones_like", 1), ("empty_like", 0)])
def test_likes(name, number):
    for value in (np.zeros((2, 3)), np.zeros((0, 3), "float32"), np.zeros(3, "int8"), np.asarray(4.0), np.asarray(True)):
        check_op(getattr(tt, name), [value], np.full(value.shape, number, value.dtype))
        check_op(lambda v: getattr(tt, name)(v, dtype="int64"), [value], np.full(value.shape, number, "int64"))
    check_derivatives(lambda v: getattr(tt, name)(v) * v, [RNG.normal(size=3)])


def test_full_like():
    x = RNG.normal(size=(2, 3)).astype("float32")
    check_op(lambda v, c: tt.full_like(v, c), [x, np.asarray(2.5)], np.full((2, 3), 2.5, "float32"))
    check_op(lambda v, c: tt.full_like(v, c, dtype="float64"), [x, np.arange(3.0)], np.tile(np.arange(3.0), (2, 1)))
    check_derivatives(lambda v, c: tt.full_like(v, c), [x.astype("float64"), np.asarray(2.5)])


def test_like_of_a_scalar_is_a_constant_and_else_a_second():
    zero = tt.zeros_like(tt.fscalar("x"))
    assert isinstance(zero, Constant) and zero.type.dtype == "float32"
    assert tt.zeros_like(tt.vector("x")).owner.op == tt.second
    assert tt.ones_like(var("x")).head is tt.second.canonical


@pytest.mark.parametrize("n, m, k", [(3, 3, 0), (2, 4, 1), (4, 2, -1), (0, 3, 0), (1, 1, 5)])
def test_eye_and_triangles(n, m, k):
    check_op(tt.eye, lengths(n, m, k), np.eye(n, m, k))
    check_op(lambda: tt.eye(n, m, k, dtype="int8"), [], np.eye(n, m, k, dtype="int8"))
    check_op(tt.tri, lengths(n, m, k), np.tri(n, m, k))
    check_op(lambda: tt.tri(n, m, k, dtype="bool"), [], np.tri(n, m, k, dtype=bool))
    for value in (RNG.normal(size=(n, m)), RNG.integers(1, 9, size=(2, n, m)), RNG.normal(size=(n, m)).astype("float32")):
        check_op(tt.tril, [value, lengths(k)[0]], np.tril(value, k))
        check_op(tt.triu, [value, lengths(k)[0]], np.triu(value, k))
        check_op(lambda v: tt.triu(v, k), [value], np.triu(value, k), [TensorType(value.dtype, value.shape)])


def test_eye_defaults_and_static_shape():
    n = tt.lscalar("n")
    check_op(tt.eye, lengths(3), np.eye(3))
    assert tt.eye(n, 4).type.shape == (None, 4) and tt.eye(2).type.shape == (2, 2)
    check_op(tt.identity_like, [np.zeros((2, 3), "float32")], np.eye(2, 3, dtype="float32"))
    with pytest.raises(GraphTypeError, match="matrix"):
        tt.identity_like(tt.vector("x"))
    with pytest.raises(GraphTypeError, match="matrix"):
        tt.tril(tt.vector("x"))


def test_derivatives_of_triangles():
    check_derivatives(lambda v: tt.tril(v, -1), [RNG.normal(size=(3, 3))])
    check_derivatives(tt.triu, [RNG.normal(size=(2, 2, 3))])
    check_derivatives(lambda v: tt.identity_like(v) * v, [RNG.normal(size=(2, 2))])


@pytest.mark.parametrize("arguments", [
    (5,), (0,), (-3,), (2, 9), (9, 2), (3, 3), (0, 9, 2), (0, 10, 2), (9, 0, -2), (0, 9, -1)],
)
def test_arange_of_integers(arguments):
    check_op(tt.arange, lengths(*arguments), np.arange(*arguments))
    check_op(tt.arange, [np.asarray(a, "int8") for a in arguments], np.arange(*arguments))
    static = tt.arange(*arguments)
    assert static.type.shape == np.arange(*arguments).shape
    assert tt.arange(*lengths(*arguments)[:-1], tt.lscalar("n")).type.shape == (None,)


@pytest.mark.parametrize("arguments", [(2.5,), (0.0, 1.0, 0.1), (1.0, 0.0, -0.3), (0.0, 1.0, 0.25), (1.0, 0.0, 0.5)])
def test_arange_of_floats(arguments):
    check_op(tt.arange, lengths(*arguments), np.arange(*arguments))
    check_op(lambda: tt.arange(*arguments), [], np.arange(*arguments))


def test_dtype_of_arange():
    assert tt.arange(3, dtype="int8").type.dtype == "int8"
    assert tt.arange(tt.fscalar("x")).type.dtype == "float32"
    assert tt.arange(tt.bscalar("n")).type.dtype == "int64"
    with pytest.raises(GraphTypeError, match="scalar"):
        tt.arange(tt.vector("x"))


def test_arange_of_unsigned_stop_below_start_is_empty():
    check_op(lambda n, m: tt.arange(n, m), [np.asarray(5, "uint64"), np.asarray(2, "uint64")], np.arange(0))


def test_derivatives_of_arange():
    check_derivatives(lambda a, b, s: tt.arange(a, b, s), lengths(0.5, 3.5, 0.7))
    check_derivatives(lambda a: tt.arange(a, 4.3, 1.0), lengths(0.5))
    check_derivatives(lambda n: tt.arange(n) * 2.0, lengths(4))
