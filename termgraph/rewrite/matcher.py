"""The matcher generator: skeletons become Python source, one function for each head op.

Patterns that begin alike share their tests: the tests of all skeletons of a head form a trie, written as nested ifs. Below
each pattern that matched, a leaf function checks the goals that had to wait and builds the right side. The source can be
read with `rule.source()`, and shows in tracebacks.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from unification import Var

from termgraph.errors import GraphTypeError, RuleExecutionError
from termgraph.graph.op import Op, OutputOf
from termgraph.graph.trace import describe
from termgraph.graph.variable import Variable
from termgraph.rewrite.delay import Delayed
from termgraph.rewrite.nodes import NodeTable
from termgraph.rewrite.skeleton import Skeleton, is_node, split_pattern
from termgraph.terms.dispatch import equals_literal, same_term
from termgraph.terms.literal import typed_literal
from termgraph.terms.term import OpTerm, render

Path = tuple[int, ...]
Test = tuple[Any, ...]
_serial = itertools.count()


class Context:
    """What generated code needs besides the variable: where nodes are made, the graph around, and the counters.

    `matched`, `fired` and `seconds` have an entry for each skeleton; `refused` counts (skeleton, guard).
    """

    __slots__ = ("found", "graph", "matched", "refused", "seconds", "table")

    def __init__(self, count: int, table: NodeTable | None = None, graph: Any = None) -> None:
        self.table = table or NodeTable()
        self.graph = graph
        self.matched = [0] * count
        self.seconds = [0.0] * count
        self.refused: dict[tuple[int, str], int] = {}
        #: None: the first result is returned. A list: all results are appended to it.
        self.found: list[tuple[int, Variable]] | None = None

    def refuse(self, number: int, guard: str, start: float) -> None:
        """Count a refusal."""
        self.refused[number, guard] = self.refused.get((number, guard), 0) + 1
        self.seconds[number] += perf_counter() - start


def typed_like(before: Any, after: Any) -> Variable | None:
    """`after` as a Variable that can stand in `before`'s place, or None: every rule's obligation to keep the type.

    A number takes the type and shape of `before`. A static length may become known, but not to be 1: a dimension of length
    1 broadcasts, one of unknown length does not, so there the shapes would differ.
    """
    if not isinstance(before, Variable):
        return None
    if not isinstance(after, Variable):
        return typed_literal(before.type, after, before)
    same = after.type is before.type or (before.type.in_same_class(after.type) and before.type.is_super(after.type))
    return after if same else None


class Matchers:
    """The generated code for a sequence of (rule, skeleton), in the order in which they are tried.

    The function for a head is generated when that head is first asked for, so that rules for Ops a graph does not hold
    cost nothing. Rules need only have `name` and `where`.
    """

    def __init__(self, entries: Sequence[tuple[Any, Skeleton]]) -> None:
        self.entries = list(entries)
        self._exact: dict[Any, list[int]] = {}
        self._classes: dict[type, list[int]] = {}
        self._open: list[int] = []
        for number, (_, skeleton) in enumerate(self.entries):
            head = skeleton.head
            if isinstance(head, (Op, OutputOf)):
                self._exact.setdefault(canonical(head), []).append(number)
            elif isinstance(head, OpTerm):
                self._classes.setdefault(head.op_class, []).append(number)
            else:
                self._open.append(number)
        self._compiled: dict[tuple[int, ...], Compiled] = {}
        #: head -> its function, None where nothing can match; filled as heads are seen
        self.index: dict[Any, Any] = {}

    def numbers_for(self, head: Any) -> tuple[int, ...]:
        """The entries that can match a variable with this head."""
        numbers = [*self._exact.get(head, ()), *self._open]
        if self._classes:
            numbers += self._classes.get(type(head), ())
        return tuple(sorted(numbers))

    def compiled_for(self, head: Any) -> Compiled | None:
        """The generated code for a head, None where no entry can match."""
        numbers = self.numbers_for(head)
        if not numbers:
            return None
        found = self._compiled.get(numbers)
        if found is None:
            found = self._compiled[numbers] = Compiled([(n, *self.entries[n]) for n in numbers])
        return found

    def function_for(self, head: Any) -> Any:
        """`match(variable, context)` for a head, None where no entry can match. It returns (number, result) or None."""
        try:
            return self.index[head]
        except KeyError:
            compiled = self.compiled_for(head)
            self.index[head] = None if compiled is None else compiled.match
            return self.index[head]

    def bindings(self, variable: Variable) -> tuple[int, tuple[Any, ...]] | None:
        """The first entry whose pattern matches, and what it binds; guards and right sides are not looked at."""
        compiled = self.compiled_for(variable.head) if variable.head is not None else None
        return None if compiled is None else compiled.bind(variable, None)

    def rewrites(self, variable: Variable, graph: Any = None, table: NodeTable | None = None) -> list[Variable]:
        """Every result of every entry for `variable`."""
        match = self.function_for(variable.head) if variable.head is not None else None
        if match is None:
            return []
        context = Context(len(self.entries), table, graph)
        context.found = []
        match(variable, context)
        return [after for _, after in context.found]

    def source(self) -> str:
        """The source of the functions of all heads that patterns name."""
        heads = list(dict.fromkeys(s.head if isinstance(s.head, (Op, OutputOf)) else None for _, s in self.entries))
        parts = []
        for head in heads:
            numbers = tuple(sorted([*self._exact.get(head, ()), *self._open])) if head is not None else tuple(
                sorted([*self._open, *itertools.chain.from_iterable(self._classes.values())]))
            if numbers:
                compiled = self._compiled.get(numbers) or Compiled([(n, *self.entries[n]) for n in numbers])
                self._compiled[numbers] = compiled
                parts.append(f"# {head if head is not None else 'any op'}\n{compiled.text}")
        return "\n".join(parts)


@dataclass(frozen=True)
class Plan:
    """A pattern as tests, in the order they are made, and what its variables are bound to: Python expressions over the
    names that the tests introduce."""

    tests: tuple[Test, ...]
    bound: dict[Any, str]
    #: pattern subterm -> the name of the variable it matched
    names: dict[Any, str]


def local(path: Path) -> str:
    """The name of the variable at a path below the root `v`."""
    return "v" + "".join(f"_{i}" for i in path)


def plan(pattern: Any, head_known: bool) -> Plan:
    """The tests for a pattern, outermost first. With `head_known` the root's head is not tested again."""
    tests: list[Test] = []
    bound: dict[Any, str] = {}
    names: dict[Any, str] = {}

    def bind(variable: Any, expression: str, kind: str) -> None:
        if variable in bound:
            tests.append((kind, expression, bound[variable]))
        else:
            bound[variable] = expression

    def visit(term: Any, path: Path) -> None:
        name = local(path)
        if isinstance(term, Var):
            bind(term, name, "same")
        elif is_node(term):
            node(term, path, name)
        elif isinstance(term, Variable):
            tests.append(("term", name, term))
        else:
            tests.append(("literal", name, term))

    def node(term: Any, path: Path, name: str) -> None:
        names.setdefault(term, name)
        head, args, rest = split_pattern(term)
        if isinstance(head, Var):
            if path:
                tests.append(("owned", name))
            bind(head, f"{name}.head", "same")
        elif isinstance(head, OpTerm):
            if path or not head_known:
                tests.append(("class", name, head.op_class))
            for parameter, value in head.params:
                if isinstance(value, Var):
                    bind(value, f"{name}.head.{parameter}", "equal")
                else:
                    tests.append(("param", name, parameter, value))
        elif path:
            tests.append(("head", name, head))
        if args or rest is None:
            tests.append(("args", path, len(args), rest is None))
        if rest is not None:
            inputs = f"{name}.owner.inputs[{len(args)}:]" if args else f"{name}.owner.inputs"
            bind(rest, f"tuple({inputs})", "equal")
        for position, arg in enumerate(args):
            visit(arg, (*path, position))

    visit(pattern, ())
    return Plan(tuple(tests), bound, names)


