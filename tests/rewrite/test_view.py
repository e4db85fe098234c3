"""What contextual goals may ask about a graph: readers, facts, and whose memory may be overwritten."""

import numpy as np
import pytest
from rewrite_helpers import graph_of, random_matrix_graph, run_overwriting, values_for

import termgraph as tg
import termgraph.tensor as tt
from termgraph.graph import evaluate
from termgraph.graph.aliasing import check_destroyed
from termgraph.rewrite import RuleSet, equilibrate
from termgraph.rewrite.goals import sole_client
from termgraph.rewrite.nodes import NodeTable
from termgraph.rewrite.view import GraphView
from termgraph.tensor import Elemwise

INPLACE = tg.rules.ALL.filter(phase="inplace")
m, k = tt.dmatrix("m"), tt.dmatrix("k")
x, y = tt.dvectors("x", "y")


def view_of(*outputs, protected=()):
    """(view, the graph's outputs); inputs are protected, as the drivers do."""
    fgraph = graph_of(list(outputs))
    return GraphView(fgraph, NodeTable(), {*fgraph.inputs, *protected}), fgraph.outputs


def test_client_count():
    e = tt.exp(x)
    view, (a, b, c, d) = view_of(tt.log(e), e + e, e, tt.sin(x))
    inner = a.owner.inputs[0]
    assert view.client_count(inner) == 4 and view.client_count(a) == 1 and view.client_count(x) == 2 and inner is c
    assert view.client_count(tt.exp(x)) == 0 and {b, d}


def test_lookup_of_a_fact():
    fgraph = graph_of([tt.exp(x)])
    table = NodeTable()
    inside = table.intern(fgraph.outputs[0])
    view = GraphView(fgraph, table)
    assert view.lookup(tt.exp.canonical, (x,)) is inside and view.lookup(tt.log.canonical, (x,)) is None


# --- destroyable ------------------------------------------------------------------------------------------------------


def test_a_value_nobody_reads_afterwards():
    view, (out,) = view_of(tt.exp(tt.sin(x)))
    assert view.destroyable(out.owner.inputs[0], out)


def test_inputs_constants_outputs_and_protected_memory_are_refused():
    view, (a, b) = view_of(tt.exp(x), tt.exp(tt.constant([1.0, 2.0])))
    assert not view.destroyable(a.owner.inputs[0], a) and not view.destroyable(b.owner.inputs[0], b)
    s = tt.sin(x)
    view, (out, inner) = view_of(tt.exp(s), s)
    assert not view.destroyable(inner, out)
    view, (out,) = view_of(tt.exp(tt.sin(x)))
    view.protected.add(out.owner.inputs[0])
    assert not view.destroyable(out.owner.inputs[0], out)


def test_views_of_them_are_refused():
    view, (a, b) = view_of(tt.exp(m.T), tt.exp(tt.constant(np.ones((2, 3))).T))
    assert not view.destroyable(a.owner.inputs[0], a) and not view.destroyable(b.owner.inputs[0], b)
    s = tt.sin(m)
    view, (out, _) = view_of(tt.exp(s), s.T)  # a view of it is an output
    assert not view.destroyable(out.owner.inputs[0], out)
    view, (out, _) = view_of(tt.exp(s.T), s)
    assert not view.destroyable(out.owner.inputs[0], out)


def test_what_is_read_later_is_refused():
    s = tt.sin(x)
    view, (out,) = view_of(tt.exp(s) + tt.cos(s))
    first, second = out.owner.inputs
    assert not view.destroyable(first.owner.inputs[0], first) and view.destroyable(second.owner.inputs[0], second)


def test_what_a_view_of_is_read_later_is_refused():
    s = tt.sin(m)
    for other in (s.T, s[::-1], s.T[::-1].T):
        view, (out,) = view_of(tt.exp(s) - tt.cos(other))
        first, second = out.owner.inputs
        assert not view.destroyable(first.owner.inputs[0], first)
        assert view.destroyable(second.owner.inputs[0], second)  # the view is the last to be read


def test_the_same_memory_through_two_inputs_is_refused():
    s = tt.sin(m)
    for term in (s * s, s * s.T, s.T * s, tt.sin(m)[::-1] * tt.sin(m)):
        view, (out,) = view_of(tg.rewrite_graph(term, tg.rules.ALL["merge"])[0])
        assert not any(view.destroyable(i, out) for i in out.owner.inputs)
    view, (out,) = view_of(tt.sin(m) * tt.cos(m).T)
    assert all(view.destroyable(i, out) for i in out.owner.inputs)


def test_what_another_node_overwrites_is_refused():
    s = tt.sin(x)
    over = Elemwise(tt.exp.scalar_op, {0: 0})
    view, (out,) = view_of(tt.log(over(s)) + tt.cos(s))
    taken = out.owner.inputs[0].owner.inputs[0]
    sine = taken.owner.inputs[0]
    reader = out.owner.inputs[1]
    assert not view.destroyable(sine, reader)
    assert view.destroyable(taken, out.owner.inputs[0])  # the overwritten memory belongs to its new owner


def test_a_leaf_or_a_stranger_computes_nothing():
    view, (out,) = view_of(tt.exp(tt.sin(x)))
    assert not view.destroyable(out.owner.inputs[0], x)
    stranger = tt.exp(tt.sin(x))
    assert not view.destroyable(stranger.owner.inputs[0], stranger)


@pytest.mark.parametrize("seed", range(60))
def test_graphs_that_overwrite_memory_compute_the_same(seed):
    inputs, outputs = random_matrix_graph(seed)
    values = values_for(inputs, seed)
    expected = evaluate(outputs, {i: v.copy() for i, v in values.items()})
    fgraph = graph_of(outputs)
    equilibrate(fgraph, INPLACE)
    fgraph.check_integrity()
    check_destroyed(fgraph, fgraph.inputs)
    for a, b in zip(expected, run_overwriting(fgraph, values), strict=True):
        np.testing.assert_array_equal(a, b)


def test_these_graphs_do_overwrite_memory():
    fires = [equilibrate(graph_of(random_matrix_graph(seed)[1]), INPLACE).fires for seed in range(60)]
    assert sum(fires) > 60 and max(fires) > 3


def test_an_input_does_not_come_to_stand_where_memory_is_overwritten():
    @tg.relation
    def drop(a):
        yield tt.sin(a), a, sole_client(a)

    @tg.relation
    def forget(a, b):
        yield tt.maximum(tt.cos(a), b), b

    fgraph = graph_of([tt.exp(tt.sin(x)) + y, tt.maximum(tt.cos(x), y)])
    equilibrate(fgraph, RuleSet([drop, forget, *INPLACE]))
    fgraph.check_integrity()
    # BUG: exp may overwrite sin(x); then x loses its other reader, sin(x) becomes x, and exp overwrites an input.
    check_destroyed(fgraph, fgraph.inputs)


def test_after_other_phases_it_stays_right():
    phases = [tg.rules.ALL.filter(phase=p) for p in ("simplify", "specialize", "inplace")]
    for seed in range(30):
        inputs, outputs = random_matrix_graph(seed)
        values = values_for(inputs, seed)
        expected = evaluate(outputs, {i: v.copy() for i, v in values.items()})
        fgraph = graph_of(outputs)
        for rules in phases:
            equilibrate(fgraph, rules)
        fgraph.check_integrity()
        check_destroyed(fgraph, fgraph.inputs)
        for a, b in zip(expected, run_overwriting(fgraph, values), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9)
