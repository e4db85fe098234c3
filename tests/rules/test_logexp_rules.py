"""Logarithms and exponentials: the stable forms, in structure, in values, and where the naive ones overflow."""

import re

import numpy as np
import pytest
import scipy.special as special
from rewrite_helpers import assert_same_values, values_for

import termgraph as tg
import termgraph.tensor as tt
from termgraph.tensor import LogSoftmax, LogSumExp, Softmax

SIMPLIFY = tg.rules.ALL.filter(phase="simplify")
x, y = tt.dvectors("x", "y")
m = tt.dmatrix("m")


def simplified(term):
    return tg.rewrite_graph(term, SIMPLIFY)[0]


@pytest.mark.parametrize(("term", "text"), [
    (tt.log(1 / (1 + tt.exp(-x))), "-softplus(-x)"), (tt.log(tt.sigmoid(x)), "-softplus(-x)"),
    (tt.log(1 + tt.exp(x)), "softplus(x)"),
    (tt.log(tt.exp(x) + 1), "softplus(x)"), (tt.log1p(tt.exp(x)), "softplus(x)"), (tt.log(1 - tt.sigmoid(x)), "-softplus(x)"),
    (tt.log1p(-tt.sigmoid(x)), "-softplus(x)"), (tt.log(tt.exp(x) + tt.exp(y)), "logaddexp(x, y)"),
    (tt.log(1 + x), "log1p(x)"),
    (tt.log(1 - x), "log1p(-x)"), (tt.exp(x) - 1, "expm1(x)"), (1 - tt.exp(x), "-expm1(x)"),
    (1 / (1 + tt.exp(-x)), "sigmoid(x)"),
    (tt.exp(x) / (1 + tt.exp(x)), "sigmoid(x)"), (1 - tt.sigmoid(x), "sigmoid(-x)"), (tt.log(2 * tt.exp(x)), None),
    (tt.log(tt.constant(2.0) / tt.exp(x)), None), (tt.log(tt.exp(x * y)), "x * y"),
    (tt.log(tt.exp(x)) + tt.exp(tt.log(y)), "x + y"),
    (tt.exp(-x) / (1 + tt.exp(-x)), "sigmoid(-x)"), (1 / (tt.exp(-x) + 1), "sigmoid(x)"),
], ids=lambda v: getattr(v, "__name__", str(v)))
def test_becomes(term, text):
    result = simplified(term)
    assert text is None or tg.pprint(result) == text
    assert_same_values([term], [result], values_for([x, y]))


@pytest.mark.parametrize("term", [tt.log(1 - tt.exp(x)), tt.log1p(-tt.exp(x)), tt.log(-tt.expm1(x))], ids=tg.pprint)
def test_log1mexp(term):
    result = simplified(term)
    assert tg.pprint(result) == "log1mexp(x)"
    assert_same_values([term], [result], {x: np.array([-3.0, -1.0, -0.2])})
    (tiny,) = tg.graph.evaluate([result], {x: np.array([-1e-20])})
    np.testing.assert_allclose(tiny, np.log(1e-20))


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_log_of_a_sum_of_exponentials(axis, keepdims):
    term = tt.log(tt.sum(tt.exp(m), axis=axis, keepdims=keepdims))
    result = simplified(term)
    ops = [type(n.op) for n in tg.graph.toposort([result])]
    if not keepdims:
        assert ops == [LogSumExp]
    if LogSumExp in ops:
        value = np.array([[1.0, 2.0, 800.0], [-900.0, -800.0, -850.0]])
        (got,) = tg.graph.evaluate([result], {m: value})
        np.testing.assert_allclose(got, special.logsumexp(value, axis=axis, keepdims=keepdims))
    assert_same_values([term], [result], values_for([m]))


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_softmax_and_its_logarithm(axis):
    e = tt.exp(m)
    naive = e / tt.sum(e, axis=axis, keepdims=True)
    result = simplified(naive)
    assert [n.op for n in tg.graph.toposort([result])] == [Softmax(axis=axis)]
    logged = simplified(tt.log(naive))
    assert [n.op for n in tg.graph.toposort([logged])] == [LogSoftmax(axis=axis)]
    assert simplified(tt.log(tt.softmax(m, axis=axis))).owner.op == LogSoftmax(axis=axis)
    assert_same_values([naive, tt.log(naive)], [result, logged], values_for([m]))
    value = np.array([[800.0, 1.0], [-800.0, 799.0]])
    (soft, log_soft) = tg.graph.evaluate([result, logged], {m: value})
    np.testing.assert_allclose(soft, special.softmax(value, axis=axis))
    np.testing.assert_allclose(log_soft, special.log_softmax(value, axis=axis))


