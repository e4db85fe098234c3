"""why_not: why a rule did not fire: the nearest match and where it ended, the goal that refused, or the rule that came
first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from kanren import run
from rich.console import Console, ConsoleOptions, RenderResult
from rich.panel import Panel
from rich.text import Text

from termgraph.errors import GraphTypeError
from termgraph.graph.fgraph import FunctionGraph
from termgraph.graph.op import Op
from termgraph.graph.symbol import Symbol
from termgraph.graph.traversal import graph_inputs
from termgraph.graph.variable import Constant, Variable
from termgraph.printing.history import History
from termgraph.printing.pattern import (
    Attempt,
    count_tests,
    match,
    place,
    resemblance,
    right_side,
    subpatterns,
    subterms,
    text_of,
)
from termgraph.rewrite.delay import Delayed, in_graph, known_values, solutions
from termgraph.rewrite.nodes import NodeTable, symbol_of
from termgraph.rewrite.relation import Rule
from termgraph.rewrite.skeleton import Skeleton, is_node, show, split_pattern
from termgraph.rewrite.view import GraphView
from termgraph.rules import ALL
from termgraph.terms.build import build
from termgraph.terms.dispatch import same_term
from termgraph.terms.term import OpTerm, var

#: Matches that came equally near and are asked which rule spoilt them.
NEAREST = 50


@dataclass(frozen=True)
class Consumer:
    """The step of another rule that rewrote what a pattern asks for."""

    rule: str
    where: str
    phase: str
    before: str
    after: str
    step: int

    def __str__(self) -> str:
        phase = f" in phase {self.phase!r}" if self.phase else ""
        return f"{self.rule} ({self.where}){phase} rewrote {self.before} to {self.after} first (step {self.step})"


@dataclass(frozen=True)
class WhyNot:
    """The answer of `why_not`. Texts are one line of mathematics; what does not apply is None.

    `outcome` is
    "fires": the rule gives `after` for `term`;
    "fired": it did, in the history given, as step `step`;
    "consumed": it would have matched `term`, but another rule, `consumer`, rewrote first what stands at `place`;
    "guard": the pattern matched `term` and the goal `guard` refused `arguments`;
    "type": everything held, and the right side would not keep the type: see `types`, before and after;
    "pattern": the nearest match stopped at `place` of `term`, after `passed` of `tests` tests: `expected` and `found` there;
    "nowhere": no pattern of the rule has the head of any subterm;
    "search": the rule runs as kanren search (`expected` says why), which finds nothing;
    "inactive": the rule was not among those of the history.
    """

    outcome: str
    rule: str
    where: str
    variable: str
    skeleton: str | None = None
    term: str | None = None
    passed: int | None = None
    tests: int | None = None
    place: str | None = None
    expected: str | None = None
    found: str | None = None
    guard: str | None = None
    arguments: list[str] | None = None
    types: list[str] | None = None
    after: str | None = None
    step: int | None = None
    consumer: Consumer | None = None

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain data."""
        return asdict(self)

    def to_json(self, indent: int | None = None) -> str:
        """The answer as JSON."""
        return json.dumps(self.to_dict(), indent=indent)

    def __str__(self) -> str:
        name = f"{self.rule} ({self.where})"
        clause = f"\n  clause: {self.skeleton}" if self.skeleton else ""
        return f"{name} {self._reason()}{clause}"

    def _reason(self) -> str:
        of = self.term if self.term == self.variable else f"{self.term} (in {self.variable})"
        match self.outcome:
            case "fires":
                return f"fires on {of}, giving {self.after}"
            case "fired":
                return f"did fire: step {self.step} made {self.after} of {self.term}"
            case "consumed":
                return (f"would match {of}, but {self.consumer}\n"
                        f"  at {self.place} the pattern needs {self.expected}, and there was {self.found}")
            case "guard":
                return f"matches {of}, but {self.guard} refused ({', '.join(self.arguments or ())})"
            case "type":
                before, after = self.types or ("", "")
                return f"matches {of}, but would change the type: {before} would become {after}"
            case "pattern":
                return (f"came nearest on {of}, where it passes {self.passed} of {self.tests} tests\n"
                        f"  at {self.place} the pattern needs {self.expected}, and there is {self.found}")
            case "search":
                return f"finds nothing for {self.variable}; it runs as kanren search, because {self.expected}"
            case "inactive":
                return f"was not among the rules of this history, so nothing was tried on {self.variable}"
        return f"matches nowhere: no subterm of {self.variable} has the head of one of its patterns: {self.expected}"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Panel(Text(str(self)), title=Text(f"why not {self.rule}: {self.outcome}"))


