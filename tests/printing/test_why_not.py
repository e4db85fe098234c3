"""why_not: the nearest match and where it stopped, the goal that refused, the type, and the rule that came first."""

import json

import pytest
from rich.console import Console

import termgraph as tg
import termgraph.tensor as tt
from termgraph.errors import GraphTypeError
from termgraph.rewrite.goals import constant, positive, same_type, sole_client, where

x, y, z = tt.dvectors("x", "y", "z")
s = tt.dscalar("s")


@tg.relation
def minus_as_product(a):
    """-a = -1 * a"""
    yield -a, -1 * a


@tg.relation
def to_log1mexp(a):
    """log1p(-exp(a)) = log1mexp(a), log1p(-sigmoid(a)) = -softplus(a)"""
    yield tt.log1p(-tt.sigmoid(a)), -tt.softplus(a)
    yield tt.log1p(-tt.exp(a)), tt.log1mexp(a)


@tg.relation
def guarded(a, b):
    yield tt.log(a * b), tt.log(a) + tt.log(b), positive(a), constant(b)


@tg.relation
def of_one_type(a, b):
    yield a + b - b, a


def mode(*phases):
    return tg.Mode([tg.Phase(name, tg.RuleSet(rules)) for name, rules in phases])


# --- the silent failure -----------------------------------------------------------------------------------------------

def assert_names_the_consumer(answer, phase):
    assert answer.outcome == "consumed"
    assert (answer.consumer.rule, answer.consumer.where) == ("minus_as_product", minus_as_product.where)
    assert answer.consumer.phase == phase and answer.consumer.after == "-1 * exp(x)"
    assert answer.place == "log1p(_): argument 0" and answer.expected == "-exp(~a)" and answer.found == "-1 * exp(x)"
    for part in ("minus_as_product", minus_as_product.where, repr(phase) if phase else "rewrote", "log1p(_): argument 0"):
        assert part in str(answer)


@pytest.mark.parametrize("wrap", [lambda v: v, lambda v: tt.sin(v) + y])
@pytest.mark.parametrize("argument", [lambda: x, lambda: x * 1])
@pytest.mark.parametrize("order", [1, -1])
def test_the_rule_that_took_the_negation_is_named(wrap, argument, order):
    term = wrap(tt.log1p(-tt.exp(argument())))
    rules = [minus_as_product, to_log1mexp, tg.rules.neutral][::order]
    new, report = tg.rewrite_graph(term, rules, phase="mine")
    assert "log1p" in tg.pprint(new)
    assert_names_the_consumer(tg.why_not(to_log1mexp, term, report), "mine")
    # The same, asked of what came out.
    assert_names_the_consumer(tg.why_not(to_log1mexp, new, report), "mine")


def test_the_phase_of_a_function_is_named():
    term = tt.log1p(-tt.exp(x))
    f = tg.function([x], term, mode=mode(("early", [minus_as_product]), ("late", [to_log1mexp]),
                                         ("inplace", tg.rules.ALL.filter(phase="inplace"))))
    assert_names_the_consumer(tg.why_not("to_log1mexp", term, f), "early")
    assert_names_the_consumer(tg.why_not(to_log1mexp, term, f.reports), "early")


def test_a_rule_that_rewrote_the_whole_term_first():
    @tg.relation
    def first(a):
        yield tt.log(tt.exp(a)), tt.log1p(tt.expm1(a))

    @tg.relation
    def second(a):
        yield tt.log(tt.exp(a)), a

    term = tt.log(tt.exp(x))
    _, report = tg.rewrite_graph(term, [first, second])
    answer = tg.why_not(second, term, report)
    assert answer.outcome == "consumed" and answer.consumer.rule == "first" and answer.place == "the whole term"


def test_the_earliest_of_several_is_named():
    @tg.relation
    def exp_as_power(a):
        yield tt.exp(a), tt.exp2(a * 1.442695)

    term = tt.log1p(-tt.exp(x))
    _, report = tg.rewrite_graph(term, [exp_as_power, minus_as_product, to_log1mexp])
    answer = tg.why_not(to_log1mexp, term, report)
    assert answer.consumer.rule == "exp_as_power" and answer.place == "log1p(neg(_)): argument 0"


def test_other_steps_are_not_blamed():
    term = tt.log1p(-tt.sin(x))
    _, report = tg.rewrite_graph([term, -y], [to_log1mexp, tg.rules.neutral, minus_as_product])
    answer = tg.why_not(guarded, term, report)
    assert answer.outcome == "inactive" and "not among the rules" in str(answer)
    _, report = tg.rewrite_graph([tt.log1p(tt.sin(x)), -y], [to_log1mexp, minus_as_product])
    assert tg.why_not(to_log1mexp, tt.log1p(tt.sin(x)), report).outcome == "pattern"


