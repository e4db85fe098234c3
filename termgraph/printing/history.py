"""History: the steps of some reports as one account, and which of them lie behind a variable.

A report says which term became which. It does not say that a node was made anew because its inputs had changed, so the
steps behind a variable are found by congruence: equal heads over equal inputs are equal, where equal means that a step
leads from one to the other (Nelson and Oppen 1980).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from termgraph.compile import Function
from termgraph.errors import GraphTypeError
from termgraph.graph.apply import Apply
from termgraph.graph.traversal import ancestors, toposort
from termgraph.graph.variable import Constant, Variable
from termgraph.rewrite.report import Report, Step
from termgraph.rewrite.skeleton import is_node


class History:
    """The steps of a compiled function, a Report or several Reports, in order.

    `terms` has, for each step, what stood before and after it. Raises GraphTypeError for anything else than these.
    """

    def __init__(self, source: Any) -> None:
        self.function: Function | None = source if isinstance(source, Function) else None
        reports = source.reports if isinstance(source, Function) else [source] if isinstance(source, Report) else source
        if not isinstance(reports, (list, tuple)) or not all(isinstance(r, Report) for r in reports):
            raise GraphTypeError("expected a compiled function, a Report or a list of Reports, "
                                 f"got {type(source).__name__} {source!r:.60}.")
        self.reports: list[Report] = list(reports)
        self.steps: list[Step] = [step for report in self.reports for step in report.steps]
        #: What the user asked for, where it is known, and what became of it.
        self.original: list[Variable] = self.function.maker.ingredients.expressions() if self.function else []
        self.final: list[Variable] = list(self.function.maker.fgraph.outputs) if self.function else []

    @cached_property
    def terms(self) -> list[tuple[Variable, Variable]]:
        """(before, after) of each step. A phase that works on the graph in place changes nodes that earlier steps speak of:
        for those steps that is undone here, on copies."""
        first = next((k for k, r in enumerate(self.reports) if any(_contextual(s) for s in r.steps)), len(self.reports))
        count = sum(len(r.steps) for r in self.reports[:first])
        undo = {s.after: s.before for s in self.steps[count:] if s.after.owner is not None and _makes_node(s)}
        earlier = undone([v for s in self.steps[:count] for v in (s.before, s.after)], undo)
        return [*zip(earlier[::2], earlier[1::2], strict=True), *((s.before, s.after) for s in self.steps[count:])]

    @cached_property
    def rule_names(self) -> set[str]:
        """The names of the rules that took part, whether they fired or not; empty where that is not known."""
        names = {name for report in self.reports for name in report.rules}
        return names | {s.rule.name for s in self.steps}

    @cached_property
    def equal(self) -> Congruence:
        """Which variables the steps make equal."""
        equal = Congruence()
        equal.add([*self.original, *self.final, *(v for s in self.steps for v in (s.before, s.after))])
        for step in self.steps:
            equal.join(step.before, step.after)
        for old, new in zip(self.original, self.final, strict=True):
            equal.join(old, new)
        return equal

    @cached_property
    def _original_terms(self) -> dict[Variable, None]:
        return dict.fromkeys(ancestors(self.original))

    def behind(self, variable: Variable) -> list[int]:
        """The numbers of the steps that led from the user's graph to `variable`, or from `variable` on where it is the
        user's.

        From a Report alone the user's graph is not known: for a variable of its result, what made any subterm of it counts.
        """
        self.equal.add([variable])
        if variable in self._original_terms:
            return self.after([variable])
        own = self.equal.find(variable)
        origins = [v for v in self._original_terms if self.equal.find(v) is own]
        if origins:
            return self.after(origins)
        return (not self.original and self.after([variable])) or self._collect([variable], self.equal.find)

    def after(self, origins: Iterable[Variable]) -> list[int]:
        """The numbers of the steps that `origins`, or what they became, went through."""
        origins = list(origins)
        self.equal.add(origins)
        return self._collect(origins, self.equal.key)

    def _collect(self, roots: Sequence[Variable], aspect: Callable[[Variable], Any]) -> list[int]:
        """The steps whose left side has the same `aspect` as a root, as a subterm of one, or as a term of a step found."""
        index: dict[Any, list[int]] = {}
        for number, step in enumerate(self.steps):
            index.setdefault(aspect(step.before), []).append(number)
        chosen: list[int] = []
        seen: set[Variable] = set()
        stack = list(roots)
        while stack:
            variable = stack.pop()
            if variable in seen:
                continue
            seen.add(variable)
            found = index.pop(aspect(variable), [])
            chosen.extend(found)
            for number in found:
                stack += [self.steps[number].before, self.steps[number].after]
            if variable.owner is not None:
                stack.extend(variable.owner.inputs)
        return sorted(chosen)


def _contextual(step: Step) -> bool:
    return any(s.contextual for s in step.rule.skeletons)


def _makes_node(step: Step) -> bool:
    return all(is_node(s.after) for s in step.rule.skeletons)


class Congruence:
    """Classes of equal variables: closed under equal heads over equal inputs.

    Invariants: `find` gives the one variable that stands for a class; `_users` maps it to the variables that read one of the
    class; no two variables with equal `key` are in different classes.
    """

    def __init__(self) -> None:
        self._parent: dict[Variable, Variable] = {}
        self._users: dict[Variable, list[Variable]] = {}
        self._keys: dict[Any, Variable] = {}

    def find(self, variable: Variable) -> Variable:
        """The variable that stands for the class of `variable`, which was added."""
        parent = self._parent
        while (above := parent[variable]) is not variable:
            parent[variable] = parent[above]
            variable = parent[variable]
        return variable

    def key(self, variable: Variable) -> Any:
        """Equal for variables that are equal because their heads and inputs are."""
        if variable.owner is None:
            return variable.key if isinstance(variable, Constant) else variable
        return variable.symbol, *[self.find(i) for i in variable.owner.inputs]

    def add(self, variables: Iterable[Variable]) -> None:
        """Take in `variables` and the graph below them."""
        variables = list(variables)
        for node in toposort(variables, self._parent):
            for variable in (*node.inputs, *node.outputs):
                self._enter(variable)
        for variable in variables:
            self._enter(variable)

    def _enter(self, variable: Variable) -> None:
        if variable in self._parent:
            return
        self._parent[variable], self._users[variable] = variable, []
        if variable.owner is not None:
            for i in {self.find(i) for i in variable.owner.inputs}:
                self._users[i].append(variable)
        self.join(variable, self._keys.setdefault(self.key(variable), variable))

    def join(self, a: Variable, b: Variable) -> None:
        """Make `a` and `b` equal, and what is equal because they are."""
        pending = [(a, b)]
        while pending:
            a, b = (self.find(v) for v in pending.pop())
            if a is b:
                continue
            if len(self._users[a]) > len(self._users[b]):
                a, b = b, a
            self._parent[a] = b
            for user in self._users.pop(a):
                self._users[b].append(user)
                pending.append((user, self._keys.setdefault(self.key(user), user)))


def undone(variables: Sequence[Variable], undo: Mapping[Variable, Variable]) -> list[Variable]:
    """`variables` with what `undo` names replaced by what it maps it to, there too, on copies of the nodes above."""
    memo: dict[Variable, Variable] = {}
    copies: dict[Apply, Apply] = {}
    opened: set[Variable] = set()
    stack = list(reversed(variables)) if undo else []
    while stack:
        variable = stack[-1]
        if variable in memo:
            stack.pop()
            continue
        source = undo.get(variable)
        needed = [source] if source is not None else variable.owner.inputs if variable.owner is not None else []
        pending = [v for v in needed if v not in memo and v not in opened]
        opened.add(variable)
        if pending:
            stack.extend(pending)
            continue
        memo[variable] = memo.get(source, source) if source is not None else _copy(variable, memo, copies)
    return [memo.get(v, v) for v in variables]


def _copy(variable: Variable, memo: Mapping[Variable, Variable], copies: dict[Apply, Apply]) -> Variable:
    node = variable.owner
    inputs = [] if node is None else [memo.get(i, i) for i in node.inputs]
    if node is None or inputs == node.inputs:
        return variable
    if node not in copies:
        copies[node] = node.clone_with_new_inputs(inputs, strict=False)
    return copies[node].outputs[variable.index or 0]  # type: ignore[no-any-return]
