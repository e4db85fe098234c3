"""NodeTable: the hash-consing table. Within one, equal terms are one Variable, so equality is identity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from termgraph.graph.apply import Apply
from termgraph.graph.op import Op
from termgraph.graph.symbol import Symbol
from termgraph.graph.trace import Trace
from termgraph.graph.variable import Constant, Variable, literal_of
from termgraph.terms.term import OpTerm

_NUMBERS = frozenset({int, float, bool})
#: What make_node made of Python numbers among arguments: (symbol, *(type or number)) -> for each argument the constant, or
#: None for a variable, which stays; None where the arguments cannot be taken so.
_known_numbers: dict[Any, tuple[Any, ...] | None] = {}


class NodeTable:
    """Makes nodes, each once.

    Invariants: `nodes` maps (symbol, *inputs) to the only variable of the table with that symbol over these inputs, and
    `constants` a constant's key to the only Constant with it; the inputs of every variable in the table are in the table.
    """

    def __init__(self) -> None:
        self.nodes: dict[tuple[Any, ...], Variable] = {}
        self.constants: dict[Any, Constant] = {}

    # --- what generated code calls ------------------------------------------------------------------------------------

    def make(self, head: Any, args: Sequence[Any], trace: Trace | None = None) -> Any:
        """The variable with this head (a Symbol, an Op or an OpTerm) over these arguments: variables of the table, or Python
        numbers."""
        symbol = symbol_of(head)
        if symbol is None:
            return self.intern(head(*args), trace)
        found = self.nodes.get((symbol, *args))
        return self.new(symbol, args, trace) if found is None else found

    def new(self, symbol: Symbol, args: Sequence[Any], trace: Trace | None) -> Any:
        """A variable that is not in the table yet, unless an argument is a number."""
        op = symbol.op
        if not op.typed_by_inputs:
            node = op.make_node(*args)
            node.trace = trace
        else:
            for a in args:
                if type(a) in _NUMBERS:
                    return self._with_numbers(symbol, args, trace)
            node = op.node_for(args, trace)
            if node.inputs == list(args):
                return self.enter(node)[symbol.index]
        return self._intern_node(node, trace)[symbol.index]

    def enter(self, node: Apply) -> list[Any]:
        """Put a new node over variables of the table into it; its outputs."""
        nodes = self.nodes
        for output in node.outputs:
            nodes[(output.symbol, *node.inputs)] = output
        return node.outputs

    def _with_numbers(self, symbol: Symbol, args: Sequence[Any], trace: Trace | None) -> Any:
        # 1, 1.0 and True are one key of a dict but different constants.
        key = (symbol, *[a.type if isinstance(a, Variable) else (type(a), repr(a)) for a in args])
        if key not in _known_numbers:
            _known_numbers[key] = _numbers_of(symbol.op.make_node(*args), args)
        constants = _known_numbers[key]
        if constants is None:
            node = symbol.op.make_node(*args)
            node.trace = trace
            return self._intern_node(node, trace)[symbol.index]
        resolved = [a if c is None else self.leaf(c) for a, c in zip(args, constants, strict=True)]
        return self.make(symbol, resolved, trace)

    def lookup(self, head: Any, inputs: Sequence[Any]) -> Variable | None:
        """The variable with this head over these inputs, if the table has it."""
        return self.nodes.get((symbol_of(head), *inputs))

    # --- bringing in what others made -----------------------------------------------------------------------------------

    def leaf(self, variable: Variable) -> Variable:
        """A variable without owner: itself, or the one Constant with its key."""
        return self.constants.setdefault(variable.key, variable) if isinstance(variable, Constant) else variable

    def rebuilt(self, node: Apply, inputs: list[Any], fresh: bool = False) -> list[Any]:
        """The outputs of `node.op` over `inputs`, which are in the table: those that are there, or those of `node` itself if
        it has these very inputs (a copy's with `fresh`), or those of a new node."""
        found = self.nodes.get((node.outputs[0].symbol, *inputs))
        if found is not None:
            return found.owner.outputs  # type: ignore[union-attr]
        if inputs == node.inputs and not fresh:
            return self.enter(node)
        if all(a is b or a.type == b.type for a, b in zip(inputs, node.inputs, strict=True)):
            outputs = self.enter(Apply.trusted(node.op, inputs, [o.type for o in node.outputs], node.trace))
        else:
            made = node.op.make_node(*inputs)
            made.trace = node.trace
            outputs = self._intern_node(made, node.trace)
        for old, new in zip(node.outputs, outputs, strict=True):
            if old.name is not None and new.name is None:
                new.name = old.name
        return outputs

    def renewed(self, node: Apply, inputs: list[Any]) -> Variable:
        """The output of a new node like `node`, which has one output, over `inputs`, which are in the table and over which it
        has no such node. Not yet entered under this key."""
        for new, old in zip(inputs, node.inputs, strict=True):
            if new.type is not old.type and new.type != old.type:
                return self.rebuilt(node, inputs)[0]  # type: ignore[no-any-return]
        return self.twin(node, node.outputs[0], inputs)

    def twin(self, node: Apply, old: Variable, inputs: list[Any]) -> Variable:
        """As `renewed`, for inputs of the same types; `old` is the output of `node`.

        As the constructors would, but written out: this is where most of the time of making a node goes.
        """
        twin = Apply.__new__(Apply)
        twin.op, twin.inputs, twin.trace = node.op, inputs, node.trace
        kind: Any = type(old)
        output = kind.__new__(kind)
        output.type, output.owner, output.index, output.name = old.type, twin, 0, old.name
        output.symbol, output.trace = old.symbol, None
        twin.outputs = [output]
        return output  # type: ignore[no-any-return]

    def _intern_node(self, node: Apply, trace: Trace | None) -> list[Any]:
        inputs = [self.intern(i, trace) for i in node.inputs]
        found = self.nodes.get((node.outputs[0].symbol, *inputs))
        if found is not None:
            return found.owner.outputs  # type: ignore[union-attr]
        if inputs != node.inputs:
            node = Apply.trusted(node.op, inputs, [o.type for o in node.outputs], node.trace)
        return self.enter(node)

    def intern(self, variable: Variable, trace: Trace | None = None) -> Variable:
        """The variable of the table that is the same term; the graph below it is brought in where it is new."""
        if variable.owner is None:
            return self.leaf(variable)
        done: dict[Apply, list[Any]] = {}
        stack = [variable.owner]
        while stack:
            node = stack[-1]
            if node in done:
                stack.pop()
                continue
            if self.nodes.get((node.outputs[0].symbol, *node.inputs)) is node.outputs[0]:
                done[node] = node.outputs
                continue
            pending = [i.owner for i in node.inputs if i.owner is not None and i.owner not in done]
            if pending:
                stack.extend(reversed(pending))
                continue
            if node.trace is None:
                node.trace = trace
            inputs = [self.leaf(i) if i.owner is None else done[i.owner][i.index] for i in node.inputs]
            done[node] = self.rebuilt(node, inputs)
        return done[variable.owner][variable.index or 0]  # type: ignore[no-any-return]


def symbol_of(head: Any) -> Any:
    """The Symbol of a head in any form (Symbol, Op, OpTerm); None for a function that is no Op."""
    if type(head) is Symbol:
        return head
    if isinstance(head, Op):
        return head.symbol
    return head.instance().symbol if isinstance(head, OpTerm) else None


def _numbers_of(node: Apply, args: Sequence[Any]) -> tuple[Any, ...] | None:
    """For each argument the constant that a number became, spread to the rank it is used in; None for a variable."""
    if len(node.inputs) != len(args):
        return None
    constants: list[Any] = []
    for made, arg in zip(node.inputs, args, strict=True):
        if isinstance(arg, Variable):
            if made is not arg:
                return None
            constants.append(None)
        elif isinstance(made, Constant):
            constants.append(made)
        elif literal_of(made) is not None:
            shape = made.type.shape
            (source,) = made.owner.inputs  # type: ignore[union-attr]
            constants.append(made.type.make_constant(source.data.reshape(shape)))
        else:
            return None
    return tuple(constants)
