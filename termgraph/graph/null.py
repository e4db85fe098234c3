"""DisconnectedType and NullType: what stands where a derivative would, when there is none.

Ops return variables of these types from `pullback`; `grad` turns them into zeros or errors.
"""

from __future__ import annotations

from typing import Any

from termgraph.errors import GraphTypeError
from termgraph.graph.type import Type


class DisconnectedType(Type):
    """The cotangent of an input that the output does not depend on."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        raise GraphTypeError("a disconnected variable has no value: nothing the cost depends on passes through it.")

    def __str__(self) -> str:
        return "DisconnectedType"

    __repr__ = __str__


class NullType(Type):
    """The cotangent of an input with respect to which the derivative is undefined or not implemented, and why."""

    def __init__(self, why_null: str = "(no reason given)") -> None:
        self.why_null = why_null

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NullType)

    def __hash__(self) -> int:
        return hash(NullType)

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        raise GraphTypeError(f"a null variable has no value: {self.why_null}.")

    def __str__(self) -> str:
        return f"NullType({self.why_null})"

    __repr__ = __str__


def grad_undefined(op: object, position: int, variable: object, why: str = "") -> Any:
    """What `pullback` returns for an input with respect to which the derivative does not exist."""
    return NullType(f"the derivative of {op} with respect to its input {position} ({variable}) is undefined. {why}".strip())()


def grad_not_implemented(op: object, position: int, variable: object, why: str = "") -> Any:
    """What `pullback` returns for an input with respect to which nobody has written the derivative."""
    text = f"the derivative of {op} with respect to its input {position} ({variable}) is not implemented. {why}"
    return NullType(text.strip())()