def test_a_sum_spread_over_another_axis_is_no_softmax():
    square = tt.dmatrix("q", shape=(2, 2))
    e = tt.exp(square)
    wrong = e / tt.sum(e, axis=1).dimshuffle("x", 0)
    result = simplified(wrong)
    assert not [n for n in tg.graph.toposort([result]) if isinstance(n.op, Softmax)]
    assert_same_values([wrong], [result], values_for([square]))
    other = tt.exp(m) / tt.sum(tt.exp(m + 1), axis=0, keepdims=True)
    assert not [n for n in tg.graph.toposort([simplified(other)]) if isinstance(n.op, Softmax)]


@pytest.mark.parametrize(("term", "exact"), [
    (tt.log(1 / (1 + tt.exp(-x))), lambda v: -np.logaddexp(0, -v)),
    (tt.log(1 + tt.exp(x)), lambda v: np.logaddexp(0, v)),
    (tt.log(tt.sigmoid(x)), special.log_expit), (tt.log(tt.exp(x) + tt.exp(-x)), lambda v: np.logaddexp(v, -v)),
    (tt.log(1 - tt.sigmoid(x)), lambda v: special.log_expit(-v)),
    (1 / (1 + tt.exp(-x)), special.expit), (tt.log(tt.exp(x)), lambda v: v),
    (tt.exp(x) / (1 + tt.exp(x)), special.expit),
], ids=lambda v: getattr(v, "__name__", str(v)))
def test_hard_inputs_give_finite_right_values(term, exact):
    value = np.array([800.0, -800.0, 0.0, 1e-300, 36.0, -36.0, 1e4])
    (got,) = tg.graph.evaluate([simplified(term)], {x: value})
    assert np.isfinite(got).all()
    np.testing.assert_allclose(got, exact(value), rtol=1e-14)


def test_no_digits_are_lost_near_zero():
    tiny = np.array([1e-18, -1e-18])
    terms = [tt.log(1 + x), tt.log(1 - x), tt.exp(x) - 1, 1 - tt.exp(x)]
    results = tg.graph.evaluate([simplified(t) for t in terms], {x: tiny})
    for got, expected in zip(results, (tiny, -tiny, tiny, -tiny), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-15)


def test_a_compiled_loss_is_finite():
    target = tt.dvector("t")
    loss = tt.sum(-target * tt.log(1 / (1 + tt.exp(-x))) - (1 - target) * tt.log(1 - 1 / (1 + tt.exp(-x))))
    f = tg.function([x, target], loss)
    np.testing.assert_allclose(f(np.array([800.0, -800.0]), np.array([1.0, 0.0])), 0, atol=1e-300)
    np.testing.assert_allclose(f(np.array([800.0, -800.0]), np.array([0.0, 1.0])), 1600.0)


LOOK_ALIKES = [tt.log(2 + tt.exp(x)), tt.log(tt.exp(x) - tt.exp(y)), tt.log(x * tt.exp(y)), tt.log(-2 * tt.exp(x)),
               1 / (2 + tt.exp(-x)), tt.exp(x) / (1 + tt.exp(y)), tt.log(tt.sum(tt.exp2(m)))]


@pytest.mark.parametrize("term", LOOK_ALIKES, ids=tg.pprint)
def test_what_only_looks_like_it(term):
    result = simplified(term)
    names = set(re.findall(r"\w+", tg.pprint(result)))
    assert not {"softplus", "logaddexp", "sigmoid", "logsumexp"} & names
    with np.errstate(all="ignore"):
        assert_same_values([term], [result], values_for([x, y, m]))


def test_in_float32():
    f = tt.fvector("f")
    result = simplified(tt.log(1 / (1 + tt.exp(-f))))
    assert tg.pprint(result) == "-softplus(-f)" and result.type.dtype == "float32"
    (got,) = tg.graph.evaluate([result], {f: np.array([-500, 500], dtype="float32")})
    np.testing.assert_allclose(got, [-500, 0], atol=1e-30)