def test_it_did_fire():
    term = tt.sin(tt.log1p(-tt.exp(x)))
    _, report = tg.rewrite_graph(term, [to_log1mexp])
    answer = tg.why_not(to_log1mexp, term, report)
    assert (answer.outcome, answer.step, answer.after) == ("fired", 0, "log1mexp(x)")
    assert "did fire: step 0" in str(answer)


# --- without a history ------------------------------------------------------------------------------------------------

def test_it_fires():
    answer = tg.why_not(to_log1mexp, tt.sin(tt.log1p(-tt.exp(x))))
    assert (answer.outcome, answer.term, answer.after) == ("fires", "log1p(-exp(x))", "log1mexp(x)")
    assert "fires on log1p(-exp(x)) (in sin(log1p(-exp(x)))), giving log1mexp(x)" in str(answer)


@pytest.mark.parametrize(("term", "passed", "place", "expected", "found"), [
    (lambda: tt.log1p(-1 * tt.exp(x)), 1, "log1p(_): argument 0", "-exp(~a)", "-1 * exp(x)"),
    (lambda: tt.log1p(-tt.sin(x)), 2, "log1p(neg(_)): argument 0", "sigmoid(~a)", "sin(x)"),
    (lambda: tt.log1p(x), 1, "log1p(_): argument 0", "-sigmoid(~a)", "x"),
])
def test_where_the_nearest_match_stopped(term, passed, place, expected, found):
    answer = tg.why_not(to_log1mexp, tt.cos(term()))
    assert (answer.outcome, answer.passed, answer.tests) == ("pattern", passed, 3)
    assert (answer.place, answer.expected, answer.found) == (place, expected, found)
    assert answer.term == tg.pprint(term()) and place in str(answer)


def test_commutative_variants_and_repeated_variables():
    answer = tg.why_not("cancel_factor", (y * x) / z)
    assert answer.place.startswith("true_div") and answer.found == "z" and "which ~y is already" in answer.expected
    assert tg.why_not("cancel_factor", (y * x) / y).outcome == "fires"
    # Equal, and not the same object: the user's graph is not merged.
    assert tg.why_not("cancel_factor", (y * tt.exp(x)) / tt.exp(x)).outcome == "fires"


@pytest.mark.parametrize(("term", "outcome"), [
    (lambda: x * 1, "fires"), (lambda: 1.0 * x, "fires"), (lambda: x * 2, "pattern"), (lambda: x - 0, "fires"),
])
def test_literals(term, outcome):
    answer = tg.why_not(tg.rules.neutral, term())
    assert answer.outcome == outcome
    if outcome == "pattern":
        assert {answer.expected, answer.found} <= {"1", "2", "x"}


def test_parameters_of_ops():
    @tg.relation
    def total(a):
        yield tg.rewrite.goals.an(tt.Sum, axis=(0,))(tt.exp(a)), tg.rewrite.goals.an(tt.Sum, axis=(0,))(a)

    m = tt.dmatrix("m")
    assert tg.why_not(total, tt.exp(m).sum(axis=0)).outcome == "fires"
    answer = tg.why_not(total, tt.exp(m).sum(axis=1))
    assert answer.outcome == "pattern" and answer.found == "axis=(1,)" and "axis=(0,)" in answer.expected


def test_no_head_fits():
    answer = tg.why_not(guarded, tt.sin(x))
    assert answer.outcome == "nowhere" and "Log" in str(answer)
    assert tg.why_not(guarded, x).outcome == "nowhere"


# --- goals and types --------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("term", "guard", "arguments"), [
    (lambda: tt.log(x * y), "positive", ["x"]),
    (lambda: tt.log(tt.exp(x) * y), "constant", ["y"]),
])
def test_the_goal_that_refused(term, guard, arguments):
    answer = tg.why_not(guarded, tt.sin(term()))
    assert (answer.outcome, answer.guard) == ("guard", guard)
    assert answer.term == tg.pprint(term()) and f"{guard} refused ({', '.join(answer.arguments)})" in str(answer)
    assert answer.arguments == arguments or guard == "positive"


def test_arguments_of_goals_are_built():
    @tg.relation
    def only_big(a, b):
        yield tt.exp(a + b), tt.exp(a) * tt.exp(b), where(lambda total: False, a + b, name="big")

    answer = tg.why_not(only_big, tt.exp(x + y))
    assert (answer.guard, answer.arguments) == ("big", ["x + y"])


