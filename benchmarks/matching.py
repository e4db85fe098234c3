"""The cost of trying a rule: its generated matcher beside the same relation run by kanren, on the same terms.

A miss is a try on a term that has a head the rule can match and fails deeper; a hit is match and bindings. No node is
built, no guard decided.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from common import seconds, show, verdict
from kanren import run

import termgraph as tg
from termgraph.checking import Generator
from termgraph.graph import Variable

RULES = ["neutral", "cancel_factor", "negated_terms", "factor", "inverse", "log_of_power", "log_sum_exp", "softmax_form"]
TERMS = 100
MISS_BAR, HIT_BAR = 0.5, 2.0


def sorted_terms(rule: tg.Rule) -> tuple[list[Variable], list[Variable]]:
    """Terms the patterns of a rule match, and terms they miss though the head is right."""
    generated = Generator(seed=0).terms(rule.skeletons, 10 * TERMS)
    tried = [t for t in generated if rule.matchers.function_for(t.symbol) is not None]
    hits = [t for t in tried if rule.matchers.bindings(t) is not None]
    misses = [t for t in tried if rule.matchers.bindings(t) is None]
    return hits[:TERMS], misses[:TERMS]


def staged(rule: tg.Rule, terms: Sequence[Variable]) -> float:
    """Microseconds for one term: the look-up by symbol that the engine makes, and the generated matcher."""
    index = {t.symbol: rule.matchers.compiled_for(t.symbol).bind for t in terms}  # type: ignore[union-attr]

    def sweep() -> None:
        for term in terms:
            index[term.symbol](term, term.owner.inputs, None)  # type: ignore[union-attr]
    return per_term(sweep, terms)


def naive(rule: tg.Rule, terms: Sequence[Variable]) -> float:
    """Microseconds for one term with kanren."""
    after = tg.var("after")

    def sweep() -> None:
        for term in terms:
            run(1, after, rule(term, after))
    return per_term(sweep, terms)


def per_term(sweep: Callable[[], Any], terms: Sequence[Variable]) -> float:
    return seconds(sweep) / len(terms) * 1e6


def main() -> None:
    rows = []
    for name in RULES:
        rule = tg.rules.ALL[name]
        for kind, terms, bar in zip(("hit", "miss"), sorted_terms(rule), (HIT_BAR, MISS_BAR), strict=True):
            if terms:
                compiled, searched = staged(rule, terms), naive(rule, terms)
                ratio = f"{searched / compiled:.0f}"
                rows.append((name, kind, len(terms), compiled, searched, ratio, bar, verdict(compiled, bar)))
    show("matching: microseconds for one try",
         ("rule", "outcome", "terms", "generated", "kanren", "ratio", "bar", "verdict"), rows)


if __name__ == "__main__":
    main()
