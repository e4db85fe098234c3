"""Time and memory against nodes, with the shipped rules: the exponent of time by least squares on logarithms.

Chains, and DAGs so shared that the tree of n nodes would have 2^(n/2); of both one that no rule changes and one that rules
halve. `--long` goes to 10^6 nodes.
"""

from __future__ import annotations

import gc
import statistics
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from common import show, verdict

import termgraph as tg
import termgraph.tensor as tt
from termgraph.rewrite import normalize

SIZES, LONG = (1_000, 3_000, 10_000, 30_000, 100_000), (300_000, 1_000_000)
ROUNDS = 9
EXPONENT_BAR, MEMORY_BAR = 1.05, 2.0
MEASURED = 100_000
#: name -> how many nodes a step makes, and what it makes of the graph so far and the input
GRAPHS: dict[str, tuple[int, Callable[[Any, Any], Any]]] = {
    "chain": (2, lambda y, x: tt.sin(y) + x),
    "chain, rewritten": (4, lambda y, x: tt.neg(tt.neg(tt.sin(y) + x))),
    "shared": (2, lambda y, x: tt.sin(y) + y),
    "shared, rewritten": (4, lambda y, x: tt.neg(tt.neg(tt.sin(y) + y))),
}
RULES = tg.rules.ALL.filter(phase="simplify")


def graph(nodes: int, step: Callable[[Any, Any], Any], count: int) -> Any:
    """A graph of `count` nodes."""
    y = x = tt.dscalar("x")
    for _ in range(count // nodes):
        y = step(y, x)
    return y


def seconds(y: Any) -> float:
    """The time of rewriting a graph."""
    gc.collect()
    start = perf_counter()
    _, report = normalize([y], RULES)
    took = perf_counter() - start
    report.raise_error()
    return took


def medians(nodes: int, step: Callable[[Any, Any], Any], sizes: Sequence[int]) -> list[float]:
    """The median time at each size. Each round goes through all sizes, so what slows the machine slows all alike."""
    graphs = [graph(nodes, step, count) for count in sizes]
    seconds(graphs[0])  # what is generated once is not counted
    rounds = [[seconds(y) for y in graphs] for _ in range(ROUNDS)]
    return [statistics.median(column) for column in zip(*rounds, strict=True)]


def kilobytes(nodes: int, step: Callable[[Any, Any], Any]) -> tuple[float, float]:
    """The memory a node takes in a graph, and at the peak of rewriting the graph."""
    gc.collect()
    tracemalloc.start()
    y = graph(nodes, step, MEASURED)
    built, _ = tracemalloc.get_traced_memory()
    normalize([y], RULES)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return built / MEASURED / 1e3, peak / MEASURED / 1e3


def main() -> None:
    sizes = SIZES + (LONG if "--long" in sys.argv[1:] else ())
    times, memory = [], []
    for name, (nodes, step) in GRAPHS.items():
        times_of_sizes = medians(nodes, step, sizes)
        exponent, _ = np.polyfit(np.log(sizes), np.log(times_of_sizes), 1)
        each = [f"{median / count * 1e6:.3g}" for median, count in zip(times_of_sizes, sizes, strict=True)]
        times.append((name, *each, f"{exponent:.3f}", EXPONENT_BAR, verdict(exponent, EXPONENT_BAR)))
        built, peak = kilobytes(nodes, step)
        memory.append((name, built, peak, MEMORY_BAR, verdict(peak, MEMORY_BAR)))
    show("growth: microseconds for one node", ("graph", *(f"{n:,}" for n in sizes), "exponent", "bar", "verdict"), times)
    show("growth: kB for one node", ("graph", "the graph", "peak of rewriting it", "bar", "verdict"), memory)


if __name__ == "__main__":
    main()
