"""Faults planted in rule sets, and what `check_rules` says of them; the findings about the shipped rules are in the docs."""

import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console

import termgraph as tg
import termgraph.tensor as tt
from termgraph.checking import Finding
from termgraph.checking.overlap import is_variant, matched, unified
from termgraph.checking.sameness import contradict, same
from termgraph.rewrite.goals import an, apply, compute, constant, floating, positive, sole_client, where
from termgraph.rules import ALL
from termgraph.tensor import Sum

FINDINGS = Path(tg.__file__).parents[1] / "docs" / "rules-findings.md"


def rule(name, *clauses, phase="simplify"):
    """A rule of clauses that are functions of three logic variables."""
    def clauses_of(x, y, z):
        for clause in clauses:
            yield clause(x, y, z)
    return tg.relation(clauses_of, name=name, phase=phase)


def found(*rules):
    """(kind, verdict, rules) of each finding."""
    return [(f.kind, f.verdict, f.rules) for f in tg.check_rules(list(rules))]


# --- clauses that can never fire ----------------------------------------------------------------------------------------

GENERAL = rule("general", lambda x, y, z: (tt.exp(x), tt.sqrt(x)))
SPECIAL = rule("special", lambda x, y, z: (tt.exp(-x), tt.cos(x)))


def test_a_clause_is_subsumed_by_an_earlier_one():
    (finding,) = tg.check_rules([GENERAL, SPECIAL]).of(kind="unreachable")
    assert finding.verdict == "error" and finding.rules == ("special", "general")
    assert "exp(-~x) is never seen by special: general comes first" in finding.message
    assert all(re.fullmatch(r"test_findings\.py:\d+", c.where) for c in finding.clauses)


def test_the_special_clause_first_is_reachable():
    assert tg.check_rules([SPECIAL, GENERAL]).of(kind="unreachable") == ()


@pytest.mark.parametrize(("asks", "also_asks", "never"), [
    ([], [positive], True), ([positive], [positive], True), ([positive], [floating, positive], True),
    ([positive], [], False), ([positive], [floating], False),
])
def test_an_earlier_clause_that_asks_for_more_subsumes_nothing(asks, also_asks, never):
    first = rule("first", lambda x, y, z: (tt.exp(x), tt.sqrt(x), *[g(x) for g in asks]))
    second = rule("second", lambda x, y, z: (tt.exp(x), tt.cos(x), *[g(x) for g in also_asks]))
    assert bool(tg.check_rules([first, second]).of(kind="unreachable")) == never


def test_an_earlier_clause_that_refuses_some_types_leaves_a_warning():
    first = rule("first", lambda x, y, z: (x * y / y, x))
    second = rule("second", lambda x, y, z: (x * tt.exp(y) / tt.exp(y), x * tt.cos(y)))
    (finding,) = tg.check_rules([first, second]).of(kind="unreachable")
    assert finding.verdict == "warning" and "except where first would change the type" in finding.message


def test_what_inputs_are_rewritten_to_is_not_seen_before():
    minus = rule("minus", lambda x, y, z: (-x, x * -1))
    stable = rule("stable", lambda x, y, z: (tt.log1p(-tt.exp(x)), tt.log1mexp(x)))
    for rules in ([minus, stable], [stable, minus]):
        (finding,) = tg.check_rules(rules).of(kind="unreachable")
        assert finding.verdict == "error" and finding.rules == ("stable", "minus")
        assert "minus consumes -exp(~x)" in finding.message
    x = tt.dscalar("x")
    _, report = tg.rewrite_graph(tt.log1p(-tt.exp(x)), [minus, stable])
    assert report.rules["stable"].fires == 0


def test_a_clause_is_reachable_while_one_order_of_its_arguments_is():
    zero = rule("zero", lambda x, y, z: (tt.exp(x) + 0, tt.exp(x)))
    more = rule("more", lambda x, y, z: (tt.sin(tt.exp(x) + y), tt.cos(x + y)))
    assert tg.check_rules([zero, more]).of(kind="unreachable") == ()


