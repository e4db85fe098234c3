"""Staging: what is left of a relation run with both sides unknown, and what is refused at definition."""

import itertools

import pytest
from etuples import etuple
from kanren import Relation, conde, eq, facts, lall
from kanren.constraints import neq
from kanren.core import Zzz
from kanren.goals import conso, membero
from rewrite_helpers import found

import termgraph as tg
import termgraph.tensor as tt
from termgraph.errors import BareLeftSideError, DuplicateClauseError, RuleError, TypeChangeError, UnboundVariableError
from termgraph.graph import Variable
from termgraph.rewrite.goals import apply, compute, computed_by, constant, sole_client
from termgraph.terms import var, vars  # noqa: A004

x, y = tt.dvectors("x", "y")


def shown(rule):
    return [str(s) for s in rule.skeletons]


# --- what staging leaves ----------------------------------------------------------------------------------------------


def test_a_clause_is_a_pattern_a_template_and_what_waits():
    @tg.relation
    def gather(a, b, c):
        yield a - b - c, a - (b + c), constant(b), constant(c)

    (skeleton,) = gather.skeletons
    assert str(skeleton) == "~a - ~b - ~c -> ~a - (~b + ~c) if constant(~b), constant(~c)"
    assert [g.name for g in skeleton.residue] == ["constant", "constant"] and not skeleton.contextual


def test_commutative_ops_are_staged_in_every_order():
    @tg.relation
    def nested(a, b):
        yield tt.sin(a) * (b + 1), a

    assert shown(nested) == [f"{p} -> ~a" for p in ("sin(~a) * (~b + 1)", "(~b + 1) * sin(~a)", "sin(~a) * (1 + ~b)",
                                                  "(1 + ~b) * sin(~a)")]


def test_orders_that_are_the_same_are_staged_once():
    @tg.relation
    def square(a):
        yield a * a, tt.sqr(a)

    assert shown(square) == ["~a * ~a -> sqr(~a)"]


def test_waiting_goals_are_ordered_by_what_they_need():
    @tg.relation
    def chained(a, b, c):
        yield tt.exp(a), tt.exp2(c), compute(c, lambda b: b, b, name="last"), compute(b, lambda a: a, a, name="first")

    assert [g.name for g in chained.skeletons[0].residue] == ["first", "last"]
    assert found(chained, tt.exp(x)) == ["exp2(x)"]


def test_facts_are_unrolled_in_an_order_that_does_not_depend_on_hashes():
    names = ["exp", "log", "sin", "cos", "tan", "sqrt", "sqr", "tanh", "sinh", "cosh", "abs"]
    pairs = [(getattr(tt, f), getattr(tt, g)) for f, g in zip(names, names[1:] + names[:1], strict=True)]
    undo = Relation("undo")
    facts(undo, *pairs)

    def by_fact(before, after):
        f, g, a = vars("f g a")
        return lall(undo(f, g), eq(before, apply(f, (apply(g, (a,)),))), eq(after, a))

    rule = tg.relation(by_fact)
    assert rule.staged and len(rule.skeletons) == len(names)
    keys = [(-len(str(s.before)), str(s)) for s in rule.skeletons]
    assert keys == sorted(keys)
    for f, g in pairs:
        assert found(rule, f(g(x))) == ["x"] and found(rule, g(f(x))) == []


def test_conde_inside_a_relation_gives_one_skeleton_a_branch():
    def either(before, after):
        a = var("a")
        return conde([eq(before, tt.log(tt.exp(a))), eq(after, a)], [eq(before, tt.exp(tt.log(a))), eq(after, a)])

    assert shown(tg.relation(either)) == ["log(exp(~a)) -> ~a", "exp(log(~a)) -> ~a"]


def test_kanrens_constraints_become_waiting_tests():
    def different(before, after):
        a, b = vars("a b")
        return lall(neq(a, b), eq(before, a - b), eq(after, -(b - a)))

    (skeleton,) = tg.relation(different).skeletons
    (test,) = skeleton.residue
    assert test.outs is None and len(test.args) == 2


def test_a_fact_about_the_whole_is_the_pattern_of_any_node():
    @tg.relation
    def same(a, b, f, xs):
        yield b, a, computed_by(b, f, xs), computed_by(a, f, xs)

    (skeleton,) = same.skeletons
    assert skeleton.functional and skeleton.contextual
    assert not any(s.functional for s in tg.rules.ALL["reuse_input"].skeletons)