class Compiled:
    """The source and the functions for one head (or one set of entries)."""

    def __init__(self, entries: Sequence[tuple[int, Any, Skeleton]]) -> None:
        self.lines: list[str] = []
        self.space: dict[str, Any] = {
            "clock": perf_counter, "equals_literal": equals_literal, "same_term": same_term, "typed_like": typed_like,
            "reraise": reraise, "GraphTypeError": GraphTypeError,
        }
        self._references: dict[tuple[int, str], str] = {}
        plans = {}
        for number, rule, skeleton in entries:
            plans[number] = plan(skeleton.before, isinstance(skeleton.head, (Op, OutputOf)))
            self._leaf(number, rule, skeleton, plans[number])
        self._tree(entries, plans)
        self.text = "\n".join(self.lines) + "\n"
        filename = f"<termgraph rules {next(_serial)}>"
        # Tracebacks can then show the generated lines.
        linecache.cache[filename] = (len(self.text), None, self.text.splitlines(True), filename)
        code = compile(self.text, filename, "exec")
        exec(code, self.space)
        self.match = self.space["match"]
        self._code, self._numbers, self._plans = code, [e[0] for e in entries], plans
        self._bind: Any = None

    @property
    def bind(self) -> Any:
        """The same tree with leaves that return what was bound and do nothing else."""
        if self._bind is None:
            space = dict(self.space)
            exec(self._code, space)
            for number in self._numbers:
                space[f"leaf_{number}"] = _binding_leaf(number)
            self._bind = space["match"]
        return self._bind

    def _reference(self, value: Any, hint: str) -> str:
        """A name for an object in the generated module."""
        key = (id(value), hint)
        if key not in self._references:
            clean = "".join(c if c.isalnum() else "_" for c in hint).strip("_") or "k"
            name = f"{clean}_{len(self._references)}"
            self._references[key] = name
            self.space[name] = value
        return self._references[key]

    # --- the tree -----------------------------------------------------------------------------------------------------

    def _tree(self, entries: Sequence[tuple[int, Any, Skeleton]], plans: dict[int, Plan]) -> None:
        self.lines.append("def match(v, context):")
        # Consecutive entries with a common first test share a branch; the order between entries is kept.
        self._branch([(n, list(plans[n].tests)) for n, _, _ in entries], plans, 1)
        self.lines.append("    return None")

    def _branch(self, group: list[tuple[int, list[Test]]], plans: dict[int, Plan], depth: int) -> None:
        pad = "    " * depth
        position = 0
        while position < len(group):
            number, tests = group[position]
            if not tests:
                bound = "".join(f", {e}" for e in plans[number].bound.values())
                self.lines.append(f"{pad}found = leaf_{number}(v, context{bound})")
                self.lines.append(f"{pad}if found is not None: return found")
                position += 1
                continue
            key = _test_key(tests[0])
            end = position
            while end < len(group) and group[end][1] and _test_key(group[end][1][0]) == key:
                end += 1
            inner = self._test(tests[0], pad)
            self._branch([(n, t[1:]) for n, t in group[position:end]], plans, depth + inner)
            position = end

    def _test(self, test: Test, pad: str) -> int:
        """Write a test; the number of levels that what depends on it is indented."""
        kind = test[0]
        if kind == "args":
            _, path, count, exact = test
            name = local(path)
            inputs = f"{name}_in"
            self.lines.append(f"{pad}{inputs} = {name}.owner.inputs")
            self.lines.append(f"{pad}if len({inputs}) {'==' if exact else '>='} {count}:")
            if count:
                targets = ", ".join(local((*path, i)) for i in range(count))
                self.lines.append(f"{pad}    {targets}{',' if count == 1 else ''} = {inputs}{'' if exact else f'[:{count}]'}")
            return 1
        self.lines.append(f"{pad}if {self._condition(kind, *test[1:])}:")
        return 1

    def _condition(self, kind: str, name: str, *what: Any) -> str:
        """The Python condition of a test on the variable called `name`."""
        if kind == "same":
            return f"{name} is {what[0]}"
        if kind == "equal":
            return f"{name} == {what[0]}"
        if kind == "owned":
            return f"{name}.owner is not None"
        if kind == "head":
            return f"{name}.head is {self._reference(canonical(what[0]), str(what[0]))}"
        if kind == "class":
            return f"type({name}.head) is {self._reference(what[0], what[0].__name__)}"
        if kind == "param":
            return f"{name}.head.{what[0]} == {self._reference(what[1], what[0])}"
        if kind == "literal":
            return f"equals_literal({name}, {what[0]!r})"
        return f"same_term({name}, {self._reference(what[0], 'term')})"

    # --- the leaves ---------------------------------------------------------------------------------------------------

    def _leaf(self, number: int, rule: Any, skeleton: Skeleton, own: Plan) -> None:
        """The function run when a pattern has matched: waiting goals, then the right side, then the type."""
        parameters = [f"x{i}" for i in range(len(own.bound))]
        bound: dict[Any, str] = dict(zip(own.bound, parameters, strict=True))
        matched = {term: _relative(name, own) for term, name in own.names.items()}
        out = self.lines
        out.append(f"def leaf_{number}(v, context{''.join(f', {p}' for p in parameters)}):")
        out.append(f"    # {rule.name} ({rule.where}): {skeleton}")
        out.append("    start = clock()")
        out.append(f"    context.matched[{number}] += 1")
        out.append("    try:")
        pad = " " * 8
        inside_loop = False
        for position, goal in enumerate(skeleton.residue):
            call = self._call(goal, bound, matched)
            fail = "continue" if inside_loop else "return None"
            refuse = f"context.refuse({number}, {goal.name!r}, start); {fail}"
            if goal.outs is None:
                out.append(f"{pad}if not {call}: {refuse}")
                continue
            value = f"y{position}"
            if goal.many:
                out.append(f"{pad}for {value} in {call}:")
                pad += "    "
                inside_loop = True
            else:
                out.append(f"{pad}{value} = {call}")
                out.append(f"{pad}if {value} is None: {refuse}")
            mismatch = "continue" if inside_loop else f"return context.refuse({number}, {goal.name!r}, start)"
            self._bind_outs(goal.outs, value, bound, pad, mismatch)
        fail = "continue" if inside_loop else "return None"
        made = self._build(skeleton.after, bound, matched)
        # What a goal computed may be new to the table; what the pattern bound or the template made is in it already.
        computed = isinstance(skeleton.after, Var) and skeleton.after not in own.bound
        out.append(f"{pad}after = {f'context.table.intern({made}, v.owner.trace)' if computed else made}")
        out.append(f"{pad}if type(after) is not type(v) or after.type is not v.type:")
        out.append(f"{pad}    after = typed_like(v, after)")
        out.append(f"{pad}    if after is None: context.refuse({number}, 'type', start); {fail}")
        out.append(f"{pad}    after = context.table.intern(after, v.owner.trace)")
        out.append(f"{pad}if after is v: {fail}")
        out.append(f"{pad}if context.found is None:")
        out.append(f"{pad}    context.seconds[{number}] += clock() - start")
        out.append(f"{pad}    return {number}, after")
        out.append(f"{pad}context.found.append(({number}, after))")
        out.append("    except GraphTypeError:")
        out.append(f"        context.refuse({number}, 'type', start)  # for these types there is no right side")
        out.append("    except Exception as error:")
        out.append(f"        reraise({self._reference(rule, 'rule')}, v, error)")
        out.append("    return None")

    def _bind_outs(self, outs: Any, value: str, bound: dict[Any, str], pad: str, fail: str) -> None:
        if isinstance(outs, tuple):
            names = [f"{value}_{i}" for i in range(len(outs))]
            self.lines.append(f"{pad}{', '.join(names)}{',' if len(names) == 1 else ''} = {value}")
            for out, name in zip(outs, names, strict=True):
                self._bind_outs(out, name, bound, pad, fail)
        elif isinstance(outs, Var) and outs not in bound:
            bound[outs] = value
        else:
            known = bound.get(outs) or self._reference(outs, "value")
            self.lines.append(f"{pad}if {value} is not {known} and {value} != {known}: {fail}")

    def _call(self, goal: Delayed, bound: dict[Any, str], matched: dict[Any, str]) -> str:
        args = [self._build(a, bound, matched) for a in goal.args]
        if goal.contextual:
            args.insert(0, "context.graph")
        return f"{self._reference(goal.function, goal.name)}({', '.join(args)})"

    def _build(self, term: Any, bound: dict[Any, str], matched: dict[Any, str]) -> str:
        """A Python expression for a term whose variables are bound; subterms that the pattern matched are not made again."""
        if isinstance(term, Var):
            return bound[term]
        if is_node(term):
            if term in matched:
                return matched[term]
            head, args, rest = split_pattern(term)
            inside = "".join(f"{self._build(a, bound, matched)}, " for a in args)
            listed = f"({inside})" if rest is None else f"({inside}*{bound[rest]},)" if args else bound[rest]
            return f"context.table.make({self._head(head, bound)}, {listed}, v.owner.trace)"
        if type(term) in (int, float, bool):
            return repr(term) if term == term and abs(term) != float("inf") else self._reference(term, "number")
        if type(term) is tuple:
            return f"({''.join(f'{self._build(t, bound, matched)}, ' for t in term)})"
        return self._reference(term, "term")

    def _head(self, head: Any, bound: dict[Any, str]) -> str:
        if isinstance(head, Var):
            return bound[head]
        if isinstance(head, OpTerm) and not head.ground:
            params = ", ".join(f"{n}={bound[p] if isinstance(p, Var) else self._reference(p, n)}" for n, p in head.params)
            return f"{self._reference(head.op_class, head.op_class.__name__)}({params})"
        return self._reference(head.instance() if isinstance(head, OpTerm) else head, str(head))


def _relative(name: str, own: Plan) -> str:
    """The expression, inside a leaf, for a matched subterm: the leaf only receives what variables are bound to."""
    expression = "v"
    for step in name.split("_")[1:]:
        expression += f".owner.inputs[{step}]"
    return expression


def canonical(head: Any) -> Any:
    """The object that stands for all heads equal to this one."""
    return head.canonical if isinstance(head, Op) else head


def _test_key(test: Test) -> Any:
    return tuple(id(t) if isinstance(t, (Op, OutputOf, Variable)) else (type(t), t) for t in test)


def _binding_leaf(number: int) -> Any:
    def leaf(v: Any, context: Any, *bound: Any) -> Any:
        return number, bound
    return leaf


def reraise(rule: Any, variable: Variable, error: Exception) -> None:
    """What a leaf does with an exception: name the rule, the term and the user's line."""
    if isinstance(error, RuleExecutionError):
        raise error
    owner = variable.owner
    built = describe(owner.trace) if owner else None
    raise RuleExecutionError(rule.name, rule.where, render(variable), built, error) from error