def test_an_earlier_phase_consumes():
    early = rule("early", lambda x, y, z: (-x, x * -1))
    late = rule("late", lambda x, y, z: (tt.exp(-x), tt.cos(x)), phase="specialize")
    (finding,) = tg.check_rules([early, late])
    assert (finding.kind, finding.verdict, finding.rules) == ("unreachable", "error", ("late", "early"))
    assert "of the earlier phase simplify" in finding.message
    assert found(late, early) == found(early, late)
    first = rule("first", lambda x, y, z: (tt.exp(-x), tt.cos(x)))
    second = rule("second", lambda x, y, z: (-x, x * -1), phase="specialize")
    assert found(first, second) == []
    maker = rule("maker", lambda x, y, z: (tt.sin(x), -x), phase="specialize")
    assert found(early, late, maker) == [("unreachable", "warning", ("late", "early"))]


def test_a_phase_that_looks_at_the_graph_makes_no_promise():
    minus = rule("minus", lambda x, y, z: (-x, x * -1))
    late = rule("late", lambda x, y, z: (tt.exp(-x), tt.cos(x), sole_client(x)))
    assert ("unreachable", "warning", ("late", "minus")) in found(minus, late)


# --- rules that do not come to an end -----------------------------------------------------------------------------------

def test_a_swap_undoes_itself():
    (finding,) = tg.check_rules(rule("swap", lambda x, y, z: (x - y, y - x)))
    assert (finding.kind, finding.verdict, len(finding.clauses)) == ("undo", "error", 1)


def test_a_swap_of_commutative_arguments():
    assert ("undo", "error", ("swap",)) in found(rule("swap", lambda x, y, z: (x + y, y + x)))


def test_two_rules_undo_each_other():
    one = rule("one", lambda x, y, z: (x - y, x + -y))
    other = rule("other", lambda x, y, z: (x + -y, x - y))
    assert found(one, other) == [("undo", "error", ("one", "other"))]
    _, report = tg.rewrite_graph(tt.dscalar("x") - tt.dscalar("y"), [one, other])
    assert report.stop_reason == "loop"


def test_two_rules_that_another_keeps_apart():
    first = rule("first", lambda x, y, z: (tt.sin(x), tt.tan(x)))
    one = rule("one", lambda x, y, z: (tt.exp(x), tt.sin(x)))
    other = rule("other", lambda x, y, z: (tt.sin(x), tt.exp(x)))
    kinds = found(first, one, other)
    assert ("undo", "warning", ("one", "other")) in kinds and ("unreachable", "error", ("other", "first")) in kinds


def test_goals_decide_whether_two_rules_meet():
    def there(x, y, z):
        return tt.exp(x), tt.sin(x), constant(x)

    def back(x, y, z):
        return tt.sin(x), tt.exp(x), floating(x)

    assert ("undo", "error", ("there", "back")) in found(rule("there", there), rule("back", back))
    apart = rule("apart", lambda x, y, z: (tt.sin(x), tt.exp(x), where(lambda v: v.type.dtype == "complex64", x)))
    assert found(rule("there", there), apart) == [("undo", "unknown", ("there", "apart"))]


def test_a_longer_cycle():
    three = [rule("a", lambda x, y, z: (tt.exp(x), tt.sin(x))), rule("b", lambda x, y, z: (tt.sin(x), tt.cos(x))),
             rule("c", lambda x, y, z: (tt.cos(x), tt.exp(x)))]
    (finding,) = tg.check_rules(three)
    assert (finding.kind, finding.verdict, set(finding.rules)) == ("loop", "error", {"a", "b", "c"})
    assert found(*three[:2]) == []


def test_growth():
    grow = rule("grow", lambda x, y, z: (tt.sin(x), tt.sin(tt.cos(x))))
    (finding,) = tg.check_rules(grow)
    assert (finding.kind, finding.verdict, finding.rules) == ("growth", "error", ("grow",))
    assert "sin(" in finding.shown_terms[0]


def test_growth_of_two_rules():
    one = rule("one", lambda x, y, z: (tt.sin(x), tt.cos(tt.tan(x))))
    other = rule("other", lambda x, y, z: (tt.cos(x), tt.sin(x)))
    assert found(one, other) == [("growth", "error", ("one", "other"))]


def test_growth_that_another_rule_stops_is_not_decided():
    stop = rule("stop", lambda x, y, z: (tt.sin(tt.cos(x)), x))
    grow = rule("grow", lambda x, y, z: (tt.sin(x), tt.sin(tt.cos(x))))
    assert ("growth", "unknown", ("grow",)) in found(stop, grow)


# --- critical pairs -----------------------------------------------------------------------------------------------------

