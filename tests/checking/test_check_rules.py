"""Checks that can fail: faults are planted, in the generated code and in rules, and must be found."""

import builtins
import re
from dataclasses import replace

import numpy as np
import pytest
from unification import Var

import termgraph as tg
import termgraph.tensor as tt
from termgraph.checking import agreement, check_values
from termgraph.rewrite import Matchers, Skeleton
from termgraph.rewrite.delay import Delayed
from termgraph.rewrite.goals import an, compute, constant
from termgraph.rewrite.skeleton import is_node, split_pattern
from termgraph.tensor import LogSumExp, Sum
from termgraph.terms import OpTerm, Term, var


@tg.relation
def gather(a, b, c):
    yield a - b - c, a - (b + c), constant(b), constant(c)


ALL = tg.rules.ALL + gather
TERMS = 200


def changed(term, change, done=None):
    """`term` with `change(subterm)` in the place of every subterm for which it is not None."""
    new = change(term)
    if new is not None:
        return new
    if not is_node(term) or type(term) is not Term:
        return term
    head, args, _ = split_pattern(term)
    return Term(head, tuple(changed(a, change) for a in args))


def with_patterns(rule, change):
    """Matchers of a rule whose patterns are changed: change(pattern, template) -> pattern."""
    return Matchers([(rule, replace(s, before=change(s.before, s.after))) for s in rule.skeletons])


def with_templates(rule, change):
    return Matchers([(rule, replace(s, after=changed(s.after, change))) for s in rule.skeletons])


def with_residue(rule, change):
    return Matchers([(rule, replace(s, residue=tuple(g for old in s.residue for g in change(old)))) for s in rule.skeletons])


def last_occurrence_free(pattern, template):
    """The pattern with the last occurrence of a variable it repeats made a variable of its own: the test is dropped."""
    seen, repeated = set(), [None]

    def note(t):
        if isinstance(t, Var):
            repeated[0] = t if t in seen else repeated[0]
            seen.add(t)

    changed(pattern, note)
    count = [0]

    def free(t):
        if t is repeated[0]:
            count[0] += 1
            return var("free") if count[0] > 1 else None
        return None

    return changed(pattern, free)


def another_occurrence(pattern, template):
    """The pattern with the second occurrence of one variable replaced by another of its variables: the wrong comparison."""
    variables = list(dict.fromkeys(_variables(pattern)))
    target = next((v for v in variables if _variables(pattern).count(v) > 1), None)
    other = next((v for v in variables if v is not target), None)
    count = [0]

    def swap(t):
        if t is target and other is not None:
            count[0] += 1
            return other if count[0] == 2 else None
        return None

    return changed(pattern, swap)


def _variables(term):
    if isinstance(term, Var):
        return [term]
    return [v for a in split_pattern(term)[1] for v in _variables(a)] if is_node(term) else []


def other_number(t):
    return t + 1 if type(t) in (int, float) else None


def any_number(t):
    return var("n") if type(t) in (int, float) else None


def other_op(one, two):
    def change(t):
        return Term(two, t.args) if type(t) is Term and t.head == one.canonical else None
    return change


def swapped(op):
    def change(t):
        return Term(t.head, tuple(reversed(t.args))) if type(t) is Term and t.head == op.canonical else None
    return change


def negated(goal):
    return [Delayed(goal.name, lambda *a: not goal.function(*a), goal.args, None, False, goal.contextual)]


def dropped(goal):
    return [] if goal.outs is None else [goal]


def without_last(rule):
    return Matchers([(rule, s) for s in rule.skeletons[:-1]])


def fixed_axis(t):
    if type(t) is Term and isinstance(t.head, OpTerm) and t.head.op_class is LogSumExp:
        return Term(LogSumExp(axis=None), t.args)
    return None


def never_more_than_one(rule):
    """Matchers that give the first result only."""
    class First(Matchers):
        def rewrites(self, variable, graph=None, table=None):
            return super().rewrites(variable, graph, table)[:1]
    return First([(rule, s) for s in rule.skeletons])


