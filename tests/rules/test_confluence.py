"""Simplifications that one rule must not hide from another: critical pairs of the shipped rules that have been closed."""

import pytest

import termgraph as tg
import termgraph.tensor as tt
from termgraph.checking.sameness import same
from termgraph.rules import ALL

x, y = tt.vectors("x", "y")
SIMPLIFY = ALL.filter(phase="simplify")


@pytest.mark.parametrize(("term", "simplest"), [
    (1 / (1 + tt.exp(-(x - y))), tt.sigmoid(x - y)),  # the sign has gone into the difference
    (1 / (1 + tt.exp(x)), tt.sigmoid(-x)),
    (tt.exp(-x) / (1 + tt.exp(-x)), tt.sigmoid(-x)),
    (tt.log(1 / tt.exp(x)), -x),  # 1 / x has become the reciprocal
    (tt.log(tt.exp(x) * tt.exp(x)), x * 2),  # a square
    (tt.exp(tt.log(1 + x)), 1 + x),  # log1p
    (x * x / x, x),
    (x - (x + x), -x),
    (x * 7 - x * 5, x * 2),
    (x - x * 5, x * -4),
    (x + 5 - 7, x + -2),
    (x - 5 + 7, x + 2),
    (x * 6 / 3, x * 2),
    (x / 3 * 6, x * 2),
])
def test_nothing_is_hidden(term, simplest):
    found, report = tg.rewrite_graph(term, SIMPLIFY)
    assert report.stop_reason == "equilibrium"
    assert same(found, simplest), tg.pprint(found)
