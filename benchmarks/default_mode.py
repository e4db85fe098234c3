"""The default mode's rewriting of graphs that people compile, beside PyTensor's rewriting of the same graphs.

Both libraries build each graph from one definition. Of ours the time in rewriting (the sum of the reports) is compared, and
the whole `function` is shown; PyTensor's FAST_RUN rewriter is applied to a FunctionGraph, nothing is compiled to C.
"""

from __future__ import annotations

import gc
import importlib.util
import os
import statistics
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from common import show, verdict

import termgraph as tg
import termgraph.tensor as tt

if importlib.util.find_spec("pytensor"):
    os.environ["PYTENSOR_FLAGS"] = f"cxx=,{os.environ.get('PYTENSOR_FLAGS', '')}".rstrip(",")
    import pytensor
    import pytensor.tensor as pt
    from pytensor.compile.aliasing import add_supervisor_to_fgraph
    from pytensor.compile.io import In
    from pytensor.compile.mode import Mode
    from pytensor.graph.fg import FunctionGraph
    from pytensor.graph.rewriting.basic import NodeRewriter

REPETITIONS, BAR = 5, 0.1
#: inputs and outputs, from the tensor functions of a library and its `grad`
Graph = tuple[list[Any], list[Any]]


def axpow(m: Any, grad: Callable[..., Any]) -> Graph:
    a, x = m.dscalar("a"), m.dvector("x")
    return [a, x], [a * x ** 10]


def logistic_regression(m: Any, grad: Callable[..., Any]) -> Graph:
    data, labels, w, b = m.dmatrix("data"), m.dvector("labels"), m.dvector("w"), m.dscalar("b")
    p = 1 / (1 + m.exp(-(m.dot(data, w) + b)))
    loss = -m.mean(labels * m.log(p) + (1 - labels) * m.log(1 - p)) + 0.01 * m.sum(w ** 2)
    return [data, labels, w, b], [loss, *grad(loss, [w, b])]


def multilayer_perceptron(m: Any, grad: Callable[..., Any]) -> Graph:
    data, targets = m.dmatrix("data"), m.dmatrix("targets")
    weights, biases = [m.dmatrix(f"w{i}") for i in range(3)], [m.dvector(f"b{i}") for i in range(3)]
    hidden = data
    for w, b in zip(weights[:2], biases[:2], strict=True):
        hidden = m.tanh(m.dot(hidden, w) + b)
    scores = m.dot(hidden, weights[2]) + biases[2]
    log_p = scores - m.log(m.sum(m.exp(scores), axis=1, keepdims=True))
    loss = -m.mean(m.sum(targets * log_p, axis=1))
    return [data, targets, *weights, *biases], [loss, *grad(loss, [*weights, *biases])]


def eight_schools(m: Any, grad: Callable[..., Any]) -> Graph:
    mu, log_tau, raw = m.dscalar("mu"), m.dscalar("log_tau"), m.dvector("raw")
    effects = m.constant(np.array([28.0, 8, -3, 7, -1, 1, 18, 12]))
    errors = m.constant(np.array([15.0, 10, 16, 11, 9, 11, 10, 18]))
    tau = m.exp(log_tau)
    theta = mu + tau * raw

    def normal(x: Any, at: Any, scale: Any) -> Any:
        return -0.5 * ((x - at) / scale) ** 2 - m.log(scale) - 0.5 * np.log(2 * np.pi)
    half_cauchy = m.log(2 / (np.pi * 5)) - m.log(1 + (tau / 5) ** 2) + log_tau
    density = normal(mu, 0.0, m.constant(5.0)) + half_cauchy + m.sum(normal(raw, 0.0, m.constant(1.0)))
    density = density + m.sum(normal(effects, theta, errors))
    return [mu, log_tau, raw], [density, *grad(density, [mu, log_tau, raw])]


