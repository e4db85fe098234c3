import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tensor_helpers import check_derivatives, check_op, evaluate_all, reverse_sweep, variables_like

import termgraph.tensor as tt
from termgraph.errors import GraphTypeError, StaticShapeError
from termgraph.graph import Constant
from termgraph.tensor.shape import product
from termgraph.tensor.type import TensorType
from termgraph.terms import OpTerm, var

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("dims", [(), (3,), (0,), (2, 3), (1, 0, 4)])
def test_shape_and_size(dims):
    value = np.zeros(dims)
    check_op(tt.shape, [value], np.array(dims, dtype="int64"))
    check_op(tt.size, [value], np.array(value.size))
    for i in range(-len(dims), len(dims)):
        check_op(lambda v, i=i: tt.shape_i(v, i), [value], np.array(dims[i]))
    assert [int(n) for n in evaluate_all(tt.shape_tuple(value), {})] == list(dims)


def test_known_shapes_are_constants():
    x = tt.tensor("x", shape=(2, 3))
    assert isinstance(tt.shape(x), Constant) and tt.shape(x).data.tolist() == [2, 3]
    assert tt.size(x).data == 6 and tt.size(tt.scalar("s")).data == 1
    y = tt.tensor("y", shape=(2, None))
    assert tt.shape_i(y, 0).data == 2 and tt.shape_i(y, 1).owner.op == tt.Shape_i(1)
    assert tt.shape(y).type.shape == (2,) and tt.shape(y).type.dtype == "int64"
    assert [isinstance(n, Constant) for n in tt.shape_tuple(y)] == [True, False]
    assert tt.size(tt.tensor("z", shape=(0, None))).data == 0


def test_shape_ignores_the_elements():
    x = tt.matrix("x")
    assert reverse_sweep(tt.sum(tt.shape(x) * 1.5), tt.scalar("g"), [x]) == [None]
    assert tt.Shape().connection_pattern(tt.shape(x).owner) == [[False]]
    check_derivatives(lambda v: v * tt.size(v) + tt.shape_i(v, 1) + tt.shape(v)[0], [RNG.normal(size=(2, 3))])


def test_dimensions_that_are_not_there():
    x = tt.matrix("x")
    for bad in (2, -3):
        with pytest.raises(GraphTypeError, match=f"no dimension {bad}"):
            tt.shape_i(x, bad)
    with pytest.raises(GraphTypeError, match="no dimension 2"):
        tt.Shape_i(2)(x)


def test_product_folds_what_is_known():
    n = tt.lscalar("n")
    assert product([]).data == 1 and product([2, 3]).data == 6 and product([n, 0]).data == 0
    assert product([1, n]) is n
    assert product([2, n, 3]).owner.inputs[1].data == 6


# --- vectors of scalars ---


def test_make_vector():
    check_op(lambda a, b: tt.make_vector(a, b, 3), [np.asarray(1), np.asarray(2)], np.array([1, 2, 3]))
    check_op(lambda a, b: tt.make_vector(a, b), [np.asarray(1.5), np.asarray(2)], np.array([1.5, 2.0]))
    check_op(lambda a: tt.make_vector(a, 2.0), [np.asarray(1.5, "float32")], np.array([1.5, 2.0], "float32"))
    check_op(lambda: tt.make_vector(), [], np.array([], "int64"))
    assert tt.make_vector(tt.lscalar("n"), 2).type.shape == (2,)
    check_derivatives(lambda a, b: tt.make_vector(a, b, a), [np.asarray(1.5), np.asarray(2.5)])
    check_derivatives(lambda a, n: tt.make_vector(a, n), [np.asarray(1.5), np.asarray(2)])


def test_make_vector_refuses_what_it_cannot_hold():
    with pytest.raises(GraphTypeError, match="scalars"):
        tt.make_vector(tt.vector("x"))
    with pytest.raises(GraphTypeError, match="without loss"):
        tt.MakeVector("int64")(tt.scalar("x"))


def test_lists_of_scalar_variables_are_vectors():
    n = tt.lscalar("n")
    assert tt.as_tensor_variable([n, 2]).owner.op == tt.MakeVector("int64")
    assert tt.as_tensor_variable((tt.scalar("x"), n)).type == TensorType("float64", (2,))


