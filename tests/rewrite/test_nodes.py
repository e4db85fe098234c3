"""The hash-consing table: within one, equal terms are one Variable."""

import numpy as np
import pytest

import termgraph as tg
import termgraph.tensor as tt
from termgraph.graph import Apply, Op, toposort
from termgraph.rewrite import RuleSet, normalize
from termgraph.rewrite.nodes import NodeTable

x, y = tt.dvectors("x", "y")
s = tt.dscalar("s")


class Halves(Op):
    __props__ = ()

    def make_node(self, v):
        return Apply(self, [v], [v.type(), v.type()])


def test_equal_terms_are_one_variable():
    table = NodeTable()
    first, second = table.intern(tt.exp(x + y) * 2), table.intern(tt.exp(x + y) * 2)
    assert first is second and table.intern(tt.exp(y + x) * 2) is not first
    assert table.make(tt.exp, [table.intern(x + y)]) is first.owner.inputs[0]


def test_interning_keeps_what_is_new_and_does_not_change_it():
    table = NodeTable()
    term = tt.exp(x + y)
    assert table.intern(term) is term and table.intern(x) is x
    other = tt.log(tt.exp(x + y))
    copied = table.intern(other)
    assert copied is not other and copied.owner.inputs[0] is term and other.owner.inputs[0] is not term


def test_looking_up_makes_nothing():
    table = NodeTable()
    assert table.lookup(tt.exp.canonical, (x,)) is None and table.lookup(tt.exp.canonical, (x,)) is None
    term = table.make(tt.exp, [x])
    assert table.lookup(tt.exp.canonical, (x,)) is term and table.lookup(tt.log.canonical, (x,)) is None


@pytest.mark.parametrize(("a", "b", "same"), [
    (1.0, 1.0, True), (1.0, 1, False), (0.0, -0.0, False), (np.nan, np.nan, True), (1, True, False),
    (np.float32(1), np.float64(1), False), ([1.0, 2.0], [1.0, 2.0], True), ([1.0], 1.0, False), ([1.0, 2.0], [2.0, 1.0], False),
])
def test_constants_are_one_where_they_cannot_be_told_apart(a, b, same):
    table = NodeTable()
    a, b = tt.constant(np.asarray(a)), tt.constant(np.asarray(b))
    assert (table.leaf(a) is table.leaf(b)) is same
    p, q = table.intern(tt.exp(a)), table.intern(tt.exp(b))
    assert (p is q) is same


def test_every_output_of_a_node_is_interned():
    table = NodeTable()
    first, second = map(table.intern, Halves()(x))
    again, too = map(table.intern, Halves()(x))
    assert first is again and second is too and first is not second
    assert table.make(second.head, [x]) is second and table.make(first.head, [x]) is first


def test_numbers_become_constants_of_the_fitting_dtype():
    table, f = NodeTable(), tt.fvector("f")
    term = table.make(tt.add, [f, 2])
    assert term.type.dtype == "float32" and table.make(tt.add, [f, 2]) is term
    g = tt.fscalar("g")
    assert table.intern(g + 2) is table.make(tt.add, [g, 2])
    assert table.make(tt.add, [g, 1]) is not table.make(tt.add, [g, True])


def test_types_are_remembered_by_op_and_input_types():
    table = NodeTable()
    fixed = tt.dvector("f", shape=(3,))
    for _ in range(2):
        assert table.make(tt.add, [x, y]).type.shape == (None,)
        assert table.make(tt.add, [x, fixed]).type.shape == (3,)
        assert table.make(tt.add, [x, s]).type.shape == (None,) and table.make(tt.add, [x, s]).owner.inputs[1] is not s
        assert table.make(tt.lt, [x, y]).type.dtype == "bool"
    with pytest.raises(TypeError):
        table.make(tt.and_, [x, y])


def test_a_deep_graph_is_interned_without_recursion(deep):
    _, term = deep
    table = NodeTable()
    assert table.intern(term) is term
    copy, _ = normalize([term], RuleSet(), fresh=True)
    assert copy[0] is not term and table.intern(copy[0]) is term


def test_names_are_kept():
    named = tt.exp(x)
    named.name = "result"
    (copy,), _ = normalize([named], RuleSet(), fresh=True)
    assert copy is not named and copy.name == "result"
    (merged,), _ = normalize([tt.sin(named)], tg.rules.ALL.filter(phase="simplify"))
    assert merged.owner.inputs[0].name == "result" and len(toposort([merged])) == 2
