"""The plain interpreter."""

import numpy as np
import pytest

import termgraph.tensor as tt
from termgraph.errors import MethodNotDefined, MissingInputError
from termgraph.graph import Apply, Op, evaluate
from termgraph.graph.evaluate import perform
from termgraph.tensor import TensorType
from termgraph.tensor.variable import TensorSharedVariable

calls = []


class DivMod(Op):
    __props__ = ()

    def make_node(self, x, y):
        return Apply(self, [x, y], [x.type(), x.type()])

    def perform(self, node, inputs, output_storage):
        calls.append(node)
        for cell, value in zip(output_storage, divmod(*inputs), strict=True):
            cell[0] = np.asarray(value)


def test_values():
    x, y = tt.dscalars("x", "y")
    assert evaluate([x * y - 1.0, x, tt.constant(5)], {x: np.asarray(3.0), y: np.asarray(2.0)}) == [5.0, 3.0, 5]
    assert evaluate([], {}) == []


def test_several_outputs_are_computed_once():
    x, y = tt.dscalars("x", "y")
    quotient, rest = DivMod()(x, y)
    calls.clear()
    assert evaluate([quotient, rest, quotient + rest], {x: np.asarray(17.0), y: np.asarray(5.0)}) == [3.0, 2.0, 5.0]
    assert calls == [quotient.owner]
    assert perform(quotient.owner, [np.asarray(9.0), np.asarray(4.0)]) == [2.0, 1.0]


def test_a_given_cuts_the_graph():
    x, y = tt.dscalars("x", "y")
    inner = tt.exp(x)
    assert evaluate([inner * y, inner], {inner: np.asarray(2.0), y: np.asarray(3.0)}) == [6.0, 2.0]


def test_a_given_output_is_not_overwritten_by_its_node():
    x, y = tt.dscalars("x", "y")
    quotient, rest = DivMod()(x, y)
    values = {x: np.asarray(17.0), y: np.asarray(5.0), quotient: np.asarray(100.0)}
    assert evaluate([quotient + rest], values) == [102.0]


def test_shared_variables_have_their_own_value_unless_given():
    s = TensorSharedVariable(TensorType("float64", ()), 4.0, "s")
    assert evaluate([s * 2.0], {}) == [8.0]
    assert evaluate([s * 2.0], {s: np.asarray(1.0)}) == [2.0]


def test_a_missing_input_is_named():
    x, y = tt.dscalars("x", "y")
    with pytest.raises(MissingInputError, match=r"y, needed by Mul"):
        evaluate([x * y], {x: np.asarray(1.0)})
    with pytest.raises(MissingInputError, match="x"):
        evaluate([x], {})


def test_an_op_without_perform():
    class Nothing(Op):
        __props__ = ()

        def make_node(self, x):
            return Apply(self, [x], [x.type()])

    x = tt.dscalar("x")
    with pytest.raises(MethodNotDefined, match="perform"):
        evaluate([Nothing()(x)], {x: np.asarray(1.0)})


def test_deep(deep):
    x, y = deep
    assert evaluate([y], {x: np.asarray(3.0)}) == [3.0]


def test_shared():
    y = x = tt.dscalar("x")
    for _ in range(100):
        y = y + y
    assert evaluate([y], {x: np.asarray(1.0)}) == [2.0 ** 100]
