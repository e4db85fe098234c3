"""Building the Variable that a term denotes."""

import pytest
from cons import cons
from etuples import etuple

import termgraph.tensor as tt
from termgraph.errors import GraphTypeError
from termgraph.graph import Apply, Op, equal_computations, toposort
from termgraph.terms import OpTerm, Term, build, var
from termgraph.terms.build import parts, resolve_head


class Halves(Op):
    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type(), x.type()])


@pytest.fixture
def xy():
    return tt.dscalars("x", "y")


@pytest.mark.parametrize("write", [
    lambda op, *args: Term(op, args), lambda op, *args: etuple(op, *args), lambda op, *args: (op, *args),
    lambda op, *args: cons(op, args),
], ids=["Term", "etuple", "tuple", "cons"])
def test_every_notation(xy, write):
    x, y = xy
    built = build(write(tt.mul, write(tt.exp, x), y))
    assert equal_computations([built], [tt.exp(x) * y])


def test_parts(xy):
    x, y = xy
    a = var("a")
    assert parts(Term(tt.add, [x, y])) == (tt.add.canonical, (x, y))
    assert parts(etuple(tt.add, x, y)) == (tt.add, (x, y)) == parts((tt.add, x, y))
    assert parts(cons(tt.add, cons(x, (y,)))) == (tt.add, (x, y))
    for leaf in (x, 1, a, (), "text", cons(tt.add, a)):
        assert parts(leaf) is None


def test_what_is_built_already_is_itself(xy):
    x, _ = xy
    z = tt.exp(x)
    assert build(z) is z and build(3) == 3
    assert build(Term(tt.sin, [z])).owner.inputs[0] is z


def test_numbers_become_constants_of_the_dtype_at_hand():
    x = tt.fvector("x")
    assert build(Term(tt.mul, [x, 2])).type.dtype == "float32"
    assert build(Term(tt.mul, [x, 2.5])).type.dtype == "float32"


def test_op_terms_become_ops():
    m = tt.dmatrix("m")
    transposed = build(Term(OpTerm(tt.DimShuffle, input_ndim=2, new_order=(1, 0)), [m]))
    assert equal_computations([transposed], [m.T])
    assert resolve_head(tt.exp) is tt.exp
    assert resolve_head(OpTerm(Halves)) == Halves()


def test_an_output_of_several(xy):
    head = Halves()(xy[0])[1].head
    assert build(Term(head, [xy[1]])).index == 1


def test_what_cannot_be_built(xy):
    x, _ = xy
    a = var("a")
    with pytest.raises(ValueError, match="~a is not bound"):
        build(Term(tt.add, [x, a]))
    with pytest.raises(ValueError, match="cannot be called"):
        build(("no op", x))
    with pytest.raises(ValueError, match="~a cannot be called"):
        build(Term(a, [x]))
    with pytest.raises(GraphTypeError):
        build(Term(tt.exp, [x, x]))


def test_shared_terms_are_built_once(xy):
    x, _ = xy
    term = Term(tt.exp, [x])
    for _ in range(50):
        term = Term(tt.add, [term, term])
    assert len(toposort([build(term)])) == 51


def test_deep(xy):
    x, _ = xy
    term = x
    for _ in range(100_000):
        term = Term(tt.neg, [term])
    assert len(toposort([build(term)])) == 100_000
