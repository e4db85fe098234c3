"""Restrict: the values of one matrix on the structure of another, which is what a structured gradient is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from termgraph.graph.apply import Apply
from termgraph.graph.null import DisconnectedType
from termgraph.graph.op import Op
from termgraph.sparse.derivative import merged_shape, sparse_cotangent
from termgraph.sparse.storage import gather, values_at, with_values
from termgraph.sparse.type import SparseTensorType
from termgraph.sparse.variable import dense_input, is_sparse, sparse_input
from termgraph.tensor.elementwise import unbroadcast


class Restrict(Op):
    """restrict(g, x): the sparse matrix with the structure of `x` and the values that `g` has there.

    `g` is sparse, or a dense matrix that broadcasts where its static length is 1; the values of `x` do not matter. Raises
    StaticShapeError where the shapes are known to differ, ValueError where they differ at run time.
    """

    __props__ = ()
    typed_by_inputs = True

    def make_node(self, g: Any, x: Any) -> Apply:
        x = sparse_input(self, x, "its second argument")
        g = sparse_input(self, g) if is_sparse(g) else dense_input(self, g, "its first argument")
        dense = not isinstance(g.type, SparseTensorType)
        seen = [None if dense and s == 1 else s for s in g.type.shape]
        shape = merged_shape(self, x.type.shape, seen)
        return Apply(self, [g, x], [x.type.clone(dtype=g.type.dtype, shape=shape).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        g, x = inputs
        g_type = node.inputs[0].type
        sparse = isinstance(g_type, SparseTensorType)
        data = values_at(g, x) if sparse else gather(g, x, g_type.broadcastable).copy()
        output_storage[0][0] = with_values(x, data)

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [input_shapes[1]]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True], [False]]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        g, x = inputs
        seen = self(cotangents[0], x)
        if is_sparse(g):
            return [sparse_cotangent(seen, g), DisconnectedType()()]
        return [unbroadcast(summed_to(seen, g), g), DisconnectedType()()]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None if tangents[0] is None else self(tangents[0], inputs[1])]


def summed_to(x: Any, y: Any) -> Any:
    """The sparse `x` summed along the dimensions in which the dense matrix `y` broadcasts, as a dense matrix."""
    rows, cols = y.type.broadcastable
    if rows and cols:
        return x.sum().dimshuffle("x", "x")
    if rows:
        return x.sum(axis=0).dimshuffle("x", 0)
    if cols:
        return x.sum(axis=1).dimshuffle(0, "x")
    return x.toarray()


restrict = Restrict()
