"""In and Out: an input or output of a function together with what the function may do with it."""

from __future__ import annotations

import copy
from typing import Any

from termgraph.errors import GraphTypeError
from termgraph.graph.shared import Container
from termgraph.graph.variable import Variable


class In:
    """An input of `function`.

    `name` is the keyword of the call (that of the variable by default). With a `value` the argument is optional; with
    `implicit` it is not an argument at all. `update` is the expression whose value replaces `value` after each call.
    `mutable` lets the function overwrite the argument, `borrow` (by default as `mutable`) lets an output be a view of it.
    `strict` refuses arguments that would have to be converted; `allow_downcast` allows conversions that lose precision.

    Raises GraphTypeError for a variable that is none, or an update without a value or of another type.
    """

    def __init__(self, variable: Any, name: str | None = None, value: Any = None, update: Any = None, mutable: bool = False,
                 borrow: bool | None = None, allow_downcast: bool | None = None, strict: bool = False,
                 implicit: bool = False) -> None:
        if not isinstance(variable, Variable):
            raise GraphTypeError(f"In takes a variable, got {type(variable).__name__} {variable!r:.60}.")
        if value is None and (update is not None or implicit):
            raise GraphTypeError(f"the input {variable} needs a value= to be {'implicit' if implicit else 'updated'}.")
        self.variable = variable
        self.name = variable.name if name is None else name
        self.update = None if update is None else variable.type.filter_variable(update)
        self.mutable = mutable
        self.borrow = mutable if borrow is None else borrow
        self.allow_downcast, self.strict, self.implicit = allow_downcast, strict, implicit
        self.container: Container | None = None
        if isinstance(value, Container):
            self.container = value
        elif value is not None:
            own = value if self.borrow else copy.deepcopy(value)
            self.container = Container(variable.type, own, self.name, strict, allow_downcast)

    @property
    def value(self) -> Any:
        """The default value, None where there is none."""
        return None if self.container is None else self.container.value

    def __repr__(self) -> str:
        return f"In({self.variable})"


class Out:
    """An output of `function`. With `borrow` the value may share memory with an input, a shared variable or another output."""

    def __init__(self, variable: Any, borrow: bool = False) -> None:
        if not isinstance(variable, Variable):
            raise GraphTypeError(f"Out takes a variable, got {type(variable).__name__} {variable!r:.60}.")
        self.variable, self.borrow = variable, borrow

    def __repr__(self) -> str:
        return f"Out({self.variable})"
