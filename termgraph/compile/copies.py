"""DeepCopyOp, and where it goes: so that what a function returns or stores never shares memory it should not."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from termgraph.compile.io import In, Out
from termgraph.graph.aliasing import view_roots
from termgraph.graph.apply import Apply
from termgraph.graph.fgraph import FunctionGraph, Output
from termgraph.graph.op import Op, Thunk
from termgraph.graph.variable import Constant, Variable


class DeepCopyOp(Op):
    """A copy of the input, of any type."""

    __props__ = ()
    typed_by_inputs = True

    def make_node(self, x: Variable) -> Apply:
        return Apply(self, [x], [x.type.make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        output_storage[0][0] = copy.deepcopy(inputs[0])

    def make_thunk(self, node: Apply, storage_map: Any, compute_map: Any, no_recycling: Any, impl: str | None = None) -> Thunk:
        source, target = storage_map[node.inputs[0]], storage_map[node.outputs[0]]
        computed = compute_map[node.outputs[0]]

        def thunk() -> None:
            value = source[0]
            target[0] = value.copy() if type(value) is np.ndarray else copy.deepcopy(value)
            computed[0] = True
        return thunk

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [input_shapes[0]]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        return [cotangents[0]]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [tangents[0]]


deep_copy_op = DeepCopyOp()


def insert_copies(fgraph: FunctionGraph, inputs: Sequence[In], outputs: Sequence[Out]) -> None:
    """Copy each output of `fgraph` that may share memory with a constant, an input or an earlier output.

    `inputs` and `outputs` say what may be shared all the same: an output with `borrow` anything, an input with `borrow`
    its own memory. Inputs of the graph beyond `inputs` (shared variables) and outputs beyond `outputs` (updates) borrow
    nothing.
    """
    roots = view_roots(fgraph.toposort())
    lent = {i.variable for i in inputs if i.borrow}
    taken = {roots.get(v, v) for v in fgraph.inputs if v not in lent}
    taken.update(roots.get(v, v) for v in fgraph.variables if isinstance(v, Constant))
    borrowed = [o.borrow for o in outputs] + [False] * (len(fgraph.outputs) - len(outputs))
    for position, output in enumerate(list(fgraph.outputs)):
        root = roots.get(output, output)
        if root in taken and not borrowed[position]:
            place = next(n for n, _ in fgraph.get_clients(output) if isinstance(n.op, Output) and n.op.idx == position)
            node = deep_copy_op.make_node(output)
            node.trace = output.trace if output.owner is None else output.owner.trace
            fgraph.change_node_input(place, 0, node.outputs[0], reason="insert_copies")
        else:
            taken.add(root)
