"""Asking one node for its derivatives: by `pullback` and `pushforward`, or by the older methods a user's Op may have.

The method is that of the most derived class that defines one, so that a subclass which overrides an older method is heard.
What an Op returns is checked here, once for everybody: number, rank, and never an integer dtype.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from termgraph.errors import GraphTypeError, MethodNotDefined
from termgraph.graph.apply import Apply
from termgraph.graph.null import DisconnectedType, NullType
from termgraph.graph.op import Op
from termgraph.graph.trace import describe
from termgraph.graph.variable import Variable
from termgraph.tensor.type import DISCRETE, FLOATING

_REVERSE = ("pullback", "L_op", "grad")
_FORWARD = ("pushforward", "R_op")


def is_disconnected(derivative: Any) -> bool:
    """Whether `derivative` stands for "does not depend on it": None or of DisconnectedType."""
    return derivative is None or (isinstance(derivative, Variable) and isinstance(derivative.type, DisconnectedType))


def is_null(derivative: Any) -> bool:
    """Whether `derivative` stands for one that does not exist or that nobody has written."""
    return isinstance(derivative, Variable) and isinstance(derivative.type, NullType)


def _method(op: Op, names: Sequence[str]) -> str | None:
    for cls in type(op).__mro__:
        if cls is Op:
            return None
        for name in names:
            if name in vars(cls):
                taken_back = vars(cls)[name] is vars(Op).get(name)  # a subclass may say that it has no derivative after all
                return None if taken_back else name
    return None


def has_pullback(op: Op) -> bool:
    """Whether the Op defines reverse mode, under one name or another."""
    return _method(op, _REVERSE) is not None


def has_pushforward(op: Op) -> bool:
    """Whether the Op defines forward mode, under one name or another."""
    return _method(op, _FORWARD) is not None


def _warn_older(op: Op, older: str, newer: str) -> None:
    warnings.warn(f"{type(op).__name__} defines the older {older}(); define {newer}() instead.", DeprecationWarning,
                  stacklevel=4)


def pullback_of(node: Apply, cotangents: Sequence[Any]) -> list[Any]:
    """The cotangent of each input of `node`, given one of each output.

    Calls `pullback`, or with a DeprecationWarning the older `L_op(inputs, outputs, output_grads)` or
    `grad(inputs, output_grads)`. Raises MethodNotDefined where the Op has none of them, GraphTypeError where what it
    returns cannot be the cotangents.
    """
    op, name = node.op, _method(node.op, _REVERSE)
    inputs, outputs, cotangents = list(node.inputs), list(node.outputs), list(cotangents)
    if name is None:
        raise MethodNotDefined(op, "pullback")
    if name == "pullback":
        found = op.pullback(inputs, outputs, cotangents)
    else:
        _warn_older(op, name, "pullback")
        older: Any = op
        found = older.L_op(inputs, outputs, cotangents) if name == "L_op" else older.grad(inputs, cotangents)
    for position, cotangent in enumerate(found):
        if cotangent is None:
            raise GraphTypeError(f"{name}() of {op} returned None for input {position}{_at(node)}; return "
                                 "DisconnectedType()() where the output does not depend on an input.")
    return _checked(node, name, found, inputs)


def pushforward_of(node: Apply, tangents: Sequence[Any]) -> list[Any]:
    """The tangent of each output of `node`, given one of each input; None stands for zero in both.

    Calls `pushforward`, or with a DeprecationWarning the older `R_op(inputs, eval_points)`. Raises MethodNotDefined and
    GraphTypeError as `pullback_of` does.
    """
    op, name = node.op, _method(node.op, _FORWARD)
    inputs, tangents = list(node.inputs), list(tangents)
    if name is None:
        raise MethodNotDefined(op, "pushforward")
    if name == "pushforward":
        found = op.pushforward(inputs, list(node.outputs), tangents)
    else:
        _warn_older(op, name, "pushforward")
        older: Any = op
        found = older.R_op(inputs, tangents)
    return _checked(node, name, [None if is_disconnected(t) else t for t in found], node.outputs)


def _at(node: Apply | None) -> str:
    where = None if node is None else describe(node.trace)
    return f" (built at {where})" if where else ""


def _checked(node: Apply, name: str, found: Sequence[Any], primals: Sequence[Any]) -> list[Any]:
    """`found`, with each derivative in the float dtype of its primal."""
    if len(found) != len(primals):
        raise GraphTypeError(f"{name}() of {node.op} returned {len(found)} derivatives, expected {len(primals)}{_at(node)}.")
    results = []
    for position, (derivative, primal) in enumerate(zip(found, primals, strict=True)):
        if is_disconnected(derivative) or is_null(derivative):
            results.append(derivative)
            continue
        check_derivative(derivative, primal, f"derivative {position} that {name}() returned", node)
        dtype, wanted = getattr(derivative.type, "dtype", None), getattr(primal.type, "dtype", None)
        convert = dtype != wanted and dtype in FLOATING and wanted in FLOATING
        results.append(derivative.astype(wanted) if convert else derivative)
    return results


def check_derivative(derivative: Any, primal: Any, what: str, node: Apply | None = None) -> None:
    """Raise GraphTypeError unless `derivative`, which `node` gave, may be a tangent or cotangent of `primal`: of the same
    rank, and not of integers."""
    if not isinstance(derivative, Variable):
        problem = f"be a variable, got {type(derivative).__name__}"
    elif derivative.type.ndim != primal.type.ndim:
        problem = f"have the rank of {primal}, {primal.type}, got {derivative.type}"
    elif getattr(derivative.type, "dtype", None) in DISCRETE:
        problem = f"not be of integer dtype (a derivative is a real number even of an integer), got {derivative.type}"
    else:
        return
    raise GraphTypeError(f"{what if node is None else f'{what} for {node.op}'} must {problem}{_at(node)}.")
