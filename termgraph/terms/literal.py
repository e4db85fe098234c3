"""A Python number in the place of a variable: how each class of Types writes it."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from termgraph.graph.type import Type
from termgraph.graph.variable import Variable


@singledispatch
def typed_literal(type: Type, number: Any, like: Variable) -> Variable | None:  # noqa: A002
    """A variable of this type with the run-time shape of `like`, every element `number`, that does not use `like` itself
    but only its inputs; None where the type has no such thing. Each class of Types registers its own."""
    return None
