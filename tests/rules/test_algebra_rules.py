"""Powers, quotients, magnitudes, common factors and constants gathered: structure and values."""

import numpy as np
import pytest
from rewrite_helpers import assert_same_values, values_for

import termgraph as tg
import termgraph.tensor as tt

SIMPLIFY = tg.rules.ALL.filter(phase="simplify")
x, y, z = tt.dvectors("x", "y", "z")
n = tt.lvector("n")
c = tt.vector("c", dtype="bool")


def simplified(term):
    return tg.rewrite_graph(term, SIMPLIFY)[0]


@pytest.mark.parametrize(("term", "text"), [
    (x ** 2, "sqr(x)"), (x * x, "sqr(x)"), (x ** 0.5, "sqrt(x)"), (x ** -1, "reciprocal(x)"), (1 / x, "reciprocal(x)"),
    (x * (1 / y), "x / y"), (1 / y * x, "x / y"), (x / (1 / y), "x * y"), (abs(abs(x)), "abs(x)"), (abs(-x), "abs(x)"),
    (abs(x) ** 2, "sqr(x)"), ((-x) ** 2, "sqr(x)"), (tt.sqrt(x * x), "abs(x)"), (x + x, "x * 2"), (x * 3 + x, "x * 4"),
    (x * 3 - x, "x * 2"), (x * 3 + x * 2, "x * 5"), (3 * x + x, "x * 4"), (x * 2 * 3, "x * 6"), (2 * (x * 3), "x * 6"),
    (x + 1 + 2, "x + 3"), (1 + (x + 2), "x + 3"), (x - 1 - 2, "x - 3"), (x / 2 / 4, "x / 8"), (x * 2 + x * -2 + y, None),
    (tt.maximum(x, x), "x"), (tt.minimum(x, x), "x"), (tt.switch(c, x, x), "x"), (tt.exp(x) * tt.exp(x), "sqr(exp(x))"),
    (2 * x * 3 * 4 + 0, "x * 24"),
], ids=lambda v: getattr(v, "__name__", str(v)))
def test_becomes(term, text):
    result = simplified(term)
    assert text is None or tg.pprint(result) == text
    assert_same_values([term], [result], values_for([x, y], seed=3) | {c: np.array([True, False, True])})


@pytest.mark.parametrize("term", [x ** y, x * y, x / y, x * y + x * z, x + y, tt.maximum(x, y), tt.switch(c, x, y), x * y + z,
                                  tt.sqrt(x), x - y], ids=tg.pprint)
def test_stays(term):
    assert simplified(term) is term


def test_constants_of_every_shape_are_gathered():
    m = tt.dmatrix("m")
    rows = np.array([[1.0, 2.0, 3.0]])
    result = simplified(m * rows * (rows + 1))
    assert [node.op for node in tg.graph.toposort([result])] == [tt.mul]
    np.testing.assert_array_equal(result.owner.inputs[1].data, rows * (rows + 1))


def test_what_is_not_constant_is_not_moved():
    assert tg.pprint(simplified(x * y * z)) == "x * y * z"
    assert tg.pprint(simplified(x * 2 * y)) == "x * 2 * y"


def test_integer_powers_keep_their_dtype():
    assert simplified(n ** 2).type.dtype == "int64" and simplified(n * n).type.dtype == "int64"
    assert simplified(1 / n).type.dtype == "float64"
    assert_same_values([n ** 2, 1 / n], [simplified(n ** 2), simplified(1 / n)], {n: np.array([1, -2, 3])})


def test_square_roots_of_squares_of_negative_numbers():
    assert_same_values([tt.sqrt(tt.sqr(x)), abs(-x)], [simplified(tt.sqrt(tt.sqr(x))), simplified(abs(-x))],
                       {x: np.array([-2.0, 0.0, 3.0])})
