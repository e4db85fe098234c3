"""Variables as expression tuples of the `etuples` package, for people to look at; the engine never makes them."""

from __future__ import annotations

from typing import Any

from etuples import etuple
from etuples.core import ExpressionTuple

from termgraph.graph.traversal import toposort
from termgraph.graph.variable import Variable
from termgraph.terms.build import build


def etuplize(variable: Variable) -> Any:
    """The expression tuple (op, *inputs) of `variable`, nested down to the variables without owner, which stay as they are.

    A subgraph used twice is the same etuple object in both places, and each etuple's `evaled_obj` is the Variable it came
    from. Beware of hashing or comparing deep etuples: the package recurses there.

    >>> import termgraph.tensor as tt
    >>> x = tt.scalar("x")
    >>> etuplize(tt.exp(x))
    ExpressionTuple((Exp, x))
    """
    made: dict[Variable, Any] = {}
    for node in toposort([variable]):
        args = [made.get(i, i) for i in node.inputs]
        for output in node.outputs:
            made[output] = etuple(output.head, *args, evaled_obj=output)
    return made.get(variable, variable)


def from_etuple(expression: Any) -> Any:
    """The Variable that an expression denotes: an etuple, a pattern term without unknowns, a cons pair or a tuple.

    An etuple that came from `etuplize` gives back the very Variable. Raises ValueError where a logic variable is left.
    """
    if isinstance(expression, Variable):
        return expression
    result = build(expression)
    if not isinstance(result, Variable):
        raise ValueError(f"expected an expression that denotes a Variable, got {expression!r:.80}.")
    return result


__all__ = ["ExpressionTuple", "etuplize", "from_etuple"]
