"""The virtual machine: storage cells, one thunk for each node, and the loops that run the thunks.

Every variable has a cell, a list of one element; a thunk reads the cells of its node's inputs and fills those of the
outputs. A cell is emptied as soon as the last node that reads it has run, so that memory is held no longer than needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from termgraph.graph.aliasing import destroy_dependencies, ordered
from termgraph.graph.apply import Apply
from termgraph.graph.fgraph import FunctionGraph
from termgraph.graph.op import ComputeMap, StorageMap, Thunk
from termgraph.graph.trace import describe
from termgraph.graph.type import describe_value
from termgraph.graph.variable import Constant, Variable

Cell = list[Any]


class VM:
    """Runs the graph on what the cells of its inputs hold, and leaves the results in the cells of its outputs.

    Invariant: between calls every cell is empty except those of constants and those given in `storage_map` (shared
    variables), so nothing is recycled and nothing is held. One VM serves one call at a time.

    Raises InconsistentGraphError where no order of the nodes respects what they overwrite.
    """

    def __init__(self, fgraph: FunctionGraph, storage_map: StorageMap | None = None) -> None:
        self.fgraph = fgraph
        self._before = destroy_dependencies(fgraph)
        self.nodes = ordered(fgraph.outputs, set(fgraph.inputs), self._before) if self._before else fgraph.toposort()
        self._persistent = set(storage_map or ())
        self.storage_map: StorageMap = dict(storage_map or {})
        self.compute_map: ComputeMap = {}
        self._allocate()
        # Every cell is empty when a call begins, so no thunk can meet an old value: nothing has to be kept from recycling.
        self.no_recycling: Sequence[Variable] = ()
        self.thunks: list[Thunk] = [n.op.make_thunk(n, self.storage_map, self.compute_map, self.no_recycling)
                                    for n in self.nodes]
        self.lazy = any(getattr(thunk, "lazy", False) for thunk in self.thunks)
        self.input_storage: list[Cell] = [self.storage_map[v] for v in fgraph.inputs]
        self.output_storage: list[Cell] = [self.storage_map[v] for v in fgraph.outputs]
        self._transient = [c for v, c in self.storage_map.items() if v not in self._persistent]
        #: for each node, the cells to empty after it
        self.dead: list[tuple[Cell, ...]] = self._dead_cells()

    def _allocate(self) -> None:
        for variable in self.fgraph.variables:
            if isinstance(variable, Constant):
                self._persistent.add(variable)
                self.storage_map[variable] = [variable.data]
            elif variable not in self.storage_map:
                self.storage_map[variable] = [None]
            self.compute_map[variable] = [variable.owner is None]

    def _dead_cells(self) -> list[tuple[Cell, ...]]:
        last: dict[Variable, int] = {}
        for position, node in enumerate(self.nodes):
            for variable in (*node.inputs, *node.outputs):
                last[variable] = position
        dead: list[list[Cell]] = [[] for _ in self.nodes]
        # The cells of explicit inputs are emptied too: when the caller keeps no reference, the memory is free at once.
        kept = self._persistent.union(self.fgraph.outputs)
        for variable, position in last.items():
            if variable not in kept:
                dead[position].append(self.storage_map[variable])
        return [tuple(cells) for cells in dead]

    def cells_left(self) -> list[Cell]:
        """The cells that a run leaves filled: those of outputs, and of inputs that no node reads."""
        read = {id(cell) for dead in self.dead for cell in dead}
        left = [c for c in (*self.output_storage, *self.input_storage) if id(c) not in read]
        kept = {id(self.storage_map[v]) for v in self._persistent}
        return list({id(c): c for c in left if id(c) not in kept}.values())

    def __call__(self) -> None:
        """Run. What a thunk raises comes out with a note that says at which node; all cells are then empty."""
        if self.lazy:
            self._run_lazily()
            return
        thunk = None
        try:
            for thunk, dead in zip(self.thunks, self.dead, strict=True):
                thunk()
                for cell in dead:
                    cell[0] = None
        except BaseException as error:
            self.fail(next((i for i, t in enumerate(self.thunks) if t is thunk), None), error)
            raise

    # --- lazily -------------------------------------------------------------------------------------------------------

    def _run_lazily(self) -> None:
        position: int | None = None
        run = _LazyRun(self)
        try:
            for output in self.fgraph.outputs:
                if output.owner is not None:
                    for position in run.until_computed(output.owner):
                        run.step(position)
        except BaseException as error:
            self.fail(position, error)
            raise
        kept = {id(cell) for cell in self.output_storage}
        for cell in self._transient:
            if id(cell) not in kept:
                cell[0] = None

    # --- failing ------------------------------------------------------------------------------------------------------

    def fail(self, position: int | None, error: BaseException) -> None:
        """Note on `error` that it came from node number `position`, and empty the cells."""
        if position is not None and isinstance(error, Exception):
            error.add_note(self._note(self.nodes[position]))
        self.clear()

    def _note(self, node: Apply) -> str:
        lines = [f"while computing {_brief(node)}"]
        built = describe(node.trace)
        if built:
            lines.append(f"  built at {built}")
        for i, variable in enumerate(node.inputs):
            value = self.storage_map[variable][0]
            strides = getattr(value, "strides", None)
            got = "not computed" if value is None else describe_value(value)
            lines.append(f"  input {i}: {variable.type}, got {got}" + (f", strides {strides}" if strides is not None else ""))
        return "\n".join(lines)

    def clear(self) -> None:
        """Empty every cell but those of constants and shared variables."""
        for cell in self._transient:
            cell[0] = None


class _LazyRun:
    """One run of a graph with lazy nodes: a stack of nodes, each left until what it needs has been computed.

    A node that overwrites memory first has all other readers of that memory computed, even those in a branch not taken.
    """

    def __init__(self, vm: VM) -> None:
        self.vm = vm
        self.index = {node: position for position, node in enumerate(vm.nodes)}
        self.done = [False] * len(vm.nodes)
        self.stack: list[Apply] = []
        kept = vm._persistent.union(vm.fgraph.outputs)
        self.readers = {v: len({id(n) for n, _ in vm.fgraph.get_clients(v)}) for v in vm.storage_map if v not in kept}
        for variable, flag in vm.compute_map.items():
            flag[0] = variable.owner is None

    def until_computed(self, node: Apply) -> Any:
        """The positions of the nodes to step, one after the other, until `node` is computed."""
        self.stack.append(node)
        while self.stack:
            position = self.index[self.stack[-1]]
            if self.done[position]:
                self.stack.pop()
            elif not self._push_needed(position):
                yield position

    def _push_needed(self, position: int) -> bool:
        node = self.vm.nodes[position]
        needed = [n for n in self.vm._before.get(node, ()) if not self.done[self.index[n]]]
        if not getattr(self.vm.thunks[position], "lazy", False):
            needed += [v.owner for v in node.inputs if v.owner is not None and not self.done[self.index[v.owner]]]
        self.stack.extend(needed)
        return bool(needed)

    def step(self, position: int) -> None:
        """Run the thunk; either it is done, or the nodes of the inputs it asks for are put on the stack."""
        node, thunk = self.vm.nodes[position], self.vm.thunks[position]
        missing = thunk()
        if missing and getattr(thunk, "lazy", False):
            self.stack.extend(node.inputs[i].owner for i in missing)
            return
        self.done[position] = True
        for output in node.outputs:
            self.vm.compute_map[output][0] = True
        for variable in dict.fromkeys(node.inputs):
            if variable in self.readers:
                self.readers[variable] -= 1
                if not self.readers[variable]:
                    self.vm.storage_map[variable][0] = None


def _brief(node: Apply) -> str:
    text = str(node)
    return text if len(text) <= 200 else f"{text[:197]}..."
