"""A Variable is a term: what cons, unification and etuples have to know. Importing this module tells them.

The car of a Variable is its head (the Op), the cdr the tuple of its inputs. It must be imported before anything is
unified: multipledispatch remembers the first answer for a type.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

from cons.core import ConsError, ConsPair, _car, _cdr
from etuples.core import ExpressionTuple, etuple
from etuples.dispatch import apply as etuple_apply
from etuples.dispatch import etuplize as etuples_etuplize
from etuples.dispatch import rands, rator
from unification.core import _reify, _unify, construction_sentinel

from termgraph.graph.op import Op
from termgraph.graph.replace import equal_computations
from termgraph.graph.symbol import Symbol
from termgraph.graph.variable import Variable, literal_of
from termgraph.terms.build import parts
from termgraph.terms.etuple import etuplize
from termgraph.terms.term import OpTerm, Term

Substitution = Any
#: unification's trampolined generators: each yielded step is evaluated and its result sent back.
Steps = Generator[Any, Any, None]


def same_term(u: Variable, v: Variable) -> bool:
    """Whether two Variables are the same term: identical, or built alike from the same leaves and equal constants."""
    if u is v:
        return True
    if u.type != v.type or u.head is not v.head:
        return False
    return equal_computations([u], [v])


def equals_literal(variable: Variable, number: Any) -> bool:
    """Whether every element of `variable` is known to equal the Python number. True and 1 are different literals."""
    literal = literal_of(variable)
    if literal is None or isinstance(literal, bool) != isinstance(number, bool):
        return False
    return bool(literal == number or (type(number) is float and literal == variable.type.rounded(number)))


def _variable_car(variable: Variable) -> Any:
    if variable.owner is None:
        raise ConsError(f"{variable} has no owner")
    return variable.head


def _variable_cdr(variable: Variable) -> tuple[Any, ...]:
    if variable.owner is None:
        raise ConsError(f"{variable} has no owner")
    return tuple(variable.owner.inputs)


def _split(term: Any) -> tuple[Any, Any] | None:
    """(car, cdr) of a Variable or a term; None for a leaf."""
    if isinstance(term, Variable):
        return None if term.owner is None else (term.head, tuple(term.owner.inputs))
    if type(term) is ConsPair:
        return term.car, term.cdr
    return parts(term)


def _unify_parts(u: Any, v: Any, s: Substitution) -> Steps:
    a, b = _split(u), _split(v)
    if a is None or b is None:
        yield False
        return
    s = yield _unify(a[0], b[0], s)
    if s is not False:
        s = yield _unify(a[1], b[1], s)
    yield s


def _unify_variables(u: Variable, v: Variable, s: Substitution) -> Any:
    return s if same_term(u, v) else False


def _unify_op_terms(u: OpTerm, v: OpTerm, s: Substitution) -> Steps:
    names = [n for n, _ in u.params]
    if u.op_class is not v.op_class or names != [n for n, _ in v.params]:
        yield False
        return
    s = yield _unify(tuple(p for _, p in u.params), tuple(p for _, p in v.params), s)
    yield s


def _unify_op_term(u: OpTerm, v: Op, s: Substitution) -> Steps:
    if type(v) is not u.op_class:
        yield False
        return
    s = yield _unify(tuple(p for _, p in u.params), tuple(getattr(v, n) for n, _ in u.params), s)
    yield s


def _reify_term(term: Term, s: Substitution) -> Steps:
    head = yield _reify(term.head, s)
    args = yield _reify(term.args, s)
    yield construction_sentinel
    yield Term(head, args)


def _reify_op_term(term: OpTerm, s: Substitution) -> Steps:
    values = yield _reify(tuple(v for _, v in term.params), s)
    yield construction_sentinel
    yield OpTerm(term.op_class, **dict(zip((n for n, _ in term.params), values, strict=True)))


def _register() -> None:
    _car.add((Variable,), _variable_car)
    _cdr.add((Variable,), _variable_cdr)
    _car.add((Term,), lambda t: t.head)
    _cdr.add((Term,), lambda t: t.args)

    _unify.add((Variable, Variable, Mapping), _unify_variables)
    notations = (Term, ConsPair, ExpressionTuple, tuple)
    for notation in notations:
        _unify.add((Variable, notation, Mapping), _unify_parts)
        _unify.add((notation, Variable, Mapping), _unify_parts)
        _unify.add((Term, notation, Mapping), _unify_parts)
        if notation is not Term:
            _unify.add((notation, Term, Mapping), _unify_parts)
    for number in (int, float, bool):
        _unify.add((Variable, number, Mapping), lambda u, v, s: s if equals_literal(u, v) else False)
        _unify.add((number, Variable, Mapping), lambda u, v, s: s if equals_literal(v, u) else False)
    _unify.add((OpTerm, OpTerm, Mapping), _unify_op_terms)
    _unify.add((OpTerm, Op, Mapping), _unify_op_term)
    _unify.add((Op, OpTerm, Mapping), lambda u, v, s: _unify_op_term(v, u, s))
    _reify.add((Term, Mapping), _reify_term)
    _reify.add((OpTerm, Mapping), _reify_op_term)

    etuples_etuplize.add((Variable,), lambda v, **_: etuplize(v))
    rator.add((Variable,), _variable_car)
    rands.add((Variable,), lambda v: etuple(*_variable_cdr(v)))
    for head in (Op, Symbol, OpTerm):
        etuple_apply.add((head, ExpressionTuple), lambda op, args: op(*args))


_register()
