"""The bar for every rule shipped: its generated code is its relation, and it keeps values."""

import numpy as np
import pytest
from rewrite_helpers import as_rules, assert_same_values, normalized, random_graph, values_for

import termgraph as tg
import termgraph.tensor as tt
from termgraph.checking import agreement, check_values

RULES = pytest.mark.parametrize("rule", tg.rules.ALL, ids=lambda r: r.name)


@RULES
def test_generated_code_and_relation_agree(rule):
    outcome = agreement(rule, 500)
    assert outcome.terms == 500 and outcome.with_result > 0
    assert [str(d) for d in outcome.disagreements] == []


@RULES
def test_values_are_kept(rule):
    with np.errstate(all="ignore"):
        outcome = check_values(rule, 10 if rule.name == "add_product" else 30)
    assert outcome.instances > 0 and outcome.failures == ()


@RULES
def test_its_text_states_its_algebra_and_soundness(rule):
    first, *_, last = rule.algebra.splitlines()
    assert "=" in first and last == f"Soundness: {rule.soundness}."
    assert rule.staged and rule.source().count(f"{rule.name} (") >= len([s for s in rule.skeletons if not s.functional])


@pytest.mark.parametrize("soundness", ["exact", "real"])
def test_sounder_rules_alone_keep_values_too(soundness):
    rules = tg.rules.ALL.filter(phase="simplify", soundness=soundness)
    assert 0 < len(rules) < len(tg.rules.ALL)
    for seed in range(10):
        inputs, outputs = random_graph(seed)
        results, report = normalized(outputs, rules)
        assert report.stop_reason == "equilibrium"
        assert_same_values(outputs, results, values_for(inputs, seed))


def test_exact_rules_keep_every_bit():
    rules = tg.rules.ALL.filter(phase="simplify", soundness="exact")
    x = tt.dvector("x")
    values = {x: np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, 1.7e308, -3.5])}
    for term in (x - 0, x * 1, x / 1, x ** 1, tt.neg(-x), tt.maximum(x, x),
                 tt.minimum(x, x), tt.identity(x), tt.switch(x > 0, x, x)):
        result, report = tg.rewrite_graph(term, rules)
        assert result is x and report.fires >= 1
        with np.errstate(all="ignore"):
            before, after = tg.graph.evaluate([term, result], values)
        assert before.tobytes() == after.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int8", "bool", "complex128"])
def test_every_dtype_stays_what_it_is(dtype):
    x, y = tt.vector("x", dtype=dtype), tt.vector("y", dtype=dtype)
    values = {v: np.array([1, 2, 3]).astype(dtype) for v in (x, y)}
    makers = [lambda: x * 1, lambda: 1 * x + 0, lambda: x - 0, lambda: 0 - x, lambda: tt.neg(-x), lambda: x * y / y,
              lambda: x + y - y,
              lambda: x - x, lambda: x / x, lambda: x * 0, lambda: x ** 2, lambda: x ** 0.5, lambda: 1 / x, lambda: x + x,
              lambda: x * 2 + x, lambda: x * 2 * 3, lambda: tt.exp(tt.log(x)), lambda: tt.log(tt.exp(x)), lambda: ~~x,
              lambda: x ** 0, lambda: tt.sqrt(tt.sqr(x)), lambda: abs(abs(x)), lambda: tt.log(1 + x)]
    for make in makers:
        try:
            term = make()
        except (TypeError, ValueError):
            continue  # there is no such operation on this dtype
        result, _ = tg.rewrite_graph(term, tg.rules.ALL.filter(phase="simplify"))
        assert result.type.dtype == term.type.dtype
        with np.errstate(all="ignore"):
            before, after = tg.graph.evaluate([term, result], values)
        assert before.dtype == after.dtype and before.shape == after.shape
        np.testing.assert_allclose(before, after, rtol=1e-5)


def test_no_rule_undoes_another():
    for seed in range(40):
        _, report = normalized(random_graph(seed, size=60)[1], as_rules(tg.rules.ALL.filter(phase="simplify")))
        assert report.error is None
