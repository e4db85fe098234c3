import pytest

import termgraph.tensor as tt
from termgraph.errors import InconsistentGraphError
from termgraph.graph import Apply, FunctionGraph, Op
from termgraph.graph.aliasing import aliases, check_destroyed, destroy_dependencies, destroy_order, view_roots


class Table(Op):
    """An op that is only its maps."""

    __props__ = ("name", "views", "destroys")

    def __init__(self, name, views=(), destroys=(), tolerated=()):
        self.name, self.views, self.destroys = name, tuple(views), tuple(destroys)
        self.view_map = {0: list(views)} if views else {}
        self.destroy_map = {0: list(destroys)} if destroys else {}
        self.destroyhandler_tolerate_aliased = list(tolerated)

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [inputs[0].type()])


view = Table("view", views=[0])
either = Table("either", views=[0, 1])
destroy = Table("destroy", destroys=[0])
read = Table("read")


@pytest.fixture
def x():
    return tt.vector("x")


def test_roots_follow_views(x):
    y = read(x)
    a, b = view(y), view(view(y))
    c = read(b)
    roots = view_roots(FunctionGraph([x], [a, c], clone=False).toposort())
    assert roots[a] is roots[b] is roots[y] is y
    assert roots[c] is c
    assert roots[x] is x


def test_a_view_of_either_input_joins_both(x):
    y = tt.vector("y")
    z = either(x, y)
    roots = view_roots([z.owner])
    assert roots[x] is roots[y] is roots[z]


def test_roots_follow_destruction_only_when_asked(x):
    y = destroy(x)
    assert view_roots([y.owner])[y] is x
    assert view_roots([y.owner], through_destroy=False)[y] is y


def test_aliases_are_the_classes(x):
    y, z = view(x), read(x)
    groups = aliases([y.owner, z.owner])
    assert {frozenset(g) for g in groups.values()} == {frozenset([x, y]), frozenset([z])}


def test_readers_run_before_the_destroyer(x):
    # The order of a plain depth-first walk would destroy first.
    a = destroy(x)
    b = read(x)
    fgraph = FunctionGraph([x], [a, b], clone=False)
    assert fgraph.toposort() == [a.owner, b.owner]
    assert destroy_order(fgraph) == [b.owner, a.owner]


def test_readers_of_views_run_before_the_destroyer(x):
    a = destroy(x)
    v = view(view(x))
    b = read(v)
    fgraph = FunctionGraph([x], [a, b], clone=False)
    order = destroy_order(fgraph)
    assert order.index(b.owner) < order.index(a.owner)
    assert set(destroy_dependencies(fgraph)[a.owner]) == {v.owner, v.owner.inputs[0].owner, b.owner}


def test_destroying_a_view_waits_for_readers_of_the_base(x):
    a = destroy(view(x))
    b = read(x)
    order = destroy_order(FunctionGraph([x], [a, b], clone=False))
    assert order.index(b.owner) < order.index(a.owner)


def test_a_chain_of_destroyers(x):
    y = x
    for _ in range(5):
        y = destroy(y)
    assert len(destroy_order(FunctionGraph([x], [y], clone=False))) == 5


def test_impossible_orders(x):
    y = read(x)
    a = destroy(y)
    with pytest.raises(InconsistentGraphError, match="both overwrite"):
        destroy_order(FunctionGraph([x], [a, destroy(y)], clone=False))
    with pytest.raises(InconsistentGraphError, match="is an output"):
        destroy_order(FunctionGraph([x], [a, view(y)], clone=False))
    # The reader of y needs the result of overwriting y.
    with pytest.raises(InconsistentGraphError, match="both before and after"):
        destroy_order(FunctionGraph([x], [read(y, a)], clone=False))


def test_reading_by_another_input_what_is_overwritten(x):
    y = read(x)
    pair = Table("pair", destroys=[0])
    with pytest.raises(InconsistentGraphError, match="input 1"):
        destroy_order(FunctionGraph([x], [pair(y, view(y))], clone=False))
    tolerant = Table("tolerant", destroys=[0], tolerated=[(0, 1)])
    assert len(destroy_order(FunctionGraph([x], [tolerant(y, y)], clone=False))) == 2


def test_protected_memory(x):
    direct, through = destroy(x), destroy(view(x))
    for output in (direct, through):
        fgraph = FunctionGraph([x], [output], clone=False)
        check_destroyed(fgraph, [])
        with pytest.raises(InconsistentGraphError, match="memory of x"):
            check_destroyed(fgraph, [x])
    with pytest.raises(InconsistentGraphError, match="must keep its value"):
        check_destroyed(FunctionGraph([], [destroy(view(tt.constant([1.0])))], clone=False), [])


def test_a_view_of_either_input_does_not_join_them_for_destruction(x):
    # z is overwritten before it may become what `either` shows, and x, which it may also show, keeps its value.
    z = destroy(read(x))
    fgraph = FunctionGraph([x], [either(x, z)], clone=False)
    check_destroyed(fgraph, [x])
    assert len(destroy_order(fgraph)) == 3
    shown = destroy(either(x, z))
    with pytest.raises(InconsistentGraphError, match="memory of x"):
        check_destroyed(FunctionGraph([x], [shown], clone=False), [x])


def test_deep_graphs(deep):
    x, y = deep
    order = FunctionGraph([x], [y], clone=False).toposort()
    assert view_roots(order)[y] is y
    z = v = read(tt.vector("v"))
    for _ in range(20_000):
        z = view(z)
    fgraph = FunctionGraph([v.owner.inputs[0]], [destroy(z)], clone=False)
    assert view_roots(fgraph.toposort())[z] is v
    assert len(destroy_order(fgraph)) == 20_002
