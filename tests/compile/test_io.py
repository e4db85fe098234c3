import numpy as np
import pytest
from compile_helpers import overwrite

import termgraph.tensor as tt
from termgraph.compile import In, Out, function
from termgraph.errors import CallArgumentError, GraphTypeError, InputValueError


@pytest.fixture
def x():
    return tt.vector("x")


def test_default_value(x):
    n = tt.scalar("n")
    f = function([x, In(n, value=2.0)], x * n)
    np.testing.assert_array_equal(f([1.0, 2.0]), [2, 4])
    np.testing.assert_array_equal(f([1.0, 2.0], 3.0), [3, 6])
    np.testing.assert_array_equal(f([1.0, 2.0]), [2, 4])
    np.testing.assert_array_equal(f(n=5.0, x=[1.0]), [5])
    assert f["n"] == 2
    f["n"] = 10
    np.testing.assert_array_equal(f([1.0]), [10])
    assert f.value["n"] == f[n] == 10


def test_name(x):
    f = function([In(x, name="data")], x + 1)
    np.testing.assert_array_equal(f(data=[1.0]), [2])
    with pytest.raises(CallArgumentError, match="'x'"):
        f(x=[1.0])


def test_update_of_an_input():
    n, by = tt.scalar("n"), tt.scalar("by")
    f = function([by, In(n, value=1.0, update=n + by)], n)
    assert [float(f(2.0)), float(f(2.0)), float(f(2.0))] == [1, 3, 5]
    assert float(f(1.0, 100.0)) == 100
    assert f["n"] == 101


def test_implicit(x):
    n = tt.scalar("n")
    f = function([In(n, value=3.0, implicit=True, update=n + 1), x], x * n)
    np.testing.assert_array_equal(f([1.0]), [3])
    np.testing.assert_array_equal(f([1.0]), [4])
    with pytest.raises(CallArgumentError, match="at most 1"):
        f([1.0], 2.0)


def test_what_in_refuses(x):
    with pytest.raises(GraphTypeError, match="takes a variable"):
        In(3)
    with pytest.raises(GraphTypeError, match="value="):
        In(x, update=x + 1)
    with pytest.raises(GraphTypeError):
        In(x, value=[1.0], update=tt.scalar())
    with pytest.raises(GraphTypeError, match="takes a variable"):
        Out("x")


def test_strict_and_downcast():
    x = tt.fvector("x")
    with pytest.raises(InputValueError):
        function([x], x + 1)(np.zeros(2))
    loose = function([In(x, allow_downcast=True)], x + 1)(np.zeros(2))
    assert loose.dtype == "float32"
    assert function([x], x + 1, allow_input_downcast=True)(np.zeros(2)).dtype == "float32"
    with pytest.raises(InputValueError, match="strict"):
        function([In(x, strict=True)], x + 1)([1.0])


def test_default_value_is_copied_unless_borrowed(x):
    value = np.ones(2)
    f = function([In(x, value=value)], x + 1)
    value[:] = 9
    np.testing.assert_array_equal(f(), [2, 2])
    g = function([In(x, value=value, borrow=True)], x + 1)
    value[:] = 5
    np.testing.assert_array_equal(g(), [6, 6])


def test_a_mutable_default_is_not_changed(x):
    f = function([In(x, value=np.zeros(2), mutable=True)], overwrite(x), accept_inplace=True)
    np.testing.assert_array_equal(f(), [1, 1])
    np.testing.assert_array_equal(f(), [1, 1])
