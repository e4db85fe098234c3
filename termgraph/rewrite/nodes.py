"""NodeTable: the hash-consing table. Within one, equal terms are one Variable, so equality is identity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from termgraph.graph.apply import Apply
from termgraph.graph.op import Op, OutputOf
from termgraph.graph.trace import Trace
from termgraph.graph.variable import Constant, Variable
from termgraph.terms.term import OpTerm

#: What an Op that is `typed_by_inputs` gave for input types before: (op, *types) -> output types, None where make_node does
#: not take the inputs as they are (it adds a DimShuffle, say). Bounded by the number of distinct Ops and types in use.
_known_types: dict[Any, tuple[Any, ...] | None] = {}
_UNKNOWN: Any = object()


class NodeTable:
    """Makes nodes, each once.

    Invariants: `nodes` maps (canonical op, *inputs) to the only Apply in the table with these, `constants` a constant's
    key to the only Constant with it; all inputs of an Apply in the table are leaves or outputs of Applys in the table.
    """

    def __init__(self) -> None:
        self.nodes: dict[tuple[Any, ...], Apply] = {}
        self.constants: dict[Any, Constant] = {}

    # --- what generated code calls ------------------------------------------------------------------------------------

    def make(self, head: Any, args: Sequence[Any], trace: Trace | None = None) -> Any:
        """The variable with this head over these arguments: interned Variables, or Python numbers."""
        if type(head) is OutputOf:
            op, index = head.op, head.index
        elif isinstance(head, Op):
            op, index = head, head.default_output or 0
        elif isinstance(head, OpTerm):
            op = head.instance()
            index = op.default_output or 0
        else:
            return self.intern(head(*args), trace)
        node = self.nodes.get((op.canonical, *args))
        if node is None:
            node = self._new(op, args, trace)
        return node.outputs[index]

    def _new(self, op: Op, args: Sequence[Any], trace: Trace | None) -> Apply:
        types = _UNKNOWN
        if op.typed_by_inputs:
            try:
                key = (op.canonical, *[a.type for a in args])
            except AttributeError:  # a Python number: make_node finds the constant for it
                key = None
            if key is not None:
                types = _known_types.get(key, _UNKNOWN)
                if types is _UNKNOWN:
                    return self._learn(op, args, trace, key)
                if types is not None:
                    node = Apply.trusted(op, list(args), types, trace)
                    self.nodes[(op.canonical, *args)] = node
                    return node
        node = op.make_node(*args)
        node.trace = trace
        return self._intern_node(node, trace)

    def _learn(self, op: Op, args: Sequence[Any], trace: Trace | None, key: Any) -> Apply:
        node = op.make_node(*args)
        node.trace = trace
        plain = node.op is op and len(node.inputs) == len(args) and all(
            a is b for a, b in zip(node.inputs, args, strict=True))
        _known_types[key] = tuple(o.type for o in node.outputs) if plain else None
        return self._intern_node(node, trace)

    def lookup(self, head: Any, inputs: Sequence[Any]) -> Variable | None:
        """The variable with this head over these interned inputs, if the table has it."""
        op, index = (head, head.default_output or 0) if isinstance(head, Op) else (head.op, head.index)
        node = self.nodes.get((op.canonical, *inputs))
        return None if node is None else node.outputs[index]

    # --- bringing in what others made -----------------------------------------------------------------------------------

    def leaf(self, variable: Variable) -> Variable:
        """A variable without owner: itself, or the one Constant with its key."""
        return self.constants.setdefault(variable.key, variable) if isinstance(variable, Constant) else variable

    def rebuilt(self, node: Apply, inputs: list[Any], fresh: bool = False) -> Apply:
        """The Apply of `node.op` over `inputs`, which are interned: one that is there, or `node` itself if it has these very
        inputs (a copy with `fresh`), or a new one."""
        key = (node.op.canonical, *inputs)
        found = self.nodes.get(key)
        if found is not None:
            return found
        same = all(a is b for a, b in zip(inputs, node.inputs, strict=True))
        if same and not fresh:
            self.nodes[key] = node
            return node
        if same or all(a.type == b.type for a, b in zip(inputs, node.inputs, strict=True)):
            copy = Apply.trusted(node.op, inputs, [o.type for o in node.outputs], node.trace)
            self.nodes[key] = copy
        else:
            copy = self._new(node.op, inputs, node.trace)
        for old, new in zip(node.outputs, copy.outputs, strict=True):
            if old.name is not None and new.name is None:
                new.name = old.name
        return copy

    def _intern_node(self, node: Apply, trace: Trace | None) -> Apply:
        inputs = [self.intern(i, trace) for i in node.inputs]
        key = (node.op.canonical, *inputs)
        found = self.nodes.get(key)
        if found is None:
            if any(a is not b for a, b in zip(inputs, node.inputs, strict=True)):
                node = Apply.trusted(node.op, inputs, [o.type for o in node.outputs], node.trace)
            found = self.nodes[key] = node
        return found

    def intern(self, variable: Variable, trace: Trace | None = None) -> Variable:
        """The variable of the table that is the same term; the graph below it is brought in where it is new."""
        if variable.owner is None:
            return self.leaf(variable)
        done: dict[Apply, Apply] = {}
        stack = [variable.owner]
        while stack:
            node = stack[-1]
            if node in done:
                stack.pop()
                continue
            if self.nodes.get((node.op.canonical, *node.inputs)) is node:
                done[node] = node
                continue
            pending = [i.owner for i in node.inputs if i.owner is not None and i.owner not in done]
            if pending:
                stack.extend(reversed(pending))
                continue
            if node.trace is None:
                node.trace = trace
            inputs = [self.leaf(i) if i.owner is None else done[i.owner].outputs[i.index] for i in node.inputs]
            done[node] = self.rebuilt(node, inputs)
        return done[variable.owner].outputs[variable.index or 0]  # type: ignore[no-any-return]