# --- reshape ---


@pytest.mark.parametrize("old, new", [
    ((6,), (2, 3)), ((2, 3), (6,)), ((2, 3), (-1,)), ((2, 3), (3, -1)), ((2, 3), (1, 6, -1)), ((), ()), ((), (1, 1)),
    ((1,), ()), ((0,), (0, 3)), ((0, 3), (-1, 3)), ((0, 3), (-1,)), ((2, 3, 4), (4, 6)),
])
def test_reshape(old, new):
    value = RNG.normal(size=old)
    check_op(lambda v: tt.reshape(v, new), [value], value.reshape(new))
    check_op(lambda v: tt.reshape(v, new), [value], value.reshape(new), [TensorType("float64", old)])
    if new:
        check_op(lambda v, *s: tt.reshape(v, s), [value, *[np.asarray(n) for n in new]], value.reshape(new))
        check_op(lambda v, s: tt.reshape(v, s, ndim=len(new)), [value, np.array(new)], value.reshape(new))
        check_op(lambda v, s: tt.reshape(v, s), [value, np.array(new, "int32")], value.reshape(new),
                 [TensorType("float64", (None,) * len(old)), TensorType("int32", (len(new),))])
    check_derivatives(lambda v: tt.reshape(v, new), [value])
    check_derivatives(lambda v: tt.reshape(v, new), [value], [TensorType("float64", old)])


def test_reshape_of_a_transpose_is_in_c_order():
    value = RNG.normal(size=(2, 3))
    check_op(lambda v: tt.reshape(tt.transpose(v), (6,)), [value], value.T.reshape(6))


def test_reshape_to_lengths_of_others():
    value, other = RNG.normal(size=6), np.zeros((3, 2))
    check_op(lambda v, o: tt.reshape(v, o.shape), [value, other], value.reshape(3, 2))
    check_op(lambda v, o: tt.reshape(v, (tt.shape_i(o, 0), -1)), [value, other], value.reshape(3, 2))
    check_op(lambda v, n: tt.reshape(v, (n, 3)), [value, np.asarray(-1)], value.reshape(2, 3))


def test_static_shape_of_reshape():
    n, x, y = tt.lscalar("n"), tt.vector("x"), tt.tensor("y", shape=(2, 6))
    assert tt.reshape(x, (n, 3)).type.shape == (None, 3)
    assert tt.reshape(x, (-1, 3)).type.shape == (None, 3)
    assert tt.reshape(y, (-1, 3)).type.shape == (4, 3)
    assert tt.reshape(y, (n, 4)).type.shape == (3, 4)
    assert tt.reshape(x, tt.tensor("z", shape=(None, 4)).shape).type.shape == (None, 4)
    assert tt.reshape(x, tt.lvector("s"), ndim=2).type.shape == (None, None)
    assert tt.reshape(x, 4).type.shape == (4,) and tt.reshape(x, n).type.shape == (None,)


@pytest.mark.parametrize("new", [(4,), (-1, 4), (-1, -1), (-2, 3), (0, -1)])
def test_reshape_that_cannot_be_is_an_error_when_built_and_when_run(new):
    with pytest.raises(StaticShapeError):
        tt.reshape(tt.tensor("x", shape=(2, 3)), new)
    x, s = tt.matrix("x"), TensorType("int64", (len(new),))("s")
    with pytest.raises(ValueError):
        evaluate_all([tt.reshape(x, s)], {x: np.zeros((2, 3)), s: np.array(new)})


