"""Python's operators for whatever stands for a tensor: Variables, logic variables and pattern terms alike.

The functions behind them are bound later, by the room that defines them, so that `x * y` means one thing everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar


class Operators:
    """`+ - * / // % ** @ & | ^ ~ < <= > >=`, indexing, and `abs`, each a call of the function of that name in `functions`.

    `==` and `!=` keep comparing identity: use `eq` and `neq` for elementwise comparison.
    """

    __slots__ = ()

    functions: ClassVar[Mapping[str, Callable[..., Any]]] = {}

    # NumPy must leave `array * variable` to the variable.
    __array_priority__ = 1000
    __array_ufunc__ = None

    def __add__(self, other: Any) -> Any:
        return self.functions["add"](self, other)

    def __radd__(self, other: Any) -> Any:
        return self.functions["add"](other, self)

    def __sub__(self, other: Any) -> Any:
        return self.functions["sub"](self, other)

    def __rsub__(self, other: Any) -> Any:
        return self.functions["sub"](other, self)

    def __mul__(self, other: Any) -> Any:
        return self.functions["mul"](self, other)

    def __rmul__(self, other: Any) -> Any:
        return self.functions["mul"](other, self)

    def __truediv__(self, other: Any) -> Any:
        return self.functions["true_div"](self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self.functions["true_div"](other, self)

    def __floordiv__(self, other: Any) -> Any:
        return self.functions["int_div"](self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self.functions["int_div"](other, self)

    def __mod__(self, other: Any) -> Any:
        return self.functions["mod"](self, other)

    def __rmod__(self, other: Any) -> Any:
        return self.functions["mod"](other, self)

    def __pow__(self, other: Any) -> Any:
        return self.functions["pow"](self, other)

    def __rpow__(self, other: Any) -> Any:
        return self.functions["pow"](other, self)

    def __matmul__(self, other: Any) -> Any:
        return self.functions["matmul"](self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return self.functions["matmul"](other, self)

    def __and__(self, other: Any) -> Any:
        return self.functions["and_"](self, other)

    def __rand__(self, other: Any) -> Any:
        return self.functions["and_"](other, self)

    def __or__(self, other: Any) -> Any:
        return self.functions["or_"](self, other)

    def __ror__(self, other: Any) -> Any:
        return self.functions["or_"](other, self)

    def __xor__(self, other: Any) -> Any:
        return self.functions["xor"](self, other)

    def __rxor__(self, other: Any) -> Any:
        return self.functions["xor"](other, self)

    def __neg__(self) -> Any:
        return self.functions["neg"](self)

    def __pos__(self) -> Any:
        return self

    def __invert__(self) -> Any:
        return self.functions["invert"](self)

    def __abs__(self) -> Any:
        return self.functions["abs"](self)

    def __lt__(self, other: Any) -> Any:
        return self.functions["lt"](self, other)

    def __le__(self, other: Any) -> Any:
        return self.functions["le"](self, other)

    def __gt__(self, other: Any) -> Any:
        return self.functions["gt"](self, other)

    def __ge__(self, other: Any) -> Any:
        return self.functions["ge"](self, other)

    def __getitem__(self, index: Any) -> Any:
        return self.functions["getitem"](self, index)


class PatternOperators(Operators):
    """The operators of logic variables and pattern terms."""

    __slots__ = ()


def bind_operators(cls: type[Operators], functions: Mapping[str, Callable[..., Any]]) -> None:
    """Let the operators of `cls` call `functions`."""
    cls.functions = functions
