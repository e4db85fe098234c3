"""dprint: exact drawings, ids, limits, and graphs too deep for recursion."""

import io
from types import SimpleNamespace

import pytest

import termgraph.tensor as tt
from termgraph.errors import GraphTypeError
from termgraph.graph import Apply, FunctionGraph, Op
from termgraph.printing import debugprint, dprint
from termgraph.printing.dprint import DRAWN_LEVELS, letters


class Twins(Op):
    """Two outputs, the first of them a view and the second in the memory of the input."""

    __props__ = ("weight",)
    view_map = {0: [0]}  # noqa: RUF012
    destroy_map = {1: [0]}  # noqa: RUF012

    def __init__(self, weight=3):
        self.weight = weight

    def make_node(self, x):
        return Apply(self, [x], [x.type(), x.type()])


def drawn(*lines):
    return "\n".join(lines)


def text(graph_like, **kwargs):
    return dprint(graph_like, file="str", **kwargs)


@pytest.fixture
def shared():
    x = tt.dscalar("x")
    y = tt.exp(x)
    return x, y, y * (y + 2.0)


def test_tree_with_a_shared_node(shared):
    assert text(shared[2]) == drawn(
        "Mul [id A]",
        " ├─ Exp [id B]",
        " │  └─ x [id C]",
        " └─ Add [id D]",
        "    ├─ Exp [id B] ···",
        "    └─ 2.0 [id E]",
    )


def test_leaves():
    assert text(tt.dvector("v")) == "v [id A]"
    assert text(tt.dvector()) == "<Vector(float64, shape=(?,))> [id A]"
    assert text(tt.constant(2.0)) == "2.0 [id A]"
    assert text(tt.constant(2.0, name="two")) == "two [id A]"


def test_a_leaf_used_twice_has_one_id():
    x = tt.dscalar("x")
    assert text(x + x) == drawn("Add [id A]", " ├─ x [id B]", " └─ x [id B]")


def test_several_roots_share_ids(shared):
    x, y, z = shared
    assert text([y, z]).splitlines()[3] == " ├─ Exp [id A] ···"
    assert text((y, [x])) == drawn("Exp [id A]", " └─ x [id B]", "x [id B]")


def test_depth(shared):
    z = shared[2]
    assert text(z, depth=0) == ""
    assert text(z, depth=1) == "Mul [id A]"
    assert text(z, depth=2) == drawn("Mul [id A]", " ├─ Exp [id B]", " └─ Add [id C]")


def test_a_node_cut_by_the_depth_is_expanded_where_it_is_nearer():
    x = tt.dscalar("x")
    y = tt.exp(x)
    assert text(tt.sin(y) + y, depth=3) == drawn(
        "Add [id A]",
        " ├─ Sin [id B]",
        " │  └─ Exp [id C]",
        " └─ Exp [id C]",
        "    └─ x [id D]",
    )


def test_several_outputs_names_and_maps():
    x = tt.dvector("x")
    node = Twins().make_node(x)
    node.outputs[0].name = "one"
    assert text(node) == drawn(
        "Twins{weight=3}.0 [id A] 'one'", " └─ x [id B]", "Twins{weight=3}.1 [id A] ···",
    )
    assert text(node.outputs[1], depth=1, print_destroy_map=True) == "Twins{weight=3}.1 [id A] d={1: [0]}"
    assert text(node.outputs[1], depth=1, print_view_map=True) == "Twins{weight=3}.1 [id A] v={0: [0]}"
    assert text(node.outputs[1], depth=1, print_op_info=True) == "Twins{weight=3}.1 [id A] Twins(weight=3)"


def test_types_and_shapes():
    x = tt.tensor("x", shape=(None, 3))
    assert text(x, print_type=True) == "x [id A] <Matrix(float64, shape=(?, 3))>"
    assert text(tt.exp(x), print_shape=True, depth=1) == "Exp [id A] shape=(?, 3)"
    assert text(tt.dvector("v"), print_shape=True) == "v [id A] shape=(?,)"


