"""FunctionGraph: its invariants under every change, and bad changes that leave it as it was."""

import numpy as np
import pytest

import termgraph.tensor as tt
from termgraph.errors import GraphTypeError, InconsistentGraphError, MissingInputError
from termgraph.graph import (
    Apply,
    Constant,
    Feature,
    FunctionGraph,
    Op,
    Output,
    ancestors,
    equal_computations,
    evaluate,
    toposort,
)
from termgraph.tensor import TensorType
from termgraph.tensor.variable import TensorSharedVariable


class Halves(Op):
    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type(), x.type()])


class Log(Feature):
    """Remembers what it is told, and the nodes that should be there if it was told all."""

    def __init__(self):
        self.events = []
        self.nodes = set()

    def on_attach(self, fgraph):
        self.events.append(("attach",))
        self.nodes = set(fgraph.apply_nodes)

    def on_detach(self, fgraph):
        self.events.append(("detach",))

    def on_import(self, fgraph, node, reason):
        assert node not in self.nodes and node in fgraph
        self.nodes.add(node)
        self.events.append(("import", node, reason))

    def on_prune(self, fgraph, node, reason):
        assert node not in fgraph
        self.nodes.remove(node)
        self.events.append(("prune", node, reason))

    def on_change_input(self, fgraph, node, i, var, new_var, reason=None):
        assert node.inputs[i] is new_var
        self.events.append(("change", node, i, var, new_var, reason))


def snapshot(fgraph):
    """All there is to know about a FunctionGraph."""
    return (list(fgraph.inputs), list(fgraph.outputs), list(fgraph.apply_nodes), [list(n.inputs) for n in fgraph.apply_nodes],
            {v: fgraph.get_clients(v) for v in fgraph.variables}, [v.name for v in fgraph.variables])


@pytest.fixture
def xy():
    return tt.dscalars("x", "y")


# --- construction -----------------------------------------------------------------------------------------------------


def test_clients(xy):
    x, y = xy
    a = tt.exp(x)
    b = a * a
    fgraph = FunctionGraph([x, y], [b, a], clone=False)
    fgraph.check_integrity()
    assert fgraph.clients[x] == [(a.owner, 0)]
    assert fgraph.clients[y] == []
    assert fgraph.get_clients(a)[:2] == [(b.owner, 0), (b.owner, 1)]
    (place, position), = fgraph.clients[b]
    assert place.op == Output(0) and place.inputs == [b] and position == 0
    assert set(fgraph.variables) == {x, y, a, b} == set(fgraph.clients) and len(fgraph.clients) == 4
    assert list(fgraph.apply_nodes) == fgraph.toposort() == [a.owner, b.owner]
    assert a in fgraph and a.owner in fgraph and tt.exp(x) not in fgraph and tt.exp(x).owner not in fgraph


def test_by_default_the_users_graph_is_copied(xy):
    x, y = xy
    z = tt.exp(x) + y
    before = (z.owner, list(z.owner.inputs), list(z.owner.inputs[0].owner.inputs))
    fgraph = FunctionGraph([x, y], [z])
    assert not {x, y, z} & set(fgraph.variables) and z.owner not in fgraph
    fgraph.replace(fgraph.outputs[0].owner.inputs[0], fgraph.inputs[1])
    fgraph.check_integrity()
    assert (z.owner, list(z.owner.inputs), list(z.owner.inputs[0].owner.inputs)) == before
    assert equal_computations(fgraph.outputs, [y + y], fgraph.inputs, [x, y])


def test_inputs_may_be_found(xy):
    x, y = xy
    shared = TensorSharedVariable(TensorType("float64", ()), 1.0, "s")
    fgraph = FunctionGraph(outputs=[x * y + shared * 2.0], clone=False)
    assert fgraph.inputs == [x, y, shared]
    fgraph.check_integrity()


def test_an_input_may_be_computed_outside(xy):
    x, _y = xy
    inner = tt.exp(x)
    for clone in (False, True):
        fgraph = FunctionGraph([inner], [tt.sin(inner)], clone=clone)
        fgraph.check_integrity()
        assert [str(n.op) for n in fgraph.apply_nodes] == ["Sin"]
    with pytest.raises(MissingInputError):
        FunctionGraph([inner], [inner * x])


def test_bad_construction(xy):
    x, y = xy
    with pytest.raises(MissingInputError, match="y"):
        FunctionGraph([x], [x + y])
    with pytest.raises(MissingInputError):
        FunctionGraph([x], [y])
    with pytest.raises(GraphTypeError, match="x is given twice"):
        FunctionGraph([x, x], [x])
    with pytest.raises(GraphTypeError, match="needs outputs"):
        FunctionGraph([x])