def test_contextual_where_a_goal_is():
    @tg.relation
    def alone(a):
        yield tt.log(tt.exp(a)), a, sole_client(tt.exp(a))

    assert alone.skeletons[0].contextual


@pytest.mark.parametrize("pattern", [
    lambda f, g, a: apply(f, (apply(g, (a,)),)), lambda f, g, a: etuple(f, etuple(g, a)), lambda f, g, a: (f, (g, a)),
], ids=["apply", "etuple", "tuple"])
def test_every_notation_of_terms_stages_alike(pattern):
    def rel(before, after):
        a = var("a")
        return lall(eq(before, pattern(tt.log, tt.exp, a)), eq(after, a))

    rule = tg.relation(rel)
    assert shown(rule) == ["log(exp(~a)) -> ~a"] and found(rule, tt.log(tt.exp(x))) == ["x"]


def test_terms_taken_apart_with_conso():
    def by_parts(before, after):
        a, rest = vars("a rest")
        return lall(conso(tt.log, rest, before), conso(tt.exp(a), (), rest), eq(after, a))

    rule = tg.relation(by_parts)
    assert rule.staged and found(rule, tt.log(tt.exp(y))) == ["y"] and found(rule, tt.log(y)) == []


def test_membership():
    def one_of(before, after):
        f, a = vars("f a")
        return lall(membero(f, (tt.sin, tt.cos)), eq(before, apply(f, (-a,))), eq(after, apply(f, (a,))))

    rule = tg.relation(one_of)
    assert len(rule.skeletons) == 2 and found(rule, tt.cos(-x)) == ["cos(x)"] and found(rule, tt.tan(-x)) == []


# --- what cannot be staged --------------------------------------------------------------------------------------------


def stripped(before, after):
    a = var("a")
    return conde([eq(before, -a), eq(after, a)], [eq(before, -a), Zzz(stripped, a, after)])


def test_a_recursive_relation_says_why_it_is_not_staged():
    rule = tg.relation(stripped)
    assert not rule.staged and rule.skeletons == () and rule.source() == ""
    assert "both sides are unknown" in rule.not_staged


def test_an_endless_relation_says_why_it_is_not_staged():
    def endless(before, after):
        a = var("a")

        def states(state):
            for n in itertools.count():
                yield from lall(eq(before, a - n), eq(after, a))(state)
        return states

    rule = tg.relation(endless)
    assert not rule.staged and "512 answers" in rule.not_staged


def test_a_relation_that_is_not_staged_runs_as_search():
    rule = tg.relation(stripped)
    result, report = tg.rewrite_graph(tt.exp(tt.neg(tt.neg(-x))) + y, rule)
    assert tg.pprint(result) == "exp(x) + y" and report.stop_reason == "equilibrium"
    assert report.rules["stripped"].fires >= 1 and {s.rule for s in report.steps} == {rule}


# --- errors at definition ---------------------------------------------------------------------------------------------


def unbound_right(a, b):
    yield tt.exp(a), tt.exp(b)


def unbound_in_guard(a, b):
    yield tt.exp(a), a, constant(b)


def bare_left(a):
    yield a, tt.exp(a)


def number_left(a):
    yield 3, a


def twice_the_same(a, b):
    yield tt.exp(a), tt.exp2(a)
    yield tt.exp(b), tt.exp2(b)


def same_up_to_order(a, b):
    yield a + tt.exp(b), a
    yield tt.exp(b) + a, a


def covered(a, b):
    yield tt.exp(a), a
    yield tt.exp(tt.log(b)), tt.log(b)


def covered_with_its_own_variable(a):
    yield tt.exp(a), a
    yield tt.exp(tt.log(a)), tt.log(a)


def changes_dtype(a):
    yield tt.exp(a), tt.lt(a, 0)


def changes_ndim(a):
    yield tt.exp(a), tt.exp(a).dimshuffle(0, "x") if hasattr(a, "type") else tt.dimshuffle(tt.exp(a), (0, "x"))


def a_list(a):
    yield [tt.exp(a), a]


def a_term(a):
    yield tt.exp(a)


def one_side(a):
    yield (tt.exp(a),)


def no_clause(a):
    if a is None:
        yield a, a


def plain_of_one(before):
    return eq(before, before)


def plain_of_three(before, after, more):
    return eq(before, after)


def plain_bare(before, after):
    return eq(before, after)


