"""Neutral and absorbing elements, inverses, and what cancels: structure and values."""

import numpy as np
import pytest
from rewrite_helpers import assert_same_values, values_for

import termgraph as tg
import termgraph.tensor as tt

SIMPLIFY = tg.rules.ALL.filter(phase="simplify")
x, y = tt.dvectors("x", "y")
s = tt.dscalar("s")
n = tt.lvector("n")
b = tt.vector("b", dtype="bool")


def simplified(term):
    return tg.rewrite_graph(term, SIMPLIFY)[0]


@pytest.mark.parametrize("term", [
    x + 0, 0 + x, x - 0, x * 1, 1 * x, x / 1, x ** 1, 0 + x * 1.0, tt.neg(-x), x * y / y, y * x / y,
    x / y * y, y * (x / y), x + y - y,
    y + x - y, x - y + y, y + (x - y), y - (y - x), tt.identity(x), tt.log(tt.exp(x)), tt.exp(tt.log(x)), tt.log1p(tt.expm1(x)),
    tt.expm1(tt.log1p(x)), tt.log2(tt.exp2(x)), tt.exp2(tt.log2(x)), tt.sqr(tt.sqrt(x)),
    tt.sinh(tt.arcsinh(x)), tt.arcsinh(tt.sinh(x)),
    tt.tanh(tt.arctanh(x)), tt.arctanh(tt.tanh(x)), tt.cosh(tt.arccosh(x)), tt.sin(tt.arcsin(x)), tt.cos(tt.arccos(x)),
    tt.tan(tt.arctan(x)), tt.reciprocal(tt.reciprocal(x)), tt.rad2deg(tt.deg2rad(x)), tt.deg2rad(tt.rad2deg(x)), 1 / (1 / x),
    (x * 1 + 0) * 1 / 1 - 0,
], ids=tg.pprint)
def test_nothing_but_x_is_left(term):
    assert simplified(term) is x
    assert_same_values([term], [x], values_for([x, y]))


@pytest.mark.parametrize(("term", "text"), [
    (0 - x, "-x"), (x * -1, "-x"), (-1 * x, "-x"), (x / -1, "-x"), (x + -y, "x - y"), (-y + x, "x - y"), (x - -y, "x + y"),
    (-(x - y), "y - x"), (-x * -y, "x * y"), (-x / -y, "x / y"),
    (y - (x + y), "-x"), (y - (y + x), "-x"), (tt.neg(tt.neg(-x)), "-x"),
], ids=lambda v: getattr(v, "__name__", str(v)))
def test_signs(term, text):
    assert tg.pprint(simplified(term)) == text
    assert_same_values([term], [simplified(term)], values_for([x, y]))


@pytest.mark.parametrize("term", [
    x + 1, x * 2, x - 1, x / 2, x ** 3, x * y / x * s, 1 - x, x * y / s, x + y - s, tt.sinh(tt.sinh(x)), tt.exp(tt.log2(x)),
    tt.arcsin(tt.sin(x)), tt.sqrt(tt.sqr(x)), tt.arccos(tt.cos(x)), tt.arccosh(tt.cosh(x)), tt.arctan(tt.tan(x)), 0 - x - 1,
], ids=tg.pprint)
def test_what_is_not_x(term):
    assert simplified(term) is not x
    assert_same_values([term], [simplified(term)], values_for([x, y, s]))


@pytest.mark.parametrize(("term", "number"), [
    (x - x, 0), (x / x, 1), (x * 0, 0), (0 * x, 0), (0 / x, 0), (x ** 0, 1), (tt.exp(x) - tt.exp(x), 0), (x * y - x * y, 0),
], ids=lambda v: getattr(v, "__name__", str(v)))
def test_what_becomes_a_number_has_the_shape_of_what_it_replaces(term, number):
    result = simplified(term)
    assert not any(node.op == term.owner.op for node in tg.graph.toposort([result]))
    for length in (0, 1, 4):
        values = values_for([x, y], length=length)
        (value,) = tg.graph.evaluate([result], values)
        np.testing.assert_array_equal(value, np.full(length, float(number)))


@pytest.mark.parametrize("term", [s - s, s / s, s * 0], ids=tg.pprint)
def test_of_scalars_it_is_a_constant(term):
    result = simplified(term)
    assert isinstance(result, tg.graph.Constant) and result.type == term.type


def test_of_static_shape_it_is_filled_with_that_shape():
    fixed = tt.tensor("f", shape=(2, 3), dtype="float32")
    (value,) = tg.graph.evaluate([simplified(fixed - fixed)], {})  # the shape needs no input
    assert value.shape == (2, 3) and value.dtype == np.float32


ROW, MATRIX = tt.drow("r"), tt.dmatrix("m")


@pytest.mark.parametrize("term", [
    ROW * MATRIX / MATRIX, n / n * n, n * n / n, tt.fvector("f") + x - x, tt.dcol("c") + ROW - ROW,
], ids=lambda v: getattr(v, "__name__", str(v)))
def test_types_are_kept(term):
    assert simplified(term).type == term.type


def test_a_smaller_x_stays():
    row, m = tt.drow("r"), tt.dmatrix("m")
    term = row * m / m
    assert simplified(term) is term
    assert simplified(m * row / row) is m


def test_integers_stay_integers():
    assert simplified(n - n).type.dtype == "int64" and simplified(n * 1) is n and simplified(tt.neg(-n)) is n
    assert simplified(~~n) is n and simplified(~~b) is b
    assert simplified(n / 1).type.dtype == simplified(n / n).type.dtype == "float64"


def test_a_true_is_not_a_one():
    assert tg.pprint(simplified(x * tt.constant(True))) != "x"