def test_a_pair_that_does_not_rejoin():
    whole = rule("whole", lambda x, y, z: (tt.exp(tt.sin(x)), x))
    part = rule("part", lambda x, y, z: (tt.sin(x), tt.cos(x)))
    check = tg.check_rules([whole, part])
    (finding,) = check.of(kind="divergence")
    assert finding.rules == ("whole", "part") and finding.verdict == "error"  # exp(sin(x)) is not x
    assert finding.shown_terms == ("exp(sin(x))", "x", "exp(cos(x))")
    assert check.critical_pairs == 1 and not check.ok


def test_a_pair_of_equal_value_is_a_warning_that_says_what_is_lost():
    whole = rule("whole", lambda x, y, z: (tt.sqrt(tt.sin(x) * tt.sin(x)), tt.abs(tt.sin(x))))
    part = rule("part", lambda x, y, z: (x * x, tt.sqr(x)))
    (finding,) = tg.check_rules([whole, part]).of(kind="divergence")
    assert finding.verdict == "warning"
    assert "The driver gives sqrt(sqr(sin(x))), 3 nodes where there might be 2." in finding.message
    joined = rule("joined", lambda x, y, z: (tt.sqrt(tt.sqr(x)), tt.abs(x)))
    assert tg.check_rules([whole, part, joined]).of(kind="divergence") == ()


def test_two_clauses_of_one_root():
    one = rule("one", lambda x, y, z: (tt.sin(x) * y, x))
    other = rule("other", lambda x, y, z: (y * tt.cos(x), x))
    (finding,) = tg.check_rules([one, other])
    assert finding.verdict == "error" and finding.shown_terms == ("sin(x) * cos(x1)", "x", "x1")


def test_a_clause_overlaps_itself():
    twice = rule("twice", lambda x, y, z: (tt.sin(tt.sin(x)), tt.cos(x)))
    (finding,) = tg.check_rules(twice)
    assert finding.kind == "divergence" and finding.shown_terms == ("sin(sin(sin(x)))", "cos(sin(x))", "sin(cos(x))")


def test_goals_that_constants_meet():
    gather = rule("gather", lambda x, y, z: (x * y * z, x * (y * z), constant(y), constant(z)))
    assert found(gather, ALL["fold"])[0] == ("undecided", "unknown", ("fold",))
    assert len(tg.check_rules([gather, ALL["fold"]])) == 1


def test_goals_that_no_term_is_known_to_meet():
    never = rule("never", lambda x, y, z: (tt.exp(tt.sin(x)), x, where(lambda v: v.type.dtype == "complex64", x)))
    part = rule("part", lambda x, y, z: (tt.sin(x), tt.cos(x), floating(x)))
    assert found(never, part) == [("divergence", "unknown", ("never", "part"))]


def test_goals_that_cannot_take_every_type():
    whole = rule("whole", lambda x, y, z: (tt.exp(tt.sin(x)), x, where(lambda v: v.type.shape[1] is None, x, name="wide")))
    part = rule("part", lambda x, y, z: (tt.sin(x), tt.cos(x)))
    (finding,) = tg.check_rules([whole, part]).of(kind="divergence")
    assert finding.verdict == "error" and finding.terms[0].type.ndim == 2


def test_pairs_meet_within_a_phase_only():
    whole = rule("whole", lambda x, y, z: (tt.exp(tt.sin(x)), x))
    part = rule("part", lambda x, y, z: (tt.sin(x), tt.cos(x)), phase="specialize")
    assert tg.check_rules([whole, part]).critical_pairs == 0


def test_parameters_of_ops():
    def totals(x, a):
        yield tt.exp(an(Sum, axis=a)(x)), an(Sum, axis=a)(tt.exp(x))

    def zeros(x, a):
        yield an(Sum, axis=a)(-x), -an(Sum, axis=a)(x)

    (finding,) = tg.check_rules([tg.relation(totals), tg.relation(zeros)])
    assert finding.kind == "divergence" and finding.rules == ("totals", "zeros")


# --- what cannot be examined --------------------------------------------------------------------------------------------

def test_open_and_computed_clauses_are_named_once():
    def other(f, xs, y):
        yield apply(f, xs), y, compute(y, lambda f, xs: None, f, xs)

    def computed(x, y):
        yield tt.exp(x), y, compute(y, lambda v: None, x)

    assert found(tg.relation(other), tg.relation(computed)) == [
        ("undecided", "unknown", ("other",)), ("undecided", "unknown", ("computed",))]


def test_clean_sets_have_no_findings():
    clean = rule("clean", lambda x, y, z: (x * 1, x), lambda x, y, z: (x + 0, x), lambda x, y, z: (tt.log(tt.exp(x)), x))
    check = tg.check_rules([clean, ALL["merge"]])
    assert check.findings == () and check.ok and check.clauses == 3


