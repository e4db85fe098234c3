"""Sums and products as bags of terms: matching modulo association and order.

A nested sum is flattened to the tuple of its terms, looked up by identity, and put together again; no permutation is tried.
Each function here is exposed as a relation of the vocabulary (one way: the flattened side is computed), so that a rule that
matches modulo association and order is a clause like any other.

>>> import termgraph as tg, termgraph.tensor as tt
>>> from termgraph.rewrite.flatten import operands, together, without
>>> @tg.relation
... def cancel_in_product(x, y, xs, rest, r):
...     \"\"\"(a * b * c) / b = a * c\"\"\"
...     yield x / y, r, operands(tt.mul, x, xs), without(xs, y, rest), together(tt.mul, rest, r)
>>> a, b, c = tt.dscalars("a", "b", "c")
>>> tg.pprint(tg.rewrite_graph(a * b * c / b, rules=[cancel_in_product])[0])
'a * c'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from termgraph.graph.op import Op
from termgraph.graph.variable import Constant, Variable, literal_of
from termgraph.rewrite.delay import Goal
from termgraph.rewrite.goals import compute

#: A sum or product of more terms is matched as it is nested, so that the work at each node stays bounded.
LARGEST = 16


def flattened(op: Op, x: Any) -> tuple[Any, ...] | None:
    """The terms of `x` seen as `op` over terms that are not `op` themselves, left to right; None for fewer than two, or more
    than `LARGEST`. A nested sum of another dtype is a term: what wraps around, or is a logical or, inside it, stays there."""
    if not isinstance(x, Variable) or x.symbol is not op.symbol or x.type.dtype == "bool":
        return None
    dtype = x.type.dtype
    terms: list[Any] = []
    stack = [x]
    while stack:
        variable = stack.pop()
        if variable.symbol is op.symbol and variable.type.dtype == dtype:
            stack.extend(reversed(variable.owner.inputs))  # type: ignore[union-attr]
            if len(stack) + len(terms) > LARGEST:
                return None
        else:
            terms.append(variable)
    return tuple(terms)


def removed(terms: tuple[Any, ...], term: Any) -> tuple[Any, ...] | None:
    """`terms` without the first that is `term`; None where none is."""
    for position, other in enumerate(terms):
        if other is term or (isinstance(other, Constant) and other.equals(term)):
            return (*terms[:position], *terms[position + 1:])
    return None


def combined(op: Op, terms: Sequence[Any]) -> Any:
    """`op` over the terms, nested to the left; the op's identity for none of them."""
    if not terms:
        return op.scalar_op.identity  # type: ignore[attr-defined]
    result = terms[0]
    for term in terms[1:]:
        result = op(result, term)
    return result


def counted(scale: Op, terms: tuple[Any, ...], multiple_of: Mapping[Op, Any]) -> list[tuple[Any, Any]]:
    """(base, multiple) for each distinct base among `terms`, in order of appearance, where `scale(base, number)` is the base
    taken that many times (for sums 2 * x is x twice), and so is a unary op of `multiple_of` (-x is x times -1)."""
    multiples: dict[Any, Any] = {}
    for term in terms:
        base, multiple = term, multiple_of.get(term.symbol.op, 1) if term.owner is not None else 1
        if multiple != 1:
            base = term.owner.inputs[0]
        elif term.symbol is scale.symbol:
            left, right = term.owner.inputs
            number = literal_of(right)
            if number is None and scale.commutative:
                left, right = right, left
                number = literal_of(right)
            if number is not None and not isinstance(number, bool):
                base, multiple = left, number
        multiples[base] = multiples.get(base, 0) + multiple
    return list(multiples.items())


def gathered(scale: Op, multiple_of: Mapping[Op, Any], terms: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The terms with like ones put together: x + 2 * x + y is 3 * x + y; None where no two are alike."""
    counts = counted(scale, terms, multiple_of)
    if len(counts) == len(terms):
        return None
    return tuple(base if multiple == 1 else scale(base, multiple) for base, multiple in counts)


# --- the vocabulary ---------------------------------------------------------------------------------------------------

def operands(op: Op, x: Any, terms: Any) -> Goal:
    """x is `op` over the tuple `terms` in some association, none of them `op` itself."""
    return compute(terms, _with(flattened, op), x, name="operands")


def without(terms: Any, term: Any, rest: Any) -> Goal:
    """`rest` is the tuple `terms` without one occurrence of `term`."""
    return compute(rest, removed, terms, term, name="without")


def together(op: Op, terms: Any, x: Any) -> Goal:
    """x is `op` over the tuple `terms`."""
    return compute(x, _with(combined, op), terms, name="together")


def like_terms(scale: Op, terms: Any, fewer: Any, multiple_of: Mapping[Op, Any] | None = None) -> Goal:
    """`fewer` is `terms` with those that differ only in a numeric factor put together, and there are such. `scale(x, number)`
    is x that many times; `multiple_of` says the same of unary ops, as {neg: -1}."""
    by_symbol = {op.canonical: number for op, number in (multiple_of or {}).items()}
    return compute(fewer, _with(gathered, scale, by_symbol), terms, name="like_terms")


def _with(function: Callable[..., Any], *first: Any) -> Callable[..., Any]:
    def applied(*rest: Any) -> Any:
        return function(*first, *rest)
    applied.__name__ = function.__name__
    return applied
