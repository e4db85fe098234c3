"""Ops that are the identity and change the derivative that passes through them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from termgraph.gradient.grad import zeros_for
from termgraph.graph.apply import Apply
from termgraph.graph.null import DisconnectedType
from termgraph.graph.op import Op
from termgraph.graph.variable import Variable
from termgraph.tensor.variable import TensorVariable, as_tensor_variable


class IdentityWithDerivative(Op):
    """The input itself; a subclass says what becomes of derivatives. Once these are taken, it may be replaced by its
    input."""

    __props__: ClassVar[tuple[str, ...]] = ()
    view_map = {0: [0]}  # noqa: RUF012
    typed_by_inputs = True

    def make_node(self, x: Any) -> Apply:
        x = x if isinstance(x, Variable) else as_tensor_variable(x)
        return Apply(self, [x], [x.type.make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        output_storage[0][0] = inputs[0]

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return list(input_shapes)


class ZeroGrad(IdentityWithDerivative):
    """Derivatives are zero."""

    __props__ = ()

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        return [zeros_for(inputs[0])]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None]


class DisconnectedGrad(IdentityWithDerivative):
    """For derivatives there is no connection."""

    __props__ = ()

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False]]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        return [DisconnectedType()()]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None]


class GradClip(IdentityWithDerivative):
    """Cotangents are limited to [lower, upper]; tangents pass unchanged, since a limit is not linear."""

    __props__ = ("clip_lower_bound", "clip_upper_bound")

    def __init__(self, clip_lower_bound: float, clip_upper_bound: float) -> None:
        if not clip_lower_bound <= clip_upper_bound:
            raise ValueError(f"the lower bound {clip_lower_bound} must not exceed the upper bound {clip_upper_bound}.")
        self.clip_lower_bound, self.clip_upper_bound = float(clip_lower_bound), float(clip_upper_bound)

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        return [TensorVariable.functions["clip"](cotangents[0], self.clip_lower_bound, self.clip_upper_bound)]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return list(tangents)


class GradScale(IdentityWithDerivative):
    """Derivatives are multiplied by a number."""

    __props__ = ("multiplier",)

    def __init__(self, multiplier: float) -> None:
        self.multiplier = float(multiplier)

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        return [cotangents[0] * self.multiplier]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        return [None if tangents[0] is None else tangents[0] * self.multiplier]


def zero_grad(x: Any) -> Any:
    """`x`, through which derivatives are zero (but exist: no DisconnectedInputError)."""
    return ZeroGrad()(x)


consider_constant = zero_grad


def disconnected_grad(x: Any) -> Any:
    """`x`, on which for derivatives nothing depends: `grad` with respect to it raises DisconnectedInputError."""
    return DisconnectedGrad()(x)


def grad_clip(x: Any, lower_bound: float, upper_bound: float) -> Any:
    """`x`, where each element of the gradient that comes back is limited to [lower_bound, upper_bound]."""
    return GradClip(lower_bound, upper_bound)(x)


def grad_scale(x: Any, multiplier: float) -> Any:
    """`x`, where derivatives are multiplied by a number."""
    return GradScale(multiplier)(x)