@pytest.mark.parametrize("clone", [False, True])
def test_outputs_of_every_kind(xy, clone):
    x, _ = xy
    two = tt.constant(2.0)
    z = tt.exp(x)
    fgraph = FunctionGraph([x], [x, two, z, z, x], clone=clone)
    fgraph.check_integrity()
    assert len(fgraph.clients[fgraph.outputs[2]]) == 2
    assert fgraph.outputs[1] is two and fgraph.outputs[0] is fgraph.inputs[0]


def test_clone(xy):
    x, y = xy
    fgraph = FunctionGraph([x, y], [x * y, tt.exp(x)], update_mapping={1: 0})
    copy, equiv = fgraph.clone_get_equiv()
    copy.check_integrity()
    assert [equiv[v] for v in fgraph.outputs] == copy.outputs and [equiv[v] for v in fgraph.inputs] == copy.inputs
    assert not set(copy.variables) & set(fgraph.variables) and not copy.apply_nodes & fgraph.apply_nodes
    assert copy.update_mapping == {1: 0} and copy.update_mapping is not fgraph.update_mapping
    assert equal_computations(fgraph.outputs, fgraph.clone().outputs, fgraph.inputs, fgraph.clone().inputs) is False
    twin = fgraph.clone()
    assert equal_computations(fgraph.outputs, twin.outputs, fgraph.inputs, twin.inputs)


def test_repr(xy):
    assert repr(FunctionGraph(xy, [xy[0] + xy[1]])) == "FunctionGraph(Add.out)"


# --- changes ----------------------------------------------------------------------------------------------------------


def test_replace_prunes_what_nobody_reads(xy):
    x, y = xy
    kept = tt.exp(x)
    gone = tt.sin(kept + 2.0)
    fgraph = FunctionGraph([x, y], [gone * y, kept], clone=False)
    fgraph.replace(gone, kept)
    fgraph.check_integrity()
    assert {str(n.op) for n in fgraph.apply_nodes} == {"Exp", "Mul"}
    assert gone not in fgraph and not any(isinstance(v, Constant) for v in fgraph.variables)
    assert fgraph.inputs == [x, y]


def test_replace_may_use_what_it_replaced_from(xy):
    x, y = xy
    a = tt.exp(x)
    b = a + y
    fgraph = FunctionGraph([x, y], [tt.sin(b)], clone=False)
    fgraph.replace(b, a * y)
    fgraph.check_integrity()
    assert fgraph.outputs[0].owner.inputs[0].owner.inputs == [a, y]


def test_replace_an_input_and_an_output(xy):
    x, y = xy
    fgraph = FunctionGraph([x, y], [x, x + y], clone=False)
    fgraph.replace(x, y)
    fgraph.check_integrity()
    assert fgraph.outputs[0] is y and fgraph.outputs[1].owner.inputs == [y, y] and fgraph.inputs == [x, y]


def test_replace_one_output_of_a_node_with_two(xy):
    x, y = xy
    first, second = Halves()(x)
    fgraph = FunctionGraph([x, y], [first + second], clone=False)
    fgraph.replace(first, y)
    fgraph.check_integrity()
    assert first.owner in fgraph
    fgraph.replace(second, y)
    fgraph.check_integrity()
    assert first.owner not in fgraph and first not in fgraph


def test_replace_of_what_nobody_reads_changes_nothing(xy):
    x, y = xy
    first, second = Halves()(x)
    fgraph = FunctionGraph([x, y], [tt.exp(first)], clone=False)
    before = snapshot(fgraph)
    fgraph.replace(y, x + 1.0)
    fgraph.replace(second, x + 1.0)
    fgraph.replace(tt.dscalar("not here"), x)
    fgraph.replace(first, first)
    assert snapshot(fgraph) == before
    fgraph.check_integrity()


def test_the_replacement_inherits_the_name(xy):
    x, y = xy
    z = x + y
    z.name = "z"
    fgraph = FunctionGraph([x, y], [z], clone=False)
    new = x * y
    fgraph.replace(z, new)
    assert new.name == "z"
    named = x - y
    named.name = "other"
    fgraph.replace(new, named)
    assert named.name == "other"
    fgraph.replace(named, y)
    assert y.name == "y"


def test_a_more_precise_type_is_accepted():
    x = tt.dvector("x")
    fgraph = FunctionGraph([x], [tt.exp(x)], clone=False)
    fgraph.replace(x, tt.constant([1.0, 2.0]))
    fgraph.check_integrity()
    known = tt.tensor("k", dtype="float64", shape=(3,))
    fgraph = FunctionGraph([known, x], [tt.exp(known)], clone=False)
    with pytest.raises(InconsistentGraphError, match="same type"):
        fgraph.replace(known, x)


