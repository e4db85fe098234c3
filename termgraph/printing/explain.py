"""explain: how a graph came to be what it is, rule by rule, and whether every step was right."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text
from unification import reify

from termgraph.errors import GraphTypeError
from termgraph.graph.evaluate import evaluate
from termgraph.graph.traversal import explicit_graph_inputs, toposort
from termgraph.graph.type import Type
from termgraph.graph.variable import Variable
from termgraph.printing.history import History
from termgraph.printing.pattern import match, named, right_side, text_of
from termgraph.rewrite.delay import known_values, solutions, variables_of
from termgraph.rewrite.report import Step
from termgraph.rewrite.skeleton import Skeleton
from termgraph.terms.dispatch import same_term


def explain(fn_or_report: Any, variable: Variable | None = None) -> Explanation:
    """The derivation of a compiled function's graph, or of what a Report or a list of Reports tells of, step by step.

    With `variable` only the steps that led to it: one of the rewritten graph, or one that the user built, of which the
    steps then show what became. `print` it, look at its `steps`, store its `to_json()`, or `replay` it. From a Report alone
    the user's graph is not known, so for a variable of its result every step counts that made a subterm of it.

    Raises GraphTypeError where the arguments are none of these.

    >>> import termgraph as tg, termgraph.tensor as tt
    >>> x, y = tt.vectors("x", "y")
    >>> f = tg.function([x, y], tt.log(tt.exp(x)) * y / y)
    >>> for step in tg.explain(f).steps:
    ...     print(step.rule, ":", step.before_text, "->", step.after_text, step.bindings)
    inverse : log(exp(x)) -> x {'x': 'x'}
    cancel_factor : x * y / y -> x {'x': 'x', 'y': 'y'}
    >>> bool(tg.explain(f).replay({x: [1.0, 2.0], y: [3.0, 4.0]}))
    True
    """
    if variable is not None and not isinstance(variable, Variable):
        raise GraphTypeError(f"expected a Variable to explain, got {type(variable).__name__} {variable!r:.60}.")
    history = History(fn_or_report)
    numbers = range(len(history.steps)) if variable is None else history.behind(variable)
    steps = [ExplainedStep(n, history.steps[n], *history.terms[n]) for n in numbers]
    return Explanation(steps, variable)


@dataclass(frozen=True, eq=False)
class ExplainedStep:
    """One fire of a rule: `before` became `after`. `number` is its place among all steps of the reports."""

    number: int
    step: Step
    before: Variable
    after: Variable

    @property
    def rule(self) -> str:
        """The name of the rule."""
        return self.step.rule.name  # type: ignore[no-any-return]

    @property
    def where(self) -> str:
        """The file and line of the rule."""
        return self.step.rule.where  # type: ignore[no-any-return]

    @property
    def algebra(self) -> str:
        """What the rule says: the first line of its docstring."""
        return self.step.rule.algebra.partition("\n")[0]  # type: ignore[no-any-return]

    @property
    def soundness(self) -> str:
        """How far the rule is true."""
        return self.step.rule.soundness  # type: ignore[no-any-return]

    @property
    def phase(self) -> str:
        """The phase in which it fired."""
        return self.step.phase

    @property
    def where_built(self) -> str | None:
        """The user's file and line."""
        return self.step.where_built

    @cached_property
    def before_text(self) -> str:
        """`before` as one line of mathematics."""
        return text_of(self.before)

    @cached_property
    def after_text(self) -> str:
        """`after` as one line of mathematics."""
        return text_of(self.after)

    @cached_property
    def bindings(self) -> dict[str, str]:
        """What each logic variable of the rule stood for; empty for a rule that runs as kanren search."""
        return named(_bindings(self.step.rule.skeletons, self.before, self.after))

    # --- replaying ----------------------------------------------------------------------------------------------------

    @cached_property
    def inputs(self) -> list[Variable]:
        """The variables that need a value: inputs of the step's terms, neither constant nor shared."""
        return list(explicit_graph_inputs([self.before, self.after]))

    def evaluate(self, givens: Mapping[Variable, Any]) -> tuple[Any, Any]:
        """The values of `before` and `after` by the plain interpreter, for the values `givens` of `inputs`, which are not
        changed. Raises MissingInputError, and what a Type raises for a value it refuses."""
        values = {v: v.type.filter(givens[v]) for v in self.inputs if v in givens}
        return _value(self.before, values), _value(self.after, values)

    def holds(self, before: Any, after: Any) -> bool:
        """Whether two values agree as far as the rule's soundness says: bit by bit for "exact"; otherwise but for rounding,
        and only where the value before is finite."""
        kind = self.before.type
        if self.soundness == "exact":
            return kind.values_eq(before, after) and _same_signs(before, after)
        return kind.values_eq_approx(before, after) or _agree_where_finite(kind, before, after)

    # --- showing ------------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The step as plain data."""
        return {"number": self.number, "rule": self.rule, "where": self.where, "algebra": self.algebra,
                "soundness": self.soundness, "phase": self.phase, "before": self.before_text, "after": self.after_text,
                "bindings": self.bindings, "built": self.where_built}

    def _lines(self) -> Iterator[str]:
        phase = f"{self.phase}: " if self.phase else ""
        yield f"{phase}{self.rule} ({self.where}), {self.soundness}{f': {self.algebra}' if self.algebra else ''}"
        yield f"{self.before_text}  ->  {self.after_text}"
        if self.bindings:
            yield "where " + ", ".join(f"{name} = {text}" for name, text in self.bindings.items())
        if self.where_built:
            yield f"built at {self.where_built}"

    def __str__(self) -> str:
        return "\n    ".join(self._lines())


