"""GraphView: what contextual goals may ask about the graph they rewrite in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from termgraph.graph.apply import Apply
from termgraph.graph.fgraph import FunctionGraph, Output
from termgraph.graph.variable import Variable
from termgraph.rewrite.nodes import NodeTable


class GraphView:
    """A FunctionGraph, a fixed order of its nodes, and what must not be overwritten.

    The order is that of the first toposort; a node that replaces another takes its place. "Afterwards" means later in this
    order, so what several rewrites in a row find destroyable stays consistent: every reader of a variable comes before
    the node that overwrites it, whatever else is rewritten.
    """

    def __init__(self, fgraph: FunctionGraph, table: NodeTable, protected: Iterable[Variable] = ()) -> None:
        self.fgraph = fgraph
        #: variables whose memory belongs to somebody else: inputs, unless the caller gave them up
        self.protected = set(protected)
        self.rank: dict[Apply, int] = {node: rank for rank, node in enumerate(fgraph.toposort())}
        self.table = table
        self.inputs = frozenset(fgraph.inputs)
        self.lazy = any(node.op.lazy for node in self.rank)

    def lookup(self, head: Any, inputs: Any) -> Variable | None:
        """The variable of the graph with this head over these inputs, if there is one."""
        found = self.table.lookup(head, inputs)
        return found if found is not None and found in self.fgraph else None  # what a goal builds to ask is no fact

    def client_count(self, variable: Variable) -> int:
        """How many places read `variable`, outputs of the graph included."""
        return self.fgraph.client_count(variable)

    def is_input(self, variable: Variable) -> bool:
        """Whether `variable` is an input of the graph."""
        return variable in self.inputs

    def is_output(self, variable: Variable) -> bool:
        """Whether `variable` is an output of the graph."""
        if variable not in self.fgraph:
            return False
        return any(isinstance(node.op, Output) for node, _ in self.fgraph.latest_clients(variable))

    def destroyable(self, variable: Variable, by: Variable) -> bool:
        """Whether the node that computes `by` may overwrite the memory of `variable`.

        It may when the memory is not an input's, a constant's or an output's, no other node overwrites it, and every
        other reader of anything that shares it comes earlier in the order.
        """
        fgraph = self.fgraph
        node = by.owner
        if node is None or variable not in fgraph:
            return False
        root = self._root(variable)
        if root is None or root.owner is None or root in self.protected:
            return False
        own = self.rank.get(node)
        if own is None:
            return False
        stack, seen = [root], {root}
        while stack:
            shared = stack.pop()
            if shared in self.protected:
                return False
            readings = 0
            # The last reader is usually the latest client: it refuses at once where there is one.
            for client, position in fgraph.latest_clients(shared):
                if isinstance(client.op, Output):
                    return False
                if client is node:
                    readings += 1
                    continue
                if self.lazy:  # the other readers may be in a branch that is not taken, and would have to be computed first
                    return False
                if self.rank.get(client, own) >= own:
                    return False
                if any(position in destroyed for destroyed in client.op.destroy_map.values()):
                    return False
                for output, viewed in client.op.view_map.items():
                    if position in viewed and client.outputs[output] not in seen:
                        seen.add(client.outputs[output])
                        stack.append(client.outputs[output])
            if readings and (shared is not variable or readings > 1):
                return False  # the node reads the same memory through another input as well
        return True

    def overwritten(self, variable: Variable) -> bool:
        """Whether a node overwrites the memory of `variable`, by whatever view of it."""
        stack, seen = [variable], {variable}
        while stack:
            for client, position in self.fgraph.latest_clients(stack.pop()):
                if any(position in destroyed for destroyed in client.op.destroy_map.values()):
                    return True
                for output, viewed in client.op.view_map.items():
                    if position in viewed and client.outputs[output] not in seen:
                        seen.add(client.outputs[output])
                        stack.append(client.outputs[output])
        return False

    def _root(self, variable: Variable) -> Variable | None:
        """The variable whose memory `variable` is a view of, itself where it has its own; None where that may be one of
        several.

        A node that overwrites its input counts as making its own memory: nobody reads that memory under an older name
        afterwards, or the node could not have been allowed to.
        """
        while variable.owner is not None:
            sources = variable.owner.op.view_map.get(variable.index or 0)
            if not sources:
                break
            if len(sources) > 1:
                return None
            variable = variable.owner.inputs[sources[0]]
        return variable