def why_not(rule: Rule | str, variable: Variable, report: Any = None) -> WhyNot:
    """Why `rule` does not fire on `variable` or any subterm of it.

    `rule` is a Rule, or the name of one that is shipped, fired in the history, or is in the mode of its function. `variable`
    is best the user's, from before rewriting. `report` (a compiled function, a Report or a list of Reports) gives the
    history: with it the answer can name the rule that rewrote first what the pattern needs.

    Raises KeyError for an unknown name, GraphTypeError for arguments of another kind.

    >>> import termgraph as tg, termgraph.tensor as tt
    >>> x, y, z = tt.vectors("x", "y", "z")
    >>> print(why_not("cancel_factor", tt.exp(x * y / z)))  # doctest: +ELLIPSIS
    cancel_factor (identity.py:...) came nearest on x * y / z (in exp(x * y / z)), where it passes 2 of 3 tests
      at true_div(..., _): argument 1 the pattern needs y, which ~y is already, and there is z
      clause: ~x * ~y / ~y -> ~x
    """
    if not isinstance(variable, Variable):
        raise GraphTypeError(f"expected a Variable to ask about, got {type(variable).__name__} {variable!r:.60}.")
    history = None if report is None else History(report)
    return _Inquiry(_rule(rule, history), variable, history).answer()


def _rule(rule: Any, history: History | None) -> Rule:
    if isinstance(rule, Rule):
        return rule
    if not isinstance(rule, str):
        raise GraphTypeError(f"expected a rule or the name of one, got {type(rule).__name__} {rule!r:.60}.")
    known: dict[str, Rule] = {r.name: r for r in ALL}
    if history is not None:
        known.update((s.rule.name, s.rule) for s in history.steps)
    if history is not None and history.function is not None:
        known.update((r.name, r) for phase in history.function.maker.mode.phases for r in phase.rules)
    if rule not in known:
        raise KeyError(f"no rule {rule!r} is shipped or known from the history; pass the rule itself.")
    return known[rule]


@dataclass(frozen=True)
class _Trial:
    """A skeleton tried on a term: how the match went, and once it is complete, what came after."""

    skeleton: Skeleton
    attempt: Attempt
    #: "fires", "type", "guard" or "pattern"
    outcome: str = "pattern"
    facts: tuple[tuple[str, Any], ...] = ()

    @cached_property
    def rank(self) -> tuple[int, int, int]:
        """Greater is nearer."""
        nearness = ("pattern", "guard", "type", "fires").index(self.outcome)
        return nearness, self.attempt.passed, resemblance(self.attempt)


