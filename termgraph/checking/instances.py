"""Generic instances: a pattern built into a graph over leaves that are nothing but themselves.

What rules do to the generic instance they do to every term the pattern matches, as long as types and guards agree.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from unification import Var

from termgraph.checking.generate import MISFIT, PARAMETERS, leaf_types
from termgraph.checking.overlap import applied, name_of
from termgraph.errors import RuleExecutionError
from termgraph.graph.fgraph import FunctionGraph
from termgraph.graph.traversal import graph_inputs
from termgraph.graph.type import Type
from termgraph.graph.variable import Constant, Variable
from termgraph.rewrite.delay import Delayed, decide, variables_of
from termgraph.rewrite.matcher import Matchers
from termgraph.rewrite.nodes import NodeTable
from termgraph.rewrite.skeleton import Skeleton, is_node, split_pattern
from termgraph.rewrite.view import GraphView
from termgraph.sparse import SparseTensorType
from termgraph.tensor import TensorType, constant
from termgraph.terms.build import build
from termgraph.terms.term import OpTerm

#: The guards that a variable of which nothing is known does not pass, and a constant may.
CONSTANT_GUARDS = ("constant", "positive", "negative", "nonnegative", "nonzero", "finite")
#: Values of the constants that guards ask for: exact in every dtype, and so are their sums and products.
NUMBERS = (3, 5, 7, 11, 13, 17)
#: What leaves of different types are drawn from.
MIXED = (TensorType("float64", (None, None)), TensorType("float64", ()), SparseTensorType("csr", "float64"))
#: What an open parameter is when `PARAMETERS` does not know it.
ANYTHING = (None, 0, 1, (0,), True, False)
MOST_TYPINGS = 300


def never_holds(goals: Sequence[Delayed]) -> bool:
    """Whether a goal asks of a term that is no literal to be a constant, when folding has had its turn before; or is false
    of the literals it asks about."""
    for goal in goals:
        if goal.name == "constant" and any(is_node(a) for a in goal.args):
            return True
        if goal.name in CONSTANT_GUARDS and all(isinstance(a, (int, float)) for a in goal.args) and not decide(goal, goal.args):
            return True
    return False


def is_ground(variable: Variable) -> bool:
    """Whether it depends on constants only."""
    return all(isinstance(v, Constant) for v in graph_inputs([variable]))


def bindings(pattern: Any, goals: Sequence[Delayed] = ()) -> Iterator[dict[Var, Any]]:
    """Leaves for the variables of a pattern: all of one type first, for each type there is, then of several. Where goals ask
    for a constant there is one; other variables that goals speak of are once variables and once constants."""
    parameters = _open_parameters(pattern)
    leaves = [v for v in variables_of(pattern) if v not in parameters]
    asked = {v for g in goals if g.name in CONSTANT_GUARDS for v in g.args if isinstance(v, Var)}
    asked_of = {v for g in goals for v in variables_of(g.args)} & set(leaves)
    names = _names(leaves)
    for typing in itertools.islice(_typings(len(leaves)), MOST_TYPINGS):
        for constants in (asked,) if asked_of <= asked else (asked, asked_of):
            bound: dict[Var, Any] = {}
            for number, (variable, kind) in enumerate(zip(leaves, typing, strict=True)):
                literal = variable in constants and isinstance(kind, TensorType)
                value = NUMBERS[number % len(NUMBERS)]
                bound[variable] = constant(value, dtype=kind.dtype) if literal else kind(names[variable])  # type: ignore
            for choice in itertools.product(*parameters.values()):
                yield bound | dict(zip(parameters, choice, strict=True))


def _open_parameters(pattern: Any) -> dict[Var, Sequence[Any]]:
    found: dict[Var, Sequence[Any]] = {}
    stack = [pattern]
    while stack:
        term = stack.pop()
        if is_node(term):
            head, args, _ = split_pattern(term)
            stack.extend(reversed(args))
            for name, value in head.params if isinstance(head, OpTerm) else ():
                if isinstance(value, Var):
                    found.setdefault(value, PARAMETERS.get((head.op_class, name), ANYTHING))
    return found


def _names(leaves: Sequence[Var]) -> dict[Var, str]:
    """The variables' own names, numbered where two have the same."""
    names: dict[Var, str] = {}
    for variable in leaves:
        name = name_of(variable)
        candidates = itertools.chain([name], (f"{name}{n}" for n in itertools.count(1)))
        names[variable] = next(c for c in candidates if c not in names.values())
    return names


def _typings(count: int) -> Iterator[tuple[Type, ...]]:
    for kind in leaf_types():
        yield (kind,) * count
    if count > 1:
        yield from (t for t in itertools.product(MIXED, repeat=count) if len(set(t)) > 1)


class Workbench:
    """Where generic instances are made and rewritten by single clauses. All nodes are interned in one table."""

    def __init__(self) -> None:
        self.table = NodeTable()
        self._matchers: dict[int, Matchers] = {}

    def built(self, pattern: Any, bound: dict[Var, Any]) -> Variable | None:
        """The pattern over these leaves; None where they do not fit its operators."""
        try:
            made = build(applied(pattern, bound), self.table.make)
        except MISFIT:
            return None
        return self.table.intern(made) if isinstance(made, Variable) else None

    def rewritten(self, rule: Any, skeleton: Skeleton, variable: Variable) -> Variable | None:
        """What the clause makes of the variable, whose only reader is the output of a graph; None where it does not fire."""
        matchers = self._matchers.get(id(skeleton))
        if matchers is None:
            matchers = self._matchers[id(skeleton)] = Matchers([(rule, skeleton)])
        if matchers.function_for(variable.symbol) is None:
            return None
        graph = self.graph_of(variable) if skeleton.contextual else None
        try:
            return next(iter(matchers.rewrites(variable, graph, self.table)), None)
        except RuleExecutionError as error:
            if isinstance(error.__cause__, MISFIT):
                return None  # a goal that cannot take these types: another choice of leaves may fit it
            raise

    def graph_of(self, variable: Variable) -> GraphView:
        """A graph that computes the variable only."""
        inputs = [v for v in graph_inputs([variable]) if not isinstance(v, Constant)]
        return GraphView(FunctionGraph(inputs, [variable], clone=False), self.table, [])
