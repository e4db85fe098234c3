"""The cost of more rules: 10 to 1,000 synthetic rules on one graph, beside dispatch by hand and tinygrad; and what it takes
to stage and compile 1,000 rules.

A rule is b(f(x), g(h(y))) = b(x, y) for a binary b and unary f, g, h; the graph is random over the same operations, so most
rules share their head with a node, many their first test, and few match.
"""

from __future__ import annotations

import gc
import itertools
import random
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from algebra import COMMUTATIVE, Neutral, Program
from common import show, verdict
from engine import measured
from engines import OURS, Engine, Handwritten, Termgraph, Tinygrad, as_relation, missing
from handwritten import Node

from termgraph.rewrite import RuleSet

UNARY = ("neg", "exp", "log", "sqrt", "abs", "sin", "reciprocal")
BINARY = {"add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "div": "{} / {}", "pow": "{} ** {}", "max": "max({}, {})"}
COUNTS = (10, 30, 100, 300, 1_000)
NODES, REPETITIONS = 10_000, 5
GROWTH_TO_300, GROWTH_TO_1000, COMPILE_BAR = 2.5, 1.5, 1.0
Rule = tuple[str, str]
#: (b, f, g, h) of b(f(x), g(h(y)))
Shape = tuple[str, str, str, str]


def shapes() -> list[Shape]:
    """1,000 different rules, in random order."""
    return random.Random(0).sample(list(itertools.product(BINARY, UNARY, UNARY, UNARY)), COUNTS[-1])


def texts(shape: Shape) -> Rule:
    """A rule as text."""
    b, f, g, h = shape
    return BINARY[b].format(f"{f}(x)", f"{g}({h}(y))"), BINARY[b].format("x", "y")


def program() -> Program:
    """A random DAG, two thirds of it unary."""
    rng = random.Random(1)
    nodes: Program = [("leaf", f"v{i}") for i in range(10)]
    while len(nodes) < NODES:
        recent = range(max(0, len(nodes) - 300), len(nodes))
        if rng.random() < 0.65:
            nodes.append((rng.choice(UNARY), rng.choice(recent)))
        else:
            nodes.append((rng.choice(list(BINARY)), rng.choice(recent), rng.choice(recent)))
    return nodes


class ByHand(Handwritten):
    """Dispatch by hand: one dictionary from the operations a rule names to its number."""

    def __init__(self, rules: Sequence[Shape]) -> None:
        self.rules: dict[Any, int] = {shape: number for number, shape in enumerate(rules)}

    def rewrite(self, graph: list[Node]) -> list[Node]:
        table: dict[Any, Node] = {}
        normal: dict[Node, Node] = {}
        for root in graph:
            stack = [root]
            while stack:
                node = stack[-1]
                a, b = node.a, node.b
                if a is None:
                    normal[node] = node
                elif a not in normal:
                    stack.append(a)
                    continue
                elif b is None:
                    key = node.op, normal[a]
                    normal[node] = table.get(key) or table.setdefault(key, Node(*key))
                elif b not in normal:
                    stack.append(b)
                    continue
                else:
                    normal[node] = self.binary(node.op, normal[a], normal[b], table)
                stack.pop()
        return [normal[root] for root in graph]

    def binary(self, op: str, a: Node, b: Node, table: dict[Any, Node]) -> Node:
        """The normal form of an operation on normal inputs."""
        key = op, a, b
        found = table.get(key)
        if found is None:
            number = self.number(op, a, b)
            swapped = self.number(op, b, a) if op in COMMUTATIVE else None
            if swapped is not None and (number is None or swapped < number):
                found = self.binary(op, b.a, a.a.a, table)
            elif number is not None:
                found = self.binary(op, a.a, b.a.a, table)
            else:
                found = Node(op, a, b)
            table[key] = found
        return found

    def number(self, op: str, a: Node, b: Node) -> int | None:
        """The number of the rule that matches, None where none does."""
        inner = b.a
        return None if inner is None else self.rules.get((op, a.op, b.op, inner.op))


def staging(rules: Sequence[Rule]) -> tuple[float, float]:
    """The seconds to stage rules, and to generate the matchers of every head they name."""
    gc.collect()
    start = perf_counter()
    staged = RuleSet([as_relation(*rule) for rule in rules])
    between = perf_counter()
    for operation in BINARY:
        staged.matchers.function_for(OURS[operation].symbol)  # type: ignore[attr-defined]
    return between - start, perf_counter() - between


def main() -> None:
    nodes, drawn = program(), shapes()
    makers: list[Callable[[list[Shape]], Engine]] = [lambda s: Termgraph([texts(x) for x in s]), ByHand]
    absent = missing("tinygrad")
    print(absent or "", end="\n" if absent else "")
    if not absent:
        makers.append(lambda s: Tinygrad([texts(x) for x in s]))
    times: dict[str, list[float]] = {}
    for count in COUNTS:
        neutral, expected = Neutral(), None
        for make in makers:
            engine = make(drawn[:count])
            time, results = measured(engine, nodes, REPETITIONS)
            times.setdefault(engine.name, []).append(time)
            found = set(neutral.numbered(results, engine.read))
            expected = found if expected is None else expected
            if not expected <= found:
                differing = len(expected - found)
                raise AssertionError(f"{engine.name} and termgraph differ in {differing} normal forms, {count} rules.")
    show(f"many rules: microseconds for a node of {NODES:,}", ("engine", *(f"{c:,} rules" for c in COUNTS)),
         [(name, *row) for name, row in times.items()])
    ours = times["termgraph"]
    grown = [("from 10 to 300 rules, times", ours[3] / ours[0], GROWTH_TO_300),
             ("from 300 to 1,000, times", ours[4] / ours[3], GROWTH_TO_1000)]
    relations, matchers = staging([texts(shape) for shape in drawn])
    grown.append(("staging and compiling 1,000 rules, s", relations + matchers, COMPILE_BAR))
    show("many rules: bars", ("termgraph", "measured", "bar", "verdict"), [(*row, verdict(row[1], row[2])) for row in grown])
    print(f"staging {relations:.2f} s, generating the matchers of all heads {matchers:.2f} s")


if __name__ == "__main__":
    main()
