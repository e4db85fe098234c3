"""Time per node does not grow with the graph: chains of 10,000 and of 100,000 nodes are built, compiled and run."""

from __future__ import annotations

import statistics
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np
from common import show, verdict

import termgraph as tg
import termgraph.tensor as tt

SMALL, LARGE = 10_000, 100_000
REPETITIONS = {SMALL: 9, LARGE: 3}
STAGES = ("build", "compile", "run")
BAR = 1.3


def chain(length: int) -> tuple[Any, Any]:
    """An input, and a chain of `length` nodes above it that no rule shortens."""
    y = x = tt.vector("x")
    for _ in range(length // 2):
        y = tt.sin(y) + x
    return x, y


def stages(length: int) -> list[float]:
    """The seconds that building, compiling and running took."""
    times = [perf_counter()]
    x, y = chain(length)
    times.append(perf_counter())
    f = tg.function([x], y)
    times.append(perf_counter())
    f(np.ones(10))
    times.append(perf_counter())
    if len(f.maker.fgraph.apply_nodes) != length:
        raise AssertionError(f"the compiled chain has {len(f.maker.fgraph.apply_nodes)} nodes, not {length}")
    return [after - before for before, after in pairwise(times)]


def main() -> None:
    stages(100)  # what is generated once is not counted
    medians = {n: [statistics.median(column) for column in zip(*(stages(n) for _ in range(k)), strict=True)]
               for n, k in REPETITIONS.items()}
    rows = []
    for stage, small, large in zip(STAGES, medians[SMALL], medians[LARGE], strict=True):
        small, large = small / SMALL * 1e6, large / LARGE * 1e6
        rows.append((stage, small, large, large / small, BAR, verdict(large / small, BAR)))
    show("chain: microseconds for one node", ("stage", f"{SMALL:,} nodes", f"{LARGE:,} nodes", "ratio", "bar", "verdict"), rows)


if __name__ == "__main__":
    main()
