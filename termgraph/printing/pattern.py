"""A pattern walked against a variable, test by test: how far it matches, where it stops, what it binds.

The engine does this with generated code that only says yes or no; here is the slow form that can tell why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from unification import Var, reify

from termgraph.graph.traversal import ancestors
from termgraph.graph.variable import Variable
from termgraph.printing.pprint import pprint
from termgraph.rewrite.context import typed_like
from termgraph.rewrite.nodes import symbol_of
from termgraph.rewrite.plan import Path
from termgraph.rewrite.skeleton import Skeleton, is_node, show, split_pattern
from termgraph.terms.build import build
from termgraph.terms.dispatch import equals_literal, same_term
from termgraph.terms.term import OpTerm

#: A one-line text longer than this is abbreviated.
WIDTH = 200


def text_of(value: Any) -> str:
    """One line for anything a logic variable may be bound to."""
    if isinstance(value, Variable):
        return pprint(value, max_chars=WIDTH)
    if isinstance(value, tuple):
        return f"({', '.join(text_of(v) for v in value)}{',' if len(value) == 1 else ''})"
    return str(value)


@dataclass(frozen=True)
class Stop:
    """Where a match ended: the place in the pattern, what was asked there, and what was found."""

    path: Path
    pattern: Any
    found: Any
    expected: str
    got: str


@dataclass
class Attempt:
    """What came of matching `pattern` with `term`: the number of tests passed, and `stop` None where all of them were."""

    pattern: Any
    term: Variable
    passed: int = 0
    bindings: dict[Any, Any] = field(default_factory=dict)
    stop: Stop | None = None

    @property
    def complete(self) -> bool:
        """Whether the pattern matches."""
        return self.stop is None


def match(pattern: Any, term: Any) -> Attempt:
    """Walk `pattern` against `term`, outermost first, as the engine's plans do."""
    attempt = Attempt(pattern, term)
    stack: list[tuple[Any, Any, Path]] = [(pattern, term, ())]
    while stack and attempt.stop is None:
        expected, found, path = stack.pop()
        if is_node(expected):
            arguments = _node(attempt, expected, found, path)
            stack.extend((a, i, (*path, k)) for k, (a, i) in reversed(list(enumerate(arguments))))
        elif isinstance(expected, Var):
            _bind(attempt, expected, found, path, expected, found)
        else:
            _passes(attempt, same(expected, found), path, expected, found)
    return attempt


def _node(attempt: Attempt, expected: Any, found: Any, path: Path) -> list[tuple[Any, Any]]:
    """The pairs of arguments to go on with, none where the match stopped."""
    head, args, rest = split_pattern(expected)
    if not isinstance(found, Variable) or found.owner is None:
        _passes(attempt, False, path, expected, found)
        return []
    if isinstance(head, Var):
        _bind(attempt, head, found.symbol.car, path, expected, found)
    elif isinstance(head, OpTerm):
        fits = type(found.symbol.op) is head.op_class and found.symbol.car is found.symbol.op
        if _passes(attempt, fits, path, expected, found):
            _parameters(attempt, head, found, path, expected)
    else:
        _passes(attempt, found.symbol is symbol_of(head), path, expected, found)
    inputs = found.owner.inputs
    if attempt.stop is None and (len(inputs) < len(args) or (rest is None and len(inputs) != len(args))):
        attempt.stop = Stop(path, expected, found, f"{len(args)} arguments", str(len(inputs)))
    if attempt.stop is None and rest is not None:
        _bind(attempt, rest, tuple(inputs[len(args):]), path, expected, found)
    return [] if attempt.stop is not None else list(zip(args, inputs, strict=False))


def _parameters(attempt: Attempt, head: OpTerm, found: Variable, path: Path, expected: Any) -> None:
    for name, value in head.params:
        given = getattr(found.symbol.op, name)
        if attempt.stop is not None:
            return
        if isinstance(value, Var):
            _bind(attempt, value, given, path, expected, found)
        elif given == value:
            attempt.passed += 1
        else:
            attempt.stop = Stop(path, expected, found, f"{show(expected)} with {name}={value}", f"{name}={given}")