FAULTS = {
    "a repeated variable is not compared": ("cancel_factor", lambda r: with_patterns(r, last_occurrence_free)),
    "a repeated variable is compared with another": ("cancel_factor", lambda r: with_patterns(r, another_occurrence)),
    "x - x does not compare": ("cancel_self", lambda r: with_patterns(r, last_occurrence_free)),
    "a literal is another number": ("neutral", lambda r: with_patterns(r, lambda p, t: changed(p, other_number))),
    "a literal is any number": ("neutral", lambda r: with_patterns(r, lambda p, t: changed(p, any_number))),
    "an inner head is another": ("inverse", lambda r: with_patterns(r, lambda p, t: changed(p, other_op(tt.exp, tt.exp2)))),
    "an argument order is another": ("quotients", lambda r: with_patterns(r, lambda p, t: changed(p, swapped(tt.true_div)))),
    "the right side has another order": ("negated_terms", lambda r: with_templates(r, swapped(tt.sub))),
    "the right side has another op": ("softplus_of", lambda r: with_templates(r, other_op(tt.softplus, tt.sigmoid))),
    "the right side has another number": ("absorbing", lambda r: with_templates(r, other_number)),
    "a guard is dropped": ("gather", lambda r: with_residue(r, dropped)),
    "a guard is negated": ("gather", lambda r: with_residue(r, negated)),
    "a guard on values is dropped": ("log_of_power", lambda r: with_residue(r, dropped)),
    "a parameter is lost": ("log_sum_exp", lambda r: with_templates(r, fixed_axis)),
    "the last order of a commutative op is missing": ("add_zero", without_last),
    "the last clause is missing": ("idempotent", without_last),
    "the readers are not asked for": ("add_product", lambda r: with_residue(r, dropped)),
    "memory is overwritten unasked": ("reuse_input", lambda r: with_residue(r, dropped)),
    "one result of several": ("small_arguments", lambda r: Matchers([])),
    "other results are not looked for": ("reuse_input", never_more_than_one),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_matchers_is_found(fault):
    name, plant = FAULTS[fault]
    rule = ALL[name]
    outcome = agreement(rule, 500, matchers=plant(rule))
    assert outcome.terms == 500 and outcome.disagreements
    first = outcome.disagreements[0]
    assert first.relational != first.staged and "the relation gives" in str(first)


TEXT_FAULTS = {
    "identity test dropped": ("cancel_factor", r"if (v\w*) is (v\w+):", "if True:"),
    "identity test negated": ("cancel_factor", r"if (v\w*) is (v\w+):", r"if \1 is not \2:"),
    "guard dropped": ("gather", r"if not constant_\d+\(", "if False and not bool("),
    "guard negated": ("log_of_power", r"if not (positive_\d+\()", r"if (\1"),
    "type not looked at": ("cancel_factor", r"if type\(after\) is not type\(v\)[^:]*:", "if False:"),
    "fires only once": ("softplus_of", r"context\.found\.append", "(lambda _: None)"),
}


@pytest.mark.parametrize("fault", TEXT_FAULTS)
def test_a_fault_in_the_generated_text_is_found(fault, monkeypatch):
    name, pattern, replacement = TEXT_FAULTS[fault]
    rule, edits = ALL[name], []
    original = builtins.compile

    def faulty(source, filename, *args, **kwargs):
        if isinstance(source, str) and "def match(" in source:
            source, count = re.subn(pattern, replacement, source)
            if "guard negated" in fault:
                source = re.sub(r"(if \(positive_\d+\([^)]*\)):", r"\1):", source)
            edits.append(count)
        return original(source, filename, *args, **kwargs)

    monkeypatch.setattr(builtins, "compile", faulty)
    outcome = agreement(rule, 500, matchers=Matchers([(rule, s) for s in rule.skeletons]))
    assert sum(edits) > 0, "nothing was edited: the generated text has changed, and this test must follow it"
    assert outcome.disagreements


def test_without_a_fault_nothing_is_found():
    rule = ALL["cancel_factor"]
    same = with_patterns(rule, lambda pattern, template: pattern)
    assert agreement(rule, TERMS, matchers=same).disagreements == () == agreement(rule, TERMS, seed=7).disagreements


def test_the_outcome_is_the_same_each_time():
    rule = ALL["neutral"]
    first, second = agreement(rule, TERMS, seed=3), agreement(rule, TERMS, seed=3)
    assert (first.terms, first.with_result) == (second.terms, second.with_result) == (TERMS, first.with_result)


def test_a_rule_of_ones_own_is_checked_alike():
    @tg.relation
    def mine(a, b, c):
        yield tt.exp(a) - b, tt.exp(a) + c, constant(b), compute(c, lambda b: b, b, name="same")

    outcome = agreement(mine, TERMS)
    assert outcome.with_result > 10 and outcome.disagreements == ()
    assert isinstance(mine.skeletons[0], Skeleton)


# --- values -----------------------------------------------------------------------------------------------------------


def sum_of_exponentials(a, b):
    yield tt.exp(a * b), tt.exp(a) + tt.exp(b)


def swapped_difference(a, b):
    yield a - b, b - a


def forgotten_sign(a, b):
    yield -(a - b), a - b


def wrong_number(a):
    yield a + a, a * 3


def wrong_axis(a, k):
    yield tt.log(an(Sum, axis=k)(tt.exp(a))), an(LogSumExp, axis=k)(a + 1)


def wrong_where_constant(a, b):
    yield a * b, a + b, constant(b)


def not_finite(a):
    yield tt.exp(a), tt.log(a - a)


def zero_instead(a):
    yield tt.sin(a), 0


WRONG = [sum_of_exponentials, swapped_difference, forgotten_sign, wrong_number, wrong_axis, wrong_where_constant, not_finite,
         zero_instead]


@pytest.mark.parametrize("function", WRONG)
@pytest.mark.parametrize("soundness", ["real", "unsafe: some reason"])
def test_a_wrong_rule_is_found(function, soundness):
    outcome = check_values(tg.relation(function, soundness=soundness))
    assert outcome.instances > 0 and outcome.failures
    assert outcome.failures[0].startswith(f"{function.__name__}: ") and " but " in outcome.failures[0]


def rounding(a, b):
    yield a + b - b, a


def rounding_of_products(a, b):
    yield a * b / b, a


def rounding_of_functions(a):
    yield tt.log(tt.exp(a)), a


@pytest.mark.parametrize("function", [rounding, rounding_of_products, rounding_of_functions])
def test_true_over_the_reals_is_not_exact(function):
    assert check_values(tg.relation(function, soundness="exact")).failures
    assert check_values(tg.relation(function, soundness="real")).failures == ()


def test_bools_add_like_or_and_are_tried_too():
    @tg.relation
    def powers(a, b):
        yield tt.exp(a) * tt.exp(b), tt.exp(a + b)

    assert check_values(powers).failures  # exp(True) * exp(True) is not exp(True + True)


def test_a_negative_zero_is_not_exactly_zero():
    @tg.relation(soundness="exact")
    def sign_of_zero(a):
        yield tt.sqr(a) * 0.0, -(tt.sqr(a) * 0.0)

    assert check_values(sign_of_zero).failures


def test_right_rules_pass():
    @tg.relation
    def powers(a, b):
        yield tt.exp(a) / tt.exp(b), tt.exp(a - b)

    @tg.relation(soundness="exact")
    def commute(a, b):
        yield a - b, -b + a

    for rule in (powers, commute):
        outcome = check_values(rule)
        assert outcome.instances >= 30 and outcome.failures == ()


def test_unsafe_rules_need_only_hold_where_the_value_is_finite():
    def never_finite(a):
        yield tt.log(a - a), tt.exp(a)

    with np.errstate(all="ignore"):
        assert check_values(tg.relation(never_finite, soundness="unsafe: infinite")).failures == ()
        assert check_values(tg.relation(never_finite, soundness="exact")).failures


def test_the_number_of_instances_is_that_asked_for():
    rule = ALL["double_negation"]
    assert check_values(rule, 5).instances == 5 * len(rule.skeletons)
    assert check_values(rule, 5, seed=1) == check_values(rule, 5, seed=1)
