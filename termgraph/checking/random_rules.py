"""Random rules, for testing the engine: what kanren finds with such a rule and what is generated from it must agree.

A rule is drawn from a vocabulary of everything a clause may be made of: repeated variables, numbers, commuting and
variadic heads, open heads, parameters of Ops, nesting, guards, computed results, choices, and relations that yield nothing
but are goals themselves. They are no algebra: only types are kept.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from cons import cons
from kanren import conde, eq

from termgraph.checking.generate import PARAMETERS, Generator
from termgraph.errors import GraphTypeError, RuleError
from termgraph.graph.variable import Variable
from termgraph.rewrite.goals import (
    choose,
    compute,
    constant,
    differs,
    floating,
    integral,
    nonzero,
    positive,
    same_type,
    sole_client,
    where,
)
from termgraph.rewrite.relation import Rule, relation
from termgraph.rewrite.skeleton import is_node, split_pattern
from termgraph.tensor import Elemwise, TensorType
from termgraph.tensor.elementwise import rows
from termgraph.terms.term import OpTerm, Term

NUMBERS = (0, 1, 2, -1, 0.5)
#: How many rules are drawn until one can be a rule: its clauses may repeat each other, its sides differ in type, and its
#: pattern match nothing.
ATTEMPTS = 100
#: Op classes with one input, and the parameter that a pattern may leave open.
CLASSES = [(op_class, parameter) for op_class, parameter in PARAMETERS if parameter == "axis"]


def random_rule(seed: int) -> Rule:
    """The rule of a seed: a relation of one to three clauses. Equal seeds give equal rules."""
    for attempt in range(ATTEMPTS):
        try:
            rule: Rule = relation(_definition(seed, attempt), name=f"random_{seed}")
        except RuleError:  # a clause twice, or one whose sides differ in type
            continue
        if Generator(seed).instance(rule.skeletons[0]) is not None:
            return rule
    raise RuntimeError(f"no rule in {ATTEMPTS} attempts with the seed {seed}.")


def _definition(seed: int, attempt: int) -> Callable[..., Any]:
    """A function for `relation`. It is called whenever variables are needed afresh, and draws the same each time."""
    def clauses(x: Any, y: Any, z: Any, f: Any, rest: Any, parameter: Any, made: Any) -> Iterator[tuple[Any, ...]]:
        draw = _Drawing(np.random.default_rng([seed, attempt]), (x, y, z), f, rest, parameter, made)
        for _ in range(draw.pick((1, 1, 2, 3))):
            yield draw.clause()

    def goal(before: Any, after: Any) -> Any:
        variables = [type(before).fresh(n) for n in ("x", "y", "z", "f", "rest", "parameter", "made")]
        return conde(*([eq(before, left), *goals, eq(after, right)] for left, right, *goals in clauses(*variables)))
    return goal if seed % 5 == 4 else clauses


@cache
def _elementwise(nin: int) -> list[Elemwise]:
    """The elementwise Ops that take `nin` floats, so that whatever is drawn from them mostly has a type."""
    return [Elemwise(row) for row in rows() if row.nin == nin and _takes_floats(Elemwise(row))]


def _takes_floats(op: Elemwise) -> bool:
    try:
        op.make_node(*[TensorType("float64", ())() for _ in range(op.scalar_op.nin)])
    except GraphTypeError:
        return False
    return True


class _Drawing:
    """One random generator and the logic variables of a rule."""

    def __init__(self, rng: Any, variables: Sequence[Any], f: Any, rest: Any, parameter: Any, made: Any) -> None:
        self.rng, self.variables, self.f, self.rest, self.parameter, self.made = rng, variables, f, rest, parameter, made

    def pick(self, items: Sequence[Any]) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def clause(self) -> tuple[Any, ...]:
        """(before, after, *goals)."""
        #: the variables that stand for a term, in the order of the pattern, as often as they occur
        self.used: list[Any] = []
        before = self.node(depth=self.pick((1, 2, 2, 3)), root=True)
        goals = [self.guard(before) for _ in range(self.pick((0, 0, 1, 2))) if self.used]
        if self.used and self.chance(0.2):
            return before, *self.computed(before, goals)
        return before, self.rebuilt(self.changed(before), before), *goals

    # --- patterns -----------------------------------------------------------------------------------------------------

    def node(self, depth: int, root: bool = False) -> Any:
        """A pattern that is an application."""
        kind = self.rng.random()
        if kind < 0.1:
            op_class, name = self.pick(CLASSES)
            value = self.pick((self.parameter, self.pick(PARAMETERS[op_class, name])))
            return Term(OpTerm(op_class, **({name: value} if self.chance(0.8) else {})), (self.argument(depth - 1),))
        op = self.pick(_elementwise(self.pick((1, 2, 2, 2, 3))))
        if kind < 0.2 and root:  # a head or a tail that stands for any
            head = self.pick((op, self.f))
            return cons(head, cons(self.argument(depth - 1), self.rest) if self.chance(0.7) else self.rest)
        return Term(op, tuple(self.argument(depth - 1) for _ in range(op.scalar_op.nin)))

    def argument(self, depth: int) -> Any:
        """A pattern, a variable, perhaps one met before, or a number."""
        if depth and self.chance(0.6):
            return self.node(depth)
        if self.chance(0.2):
            return self.pick(NUMBERS)
        self.used.append(self.pick(self.variables))
        return self.used[-1]

    # --- right sides --------------------------------------------------------------------------------------------------

    def changed(self, pattern: Any) -> Any:
        """The pattern with one application changed; what is drawn from elementwise functions mostly keeps its type."""
        if not is_node(pattern):
            return pattern
        head, args, rest = split_pattern(pattern)
        nodes = [i for i, a in enumerate(args) if is_node(a)]
        if rest is not None:
            same = _listed([self.changed(a) for a in args], rest)
            return Term(self.pick(_elementwise(1)), (pattern,)) if self.chance(0.5) else cons(head, same)
        if nodes and self.chance(0.5):
            at = self.pick(nodes)
            return Term(head, (*args[:at], self.changed(args[at]), *args[at + 1:]))
        if isinstance(head, OpTerm) or self.chance(0.2):
            return Term(self.pick(_elementwise(1)), (pattern,))
        if self.chance(0.4):
            return self.pick(args)
        return Term(self.pick(_elementwise(len(args))), tuple(self.rng.permutation(np.array(args, dtype=object))))

    def rebuilt(self, after: Any, before: Any) -> Any:
        """`after`, unless it holds a term of the pattern that kanren would not build as it was matched."""
        matched = list(_nodes(before))
        if not any(node in matched and _is_loose(node) for node in _nodes(after)):
            return after
        return Term(self.pick(_elementwise(1)), (self.pick(self.used),)) if self.used else self.pick(NUMBERS)

    # --- goals --------------------------------------------------------------------------------------------------------

    def guard(self, before: Any) -> Any:
        """A test of the variables of the pattern, or of terms in it."""
        x, y = self.pick(self.used), self.pick(self.used)
        term = self.pick([x, *(node for node in _nodes(before) if not _is_loose(node))])
        return self.pick((constant(x), nonzero(x), positive(x), floating(x), integral(x), same_type(x, y), differs(x, y),
                          where(_shallow, term), sole_client(x), sole_client(term)))

    def computed(self, before: Any, goals: list[Any]) -> tuple[Any, ...]:
        """(after, *goals) with a result that a function gives."""
        x, y = self.pick(self.used), self.pick(self.used)
        goal = self.pick((compute(self.made, _first_argument, x), choose(self.made, _all_of, x, y),
                          compute((self.made, self.pick(self.variables)), _pair, x, y)))
        after = self.pick((self.made, Term(self.pick(_elementwise(1)), (self.made,))))
        return after, *(goals if self.chance(0.5) else []), goal


def _nodes(term: Any) -> Iterator[Any]:
    """The applications in a pattern."""
    if is_node(term):
        yield term
        for arg in split_pattern(term)[1]:
            yield from _nodes(arg)


def _is_loose(term: Any) -> bool:
    """Whether a pattern matches terms that differ in more than its variables: a number matches constants of many types, an Op
    given without a parameter whatever it is. The generated code keeps what matched where kanren builds anew."""
    return any(isinstance(leaf, (int, float)) for node in _nodes(term) for leaf in split_pattern(node)[1]) or any(
        isinstance(head, OpTerm) and len(head.params) < len(head.op_class.__props__)
        for head in (split_pattern(node)[0] for node in _nodes(term)))


def _listed(args: Sequence[Any], rest: Any) -> Any:
    tail = rest
    for arg in reversed(args):
        tail = cons(arg, tail)
    return tail


def _shallow(x: Any) -> bool:
    return isinstance(x, Variable) and (x.owner is None or all(i.owner is None for i in x.owner.inputs))


def _first_argument(x: Any) -> Any:
    return x.owner.inputs[0] if isinstance(x, Variable) and x.owner is not None else None


def _all_of(x: Any, y: Any) -> tuple[Any, ...]:
    return tuple(itertools.chain([y, x], x.owner.inputs if isinstance(x, Variable) and x.owner is not None else ()))


def _pair(x: Any, y: Any) -> Any:
    return (y, x) if isinstance(x, Variable) and isinstance(y, Variable) else None
