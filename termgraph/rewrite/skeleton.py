"""Skeleton: what is left of one clause of a relation when it is run with both sides unknown."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cons.core import ConsPair, cons
from unification import Var, reify, unify

from termgraph.graph.op import Op
from termgraph.graph.variable import Variable
from termgraph.rewrite.delay import Delayed, variables_of
from termgraph.terms.build import parts
from termgraph.terms.term import LogicVar, OpTerm, Term


@dataclass(frozen=True, eq=False)
class Skeleton:
    """`before` is rewritten to `after` where the `residue` holds.

    Invariants: `before` is a Term or a cons pair (never a bare variable); every logic variable of `after` occurs in
    `before` or among the outs of the residue; the residue is ordered so that each goal's arguments are bound by `before` or
    by an earlier goal.
    """

    before: Any
    after: Any
    residue: tuple[Delayed, ...]

    @property
    def contextual(self) -> bool:
        """Whether it asks about the graph around the term."""
        return any(g.contextual for g in self.residue)

    @property
    def functional(self) -> bool:
        """Whether it says only that op and inputs determine the output: what the drivers' hash-consing table keeps true."""
        facts = [g for g in self.residue if g.name == "computed_by"]
        return any(g.outs is self.after and tuple(g.args) == split_head(self.before) for g in facts)

    @property
    def head(self) -> Any:
        """The head of `before`: an Op, `Symbol` or OpTerm, or a logic variable for any."""
        return split_pattern(self.before)[0]

    def __str__(self) -> str:
        goals = "".join(f", {g}" for g in self.residue)
        return f"{show(self.before)} -> {show(self.after)}{f' if {goals[2:]}' if goals else ''}"


def show(term: Any) -> str:
    """A pattern as text; a cons pair in the form f(x, *rest)."""
    split = None if isinstance(term, (Var, Variable, Term)) else parts_of_pair(term)
    if split is None:
        return str(term)
    head, args, rest = split
    inside = [show(a) for a in args] + ([] if rest is None else [f"*{rest}"])
    return f"{head}({', '.join(inside)})"


def parts_of_pair(term: Any) -> tuple[Any, tuple[Any, ...], Any] | None:
    """(head, args, rest) of a cons pair or tuple notation; `rest` is the variable that stands for the remaining arguments."""
    if type(term) is ConsPair:
        head, tail = term.car, term.cdr
        args: list[Any] = []
        while type(tail) is ConsPair:
            args.append(tail.car)
            tail = tail.cdr
        if isinstance(tail, Var):
            return head, tuple(args), tail
        return head, (*args, *tuple(tail)), None
    split = parts(term)
    return None if split is None else (split[0], split[1], None)


def split_pattern(term: Any) -> tuple[Any, tuple[Any, ...], Any]:
    """(head, args, rest) of a pattern that is not a leaf."""
    if type(term) is Term:
        return term.head, term.args, None
    split = parts_of_pair(term)
    if split is None:
        raise TypeError(f"{term} is not a pattern")
    return split


def split_head(term: Any) -> tuple[Any, Any]:
    """The (op, inputs) that a pattern f(*xs) is made of."""
    return (term.car, term.cdr) if type(term) is ConsPair else (term.head, term.args)


def is_node(term: Any) -> bool:
    """Whether a pattern is an application, not a leaf."""
    return type(term) is Term or (not isinstance(term, (Var, Variable, Op)) and parts_of_pair(term) is not None)


def as_pattern(term: Any) -> Any:
    """A term of any notation (etuples, tuples, cons pairs) with every application that has a known length as a Term."""
    if not is_node(term):
        return term
    head, args, rest = split_pattern(term)
    converted = tuple(as_pattern(a) for a in args)
    if rest is not None:
        tail: Any = rest
        for arg in reversed(converted):
            tail = cons(arg, tail)
        return cons(head, tail)
    return Term(head, converted)


def commuted(term: Any) -> Iterator[Any]:
    """`term`, and every term made from it by exchanging the arguments of commutative Ops in it."""
    if not is_node(term):
        yield term
        return
    head, args, rest = split_pattern(term)
    if rest is not None or not args:
        yield term
        return
    orders = list(itertools.permutations(range(len(args)))) if isinstance(head, Op) and head.commutative else None
    for choice in itertools.product(*[list(commuted(a)) for a in args]):
        for order in orders or [tuple(range(len(args)))]:
            yield Term(head, tuple(choice[i] for i in order))


def covers(general: Skeleton, special: Skeleton) -> bool:
    """Whether `general` matches wherever `special` does with nothing asked, and gives the same: so `special` adds nothing."""
    if general.residue or special.residue:
        return False
    both = (general.before, general.after)
    apart = reify(both, {v: LogicVar.fresh() for v in variables_of(both)})
    s = unify(apart, (special.before, special.after), {})
    # Only the general clause's variables may have been bound: the special one must be an instance of it.
    return s is not False and not any(v in s for v in variables_of((special.before, special.after)))


def alpha_key(skeleton: Skeleton) -> str:
    """Equal for skeletons that differ in the names of variables only."""
    names: dict[Var, str] = {}
    goals = tuple((g.name, id(g.function), g.args, g.outs) for g in skeleton.residue)
    return _key((skeleton.before, skeleton.after, goals), names)


def _key(term: Any, names: dict[Var, str]) -> str:
    kind = type(term)
    if issubclass(kind, Var):
        return names.setdefault(term, f"?{len(names)}")
    if kind is Term or kind is ConsPair:
        head, args, rest = split_pattern(term)
        inside = ",".join(_key(a, names) for a in args)
        return f"({_key(head, names)} {inside}{'' if rest is None else ' . ' + _key(rest, names)})"
    if kind is OpTerm:
        return f"{term.op_class.__name__}{{{','.join(f'{n}={_key(v, names)}' for n, v in term.params)}}}"
    if kind is tuple:
        return f"<{','.join(_key(t, names) for t in term)}>"
    if isinstance(term, Op):
        return f"{term}#{id(term.canonical)}"
    if isinstance(term, Variable):
        return f"v#{id(term)}"
    return f"{kind.__name__}:{term!r}"
