"""SharedVariable: an input whose value lives outside the calls of a function, and may be updated by them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from termgraph.graph.variable import Variable

if TYPE_CHECKING:
    from termgraph.graph.type import Type


class Container:
    """One value of one type. Invariant: `storage` is a list of one element, a value the type accepts (or None before the
    first is set); functions that share the container share the very list."""

    __slots__ = ("allow_downcast", "name", "storage", "strict", "type")

    def __init__(self, type: Type, value: Any = None, name: str | None = None, strict: bool = False,  # noqa: A002
                 allow_downcast: bool | None = None) -> None:
        self.type, self.name, self.strict, self.allow_downcast = type, name, strict, allow_downcast
        self.storage: list[Any] = [None]
        if value is not None:
            self.value = value

    @property
    def value(self) -> Any:
        """The value itself, not a copy."""
        return self.storage[0]

    @value.setter
    def value(self, value: Any) -> None:
        # filter raises before anything is stored: a bad value leaves the old one.
        self.storage[0] = self.type.filter(value, strict=self.strict, allow_downcast=self.allow_downcast)

    def __repr__(self) -> str:
        return f"<{self.value!r}>"


class SharedVariable(Variable):
    """A Variable with a value of its own, kept in `container`; `default_update`, if set, is the expression it becomes after
    each call of a function that uses it."""

    __slots__ = ("container", "default_update")

    container: Container
    default_update: Variable | None

    def __init__(self, type: Type, value: Any, name: str | None = None, strict: bool = False,  # noqa: A002
                 allow_downcast: bool | None = None, container: Container | None = None) -> None:
        super().__init__(type, None, None, name)
        self.container = container or Container(type, value, name, strict, allow_downcast)
        self.default_update = None

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "container": self.container, "default_update": self.default_update}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.container, self.default_update = state["container"], state["default_update"]

    def get_value(self, borrow: bool = False, return_internal_type: bool = False) -> Any:
        """The value: a copy, or with `borrow` the object itself, which the next call may change."""
        return self.container.value if borrow else copy.deepcopy(self.container.value)

    def set_value(self, new_value: Any, borrow: bool = False) -> None:
        """Change the value. Raises TypeError, and keeps the old value, where the type does not accept the new one."""
        self.container.value = new_value if borrow else copy.deepcopy(new_value)

    def clone(self, name: str | None = None) -> SharedVariable:
        """Another variable on the same container."""
        twin = type(self)(self.type, None, name if name is not None else self.name, container=self.container)
        twin.default_update, twin.trace = self.default_update, self.trace
        return twin
