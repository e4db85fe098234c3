"""Variable and Constant: identity, names, frozen values, and what tells constants apart."""

import itertools
import pickle

import numpy as np
import pytest

import termgraph as tg
import termgraph.tensor as tt
from termgraph.graph import Constant, Op, Variable, equal_computations
from termgraph.graph.apply import Apply
from termgraph.graph.variable import literal_of


class Pair(Op):
    __props__ = ("default_output",)

    def __init__(self, default_output=None):
        self.default_output = default_output

    def make_node(self, x):
        return Apply(self, [x], [x.type(), x.type()])


def test_an_input_has_no_owner():
    x = tt.vector("x")
    assert (x.owner, x.index, x.head, x.get_parents()) == (None, None, None, [])
    assert x.ndim == 1


def test_an_output_knows_its_place():
    x = tt.vector("x")
    first, second = Pair()(x)
    assert first.owner is second.owner and (first.index, second.index) == (0, 1)
    assert first.owner.outputs[1] is second
    assert first.get_parents() == [first.owner]


def test_equality_is_identity_and_variables_hash():
    x, y = tt.vector("x"), tt.vector("x")
    assert x == x and x != y and len({x, y, x}) == 2


def test_str():
    x = tt.dvector("x")
    assert str(x) == repr(x) == "x"
    assert str(tt.dvector()) == "<Vector(float64, shape=(?,))>"
    assert str(tt.exp(x)) == "Exp.out"
    first, second = Pair(default_output=1).make_node(x).outputs
    assert str(first) == "Pair{default_output=1}.0"
    assert str(second) == "Pair{default_output=1}.out"
    second.name = "b"
    assert str(second) == "b"


def test_clone_is_a_new_leaf_of_the_same_type():
    x = tt.exp(tt.vector("x"))
    x.name = "y"
    copy = x.clone()
    assert copy is not x and copy.owner is None and copy.type is x.type and copy.name == "y"
    assert x.clone("z").name == "z"


def test_tag_is_a_scratchpad_of_its_own():
    x, y = tt.scalars("x", "y")
    x.tag.note = 1
    assert x.tag.note == 1 and not hasattr(y.tag, "note")


# --- constants ----------------------------------------------------------------------------------------------------------


def test_a_constant_is_frozen_and_a_copy():
    array = np.arange(3.0)
    constant = tt.constant(array)
    array[0] = 7
    assert constant.data[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        constant.data[0] = 1
    assert constant.value is constant.data


def test_a_read_only_view_is_copied_too():
    array = np.arange(3.0)
    constant = tt.constant(np.broadcast_to(array, (2, 3)))
    array[0] = 7
    assert constant.data[0, 0] == 0


DISTINCT = [1, 1.0, True, 0.0, -0.0, np.nan, np.float32(1), np.int32(1), np.uint8(1), [1], [[1]], [1, 1], [1.0], [], [[]],
            np.zeros((0, 2)), np.inf, 1 + 0j, np.array([1, 2]), np.array([2, 1])]


@pytest.mark.parametrize(("a", "b"), list(itertools.combinations(range(len(DISTINCT)), 2)))
def test_constants_are_told_apart_by_dtype_shape_and_bytes(a, b):
    first, second = tt.constant(DISTINCT[a]), tt.constant(DISTINCT[b])
    assert first.key != second.key and not first.equals(second)


@pytest.mark.parametrize("value", DISTINCT, ids=repr)
def test_constants_made_alike_are_equal(value):
    first, second = tt.constant(value), tt.constant(np.array(value, copy=True, dtype=np.asarray(value).dtype))
    assert first is not second
    assert first.key == second.key and hash(first.key) == hash(second.key)
    assert first.equals(second) and first.signature() == second.key


def test_the_layout_in_memory_does_not_matter():
    array = np.arange(6.0).reshape(2, 3)
    assert tt.constant(array).equals(tt.constant(np.asfortranarray(array)))
    assert tt.constant(array.T).equals(tt.constant(np.ascontiguousarray(array.T)))
    assert not tt.constant(array).equals(tt.matrix("x"))


def test_the_clone_of_a_constant_is_itself_unless_renamed():
    constant = tt.constant(2.0)
    assert constant.clone() is constant
    other = constant.clone("two")
    assert other is not constant and other.name == "two" and other.equals(constant)


def test_str_of_constants():
    assert str(tt.constant(2.0)) == "2.0"
    assert str(tt.constant(2.0, name="two")) == "two"
    assert str(tt.constant([[1, 2], [3, 4]])) == "[[1 2]  [3 4]]"
    assert len(str(tt.constant(np.arange(100)))) < 25


@pytest.mark.parametrize(("value", "literal"), [
    (2.0, 2.0), (np.full((2, 3), 5), 5), (True, True), (np.float32(0.5), 0.5), ([1, 2], None), ([], None), (np.nan, None),
    ([np.nan, np.nan], None), (np.inf, np.inf), (3 + 1j, 3 + 1j),
])
def test_literal(value, literal):
    found = tt.constant(value).literal
    assert found == literal and type(found) is type(literal)


def test_literal_of_sees_through_what_only_spreads():
    two = tt.constant(2.0)
    x = tt.matrix("x")
    assert literal_of(two.dimshuffle("x", "x")) == 2
    assert literal_of(tt.second(x, two)) == 2
    assert literal_of(tt.second(two, x)) is None
    assert literal_of(tt.second(x, two).T) == 2
    assert literal_of(two + 1) is None
    assert literal_of(x) is None


def test_classes():
    assert isinstance(tt.vector(), Variable) and not isinstance(tt.vector(), Constant)
    assert isinstance(tt.constant(1), Constant)


def test_pickled_graphs_are_whole_and_rewritable():
    x = tt.vector("x")
    again_x, again = pickle.loads(pickle.dumps((x, tt.exp(x) * 2)))
    assert again.symbol is (tt.exp(x) * 2).symbol and again_x.owner is None
    assert equal_computations([again], [tt.exp(x) * 2], [again_x], [x])
    shared = pickle.loads(pickle.dumps(tg.shared(np.ones(2), "s")))
    assert shared.name == "s" and (shared.get_value() == 1).all()
