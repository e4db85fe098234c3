"""Whether two graphs are the same term, but for the order of commutative arguments and the way constants are written.

x - 3 and x + -3 count as the same, x / 2 and x * 0.5, and constants that differ by rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from termgraph.checking.generate import MISFIT, Generator
from termgraph.graph.evaluate import evaluate
from termgraph.graph.traversal import graph_inputs, toposort
from termgraph.graph.variable import Constant, Variable, literal_of
from termgraph.tensor import add, mul, sub, true_div

#: Where two terms are compared: intervals on which between them every function of the table is defined somewhere.
INTERVALS = ((0.3, 0.9), (1.2, 2.5), (-0.9, -0.3))
ADD, SUB, MUL, TRUE_DIV = (op.canonical for op in (add, sub, mul, true_div))


def numbered(outputs: Sequence[Variable], anonymous: bool = False) -> tuple[list[int], dict[Any, int]]:
    """A number for each output, equal for those that are the same term, and the table of what the numbers stand for. With
    `anonymous`, leaves and constants count by their types only."""
    numbers: dict[Any, int] = {}
    number_of: dict[Variable, int] = {}

    def constant(literal: Any, like: Variable) -> int:
        """Its rank and the ops that spread it do not matter, nor does the sign of a zero."""
        dtype = getattr(like.type, "dtype", None)
        return numbers.setdefault(("number", dtype) if anonymous else ("number", dtype, f"{literal + 0.0:.9g}"), len(numbers))

    def number(variable: Variable, key: Any) -> int:
        literal = literal_of(variable)
        if literal is not None:
            return constant(literal, variable)
        if variable.owner is None:
            key = variable.type if anonymous else variable.key if isinstance(variable, Constant) else variable
        return numbers.setdefault(key, len(numbers))

    for variable in graph_inputs(outputs):
        number_of[variable] = number(variable, variable)
    for node in toposort(outputs):
        op, inputs = node.op.canonical, [number_of[i] for i in node.inputs]
        literal = literal_of(node.inputs[-1]) if op is SUB or op is TRUE_DIV else None
        if op is SUB and literal is not None:
            op, inputs = ADD, [inputs[0], constant(-literal, node.inputs[1])]
        elif op is TRUE_DIV and literal:
            op, inputs = MUL, [inputs[0], constant(1 / literal, node.inputs[1])]
        key = (op, tuple(sorted(inputs) if op.commutative else inputs))
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


def contradict(term: Variable, a: Variable, b: Variable) -> bool:
    """Whether what was made of a term differs in value, other than by rounding, for some inputs for which all are finite.
    Elsewhere rules may say what they like: their soundness tells."""
    for low, high in INTERVALS:
        generator = Generator(0)
        values = generator.values(list(dict.fromkeys(graph_inputs([term, a, b]))), low=low, high=high)
        try:
            with np.errstate(all="ignore"):
                found = [_dense(v) for v in evaluate([term, a, b], values)]
        except MISFIT:
            continue  # lengths or dtypes that only running finds not to fit
        if len({v.shape for v in found}) > 1:
            return True
        finite = np.logical_and.reduce([np.isfinite(v) for v in found])
        if not np.allclose(found[1][finite], found[2][finite], rtol=1e-3, atol=1e-6):
            return True
    return False


def _dense(value: Any) -> Any:
    return value.toarray() if hasattr(value, "toarray") else np.asarray(value)
