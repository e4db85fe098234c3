"""Container and SharedVariable: whose memory is whose."""

import numpy as np
import pytest

import termgraph.tensor as tt
from termgraph.graph import Container, SharedVariable
from termgraph.tensor import TensorType
from termgraph.tensor.variable import TensorSharedVariable

VECTOR = TensorType("float64", (None,))


@pytest.fixture
def shared():
    return TensorSharedVariable(VECTOR, [1.0, 2.0], "s")


def test_a_container_holds_values_of_its_type():
    container = Container(VECTOR, [1, 2], "c")
    assert container.value.dtype == "float64" and container.storage[0] is container.value
    assert Container(VECTOR).value is None
    assert repr(container) == "<array([1., 2.])>"


@pytest.mark.parametrize("bad", [1.0, [[1.0]], "a", np.zeros(2, complex)])
def test_a_bad_value_leaves_the_old_one(shared, bad):
    old = shared.container.storage[0]
    with pytest.raises(TypeError):
        shared.set_value(bad)
    with pytest.raises(TypeError):
        shared.container.value = bad
    assert shared.container.storage[0] is old


def test_strict_and_downcast():
    with pytest.raises(TypeError):
        Container(VECTOR, np.zeros(2, "float32"), strict=True)
    with pytest.raises(TypeError):
        Container(TensorType("float32", (None,)), np.zeros(2))
    assert Container(TensorType("float32", (None,)), np.zeros(2), allow_downcast=True).value.dtype == "float32"


def test_a_shared_variable_is_a_variable_with_a_value(shared):
    assert isinstance(shared, SharedVariable) and shared.owner is None and shared.name == str(shared) == "s"
    assert shared.default_update is None
    assert (shared + 1).type == tt.dvector().type


def test_values_are_copied_unless_borrowed(shared):
    value = shared.get_value()
    value[0] = 7
    assert shared.get_value()[0] == 1
    shared.get_value(borrow=True)[0] = 7
    assert shared.get_value()[0] == 7
    mine = np.array([3.0, 4.0])
    shared.set_value(mine)
    mine[0] = 9
    assert shared.get_value()[0] == 3
    shared.set_value(mine, borrow=True)
    mine[0] = 10
    assert shared.get_value()[0] == 10


def test_functions_that_share_the_container_see_the_same_cell(shared):
    cell = shared.container.storage
    shared.set_value([5.0])
    assert cell is shared.container.storage and cell[0].tolist() == [5.0]


def test_clone_is_another_variable_on_the_same_container(shared):
    shared.default_update = shared + 1
    twin = shared.clone()
    assert twin is not shared and type(twin) is type(shared) and twin.name == "s"
    assert twin.container is shared.container and twin.default_update is shared.default_update
    twin.set_value([8.0])
    assert shared.get_value().tolist() == [8.0]
    assert shared.clone("t").name == "t"
