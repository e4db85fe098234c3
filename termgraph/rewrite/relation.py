"""Rule: a relation between a term and what may stand in its place, and the decorator that makes one."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from cons import cons
from kanren import eq, lall
from unification import Var, reify

from termgraph.errors import BareLeftSideError, GraphTypeError, RuleError, TypeChangeError
from termgraph.graph.symbol import Symbol
from termgraph.graph.type import sample_types
from termgraph.graph.variable import Variable
from termgraph.rewrite.context import typed_like
from termgraph.rewrite.delay import Goal, State, substitution_of, variables_of, wake
from termgraph.rewrite.fuel import call_limit
from termgraph.rewrite.matcher import Matchers
from termgraph.rewrite.skeleton import Skeleton, as_pattern, commuted, is_node
from termgraph.rewrite.stage import NotStageable, stage
from termgraph.terms.build import build
from termgraph.terms.term import LogicVar

SOUNDNESS = ("exact", "real", "unsafe")
#: Calls allowed to find out whether a relation that is searched can match a head.
PROBE = 50_000


class Rule:
    """A relation `rule(before, after)` with a name, its algebra, its soundness and its phase.

    Calling it gives an ordinary kanren goal, to be run in either direction. The engine never runs that goal on a graph: it
    compiles `skeletons`, what staging leaves of it; a test holds the two equal.

    `soundness` is "exact" (the value is the same, bit by bit), "real" (true over the reals; floats may differ in rounding)
    or "unsafe: why" (wrong where the reason says).
    """

    def __init__(self, function: Callable[..., Any], phase: str = "simplify", soundness: str = "real",
                 name: str | None = None, tags: Sequence[str] = ()) -> None:
        self.function = function
        self.__module__ = function.__module__
        self.name = name or function.__name__
        code = function.__code__
        self.where = f"{Path(code.co_filename).name}:{code.co_firstlineno}"
        self.algebra = inspect.getdoc(function) or ""
        self.phase = phase
        self.soundness = soundness
        if soundness.split(":")[0] not in SOUNDNESS or (soundness.startswith("unsafe") and ": " not in soundness):
            raise RuleError(self.name, self.where,
                            f"the soundness must be 'exact', 'real' or 'unsafe: why', got {soundness!r}.")
        self.tags = frozenset({*tags, phase})
        self._parameters = list(inspect.signature(function).parameters)
        self.yields = inspect.isgeneratorfunction(function)
        if not self.yields and len(self._parameters) != 2:
            raise RuleError(self.name, self.where, "a plain relation takes (before, after) and returns a goal; "
                                                   "a relation that yields clauses takes its logic variables.")
        #: Why the relation could not be staged, None where it was: then it runs as kanren search.
        self.not_staged: str | None = None
        self._heads: dict[Symbol, bool] = {}
        self.skeletons: tuple[Skeleton, ...] = self._stage()
        for skeleton in self.skeletons:
            check_types(self, skeleton)

    # --- the relation -------------------------------------------------------------------------------------------------

    def __call__(self, before: Any, after: Any) -> Goal:
        """The goal that `before` may be rewritten to `after`, types kept."""
        def goal(state: State) -> Iterator[State]:
            for clause in self._clauses():
                yield from lall(clause(before, after), wake, keeps_type(before, after))(state)
        return goal

    def _clauses(self) -> list[Callable[[Any, Any], Goal]]:
        if not self.yields:
            return [self._plain_clause]
        variables = [LogicVar.fresh(n) for n in self._parameters]
        clauses = []
        for line in self.function(*variables):
            if not isinstance(line, tuple) or len(line) < 2:
                raise RuleError(self.name, self.where,
                                f"each yield must give before, after and perhaps goals, got {line!r:.80}.")
            clauses.append(_clause(self, *line))
        if not clauses:
            raise RuleError(self.name, self.where, "it yields no clause.")
        return clauses

    def _plain_clause(self, before: Any, after: Any) -> Goal:
        if not self.staged:
            return self.function(before, after)  # type: ignore[no-any-return]
        # The relation sees an unknown, and `before` meets the pattern it settles on: that is how its commutative Ops match
        # in either order without its author asking.
        middle = LogicVar.fresh("before")
        return lall(self.function(middle, after), equal_commuted(before, middle))  # type: ignore[no-any-return]

    @property
    def staged(self) -> bool:
        """Whether the engine runs generated code for it, and not kanren search."""
        return self.not_staged is None

    def _stage(self) -> tuple[Skeleton, ...]:
        self.not_staged = None
        try:
            return stage(self._clauses(), self.name, self.where, limited=not self.yields)
        except NotStageable as reason:
            self.not_staged = str(reason)
            return ()

    def can_match(self, symbol: Symbol) -> bool:
        """Whether the relation, which has to be searched, might have an answer for a term with this symbol.

        It is run once on the symbol over unknown arguments; where that does not end soon, the answer is yes.
        """
        known = self._heads.get(symbol)
        if known is None:
            before = cons(symbol.car, LogicVar.fresh("arguments"))
            try:
                with call_limit(PROBE):
                    known = any(True for clause in self._clauses() for _ in clause(before, LogicVar.fresh("after"))({}))
            except Exception:  # it cannot be run on unknown arguments (or not to an end): nothing is ruled out
                known = True
            self._heads[symbol] = known
        return known

    # --- for people ---------------------------------------------------------------------------------------------------

    @cached_property
    def matchers(self) -> Matchers:
        """The generated code of this rule alone."""
        return Matchers([(self, skeleton) for skeleton in self.skeletons])

    def source(self) -> str:
        """The Python source of the generated matcher."""
        return self.matchers.source()

    def rewrites(self, variable: Variable, graph: Any = None) -> list[Variable]:
        """Every variable the generated matcher gives for `variable`, whose equal subterms must be identical."""
        return self.matchers.rewrites(variable, graph)

    def __reduce__(self) -> str:
        # By reference, as a function is: the module it is in stages it again.
        return self.function.__qualname__

    def __repr__(self) -> str:
        return f"<rule {self.name} ({self.where}), {len(self.skeletons)} skeletons, {self.soundness}>"


def _clause(rule: Rule, before: Any, after: Any, *goals: Goal) -> Callable[[Any, Any], Goal]:
    pattern = as_pattern(before)
    if not is_node(pattern) and not isinstance(pattern, Var):
        raise BareLeftSideError(rule.name, rule.where, before)
    variants = list(dict.fromkeys(commuted(pattern))) if is_node(pattern) else [pattern]

    def clause(left: Any, right: Any) -> Goal:
        def goal(state: State) -> Iterator[State]:
            for variant in variants:
                yield from lall(eq(left, variant), *goals, eq(right, after))(state)
        return goal
    return clause


def equal_commuted(term: Any, pattern: Any) -> Goal:
    """`term` equals what `pattern` has become, up to the order of the arguments of commutative Ops."""
    def goal(state: State) -> Iterator[State]:
        from_pattern = as_pattern(reify(pattern, substitution_of(state)))
        for variant in dict.fromkeys(commuted(from_pattern)) if is_node(from_pattern) else [from_pattern]:
            yield from eq(term, variant)(state)
    return goal


def keeps_type(before: Any, after: Any) -> Goal:
    """Every rule's obligation: once both sides are known, `after` can be built and its type is that of `before`."""
    def goal(state: State) -> Iterator[State]:
        known = substitution_of(state)
        old, new = reify(before, known), reify(after, known)
        if isinstance(old, Variable) and not variables_of(new):
            try:
                result = typed_like(old, build(new))
            except GraphTypeError:
                return
            if result is None:
                return
        yield state
    return goal


