"""Constant folding: what is computed while compiling, and what is not."""

import numpy as np
import pytest

import termgraph as tg
import termgraph.tensor as tt
from termgraph.graph import Apply, Constant, Op
from termgraph.rewrite import RuleSet
from termgraph.rules.constant import LARGEST

FOLD = RuleSet([tg.rules.ALL["fold"]])
x = tt.dvector("x")


class Counting(Op):
    """Adds one; counts how often it is computed; does not fold where told so."""

    __props__ = ("fold",)
    computed = 0

    def __init__(self, fold):
        self.fold = fold

    def make_node(self, v):
        v = tt.as_tensor_variable(v)
        return Apply(self, [v], [v.type()])

    def perform(self, node, inputs, output_storage):
        Counting.computed += 1
        output_storage[0][0] = inputs[0] + 1

    def do_constant_folding(self, fgraph, node):
        return self.fold


def folded(term):
    return tg.rewrite_graph(term, FOLD)[0]


@pytest.mark.parametrize("term", [
    tt.exp(tt.constant(2.0)), tt.constant(2) + 3, tt.constant([1.0, 2.0]) * tt.constant([[1.0], [2.0]]),
    tt.sum(tt.constant(np.eye(3)), axis=0), tt.constant(np.arange(6).reshape(2, 3)).T, tt.lt(tt.constant(1.0), 2.0),
    tt.dot(tt.constant(np.eye(2)), tt.constant(np.ones((2, 2)))), tt.log(tt.constant(0.0)), tt.constant(np.ones(3))[1],
    tt.cast(tt.constant([1.5, 2.5]), "int8"), tt.sqrt(tt.constant(np.float32(2))), tt.zeros((2, 3)) + 1,
    tt.constant(np.ones((0, 3))) * 2,
], ids=lambda v: getattr(v, "__name__", str(v)))
def test_a_term_of_constants_becomes_its_value(term):
    with np.errstate(all="ignore"):
        result = folded(term)
        (expected,) = tg.graph.evaluate([term], {})
    assert isinstance(result, Constant) and result.type == term.type
    assert result.data.dtype == expected.dtype and result.data.shape == expected.shape
    np.testing.assert_array_equal(result.data, expected)


def test_only_the_constant_part_of_a_term():
    result = folded(tt.exp(x * (tt.constant(2.0) + 3) - tt.log(tt.constant([1.0]))))
    assert tg.pprint(result).startswith("exp(x * ") and not [n for n in tg.graph.toposort([result]) if n.op in (tt.log, tt.add)]


def test_a_nan_folds_and_ends():
    with np.errstate(all="ignore"):
        result, report = tg.rewrite_graph(tt.sqrt(tt.constant(-1.0)) + 1, FOLD)
    assert np.isnan(result.data) and report.stop_reason == "equilibrium" and report.fires >= 2


def test_a_folded_value_cannot_be_written_to():
    result = folded(tt.constant([1.0, 2.0]).T + 0)
    with pytest.raises(ValueError, match="read-only"):
        result.data[0] = 5


def test_large_arrays_are_not_made():
    small, large = tt.alloc(0.0, LARGEST), tt.alloc(0.0, LARGEST + 1)
    assert isinstance(folded(small), Constant)
    assert folded(large) is large
    huge = tt.zeros((10 ** 6, 10 ** 6)) + 1.0  # would not fit into memory
    assert not isinstance(folded(huge), Constant) and folded(huge).type == huge.type


def test_but_where_the_inputs_are_as_large_they_may_be():
    data = tt.constant(np.arange(float(LARGEST + 2)))
    assert isinstance(folded(tt.exp(-data)), Constant)
    assert isinstance(folded(tt.sum(data)), Constant)


def test_an_op_may_decline():
    Counting.computed = 0
    term = Counting(False)(tt.constant(1.0))
    assert folded(term) is term and Counting.computed == 0
    result = folded(Counting(True)(Counting(True)(tt.constant(1.0))))
    assert result.data == 3 and Counting.computed == 2


def test_nothing_without_inputs_and_nothing_with_variables_is_folded():
    for term in (x * 2, x[0], tt.exp(x)):
        report = tg.rewrite_graph(term, FOLD)[1]
        assert not [step for step in report.steps if tg.graph.Constant is not type(step.after) and step.before is term]
    s = tt.dscalar("s")
    term = s + 2.0
    assert folded(term) is term


def test_equal_results_are_one_constant():
    a, b = tg.rewrite_graph([tt.exp(tt.constant(0.0)), tt.constant(0.5) + 0.5], FOLD)[0]
    assert a is b
