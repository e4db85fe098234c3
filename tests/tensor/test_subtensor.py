"""Indexing, reading and writing, against NumPy on generated indices."""

import pickle

import numpy as np
import pytest
from tensor_helpers import check_derivatives, check_infer_shape, check_op, evaluate_all, variables_like

import termgraph.tensor as tt
from termgraph.errors import GraphTypeError, StaticShapeError
from termgraph.graph import evaluate
from termgraph.tensor.indexing import INPUT, Slice, as_template, slice_length
from termgraph.tensor.subtensor import AdvancedIncSubtensor, AdvancedSubtensor, IncSubtensor, Subtensor
from termgraph.tensor.type import TensorType
from termgraph.terms import Term, var

SEEDS = range(60)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def random_slice(rng):
    low, high = rng.integers(-6, 7, size=2)
    step = int(rng.choice([-3, -2, -1, 1, 2, 3]))
    return slice(*[None if rng.random() < 0.3 else int(v) for v in (low, high)], None if rng.random() < 0.4 else step)


def random_basic(rng, shape):
    """An index of ints, slices, None and Ellipsis for an array of this shape."""
    items = [int(rng.integers(-n, n)) if n and rng.random() < 0.4 else random_slice(rng)
             for n in shape[: rng.integers(0, len(shape) + 1)]]
    if rng.random() < 0.3:
        items.insert(int(rng.integers(0, len(items) + 1)), None)
    if rng.random() < 0.2:
        items.append(Ellipsis)
    return tuple(items)


def random_advanced(rng, shape):
    """An index with at least one array. All integer arrays have the same shape."""
    block = tuple(rng.integers(0, 4, size=rng.integers(1, 3)))
    items, position, arrays = [], 0, 0
    while position < len(shape):
        n, kind = shape[position], rng.random()
        if (kind < 0.4 or (position == len(shape) - 1 and not arrays)) and (n or 0 in block):
            items.append(rng.integers(-n, n, size=block) if n else np.zeros(block, int))
            arrays += 1
        elif kind < 0.6 and n:
            items.append(int(rng.integers(-n, n)))
        elif kind < 0.7 and arrays:
            break
        else:
            items.append(random_slice(rng))
        position += 1
    if rng.random() < 0.3:
        items.insert(int(rng.integers(0, len(items) + 1)), None)
    return tuple(items) if arrays else (*items[:-1], np.zeros(0, int))


def symbolic_parts(index):
    """A function that puts variables in the place of the numbers and arrays of an index, and their values."""
    values = []

    def place(item):
        if isinstance(item, slice):
            return slice(*[place(p) for p in (item.start, item.stop, item.step)])
        if item is None or item is Ellipsis:
            return item
        values.append(np.asarray(item))
        return len(values) - 1

    places = [place(i) for i in index]

    def fill(variables):
        def get(item):
            if isinstance(item, slice):
                return slice(*[get(p) for p in (item.start, item.stop, item.step)])
            return item if item is None or item is Ellipsis else variables[item]
        return tuple(get(p) for p in places)

    return fill, values


def random_shape(rng):
    return tuple(int(n) for n in rng.integers(0, 5, size=rng.integers(1, 4)))


# --- basic reading ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_basic_index(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=random_shape(rng))
    index = random_basic(rng, x.shape)
    static = TensorType("float64", x.shape)
    check_op(lambda v: v[index], [x], x[index])
    check_op(lambda v: v[index], [x], x[index], [static])
    assert static("x")[index].type.shape == x[index].shape
    fill, values = symbolic_parts(index)
    check_op(lambda v, *rest: v[fill(rest)], [x, *values], x[index])
    check_op(lambda v, *rest: v[fill(rest)], [x, *[v.astype("int8") for v in values]], x[index])


@pytest.mark.parametrize("seed", range(12))
def test_derivatives_of_basic_indices(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=random_shape(rng))
    index = random_basic(rng, x.shape)
    fill, values = symbolic_parts(index)
    check_derivatives(lambda v: v[index], [x])
    check_derivatives(lambda v, *rest: v[fill(rest)], [x, *values])


@pytest.mark.parametrize("length", [0, 1, 2, 5])
@pytest.mark.parametrize("start", [None, -7, -1, 0, 2, 7])
@pytest.mark.parametrize("stop", [None, -7, -2, 0, 3, 7])
@pytest.mark.parametrize("step", [None, 2, -1, -3])
def test_slice_length(length, start, stop, step):
    expected = len(range(length)[slice(start, stop, step)])
    assert slice_length(Slice(start, stop, step), length) == expected
    n = tt.lscalar("n")
    (found,) = evaluate([tt.as_tensor_variable(slice_length(Slice(start, stop, step), n))], {n: np.array(length)})
    assert found == expected


