"""Who may share memory with whom, and in what order nodes must run because some of them overwrite memory.

`Op.view_map` says which outputs may be views of which inputs, `Op.destroy_map` which inputs are overwritten (the output then
takes their memory). Everything here is read from those two, in time linear in the graph (for `destroy_dependencies`, as
long as views of several inputs do not overlap).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from termgraph.errors import InconsistentGraphError
from termgraph.graph.apply import Apply
from termgraph.graph.fgraph import FunctionGraph, Output
from termgraph.graph.trace import describe
from termgraph.graph.variable import Constant, Variable

Roots = dict[Variable, Variable]
Edges = dict[Variable, list[Variable]]


def view_roots(order: Iterable[Apply], through_destroy: bool = True) -> Roots:
    """For each variable of the nodes in `order` (dependencies first), the variable whose memory it may be: itself where it
    has memory of its own. An output that may be a view of several inputs puts them all under one root.

    Two variables with different roots never share memory. With `through_destroy` False only views are followed: a
    destroyed input and the output that took its memory then have different roots, because they are never alive together.
    """
    parent: Roots = {}
    for node in order:
        for variable in node.inputs:
            parent.setdefault(variable, variable)
        for output in node.outputs:
            parent[output] = output
        op = node.op
        for source_map in (op.view_map, op.destroy_map) if through_destroy else (op.view_map,):
            for index, positions in source_map.items():
                for position in positions:
                    parent[_root(parent, node.outputs[index])] = _root(parent, node.inputs[position])
    return {variable: _root(parent, variable) for variable in parent}


def _root(parent: Roots, variable: Variable) -> Variable:
    while parent[variable] is not variable:
        parent[variable] = parent[parent[variable]]  # halve the path: the next search is shorter
        variable = parent[variable]
    return variable


def aliases(order: Iterable[Apply], through_destroy: bool = True) -> dict[Variable, list[Variable]]:
    """For each root, the variables that may be in its memory, itself among them."""
    groups: dict[Variable, list[Variable]] = {}
    for variable, root in view_roots(order, through_destroy).items():
        groups.setdefault(root, []).append(variable)
    return groups


def check_destroyed(fgraph: FunctionGraph, protected: Collection[Variable]) -> None:
    """Raise InconsistentGraphError where a node overwrites what may be memory of a variable in `protected` or of a constant."""
    if not _destroyers(fgraph.apply_nodes):
        return
    # For what may be in protected memory, whose memory that is.
    owner = {v: v for v in (*protected, *(v for v in fgraph.variables if isinstance(v, Constant)))}
    for node in fgraph.toposort():
        for variable in _destroyed(node):
            if variable in owner:
                raise InconsistentGraphError(
                    f"{node} would overwrite the memory of {owner[variable]}, which must keep its value."
                    f"\n  built at {describe(node.trace)}\n  An input may be overwritten only if it is In(..., mutable=True).")
        for index, positions in (*node.op.view_map.items(), *node.op.destroy_map.items()):
            for position in positions:
                if node.inputs[position] in owner:
                    owner[node.outputs[index]] = owner[node.inputs[position]]


def destroy_dependencies(fgraph: FunctionGraph) -> dict[Apply, list[Apply]]:
    """For each node that overwrites memory, the nodes that must run before it: all others that read the variable it
    overwrites, or a view of it.

    Raises InconsistentGraphError where an output of the graph would be overwritten, where the same memory would be
    overwritten twice, or where a node reads by another input what it overwrites (unless it declares the pair in
    `destroyhandler_tolerate_aliased`).
    """
    destroyers = _destroyers(fgraph.apply_nodes)
    if not destroyers:
        return {}
    sources, views = _view_edges(fgraph.apply_nodes)
    before: dict[Apply, list[Apply]] = {}
    destroyed_by: dict[Variable, Apply] = {}
    for node in destroyers:
        required: dict[Apply, None] = {}
        for position in _destroyed_positions(node):
            origins = [v for v in _reached([node.inputs[position]], sources) if v not in sources]
            for origin in origins:
                other = destroyed_by.setdefault(origin, node)
                if other is not node:
                    raise InconsistentGraphError(f"{node} and {other} would both overwrite {origin}.")
            same_memory = _reached(origins, views)
            _check_other_inputs(node, position, same_memory)
            for alias in same_memory:
                for reader, _ in fgraph.get_clients(alias):
                    if isinstance(reader.op, Output):
                        raise InconsistentGraphError(f"{node} would overwrite {alias}, which is an output.")
                    if reader is not node:
                        required[reader] = None
        before[node] = list(required)
    return before


def _view_edges(nodes: Iterable[Apply]) -> tuple[Edges, Edges]:
    """From each variable that may be a view to what it may be a view of, and back."""
    sources: Edges = {}
    views: Edges = {}
    for node in nodes:
        for index, positions in node.op.view_map.items():
            for position in positions:
                sources.setdefault(node.outputs[index], []).append(node.inputs[position])
                views.setdefault(node.inputs[position], []).append(node.outputs[index])
    return sources, views


def _reached(start: Iterable[Variable], edges: Edges) -> dict[Variable, None]:
    found = dict.fromkeys(start)
    stack = list(found)
    while stack:
        for variable in edges.get(stack.pop(), ()):
            if variable not in found:
                found[variable] = None
                stack.append(variable)
    return found


def _destroyers(nodes: Iterable[Apply]) -> list[Apply]:
    return [node for node in nodes if node.op.destroy_map]


def _destroyed(node: Apply) -> list[Variable]:
    return [node.inputs[i] for i in _destroyed_positions(node)]


def _destroyed_positions(node: Apply) -> list[int]:
    return [i for positions in node.op.destroy_map.values() for i in positions]


def _check_other_inputs(node: Apply, position: int, same_memory: Collection[Variable]) -> None:
    tolerated = getattr(node.op, "destroyhandler_tolerate_aliased", ())
    for other, variable in enumerate(node.inputs):
        if other != position and variable in same_memory and (position, other) not in tolerated:
            raise InconsistentGraphError(f"{node} overwrites its input {position} and reads the same memory "
                                         f"by its input {other}.")


def destroy_order(fgraph: FunctionGraph) -> list[Apply]:
    """The nodes, each after those it depends on, and each that overwrites memory after all others that read it.

    Raises InconsistentGraphError where there is no such order.
    """
    before = destroy_dependencies(fgraph)
    return ordered(fgraph.outputs, set(fgraph.inputs), before) if before else fgraph.toposort()


def ordered(outputs: Sequence[Variable], blocked: Collection[Variable], before: dict[Apply, list[Apply]]) -> list[Apply]:
    """`toposort` in which each node also comes after the nodes `before` gives for it."""
    order: list[Apply] = []
    done: set[Apply] = set()
    path: set[Apply] = set()
    stack = [o.owner for o in reversed(outputs) if o.owner is not None and o not in blocked]
    while stack:
        node = stack[-1]
        if node in done:
            stack.pop()
            continue
        needed = [v.owner for v in node.inputs if v.owner is not None and v not in blocked]
        pending = [n for n in [*before.get(node, ()), *needed] if n not in done]
        for other in pending:
            if other in path or other is node:
                raise InconsistentGraphError(f"no order of the nodes lets every reader of what {other} overwrites run "
                                             f"before it: {node} must come both before and after it.")
        if pending:
            path.add(node)
            stack.extend(reversed(pending))
        else:
            stack.pop()
            path.discard(node)
            done.add(node)
            order.append(node)
    return order
