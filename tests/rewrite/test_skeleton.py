"""Skeletons: patterns of every notation, their orders, their text, and when one clause covers another."""

import pytest
from cons import cons
from etuples import etuple

import termgraph as tg
import termgraph.tensor as tt
from termgraph.rewrite import Skeleton
from termgraph.rewrite.delay import Delayed
from termgraph.rewrite.goals import an, apply, constant
from termgraph.rewrite.skeleton import alpha_key, as_pattern, commuted, covers, is_node, parts_of_pair, show, split_pattern
from termgraph.terms import Term, var, vars  # noqa: A004

a, b, f, xs = vars("a b f xs")


@pytest.mark.parametrize(("term", "text"), [
    (a + b, "~a + ~b"), (a, "~a"), (3, "3"), (tt.exp(a) * 2, "exp(~a) * 2"), (apply(f, xs), "~f(*~xs)"),
    (apply(f, (a, b)), "~f(~a, ~b)"), (cons(f, cons(a, xs)), "~f(~a, *~xs)"), (an(tt.Sum, axis=a)(b), "sum{axis=~a}(~b)"),
])
def test_show(term, text):
    assert show(term) == text


def test_split_pattern():
    assert split_pattern(a + b) == (tt.add, (a, b), None)
    assert split_pattern(apply(f, xs)) == (f, (), xs)
    assert split_pattern(cons(f, cons(a, xs))) == (f, (a,), xs)
    assert split_pattern(apply(f, (a, b))) == (f, (a, b), None)
    assert parts_of_pair(a) is None
    with pytest.raises(TypeError, match="not a pattern"):
        split_pattern(a)


@pytest.mark.parametrize(("term", "node"), [(a + b, True), (apply(f, xs), True), (etuple(tt.exp, a), True), ((tt.exp, a), True),
                                            (a, False), (2, False), (tt.vector("v"), False), (tt.exp, False)])
def test_is_node(term, node):
    assert is_node(term) is node


def test_every_notation_becomes_a_term():
    for term in (etuple(tt.exp, etuple(tt.add, a, b)), (tt.exp, (tt.add, a, b)), cons(tt.exp, (a + b,)), tt.exp(a + b)):
        pattern = as_pattern(term)
        assert type(pattern) is Term and pattern == tt.exp(a + b)
    open_ended = as_pattern(cons(f, cons((tt.exp, a), xs)))
    assert split_pattern(open_ended) == (f, (tt.exp(a),), xs)


def test_commuted():
    assert set(commuted(a - b)) == {a - b}
    assert set(commuted(a + b)) == {a + b, b + a}
    assert set(commuted(tt.exp(a * 2) + b)) == {tt.exp(a * 2) + b, tt.exp(2 * a) + b, b + tt.exp(a * 2), b + tt.exp(2 * a)}
    assert list(commuted(a)) == [a] and list(commuted(3)) == [3]
    assert list(commuted(apply(f, xs))) == [apply(f, xs)]


def skeleton(before, after, *goals):
    return Skeleton(before, after, goals)


def is_constant(v):
    return Delayed("constant", bool, (v,))


def test_a_general_clause_covers_a_special_one():
    general = skeleton(tt.exp(a), a)
    assert covers(general, skeleton(tt.exp(tt.log(b)), tt.log(b)))
    assert covers(general, skeleton(tt.exp(b), b))
    assert not covers(general, skeleton(tt.exp(tt.log(b)), b))  # another result
    assert not covers(skeleton(tt.exp(tt.log(b)), tt.log(b)), skeleton(tt.exp(a), a))  # the wrong way round
    assert not covers(skeleton(a + a, a), skeleton(b + tt.exp(b), b))
    assert not covers(skeleton(a + a, a), skeleton(b + f, b))  # asks for equal arguments


def test_a_clause_that_asks_covers_nothing():
    assert not covers(skeleton(tt.exp(a), a, is_constant(a)), skeleton(tt.exp(b), b))
    assert not covers(skeleton(tt.exp(a), a), skeleton(tt.exp(b), b, is_constant(b)))


def test_alpha_key_looks_through_names():
    c, d = vars("c d")
    assert alpha_key(skeleton(a + b, a)) == alpha_key(skeleton(c + d, c)) != alpha_key(skeleton(c + d, d))
    assert alpha_key(skeleton(a + a, a)) != alpha_key(skeleton(a + b, a))
    assert alpha_key(skeleton(a + 1, a)) != alpha_key(skeleton(a + 1.0, a)) != alpha_key(skeleton(a + True, a))
    assert alpha_key(skeleton(tt.exp(a), a)) != alpha_key(skeleton(tt.exp(a), a, is_constant(a)))
    assert alpha_key(skeleton(tt.exp(a), a, is_constant(a))) == alpha_key(skeleton(tt.exp(b), b, is_constant(b)))
    assert alpha_key(skeleton(an(tt.Sum, axis=a)(b), b)) != alpha_key(skeleton(an(tt.Prod, axis=a)(b), b))
    assert alpha_key(skeleton(tt.sum(a, axis=0), a)) != alpha_key(skeleton(tt.sum(a, axis=1), a))
    assert alpha_key(skeleton(apply(f, xs), f)) == alpha_key(skeleton(apply(a, b), a))


def test_text_and_head_of_a_skeleton():
    @tg.relation
    def gather(p, q):
        yield tt.exp(p) + q, p + q, constant(q)

    first = gather.skeletons[0]
    assert str(first) == "exp(~p) + ~q -> ~p + ~q if constant(~q)"
    assert first.head == tt.add and tg.rules.ALL["fold"].skeletons[0].head.token.startswith("f")
    assert isinstance(tg.rules.ALL["log_softmax_form"].skeletons[0].head, type(tt.log))
    assert var("f") is not var("f")
