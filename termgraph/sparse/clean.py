"""Storage put in order, without a change of any element: indices sorted, stored zeros removed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from termgraph.graph.apply import Apply
from termgraph.graph.op import Op
from termgraph.sparse.variable import sparse_input


class _Tidy(Op):
    """A matrix with the same elements, stored otherwise; `inplace` changes the argument itself."""

    __props__ = ("inplace",)
    typed_by_inputs = True

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = bool(inplace)
        if self.inplace:
            self.destroy_map = {0: [0]}

    def tidy(self, x: Any) -> None:
        """Change `x` in place."""
        raise NotImplementedError

    def make_node(self, x: Any) -> Apply:
        x = sparse_input(self, x)
        return Apply(self, [x], [x.type.make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        x = inputs[0] if self.inplace else inputs[0].copy()
        self.tidy(x)
        output_storage[0][0] = x

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [input_shapes[0]]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        return [cotangents[0]]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [tangents[0]]


class EnsureSortedIndices(_Tidy):
    """The same matrix with the indices of each row (CSR) or column (CSC) in increasing order."""

    __props__ = ("inplace",)

    def tidy(self, x: Any) -> None:
        x.sort_indices()


class Remove0(_Tidy):
    """The same matrix without the zeros that it stores."""

    __props__ = ("inplace",)

    def tidy(self, x: Any) -> None:
        x.eliminate_zeros()


ensure_sorted_indices = EnsureSortedIndices()
remove0 = Remove0()


def clean(x: Any) -> Any:
    """The sparse `x` without stored zeros and with sorted indices."""
    return ensure_sorted_indices(remove0(x))
