"""Checks of rules by their own definition: staged equals relational, and values are kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from kanren import run

from termgraph.checking.generate import MISFIT, Generator
from termgraph.graph.evaluate import evaluate
from termgraph.graph.fgraph import FunctionGraph
from termgraph.graph.traversal import graph_inputs
from termgraph.graph.variable import Constant, Variable
from termgraph.rewrite.context import typed_like
from termgraph.rewrite.delay import in_graph
from termgraph.rewrite.matcher import Matchers
from termgraph.rewrite.nodes import NodeTable
from termgraph.rewrite.relation import Rule
from termgraph.rewrite.view import GraphView
from termgraph.terms.build import build
from termgraph.terms.term import render, var


@dataclass(frozen=True)
class Disagreement:
    """A term on which the generated matcher and the relation give different results."""

    term: Variable
    relational: tuple[str, ...]
    staged: tuple[str, ...]

    def __str__(self) -> str:
        return f"{render(self.term)}: the relation gives {self.relational}, the generated code {self.staged}"


@dataclass(frozen=True)
class Agreement:
    """The outcome of `agreement`: how many terms were tried, on how many the rule had a result, and where they differed."""

    terms: int
    with_result: int
    disagreements: tuple[Disagreement, ...]


def agreement(rule: Rule, count: int = 500, seed: int = 0, matchers: Matchers | None = None) -> Agreement:
    """Compare, on `count` generated terms, what kanren finds with `rule(before, after)` and what the generated code finds."""
    generator = Generator(seed)
    matchers = matchers or rule.matchers
    contextual = any(s.contextual for s in rule.skeletons)
    twins = any(s.functional for s in rule.skeletons)
    terms = generator.terms(rule.skeletons, count)
    differing, with_result = [], 0
    for term in terms:
        graph = surroundings(generator, term, twins) if contextual else None
        table = generator.table if graph is None else graph.table
        relational = {table.intern(r) for r in relational_results(rule, term, table, graph)} - {term}
        staged = set(matchers.rewrites(term, graph, table))
        with_result += bool(relational)
        if relational != staged:
            differing.append(Disagreement(term, _shown(relational), _shown(staged)))
    return Agreement(len(terms), with_result, tuple(differing))


def _shown(variables: Any) -> tuple[str, ...]:
    return tuple(sorted(render(v) for v in variables))


def relational_results(rule: Rule, term: Variable, table: NodeTable, graph: GraphView | None = None) -> list[Variable]:
    """Every variable that kanren finds for `after` in `rule(term, after)`, its nodes made in `table`."""
    after = var("after")
    with in_graph(graph):
        answers = run(0, after, rule(term, after))
    results = [typed_like(term, build(a, table.make)) for a in answers]
    return [r for r in results if r is not None]


def surroundings(generator: Generator, term: Variable, twins: bool = False) -> GraphView:
    """A graph that computes `term` among other things, which read some of the same variables; with `twins`, some nodes stand
    twice, as they do before merging."""
    inner = [v for v in _subterms(term) if v.owner is not None]
    others = []
    for variable in inner:
        if generator.chance(0.2):
            others.append(variable)
        if twins and generator.chance(0.5):
            others.append(variable.owner.clone().outputs[variable.index or 0])  # type: ignore[union-attr]
    inputs = [v for v in graph_inputs([term, *others]) if not isinstance(v, Constant)]
    outputs = [term, *others] if generator.chance(0.5) else [*others, term]
    fgraph = FunctionGraph(inputs, outputs, clone=False)
    table = NodeTable()
    for node in fgraph.toposort():
        for output in node.outputs:
            table.nodes.setdefault((output.symbol, *node.inputs), output)
    protected = [v for v in inputs if generator.chance(0.5)]
    return GraphView(fgraph, table, protected)


def _subterms(term: Variable) -> Iterator[Variable]:
    seen = {term}
    stack = [term]
    while stack:
        variable = stack.pop()
        yield variable
        for i in variable.owner.inputs if variable.owner is not None else ():
            if i not in seen:
                seen.add(i)
                stack.append(i)


@dataclass(frozen=True)
class ValueCheck:
    """The outcome of `check_values`: how many instances were evaluated, and messages for those that differ."""

    instances: int
    failures: tuple[str, ...]


def check_values(rule: Rule, count: int = 30, seed: int = 0) -> ValueCheck:
    """Evaluate instances of each skeleton of `rule` before and after, with the plain interpreter.

    "exact" asks for the same bits, "real" for equality but for rounding, "unsafe" for that where the value before is
    finite. Arguments are drawn between 0.3 and 0.9, inside the domain of every function of the table but a few.
    """
    generator = Generator(seed)
    failures: list[str] = []
    instances = 0
    for skeleton in rule.skeletons:
        done = 0
        for _ in range(10 * count):
            if done >= count:
                break
            term = generator.instance(skeleton)
            if term is None or term.owner is None:
                continue
            graph = surroundings(generator, term, skeleton.functional) if skeleton.contextual else None
            for after in rule.matchers.rewrites(term, graph):
                outcome = compare(rule, term, after, generator)
                if outcome is not None:
                    done += 1
                    failures.extend([f"{rule.name}: {outcome}"] if outcome else [])
        instances += done
    return ValueCheck(instances, tuple(failures))


def compare(rule: Rule, before: Variable, after: Variable, generator: Generator) -> str | None:
    """"" where both sides have the same value, else what differs; None where they could not be computed."""
    inputs = list(dict.fromkeys(graph_inputs([before, after])))
    values = generator.values(inputs)
    try:
        with np.errstate(all="ignore"):
            (old,) = evaluate([before], _copied(values))
    except MISFIT:
        return None  # lengths or dtypes that only running finds not to fit
    with np.errstate(all="ignore"):
        (new,) = evaluate([after], _copied(values))
    finite = np.isfinite(_dense(old)).all() if _dense(old).dtype.kind in "fc" else True
    if rule.soundness == "exact":
        same = before.type.values_eq(old, new) and _zeros_alike(_dense(old), _dense(new))
    elif not finite:
        return None
    else:
        tolerance = _tolerance(inputs)
        same = _dense(old).shape == _dense(new).shape and np.allclose(_dense(old), _dense(new), rtol=tolerance, atol=tolerance)
    return "" if same else f"{render(before)} = {old!r} but {render(after)} = {new!r}"


def _dense(value: Any) -> Any:
    return value.toarray() if hasattr(value, "toarray") else np.asarray(value)


def _zeros_alike(a: Any, b: Any) -> bool:
    """Whether the zeros of two equal real arrays have the same signs, which == does not tell."""
    return a.dtype.kind != "f" or np.array_equal(np.signbit(a[a == 0]), np.signbit(b[b == 0]))


def _tolerance(inputs: Sequence[Variable]) -> float:
    return 1e-3 if any(v.type.dtype in ("float32", "float16") for v in inputs) else 1e-8


def _copied(values: dict[Variable, Any]) -> dict[Variable, Any]:
    return {k: v.copy() for k, v in values.items()}


__all__: Sequence[str] = ["Agreement", "Disagreement", "ValueCheck", "agreement", "check_values", "relational_results"]
