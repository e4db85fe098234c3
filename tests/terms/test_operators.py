"""One set of operators for Variables, logic variables and pattern terms."""

import operator

import numpy as np
import pytest

import termgraph.tensor as tt
from termgraph.graph import Variable
from termgraph.terms import Operators, PatternOperators, Term, bind_operators, var

BINARY = {
    operator.add: "add", operator.sub: "sub", operator.mul: "mul", operator.truediv: "true_div", operator.floordiv: "int_div",
    operator.mod: "mod", operator.pow: "pow", operator.and_: "and_", operator.or_: "or_", operator.xor: "xor",
    operator.matmul: "matmul",
}
ORDER = {operator.lt: "lt", operator.le: "le", operator.gt: "gt", operator.ge: "ge"}
UNARY = {operator.neg: "neg", operator.invert: "invert", abs: "abs"}


class Recorder(Operators):
    """Its functions return their name and arguments."""


def recording(name):
    return lambda *args: (name, *args)


bind_operators(Recorder, {name: recording(name) for name in [*BINARY.values(), *ORDER.values(), *UNARY.values(), "getitem"]})


@pytest.mark.parametrize(("operate", "name"), [*BINARY.items(), *ORDER.items()], ids=lambda o: getattr(o, "__name__", str(o)))
def test_binary(operate, name):
    a, b = Recorder(), Recorder()
    assert operate(a, b) == (name, a, b)
    assert operate(a, 2) == (name, a, 2)


@pytest.mark.parametrize(("operate", "name"), BINARY.items(), ids=lambda o: getattr(o, "__name__", str(o)))
def test_reflected(operate, name):
    a = Recorder()
    assert operate(2, a) == (name, 2, a)


def test_a_reflected_comparison_is_turned_round():
    a = Recorder()
    assert operator.lt(2, a) == ("gt", a, 2)


@pytest.mark.parametrize(("operate", "name"), UNARY.items(), ids=lambda o: getattr(o, "__name__", str(o)))
def test_unary(operate, name):
    a = Recorder()
    assert operate(a) == (name, a)


def test_plus_and_indexing():
    a = Recorder()
    assert +a is a
    assert a[1:, 0] == ("getitem", a, (slice(1, None), 0))


def test_equality_stays_identity():
    a, b = Recorder(), Recorder()
    assert a == a and a != b and len({a, b}) == 2
    x = tt.dvector("x")
    assert (x == tt.dvector("x")) is False


def test_numpy_leaves_the_operation_to_us():
    a = Recorder()
    array = np.arange(2)
    assert (array + a)[0] == "add" and (np.float64(2) * a)[0] == "mul"
    x = tt.dvector("x")
    assert isinstance(array + x, Variable) and isinstance(array @ x, Variable)
    assert isinstance(np.float64(2) * var("a"), Term)


@pytest.mark.parametrize("operate", [*BINARY, *ORDER], ids=lambda o: o.__name__)
def test_the_same_operator_builds_graphs_and_patterns(operate):
    integers = operate in (operator.and_, operator.or_, operator.xor)
    x, y = (tt.lmatrix("x"), tt.lmatrix("y")) if integers else (tt.dmatrix("x"), tt.dmatrix("y"))
    a, b = var("a"), var("b")
    graph, pattern = operate(x, y), operate(a, b)
    assert isinstance(pattern, Term) and pattern.args == (a, b)
    assert isinstance(graph, Variable) and graph.owner.inputs == [x, y]
    assert operate(a, y).args == (a, y) and operate(x, b).args == (x, b)


@pytest.mark.parametrize("operate", [o for o in BINARY if o is not operator.matmul], ids=lambda o: o.__name__)
def test_heads_agree(operate):
    x = tt.lscalar("x")
    a = var("a")
    assert operate(x, x).head is operate(a, a).head
    assert operate(2, a).args == (2, a)


def test_pattern_operators_are_bound():
    assert issubclass(Term, PatternOperators) and PatternOperators.functions["add"] is tt.add