def test_slices_of_long_dimensions_by_small_integers_do_not_overflow():
    i = tt.bscalar("i")
    x = tt.vector("x")
    check_infer_shape([x[i:]], {x: np.zeros(300), i: np.array(-100, "int8")})


def test_a_subtensor_is_a_view():
    x = tt.vector("x")
    value = np.zeros(3)
    (part,) = evaluate_all([x[1:]], {x: value})
    part[0] = 5
    assert value[1] == 5
    assert x[0].owner.op.view_map == {0: [0]}


def test_the_thunk_of_a_constant_index_takes_the_part():
    x = tt.matrix("x")
    node = x[1, ::2].owner
    storage, computed = {x: [normal(2, 3)], node.out: [None]}, {node.out: [False]}
    node.op.make_thunk(node, storage, computed, [])()
    assert np.array_equal(storage[node.out][0], normal(2, 3)[1, ::2])
    assert computed[node.out] == [True]


def test_the_template_holds_constants_and_the_inputs_are_the_variables():
    x, i = tt.tensor3("x"), tt.lscalar("i")
    part = x[1, i:tt.constant(7):2]
    assert part.owner.op == Subtensor((1, Slice(INPUT, 7, 2)))
    assert part.owner.inputs == [x, i]
    assert x[0, :, :].owner.op == x[np.int64(0)].owner.op == Subtensor((0,))
    assert x[::1].owner.op == x[()].owner.op == Subtensor(())
    assert hash(Subtensor((slice(0, INPUT),))) == hash(Subtensor((Slice(0, INPUT),)))


def test_ops_survive_pickling():
    op = Subtensor((1, Slice(INPUT, None)))
    assert pickle.loads(pickle.dumps(op)) == op


def test_a_template_refuses_what_is_no_index():
    with pytest.raises(GraphTypeError, match="template"):
        as_template(("a",))
    with pytest.raises(ValueError, match="step"):
        tt.vector("x")[::0]


def test_an_index_of_a_pattern_is_a_pattern():
    x, i = var("x"), var("i")
    assert x[0, 1:] == Term(Subtensor((0, Slice(1, None))), (x,))
    assert x[[0, 2]].head == AdvancedSubtensor((INPUT,)).canonical
    assert tt.vector("v")[i].head == Subtensor((INPUT,)).canonical
    with pytest.raises(GraphTypeError, match="no known rank"):
        x[None]


def test_a_constant_index_out_of_range():
    x = tt.matrix("x", shape=(3, None))
    with pytest.raises(IndexError, match=r"index 3 .* length is 3"):
        x[3]
    with pytest.raises(IndexError, match=r"index -4 .* length is 3"):
        x[-4]
    assert x[2, 100].type.ndim == 0
    with pytest.raises(IndexError, match="too many"):
        x[0, 0, 0]
    with pytest.raises(IndexError, match="too many"):
        tt.scalar("s")[:]
    with pytest.raises(IndexError, match="Ellipsis"):
        x[..., 0, ...]


@pytest.mark.parametrize("index", [1.5, "a", True, tt.scalar("f"), slice(0.5, None), np.array([1.0])])
def test_what_is_no_index(index):
    with pytest.raises(GraphTypeError):
        tt.vector("x")[index]


# --- advanced reading -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_advanced_index(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=random_shape(rng))
    index = random_advanced(rng, x.shape)
    check_op(lambda v: v[index], [x], x[index], [TensorType("float64", x.shape)])
    fill, values = symbolic_parts(index)
    check_op(lambda v, *rest: v[fill(rest)], [x, *values], x[index])


@pytest.mark.parametrize("seed", range(12))
def test_derivatives_of_advanced_indices(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=random_shape(rng))
    index = random_advanced(rng, x.shape)
    fill, values = symbolic_parts(index)
    check_derivatives(lambda v: v[index], [x])
    check_derivatives(lambda v, *rest: v[fill(rest)], [x, *values])


MASKS = [lambda x: x > 0, lambda x: (slice(None), x[0] > 0), lambda x: (x[:, 0] > 0, 1), lambda x: (0, x[0] > 0),
         lambda x: (x[:, 0] > 0, None), lambda x: (None, x > 9), lambda x: (x[:, 0] > 9, slice(1, None))]


@pytest.mark.parametrize("make", MASKS)
def test_masks(make):
    x = normal(3, 4, 2)
    index = make(x[..., 0])
    index = index if isinstance(index, tuple) else (index,)
    fill, values = symbolic_parts(index)
    check_op(lambda v: v[index], [x], x[index])
    check_op(lambda v, *rest: v[fill(rest)], [x, *values], x[index])
    check_derivatives(lambda v, *rest: v[fill(rest)], [x, *values])
    y = normal(*x[index].shape, seed=1)
    types = types_for(index, x, y)
    check_derivatives(lambda v, w: tt.set_subtensor(v[index], w), [x, y], types)


