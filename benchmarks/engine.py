"""Rewriting to normal form with 35 algebraic rules and constant folding, beside other engines and a rewriter written by hand.

Every engine gets the same rules (`algebra`), makes its own nodes (`engines`), and must end in the same normal form. The
garbage collector is off for all, as termgraph pauses it for itself. `--long` adds 10^6 nodes.
"""

from __future__ import annotations

import gc
import statistics
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

from algebra import RULES, Neutral, Program, random_program
from common import show, verdict
from engines import Engine, Handwritten, Kanren, PyTensor, Termgraph, Tinygrad, missing

#: nodes -> repetitions
SIZES = {100: 25, 300: 15, 1_000: 9, 10_000: 5, 100_000: 3}
LONG = {1_000_000: 1}
#: (engine, the module it needs, the largest graph it is given)
ENGINES: list[tuple[Callable[[], Engine], str, int]] = [
    (Termgraph, "termgraph", 1_000_000), (Handwritten, "termgraph", 1_000_000), (Tinygrad, "tinygrad", 1_000_000),
    (PyTensor, "pytensor", 1_000), (Kanren, "termgraph", 300),
]
#: (engine, what is asked, the largest ratio of our time to its, the sizes where that is asked)
BARS = [
    ("tinygrad", "no slower", 1.0, (1_000, 100_000)), ("by hand", "at most 2 times its time", 2.0, (1_000, 100_000)),
    ("pytensor", "100 times as fast", 0.01, (1_000,)), ("naive kanren", "100 times as fast", 0.01, (300,)),
]
#: Why an engine may be faster.
REASONS = {
    "by hand": "its nodes have no types, names or traces, nothing is recorded, and rules are tried without calling a matcher",
    "tinygrad": "on small graphs what a fold costs decides: ours builds a typed node and runs its NumPy function (20 us)",
}
FOOTNOTE = """Microseconds for a node of the graph given, medians; in brackets termgraph's time over the engine's.
Maude, an interpreter in C++, is quoted at 0.03 us a node. Between it and us stand Python's objects: a node is two of them and
two lists, about 1 us to make, and a visit is half a dozen dictionary operations and the call of a matcher, about 1 us more."""

#: (kind of graph, size) -> engine -> microseconds for a node
Times = dict[tuple[str, int], dict[str, float]]


def measured(engine: Engine, program: Program, repetitions: int) -> tuple[float, Any]:
    """The median microseconds per operation, and the nodes in normal form."""
    nodes = sum(kind not in ("leaf", "number") for kind, *_ in program)
    engine.rewrite(engine.build(program[:10_000]))  # what is generated once is not counted
    times = []
    for _ in range(repetitions):
        graph = engine.build(program)
        gc.collect()
        gc.disable()
        start = perf_counter()
        results = engine.rewrite(graph)
        times.append(perf_counter() - start)
        gc.enable()
    return statistics.median(times) / nodes * 1e6, results


def compared(kind: str, size: int, repetitions: int, engines: list[tuple[Engine, int]]) -> dict[str, float]:
    """The time of each engine. Raises AssertionError where normal forms differ."""
    program = random_program(size, sharing=kind == "DAG")
    neutral = Neutral()
    times: dict[str, float] = {}
    expected: list[int] | None = None
    for engine, largest in engines:
        if size > largest:
            continue
        times[engine.name], results = measured(engine, program, 1 if isinstance(engine, Kanren) else repetitions)
        numbers = neutral.numbered(results, engine.read)
        expected = numbers if expected is None else expected
        if numbers != expected:
            differing = sum(a != b for a, b in zip(numbers, expected, strict=True))
            raise AssertionError(f"{engine.name} and termgraph differ in {differing} of {len(expected)} normal forms "
                                 f"of {kind}, {size} nodes.")
    return times


def installed() -> list[tuple[Engine, int]]:
    """The engines that can be imported; of the others it is said what to do."""
    engines = []
    for engine, module, largest in ENGINES:
        absent = missing(module)
        if absent:
            print(absent)
        else:
            engines.append((engine(), largest))
    return engines


def show_bars(times: Times) -> None:
    """The bars, and why who is faster is faster."""
    rows = []
    for name, asked, bar, sizes in BARS:
        for (kind, size), here in times.items():
            if name in here and size in sizes:
                ratio = here["termgraph"] / here[name]
                rows.append((name, asked, kind, f"{size:,}", f"{ratio:.3g}", bar, verdict(ratio, bar)))
    show("engine: bars", ("beside", "asked", "graph", "nodes", "ours / its", "bar", "verdict"), rows)
    for name, reason in REASONS.items():
        faster = [f"{size:,} ({kind})" for (kind, size), here in times.items() if here.get(name, 1e9) < here["termgraph"]]
        if faster:
            print(f"{name} is faster at {', '.join(faster)}: {reason}")


def main() -> None:
    engines = installed()
    names = [engine.name for engine, _ in engines]
    times: Times = {}
    for size, repetitions in {**SIZES, **(LONG if "--long" in sys.argv[1:] else {})}.items():
        for kind in ("terms", "DAG"):
            times[kind, size] = compared(kind, size, repetitions, engines)
    rows = [(kind, f"{size:,}", *(f"{here[n]:.3g} ({here['termgraph'] / here[n]:.2g})" if n in here else "" for n in names))
            for (kind, size), here in times.items()]
    show(f"engine: {len(RULES)} rules and constant folding, the same normal form in all", ("graph", "nodes", *names), rows)
    show_bars(times)
    print(FOOTNOTE)


if __name__ == "__main__":
    main()
