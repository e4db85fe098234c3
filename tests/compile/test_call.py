import numpy as np
import pytest

import termgraph.tensor as tt
from termgraph.compile import function, shared
from termgraph.compile.call import UNROLLED, Plan, compiled, conversion_of, source_of
from termgraph.tensor.type import TensorType

PLAIN = "NO_REWRITES"


def test_the_source_of_a_small_function():
    x = tt.vector("x")
    source = function([x], tt.exp(x), mode=PLAIN).source
    for line in ("thunk0()", "i0[0] = a0", "return r0", "a0.ndim != 1"):
        assert line in source
    assert "lock" not in source
    assert "run()" not in source


def test_only_updates_take_the_lock():
    s = shared(1.0)
    assert "with lock" in function([], updates={s: s + 1}).source


def test_functions_of_one_kind_share_their_code():
    x, y = tt.vector("x"), tt.vector("y")
    f, g = function([x], tt.exp(x), mode=PLAIN), function([y], tt.tanh(y), mode=PLAIN)
    assert type(f).__call__.__code__ is type(g).__call__.__code__
    np.testing.assert_array_equal(f([0.0]), [1])
    np.testing.assert_array_equal(g([0.0]), [0])


@pytest.mark.parametrize("length", [1, UNROLLED, UNROLLED + 1])
def test_long_functions_run_in_a_loop(length):
    x = y = tt.vector("x")
    for _ in range(length):
        y = tt.neg(y)
    f = function([x], y, mode=PLAIN)
    assert ("run()" in f.source) == (length > UNROLLED)
    np.testing.assert_array_equal(f([1.0]), [(-1.0) ** length])


def test_conversion():
    assert conversion_of(2, TensorType("int8", (None, 3))) == "a2 = convert(2, a2)"
    assert "t0" in conversion_of(0, TensorType("int8", (None, None)))
    assert "asarray" in conversion_of(0, TensorType("float64", ()))


@pytest.mark.parametrize("inputs", [0, 1, 3])
def test_every_plan_compiles(inputs):
    for dead in (None, (), (1, 0)):
        plan = Plan(("",) * inputs, tuple(range(inputs)), dead, 2, "[r0, r1]", 1, 2)
        code, source = compiled(plan)
        assert source == source_of(plan)
        assert compiled(plan)[0] is code
