import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from tensor_helpers import check_derivatives, check_op, evaluate_all, reverse_sweep, variables_like

import termgraph.tensor as tt
from termgraph.errors import GraphTypeError
from termgraph.terms import OpTerm, var

SUMS = {"sum": np.sum, "prod": np.prod}
EXTREMES = {"max": np.max, "min": np.min}
SHAPES_AND_AXES = [((), None), ((4,), None), ((4,), 0), ((4,), -1), ((3, 2), 0), ((3, 2), 1), ((3, 2), (0, 1)), ((3, 2), -2),
                   ((2, 3, 4), (0, 2)), ((2, 3, 4), (-1, 1)), ((2, 3, 4), 1), ((1, 3), 0), ((1, 1), None), ((2, 3), ())]
EMPTY = [((0,), None), ((0, 3), 0), ((0, 3), 1), ((3, 0), 0)]


def draw(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return np.asarray(rng.random(shape) < 0.6)
    if np.dtype(dtype).kind in "iu":
        return np.asarray(rng.integers(0 if dtype.startswith("u") else -3, 5, size=shape), dtype=dtype)
    return np.asarray(rng.normal(size=shape), dtype=dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "uint16", "bool", "complex128"])
@pytest.mark.parametrize("name", SUMS)
def test_sums_and_products_are_numpys_in_value_and_dtype(name, dtype):
    for shape, axis in SHAPES_AND_AXES + EMPTY:
        x = draw(shape, dtype)
        for keepdims in (False, True):
            check_op(lambda v, a=axis, k=keepdims: getattr(tt, name)(v, axis=a, keepdims=k), [x],
                     SUMS[name](x, axis=axis, keepdims=keepdims))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint16", "bool"])
@pytest.mark.parametrize("name", EXTREMES)
def test_extremes_are_numpys(name, dtype):
    for shape, axis in SHAPES_AND_AXES + [((0, 3), 1), ((3, 0), 0)]:
        x = draw(shape, dtype)
        for keepdims in (False, True):
            check_op(lambda v, a=axis, k=keepdims: getattr(tt, name)(v, axis=a, keepdims=k), [x],
                     EXTREMES[name](x, axis=axis, keepdims=keepdims))


@pytest.mark.parametrize("name", ["max", "argmax"])
def test_extreme_of_nothing_is_an_error_and_of_nan_is_nan(name):
    (x,) = variables_like([np.zeros(0)])
    with pytest.raises(ValueError):
        evaluate_all([getattr(tt, name)(x)], {x: np.zeros(0)})
    value = np.array([1.0, np.nan, 3.0])
    check_op(getattr(tt, name), [value], getattr(np, name)(value))


@pytest.mark.parametrize("name", ["all", "any"])
@pytest.mark.parametrize("dtype", ["bool", "float64", "int8"])
def test_logical_reductions_are_numpys(name, dtype):
    for shape, axis in SHAPES_AND_AXES + EMPTY:
        x = draw(shape, dtype)
        for keepdims in (False, True):
            check_op(lambda v, a=axis, k=keepdims: getattr(tt, name)(v, axis=a, keepdims=k), [x],
                     getattr(np, name)(x, axis=axis, keepdims=keepdims))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
def test_mean_var_and_std_are_numpys(dtype):
    for shape, axis in SHAPES_AND_AXES:
        x = draw(shape, dtype)
        for name in ("mean", "var", "std"):
            for keepdims in (False, True):
                check_op(lambda v, n=name, a=axis, k=keepdims: getattr(tt, n)(v, axis=a, keepdims=k), [x],
                         getattr(np, name)(x, axis=axis, keepdims=keepdims))
    x = draw((4, 3), "float64")
    check_op(lambda v: tt.var(v, axis=0, ddof=1), [x], np.var(x, axis=0, ddof=1))
    check_op(lambda v: tt.var(v, ddof=2), [x], np.var(x, ddof=2), [tt.TensorType("float64", (4, 3))])


