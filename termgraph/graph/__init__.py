"""The graph: Variables computed by Applys of Ops, and the FunctionGraph that knows who reads what."""

from termgraph.graph.apply import Apply
from termgraph.graph.evaluate import evaluate
from termgraph.graph.fgraph import Feature, FunctionGraph, Output
from termgraph.graph.null import DisconnectedType, NullType
from termgraph.graph.op import Op
from termgraph.graph.replace import clone, clone_get_equiv, clone_replace, equal_computations, graph_replace
from termgraph.graph.shared import Container, SharedVariable
from termgraph.graph.traversal import (
    ancestors,
    apply_ancestors,
    applys_between,
    explicit_graph_inputs,
    graph_inputs,
    io_toposort,
    toposort,
    vars_between,
    walk,
)
from termgraph.graph.type import Type
from termgraph.graph.variable import Constant, Variable

__all__ = [
    "Apply", "Constant", "Container", "DisconnectedType", "Feature", "FunctionGraph", "NullType", "Op", "Output",
    "SharedVariable", "Type", "Variable", "ancestors", "apply_ancestors", "applys_between", "clone", "clone_get_equiv",
    "clone_replace", "equal_computations", "evaluate", "explicit_graph_inputs", "graph_inputs", "graph_replace",
    "io_toposort", "toposort", "vars_between", "walk",
]
