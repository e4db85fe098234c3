"""Merge: what is computed twice is computed once."""

import numpy as np
import pytest
from rewrite_helpers import DRIVERS, assert_same_values, random_graph, values_for

import termgraph as tg
import termgraph.tensor as tt
from termgraph.graph import Apply, Op, toposort

MERGE = tg.rules.ALL["merge"]
x, y = tt.dvectors("x", "y")
m = tt.dmatrix("m")


class Halves(Op):
    """Two outputs of one type."""

    __props__ = ()

    def make_node(self, v):
        return Apply(self, [v], [v.type(), v.type()])


@pytest.fixture(params=DRIVERS)
def driver(request):
    return DRIVERS[request.param]


MAKERS = [lambda: tt.exp(x + y), lambda: tt.sum(m, axis=0), lambda: m.T, lambda: x * 2.0, lambda: m[::-1, 0],
          lambda: tt.exp(tt.constant([1.0, 2.0]))]


@pytest.mark.parametrize("make", MAKERS)
def test_equal_terms_are_one(driver, make):
    (a, b, c), report = driver([make(), make(), tt.sin(make())], MERGE)
    assert a is b and c.owner.inputs[0] is a and report.rules["merge"].fires > 0 and report.stop_reason == "equilibrium"


@pytest.mark.parametrize(("a", "b"), [
    (tt.exp(x), tt.exp(y)), (x - y, y - x), (tt.sum(m, axis=0), tt.sum(m, axis=1)), (x * 2.0, x * 3.0), (x * 0.0, x * -0.0),
    (x * tt.constant(1, dtype="int8"), x * tt.constant(1, dtype="int16")),
    (tt.exp(x), tt.exp2(x)), (tt.cast(x, "float32"), tt.cast(x, "int8")), (x + y, y + x),
], ids=lambda v: getattr(v, "__name__", str(v)))
def test_different_terms_are_two(driver, a, b):
    (p, q), _ = driver([a, b], MERGE)
    assert p is not q and len(toposort([p, q])) == len(toposort([a, b]))


def test_constants_that_are_equal(driver):
    (a, b), _ = driver([x + tt.constant([1.0, np.nan]), x + tt.constant([1.0, np.nan])], MERGE)
    assert a is b


def test_merged_graphs_keep_their_values(driver):
    for seed in range(5):
        inputs, outputs = random_graph(seed)
        doubled = [*outputs, *tg.graph.clone(inputs, outputs, copy_inputs=False)[1]]
        merged, _ = driver(doubled, MERGE)
        assert merged[:3] == merged[3:] and len(toposort(merged)) <= len(toposort(outputs))
        assert_same_values(doubled, merged, values_for(inputs, seed))


def test_several_outputs_of_one_node_stay_apart(driver):
    (a, b, c, d), _ = driver([*Halves()(x), *Halves()(x)], MERGE)
    assert a is c and b is d and a is not b
