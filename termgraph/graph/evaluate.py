"""The plain interpreter: compute a graph with each Op's `perform`, nothing rewritten, nothing reused.

It is slow and obviously right, so it is what compiled functions and rules are checked against.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from termgraph.errors import MissingInputError
from termgraph.graph.apply import Apply
from termgraph.graph.trace import describe
from termgraph.graph.traversal import toposort
from termgraph.graph.variable import Constant, Variable


def perform(node: Apply, inputs: Sequence[Any]) -> list[Any]:
    """The values of all outputs of `node` on `inputs`."""
    cells: list[list[Any]] = [[None] for _ in node.outputs]
    node.op.perform(node, inputs, cells)
    return [cell[0] for cell in cells]


def evaluate(outputs: Sequence[Variable], givens: Mapping[Variable, Any]) -> list[Any]:
    """The values of `outputs`, where `givens` says the value of every input they need.

    An input that an op overwrites in place must be copied by the caller. Raises MissingInputError.

    >>> import termgraph.tensor as tt
    >>> x = tt.vector("x")
    >>> evaluate([x + 1], {x: x.type.filter([1.0, 2.0])})
    [array([2., 3.])]
    """
    values: dict[Variable, Any] = dict(givens)

    def value_of(variable: Variable, node: Apply | None) -> Any:
        if variable in values:
            return values[variable]
        if isinstance(variable, Constant):
            return variable.data
        container = getattr(variable, "container", None)
        if container is None:
            raise MissingInputError(variable, node, describe(variable.trace))
        return container.storage[0]

    for node in toposort(outputs, values.keys()):
        results = perform(node, [value_of(i, node) for i in node.inputs])
        values.update((o, v) for o, v in zip(node.outputs, results, strict=True) if o not in values)
    return [value_of(o, None) for o in outputs]
