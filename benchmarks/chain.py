"""Time per node does not grow with the graph: chains of 10,000 and of 100,000 nodes are built, compiled and run."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np
from common import show, verdict

import termgraph as tg
import termgraph.tensor as tt

SMALL, LARGE = 10_000, 100_000
REPETITIONS = {SMALL: 9, LARGE: 3}
STAGES = ("build", "compile", "run", "all")
BAR = 1.3

Step = Callable[[Any, Any], Any]
#: name -> how many nodes a step makes, and what it makes of the chain so far and the input. No rule shortens these.
CHAINS: dict[str, tuple[int, Step]] = {
    "y -> sin(y)": (1, lambda y, x: tt.sin(y)),
    "y -> sin(y) + x": (2, lambda y, x: tt.sin(y) + x),  # half of all nodes read one variable
}


def stages(nodes: int, step: Step, count: int) -> list[float]:
    """The seconds that building, compiling and running a chain took, for each of its `count` nodes."""
    gc.collect()  # what the sample before left behind is not charged to this one
    times = [perf_counter()]
    y = x = tt.vector("x")
    for _ in range(count // nodes):
        y = step(y, x)
    times.append(perf_counter())
    f = tg.function([x], y)
    times.append(perf_counter())
    f(np.ones(10))
    times.append(perf_counter())
    if len(f.maker.fgraph.apply_nodes) != count:
        raise AssertionError(f"the compiled chain has {len(f.maker.fgraph.apply_nodes)} nodes, not {count}")
    return [*[(after - before) / count for before, after in pairwise(times)], (times[-1] - times[0]) / count]


def medians(nodes: int, step: Step, count: int) -> list[float]:
    """The median microseconds per node of each stage."""
    samples = [stages(nodes, step, count) for _ in range(REPETITIONS[count])]
    return [statistics.median(column) * 1e6 for column in zip(*samples, strict=True)]


def main() -> None:
    rows = []
    for name, (nodes, step) in CHAINS.items():
        stages(nodes, step, 100)  # what is generated once is not counted
        for stage, small, large in zip(STAGES, medians(nodes, step, SMALL), medians(nodes, step, LARGE), strict=True):
            rows.append((name, stage, small, large, large / small, BAR, verdict(large / small, BAR)))
    show("chain: microseconds for one node",
         ("chain", "stage", f"{SMALL:,} nodes", f"{LARGE:,} nodes", "ratio", "bar", "verdict"), rows)


if __name__ == "__main__":
    main()
