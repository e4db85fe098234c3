import tracemalloc

import numpy as np
import pytest
from compile_helpers import Spy, overwrite, view

import termgraph.tensor as tt
from termgraph.compile import In, function, shared
from termgraph.compile.vm import VM
from termgraph.graph import FunctionGraph

PLAIN = "NO_REWRITES"


@pytest.fixture
def x():
    return tt.vector("x")


def test_runs_on_cells(x):
    y = tt.exp(x) + x
    vm = VM(FunctionGraph([x], [y], clone=False))
    v = np.array([0.0, 1.0])
    vm.input_storage[0][0] = v
    vm()
    np.testing.assert_array_equal(vm.output_storage[0][0], np.exp(v) + v)
    assert len(vm.thunks) == len(vm.nodes) == 2


def test_intermediate_values_go_when_last_read(x):
    cells = []
    spy = Spy(look=lambda: [cell[0] is not None for cell in cells])
    a = tt.exp(x)
    b = tt.neg(a)
    c = spy(b)
    vm = VM(FunctionGraph([x], [tt.neg(c)], clone=False))
    cells.extend(vm.storage_map[v] for v in (x, a, b))
    vm.input_storage[0][0] = np.ones(2)
    vm()
    assert spy.seen == [[False, False, True]]


def test_memory_of_a_long_chain_is_that_of_two_arrays(x):
    y = x
    for _ in range(40):
        y = tt.neg(y)
    f = function([x], y, mode=PLAIN)
    v = np.ones(100_000)
    f(v)
    tracemalloc.start()
    try:
        f(v)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * v.nbytes


def test_nothing_is_held_between_calls(x):
    s = shared(np.ones(2), "s")
    f = function([x], [tt.exp(x) + s, x * 2], updates={s: s + x}, mode=PLAIN)
    f([1.0, 2.0])
    for variable, cell in f.vm.storage_map.items():
        assert (cell[0] is None) == (variable is not s and not hasattr(variable, "data"))


def test_order_respects_what_is_overwritten(x):
    f = function([In(x, mutable=True)], [overwrite(x), view(x) * 10], accept_inplace=True, mode=PLAIN)
    v = np.array([1.0, 2.0])
    first, second = f(v)
    np.testing.assert_array_equal(first, [2, 3])
    np.testing.assert_array_equal(second, [10, 20])
    np.testing.assert_array_equal(v, [2, 3])


def test_an_error_says_where(x):
    spy = Spy()
    spy.error = KeyError("bang")
    y = spy(x.dimshuffle(0, "x")[::2])
    f = function([x], tt.exp(y), mode=PLAIN)
    with pytest.raises(KeyError, match="bang") as caught:
        f(np.zeros(4))
    [note] = caught.value.__notes__
    assert "Spy" in note
    assert "test_vm.py" in note
    assert "y = spy(x.dimshuffle" in note
    assert "shape (2, 1)" in note
    assert "strides (16, " in note
    assert str(y.owner.inputs[0].type) in note


@pytest.mark.parametrize("length", [2, 40])
def test_after_an_error_the_function_works_and_holds_nothing(x, length):
    spy = Spy()
    y = spy(tt.exp(x))
    for _ in range(length):
        y = tt.neg(y)
    f = function([x], y, mode=PLAIN)
    spy.error = ValueError("no")
    with pytest.raises(ValueError, match="no") as caught:
        f([1.0])
    assert len(caught.value.__notes__) == 1
    assert "Spy" in caught.value.__notes__[0]
    assert all(cell[0] is None for v, cell in f.vm.storage_map.items() if not hasattr(v, "data"))
    spy.error = None
    np.testing.assert_array_equal(f([0.0]), [2.0])


def test_deep_graphs(deep):
    x, y = deep
    f = function([x], y, mode=PLAIN)
    assert f(3.0) == 3.0
    assert len(f.vm.nodes) == 100_000