def test_reshape_needs_integers_and_a_number_of_dimensions():
    x = tt.vector("x")
    with pytest.raises(GraphTypeError, match="ndim="):
        tt.reshape(x, tt.lvector("s"))
    with pytest.raises(GraphTypeError, match="integer"):
        tt.reshape(x, (2.5, 1))
    with pytest.raises(GraphTypeError, match="ndim=3"):
        tt.reshape(x, (2, 1), ndim=3)
    s = tt.lvector("s")
    with pytest.raises(ValueError, match="2 lengths"):
        evaluate_all([tt.reshape(x, s, ndim=2)], {x: np.zeros(6), s: np.array([6])})


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 4), max_size=3), st.permutations(range(3)), st.data())
def test_any_reshape(dims, order, data):
    value = RNG.normal(size=dims)
    new = [dims[i] for i in order if i < len(dims)]
    if new and value.size and data.draw(st.booleans()):
        new[data.draw(st.integers(0, len(new) - 1))] = -1
    check_op(lambda v: tt.reshape(v, new), [value], value.reshape(new))
    if new:
        check_op(lambda v, s: tt.reshape(v, s, ndim=len(new)), [value, np.array(new)], value.reshape(new))


@pytest.mark.parametrize("dims, ndim", [((), 1), ((3,), 1), ((2, 3), 1), ((2, 3, 4), 2), ((0, 3, 4), 2), ((2, 3), 2)])
def test_flatten(dims, ndim):
    value = RNG.normal(size=dims)
    expected = value.reshape(dims[:ndim - 1] + (int(np.prod(dims[ndim - 1:])),))
    check_op(lambda v: tt.flatten(v, ndim), [value], expected)
    check_op(lambda v: tt.flatten(v, ndim), [value], expected, [TensorType("float64", dims)])
    check_derivatives(lambda v: tt.flatten(v, ndim), [value])


def test_flatten_to_too_many_dimensions():
    for bad in (0, 3):
        with pytest.raises(GraphTypeError, match="ndim"):
            tt.flatten(tt.matrix("x"), bad)


# --- specify_shape ---


def test_specify_shape_narrows_the_type_and_checks():
    value = RNG.normal(size=(2, 3))
    x, n = tt.matrix("x"), tt.lscalar("n")
    assert tt.specify_shape(x, (None, 3)).type.shape == (None, 3)
    assert tt.specify_shape(x, (n, 3)).type.shape == (None, 3)
    assert tt.specify_shape(x, np.array([2, 3])).type.shape == (2, 3)
    check_op(lambda v: tt.specify_shape(v, (2, None)), [value], value)
    check_op(lambda v, s: tt.specify_shape(v, s), [value, np.array([2, 3])], value)
    check_op(lambda v, o: tt.specify_shape(v, o.shape), [value, value], value)
    check_derivatives(lambda v, k: tt.specify_shape(v, (k, 3)) * 2, [value, np.asarray(2)])
    with pytest.raises(ValueError, match=r"\(2, None\)"):
        evaluate_all([tt.specify_shape(x, (2, None))], {x: np.zeros((3, 3))})
    with pytest.raises(ValueError, match="specified"):
        evaluate_all([tt.specify_shape(x, (n, 3))], {x: np.zeros((3, 3)), n: np.asarray(2)})


def test_specify_shape_that_says_nothing_new_is_the_variable():
    x = tt.tensor("x", shape=(2, None))
    assert tt.specify_shape(x, (2, None)) is x and tt.specify_shape(x, (None, None)) is x
    assert tt.specify_shape(x, (2, 3)) is not x


def test_specify_shape_that_contradicts_the_type():
    x = tt.tensor("x", shape=(2, None))
    with pytest.raises(StaticShapeError):
        tt.specify_shape(x, (3, None))
    with pytest.raises(GraphTypeError, match="2 lengths"):
        tt.specify_shape(x, (2,))


# --- patterns ---


def test_patterns():
    x, i = var("x"), var("i")
    assert tt.shape(x).head is tt.Shape().canonical
    assert tt.shape_i(x, i).head == OpTerm(tt.Shape_i, i=i)
    assert tt.flatten(x).head == tt.Reshape(1)
    assert tt.reshape(x, (2, 3)).head == tt.Reshape(2)
    assert tt.reshape(x, var("s")).head == OpTerm(tt.Reshape)
    assert tt.reshape(tt.vector("v"), (x, 3)).args[1].head == OpTerm(tt.MakeVector)


def test_cotangents_of_a_view_keep_its_dtype():
    (x,) = variables_like([np.zeros((2, 3), "float32")])
    y = tt.reshape(x, (3, 2))
    assert reverse_sweep(y, y.type("g"), [x])[0].type.dtype == "float32"
