"""Logic variables with operators, and the terms they build: the patterns and templates of rules."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from unification import Var

from termgraph.graph.op import Op, register_patterns
from termgraph.graph.variable import Variable
from termgraph.terms.operators import PatternOperators

_numbers = itertools.count(1)


class LogicVar(Var, PatternOperators):  # type: ignore[misc]  # unification has no type information
    """A kanren logic variable on which operators and termgraph's functions build pattern terms.

    >>> x, y = LogicVar.fresh("x"), LogicVar.fresh("y")
    >>> x, x is LogicVar.fresh("x")
    (~x, False)
    """

    __slots__ = ()

    @classmethod
    def fresh(cls, name: str = "v") -> LogicVar:
        """A new variable, printed as `~name`."""
        # A token no other variable can have: Var keeps one instance a token, shared by all subclasses.
        return cls(f"{name}#{next(_numbers)}")

    def __str__(self) -> str:
        return f"~{str(self.token).partition('#')[0]}"

    __repr__ = __str__


def var(name: str = "v") -> LogicVar:
    """A fresh logic variable."""
    return LogicVar.fresh(name)


def vars(names: str | int) -> list[LogicVar]:  # noqa: A001 - the name kanren uses
    """Fresh logic variables: `vars("x y")` or `vars(2)`."""
    if isinstance(names, int):
        return [LogicVar.fresh() for _ in range(names)]
    return [LogicVar.fresh(n) for n in names.replace(",", " ").split()]


class OpTerm:
    """A term for an Op: any instance of `op_class` whose parameters are as given, where a parameter may be a logic variable
    and those not given match anything.

    `OpTerm(Sum, axis=a)(x)` is the pattern of the sum of x over the axis a. As a template it is the instance with those
    parameters, the others as the class defaults them.
    """

    __slots__ = ("op_class", "params")

    def __init__(self, op_class: type[Op], **params: Any) -> None:
        unknown = set(params) - set(op_class.__props__)
        if unknown:
            raise TypeError(f"{op_class.__name__} has no parameter {', '.join(sorted(unknown))}; "
                            f"it has {', '.join(op_class.__props__) or 'none'}.")
        self.op_class = op_class
        self.params = tuple(sorted(params.items()))

    def __call__(self, *args: Any) -> Any:
        if any(isinstance(a, (Var, Term)) for a in args) or not self.ground:
            return Term(self, args)
        return self.instance()(*args)

    @property
    def ground(self) -> bool:
        """Whether no parameter is a logic variable."""
        return not any(isinstance(v, Var) for _, v in self.params)

    def instance(self) -> Op:
        """The Op with these parameters, which must be known."""
        return self.op_class(**dict(self.params))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpTerm) and self.op_class is other.op_class and self.params == other.params

    def __hash__(self) -> int:
        return hash((self.op_class, self.params))

    def __str__(self) -> str:
        params = ", ".join(f"{k}={v}" for k, v in self.params)
        return f"{self.op_class.__name__}{{{params}}}"

    __repr__ = __str__


class Term(PatternOperators):
    """An Op applied to arguments of which some may still be unknown.

    `head` is an Op (canonical), an `Symbol`, an `OpTerm` or a logic variable; each of `args` is a Variable, a Term, a
    logic variable or a Python number. Terms are immutable; equality is structural and the hash is computed once, from
    those of the arguments, so neither recurses.
    """

    __slots__ = ("_hash", "args", "head")

    head: Any
    args: tuple[Any, ...]

    def __init__(self, head: Any, args: Sequence[Any]) -> None:
        self.head = head.canonical if isinstance(head, Op) else head
        self.args = tuple(args)
        self._hash = hash((self.head, tuple((type(a), a) if isinstance(a, (int, float)) else a for a in self.args)))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Term):
            return NotImplemented
        stack: list[tuple[Any, Any]] = [(self, other)]
        while stack:
            a, b = stack.pop()
            if a is b:
                continue
            if isinstance(a, Term) and isinstance(b, Term):
                if a._hash != b._hash or a.head != b.head or len(a.args) != len(b.args):
                    return False
                stack.extend(zip(a.args, b.args, strict=True))
            elif type(a) is not type(b) or isinstance(a, Variable) or a != b:
                return False
        return True

    def __str__(self) -> str:
        return render(self)

    __repr__ = __str__


#: Op -> its sign, for those written between or before their arguments; the room that defines the Ops fills it.
SIGNS: dict[Any, tuple[str, int]] = {}


def render(term: Any, outer: int = 0, depth: int = 6) -> str:
    """One line of readable algebra for a pattern term or a Variable, for messages; below `depth` it says `...`."""
    if isinstance(term, Variable) and term.owner is not None and term.name is None:
        head, args = term.head, tuple(term.owner.inputs)
    elif isinstance(term, Term):
        head, args = term.head, term.args
    else:
        return str(term)
    if depth == 0:
        return "..."
    sign = SIGNS.get(head)
    if sign is None:
        name = str(head)
        return f"{name[:1].lower()}{name[1:]}({', '.join(render(a, 0, depth - 1) for a in args)})"
    symbol, strength = sign
    if len(args) == 1:
        text = f"{symbol}{render(args[0], strength, depth - 1)}"
    else:
        groups_right = symbol == "**"
        text = f" {symbol} ".join(render(a, strength + ((i > 0) != groups_right), depth - 1) for i, a in enumerate(args))
    return f"({text})" if outer > strength else text


register_patterns((Var, Term), Term)