def plain_unbound(before, after):
    a, b = vars("a b")
    return lall(eq(before, tt.exp(a)), eq(after, tt.exp(b)))


def plain_twice(before, after):
    a = var("a")
    return conde([eq(before, tt.exp(a)), eq(after, a)], [eq(before, tt.exp(a)), eq(after, a)])


ERRORS = [
    (unbound_right, UnboundVariableError, r"~b"), (unbound_in_guard, UnboundVariableError, r"~b"),
    (plain_unbound, UnboundVariableError, "~b"),
    (bare_left, BareLeftSideError, "must have an operator"), (number_left, BareLeftSideError, "3"),
    (plain_bare, BareLeftSideError, "must have an operator"),
    (twice_the_same, DuplicateClauseError, r"exp2\(~b\)"), (same_up_to_order, DuplicateClauseError, "never fire"),
    (covered, DuplicateClauseError, "never fire"),
    (covered_with_its_own_variable, DuplicateClauseError, "never fire"),
    (changes_dtype, TypeChangeError, "bool"), (changes_ndim, TypeChangeError, "must keep"),
    (a_list, RuleError, "each yield must give"), (a_term, RuleError, "each yield must give"),
    (one_side, RuleError, "each yield must give"), (no_clause, RuleError, "yields no clause"),
    (plain_of_one, RuleError, r"takes \(before, after\)"), (plain_of_three, RuleError, r"takes \(before, after\)"),
]


@pytest.mark.parametrize(("function", "kind", "says"), ERRORS, ids=[f.__name__ for f, _, _ in ERRORS])
def test_what_cannot_be_a_rule_is_refused_by_name_file_and_line(function, kind, says):
    with pytest.raises(kind, match=says) as caught:
        tg.relation(function)
    line = function.__code__.co_firstlineno
    assert str(caught.value).startswith(f"rule {function.__name__} (test_stage.py:{line}): ")
    assert caught.value.rule == function.__name__ and caught.value.where == f"test_stage.py:{line}"


def test_answers_that_a_plain_relation_repeats_are_one_skeleton():
    assert shown(tg.relation(plain_twice)) == ["exp(~a) -> ~a"]


def test_a_special_clause_before_the_general_one_is_kept():
    @tg.relation
    def special_first(a, b):
        yield tt.exp(tt.log(b)), b
        yield tt.exp(a), tt.exp2(a)

    assert len(special_first.skeletons) == 2


@pytest.mark.parametrize("soundness", ["maybe", "unsafe", "unsafe:", "exactly", ""])
def test_unknown_soundness(soundness):
    with pytest.raises(RuleError, match=r"rule twice \(test_stage.py:\d+\): the soundness must be 'exact', 'real' or 'unsafe"):
        tg.rewrite.Rule(twice, soundness=soundness)


def twice(a):
    yield a + a, 2 * a


def test_unknown_soundness_in_the_docstring():
    def documented(a):
        """Soundness: perhaps."""
        yield a + a, 2 * a

    with pytest.raises(RuleError, match="got 'perhaps'"):
        tg.relation(documented)


def test_a_relation_that_runs_on_without_an_answer_is_stopped_and_searched_where_it_can_match():
    def searching(before, after):
        def states(state):
            a = var("a")
            found = list(lall(eq(before, tt.exp(a)), eq(after, tt.log(a)))(state))
            while not isinstance(before, Variable):  # an answer never comes while nothing is known
                list(lall(eq(a, 1))(state))
            yield from found
        return states

    rule = tg.relation(searching)
    assert not rule.staged and "does not end" in rule.not_staged
    x = tt.vector("x")
    new, report = tg.rewrite_graph(tt.exp(x), rules=[rule])
    assert tg.pprint(new) == "log(x)" and "kanren search" in str(report)


def test_a_relation_that_is_searched_is_not_tried_at_heads_it_cannot_match():
    tried = []

    def growing(before, after):
        def states(state):
            a = var("a")
            tried.append(before)
            for n in itertools.count():
                found = list(lall(eq(before, tt.exp(a)), eq(after, a * n))(state))
                if not found:
                    return
                yield from found
        return states

    rule = tg.relation(growing)
    assert not rule.staged
    x = tt.vector("x")
    assert tg.pprint(tg.rewrite_graph(tt.sin(tt.exp(x)), rules=[rule])[0]) == "sin(x * 0)"
    assert [b.owner.op for b in tried if isinstance(b, Variable)] == [tt.exp]