def test_variance_of_complex_numbers_is_real():
    x = draw(5, "float64") + 1j * draw(5, "float64", 1)
    check_op(tt.var, [x], np.var(x))


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions_are_numpys(name):
    function = getattr(np, name)
    for dtype in ("float64", "int8", "bool", "uint16"):
        for shape, axis in [((4,), None), ((4,), 0), ((3, 2), 0), ((3, 2), -1), ((3, 2), None), ((0, 3), 1), ((2, 3, 4), 1)]:
            x = draw(shape, dtype)
            for keepdims in (False, True):
                check_op(lambda v, a=axis, k=keepdims: getattr(tt, name)(v, axis=a, keepdims=k), [x],
                         function(x, axis=axis, keepdims=keepdims))
    x = draw((2, 3, 4), "float64")
    check_op(lambda v: getattr(tt, name)(v, axis=(2, 0)), [x], function(x.transpose(1, 0, 2).reshape(3, 8), axis=1))


def test_positions_have_no_derivative_but_maxima_do():
    x = draw((3, 2), "float64")
    check_derivatives(lambda v: tt.argmax(v, axis=0) * tt.sum(v), [x])
    check_derivatives(lambda v: tt.max_and_argmax(v, axis=0)[0], [x])
    check_op(lambda v: tt.max_and_argmax(v, axis=0)[1], [x], np.argmax(x, axis=0))


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "var", "std"])
def test_derivatives(name):
    for seed, (shape, axis) in enumerate(SHAPES_AND_AXES):
        x = draw(shape, "float64", seed)
        if name == "std" and not np.std(x, axis=axis).all():
            continue  # the square root has no derivative at zero
        for keepdims in (False, True):
            check_derivatives(lambda v, a=axis, k=keepdims: getattr(tt, name)(v, axis=a, keepdims=k), [x], seed=seed)


def test_derivatives_of_empty_sums():
    for name in SUMS:
        for shape, axis in EMPTY:
            check_derivatives(lambda v, n=name, a=axis: getattr(tt, n)(v, axis=a), [np.zeros(shape)])


@pytest.mark.parametrize("zeros", [[], [1], [1, 2], [0, 1, 2]])
def test_the_derivative_of_a_product_is_that_of_the_others_where_elements_are_zero(zeros):
    x = draw((3, 2), "float64")
    x[zeros, 0] = 0.0
    check_derivatives(lambda v: tt.prod(v, axis=0), [x])
    check_derivatives(tt.prod, [x])


def test_tied_extremes_share_the_cotangent():
    (x,) = variables_like([np.zeros((2, 3))])
    value = np.array([[1.0, 5.0, 5.0], [2.0, 2.0, 2.0]])
    output = tt.max(x, axis=1)
    g = tt.constant([1.0, 6.0])
    (cotangent,) = reverse_sweep(output, g, [x])
    (found,) = evaluate_all([cotangent], {x: value})
    np.testing.assert_array_equal(found, [[0.0, 0.5, 0.5], [2.0, 2.0, 2.0]])


def test_cotangents_keep_float32():
    for function in (tt.sum, tt.prod, tt.max, tt.mean, tt.var, tt.cumsum, tt.cumprod, lambda x: tt.sum(x, dtype="float64")):
        x = tt.fvector("x")
        output = function(x)
        (cotangent,) = reverse_sweep(output, output.type("g"), [x])
        assert cotangent.type.dtype == "float32"


def test_static_shapes():
    x = tt.tensor("x", shape=(2, None, 4))
    assert tt.sum(x, axis=1).type.shape == (2, 4)
    assert tt.max(x, axis=(0, 2), keepdims=True).type.shape == (1, None, 1)
    assert tt.argmax(x, axis=2).type.shape == (2, None)
    assert tt.cumsum(x, axis=1).type.shape == (2, None, 4)
    assert tt.cumsum(x).type.shape == (None,)


