"""What the engines are compared on: 35 rules, random expressions, and a neutral form of results.

A rule is two texts, each engine makes its own patterns of them. Every engine rewrites innermost terms first and tries the
rules in this order, constant folding before them, so all reach the same normal form though the rules are not confluent.
"""

from __future__ import annotations

import ast
import math
import random
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

RULES = [
    ("x + 0", "x"), ("x - 0", "x"), ("0 - x", "-x"), ("x * 1", "x"), ("x * 0", "0"), ("x * -1", "-x"),
    ("x / 1", "x"), ("x / -1", "-x"), ("0 / x", "0"), ("x - x", "0"), ("x / x", "1"), ("x + x", "x * 2"),
    ("x * y / y", "x"), ("x / y * y", "x"), ("x + y - y", "x"), ("x - y + y", "x"),
    ("--x", "x"), ("x + -y", "x - y"), ("x - -y", "x + y"), ("-x * -y", "x * y"), ("-x / -y", "x / y"),
    ("sqrt(x) * sqrt(x)", "x"), ("log(exp(x))", "x"), ("exp(log(x))", "x"),
    ("exp(x) * exp(y)", "exp(x + y)"), ("log(x) + log(y)", "log(x * y)"),
    ("x * y + x * z", "x * (y + z)"), ("x * y - x * z", "x * (y - z)"),
    ("x ** 0", "1"), ("x ** 1", "x"), ("x ** 2", "x * x"),
    ("sqrt(x * x)", "abs(x)"), ("abs(abs(x))", "abs(x)"), ("abs(-x)", "abs(x)"), ("abs(exp(x))", "exp(x)"),
]
UNARY = ("neg", "exp", "log", "sqrt", "abs")
BINARY = ("add", "sub", "mul", "div", "pow")
COMMUTATIVE = frozenset({"add", "mul", "max"})
_OPERATORS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow", ast.USub: "neg"}
_UFUNCS = {"neg": np.negative, "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "abs": np.absolute,
           "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide, "pow": np.power}

#: Terms as nested tuples: ("add", a, b), a name, or a float.
Tree = Any
#: Nodes in an order in which inputs come first: ("leaf", name), ("number", value), (operation, *positions).
Program = list[tuple[Any, ...]]


def folded(operation: str, *values: float) -> float:
    """The value of an operation on numbers: the same floating-point function in every engine."""
    return float(_UFUNCS[operation](*values))


@cache
def tree(text: str) -> Tree:
    """The tree of an expression."""
    def walk(node: Any) -> Tree:
        match node:
            case ast.Name(id=name):
                return name
            case ast.Constant(value=int(value)):
                return float(value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
                return -float(value)
            case ast.UnaryOp(operand=operand):
                return ("neg", walk(operand))
            case ast.BinOp(left=left, op=operation, right=right):
                return (_OPERATORS[type(operation)], walk(left), walk(right))
            case ast.Call(func=ast.Name(id=name), args=args):
                return (name, *map(walk, args))
        raise ValueError(f"no term: {ast.dump(node)}")
    return walk(ast.parse(text, mode="eval").body)


def variables(term: Tree) -> list[str]:
    """The variables of a tree, sorted."""
    found = {term} if isinstance(term, str) else set()
    for argument in term[1:] if isinstance(term, tuple) else ():
        found.update(variables(argument))
    return sorted(found)


def commuted(term: Tree) -> list[Tree]:
    """A tree, and those made from it by exchanging arguments of `add` and `mul`: the order in which termgraph tries them."""
    if not isinstance(term, tuple):
        return [term]
    choices: list[tuple[Tree, ...]] = [()]
    for argument in term[1:]:
        choices = [(*c, variant) for c in choices for variant in commuted(argument)]
    orders: list[slice] = [slice(None), slice(None, None, -1)] if term[0] in COMMUTATIVE else [slice(None)]
    return list(dict.fromkeys((term[0], *choice[order]) for choice in choices for order in orders))


# --- random expressions -----------------------------------------------------------------------------------------------

LEAVES, NUMBERS, TERM = 10, (0.0, 1.0, 2.0, -1.0), 30
#: Below this a value that is not zero counts as cancellation, above the other as growth: neither is generated.
SMALLEST, LARGEST = 1e-2, 1e2


def value_of(operation: str, values: Sequence[float]) -> float | None:
    """The value of an operation, None where it is undefined, or so large, small or near -0.0 that rounding would decide
    which rule matches: on what is left every rule is true over the reals, so no order of rules gives NaN or infinity."""
    last = values[-1]
    if (operation in ("log", "sqrt") and last <= 0) or (operation in ("div", "neg") and last == 0):
        return None
    if (operation == "exp" and last > 4) or (operation in ("mul", "div") and 0 in values and min(values) < 0):
        return None
    value = folded(operation, *values)
    return value if value == 0 or SMALLEST < abs(value) < LARGEST else None


class Generator:
    """Draws `size` operations, a third of them as left sides of the rules. Without `sharing` every operation is read once, by
    a term of at most TERM operations."""

    def __init__(self, size: int, sharing: bool, seed: int) -> None:
        self.random, self.sharing = random.Random(seed), sharing
        self.program: Program = [*(("leaf", f"v{i}") for i in range(LEAVES)), *(("number", n) for n in NUMBERS)]
        self.values = [*(self.random.uniform(0.5, 2) for _ in range(LEAVES)), *NUMBERS]
        #: operations that may be read, and how many operations there are below each
        self.free: list[int] = []
        self.sizes = [0] * len(self.program)
        patterns = [tree(before) for before, _ in RULES]
        while len(self.program) < size + LEAVES + len(NUMBERS):
            if self.random.random() < 0.15:
                self.add(self.random.choice(patterns))
            else:
                operation = self.random.choice(("neg", "exp", "log", "sqrt", "abs", *("add", "sub", "mul", "div") * 2))
                self.add((operation, "x") if operation in UNARY else (operation, "x", "y"))

    def add(self, pattern: Tree) -> None:
        """Add an instance of a pattern, unless the operands drawn do not fit it."""
        length = len(self.program)
        drawn: list[int] = []
        repeated = {v for v in variables(pattern) if not self.sharing and str(pattern).count(f"'{v}'") > 1}
        bound = {v: self.random.randrange(LEAVES) if v in repeated else self.operand(drawn) for v in variables(pattern)}
        if self.instance(pattern, bound) is None:
            del self.program[length:], self.values[length:], self.sizes[length:]
            return
        if not self.sharing:
            for position in drawn:
                self.free.remove(position)
        if self.sharing or self.sizes[-1] < TERM:
            self.free.append(len(self.program) - 1)

    def operand(self, drawn: list[int]) -> int:
        """A leaf, a number or one of the last operations."""
        recent = [i for i in self.free[-30:] if i not in drawn] if not self.sharing else self.free[-200:]
        if not recent or self.random.random() < 0.15:
            return self.random.randrange(LEAVES + len(NUMBERS))
        drawn.append(self.random.choice(recent))
        return drawn[-1]

    def instance(self, pattern: Tree, bound: dict[str, int]) -> int | None:
        """The position of an instance of a pattern, None where it has no good value."""
        if isinstance(pattern, str):
            return bound[pattern]
        if isinstance(pattern, float):
            return LEAVES + NUMBERS.index(pattern)
        positions = [self.instance(p, bound) for p in pattern[1:]]
        if None in positions:
            return None
        value = value_of(pattern[0], [self.values[p] for p in positions if p is not None])
        if value is None:
            return None
        self.program.append((pattern[0], *positions))
        self.values.append(value)
        self.sizes.append(1 + sum(self.sizes[p] for p in positions if p is not None))
        return len(self.program) - 1


def random_program(size: int, sharing: bool = True, seed: int = 0) -> Program:
    """A random DAG or, without `sharing`, random trees, of `size` operations."""
    return Generator(size, sharing, seed).program


def built(program: Program, make: dict[str, Callable[..., Any]]) -> list[Any]:
    """The nodes that nothing reads, made by an engine's functions for "leaf", "number" and each operation."""
    nodes: list[Any] = []
    read: set[int] = set()
    for kind, *arguments in program:
        if kind in ("leaf", "number"):
            nodes.append(make[kind](arguments[0]))
        else:
            nodes.append(make[kind](*[nodes[i] for i in arguments]))
            read.update(arguments)
    return [node for i, node in enumerate(nodes) if i not in read and i >= LEAVES + len(NUMBERS)]


# --- the neutral form ---------------------------------------------------------------------------------------------------

class Neutral:
    """Numbers terms: equal terms, up to the order of commuting arguments and the last digits of numbers, get one number."""

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}

    def numbered(self, roots: Iterable[Any], read: Callable[[Any], tuple[Any, ...]]) -> list[int]:
        """The numbers of terms; `read` gives ("leaf", name), ("number", value) or (operation, *nodes)."""
        found: dict[Any, int] = {}
        for root in roots:
            stack = [root]
            while stack:
                node = stack[-1]
                kind, *arguments = read(node)
                waiting = [] if kind in ("leaf", "number") else [a for a in arguments if a not in found]
                if waiting and node not in found:
                    stack.extend(waiting)
                    continue
                stack.pop()
                if node not in found:
                    found[node] = self.number(kind, arguments, found)
        return [found[root] for root in roots]

    def number(self, kind: str, arguments: list[Any], found: dict[Any, int]) -> int:
        """The number of one term whose arguments have theirs."""
        if kind == "number":
            arguments = [f"{arguments[0] + 0.0:.9g}" if math.isfinite(arguments[0]) else "not finite"]
        elif kind != "leaf":
            arguments = [found[a] for a in arguments]
            arguments = sorted(arguments) if kind in COMMUTATIVE else arguments
        return self.numbers.setdefault((kind, *arguments), len(self.numbers))