def test_stop_on_name(shared):
    _, y, z = shared
    y.name = "y"
    assert text(z, stop_on_name=True) == drawn(
        "Mul [id A]", " ├─ Exp [id B] 'y'", " └─ Add [id C]", "    ├─ Exp [id B] 'y'", "    └─ 2.0 [id D]")


def test_id_types(shared):
    x, y, _ = shared
    assert text(y, id_type="int") == drawn("Exp [id 0]", " └─ x [id 1]")
    assert text(y, id_type="") == drawn("Exp", " └─ x")
    assert text(x, id_type="id") == f"x [id {id(x)}]"
    with pytest.raises(ValueError, match="id_type"):
        dprint(y, id_type="hex")


def test_done_and_used_ids_go_on_between_calls(shared):
    _, y, z = shared
    done, ids = {}, {}
    text(y, done=done, used_ids=ids)
    assert done == {y.owner: "A"}
    assert text(z, done=done, used_ids=ids).splitlines()[:2] == ["Mul [id C]", " ├─ Exp [id A] ···"]


@pytest.mark.parametrize(("count", "name"), [(0, "A"), (25, "Z"), (26, "AA"), (51, "AZ"), (701, "ZZ"), (702, "AAA")])
def test_letters(count, name):
    assert letters(count) == name


def test_function_graph_and_function_show_the_order(shared):
    x, _, z = shared
    fgraph = FunctionGraph([x], [z])
    expected = drawn(
        "Mul [id A] 2",
        " ├─ Exp [id B] 0",
        " │  └─ x [id C]",
        " └─ Add [id D] 1",
        "    ├─ Exp [id B] 0 ···",
        "    └─ 2.0 [id E]",
    )
    function = SimpleNamespace(maker=SimpleNamespace(fgraph=fgraph))
    assert text(fgraph) == text(function) == text([function]) == expected
    assert text(fgraph, print_topo_order=False) == text(z)


def test_inner_graphs():
    x = tt.dscalar("x")
    a = tt.dscalar("a")

    class Inner(Op):
        __props__ = ()
        fgraph = FunctionGraph([a], [tt.exp(a)])

        def make_node(self, x):
            return Apply(self, [x], [x.type()])

    y = Inner()(x)
    assert text(y) == drawn(
        "Inner [id A]", " └─ x [id B]", "", "Inner graphs:", "", "Inner [id A]", " ← Exp [id C]", "    └─ a [id D]")
    assert "Inner graphs" not in text(y, print_inner_graphs=False)


def test_where_it_is_written(shared, capsys):
    y = shared[1]
    assert dprint(y) is None
    assert capsys.readouterr().out == text(y) + "\n"
    file = io.StringIO()
    assert dprint(y, file=file) is file
    assert file.getvalue() == text(y) + "\n"
    assert debugprint is dprint


@pytest.mark.parametrize("wrong", [3, None, "x", [3]])
def test_not_a_graph(wrong):
    with pytest.raises(GraphTypeError, match="to print"):
        dprint(wrong)


def test_deep_chain(deep):
    depth = 100_000
    lines = text(deep[1]).splitlines()
    assert len(lines) == depth + 1
    assert lines[1] == " └─ Neg [id B]"
    assert lines[-1].startswith(f"{depth}: ") and lines[-1].endswith(f"└─ x [id {letters(depth)}]")
    assert not lines[DRAWN_LEVELS][0].isdigit() and lines[DRAWN_LEVELS + 1].startswith(f"{DRAWN_LEVELS + 1}:")
    assert max(map(len, lines)) < 200


def test_a_dag_is_printed_in_the_size_of_the_dag():
    y = tt.dscalar("x")
    for _ in range(60):
        y = y + y
    assert len(text(y).splitlines()) == 2 * 60 + 1