def test_equal_reductions_are_equal_ops():
    x = tt.tensor("x", shape=(None, None, None))
    assert tt.Sum(axis=[1, 0]) == tt.Sum(axis=(0, 1)) and tt.Sum(axis=0) == tt.Sum(axis=(0,))
    assert tt.sum(x, axis=-1).owner.op == tt.Sum(axis=(2,))
    assert tt.sum(x, axis=(2, 0, 1)).owner.op == tt.Sum() == tt.sum(x).owner.op
    assert tt.sum(x, dtype="float64").owner.op == tt.Sum()
    assert tt.sum(x, dtype="float32").owner.op == tt.Sum(dtype="float32")
    assert tt.Sum() != tt.Prod() and tt.Sum(axis=0) != tt.Sum(axis=1)
    assert tt.sum(x, axis=()) is x


def test_dtype_of_the_sum():
    x = draw((3, 2), "float32")
    check_op(lambda v: tt.sum(v, axis=0, dtype="float64"), [x], np.sum(x, axis=0, dtype="float64"))
    check_op(lambda v: tt.prod(v, axis=(), dtype="float64"), [x], x.astype("float64"))


@pytest.mark.parametrize("function", [tt.sum, tt.prod, tt.max, tt.all, tt.argmax, tt.mean, tt.cumsum])
def test_an_axis_out_of_range_is_named(function):
    x = tt.matrix("x")
    for axis in (2, -3):
        with pytest.raises(GraphTypeError, match=rf"axis {axis} .* 2 dimensions"):
            function(x, axis=axis)


def test_axes_that_make_no_sense():
    x = tt.matrix("x")
    with pytest.raises(GraphTypeError, match="twice"):
        tt.sum(x, axis=(0, -2))
    with pytest.raises(GraphTypeError, match="negative"):
        tt.Sum(axis=-1)
    with pytest.raises(GraphTypeError, match=r"axis 2 .* 2 dimensions"):
        tt.Sum(axis=2)(x)
    with pytest.raises(GraphTypeError, match="mode"):
        tt.CumOp(0, "pow")


def test_patterns():
    x, a = var("x"), var("a")
    assert tt.sum(x).head == OpTerm(tt.Sum)
    assert tt.sum(x, axis=a).head == OpTerm(tt.Sum, axis=a)
    assert tt.max(x, axis=(1, 0)).head == OpTerm(tt.Max, axis=(0, 1))
    assert tt.all(x).head == OpTerm(tt.All)
    assert tt.argmin(x, axis=0).head == OpTerm(tt.Argmin, axis=(0,))
    assert tt.cumprod(x, axis=0).head == OpTerm(tt.CumOp, axis=0, mode="mul", reverse=False)
    with pytest.raises(GraphTypeError, match="pattern"):
        tt.sum(x, keepdims=True)
    with pytest.raises(GraphTypeError, match="no op of its own"):
        tt.mean(x)


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint16", "bool"])
def test_running_sums_and_products_are_numpys(name, dtype):
    for shape, axis in [((), None), ((4,), None), ((4,), 0), ((3, 2), None), ((3, 2), 0), ((3, 2), -1), *EMPTY]:
        x = draw(shape, dtype)
        check_op(lambda v, a=axis: getattr(tt, name)(v, axis=a), [x], getattr(np, name)(x, axis=axis))


@pytest.mark.parametrize("mode", ["add", "mul"])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("zeros", [[], [1], [1, 3], [0, 1, 2, 3]])
def test_derivatives_of_running_sums_and_products(mode, reverse, zeros):
    x = draw((4, 2), "float64")
    x[zeros, 1] = 0.0
    check_derivatives(tt.CumOp(0, mode, reverse), [x])
    check_derivatives(tt.CumOp(1, mode, reverse), [x])


@settings(max_examples=25, deadline=None)
@given(arrays("float64", array_shapes(max_dims=3, min_side=0, max_side=3), elements=st.floats(-4, 4, width=16)), st.data())
def test_any_reduction_over_any_axes(x, data):
    axes = tuple(data.draw(st.sets(st.integers(0, x.ndim - 1))))
    check_op(lambda v: tt.sum(v, axis=axes), [x], x.sum(axis=axes))
    check_op(lambda v: tt.all(v, axis=axes), [x], x.all(axis=axes))
    check_op(lambda v: tt.prod(v, axis=axes, keepdims=True), [x], x.prod(axis=axes, keepdims=True))