BROADCAST = [([[0], [2]], [1, 0, 3]), (slice(None), [[0], [2]], [1, 1]), ([0, 1], slice(None), [[1], [0]]),
             ([[0, 1]], None, [[1], [2]]), ([0, 2, 2], 1), (1, slice(None), [0, 1]), ([0, 1], [1])]


@pytest.mark.parametrize("index", BROADCAST)
def test_index_arrays_that_broadcast(index):
    x = normal(3, 4, 2)
    expected = x[index]
    assert tt.tensor3("x", shape=x.shape)[index].type.shape == expected.shape
    check_op(lambda v: v[index], [x], expected)
    check_derivatives(lambda v: v[index], [x])
    types = types_for(index if isinstance(index, tuple) else (), x, expected)
    check_derivatives(lambda v, w: tt.inc_subtensor(v[index], w), [x, expected], types)
    check_derivatives(lambda v, w: tt.set_subtensor(v[index], w), [x, expected], types)


def test_index_arrays_broadcast_only_where_their_type_announces_it():
    x, i, j = normal(3, 4), np.array([1]), np.array([0, 1, 2])
    with pytest.raises(IndexError, match="differ in length"):
        check_op(lambda v, a, b: v[a, b], [x, i, j], x[i, j])
    check_op(lambda v, a, b: v[a, b], [x, i, j], x[i, j],
             [TensorType("float64", (None, None)), TensorType("int64", (1,)), TensorType("int64", (None,))])
    with pytest.raises(StaticShapeError):
        tt.matrix("x")[[0, 1], [0, 1, 2]]


def test_an_index_of_variables_in_a_list():
    x, i = normal(4), np.array(2)
    check_op(lambda v, a: v[[a, 0, a]], [x, i], x[[2, 0, 2]])
    check_op(lambda v: v[[]], [x], x[[]])


def test_an_advanced_subtensor_of_scalars_is_a_copy():
    x, i = tt.vector("x"), tt.lscalar("i")
    value = np.arange(3.0)
    (part,) = evaluate_all([AdvancedSubtensor((INPUT,))(x, i)], {x: value, i: np.array(1)})
    assert part == 1 and not np.shares_memory(part, value)


def test_ops_refuse_the_wrong_inputs():
    x = tt.vector("x")
    with pytest.raises(GraphTypeError, match="takes 1 index variables, got 0"):
        Subtensor((INPUT,))(x)
    with pytest.raises(GraphTypeError, match="scalar integer"):
        Subtensor((INPUT,))(x, tt.lvector("i"))
    with pytest.raises(GraphTypeError, match="scalar integer"):
        AdvancedSubtensor((Slice(INPUT, None),))(x, tt.lvector("i"))


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("indices", [1, [0, 1, 1], [[1], [0]], []])
def test_take(axis, indices):
    x = normal(2, 3)
    positions = np.asarray(indices, dtype="int64")
    check_op(lambda v: tt.take(v, indices, axis), [x], np.take(x, positions, axis))
    check_op(lambda v, i: tt.take(v, i, axis), [x, positions], np.take(x, positions, axis))


def test_take_along_a_dimension_that_is_not_there():
    with pytest.raises(GraphTypeError, match="no dimension 2"):
        tt.take(tt.matrix("x"), [0], axis=2)


# --- writing ----------------------------------------------------------------------------------------------------------


def types_for(index, *values):
    """Types for `test_writing`: the value written has to have length 1 where the index has a new axis, and say so."""
    types = [TensorType(v.dtype, (None,) * v.ndim) for v in values]
    if any(i is None for i in index):
        types[1] = TensorType("float64", values[1].shape)
    return types


def written(x, index, y, inc):
    result = x.copy()
    if inc:
        np.add.at(result, index, y)
    else:
        result[index] = y
    return result


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("generate", [random_basic, random_advanced])
def test_writing(seed, generate):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=random_shape(rng))
    index = generate(rng, x.shape)
    if {str(i).replace(", 1)", ", None)") for i in index} <= {"None", "Ellipsis", str(slice(None))}:
        index = ()  # new axes alone are no part
    fill, values = symbolic_parts(index)
    y = rng.normal(size=x[index].shape)
    for write, inc in ((tt.set_subtensor, False), (tt.inc_subtensor, True)):
        expected, types = written(x, index, y, inc), types_for(index, x, y, *values)
        check_op(lambda v, w, write=write: write(v[index], w), [x, y], expected, types[:2])
        check_op(lambda v, w, *rest, write=write: write(v[fill(rest)], w), [x, y, *values], expected, types)
        check_op(lambda v, write=write: write(v[index], 2.5), [x], written(x, index, 2.5, inc))
        if seed < 12:
            check_derivatives(lambda v, w, *rest, write=write: write(v[fill(rest)], w), [x, y, *values], types)


