"""The matcher generator: plans become Python source, one function for each set of skeletons with a head in common.

Tests that patterns share are made once: the plans of all skeletons form a trie, written as nested ifs, in the order of the
rules. Most nodes match nothing, so what most often decides comes first: where no argument can be a literal, the skeletons
that ask for one are left out at once. Below each pattern that matched, a leaf function checks the goals that had to wait
and builds the right side. The source can be read with `rule.source()` and shows in tracebacks.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable, Sequence
from functools import cached_property
from time import perf_counter
from typing import Any

from unification import Var

from termgraph.errors import GraphTypeError
from termgraph.graph.op import Op
from termgraph.graph.symbol import CONSTANT, Symbol
from termgraph.graph.variable import Variable, literal_of
from termgraph.rewrite.context import all_constant, reraise, typed_like, unified
from termgraph.rewrite.delay import Delayed, variables_of
from termgraph.rewrite.nodes import symbol_of
from termgraph.rewrite.plan import Path, Plan, Test, local, plan
from termgraph.rewrite.skeleton import Skeleton, is_node, split_pattern
from termgraph.terms.dispatch import equals_literal, same_term
from termgraph.terms.term import OpTerm

#: (number, rule, skeleton)
Entry = tuple[int, Any, Skeleton]
_serial = itertools.count()


class Compiled:
    """The source and the functions for some entries; `nin` is the number of inputs of every node asked about, if known.

    `match(v, ins, context)` returns (number, result) for the first entry that gives one, or None.
    """

    def __init__(self, entries: Sequence[Entry], nin: int | None = None) -> None:
        self.nin = nin
        self.lines: list[str] = []
        self.space: dict[str, Any] = {
            "clock": perf_counter, "equals_literal": equals_literal, "literal_of": literal_of, "same_term": same_term,
            "typed_like": typed_like, "reraise": reraise, "GraphTypeError": GraphTypeError, "CONSTANT": CONSTANT,
            "all_constant": all_constant, "unified": unified, "Variable": Variable,
        }
        self._references: dict[tuple[int, str], str] = {}
        self.plans = {number: plan(skeleton) for number, _, skeleton in entries}
        for number, rule, skeleton in entries:
            Leaf(self, number, rule, skeleton, self.plans[number]).write()
        self._tree([n for n, _, _ in entries])
        self.text = "\n".join(self.lines) + "\n"
        filename = f"<termgraph rules {next(_serial)}>"
        # Tracebacks can then show the generated lines.
        linecache.cache[filename] = (len(self.text), None, self.text.splitlines(True), filename)
        self._code = compile(self.text, filename, "exec")
        exec(self._code, self.space)
        self.match = self.space["match"]

    @cached_property
    def every(self) -> Any:
        """The same tree with leaves that only add what was bound to the list given as context: all patterns that match."""
        return self._with_leaves(_noting_leaf)

    @cached_property
    def bind(self) -> Any:
        """The same tree with leaves that return what was bound and do nothing else: the first pattern that matches."""
        return self._with_leaves(_binding_leaf)

    def _with_leaves(self, leaf: Callable[[int], Any]) -> Any:
        space = dict(self.space)
        exec(self._code, space)
        space.update((f"leaf_{number}", leaf(number)) for number in self.plans)
        return space["match"]

    def reference(self, value: Any, hint: str) -> str:
        """A name for an object in the generated module."""
        key = (id(value), hint)
        if key not in self._references:
            clean = "".join(c if c.isalnum() else "_" for c in hint).strip("_") or "k"
            self._references[key] = f"{clean}_{len(self._references)}"
            self.space[self._references[key]] = value
        return self._references[key]

    # --- the tree -----------------------------------------------------------------------------------------------------

    def _tree(self, numbers: Sequence[int]) -> None:
        out = self.lines
        out.append("def match(v, ins, context):")
        group = [(n, list(self.plans[n].tests)) for n in numbers]
        firsts = {tests[0] if tests else None for _, tests in group}
        first = firsts.pop() if len(firsts) == 1 else None
        if self.nin is None and first is not None and first[0] == "args" and first[3]:
            self.nin = first[2]
            out.append(f"    if len(ins) != {self.nin}: return None")
        self._unpack()
        literal = [(n, tests) for n, tests in group if self._asks_literal(tests)]
        if literal and self.nin:
            out.append(f"    if {' or '.join(f's_{i}.fills' for i in range(self.nin))}:")
            for i in range(self.nin):
                out.append(f"        l_{i} = literal_of(v_{i}) if s_{i}.fills else None")
            self._branch(group, 2)
            out.append("        return None")
            group = [(n, tests) for n, tests in group if not self._asks_literal(tests)]
        self._branch(group, 1)
        out.append("    return None")

    def _unpack(self) -> None:
        if self.nin:
            names = [f"v_{i}" for i in range(self.nin)]
            self.lines.append(f"    {', '.join(names)}{',' if self.nin == 1 else ''} = ins")
            self.lines.extend(f"    s_{i} = v_{i}.symbol" for i in range(self.nin))

    def _asks_literal(self, tests: Sequence[Test]) -> bool:
        """Whether no variable whose arguments are no literals can pass."""
        return any(t[0] == "constants" or (t[0] == "literal" and len(t[1]) == 1) for t in tests)

    def _branch(self, group: list[tuple[int, list[Test]]], depth: int) -> None:
        pad = "    " * depth
        position = 0
        while position < len(group):
            number, tests = group[position]
            if not tests:
                bound = "".join(f", {e}" for e in self.plans[number].bound.values())
                self.lines.append(f"{pad}found = leaf_{number}(v, ins, context{bound})")
                self.lines.append(f"{pad}if found is not None: return found")
                position += 1
                continue
            key = _test_key(tests[0])
            end = position
            while end < len(group) and group[end][1] and _test_key(group[end][1][0]) == key:
                end += 1
            inner = self._test(tests[0], pad)
            self._branch([(n, t[1:]) for n, t in group[position:end]], depth + inner)
            position = end

    def _test(self, test: Test, pad: str) -> int:
        """Write a test; the number of levels that what depends on it is indented."""
        if test[0] == "args":
            _, path, count, exact = test
            return self._arguments(path, count, exact, pad)
        self.lines.append(f"{pad}if {self._condition(*test)}:")
        return 1

    def _arguments(self, path: Path, count: int, exact: bool, pad: str) -> int:
        """Name the arguments at a path, if there are as many as asked."""
        if not path and self.nin is not None:
            if count == self.nin or (not exact and count <= self.nin):
                return 0  # unpacked already
            self.lines.append(f"{pad}if False:")
            return 1
        inputs = f"{local(path)}_in" if path else "ins"
        if path:
            self.lines.append(f"{pad}{inputs} = {local(path)}.owner.inputs")
        self.lines.append(f"{pad}if len({inputs}) {'==' if exact else '>='} {count}:")
        if count:
            targets = ", ".join(local((*path, i)) for i in range(count))
            self.lines.append(f"{pad}    {targets}{',' if count == 1 else ''} = {inputs}{'' if exact else f'[:{count}]'}")
            if not path:
                self.lines.extend(f"{pad}    s_{i} = v_{i}.symbol" for i in range(count))
                self.lines.extend(f"{pad}    l_{i} = literal_of(v_{i}) if s_{i}.fills else None" for i in range(count))
        return 1

    def _condition(self, kind: str, path: Path, *what: Any) -> str:
        """The Python condition of a test."""
        name = local(path)
        symbol = f"s_{path[0]}" if len(path) == 1 else f"{name}.symbol"
        if kind == "same":
            return f"{what[0]} is {what[1]}"
        if kind == "equal":
            return f"{what[0]} == {what[1]}"
        if kind == "owned":
            return f"{name}.owner is not None"
        if kind == "symbol":
            return f"{symbol} is {self.reference(what[0], str(what[0].car))}"
        if kind == "class":
            return f"type({symbol}.op) is {self.reference(what[0], what[0].__name__)}"
        if kind == "param":
            return f"{symbol}.op.{what[0]} == {self.reference(what[1], what[0])}"
        if kind == "literal":
            return self._literal(path, what[0], name, symbol)
        if kind == "constants":
            if self.nin is None:
                return "all_constant(ins)"
            return " and ".join(f"s_{i} is CONSTANT" for i in range(self.nin)) or "False"
        return f"same_term({name}, {self.reference(what[0], 'term')})"

    def _literal(self, path: Path, number: Any, name: str, symbol: str) -> str:
        if len(path) == 1 and type(number) in (int, float) and in_every_float(number):
            # Comparing is then enough (and a bool literal is not a number).
            return f"l_{path[0]} == {number!r} and type(l_{path[0]}) is not bool"
        return f"{symbol}.fills and equals_literal({name}, {self.number(number)})"

    def number(self, number: Any) -> str:
        """A Python expression for a number; infinities and NaN have no literal."""
        return repr(number) if number == number and abs(number) != float("inf") else self.reference(number, "number")


class Leaf:
    """The writer of the function run when a pattern has matched: waiting goals, then the right side, then the type."""

    def __init__(self, module: Compiled, number: int, rule: Any, skeleton: Skeleton, own: Plan) -> None:
        self.module, self.number, self.rule, self.skeleton, self.own = module, number, rule, skeleton, own
        self.parameters = [f"x{i}" for i in range(len(own.bound))]
        self.bound: dict[Any, str] = dict(zip(own.bound, self.parameters, strict=True))
        self.matched = {term: _from_root(path) for term, path in own.paths.items()}
        self.pad = " " * 8
        self.fail = "return None"
        self.loops: list[str] = []
        self.made = itertools.count()

    def say(self, line: str) -> None:
        """Add a line at the present depth."""
        self.module.lines.append(self.pad + line)

    def write(self) -> None:
        """Write the function."""
        out, number = self.module.lines, self.number
        out.append(f"def leaf_{number}(v, ins, context{''.join(f', {p}' for p in self.parameters)}):")
        out.append(f"    # {self.rule.name} ({self.rule.where}): {self.skeleton}")
        out.append("    start = clock()")
        out.append(f"    context.matched[{number}] += 1")
        out.append("    try:")
        for position, goal in enumerate(self.own.residue):
            self.goal(goal, f"y{position}")
        self.result()
        for pad in reversed(self.loops):  # what cannot be built for one choice may be for the next
            out.append(f"{pad}except GraphTypeError:")
            out.append(f"{pad}    context.refuse({number}, 'type', start)")
        out.append("    except GraphTypeError:")
        out.append(f"        context.refuse({number}, 'type', start)  # for these types there is no right side")
        out.append("    except Exception as error:")
        out.append(f"        reraise({self.module.reference(self.rule, 'rule')}, v, error)")
        out.append("    return None")

    def goal(self, goal: Delayed, value: str) -> None:
        """Check a waiting goal, and bind what it gives."""
        args = [self.build(a) for a in goal.args]
        if goal.contextual:
            args.insert(0, "context.graph")
        call = f"{self.module.reference(goal.function, goal.name)}({', '.join(args)})"
        refuse = f"context.refuse({self.number}, {goal.name!r}, start); {self.fail}"
        if goal.outs is None:
            self.say(f"if not {call}: {refuse}")
            return
        if goal.many:
            self.say(f"for {value} in {call}:")
            self.say("    try:")
            self.loops.append(self.pad + "    ")
            self.pad += " " * 8
            self.fail = "continue"
        else:
            self.say(f"{value} = {call}")
            self.say(f"if {value} is None: {refuse}")
        self.bind(goal.outs, value)

    def bind(self, outs: Any, value: str) -> None:
        """Let `outs` be what the Python variable `value` holds."""
        if isinstance(outs, tuple):
            names = [f"{value}_{i}" for i in range(len(outs))]
            self.say(f"{', '.join(names)}{',' if len(names) == 1 else ''} = {value}")
            for out, name in zip(outs, names, strict=True):
                self.bind(out, name)
        elif isinstance(outs, Var) and outs not in self.bound:
            # What a goal computed may be new to the table; what the pattern bound is in it already.
            self.say(f"if isinstance({value}, Variable): {value} = context.table.intern({value}, v.owner.trace)")
            self.bound[outs] = value
        elif is_node(outs):
            unknown = [v for v in variables_of(outs) if v not in self.bound]
            bound = [v for v in variables_of(outs) if v in self.bound]
            known = "".join(f"{self.module.reference(v, 'var')}: {self.bound[v]}, " for v in bound)
            names = [f"{value}_{i}" for i in range(len(unknown))]
            wanted = "".join(f"{self.module.reference(v, 'var')}, " for v in unknown)
            self.say(f"{value} = unified({self.module.reference(outs, 'pattern')}, {value}, {{{known}}}, ({wanted}))")
            self.say(f"if {value} is None: {self.fail}")
            if names:
                self.say(f"{', '.join(names)}, = {value}")
            self.bound.update(zip(unknown, names, strict=True))
        else:
            known = self.bound.get(outs) or self.module.reference(outs, "value")
            self.say(f"if {value} is not {known} and {value} != {known}: {self.fail}")

    def result(self) -> None:
        """Build the right side, see that it keeps the type, and return it."""
        number, after = self.number, self.skeleton.after
        self.say(f"after = {self.build(after)}")
        self.say("if type(after) is not type(v) or after.type is not v.type:")
        self.say("    after = typed_like(v, after)")
        self.say(f"    if after is None: context.refuse({number}, 'type', start); {self.fail}")
        self.say("    after = context.table.intern(after, v.owner.trace)")
        self.say(f"if after is v: {self.fail}")
        self.say("if context.found is None:")
        self.say(f"    context.seconds[{number}] += clock() - start")
        self.say(f"    return {number}, after")
        self.say(f"context.found.append(({number}, after))")

    def build(self, term: Any) -> str:
        """A Python expression for a term whose variables are bound; subterms that the pattern matched are not made again."""
        if isinstance(term, Var):
            return self.bound[term]
        if is_node(term):
            return self.matched.get(term) or self.node(term)
        if type(term) in (int, float, bool):
            return self.module.number(term)
        if type(term) is tuple:
            return f"({''.join(f'{self.build(t)}, ' for t in term)})"
        reference = self.module.reference(term, "term")
        return f"context.table.intern({reference})" if isinstance(term, Variable) else reference

    def node(self, term: Any) -> str:
        """The name of a variable holding the node that a template denotes; it is looked up first, then made."""
        head, args, rest = split_pattern(term)
        built = [self.build(a) for a in args]
        inside = "".join(f"{b}, " for b in built)
        name = f"n{next(self.made)}"
        if rest is not None or not isinstance(head, (Op, Symbol)):
            spread = "" if rest is None else f"*{self.bound[rest]}, "
            listed = f"({inside}{spread})"
            self.say(f"{name} = context.table.make({self.head(head)}, {listed}, v.owner.trace)")
            return name
        symbol = self.module.reference(symbol_of(head), str(head))
        if any(type(a) in (int, float, bool) for a in args):
            self.say(f"{name} = context.table.new({symbol}, ({inside}), v.owner.trace)")
            return name
        self.say(f"{name} = context.nodes.get(({symbol}, {inside}))")
        self.say(f"if {name} is None: {name} = context.table.new({symbol}, ({inside}), v.owner.trace)")
        return name

    def head(self, head: Any) -> str:
        """A Python expression for the head of a template."""
        if isinstance(head, Var):
            return self.bound[head]
        if isinstance(head, OpTerm) and not head.ground:
            reference = self.module.reference
            params = ", ".join(f"{n}={self.bound[p] if isinstance(p, Var) else reference(p, n)}" for n, p in head.params)
            return f"{reference(head.op_class, head.op_class.__name__)}({params})"
        return self.module.reference(symbol_of(head) or head, str(head))  # a function that is no Op is called as it is


def _from_root(path: Path) -> str:
    """The expression, inside a leaf, for the variable at a path: the leaf only receives what variables are bound to."""
    return "v" if not path else f"ins[{path[0]}]" + "".join(f".owner.inputs[{step}]" for step in path[1:])


def in_every_float(number: float) -> bool:
    """Whether float16, and so every float dtype, has this very number: a sufficient condition."""
    return bool((abs(number) <= 2048 and number % 1 == 0) or (abs(number) <= 2 and (number * 512) % 1 == 0))


def _test_key(test: Test) -> Any:
    return tuple(id(t) if isinstance(t, (Op, Symbol, Variable)) else (type(t), t) for t in test)


def _binding_leaf(number: int) -> Any:
    def leaf(v: Any, ins: Any, context: Any, *bound: Any) -> Any:
        return number, bound
    return leaf


def _noting_leaf(number: int) -> Any:
    def leaf(v: Any, ins: Any, context: Any, *bound: Any) -> None:
        context.append((number, bound))
    return leaf