class _Inquiry:
    def __init__(self, rule: Rule, variable: Variable, history: History | None) -> None:
        self.rule, self.variable, self.history = rule, variable, history
        self.behind = [] if history is None else history.behind(variable)

    def says(self, outcome: str, **facts: Any) -> WhyNot:
        """An answer."""
        return WhyNot(outcome, self.rule.name, self.rule.where, text_of(self.variable), **facts)

    def answer(self) -> WhyNot:
        """The first of the possible reasons that holds."""
        history = self.history
        if history is not None:
            for number in self.behind:
                if history.steps[number].rule.name == self.rule.name:
                    before, after = history.terms[number]
                    return self.says("fired", term=text_of(before), after=text_of(after), step=number)
            if history.rule_names and self.rule.name not in history.rule_names:
                return self.says("inactive")
        if not self.rule.staged:
            return self.searched()
        trials = sorted(self.trials(), key=lambda t: t.rank, reverse=True)
        if not trials:
            heads = dict.fromkeys(str(s.head) for s in self.rule.skeletons)
            return self.says("nowhere", expected=", ".join(heads))
        best = trials[0]
        if best.outcome in ("fires", "pattern"):
            for trial in trials[:NEAREST]:
                found = self.consumed(trial) if trial.attempt.passed == best.attempt.passed else None
                if found is not None:
                    return found
        return self.described(best)

    def searched(self) -> WhyNot:
        """The answer for a rule that was not staged."""
        for term in subterms([self.variable]):
            after = var("after")
            for answer in run(1, after, self.rule(term, after)):
                return self.says("fires", term=text_of(term), after=text_of(build(answer)))
        return self.says("search", expected=self.rule.not_staged)

    # --- trying -------------------------------------------------------------------------------------------------------

    def trials(self) -> Iterator[_Trial]:
        """Every skeleton on every term whose head it has, nearest the root first."""
        for term in dict.fromkeys(self.terms()):
            for skeleton in self.rule.skeletons:
                if _has_head(skeleton, term):
                    attempt = match(skeleton.before, term)
                    yield self.tried(skeleton, attempt) if attempt.complete else _Trial(skeleton, attempt)

    def terms(self) -> Iterator[Variable]:
        """The subterms of the variable, then those of its history. A rule that asks about the graph is asked only about
        terms of one."""
        yield from subterms([self.variable])
        if self.history is None:
            return
        if not any(s.contextual for s in self.rule.skeletons):
            yield from subterms([v for n in self.behind for v in self.history.terms[n]])
        elif self.history.final:
            equal = self.history.equal
            yield from subterms([v for v in subterms(self.history.final) if equal.find(v) is equal.find(self.variable)])

    def tried(self, skeleton: Skeleton, attempt: Attempt) -> _Trial:
        """What becomes of a pattern that matched: goal by goal, then the right side, then its type."""
        term = attempt.term
        states: list[Any] = [attempt.bindings]
        with in_graph(self.view_of(term) if skeleton.contextual else None):
            for goal in skeleton.residue:
                asked = [known_values(goal.args, state) or [] for state in states]
                left = [new for values, state in zip(asked, states, strict=True) for new in _solved(goal, values, state)]
                if not left:
                    facts = ("guard", goal.name), ("arguments", [text_of(v) for v in asked[0]])
                    return _Trial(skeleton, attempt, "guard", facts)
                states = left
            try:
                result, built = right_side(skeleton, term, states[0])
            except GraphTypeError as error:
                return _Trial(skeleton, attempt, "type", (("types", [str(term.type), str(error)]),))
        if result is None:
            kind = str(built.type) if isinstance(built, Variable) else f"the number {built}"
            return _Trial(skeleton, attempt, "type", (("types", [str(term.type), kind]),))
        if same_term(result, term):
            return _Trial(skeleton, attempt, "guard", (("guard", "change"), ("arguments", [text_of(result)])))
        return _Trial(skeleton, attempt, "fires", (("after", text_of(result)),))

    def view_of(self, term: Variable) -> GraphView:
        """The graph around `term`: that of the function if it is in it, else what the user asked for."""
        if self.history is not None and self.history.function is not None and term in self.final_view.fgraph:
            return self.final_view
        return self.user_view

    @cached_property
    def final_view(self) -> GraphView:
        """The graph that the function runs."""
        return _view(self.history.function.maker.fgraph)  # type: ignore[union-attr]

    @cached_property
    def user_view(self) -> GraphView:
        """The graph before rewriting, as far as it is known."""
        roots = list(dict.fromkeys([*(self.history.original if self.history is not None else []), self.variable]))
        inputs = [v for v in graph_inputs(roots) if not isinstance(v, Constant)]
        return _view(FunctionGraph(inputs, roots, clone=False))

    # --- the answer ---------------------------------------------------------------------------------------------------

    def described(self, trial: _Trial, **more: Any) -> WhyNot:
        """The answer that a trial gives."""
        attempt = trial.attempt
        facts: dict[str, Any] = {
            "skeleton": str(trial.skeleton), "term": text_of(attempt.term), "passed": attempt.passed,
            "tests": count_tests(attempt.pattern), **dict(trial.facts),
        }
        if attempt.stop is not None:
            stop = attempt.stop
            facts.update(place=place(attempt.pattern, stop.path), expected=stop.expected, found=stop.got)
        return self.says(**{"outcome": trial.outcome, **facts, **more})

    def consumed(self, trial: _Trial) -> WhyNot | None:
        """The answer that another rule rewrote what the pattern asks for, if one did."""
        if self.history is None:
            return None
        attempt = trial.attempt
        if attempt.stop is None:
            asked = list(subpatterns(attempt.pattern, attempt.term))
        else:
            asked = [(attempt.stop.pattern, attempt.stop.found)]
        numbers = [self.consumer(pattern, found, past=attempt.stop is not None) for pattern, found in asked]
        known = [(number, k) for k, number in enumerate(numbers) if number is not None]
        if not known:
            return None
        number, k = min(known)
        pattern = asked[k][0]
        step, (before, after) = self.history.steps[number], self.history.terms[number]
        consumer = Consumer(step.rule.name, step.rule.where, step.phase, text_of(before), text_of(after), number)
        path = _path_of(attempt.pattern, pattern) if attempt.stop is None else attempt.stop.path
        return self.described(trial, outcome="consumed", consumer=consumer, place=place(attempt.pattern, path),
                              expected=show(pattern), found=text_of(after), after=None)

    def consumer(self, pattern: Any, found: Any, past: bool) -> int | None:
        """The number of the first step of another rule whose left side matches `pattern` and whose right side does not:
        a step that `found` went through, or, if that is `past`, one that led to it."""
        history = self.history
        if history is None or not is_node(pattern) or not isinstance(found, Variable):
            return None
        if past:
            history.equal.add([found])
            own = history.equal.find(found)
            numbers = [n for n in self.behind if history.equal.find(history.steps[n].after) is own]
        else:
            numbers = history.after([found])
        for number in numbers:
            before, after = history.terms[number]
            other = history.steps[number].rule.name != self.rule.name
            if other and match(pattern, before).complete and not match(pattern, after).complete:
                return number
        return None


def _has_head(skeleton: Skeleton, term: Variable) -> bool:
    head = skeleton.head
    if isinstance(head, OpTerm):
        return type(term.symbol.op) is head.op_class
    return not isinstance(head, (Op, Symbol)) or term.symbol is symbol_of(head)


def _solved(goal: Delayed, values: list[Any], state: Any) -> Iterator[Any]:
    """The states after a goal; none where it raises because it has no answer for these types."""
    try:
        yield from solutions(goal, values, state)
    except GraphTypeError:
        return


def _path_of(pattern: Any, part: Any) -> tuple[int, ...]:
    """The path of the first place where `part` itself stands in `pattern`."""
    stack: list[tuple[Any, tuple[int, ...]]] = [(pattern, ())]
    while stack:
        item, path = stack.pop()
        if item is part:
            return path
        if is_node(item):
            stack.extend((a, (*path, k)) for k, a in enumerate(split_pattern(item)[1]))
    return ()


def _view(fgraph: FunctionGraph) -> GraphView:
    """What goals may ask about a graph."""
    table = NodeTable()
    for node in fgraph.toposort():
        for output in node.outputs:
            table.nodes.setdefault((output.symbol, *node.inputs), output)
    return GraphView(fgraph, table, fgraph.inputs)
