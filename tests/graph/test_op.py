"""Op: what `__props__` gives, canonical instances, heads of outputs, calls, and the default methods."""

import copy
import gc
import pickle
import weakref

import pytest

import termgraph.tensor as tt
from termgraph.errors import GraphTypeError, MethodNotDefined
from termgraph.graph import Apply, Op
from termgraph.graph.op import is_pattern
from termgraph.graph.symbol import Symbol
from termgraph.tensor import TensorType
from termgraph.terms import Term, var


class Scaled(Op):
    __props__ = ("by", "label")

    def __init__(self, by, label="s"):
        self.by, self.label = by, label

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] * self.by


class Rescaled(Scaled):
    """Inherits `__props__`."""


class Halves(Op):
    __props__ = ("default_output",)

    def __init__(self, default_output=None):
        self.default_output = default_output

    def make_node(self, x):
        return Apply(self, [x], [x.type(), x.type()])


class Typed(Op):
    __props__ = ()
    itypes = (TensorType("float64", ()), TensorType("int64", (None,)))
    otypes = (TensorType("float64", (None,)),)


class Bare(Op):
    """Without `__props__`: an instance is only equal to itself."""


@pytest.fixture
def x():
    return tt.vector("x")


# --- props ----------------------------------------------------------------------------------------------------------------


def test_props_make_equality_and_hash():
    assert Scaled(2) == Scaled(2) and hash(Scaled(2)) == hash(Scaled(2))
    assert Scaled(2) != Scaled(3) and Scaled(2) != Scaled(2, "t")
    assert Scaled(2) != 2
    assert len({Scaled(2), Scaled(2), Scaled(3)}) == 2


def test_a_subclass_is_another_op_even_with_inherited_props():
    assert Rescaled(2) == Rescaled(2) and hash(Rescaled(2)) == hash(Rescaled(2))
    assert Rescaled(2) != Scaled(2) and Scaled(2) != Rescaled(2)


def test_props_and_str():
    assert Scaled(2).props() == (2, "s")
    assert Scaled(2).props_dict() == {"by": 2, "label": "s"}
    assert str(Scaled(2)) == repr(Scaled(2)) == "Scaled{by=2, label='s'}"
    assert str(Typed()) == "Typed" and str(Bare()) == "Bare"


def test_an_op_without_props_is_equal_to_itself_only():
    op = Bare()
    assert op == op and op != Bare()
    assert op.canonical is op


@pytest.mark.parametrize("props", ["by", ["by"], (1,)])
def test_props_must_be_a_tuple_of_names(props):
    with pytest.raises(GraphTypeError, match="must be a tuple of attribute names"):
        type("Bad", (Op,), {"__props__": props})


def test_a_class_may_bring_its_own_equality():
    class Loose(Op):
        __props__ = ("seed",)

        def __init__(self, seed):
            self.seed = seed

        def __eq__(self, other):
            return isinstance(other, Loose)

        def __hash__(self):
            return 1

    one, two = Loose(1), Loose(2)
    assert one == two and one.canonical is two.canonical


# --- canonical instances and heads ----------------------------------------------------------------------------------------


def test_canonical_identity_is_equality():
    first, second, other = Scaled(5), Scaled(5), Scaled(6)
    assert first.canonical is second.canonical is first
    assert other.canonical is not first.canonical


def test_canonical_of_unhashable_props():
    with pytest.raises(GraphTypeError, match="cannot be hashed"):
        _ = Scaled([1]).canonical


def test_canonicals_are_not_kept_alive():
    op = Scaled(12345)
    ref = weakref.ref(op.canonical)
    del op
    gc.collect()
    assert ref() is None
    again = Scaled(12345)
    assert again.canonical is again


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda op: pickle.loads(pickle.dumps(op))])
def test_copies_have_the_same_canonical(duplicate):
    op = Scaled(7)
    original = op.canonical
    twin = duplicate(op)
    assert twin is not op and twin == op and twin.canonical is original


def test_heads(x):
    first, second = Halves()(x)
    assert isinstance(first.head, Symbol) and (first.head.op, first.head.index) == (Halves().canonical, 0)
    assert first.head is Halves()(x)[0].head
    assert first.head is not second.head
    assert str(second.head) == "Halves{default_output=None}.1"
    chosen = Halves(1)(x)
    assert chosen.index == 1 and chosen.head is Halves(1).canonical
    assert isinstance(chosen.owner.outputs[0].head, Symbol)


