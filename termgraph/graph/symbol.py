"""Symbol: what one output of an Op is to the engine, the function symbol of a term."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from termgraph.graph.op import Op


class Symbol:
    """The function symbol of the terms that are output `index` of `op`.

    Invariant: one instance for each (canonical op, output), so symbols compare, and hash, by identity alone; Ops hash by
    their parameters, which costs a call. `car` is what people see: the canonical op for the output a plain call returns,
    the Symbol itself (which can be called) for any other. `fills` says that a variable with this symbol may have a known
    literal value.
    """

    __slots__ = ("car", "fills", "index", "op")

    def __init__(self, op: Op | None, index: int, plain: bool, fills: bool) -> None:
        self.op: Any = op
        self.index = index
        self.car: Any = op if plain else self
        self.fills = fills

    def __call__(self, *inputs: Any) -> Any:
        return self.op.apply_for(self, inputs)

    def __str__(self) -> str:
        return f"{self.op}.{self.index}"

    __repr__ = __str__


#: The symbols of variables that nothing computes: those that may be anything, and those whose value is known.
LEAF = Symbol(None, 0, True, False)
CONSTANT = Symbol(None, 0, True, True)