def test_change_node_input(xy):
    x, y = xy
    a = tt.exp(x)
    z = a + y
    fgraph = FunctionGraph([x, y], [z], clone=False)
    fgraph.change_node_input(z.owner, 0, y)
    fgraph.check_integrity()
    assert z.owner.inputs == [y, y] and a not in fgraph
    place = fgraph.clients[z][0][0]
    fgraph.change_node_input(place, 0, x)
    fgraph.check_integrity()
    assert fgraph.outputs == [x] and not fgraph.apply_nodes
    before = snapshot(fgraph)
    fgraph.change_node_input(place, 0, x)
    with pytest.raises(InconsistentGraphError, match="same type"):
        fgraph.change_node_input(place, 0, tt.constant(1))
    with pytest.raises(MissingInputError):
        fgraph.change_node_input(place, 0, tt.exp(tt.dscalar("foreign")))
    assert snapshot(fgraph) == before


def test_replace_all(xy):
    x, y = xy
    a, b = tt.exp(x), tt.sin(y)
    fgraph = FunctionGraph([x, y], [a + b], clone=False)
    fgraph.replace_all([(a, y), (b, x)])
    fgraph.check_integrity()
    assert fgraph.outputs[0].owner.inputs == [y, x]


def test_replace_unchecked_returns_the_places(xy):
    x, y = xy
    a = tt.exp(x)
    b = a + a
    fgraph = FunctionGraph([x, y], [b], clone=False)
    assert fgraph.replace_unchecked(a, y) == [(b.owner, 0), (b.owner, 1)]
    fgraph.check_integrity()
    assert fgraph.replace_unchecked(x, y) == []


# --- bad changes ------------------------------------------------------------------------------------------------------


def bad_replacements(fgraph, a, b):
    x = fgraph.inputs[0]
    foreign = tt.dscalar("foreign")
    yield "same type", InconsistentGraphError, a, tt.constant(1)
    yield "same type", InconsistentGraphError, a, tt.dvector("v")
    yield "cycle", InconsistentGraphError, a, tt.exp(a)
    yield "cycle", InconsistentGraphError, a, b
    yield "cycle", InconsistentGraphError, x, tt.sin(b * x)
    yield "foreign", MissingInputError, a, foreign
    yield "foreign", MissingInputError, a, tt.exp(x) * tt.sin(foreign + x)


@pytest.mark.parametrize("case", range(7))
def test_a_bad_replacement_changes_nothing(xy, case):
    x, y = xy
    a = tt.exp(x)
    b = tt.sin(a) + y
    log = Log()
    fgraph = FunctionGraph([x, y], [b, a], clone=False, features=[log])
    message, error, var, new_var = list(bad_replacements(fgraph, a, b))[case]
    before, nodes_before = snapshot(fgraph), list(new_var.owner.inputs) if new_var.owner else None
    with pytest.raises(error, match=message):
        fgraph.replace(var, new_var)
    assert snapshot(fgraph) == before
    assert log.events == [("attach",)]
    assert (list(new_var.owner.inputs) if new_var.owner else None) == nodes_before
    fgraph.check_integrity()


# --- features ---------------------------------------------------------------------------------------------------------


def test_features_are_told_of_every_change(xy):
    x, y = xy
    a = tt.exp(x)
    z = a + y
    log = Log()
    fgraph = FunctionGraph([x, y], [z], clone=False, features=[log])
    new = tt.sin(tt.cos(y))
    fgraph.replace(a, new, reason="because")
    cosine = new.owner.inputs[0]
    assert log.events == [
        ("attach",), ("import", cosine.owner, "because"), ("import", new.owner, "because"),
        ("change", z.owner, 0, a, new, "because"), ("prune", a.owner, "because"),
    ]
    fgraph.remove_feature(log)
    fgraph.replace(new, y)
    assert log.events[5:] == [("detach",)]


def test_a_feature_is_attached_once(xy):
    fgraph = FunctionGraph(xy, [xy[0]])
    log = Log()
    fgraph.attach_feature(log)
    fgraph.attach_feature(log)
    assert log.events == [("attach",)]
    fgraph.remove_feature(log)
    fgraph.remove_feature(log)
    assert log.events == [("attach",), ("detach",)]


def test_the_plain_feature_does_nothing(xy):
    x, y = xy
    fgraph = FunctionGraph(xy, [tt.exp(x) + y], features=[Feature()])
    fgraph.replace(fgraph.outputs[0], tt.sin(fgraph.inputs[0]))
    fgraph.check_integrity()


# --- integrity is really checked --------------------------------------------------------------------------------------


