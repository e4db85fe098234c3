"""Expression tuples of Variables, and back."""

import pytest
from etuples import etuple
from etuples.core import ExpressionTuple

import termgraph.tensor as tt
from termgraph.graph import Apply, Op
from termgraph.terms import etuplize, from_etuple, var


class Halves(Op):
    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type(), x.type()])


@pytest.fixture
def xy():
    return tt.dscalars("x", "y")


def test_etuplize(xy):
    x, y = xy
    expression = etuplize(tt.exp(x) * y)
    assert isinstance(expression, ExpressionTuple) and len(expression) == 3
    assert expression[0] is tt.mul.canonical and expression[2] is y
    assert tuple(expression[1]) == (tt.exp.canonical, x)


def test_a_leaf_stays_as_it_is(xy):
    two = tt.constant(2.0)
    assert etuplize(xy[0]) is xy[0] and etuplize(two) is two


def test_every_part_remembers_its_variable(xy):
    x, y = xy
    inner = tt.exp(x)
    z = inner * y
    expression = etuplize(z)
    assert expression.evaled_obj is z and expression[1].evaled_obj is inner
    assert from_etuple(expression) is z and from_etuple(expression[1]) is inner and from_etuple(x) is x


def test_an_output_of_several(xy):
    _, second = Halves()(xy[0])
    expression = etuplize(second)
    assert expression[0] is second.head and from_etuple(expression) is second
    built = from_etuple(etuple(expression[0], xy[1]))
    assert built.index == 1 and built.owner.inputs == [xy[1]]


def test_a_changed_etuple_builds_a_new_graph(xy):
    x, y = xy
    inner = tt.exp(x)
    parts = etuplize(inner * y)
    built = from_etuple(etuple(tt.add, parts[1], 2.0))
    assert built.owner.op == tt.add and built.owner.inputs[0] is inner and built.owner.inputs[1].data == 2


def test_from_patterns_and_tuples(xy):
    x, y = xy
    assert from_etuple((tt.add, x, (tt.exp, y))).owner.inputs[1].owner.inputs == [y]
    with pytest.raises(ValueError, match="~a is not bound"):
        from_etuple(tt.exp(var("a")))
    with pytest.raises(ValueError, match="denotes a Variable"):
        from_etuple(3)


def test_deep(deep):
    x, y = deep
    expression = etuplize(y)
    depth, part = 0, expression
    while isinstance(part, ExpressionTuple):
        depth, part = depth + 1, part[1]
    assert depth == 100_000 and part is x
    assert from_etuple(expression) is y


def test_what_is_shared_stays_shared(xy):
    z = xy[0]
    for _ in range(50):
        z = z + z
    part = expression = etuplize(z)
    for _ in range(50):
        assert part[1] is part[2]
        part = part[1]
    assert part is xy[0] and from_etuple(expression) is z
