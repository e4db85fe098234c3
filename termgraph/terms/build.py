"""From a term with nothing unknown to the Variable it denotes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cons.core import ConsPair
from etuples.core import ExpressionTuple
from unification import Var

from termgraph.graph.op import Op
from termgraph.graph.variable import Variable
from termgraph.terms.term import OpTerm, Term

Parts = tuple[Any, tuple[Any, ...]]


def parts(term: Any) -> Parts | None:
    """(head, arguments) of a term of any notation: Term, etuple, cons pair, plain tuple; None for anything else."""
    kind = type(term)
    if kind is Term:
        return term.head, term.args
    if kind is ExpressionTuple:
        return term[0], tuple(term[1:])
    if kind is ConsPair:
        rest = parts(term.cdr)
        if rest is None:
            return None
        return term.car, rest[1] if rest[0] is None else (rest[0], *rest[1])
    if kind is tuple and term:
        return term[0], term[1:]
    return None


def resolve_head(head: Any) -> Any:
    """The callable that makes a node for a head: an OpTerm becomes its instance, anything else is itself."""
    return head.instance() if isinstance(head, OpTerm) else head


def build(term: Any, make: Callable[[Any, Sequence[Any]], Any] | None = None) -> Any:
    """The Variable that `term` denotes; a Variable or a Python number is itself.

    Shared subterms are built once, each by calling its head, or by `make(head, arguments)`. Raises ValueError where
    a logic variable is left, and whatever the Ops raise on arguments they cannot take.
    """
    built: dict[int, Any] = {}
    stack = [term]
    while stack:
        item = stack[-1]
        if id(item) in built:
            stack.pop()
            continue
        if isinstance(item, ExpressionTuple) and item._evaled_obj is not ExpressionTuple.null:
            built[id(item)] = item._evaled_obj
            continue
        if type(item) in (int, float, bool) or isinstance(item, (Variable, Op)):
            built[id(item)] = item
            continue
        if isinstance(item, Var):
            raise ValueError(f"cannot build {term}: {item} is not bound.")
        split = parts(item)
        if split is None:
            built[id(item)] = item
            continue
        head, args = split
        pending = [a for a in args if id(a) not in built]
        if pending:
            stack.extend(reversed(pending))
            continue
        head = resolve_head(head)
        if not callable(head):
            raise ValueError(f"cannot build {term}: {head!r} cannot be called.")
        inputs = [built[id(a)] for a in args]
        built[id(item)] = head(*inputs) if make is None else make(head, inputs)
    return built[id(term)]