def gaussian_mixture(m: Any, grad: Callable[..., Any]) -> Graph:
    x, logits, mu, log_sigma = (m.dvector(name) for name in ("x", "logits", "mu", "log_sigma"))
    log_weights = logits - m.log(m.sum(m.exp(logits)))
    z = (x[:, None] - mu) / m.exp(log_sigma)
    terms = log_weights - log_sigma - 0.5 * z ** 2 - 0.5 * np.log(2 * np.pi)
    density = m.sum(m.log(m.sum(m.exp(terms), axis=1)))
    return [x, logits, mu, log_sigma], [density, *grad(density, [logits, mu, log_sigma])]


def chain(m: Any, grad: Callable[..., Any]) -> Graph:
    y = x = m.dvector("x")
    for _ in range(500):
        y = m.sin(y) + x
    return [x], [y]


GRAPHS = [axpow, logistic_regression, multilayer_perceptron, eight_schools, gaussian_mixture, chain]


def ours(define: Callable[..., Graph]) -> tuple[float, float, int]:
    """The median milliseconds of rewriting and of the whole of `function`, and the nodes of the graph it runs."""
    rewriting, whole = [], []
    for _ in range(REPETITIONS + 1):
        inputs, outputs = define(tt, tg.grad)
        gc.collect()
        start = perf_counter()
        f = tg.function(inputs, outputs)
        whole.append(perf_counter() - start)
        rewriting.append(sum(report.seconds for report in f.maker.reports))
    # The first generated the matchers of what it met.
    return statistics.median(rewriting[1:]) * 1e3, statistics.median(whole[1:]) * 1e3, len(f.maker.fgraph.apply_nodes)


def pytensors(define: Callable[..., Graph], rewriter: Any) -> tuple[float, int]:
    """The same of PyTensor's rewriting."""
    times = []
    for _ in range(REPETITIONS + 1):
        inputs, outputs = define(pt, pytensor.grad)
        fgraph = FunctionGraph(inputs, outputs, clone=True)
        gc.collect()
        add_supervisor_to_fgraph(fgraph, [In(i) for i in fgraph.inputs])
        start = perf_counter()
        rewriter.rewrite(fgraph)
        times.append(perf_counter() - start)
    return statistics.median(times[1:]) * 1e3, len(fgraph.apply_nodes)


def rewriters_in(rewriter: Any) -> set[Any]:
    """The rewriters of single nodes that PyTensor's rewriter is made of."""
    found, stack = set(), [rewriter]
    while stack:
        item = stack.pop()
        if isinstance(item, (list, tuple)) or hasattr(item, "data"):
            stack.extend(getattr(item, "data", item))
        elif hasattr(item, "get_node_rewriters"):
            stack.extend(r for r in item.get_node_rewriters() if r is not item)
            stack.extend([*getattr(item, "global_rewriters", ()), *getattr(item, "final_rewriters", ())])
        else:
            inner = getattr(item, "rewrites", None)
            stack.extend(inner or ())
            found.update([item] if not inner else [])
    return {item for item in found if isinstance(item, NodeRewriter)}


def main() -> None:
    present = bool(importlib.util.find_spec("pytensor"))
    rewriter = Mode(linker="vm", optimizer="fast_run").optimizer if present else None
    if not present:
        print("pytensor is not installed, so not compared: pip install pytensor")
    rows = []
    for define in GRAPHS:
        rewriting, whole, nodes = ours(define)
        row: tuple[Any, ...] = (define.__name__.replace("_", " "), nodes, rewriting, whole)
        if present:
            theirs, their_nodes = pytensors(define, rewriter)
            ratio = rewriting / theirs
            row += (their_nodes, theirs, f"{ratio:.3g}", BAR, verdict(ratio, BAR))
        rows.append(row)
    beside = ("nodes left", "pytensor", "ratio", "bar", "verdict") if present else ()
    show("default mode: milliseconds of rewriting", ("graph", "nodes left", "termgraph", "whole function", *beside), rows)
    print(f"termgraph's default mode has {len(tg.rules.ALL)} rules with {sum(len(r.skeletons) for r in tg.rules.ALL)} clauses",
          f"where PyTensor's has {len(rewriters_in(rewriter))} rewriters of nodes, some of which fuse" if present else "")


if __name__ == "__main__":
    main()
