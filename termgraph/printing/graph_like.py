"""What the printers accept: anything that has output variables."""

from __future__ import annotations

from typing import Any

from termgraph.errors import GraphTypeError
from termgraph.graph.apply import Apply
from termgraph.graph.fgraph import FunctionGraph
from termgraph.graph.type import describe_value
from termgraph.graph.variable import Variable


def fgraph_of(graph_like: Any) -> FunctionGraph | None:
    """The FunctionGraph that `graph_like` is, or that the compiled function `graph_like` runs; None for anything else."""
    if not isinstance(graph_like, FunctionGraph):
        graph_like = getattr(getattr(graph_like, "maker", None), "fgraph", None)
    return graph_like if isinstance(graph_like, FunctionGraph) else None


def outputs_of(graph_like: Any) -> list[Variable]:
    """The variables to print for a Variable, an Apply (its outputs), a FunctionGraph or compiled function (its outputs), or
    a sequence of these. Raises GraphTypeError for anything else."""
    outputs: list[Variable] = []
    stack = [graph_like]
    while stack:
        item = stack.pop()
        fgraph = fgraph_of(item)
        if isinstance(item, Variable):
            outputs.append(item)
        elif isinstance(item, Apply):
            outputs.extend(item.outputs)
        elif fgraph is not None:
            outputs.extend(fgraph.outputs)
        elif isinstance(item, (list, tuple)):
            stack.extend(reversed(item))
        else:
            raise GraphTypeError("expected a Variable, an Apply, a FunctionGraph, a compiled function or a sequence of these "
                                 f"to print, got {describe_value(item)}.")
    return outputs