@pytest.mark.parametrize("inc", [True, False])
def test_repeated_positions(inc):
    x, y = normal(4), normal(5)
    index = np.array([1, 3, 1, -1, 1])
    write = tt.inc_subtensor if inc else tt.set_subtensor
    check_op(lambda v, w: write(v[index], w), [x, y], written(x, index, y, inc))
    check_derivatives(lambda v, w: write(v[index], w), [x, y])
    check_derivatives(lambda w: write(tt.zeros(4)[index], w), [y])
    check_derivatives(lambda v: write(v[index], 1.0), [x])


@pytest.mark.parametrize("inc", [True, False])
def test_values_that_broadcast(inc):
    x = normal(3, 4)
    write = tt.inc_subtensor if inc else tt.set_subtensor
    row, column = normal(4, seed=1), normal(2, 1, seed=2)
    types = [TensorType("float64", (None, None)), TensorType("float64", (None, 1))]
    for index in (slice(1, None), np.array([2, 2])):
        check_op(lambda v, w, index=index: write(v[index], w), [x, row], written(x, index, row, inc))
        check_op(lambda v, w, index=index: write(v[index], w), [x, column], written(x, index, column, inc), types)
        check_derivatives(lambda v, w, index=index: write(v[index], w), [x, row])
        check_derivatives(lambda v, w, index=index: write(v[index], w), [x, column], types)


def test_values_broadcast_only_where_their_type_announces_it():
    for index in (slice(None), [0, 1]):
        with pytest.raises(ValueError, match="broadcasts only"):
            check_op(lambda v, w, index=index: tt.set_subtensor(v[index], w), [normal(2), normal(1)], normal(2))


def test_a_part_with_new_axes_or_transposed_can_be_written():
    x, y = normal(3, 4), normal(4, 1, 2)
    check_op(lambda v, w: tt.set_subtensor(v[1:, :].T[:, None], w), [x, y], written(x, slice(1, None), y[:, 0].T, False),
             [TensorType("float64", (None, None)), TensorType("float64", (None, 1, None))])


@pytest.mark.parametrize("index", [slice(0, 2), np.array([0, 0])])
@pytest.mark.parametrize("write", [tt.set_subtensor, tt.inc_subtensor])
def test_inplace(index, write):
    x, y = variables_like([normal(3), normal(2)])
    outside, inside = write(x[index], y), write(x[index], y, inplace=True)
    assert outside.owner.op.destroy_map == {}
    assert inside.owner.op.destroy_map == {0: [0]}
    assert outside.owner.op != inside.owner.op
    value, expected = normal(3), None
    (expected,) = evaluate_all([outside], {x: value, y: normal(2, seed=1)})
    assert np.array_equal(value, normal(3))
    (result,) = evaluate([inside], {x: value, y: normal(2, seed=1)})
    assert result is value and np.array_equal(result, expected)


def test_what_cannot_be_written():
    x = tt.fvector("x")
    with pytest.raises(GraphTypeError, match="expected a part"):
        tt.set_subtensor(x, 1)
    with pytest.raises(GraphTypeError, match="expected a part"):
        tt.set_subtensor(x[None], 1)
    with pytest.raises(GraphTypeError, match="precision"):
        tt.set_subtensor(x[0], tt.dscalar("y"))
    with pytest.raises(GraphTypeError, match="precision"):
        tt.set_subtensor(tt.lvector("i")[0], tt.dscalar("y"))
    with pytest.raises(GraphTypeError, match="bool"):
        tt.inc_subtensor(tt.vector("b", dtype="bool")[0], True)
    with pytest.raises(StaticShapeError, match="a value of the shape"):
        tt.set_subtensor(tt.fvector("z", shape=(5,))[:2], tt.fvector("y", shape=(3,)))
    assert tt.set_subtensor(x[:2], [1, 2]).type.dtype == "float32"
    assert tt.set_subtensor(x[0], 0.1).type.dtype == "float32"


def test_writing_to_integers_and_bools():
    x, b = np.arange(4), np.array([True, False, True])
    check_op(lambda v: tt.inc_subtensor(v[[0, 0]], 2), [x], written(x, [0, 0], 2, True))
    check_op(lambda v: tt.set_subtensor(v[0], False), [b], written(b, 0, False, False))


def test_the_printed_ops_name_their_index():
    x, i = tt.matrix("x"), tt.lscalar("i")
    assert str(x[0, i:].owner.op) == "Subtensor{0, ?:}"
    assert str(tt.set_subtensor(x[0], 1).owner.op) == "SetSubtensor{0}"
    assert str(IncSubtensor((0,), inplace=True)) == "IncSubtensor{0, inplace}"
    assert str(AdvancedIncSubtensor((INPUT,), set_instead_of_inc=True)) == "AdvancedSetSubtensor{?}"
