"""Apply: invariants, and copies on other inputs."""

import pytest

import termgraph.tensor as tt
from termgraph.errors import GraphTypeError
from termgraph.graph import Apply, Op


class Fork(Op):
    """As many copies of the input as asked for."""

    __props__ = ("count", "default_output")

    def __init__(self, count, default_output=None):
        self.count, self.default_output = count, default_output

    def make_node(self, x):
        return Apply(self, [x], [x.type() for _ in range(self.count)])


@pytest.fixture
def x():
    return tt.vector("x")


def test_invariants(x):
    node = Fork(3, default_output=1).make_node(x)
    assert [o.owner for o in node.outputs] == [node] * 3
    assert [o.index for o in node.outputs] == [0, 1, 2]
    assert node.outputs[1].head is node.op.canonical
    assert [o.head.index for o in (node.outputs[0], node.outputs[2])] == [0, 2]
    assert (node.nin, node.nout, node.get_parents()) == (1, 3, [x])


@pytest.mark.parametrize(("inputs", "outputs", "problem"), [
    ([1], [], "input 0 .*must be a Variable"), ([], ["y"], "output 0 .*must be a Variable"),
    (iter([]), [], "takes sequences"), ([], iter([]), "takes sequences"),
])
def test_what_is_no_apply(inputs, outputs, problem):
    with pytest.raises(GraphTypeError, match=problem):
        Apply(Fork(1), inputs, outputs)


def test_an_output_belongs_to_one_node(x):
    y = tt.exp(x)
    with pytest.raises(GraphTypeError, match="already belongs"):
        Apply(Fork(1), [x], [y])


def test_the_lists_are_its_own(x):
    inputs, outputs = [x], [x.type()]
    node = Apply(Fork(1), inputs, outputs)
    inputs.clear()
    outputs.clear()
    assert (node.nin, node.nout) == (1, 1)


def test_default_output(x):
    assert Fork(1).make_node(x).default_output().index == 0
    assert Fork(2, default_output=1).make_node(x).out.index == 1
    with pytest.raises(ValueError, match="2 outputs and no default_output"):
        Fork(2).make_node(x).default_output()


def test_trusted_makes_what_the_constructor_makes(x):
    plain = Fork(2).make_node(x)
    fast = Apply.trusted(plain.op, [x], [o.type for o in plain.outputs], plain.trace)
    assert [(o.owner, o.index, o.head, o.type, type(o)) for o in fast.outputs] == \
        [(fast, o.index, o.head, o.type, type(o)) for o in plain.outputs]


def test_clone(x):
    node = Fork(2).make_node(x)
    node.outputs[0].name = "left"
    copy = node.clone()
    assert copy.op is node.op and copy.inputs == node.inputs and copy.inputs is not node.inputs
    assert not set(copy.outputs) & set(node.outputs)
    assert copy.outputs[0].name == "left"


def test_new_inputs_of_the_same_type(x):
    y = tt.vector("y")
    node = tt.exp(x).owner
    copy = node.clone_with_new_inputs([y])
    assert copy.inputs == [y] and node.inputs == [x] and copy.outputs[0].type == node.outputs[0].type


def test_a_strict_clone_takes_inputs_whose_values_fit_the_old_type(x):
    known = tt.tensor("k", shape=(3,))
    copy = tt.exp(x).owner.clone_with_new_inputs([known])
    assert copy.inputs == [known] and tt.exp(x).type.is_super(copy.outputs[0].type)
    with pytest.raises(GraphTypeError):
        tt.exp(x).owner.clone_with_new_inputs([tt.matrix("m")])


def test_a_clone_that_is_not_strict_types_its_outputs_anew(x):
    matrix = tt.matrix("m")
    copy = tt.exp(x).owner.clone_with_new_inputs([matrix], strict=False)
    assert copy.outputs[0].type == matrix.type


def test_as_many_inputs_as_before(x):
    with pytest.raises(ValueError, match="zip"):
        tt.exp(x).owner.clone_with_new_inputs([x, x])


def test_str(x):
    assert str(tt.exp(x + x).owner) == repr(tt.exp(x + x).owner) == "Exp(Add.out)"


def test_the_trace_is_the_users_line(x):
    assert tt.exp(x).owner.trace[0].co_name == "test_the_trace_is_the_users_line"
