"""Staging: run a relation once with both sides unknown, and keep what is left as skeletons.

kanren gives the meaning: whatever goals the relation is written in, the states it ends in say which pattern the left side
must have, which template the right side is, and which goals had to wait (Carlsson's freeze/2 in Prolog; partial evaluation
of a matcher with respect to its patterns, as in Futamura 1971).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from cons import cons
from kanren.constraints import ConstrainedState, DisequalityStore, IsinstanceStore, TypeStore
from unification import Var, reify, unify

from termgraph.errors import BareLeftSideError, DuplicateClauseError, UnboundVariableError
from termgraph.rewrite.delay import Delayed, Waiting, substitution_of, variables_of, waiting_goals
from termgraph.rewrite.fuel import OutOfFuel, call_limit
from termgraph.rewrite.skeleton import Skeleton, alpha_key, as_pattern, covers, is_node, show
from termgraph.terms.term import LogicVar

#: States a relation may end in before it counts as one that does not enumerate.
FUEL = 512
#: Calls of Python functions after which it counts as one that does not end: some tenths of a second.
CALLS = 1_000_000


class NotStageable(Exception):
    """The relation does not come to an end when both sides are unknown, or it leaves constraints nobody can decide."""


def stage(clauses: Sequence[Callable[[Any, Any], Any]], name: str, where: str, limited: bool = False) -> tuple[Skeleton, ...]:
    """The skeletons of a relation given as goals `clause(before, after)`, clause by clause in order.

    With `limited` the calls are counted, which costs as much again as staging: for goals of the user's own making.

    Raises BareLeftSideError, UnboundVariableError and DuplicateClauseError for a relation that is wrong, NotStageable for
    one that has to be searched.
    """
    result: list[Skeleton] = []
    seen: set[str] = set()
    for clause in clauses:
        own: list[Skeleton] = []
        every = _enumerate(clause, name, where, limited)
        for skeleton in every:
            key = alpha_key(skeleton)
            if key not in seen:
                seen.add(key)
                own.append(skeleton)
        for skeleton in own:
            covered = next((s for s in result if covers(s, skeleton)), None)
            if covered is not None:
                raise DuplicateClauseError(name, where, skeleton, covered)
        if not own:
            raise DuplicateClauseError(name, where, every[0] if every else "without any answer", "an earlier clause")
        result.extend(own)
    return tuple(result)


def _enumerate(clause: Callable[[Any, Any], Any], name: str, where: str, limited: bool) -> list[Skeleton]:
    before, after = LogicVar.fresh("before"), LogicVar.fresh("after")
    try:
        with call_limit(CALLS) if limited else nullcontext():
            states = list(itertools.islice(clause(before, after)({}), FUEL + 1))
    except OutOfFuel as error:
        raise NotStageable(f"it does not end within {CALLS} calls while both sides are unknown") from error
    except RecursionError as error:
        raise NotStageable("it recurses without end while both sides are unknown") from error
    if len(states) > FUEL:
        raise NotStageable(f"it has more than {FUEL} answers while both sides are unknown")
    skeletons = [_skeleton(state, before, after, name, where) for state in states]
    # The answers of fact tables come in hash order; specific patterns first, then by text, is the same in every process.
    return sorted(skeletons, key=lambda s: (-len(show(s.before)), str(s))) if len(skeletons) > 8 else skeletons


def _skeleton(state: Any, before: Any, after: Any, name: str, where: str) -> Skeleton:
    known = substitution_of(state)
    residue = [g.substituted(known) for g in waiting_goals(state)] + list(_translated(state, known))
    left, residue = _left_side(reify(before, known), residue, name, where)
    right = as_pattern(reify(after, known))
    bound = set(variables_of(left))
    ordered: list[Delayed] = []
    waiting = list(residue)
    while waiting:
        ready = next((g for g in waiting if set(variables_of(g.args)) <= bound), None)
        if ready is None:
            break
        waiting.remove(ready)
        ordered.append(ready)
        bound |= set(variables_of(ready.outs))
    missing = [v for v in variables_of((right, tuple(g.args for g in waiting))) if v not in bound]
    if missing:
        raise UnboundVariableError(name, where, missing, show(left), show(right))
    return Skeleton(left, right, tuple(ordered))


def _left_side(left: Any, residue: list[Delayed], name: str, where: str) -> tuple[Any, list[Delayed]]:
    """The pattern of the left side. A bare variable that a fact `computed_by(x, f, xs)` defines is the pattern f(*xs)."""
    if isinstance(left, Var):
        fact = next((g for g in residue if g.name == "computed_by" and g.outs is left), None)
        if fact is None:
            raise BareLeftSideError(name, where, left)
        pattern = cons(*fact.args)
        # The variable itself is from now on the pattern: the node that matched.
        known = {left: pattern}
        return pattern, [g.substituted(known) for g in residue if g is not fact]
    left = as_pattern(left)
    if not is_node(left):
        raise BareLeftSideError(name, where, left)
    return left, residue


def _translated(state: Any, known: Any) -> list[Delayed]:
    """kanren's own constraints as waiting tests."""
    if not isinstance(state, ConstrainedState):
        return []
    tests: list[Delayed] = []
    for kind, store in state.constraints.items():
        if kind is Waiting:
            continue
        test = {DisequalityStore: _not_unified, IsinstanceStore: isinstance, TypeStore: _has_type}.get(kind)
        if test is None:
            raise NotStageable(f"it leaves a {kind.__name__}, which cannot be decided later")
        for variable, constraints in store.lvar_constraints.items():
            tests.extend(Delayed(store.op_str, test, (reify(variable, known), reify(c, known))) for c in constraints)
    return tests


def _not_unified(x: Any, y: Any) -> bool:
    return unify(x, y, {}) is False


def _has_type(x: Any, kind: type) -> bool:
    return type(x) is kind
