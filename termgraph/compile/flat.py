"""A graph as a flat list, for pickling: pickle recurses, and graphs are deep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from termgraph.graph.apply import Apply
from termgraph.graph.shared import SharedVariable
from termgraph.graph.traversal import toposort
from termgraph.graph.variable import Constant, Variable

#: (leaves, nodes, positions): a leaf is (type, name, constant value, container); a node is (op, positions of its inputs,
#: types and names of its outputs). Variables are numbered leaves first, then outputs in the order of the nodes.
Flat = tuple[list[Any], list[Any], list[int]]


def flatten(variables: Sequence[Variable], inputs: Sequence[Variable] = ()) -> Flat:
    """The graph of `variables`, not looking behind `inputs`, as lists and tuples. Where nodes were built is lost."""
    order = toposort(variables, set(inputs))
    blocked = set(inputs)
    leaves = dict.fromkeys(v for node in order for v in node.inputs if v.owner is None or v in blocked)
    leaves.update(dict.fromkeys(v for v in variables if v.owner is None or v in blocked))
    number = {v: i for i, v in enumerate([*leaves, *(o for node in order for o in node.outputs)])}
    nodes = [(n.op, [number[i] for i in n.inputs], [(o.type, o.name) for o in n.outputs]) for n in order]
    return [_leaf(v) for v in leaves], nodes, [number[v] for v in variables]


def _leaf(variable: Variable) -> tuple[Any, ...]:
    value = variable.data if isinstance(variable, Constant) else None
    container = variable.container if isinstance(variable, SharedVariable) else None
    return variable.type, variable.name, value, container


def unflatten(flat: Flat) -> list[Variable]:
    """The variables that `flatten` was given, in a new graph."""
    leaves, nodes, positions = flat
    variables = [_grow(*leaf) for leaf in leaves]
    for op, sources, outputs in nodes:
        node = Apply.trusted(op, [variables[i] for i in sources], [t for t, _ in outputs], None)
        for variable, (_, name) in zip(node.outputs, outputs, strict=True):
            variable.name = name
        variables.extend(node.outputs)
    return [variables[i] for i in positions]


def _grow(type_: Any, name: str | None, value: Any, container: Any) -> Variable:
    if container is not None:
        return type_.shared_type(type_, None, name, container=container)  # type: ignore[no-any-return]
    if value is not None:
        return type_.make_constant(value, name)  # type: ignore[no-any-return]
    return type_.make_variable(name)  # type: ignore[no-any-return]
