"""Copies and comparisons of graphs."""

import pytest

import termgraph.tensor as tt
from termgraph.errors import GraphTypeError
from termgraph.graph import (
    Apply,
    Op,
    ancestors,
    clone,
    clone_get_equiv,
    clone_replace,
    equal_computations,
    graph_inputs,
    graph_replace,
    toposort,
)


class Halves(Op):
    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type(), x.type()])


@pytest.fixture
def xy():
    return tt.dscalars("x", "y")


# --- clone ------------------------------------------------------------------------------------------------------------


def test_clone_copies_all_but_constants(xy):
    x, y = xy
    z = tt.exp(x) + y * 2.0
    (cx, cy), (cz,) = clone([x, y], [z])
    assert not {v for v in ancestors([z]) if not hasattr(v, "data")} & set(ancestors([cz]))
    assert [v for v in graph_inputs([cz]) if not hasattr(v, "data")] == [cx, cy]
    assert [v for v in graph_inputs([cz]) if hasattr(v, "data")] == [v for v in graph_inputs([z]) if hasattr(v, "data")]
    assert equal_computations([z], [cz], [x, y], [cx, cy])
    assert (cx.name, cx.type) == ("x", x.type)


def test_clone_may_keep_inputs(xy):
    x, y = xy
    z = x + y
    assert clone([x, y], [z], copy_inputs=False)[0] == [x, y]
    _, (cz,) = clone([x], [z], copy_inputs=True, copy_orphans=False)
    assert cz.owner.inputs[1] is y and cz.owner.inputs[0] is not x
    _, (cz,) = clone([x], [z], copy_inputs=False, copy_orphans=True)
    assert cz.owner.inputs[0] is x and cz.owner.inputs[1] is not y


def test_clone_cuts_at_inputs_that_something_computes(xy):
    x, y = xy
    inner = tt.exp(x)
    (ci,), (cz,) = clone([inner], [inner * y])
    assert ci.owner is None and cz.owner.inputs[0] is ci


def test_outputs_that_are_inputs_or_orphans(xy):
    x, y = xy
    (cx,), outputs = clone([x], [x, y])
    assert outputs[0] is cx and outputs[1] is not y


def test_equiv_maps_variables_and_nodes(xy):
    x, y = xy
    first, second = Halves()(x)
    equiv = clone_get_equiv([x], [first * y])
    assert equiv[first.owner].inputs == [equiv[x]]
    assert equiv[first.owner].outputs == [equiv[first], equiv[second]]


def test_memo_is_respected_and_filled(xy):
    x, y = xy
    memo = {x: y}
    equiv = clone_get_equiv([], [tt.exp(x)], memo=memo)
    assert equiv is memo
    assert next(v for k, v in memo.items() if k is not x and v is not y and isinstance(k, Apply)).inputs == [y]


# --- graph_replace ----------------------------------------------------------------------------------------------------


def test_graph_replace_shares_what_does_not_change(xy):
    x, y = xy
    kept = tt.exp(y)
    z = tt.sin(x) * kept
    new = graph_replace(z, {x: y})
    assert new.owner.inputs[1] is kept
    assert new.owner.inputs[0].owner.inputs == [y]
    assert z.owner.inputs[0].owner.inputs == [x]
    assert graph_replace(z, {tt.dscalar(): y}) is z


def test_graph_replace_is_simultaneous(xy):
    x, y = xy
    swapped = graph_replace(x - y, {x: y, y: x})
    assert swapped.owner.inputs == [y, x]


def test_graph_replace_takes_pairs_and_sequences(xy):
    x, y = xy
    outputs = graph_replace([x, tt.exp(x), y], [(x, y)])
    assert outputs[0] is y and outputs[1].owner.inputs == [y] and outputs[2] is y


def test_graph_replace_of_what_is_computed(xy):
    x, y = xy
    inner = tt.exp(x)
    assert graph_replace(inner + x, {inner: y}).owner.inputs == [y, x]
    first, second = Halves()(x)
    new = graph_replace(first + second, {first: y})
    assert new.owner.inputs == [y, second]


def test_graph_replace_checks_types(xy):
    x, _ = xy
    with pytest.raises(GraphTypeError):
        graph_replace(tt.exp(x), {x: tt.dvector()})
    v = tt.dvector("v")
    assert graph_replace(tt.exp(v), {v: tt.tensor(dtype="float64", shape=(3,))}).type.shape == (3,)


def test_clone_replace(xy):
    x, y = xy
    z = tt.exp(x)
    assert clone_replace(z) is z
    assert clone_replace(z, {x: y}).owner.inputs == [y]


# --- equal_computations -----------------------------------------------------------------------------------------------


def test_equal_computations(xy):
    x, y = xy
    assert equal_computations([tt.exp(x) + y], [tt.exp(x) + y])
    assert not equal_computations([x + y], [y + x])
    assert not equal_computations([tt.exp(x)], [tt.exp(y)])
    assert not equal_computations([tt.exp(x)], [tt.sin(x)])
    assert not equal_computations([x, x], [x])
    assert equal_computations([], [])
    assert equal_computations([x + 2.0], [x + tt.constant(2.0)])
    assert not equal_computations([x + 2.0], [x + 3.0])
    first, second = Halves()(x)
    assert not equal_computations([first], [second])
    assert equal_computations([second], [Halves()(x)[1]])


def test_equal_but_for_the_inputs(xy):
    x, y = xy
    a, b = tt.dscalars("a", "b")
    assert equal_computations([x - y], [a - b], [x, y], [a, b])
    assert not equal_computations([x - y], [a - b], [x, y], [b, a])
    assert not equal_computations([x - y], [a - b], [x], [a])
    assert equal_computations([x - y], [y - x], [x, y], [y, x])
    assert not equal_computations([x], [a], [x, y], [a])
    assert not equal_computations([x], [tt.dvector()], [x], [tt.dvector()])


def test_an_input_of_one_graph_may_be_a_leaf_of_the_other(xy):
    x, y = xy
    assert not equal_computations([x + y], [y + y], [x], [y])
    assert equal_computations([x + x], [y + y], [x], [y])
    inner = tt.exp(x)
    assert not equal_computations([tt.sin(inner)], [tt.sin(y)], [inner], [x])
    assert equal_computations([tt.sin(inner)], [tt.sin(y)], [inner], [y])


def test_type_matters():
    assert not equal_computations([tt.constant(1)], [tt.constant(1.0)])
    assert not equal_computations([tt.constant(1)], [tt.constant(True)])
    assert equal_computations([tt.constant(float("nan"))], [tt.constant(float("nan"))])


# --- deep and shared --------------------------------------------------------------------------------------------------


def test_deep(deep):
    x, y = deep
    (cx,), (cy,) = clone([x], [y])
    assert len(toposort([cy])) == 100_000 and list(graph_inputs([cy])) == [cx]
    assert equal_computations([y], [cy], [x], [cx])
    assert not equal_computations([y], [cy])
    other = tt.dscalar("other")
    assert list(graph_inputs([graph_replace(y, {x: other})])) == [other]
    assert list(graph_inputs([y])) == [x]


def test_shared(xy):
    x, y = xy
    z = x
    for _ in range(100):
        z = z + z
    new = graph_replace(z, {x: y})
    assert len(toposort([new])) == 100
    assert equal_computations([z], [new], [x], [y])
    assert not equal_computations([z], [new])
