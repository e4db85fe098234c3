"""Plan: a pattern as a sequence of tests on a variable, and what its logic variables are bound to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unification import Var

from termgraph.graph.variable import Variable
from termgraph.rewrite.nodes import symbol_of
from termgraph.rewrite.skeleton import Skeleton, is_node, split_pattern
from termgraph.terms.term import OpTerm

Path = tuple[int, ...]
#: A kind, the path of the variable it looks at, and what it asks:
#: ("args", path, count, exact), ("symbol", path, Symbol), ("class", path, class), ("param", path, name, value),
#: ("literal", path, number), ("term", path, Variable), ("owned", path), ("constants", path) and, between Python
#: expressions, ("same", path, expression, expression) for identity, ("equal", ...) for equality.
Test = tuple[Any, ...]


@dataclass(frozen=True)
class Plan:
    """Invariant: a test looks only at variables that earlier tests, or the root, have named."""

    tests: tuple[Test, ...]
    #: logic variable -> Python expression over the names that the tests introduce
    bound: dict[Any, str]
    #: pattern subterm -> path of the variable it matched
    paths: dict[Any, Path]
    #: the waiting goals that are left for the leaf
    residue: tuple[Any, ...]


def local(path: Path) -> str:
    """The name of the variable at a path below the root `v`."""
    return "v" + "".join(f"_{i}" for i in path)


def plan(skeleton: Skeleton) -> Plan:
    """The tests for the pattern of a skeleton, outermost first. The root's symbol is not tested: the index has done it."""
    builder = _Builder()
    builder.visit(skeleton.before, ())
    residue = []
    for goal in skeleton.residue:
        _, _, rest = split_pattern(skeleton.before)
        if goal.name == "constants" and rest is not None and goal.args == (rest,):
            builder.tests.append(("constants", ()))  # decided before the leaf is called: it is asked of every node
        else:
            residue.append(goal)
    return Plan(tuple(builder.tests), builder.bound, builder.paths, tuple(residue))


def definite(term: Any) -> bool:
    """Whether a pattern stands for one term once its variables are known: not where an OpTerm leaves parameters open, which as
    a right side means their defaults."""
    if not is_node(term):
        return True
    head, args, _ = split_pattern(term)
    if isinstance(head, OpTerm) and len(head.params) < len(head.op_class.__props__):
        return False
    return all(definite(a) for a in args)


class _Builder:
    def __init__(self) -> None:
        self.tests: list[Test] = []
        self.bound: dict[Any, str] = {}
        self.paths: dict[Any, Path] = {}

    def bind(self, variable: Any, path: Path, expression: str, kind: str) -> None:
        if variable in self.bound:
            self.tests.append((kind, path, expression, self.bound[variable]))
        else:
            self.bound[variable] = expression

    def visit(self, term: Any, path: Path) -> None:
        """Patterns are as deep as somebody wrote them: this recursion ends soon."""
        if isinstance(term, Var):
            self.bind(term, path, local(path), "same")
        elif is_node(term):
            self.node(term, path)
        elif isinstance(term, Variable):
            self.tests.append(("term", path, term))
        else:
            self.tests.append(("literal", path, term))

    def node(self, term: Any, path: Path) -> None:
        if definite(term):
            self.paths.setdefault(term, path)
        head, args, rest = split_pattern(term)
        name = local(path)
        if isinstance(head, Var):
            if path:
                self.tests.append(("owned", path))
            self.bind(head, path, f"{name}.symbol.car", "same")
        elif isinstance(head, OpTerm):
            if path:
                self.tests.append(("class", path, head.op_class))
            self.parameters(head.params, path)
        elif path:
            self.tests.append(("symbol", path, symbol_of(head)))
        self.arguments(args, rest, path)

    def parameters(self, params: Sequence[tuple[str, Any]], path: Path) -> None:
        for parameter, value in params:
            if isinstance(value, Var):
                self.bind(value, path, f"{local(path)}.symbol.op.{parameter}", "equal")
            else:
                self.tests.append(("param", path, parameter, value))

    def arguments(self, args: Sequence[Any], rest: Any, path: Path) -> None:
        if args or rest is None:
            self.tests.append(("args", path, len(args), rest is None))
        if rest is not None:
            inputs = f"{local(path)}.owner.inputs" + (f"[{len(args)}:]" if args else "")
            self.bind(rest, path, f"tuple({inputs})", "equal")
        for position, arg in enumerate(args):
            self.visit(arg, (*path, position))
