"""Delayed goals: goals that wait in a kanren constraint store until what they ask about is known.

Run forwards on a graph they are decided at once. Run with both sides unknown, as staging does, they are what is left over,
the residue of a clause: the generated matcher decides them at match time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from cons.core import ConsPair
from etuples.core import ExpressionTuple
from kanren.constraints import ConstrainedState, ConstraintStore
from unification import Var, reify, unify

from termgraph.graph.variable import Variable
from termgraph.terms.build import build
from termgraph.terms.term import OpTerm, Term

State = Any
Goal = Callable[[State], Iterator[State]]

#: The graph that contextual goals speak of while kanren runs them; the drivers hand theirs to the generated code directly.
_graph: ContextVar[Any] = ContextVar("graph", default=None)


@contextmanager
def in_graph(graph: Any) -> Iterator[None]:
    """Inside the block, contextual goals run by kanren are decided for `graph` (a `GraphView`)."""
    token = _graph.set(graph)
    try:
        yield
    finally:
        _graph.reset(token)


@dataclass(frozen=True, eq=False)
class Delayed:
    """A goal that waits until its arguments are known.

    With `outs` None it is a test: `function(*args)` is true. Otherwise `function(*args)` gives the solutions for `outs`: an
    iterable of values (of tuples where `outs` is a tuple) with `many`, else one value or None for failure. With
    `contextual` the function takes the graph first.
    """

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    outs: Any = None
    many: bool = False
    contextual: bool = False

    def __str__(self) -> str:
        inside = ", ".join(map(str, self.args))
        return f"{self.name}({inside})" if self.outs is None else f"{self.outs} = {self.name}({inside})"

    def substituted(self, state: Any) -> Delayed:
        """The same goal with what `state` knows put in."""
        return Delayed(self.name, self.function, tuple(reify(a, state) for a in self.args),
                       None if self.outs is None else reify(self.outs, state), self.many, self.contextual)


class Waiting(ConstraintStore):  # type: ignore[misc]  # kanren has no type information
    """The goals a state waits for. Invariant: `goals` is a tuple, never changed in place, so branches cannot disturb each
    other (kanren copies a store by its constructor argument, which here is that tuple)."""

    __slots__ = ("goals",)
    op_str = "waits for"

    def __init__(self, lvar_constraints: Any = None, goals: tuple[Delayed, ...] = ()) -> None:
        super().__init__(None)  # type: ignore[no-untyped-call]
        self.goals = goals

    def copy(self) -> Waiting:
        return Waiting(goals=self.goals)

    def pre_unify_check(self, lvar_map: Any, lvar: Any = None, value: Any = None) -> bool:
        return True

    def post_unify_check(self, lvar_map: Any, lvar: Any = None, value: Any = None, old_state: Any = None) -> bool:
        """Decide the tests that can be decided now; goals that bind something wait for `wake`."""
        kept = []
        for goal in self.goals:
            if goal.outs is None:
                values = known_values(goal.args, lvar_map)
                if values is not None and not (goal.contextual and _graph.get() is None):
                    if not decide(goal, values):
                        return False
                    continue
            kept.append(goal)
        self.goals = tuple(kept)
        return True

    def constraints_str(self, lvar: Any) -> str:
        return ", ".join(str(g) for g in self.goals if lvar in variables_of((g.args, g.outs)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Waiting) and self.goals == other.goals

    __hash__ = None  # type: ignore[assignment]


def substitution_of(state: Any) -> Any:
    """The plain mapping inside a state."""
    return state.data if isinstance(state, ConstrainedState) else state


def waiting_goals(state: Any) -> tuple[Delayed, ...]:
    """The goals a state waits for."""
    store = state.constraints.get(Waiting) if isinstance(state, ConstrainedState) else None
    return () if store is None else store.goals


def with_goals(state: Any, goals: tuple[Delayed, ...]) -> State:
    """`state`, waiting for `goals` and no others."""
    copy: Any = state.copy() if isinstance(state, ConstrainedState) else ConstrainedState(state)  # type: ignore[no-untyped-call]
    copy.constraints[Waiting] = Waiting(goals=goals)
    return copy


def variables_of(term: Any) -> list[Var]:
    """The logic variables in a term, each once, in order."""
    found: dict[Var, None] = {}
    stack = [term]
    while stack:
        item = stack.pop()
        kind = type(item)
        if issubclass(kind, Var):
            found.setdefault(item)
        elif kind is Term:
            stack.extend((*reversed(item.args), item.head))
        elif kind is OpTerm:
            stack.extend(v for _, v in reversed(item.params))
        elif kind is ConsPair:
            stack.extend((item.cdr, item.car))
        elif kind in (tuple, list, ExpressionTuple):
            stack.extend(reversed(list(item)))
    return list(found)


def known_values(args: Sequence[Any], state: Any) -> list[Any] | None:
    """The arguments as values (terms built into Variables), or None while one is not known."""
    values = []
    for arg in args:
        value = reify(arg, state)
        if variables_of(value):
            return None
        values.append(_value(value))
    return values


def _value(term: Any) -> Any:
    kind = type(term)
    if kind is Term or kind is ConsPair or kind is ExpressionTuple:
        return build(term, _existing)
    if kind is tuple and term and callable(term[0]) and not isinstance(term[0], Variable):
        return build(term, _existing)  # a cons of a head and inputs, as reify leaves it
    if kind is tuple:
        return tuple(_value(t) for t in term)
    return term


def _existing(head: Any, args: Sequence[Any]) -> Any:
    """The variable of the graph at hand with this head over these arguments, or a new one where it has none."""
    graph = _graph.get()
    found = None if graph is None else graph.lookup(head, args)
    return head(*args) if found is None else found


def decide(goal: Delayed, values: Sequence[Any]) -> Any:
    """What the function of a goal says of known arguments."""
    return goal.function(_graph.get(), *values) if goal.contextual else goal.function(*values)


def delayed(goal: Delayed) -> Goal:
    """The kanren goal that decides `goal` if it can and otherwise leaves it waiting."""
    def run(state: State) -> Iterator[State]:
        values = known_values(goal.args, substitution_of(state))
        if values is None or (goal.contextual and _graph.get() is None):
            yield with_goals(state, (*waiting_goals(state), goal))
        else:
            yield from solutions(goal, values, state)
    return run


def solutions(goal: Delayed, values: Sequence[Any], state: State) -> Iterator[State]:
    """The states that follow from a goal whose arguments are known."""
    answer = decide(goal, values)
    if goal.outs is None:
        if answer:
            yield state
        return
    for value in (answer if goal.many else () if answer is None else (answer,)):
        extended = unify(goal.outs, value, state)
        if extended is not False:
            yield extended


def wake(state: State) -> Iterator[State]:
    """The goal that solves every waiting goal whose arguments have become known; it ends a clause."""
    todo = [state]
    while todo:
        current = todo.pop()
        goals = waiting_goals(current)
        for goal in goals:
            if goal.contextual and _graph.get() is None:
                continue
            values = known_values(goal.args, substitution_of(current))
            if values is not None:
                rest = with_goals(current, tuple(g for g in goals if g is not goal))
                todo.extend(reversed(list(solutions(goal, values, rest))))
                break
        else:
            yield current
