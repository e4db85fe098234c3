"""Patterns against patterns: renaming apart, matching, unification with an occurs check, and positions of subterms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from unification import Var, reify, unify

from termgraph.rewrite.delay import Delayed, variables_of
from termgraph.rewrite.skeleton import Skeleton, as_pattern, is_node, split_pattern
from termgraph.terms.term import LogicVar, OpTerm, Term

Path = tuple[int, ...]
Substitution = dict[Any, Any]


def renamed(skeleton: Skeleton) -> Skeleton:
    """The same skeleton with logic variables of its own."""
    goals = [(g.args, g.outs) for g in skeleton.residue]
    fresh = {v: LogicVar.fresh(name_of(v)) for v in variables_of((skeleton.before, skeleton.after, *goals))}
    return substituted(skeleton, fresh)


def substituted(skeleton: Skeleton, s: Substitution) -> Skeleton:
    """The skeleton with what `s` binds put in."""
    return Skeleton(applied(skeleton.before, s), applied(skeleton.after, s), tuple(g.substituted(s) for g in skeleton.residue))


def applied(term: Any, s: Substitution) -> Any:
    """The term with what `s` binds put in."""
    return as_pattern(reify(term, s))


def name_of(variable: Var) -> str:
    """The name a logic variable was given."""
    return str(variable.token).partition("#")[0]


# --- unification ------------------------------------------------------------------------------------------------------

def unified(u: Any, v: Any) -> Substitution | None:
    """The most general unifier of two patterns, or None (Robinson 1965). A variable never stands for a term it occurs in."""
    return _solved([(u, v)], {}, frozenset())


def matched(general: Any, special: Any) -> Substitution | None:
    """What the variables of `general` must be for it to be `special`, whose variables are its own; None where it is not at
    least as general."""
    return _solved([(general, special)], {}, frozenset(variables_of(special)))


def is_variant(u: Any, v: Any) -> bool:
    """Whether two patterns differ in the names of their variables only."""
    names = {x: LogicVar.fresh(name_of(x)) for x in variables_of(u)}
    s = matched(applied(u, names), v)
    return s is not None and all(isinstance(t, Var) for t in s.values()) and len(set(s.values())) == len(s)


def _solved(pairs: list[tuple[Any, Any]], s: Substitution, fixed: frozenset[Any]) -> Substitution | None:
    """`s` extended until each of the pairs is equal; the variables in `fixed` stay unbound."""
    while pairs:
        u, v = (_walked(t, s) for t in pairs.pop())
        if u is v:
            continue
        if isinstance(v, Var) and v not in fixed:
            u, v = v, u
        if isinstance(u, Var) and u not in fixed:
            if _occurs(u, v, s):
                return None
            s[u] = v
        elif isinstance(u, Var) or isinstance(v, Var):
            return None
        else:
            more = _split(u, v)
            if more is None:
                return None
            pairs.extend(more)
    return s


def _walked(term: Any, s: Substitution) -> Any:
    while isinstance(term, Var) and term in s:
        term = s[term]
    return term


def _occurs(variable: Var, term: Any, s: Substitution) -> bool:
    """Whether `variable` is in `term`; a term is never the variable itself here."""
    pending, seen = variables_of(term), set()
    while pending:
        found = pending.pop()
        if found is variable:
            return True
        if found in s and found not in seen:
            seen.add(found)
            pending.extend(variables_of(s[found]))
    return False


def _split(u: Any, v: Any) -> list[tuple[Any, Any]] | None:
    """The pairs that must be equal for two terms that are no variables to be so; None where they cannot be."""
    if isinstance(u, OpTerm) or isinstance(v, OpTerm):
        return _split_heads(u, v)
    if not (is_node(u) and is_node(v)):
        return [] if not is_node(u) and not is_node(v) and unify(u, v, {}) is not False else None
    (head, args, rest), (other_head, others, other_rest) = split_pattern(u), split_pattern(v)
    common = min(len(args), len(others))
    pairs = [(head, other_head), *zip(args[:common], others[:common], strict=True)]
    left, right = _tail(args[common:], rest), _tail(others[common:], other_rest)
    if left is None or right is None:
        return None
    if not isinstance(left, Var) and not isinstance(right, Var):
        return pairs if left == right == () else None
    return [*pairs, (left, right)]


def _tail(args: Sequence[Any], rest: Any) -> Any:
    """Remaining arguments as a term: the variable for the rest, or a tuple. A tuple before a rest is not expressible."""
    if rest is None:
        return tuple(args)
    return rest if not args else None


def _split_heads(u: Any, v: Any) -> list[tuple[Any, Any]] | None:
    if not isinstance(u, OpTerm):
        u, v = v, u
    if isinstance(v, OpTerm):
        theirs: dict[str, Any] = dict(v.params)
        return [(p, theirs[n]) for n, p in u.params if n in theirs] if u.op_class is v.op_class else None
    return [(p, getattr(v, n)) for n, p in u.params] if type(v) is u.op_class else None


# --- goals ------------------------------------------------------------------------------------------------------------

def implied(goals: Sequence[Delayed], given: Sequence[Delayed]) -> bool:
    """Whether each of the goals is among those given."""
    return all(any(g.function == h.function and g.args == h.args for h in given) for g in goals)


# --- positions --------------------------------------------------------------------------------------------------------

def positions(pattern: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The subterms of a pattern that are applications, each with its path, the outermost first. Patterns are small."""
    if is_node(pattern):
        yield path, pattern
        for i, argument in enumerate(split_pattern(pattern)[1]):
            yield from positions(argument, (*path, i))


def replaced(pattern: Any, path: Path, new: Any) -> Any:
    """The pattern with `new` in the place of the subterm at `path`."""
    if not path:
        return new
    head, args, _ = split_pattern(pattern)
    return Term(head, [replaced(a, path[1:], new) if i == path[0] else a for i, a in enumerate(args)])


def is_open(pattern: Any) -> bool:
    """Whether a head or a number of arguments in the pattern is left open."""
    return any(isinstance(split_pattern(p)[0], Var) or split_pattern(p)[2] is not None for _, p in positions(pattern))