def test_calling_a_head_builds_that_output(x):
    y = tt.vector("y")
    head = Halves()(x)[1].head
    built = head(y)
    assert built.index == 1 and built.owner.inputs == [y] and built.head is head
    assert isinstance(head(var("a")), Term)


# --- calls ----------------------------------------------------------------------------------------------------------------


def test_call_returns_the_default_output_or_all(x):
    assert Scaled(2)(x).owner.op == Scaled(2)
    assert [o.index for o in Halves()(x)] == [0, 1]
    assert Halves(1)(x).index == 1
    assert [o.index for o in Halves(1)(x, return_list=True)] == [1]
    assert [o.index for o in Scaled(2)(x, return_list=True)] == [0]


def test_call_names_the_outputs(x):
    assert Scaled(2)(x, name="y").name == "y"
    assert [o.name for o in Halves()(x, name="h")] == ["h_0", "h_1"]


def test_call_with_a_logic_variable_builds_a_pattern(x):
    a = var("a")
    pattern = Scaled(2)(a)
    assert isinstance(pattern, Term) and pattern.args == (a,) and pattern.head is Scaled(2).canonical
    assert is_pattern(a) and is_pattern(pattern) and not is_pattern(x) and not is_pattern(1)


# --- itypes and otypes ----------------------------------------------------------------------------------------------------


def test_itypes_and_otypes_make_the_node():
    s, i = tt.dscalar("s"), tt.lvector("i")
    node = Typed().make_node(s, i)
    assert node.inputs == [s, i] and [o.type for o in node.outputs] == list(Typed.otypes)
    assert Typed().make_node(2.0, [1, 2]).inputs[1].data.tolist() == [1, 2]


def test_itypes_refuse_other_inputs():
    s, i = tt.dscalar("s"), tt.lvector("i")
    with pytest.raises(GraphTypeError, match="takes 2 inputs, got 1"):
        Typed().make_node(s)
    with pytest.raises(GraphTypeError):
        Typed().make_node(i, i)
    with pytest.raises(GraphTypeError):
        Typed().make_node(s, [1.5])


# --- defaults ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["make_node", "perform", "infer_shape", "pullback", "pushforward"])
def test_what_is_not_defined_says_so(method):
    arguments = {"make_node": 1, "perform": 3, "infer_shape": 3, "pullback": 3, "pushforward": 3}
    with pytest.raises(MethodNotDefined, match=rf"Bare does not define {method}\(\)"):
        getattr(Bare(), method)(*[None] * arguments[method])


def test_connection_pattern_and_folding(x):
    node = Halves().make_node(x)
    assert node.op.connection_pattern(node) == [[True, True]]
    assert node.op.do_constant_folding(None, node) is True


def test_the_python_thunk(x):
    node = Scaled(3).make_node(x)
    (y,) = node.outputs
    prepared = []

    class Prepared(Scaled):
        def prepare_node(self, node, storage_map, compute_map, impl):
            prepared.append(node)

    node.op = Prepared(3)
    storage, computed = {x: [2.0], y: ["old"]}, {x: [True], y: [False]}
    thunk = node.op.make_thunk(node, storage, computed, [y])
    thunk()
    assert (storage[y], computed[y], prepared) == ([6.0], [True], [node])
    storage[x][0] = 5.0
    thunk()
    assert storage[y] == [15.0]
    assert (thunk.inputs, thunk.outputs, thunk.lazy) == ([storage[x]], [storage[y]], False)


def test_no_recycling_empties_the_cell_first(x):
    seen = []

    class Watcher(Scaled):
        def perform(self, node, inputs, output_storage):
            seen.append(output_storage[0][0])
            output_storage[0][0] = inputs[0]

    node = Watcher(1).make_node(x)
    storage = {x: [1.0], node.outputs[0]: ["old"]}
    computed = {x: [True], node.outputs[0]: [False]}
    node.op.make_thunk(node, storage, computed, [])()
    storage[node.outputs[0]][0] = "old"
    node.op.make_thunk(node, storage, computed, node.outputs)()
    assert seen == ["old", None]