# --- the account --------------------------------------------------------------------------------------------------------

def test_text_table_and_dictionary():
    check = tg.check_rules([GENERAL, SPECIAL])
    assert str(check).splitlines()[0] == check.summary and "2 errors, 0 warnings, " in check.summary
    assert "special (test_findings.py:" in str(check)
    console = Console(file=io.StringIO(), width=160)
    console.print(check)
    assert "unreachable" in console.file.getvalue()
    data = json.loads(json.dumps(check.to_dict()))
    assert data["clauses"] == 2
    kinds = {f["kind"]: f for f in data["findings"]}
    assert kinds["unreachable"]["terms"] == ["exp(-~x)", "exp(~x)"]
    assert set(kinds["unreachable"]["clauses"][0]) == {"rule", "where", "clause"}


def test_markup_in_a_message_is_only_text():
    check = tg.check_rules(GENERAL)
    odd = type(check)((Finding("loop", "error", (), "[/red] is not markup"),), 1, 0, 0.0)
    console = Console(file=io.StringIO(), width=160)
    console.print(odd)
    assert "[/red] is not markup" in console.file.getvalue()


# --- unification --------------------------------------------------------------------------------------------------------

X, Y, Z = tg.vars("x y z")


@pytest.mark.parametrize(("u", "v", "unifies", "matches"), [
    (tt.sin(X), tt.sin(tt.cos(Y)), True, True),
    (tt.sin(tt.cos(X)), tt.sin(Y), True, False),
    (X - X, Y - tt.sin(Y), False, False),
    (X - X, Y - Z, True, False),
    (X - Y, tt.sin(Y) - tt.sin(X), False, None),
    (X * 1, Y * 2, False, False),
    (X * 1, Y * 1.0, True, True),
    (tt.sin(X), tt.cos(Y), False, False),
    (an(Sum, axis=X)(Y), an(Sum, axis=(0,))(tt.sin(Z)), True, True),
    (an(Sum, axis=(0,))(Y), an(Sum, axis=(1,))(Z), False, False),
])
def test_unification(u, v, unifies, matches):
    assert (unified(u, v) is not None) == unifies
    if matches is not None:
        assert (matched(u, v) is not None) == matches


def test_variants():
    assert is_variant(X - Y, Y - X) and not is_variant(X - Y, X - X) and not is_variant(X - X, X - Y)
    assert not is_variant(tt.sin(X), tt.sin(tt.cos(X)))


def test_sameness():
    x, y = tt.dscalars("x", "y")
    assert same(x * y + 1, 1 + y * x) and same(x - 3, x + -3) and same(x / 4, x * 0.25)
    assert not same(x - y, y - x) and not same(x * 2, x * 3) and not same(3 - x, x - 3)
    assert contradict(x, x + 0, x * 2) and not contradict(x, x + 1 - 1, x)
    assert not contradict(x / 0, x, y)


# --- the shipped rules --------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def shipped():
    return tg.check_rules(ALL)


def test_every_finding_about_the_shipped_rules_is_explained(shipped):
    written = re.findall(r"^- `(.*)`$", FINDINGS.read_text(), re.MULTILINE)
    keys = [f.key for f in shipped]
    assert len(set(written)) == len(written) and len(set(keys)) == len(keys)
    new, gone = sorted(set(keys) - set(written)), sorted(set(written) - set(keys))
    assert not new and not gone, "\n".join([f"{FINDINGS.name} does not explain:", *[f"- `{k}`" for k in new],
                                            "and explains what is found no more:", *[f"- `{k}`" for k in gone]])


def test_the_shipped_rules_have_no_errors(shipped):
    assert shipped.ok and shipped.of(kind="unreachable") == ()
    assert shipped.clauses > 90 and shipped.critical_pairs > 500


def test_a_fault_planted_among_the_shipped_rules_is_found(shipped):
    planted = rule("planted", lambda x, y, z: (tt.log1p(tt.exp(-x)), tt.softplus(-x)), lambda x, y, z: (-x, x * -1))
    check = tg.check_rules(ALL + planted)
    new = {(f.kind, f.verdict, f.rules) for f in check if f.key not in {g.key for g in shipped}}
    assert ("unreachable", "error", ("planted", "softplus_of")) in new
    assert ("undo", "error", ("subtract_from_zero", "planted")) in new