def test_check_integrity_sees_damage(xy):
    x, y = xy

    def fresh():
        return FunctionGraph([x, y], [tt.exp(x) + y], clone=True)

    fgraph = fresh()
    fgraph.outputs[0].owner.inputs[1] = fgraph.inputs[0]
    with pytest.raises(InconsistentGraphError, match="clients"):
        fgraph.check_integrity()
    fgraph = fresh()
    fgraph.outputs[0] = fgraph.inputs[0]
    with pytest.raises(InconsistentGraphError):
        fgraph.check_integrity()
    fgraph = fresh()
    fgraph.import_var(tt.sin(fgraph.inputs[0]))
    with pytest.raises(InconsistentGraphError, match="nodes"):
        fgraph.check_integrity()
    fgraph = fresh()
    fgraph.outputs.append(fgraph.inputs[0])
    with pytest.raises(InconsistentGraphError, match="output 1"):
        fgraph.check_integrity()


# --- random replacements ----------------------------------------------------------------------------------------------


def random_term(rng, pool, size):
    """A term over the variables of `pool`."""
    unary, binary = [tt.exp, tt.sin, tt.neg], [tt.add, tt.mul, tt.sub]
    terms = []
    for _ in range(size):
        left, right = (pool[rng.integers(len(pool))] for _ in range(2))
        if rng.random() < 0.1:
            terms.extend(Halves()(left))
        elif rng.random() < 0.4:
            terms.append(unary[rng.integers(3)](left))
        else:
            terms.append(binary[rng.integers(3)](left, right))
        pool = [*pool, terms[-1]]
    return terms


@pytest.mark.parametrize("seed", range(40))
def test_random_replacements(seed):
    rng = np.random.default_rng(seed)
    inputs = tt.dscalars("x", "y", "z")
    foreign = tt.dscalar("foreign")
    terms = random_term(rng, [*inputs, tt.constant(2.0)], 12)
    log = Log()
    fgraph = FunctionGraph(inputs, [terms[rng.integers(len(terms))] for _ in range(3)], clone=True, features=[log])
    done = refused = 0
    for _ in range(40):
        variables = list(fgraph.variables)
        var = variables[rng.integers(len(variables))]
        candidates = [variables[rng.integers(len(variables))], random_term(rng, variables, 3)[-1],
                      random_term(rng, [*fgraph.inputs, tt.constant(3.0)], 2)[-1], tt.constant(1), tt.constant(1.0),
                      random_term(rng, [*variables, foreign], 2)[-1]]
        new_var = candidates[rng.integers(len(candidates))]
        reached = set(ancestors([new_var]))
        nothing_to_do = var is new_var or not fgraph.get_clients(var)
        bad = not nothing_to_do and (var in reached or new_var.type != var.type or foreign in reached)
        before = snapshot(fgraph)
        if bad:
            with pytest.raises((InconsistentGraphError, MissingInputError)):
                fgraph.replace(var, new_var)
            assert snapshot(fgraph) == before
            refused += 1
        elif nothing_to_do:
            if var is not new_var and var in reached:
                continue
            fgraph.replace(var, new_var) if foreign not in reached and new_var.type == var.type else None
            assert snapshot(fgraph) == before
        else:
            fgraph.replace(var, new_var)
            assert var not in fgraph or not fgraph.get_clients(var)
            assert [o is new_var for o in fgraph.outputs] == [o is var or o is new_var for o in before[1]]
            done += 1
        fgraph.check_integrity()
        assert log.nodes == set(fgraph.apply_nodes) == set(toposort(fgraph.outputs, fgraph.inputs))
    assert done and refused


# --- deep -------------------------------------------------------------------------------------------------------------


def test_deep(deep):
    x, y = deep
    fgraph = FunctionGraph([x], [y])
    assert len(fgraph.apply_nodes) == len(fgraph.toposort()) == 100_000
    fgraph.check_integrity()
    copy = fgraph.clone()
    assert len(copy.apply_nodes) == 100_000
    middle = fgraph.toposort()[50_000].outputs[0]
    fgraph.replace(middle, fgraph.inputs[0])
    assert len(fgraph.apply_nodes) == 49_999
    fgraph.check_integrity()
    with pytest.raises(InconsistentGraphError, match="cycle"):
        fgraph.replace(fgraph.inputs[0], tt.neg(fgraph.outputs[0]))
    fgraph.replace(fgraph.outputs[0], fgraph.inputs[0])
    assert not fgraph.apply_nodes
    assert evaluate(copy.outputs, {copy.inputs[0]: np.asarray(3.0)}) == [3.0]
    assert len(toposort([y])) == 100_000
