"""Type: the set of values a Variable may take, and how to test, convert and compare them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from termgraph.errors import GraphTypeError
from termgraph.graph.shared import SharedVariable
from termgraph.graph.trace import capture
from termgraph.graph.variable import Constant, Variable


class Type:
    """What a Variable may hold.

    A subclass says what values belong to it (`filter`) and, if it has parameters, gives `__eq__` and `__hash__`; types are
    compared often, so a subclass with parameters does well to intern its instances (equal types are then identical).

    >>> from termgraph.tensor.type import TensorType
    >>> TensorType("float64", (None, 3)) is TensorType("float64", (None, 3))
    True
    """

    variable_type: ClassVar[type[Variable]] = Variable
    constant_type: ClassVar[type[Constant]] = Constant
    shared_type: ClassVar[type[SharedVariable]] = SharedVariable

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """`data` as a value of this type: itself, or converted where `strict` is False and nothing is lost.

        Raises TypeError where `data` is not of this type and cannot be converted; `allow_downcast=True` allows a
        conversion that loses precision, None only that of a Python float.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define filter()")

    def is_valid_value(self, data: Any, strict: bool = True) -> bool:
        """Whether `filter` would accept `data`."""
        try:
            self.filter(data, strict=strict)
        except (TypeError, ValueError):
            return False
        return True

    def in_same_class(self, otype: Type) -> bool:
        """Whether `otype` differs from this one in static shape at most."""
        return self == otype

    def is_super(self, otype: Type) -> bool:
        """Whether every value of `otype` is a value of this type."""
        return self == otype

    def filter_variable(self, other: Any, allow_convert: bool = True) -> Variable:
        """`other` as a Variable whose values all belong to this type; raises GraphTypeError where it is not one."""
        if not isinstance(other, Variable):
            other = self.constant_type(self, other)
        variable: Variable = other
        if self.is_super(variable.type):
            return variable
        if allow_convert:
            converted = self.convert_variable(variable)
            if converted is not None:
                return converted
        raise GraphTypeError(f"expected a variable of type {self}, got {variable} of type {variable.type}.")

    def convert_variable(self, var: Variable) -> Variable | None:
        """`var` converted to this type, or None where that cannot be done without losing something."""
        return var if self.is_super(var.type) else None

    def make_variable(self, name: str | None = None) -> Variable:
        """A new Variable of this type that nothing computes."""
        return self.variable_type(self, None, name=name)

    def make_constant(self, value: Any, name: str | None = None) -> Constant:
        """A Constant of this type; the value is filtered and frozen."""
        return self.constant_type(self, value, name=name)

    def __call__(self, name: str | None = None) -> Any:
        variable = self.make_variable(name)
        variable.trace = capture()
        return variable

    def freeze(self, data: Any) -> Any:
        """`data` such that nobody can change it: what a Constant keeps."""
        return data

    def constant_key(self, data: Any) -> Any:
        """A hashable value, equal for two values exactly when they are indistinguishable (dtype, shape and bytes)."""
        return data

    def literal_of(self, data: Any) -> Any:
        """The one Python number that every element of `data` equals, or None."""
        return None

    def rounded(self, number: Any) -> Any:
        """The Python number that a constant of this type holds when it is made from `number`."""
        return number

    @classmethod
    def samples(cls) -> tuple[Type, ...]:
        """A few typical types of this class: what rules are tried on when they are checked."""
        return ()

    def values_eq(self, a: Any, b: Any) -> bool:
        """Whether two values are the same."""
        return bool(a == b)

    def values_eq_approx(self, a: Any, b: Any) -> bool:
        """Whether two values are the same but for rounding."""
        return self.values_eq(a, b)

    @staticmethod
    def may_share_memory(a: Any, b: Any) -> bool:
        """Whether a change in `a` might be seen in `b`."""
        return a is b

    @property
    def ndim(self) -> int | None:
        """Number of dimensions, None for a type that has none."""
        return None


def sample_types() -> Iterator[Type]:
    """The samples of every class of Types there is."""
    kinds: list[type[Type]] = [Type]
    for kind in kinds:
        kinds.extend(kind.__subclasses__())
        yield from kind.samples()


def describe_value(value: Any) -> str:
    """A short account of a value for an error message: its class, and dtype and shape where it has them."""
    if isinstance(value, Variable):
        return f"the symbolic variable {value} of type {value.type}"
    dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", None)
    name = type(value).__name__
    if dtype is not None and shape is not None:
        return f"{name} of dtype {dtype} and shape {tuple(shape)}"
    return f"{name} {value!r:.60}"