def _bind(attempt: Attempt, variable: Any, value: Any, path: Path, expected: Any, found: Any) -> None:
    if variable not in attempt.bindings:
        attempt.bindings[variable] = value
    elif same(attempt.bindings[variable], value):
        attempt.passed += 1
    else:
        bound = f"{text_of(attempt.bindings[variable])}, which {variable} is already"
        attempt.stop = Stop(path, expected, found, bound, text_of(value))


def _passes(attempt: Attempt, fits: bool, path: Path, expected: Any, found: Any) -> bool:
    if fits:
        attempt.passed += 1
    else:
        attempt.stop = Stop(path, expected, found, show(expected), text_of(found))
    return fits


def same(a: Any, b: Any) -> bool:
    """Whether two things in the places of arguments, heads or parameters are the same to a pattern."""
    if isinstance(a, Variable) and isinstance(b, Variable):
        return same_term(a, b)
    if isinstance(b, Variable):
        return equals_literal(b, a)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)


def subpatterns(pattern: Any, term: Any) -> Iterator[tuple[Any, Variable]]:
    """The applications in a pattern that matches `term`, arguments before what is applied to them, each with the variable in
    its place. Patterns are as deep as somebody wrote them: this recursion ends soon."""
    if is_node(pattern):
        for argument, given in zip(split_pattern(pattern)[1], term.owner.inputs, strict=False):
            yield from subpatterns(argument, given)
        yield pattern, term


def count_tests(pattern: Any) -> int:
    """The number of tests that a variable which matches passes."""
    count, seen = 0, set()
    stack = [pattern]
    while stack:
        item = stack.pop()
        if isinstance(item, Var):
            count += item in seen
            seen.add(item)
        elif is_node(item):
            head, args, rest = split_pattern(item)
            stack.extend(args if rest is None else (*args, rest))
            if isinstance(head, OpTerm):
                stack.extend(v for _, v in head.params)
            if isinstance(head, Var):
                stack.append(head)
            else:
                count += 1
        else:
            count += 1
    return count


def resemblance(attempt: Attempt) -> int:
    """How many of the heads that the pattern asks for from where the match stopped on are in the term near there: what
    tells an unlucky match from a hopeless one."""
    if attempt.stop is None or not isinstance(attempt.stop.found, Variable):
        return 0
    wanted, depth, level = set(), 1, [attempt.stop.pattern]
    while level:
        nodes = [split_pattern(p) for p in level if is_node(p)]
        wanted |= {h.op_class if isinstance(h, OpTerm) else symbol_of(h) for h, _, _ in nodes if not isinstance(h, Var)}
        level = [a for _, args, _ in nodes for a in args]
        depth += 1
    near, variables = set(), [attempt.stop.found]
    for _ in range(depth):
        near |= {v.symbol for v in variables} | {type(v.symbol.op) for v in variables}
        variables = list({i: None for v in variables if v.owner is not None for i in v.owner.inputs})
    return len(wanted & near)


def place(pattern: Any, path: Path) -> str:
    """A path in a pattern for people: `log1p(_): argument 0`; "the whole term" for the root."""
    if not path:
        return "the whole term"
    heads, item = [], pattern
    for step in path:
        head, args, _ = split_pattern(item)
        heads.append((head, len(args), step))
        item = args[step]
    text = "_"
    for head, count, step in reversed(heads):
        name = str(head)
        inside = ", ".join(text if k == step else "..." for k in range(count))
        text = f"{name[:1].lower()}{name[1:]}({inside})"
    return f"{text}: argument {path[-1]}"


def named(bindings: Mapping[Any, Any]) -> dict[str, str]:
    """The bindings as texts by the names of the logic variables; a name that comes again gets a number."""
    texts: dict[str, str] = {}
    for variable, value in bindings.items():
        name = unique = str(variable).lstrip("~")
        number = 1
        while unique in texts:
            number += 1
            unique = f"{name}_{number}"
        texts[unique] = text_of(value)
    return texts


def right_side(skeleton: Skeleton, term: Variable, bindings: Mapping[Any, Any]) -> tuple[Variable | None, Any]:
    """What the right side of `skeleton` is in the place of `term`, None where the type would change; and what it was built
    as. Raises GraphTypeError where it cannot be built."""
    built = build(reify(skeleton.after, bindings))
    return typed_like(term, built), built


def subterms(variables: Sequence[Variable]) -> Iterator[Variable]:
    """`variables` and all below them that something computes, each once."""
    return (v for v in ancestors(variables) if v.owner is not None)
