"""Random terms for testing rules: instances, near misses and values."""

import numpy as np
import pytest
from unification import Var

import termgraph as tg
import termgraph.sparse as sparse
import termgraph.tensor as tt
from termgraph.checking import Generator
from termgraph.graph import Constant, evaluate, graph_inputs
from termgraph.tensor import TensorType

RULES = pytest.mark.parametrize("rule", tg.rules.ALL, ids=lambda r: r.name)


def drawn(seed, rule, count=60):
    return [tg.pprint(t) for t in Generator(seed).terms(rule.skeletons, count)]


@RULES
def test_equal_seeds_draw_equal_terms(rule):
    assert drawn(1, rule) == drawn(1, rule) and len(drawn(1, rule)) == 60
    assert drawn(1, rule) != drawn(2, rule)


@RULES
def test_instances_match_and_terms_hold_instances_and_near_misses(rule):
    for skeleton in rule.skeletons:
        generator = Generator(0)
        instances = [generator.instance(skeleton) for _ in range(10)]
        made = [i for i in instances if i is not None and i.owner is not None]
        # Not all: where an argument broadcasts, a DimShuffle comes between the operators of the pattern.
        assert made and any(isinstance(skeleton.head, Var) or rule.matchers.bindings(i) is not None for i in made)
    terms = Generator(0).terms(rule.skeletons, 100)
    assert len(terms) == 100 and all(t.owner is not None for t in terms)


def test_near_misses_differ_in_one_thing_and_often_do_not_match():
    rule = tg.rules.ALL["cancel_factor"]
    generator, missed = Generator(0), 0
    for _ in range(100):
        term = generator.instance(rule.skeletons[0])
        miss = generator.near_miss(term)
        if miss is not None:
            assert miss is not term
            missed += rule.matchers.bindings(miss) is None
    assert missed > 30


def test_equal_terms_are_one_variable():
    generator = Generator(3)
    terms = generator.terms(tg.rules.ALL["neutral"].skeletons, 200)
    again = [generator.table.intern(t) for t in terms]
    assert all(a is b for a, b in zip(terms, again, strict=True))


@pytest.mark.parametrize("kind", [
    TensorType("float64", (None, 3)), TensorType("float32", ()), TensorType("int64", (None,)), TensorType("bool", (2,)),
    TensorType("float64", (1, None)), sparse.csr_matrix("s").type, sparse.csc_matrix("s").type,
], ids=lambda v: getattr(v, "__name__", str(v)))
def test_values_belong_to_their_type(kind):
    value = Generator(0).value(kind, length=4)
    assert kind.is_valid_value(value)
    if isinstance(kind, TensorType):
        assert value.shape == tuple(4 if s is None else s for s in kind.shape)
        if kind.dtype.startswith("float"):
            assert (value >= 0.3).all() and (value <= 0.9).all()


def test_values_of_what_has_none():
    with pytest.raises(TypeError, match="no values are drawn"):
        Generator(0).value(tg.graph.NullType())


def test_values_for_the_inputs_of_a_term():
    x = tt.dvector("x")
    term = x * tt.constant(2.0)
    values = Generator(0).values(list(graph_inputs([term])), low=5, high=6)
    assert list(values) == [x] and (values[x] >= 5).all()
    assert evaluate([term], values)[0].shape == (3,)
    assert not any(isinstance(v, Constant) for v in values)
    np.testing.assert_array_equal(Generator(4).value(x.type), Generator(4).value(x.type))
