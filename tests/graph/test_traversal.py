"""Traversal: orders, blockers, leaves, and graphs that are deep or shared."""

import pytest

import termgraph.tensor as tt
from termgraph.errors import InconsistentGraphError
from termgraph.graph import (
    Apply,
    Op,
    ancestors,
    apply_ancestors,
    applys_between,
    explicit_graph_inputs,
    graph_inputs,
    io_toposort,
    toposort,
    vars_between,
    walk,
)
from termgraph.graph.traversal import variable_ancestors, variable_depends_on
from termgraph.tensor import TensorType
from termgraph.tensor.variable import TensorSharedVariable


class Halves(Op):
    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type(), x.type()])


@pytest.fixture
def diamond():
    x, y = tt.dscalars("x", "y")
    a = tt.exp(x)
    b, c = a + y, a * 2.0
    return x, y, a, b, c, b - c


def assert_ordered(order, outputs):
    place = {node: i for i, node in enumerate(order)}
    assert len(place) == len(order)
    assert all(i.owner is None or place[i.owner] < place[n] for n in order for i in n.inputs)
    assert all(o.owner is None or o.owner in place for o in outputs)


def test_toposort(diamond):
    *_, a, b, c, d = diamond
    assert toposort([d]) == [v.owner for v in (a, b, c, d)]
    assert toposort([c, d]) == [v.owner for v in (a, c, b, d)]
    assert toposort([]) == [] == toposort([diamond[0]])


def test_toposort_with_blockers(diamond):
    *_, a, b, c, d = diamond
    assert toposort([d], [a]) == [v.owner for v in (b, c, d)]
    assert toposort([d], {b: None}) == [v.owner for v in (a, c, d)]
    assert toposort([d], {d}) == []
    assert io_toposort([a], [d]) == list(applys_between([a], [d])) == [v.owner for v in (b, c, d)]


def test_a_node_with_several_outputs_comes_once():
    first, second = Halves()(tt.dscalar("x"))
    assert [type(n.op).__name__ for n in toposort([second + first])] == ["Halves", "Elemwise"]


def test_a_blocked_output_does_not_block_its_twin():
    x = tt.dscalar("x")
    first, second = Halves()(x)
    assert toposort([first + second], [first])[0] is second.owner
    assert toposort([tt.exp(first)], [first])[0].inputs == [first]


def test_a_cycle_is_an_error():
    x = tt.dscalar("x")
    a = tt.exp(x)
    b = tt.exp(a)
    a.owner.inputs[0] = b
    with pytest.raises(InconsistentGraphError, match="cycle"):
        toposort([b])


def test_walk_orders():
    children = {1: [2, 3], 2: [4, 5], 3: [5, 1], 4: [], 5: None}
    assert list(walk([1], children.get)) == [1, 2, 3, 4, 5]
    assert list(walk([1], children.get, bfs=False)) == [1, 2, 4, 5, 3]
    assert list(walk([3, 1, 3], children.get)) == [3, 1, 5, 2, 4]


def test_ancestors(diamond):
    x, y, a, b, c, d = diamond
    two = c.owner.inputs[1]
    assert list(ancestors([d])) == [d, b, a, x, y, c, two]
    assert list(ancestors([d], [a, c])) == [d, b, a, y, c]
    assert variable_ancestors is ancestors
    assert list(vars_between([a], [d])) == [d, b, a, y, c, two]
    assert list(apply_ancestors([b])) == [a.owner, b.owner]


def test_leaves(diamond):
    x, y, a, _b, c, d = diamond
    two = c.owner.inputs[1]
    shared = TensorSharedVariable(TensorType("float64", ()), 1.0, "s")
    assert list(graph_inputs([d])) == [x, y, two]
    assert list(graph_inputs([d], [a])) == [a, y, two]
    assert list(graph_inputs([d * shared])) == [x, y, two, shared]
    assert list(explicit_graph_inputs([d * shared])) == [x, y]
    assert list(explicit_graph_inputs([x])) == [x]


def test_variable_depends_on(diamond):
    x, y, a, b, c, d = diamond
    assert variable_depends_on(d, x) and variable_depends_on(d, d) and variable_depends_on(c, [y, a])
    assert not variable_depends_on(c, y) and not variable_depends_on(a, [d, b]) and not variable_depends_on(a, [])


def test_deep(deep):
    x, y = deep
    depth = len(toposort([y]))
    assert depth == 100_000
    assert_ordered(toposort([y]), [y])
    assert sum(1 for _ in ancestors([y])) == depth + 1
    assert sum(1 for _ in apply_ancestors([y])) == len(io_toposort([x], [y])) == depth
    assert list(graph_inputs([y])) == list(explicit_graph_inputs([y])) == [x]
    assert sum(1 for _ in vars_between([x], [y])) == depth + 1
    assert sum(1 for _ in applys_between([y.owner.inputs[0]], [y])) == 1
    assert variable_depends_on(y, x)


def test_shared():
    y = x = tt.dscalar("x")
    for _ in range(200):
        y = y + y
    assert len(toposort([y])) == 200
    assert_ordered(toposort([y]), [y])
    assert sum(1 for _ in ancestors([y])) == 201
    assert list(graph_inputs([y])) == [x]