def test_computed_results_and_choices():
    @tg.relation
    def computing(a, n):
        yield tt.sin(a), n, tg.rewrite.goals.compute(n, lambda v: None, a, name="lookup")

    assert tg.why_not(computing, tt.sin(x)).guard == "lookup"

    @tg.relation
    def choosing(a, b):
        yield tt.sin(a), b, tg.rewrite.goals.choose(b, lambda v: [v, tt.cos(v)], a), same_type(a, b)

    assert tg.why_not(choosing, tt.sin(x)).after == "x"


def test_a_change_of_type():
    assert tg.why_not(of_one_type, x + y - y).outcome == "fires"
    answer = tg.why_not(of_one_type, s + x - x)
    assert answer.outcome == "type" and len(answer.types) == 2 and answer.types[0] == str(x.type)
    assert answer.types[1] in str(answer)


def test_goals_about_the_graph():
    @tg.relation
    def alone(a):
        yield tt.sin(tt.exp(a)), tt.cos(a), sole_client(tt.exp(a))

    shared = tt.exp(x)
    assert tg.why_not(alone, tt.sin(shared)).outcome == "fires"
    answer = tg.why_not(alone, tt.sin(shared) + shared)
    assert (answer.outcome, answer.guard, answer.arguments) == ("guard", "sole_client", ["exp(x)"])
    term = tt.sin(shared)
    f = tg.function([x], [term, shared], mode=mode(("contextual", [alone])))
    answer = tg.why_not(alone, term, f)
    assert (answer.outcome, answer.guard) == ("guard", "sole_client")


def test_a_goal_that_holds_only_after_rewriting():
    term = tt.log(tt.constant(2.0) * 3.0 * y)

    @tg.relation
    def of_constant(a, b):
        yield tt.log(a * b), tt.log(a) + tt.log(b), where(lambda v: isinstance(v, tg.graph.Constant), a, name="known")

    assert tg.why_not(of_constant, term).guard == "known"
    _, report = tg.rewrite_graph(term, [tg.rules.ALL["fold"], of_constant])
    assert tg.why_not(of_constant, term, report).outcome == "fired"


# --- rules that are searched ------------------------------------------------------------------------------------------

def test_a_searched_rule():
    searched = tg.KanrenRelation(lambda before, after: minus_as_product(before, after), lambda found: next(found, None),
                                 name="searched")
    assert tg.why_not(searched, tt.sin(-x)).outcome == "fires"
    answer = tg.why_not(searched, tt.sin(x))
    assert answer.outcome == "search" and "results_filter" in str(answer)


# --- asking -----------------------------------------------------------------------------------------------------------

def test_names_and_wrong_arguments():
    assert tg.why_not("inverse", tt.log(tt.exp(x))).rule == "inverse"
    with pytest.raises(KeyError, match="no rule 'inverze'"):
        tg.why_not("inverze", x)
    with pytest.raises(GraphTypeError, match="the name of one"):
        tg.why_not(3, x)
    with pytest.raises(GraphTypeError, match="expected a Variable"):
        tg.why_not("inverse", "x")
    with pytest.raises(GraphTypeError, match="a compiled function, a Report"):
        tg.why_not("inverse", x, 3)


def test_data_and_rich():
    term = tt.log1p(-tt.exp(x))
    _, report = tg.rewrite_graph(term, [minus_as_product, to_log1mexp])
    answer = tg.why_not(to_log1mexp, term, report)
    data = json.loads(answer.to_json())
    assert data == answer.to_dict() and data["consumer"]["rule"] == "minus_as_product"
    assert list(data) == list(json.loads(tg.why_not(to_log1mexp, x).to_json()))
    console = Console(width=200)
    with console.capture() as captured:
        console.print(answer)
    assert "minus_as_product" in captured.get()


def test_deep_graphs():
    chain = x
    for _ in range(20_000):
        chain = tt.sin(chain)
    term = tt.log1p(-tt.exp(chain))
    new, report = tg.rewrite_graph(term, [minus_as_product, to_log1mexp])
    assert tg.why_not(to_log1mexp, term, report).consumer.rule == "minus_as_product"
    assert tg.why_not(to_log1mexp, new, report).consumer.rule == "minus_as_product"


@pytest.mark.parametrize("name", [r.name for r in tg.rules.ALL])
def test_every_shipped_rule_has_an_answer(name):
    term = tt.log1p(-tt.exp(x * 1)) * y + tt.log(1 + tt.exp(s)) - x / y
    f = tg.function([x, y, s], term)
    for report in (None, f, f.reports):
        assert name in str(tg.why_not(name, term, report))
