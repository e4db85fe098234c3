"""Variable and Constant: the edges of the graph."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from termgraph.graph.symbol import CONSTANT, LEAF, Symbol
from termgraph.graph.trace import Trace

if TYPE_CHECKING:
    from termgraph.graph.apply import Apply
    from termgraph.graph.type import Type


class Variable:
    """A value to come: an input, or output number `index` of the Apply `owner`.

    Invariants: `owner is None` exactly when nothing computes the variable, and then `symbol` is LEAF or CONSTANT; otherwise
    `owner.outputs[index] is self`, and `symbol` is that of this output of the owner's Op. Equality is identity: inside the
    engine equal terms are the same variable.
    """

    __slots__ = ("__weakref__", "_tag", "index", "name", "owner", "symbol", "trace", "type")

    type: Any
    owner: Apply | None
    index: int | None
    name: str | None
    symbol: Symbol
    trace: Trace | None

    def __init__(self, type: Type, owner: Apply | None = None, index: int | None = None,  # noqa: A002
                 name: str | None = None) -> None:
        self.type = type
        self.owner = owner
        self.index = index
        self.name = name
        self.symbol = LEAF
        self.trace = None

    @property
    def head(self) -> Any:
        """The car of the variable as a term: the canonical Op that computes it (for an output other than the one a call of
        the Op returns, the `Symbol` of that output); None where nothing does."""
        return self.symbol.car

    @property
    def tag(self) -> SimpleNamespace:
        """A scratchpad for the user; made when first asked for."""
        try:
            return self._tag  # type: ignore[has-type, no-any-return]
        except AttributeError:
            self._tag = SimpleNamespace()
            return self._tag

    def __str__(self) -> str:
        if self.name is not None:
            return self.name
        if self.owner is None:
            return f"<{self.type}>"
        op = self.owner.op
        if self.index == op.default_output or len(self.owner.outputs) == 1:
            return f"{op}.out"
        return f"{op}.{self.index}"

    def __repr__(self) -> str:
        return str(self)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: not the trace, which holds code, nor the symbol, which the owner gives again."""
        return {"type": self.type, "owner": self.owner, "index": self.index, "name": self.name}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.type, self.owner, self.index, self.name = state["type"], state["owner"], state["index"], state["name"]
        self.trace = None
        # Whichever of the two is restored last, the variable or its owner, finds the other there.
        self.symbol = LEAF
        if self.owner is not None and hasattr(self.owner, "op"):
            self.symbol = self.owner.op.symbol_of(self.index or 0, len(self.owner.outputs))

    def clone(self, name: str | None = None) -> Variable:
        """A new variable of the same type that nothing computes."""
        copy = self.type.make_variable(name if name is not None else self.name)
        copy.trace = self.trace
        return copy  # type: ignore[no-any-return]

    def get_parents(self) -> list[Any]:
        """The Apply that computes this variable, if any, in a list."""
        return [] if self.owner is None else [self.owner]

    @property
    def ndim(self) -> int | None:
        """Number of dimensions of the type."""
        return self.type.ndim  # type: ignore[no-any-return]


_UNSET: Any = object()


class Constant(Variable):
    """A Variable whose value is known and never changes.

    Invariant: `data` is frozen (a write to it raises); `key` tells two constants apart by type, dtype, shape and bytes, so
    1, 1.0 and True differ and NaN equals itself.
    """

    __slots__ = ("_key", "_literal", "data")

    def __init__(self, type: Type, data: Any, name: str | None = None) -> None:  # noqa: A002
        super().__init__(type, None, None, name)
        self.data = type.freeze(type.filter(data))
        self._key = self._literal = _UNSET
        self.symbol = CONSTANT

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.type, self.data, self.name)  # __init__ freezes the data again and forgets the key

    @property
    def value(self) -> Any:
        """The value, under the name that shared variables use too."""
        return self.data

    @property
    def key(self) -> Any:
        """Hashable; equal for indistinguishable constants only."""
        if self._key is _UNSET:
            self._key = (self.type, self.type.constant_key(self.data))
        return self._key

    def signature(self) -> Any:
        """PyTensor's name for `key`."""
        return self.key

    def equals(self, other: Any) -> bool:
        """Whether `other` is a constant that cannot be told from this one."""
        return isinstance(other, Constant) and self.key == other.key

    @property
    def literal(self) -> Any:
        """The one Python number every element equals, or None (mixed elements, no elements, or not numeric)."""
        if self._literal is _UNSET:
            self._literal = self.type.literal_of(self.data)
        return self._literal

    def clone(self, name: str | None = None) -> Constant:
        """Constants do not change, so the clone is the constant itself unless it gets another name."""
        if name is None or name == self.name:
            return self
        return self.type.make_constant(self.data, name)  # type: ignore[no-any-return]

    def __str__(self) -> str:
        if self.name is not None:
            return self.name
        text = str(self.data).replace("\n", " ")
        return text if len(text) <= 24 else f"{text[:20]}..."


def literal_of(variable: Variable) -> Any:
    """The Python number every element of `variable` is known to equal, or None.

    Sees through ops that only spread their input (`Op.fills_with`: DimShuffle, Alloc, second).
    """
    owner = variable.owner
    while owner is not None:
        source = owner.op.fills_with
        if source is None:
            return None
        variable = owner.inputs[source]
        owner = variable.owner
    return variable.literal if isinstance(variable, Constant) else None