@dataclass(frozen=True)
class Replay:
    """The outcome of a replay: how many steps were checked, and the first whose values `before` and `after` differ beyond
    its rule's soundness. True where there is none."""

    checked: int
    failed: ExplainedStep | None = None
    before: Any = None
    after: Any = None

    def __bool__(self) -> bool:
        return self.failed is None

    def __str__(self) -> str:
        if self.failed is None:
            return f"{self.checked} steps hold"
        step = self.failed
        return (f"step {step.number}, {step.rule} ({step.where}), does not hold as {step.soundness}: "
                f"{step.before_text} = {self.before!r} but {step.after_text} = {self.after!r}")


class Explanation:
    """The steps of a derivation, in order. `variable` is the one they led to, None where they are all there are."""

    def __init__(self, steps: list[ExplainedStep], variable: Variable | None = None) -> None:
        self.steps, self.variable = steps, variable

    def replay(self, givens: Mapping[Variable, Any]) -> Replay:
        """Compute each step with the plain interpreter and compare, up to the first that does not hold. `givens` has the
        values of the inputs of all steps."""
        for checked, step in enumerate(self.steps, 1):
            before, after = step.evaluate(givens)
            if not step.holds(before, after):
                return Replay(checked, step, before, after)
        return Replay(len(self.steps))

    @property
    def title(self) -> str:
        """One line."""
        count = f"{len(self.steps)} step{'' if len(self.steps) == 1 else 's'}"
        return count if self.variable is None else f"{count} behind {text_of(self.variable)}"

    def to_dict(self) -> dict[str, Any]:
        """The derivation as plain data."""
        return {"variable": None if self.variable is None else text_of(self.variable),
                "steps": [step.to_dict() for step in self.steps]}

    def to_json(self, indent: int | None = None) -> str:
        """The derivation as JSON."""
        return json.dumps(self.to_dict(), indent=indent)

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[ExplainedStep]:
        return iter(self.steps)

    def __str__(self) -> str:
        return "\n".join([self.title, *(f"{step.number:>3} {step}" for step in self.steps)])

    def __repr__(self) -> str:
        return f"<Explanation: {self.title}>"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = Table(title=Text(self.title), title_justify="left")
        for heading in ("", "phase", "rule", "algebra", "soundness", "step", "where", "built at"):
            table.add_column(heading, overflow="fold")
        for step in self.steps:
            where = "\n".join(f"{name} = {text}" for name, text in step.bindings.items())
            cells = (str(step.number), step.phase, f"{step.rule}\n({step.where})", step.algebra, step.soundness,
                     f"{step.before_text}\n-> {step.after_text}", where, step.where_built or "")
            # As Text: brackets in mathematics are not markup.
            table.add_row(*map(Text, cells))
        yield table


# --- bindings ---------------------------------------------------------------------------------------------------------

def _bindings(skeletons: tuple[Skeleton, ...], before: Variable, after: Variable) -> dict[Any, Any]:
    """What the logic variables of the skeleton that fired are bound to: the first that matches and gives `after`, else the
    first that matches."""
    first: dict[Any, Any] = {}
    for skeleton in skeletons:
        attempt = match(skeleton.before, before)
        if not attempt.complete:
            continue
        first = first or attempt.bindings
        try:
            for state in _states(skeleton, attempt.bindings):
                if variables_of(reify(skeleton.after, state)):
                    continue  # a goal about the graph would have bound it
                result, _ = right_side(skeleton, before, state)
                if result is not None and same_term(result, after):
                    return {v: reify(v, state) for v in state}
        except GraphTypeError:
            continue  # for these types it has no right side, so it is not the one that fired
    return first


def _states(skeleton: Skeleton, bindings: dict[Any, Any]) -> list[Any]:
    """The ways in which the goals that need no graph hold; what the graph was like is gone."""
    states: list[Any] = [bindings]
    for goal in skeleton.residue:
        if not goal.contextual:
            pairs = [(known_values(goal.args, state), state) for state in states]
            states = [new for values, state in pairs if values is not None for new in solutions(goal, values, state)]
    return states


# --- values -----------------------------------------------------------------------------------------------------------

def _value(output: Variable, givens: Mapping[Variable, Any]) -> Any:
    """The value of `output`, each node given copies of what it overwrites, so that any order of the nodes is right."""
    values: dict[Variable, Any] = dict(givens)
    with np.errstate(all="ignore"):
        for node in toposort([output], values):
            overwritten = {node.inputs[i] for positions in node.op.destroy_map.values() for i in positions}
            own = {v: copy.deepcopy(values[v]) if v in overwritten else values[v] for v in node.inputs if v in values}
            for variable in overwritten - own.keys():
                (value,) = evaluate([variable], {})
                own[variable] = copy.deepcopy(value)
            values.update(zip(node.outputs, evaluate(node.outputs, own), strict=True))
        return evaluate([output], values)[0]


def _same_signs(before: Any, after: Any) -> bool:
    """Whether zeros have the same sign, which equality of floats does not see."""
    if not isinstance(before, np.ndarray) or before.dtype.kind not in "fc":
        return True
    return all(np.array_equal(np.signbit(a) & ~np.isnan(a), np.signbit(b) & ~np.isnan(b))
               for a, b in ((before.real, after.real), (before.imag, after.imag)))


def _agree_where_finite(kind: Type, before: Any, after: Any) -> bool:
    if not isinstance(before, np.ndarray) or before.dtype.kind not in "fc" or before.shape != np.shape(after):
        return False
    finite = np.isfinite(before)
    return kind.values_eq_approx(before[finite], after[finite])
