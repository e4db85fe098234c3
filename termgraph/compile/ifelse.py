"""ifelse: one of two graphs, of which only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from termgraph.errors import GraphTypeError
from termgraph.graph.apply import Apply
from termgraph.graph.null import DisconnectedType
from termgraph.graph.op import Op, Thunk
from termgraph.graph.variable import Variable
from termgraph.tensor.elementwise import float_zeros_like
from termgraph.tensor.type import TensorType
from termgraph.tensor.variable import as_tensor_variable


class IfElse(Op):
    """Inputs: a scalar condition, `n_outs` variables for when it is true, as many for when it is not."""

    lazy = True
    __props__ = ("n_outs",)
    typed_by_inputs = True

    def __init__(self, n_outs: int = 1) -> None:
        self.n_outs = n_outs
        self.view_map = {i: [1 + i, 1 + n_outs + i] for i in range(n_outs)}

    def make_node(self, condition: Any, *branches: Any) -> Apply:
        n = self.n_outs
        if len(branches) != 2 * n:
            raise GraphTypeError(f"{self} takes a condition and {2 * n} variables, got {len(branches)} after the condition.")
        condition = as_tensor_variable(condition)
        if condition.type.ndim != 0:
            raise GraphTypeError(f"the condition of ifelse must be a scalar, got {condition} of type {condition.type}.")
        variables = [v if isinstance(v, Variable) else as_tensor_variable(v) for v in branches]
        types = [_common_type(i, a, b) for i, (a, b) in enumerate(zip(variables[:n], variables[n:], strict=True))]
        return Apply(self, [condition, *variables], [t.make_variable() for t in types])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        first = 1 if inputs[0] else 1 + self.n_outs
        for i, cell in enumerate(output_storage):
            cell[0] = inputs[first + i]

    def make_thunk(self, node: Apply, storage_map: Any, compute_map: Any, no_recycling: Any, impl: str | None = None) -> Thunk:
        n = self.n_outs
        cells = [storage_map[v] for v in node.inputs]
        flags = [compute_map[v] for v in node.inputs]
        targets = [(storage_map[v], compute_map[v]) for v in node.outputs]

        def thunk() -> list[int]:
            if not flags[0][0]:
                return [0]
            first = 1 if cells[0][0] else 1 + n
            missing = [i for i in range(first, first + n) if not flags[i][0]]
            if not missing:
                for i, (target, computed) in enumerate(targets):
                    target[0] = cells[first + i][0]
                    computed[0] = True
            return missing

        thunk.lazy = True  # type: ignore[attr-defined]
        return thunk

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        def length(a: Any, b: Any) -> Any:
            return a if a is b or (isinstance(a, int) and a == b) else ifelse(node.inputs[0], a, b)

        then, otherwise = input_shapes[1 : 1 + self.n_outs], input_shapes[1 + self.n_outs :]
        return [tuple(length(x, y) for x, y in zip(a, b, strict=True)) for a, b in zip(then, otherwise, strict=True)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        n = self.n_outs
        return [[False] * n] + [[i % n == o for o in range(n)] for i in range(2 * n)]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        condition, n = inputs[0], self.n_outs
        then: list[Any] = []
        otherwise: list[Any] = []
        for i, g in enumerate(cotangents):
            disconnected = isinstance(g.type, DisconnectedType)
            a, b = inputs[1 + i], inputs[1 + n + i]
            then.append(g if disconnected else ifelse(condition, g, float_zeros_like(a)))
            otherwise.append(g if disconnected else ifelse(condition, float_zeros_like(b), g))
        return [DisconnectedType()(), *then, *otherwise]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        n = self.n_outs
        results: list[Any] = []
        for i in range(n):
            a, b = tangents[1 + i], tangents[1 + n + i]
            if a is None and b is None:
                results.append(None)
            else:
                results.append(ifelse(inputs[0], float_zeros_like(inputs[1 + i]) if a is None else a,
                                      float_zeros_like(inputs[1 + n + i]) if b is None else b))
        return results

    def __str__(self) -> str:
        return "IfElse" if self.n_outs == 1 else f"IfElse{{{self.n_outs}}}"


def _common_type(index: int, a: Variable, b: Variable) -> Any:
    """The type of what is `a` or `b`; raises GraphTypeError where no type holds both."""
    if a.type == b.type:
        return a.type
    x, y = a.type, b.type
    if isinstance(x, TensorType) and isinstance(y, TensorType) and x.dtype == y.dtype and x.ndim == y.ndim:
        return TensorType(x.dtype, [s if s == t else None for s, t in zip(x.shape, y.shape, strict=True)])
    raise GraphTypeError(f"the branches of ifelse must have the same dtype and rank; those of output {index} are "
                         f"{a} of type {x} and {b} of type {y}. Convert one of them.")


def ifelse(condition: Any, then_branch: Any, else_branch: Any, name: str | None = None) -> Any:
    """`then_branch` where the scalar `condition` is not zero, else `else_branch`; a compiled function computes only the
    chosen one. The branches are variables or lists of them; a list gives a list.

    Raises GraphTypeError where the branches differ in number, dtype or rank.

    >>> import termgraph.tensor as tt
    >>> x = tt.vector("x")
    >>> ifelse(tt.scalar("c"), x, x + 1).type
    Vector(float64, shape=(?,))
    """
    several = isinstance(then_branch, (list, tuple))
    then = list(then_branch) if several else [then_branch]
    otherwise = list(else_branch) if isinstance(else_branch, (list, tuple)) else [else_branch]
    if len(then) != len(otherwise):
        raise GraphTypeError(f"ifelse: {len(then)} variables where the condition holds, {len(otherwise)} where it does not.")
    outputs: list[Any] = IfElse(len(then))(condition, *then, *otherwise, name=name, return_list=True)
    return outputs if several else outputs[0]
