import pickle

import termgraph.tensor as tt
from termgraph.compile import ifelse, shared
from termgraph.compile.flat import flatten, unflatten
from termgraph.graph import equal_computations


def test_a_graph_comes_back_the_same():
    x, y = tt.vector("x"), tt.matrix("y")
    outputs = [tt.exp(x) + y * 2, x.sum(), x]
    outputs[0].name = "out"
    x2, y2, *again = unflatten(pickle.loads(pickle.dumps(flatten([x, y, *outputs]))))
    assert equal_computations(outputs, again, [x, y], [x2, y2])
    assert again[2] is x2
    assert (again[0].name, x2.name) == ("out", "x")


def test_constants_and_shared_values_come_along():
    s = shared([1.0], "s")
    [y] = unflatten(flatten([s + tt.constant([2.0])]))
    left, right = y.owner.inputs
    assert left.container is s.container
    assert right.equals(tt.constant([2.0]))


def test_inputs_cut_the_graph():
    x = tt.vector("x")
    inner = tt.exp(x)
    inner2, y2 = unflatten(flatten([inner, inner + 1], [inner]))
    assert inner2.owner is None
    assert y2.owner.inputs[0] is inner2


def test_all_outputs_of_a_node_stay_together():
    x = tt.vector("x")
    c = tt.scalar("c")
    a, b = ifelse(c, [x, x + 1], [x * 2, x])
    b2, a2 = unflatten(flatten([b, a]))
    assert a2.owner is b2.owner
    assert (a2.index, b2.index) == (0, 1)