def check_types(rule: Rule, skeleton: Skeleton) -> None:
    """Raise TypeChangeError where the two sides differ in type for every sample type the left side can be built with."""
    leaves = [v for v in variables_of(skeleton.before) if isinstance(v, LogicVar)]
    difference = None
    for sample in sample_types():
        chosen = {v: sample() for v in leaves}
        try:
            before = build(reify(skeleton.before, chosen))
            after = build(reify(skeleton.after, chosen))
        except (TypeError, ValueError, AttributeError, NotImplementedError, IndexError):
            continue  # the sample does not fit the operators; that says nothing about the rule
        if not isinstance(before, Variable) or not isinstance(after, Variable) or typed_like(before, after) is not None:
            return
        difference = difference or (before.type, after.type)
    if difference is not None:
        raise TypeChangeError(rule.name, rule.where, skeleton.before, skeleton.after, *difference)


def relation(function: Callable[..., Any] | None = None, *, phase: str = "simplify", soundness: str | None = None,
             name: str | None = None, tags: Sequence[str] = ()) -> Any:
    """Make a rule of a relation.

    The function either yields clauses `before, after, *goals` over its parameters, which are fresh logic variables, or is
    any plain kanren relation `rel(before, after)` that returns a goal. The soundness may be given here or as a line
    "Soundness: ..." of the docstring; it is "real" by default.

    Raises at once, with file and line, for a clause that cannot be a rule: UnboundVariableError, BareLeftSideError,
    DuplicateClauseError, TypeChangeError.

    >>> import termgraph as tg, termgraph.tensor as tt
    >>> @tg.relation
    ... def exp_of_sum(x, y):
    ...     \"\"\"exp(x) * exp(y) = exp(x + y)\"\"\"
    ...     yield tt.exp(x) * tt.exp(y), tt.exp(x + y)
    >>> a, b = tt.vectors("a", "b")
    >>> tg.pprint(tg.rewrite_graph(tt.exp(a) * tt.exp(b), rules=[exp_of_sum])[0])
    'exp(a + b)'
    """
    def make(function: Callable[..., Any]) -> Rule:
        said = re.search(r"^Soundness:\s*(.+?)\.?$", inspect.getdoc(function) or "", re.MULTILINE)
        return Rule(function, phase, soundness or (said.group(1) if said else "real"), name, tags)
    return make if function is None else make(function)
