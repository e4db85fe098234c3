"""Facts: what is known of the value of a term from how it is built. `positive` holds of exp(x), and of a sum of positives.

A fact is a relation of one argument. Its clauses are written like those of a rule, a pattern and the goals that must hold,
and are staged and compiled like them; what the values of constants say comes first.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import local
from typing import Any
from weakref import WeakKeyDictionary

from kanren import eq, lall

from termgraph.graph.variable import Constant, Variable, literal_of
from termgraph.rewrite.delay import Delayed, Goal, State, delayed
from termgraph.rewrite.matcher import Matchers
from termgraph.rewrite.skeleton import Skeleton, as_pattern, commuted
from termgraph.rewrite.stage import stage
from termgraph.terms.term import LogicVar

#: A fact that would need a longer chain of reasons than this is not found.
DEPTH = 40


class _State(local):
    """What is being asked, so that facts defined by each other come to an end. One for each thread."""

    def __init__(self) -> None:
        #: the questions being asked, each on the way to the one before
        self.asked: set[tuple[Fact, Variable]] = set()
        #: those answered "no", perhaps for lack of depth, since the first of them
        self.refuted: set[tuple[Fact, Variable]] = set()


_state = _State()
#: A clause added to one fact may prove another, so what all of them remember is forgotten then.
_every: list[Fact] = []


class Fact:
    """A property of values, such as being positive.

    Invariants: `holds(x)` is true only where the clauses prove it, over the reals; a clause added later makes it true of
    more terms, never of fewer. `fact(x)` is the goal for rules and for kanren.

    >>> import termgraph.tensor as tt, termgraph.rules
    >>> from termgraph.rewrite.goals import positive
    >>> x = tt.vector("x")
    >>> positive.holds(tt.exp(x) + 1), positive.holds(x)
    (True, False)
    """

    def __init__(self, name: str, meaning: str, of_constant: Callable[[Any], Any]) -> None:
        self.name, self.meaning = name, meaning
        self._of_constant = of_constant
        self._entries: list[tuple[Any, Skeleton]] = []
        self._implied_by: list[Fact] = []
        self._matchers: Matchers | None = None
        self._known: WeakKeyDictionary[Variable, bool] = WeakKeyDictionary()
        _every.append(self)

    def __call__(self, x: Any) -> Goal:
        """The goal that this fact holds of `x`."""
        return delayed(Delayed(self.name, self.holds, (x,)))

    def when(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Add clauses: `function` yields patterns over its parameters, each alone or in a tuple with goals.

        >>> import termgraph.tensor as tt
        >>> even = Fact("even", "a multiple of two", lambda data: data % 2 == 0)
        >>> @even.when
        ... def sums(x, y):
        ...     yield x + y, even(x), even(y)
        ...     yield x * y, even(x)
        >>> i = tt.lscalar("i")
        >>> even.holds(i * 2 + 4), even.holds(i * 2 + 3)
        (True, False)
        """
        where = f"{Path(function.__code__.co_filename).name}:{function.__code__.co_firstlineno}"
        owner = _Owner(f"{self.name}.{function.__name__}", where)
        parameters = [LogicVar.fresh(n) for n in inspect.signature(function).parameters]
        for line in function(*parameters):
            pattern, *goals = line if isinstance(line, tuple) else (line,)
            clause = _clause(as_pattern(pattern), goals)
            self._entries.extend((owner, s) for s in stage([clause], owner.name, where))
        self._changed()
        return function

    def follows_from(self, *others: Fact) -> None:
        """From now on this fact holds of whatever one of `others` holds of."""
        self._implied_by.extend(others)
        self._changed()

    def _changed(self) -> None:
        self._matchers = None
        for fact in _every:
            fact._known.clear()

    def holds(self, x: Any) -> bool:
        """Whether this is known of `x`: a Variable or a number."""
        if not isinstance(x, Variable):
            return bool(self._of_constant(x))
        if isinstance(x, Constant):
            return _all(self._of_constant(x.data))
        known = self._known.get(x)
        return self._asked(x) if known is None else known

    def _asked(self, x: Variable) -> bool:
        question, asked, refuted = (self, x), _state.asked, _state.refuted
        if question in asked or question in refuted or len(asked) > DEPTH:
            return False
        asked.add(question)
        try:
            known = self._proved(x)
        finally:
            asked.discard(question)
            if not asked:
                refuted.clear()
        if known or not asked:
            self._known[x] = known
        else:
            refuted.add(question)
        return known

    def _proved(self, x: Variable) -> bool:
        literal = literal_of(x)
        if literal is not None:
            return bool(self._of_constant(literal))
        if any(fact.holds(x) for fact in self._implied_by):
            return True
        if x.owner is None:
            return False
        if self._matchers is None:
            self._matchers = Matchers(self._entries)
        return any(premises_hold(goals, values) for goals, values in self._matchers.matches(x))

    def __repr__(self) -> str:
        return f"<fact {self.name}: {self.meaning}>"


class _Owner:
    """What generated code is told of the clause it comes from."""

    def __init__(self, name: str, where: str) -> None:
        self.name, self.where = name, where


def _all(answer: Any) -> bool:
    return bool(answer.all()) if hasattr(answer, "all") else bool(answer)


def _clause(pattern: Any, goals: list[Goal]) -> Callable[[Any, Any], Goal]:
    variants = list(dict.fromkeys(commuted(pattern)))

    def clause(term: Any, answer: Any) -> Goal:
        def goal(state: State) -> Iterator[State]:
            for variant in variants:
                yield from lall(eq(term, variant), *goals, eq(answer, True))(state)
        return goal
    return clause


def premises_hold(goals: tuple[Delayed, ...], values: dict[Any, Any]) -> bool:
    """Whether the waiting tests of a clause hold for what its pattern bound."""
    return all(goal.function(*[values.get(a, a) for a in goal.args]) for goal in goals)


def _number(test: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`test` on real numbers; false of bools and of complex numbers."""
    def tested(value: Any) -> Any:
        kind = getattr(getattr(value, "dtype", None), "kind", "b" if isinstance(value, bool) else "f")
        return kind in "iuf" and test(value)
    return tested


positive = Fact("positive", "greater than zero", _number(lambda x: x > 0))
negative = Fact("negative", "less than zero", _number(lambda x: x < 0))
nonnegative = Fact("nonnegative", "zero or greater", _number(lambda x: x >= 0))
nonzero = Fact("nonzero", "not zero", _number(lambda x: x != 0))
finite = Fact("finite", "neither infinite nor NaN", _number(lambda x: (x == x) & (abs(x) != float("inf"))))
nonnegative.follows_from(positive)
nonzero.follows_from(positive, negative)
FACTS = {fact.name: fact for fact in (positive, negative, nonnegative, nonzero, finite)}
