"""Whether two graphs are the same term up to the order of commutative arguments and the rounding of constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from termgraph.checking.generate import MISFIT, Generator
from termgraph.graph.evaluate import evaluate
from termgraph.graph.traversal import graph_inputs, toposort
from termgraph.graph.variable import Constant, Variable, literal_of

#: Where two terms are compared: intervals on which between them every function of the table is defined somewhere.
INTERVALS = ((0.3, 0.9), (1.2, 2.5), (-0.9, -0.3))


def numbered(outputs: Sequence[Variable], anonymous: bool = False) -> tuple[list[int], dict[Any, int]]:
    """A number for each output, equal for those that are the same term, and the table of what the numbers stand for. With
    `anonymous`, leaves and constants count by their types only."""
    numbers: dict[Any, int] = {}
    number_of: dict[Variable, int] = {}

    def number(variable: Variable, key: Any) -> int:
        literal = literal_of(variable)
        if literal is not None:
            # Its rank and the ops that spread it do not matter, nor does the sign of a zero.
            dtype = getattr(variable.type, "dtype", None)
            key = ("number", dtype) if anonymous else ("number", dtype, f"{literal + 0.0:.9g}")
        elif variable.owner is None:
            key = variable.type if anonymous else variable.key if isinstance(variable, Constant) else variable
        return numbers.setdefault(key, len(numbers))

    for variable in graph_inputs(outputs):
        number_of[variable] = number(variable, variable)
    for node in toposort(outputs):
        inputs = [number_of[i] for i in node.inputs]
        key = (node.op.canonical, tuple(sorted(inputs) if node.op.commutative else inputs))
        for index, output in enumerate(node.outputs):
            number_of[output] = number(output, (*key, index))
    return [number_of[o] for o in outputs], numbers


def same(a: Variable, b: Variable) -> bool:
    """Whether two Variables are the same term in that sense."""
    (first, second), _ = numbered([a, b])
    return first == second


def shape_of(variable: Variable) -> Any:
    """Equal for terms that differ in their leaves and numbers only, and for some more."""
    return frozenset(numbered([variable], anonymous=True)[1])


def size(variable: Variable) -> int:
    """The number of nodes that compute a Variable."""
    return len(toposort([variable]))


def contradict(a: Variable, b: Variable) -> bool | None:
    """Whether two Variables differ in value for some inputs, other than by rounding; None where neither could be computed or
    no value was finite."""
    compared = False
    for low, high in INTERVALS:
        generator = Generator(0)
        values = generator.values(list(dict.fromkeys(graph_inputs([a, b]))), low=low, high=high)
        try:
            with np.errstate(all="ignore"):
                one, other = (_dense(v) for v in evaluate([a, b], values))
        except MISFIT:
            continue
        if one.shape != other.shape:
            return True
        finite = np.isfinite(one) & np.isfinite(other)
        if finite.any():
            compared = True
            if not np.allclose(one[finite], other[finite], rtol=1e-3, atol=1e-6):
                return True
    return False if compared else None


def _dense(value: Any) -> Any:
    return value.toarray() if hasattr(value, "toarray") else np.asarray(value)
