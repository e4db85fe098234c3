"""The engines that are compared, each on its own nodes, with the rules of `algebra` in its own notation."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import handwritten
from algebra import RULES, Program, Tree, built, commuted, folded, tree, variables
from kanren import run

import termgraph as tg
import termgraph.tensor as tt
from termgraph.graph import Constant, Variable
from termgraph.graph.traversal import toposort
from termgraph.rewrite import Rule, RuleSet, normalize, relation
from termgraph.rewrite.nodes import NodeTable
from termgraph.terms import build

if importlib.util.find_spec("tinygrad"):
    from tinygrad.dtype import dtypes
    from tinygrad.uop.ops import Ops, PatternMatcher, UOp, UPat, graph_rewrite
if importlib.util.find_spec("pytensor"):
    import pytensor.tensor as pt
    from pytensor.graph.basic import Constant as PConstant
    from pytensor.graph.fg import FunctionGraph
    from pytensor.graph.rewriting.basic import (
        EquilibriumGraphRewriter,
        MergeOptimizer,
        PatternNodeRewriter,
        SequentialNodeRewriter,
        WalkingGraphRewriter,
        node_rewriter,
    )

#: (before, after) as texts
Texts = Sequence[tuple[str, str]]
Vocabulary = dict[str, Callable[..., Any]]


class Engine(Protocol):
    """A way to rewrite: `build` makes a graph, `rewrite` is what is timed, `read` tells what the nodes it returns are."""

    name: str

    def build(self, program: Program) -> Any:
        """A new graph."""

    def rewrite(self, graph: Any) -> Sequence[Any]:
        """The outputs of the graph, in normal form."""

    def read(self, node: Any) -> tuple[Any, ...]:
        """("leaf", name), ("number", value) or (operation, *nodes)."""


def missing(module: str) -> str | None:
    """What to do about an engine that is not installed; None for one that is."""
    return None if importlib.util.find_spec(module) else f"{module} is not installed, so not compared: pip install {module}"


def mapped(term: Tree, make: Vocabulary, leaf: Callable[[Any], Any]) -> Any:
    """A tree with its operations made by `make`, its names and numbers by `leaf`."""
    return make[term[0]](*[mapped(t, make, leaf) for t in term[1:]]) if isinstance(term, tuple) else leaf(term)


# --- termgraph, and kanren on its rules -----------------------------------------------------------------------------------

OURS: Vocabulary = {
    "neg": tt.neg, "exp": tt.exp, "log": tt.log, "sqrt": tt.sqrt, "abs": tt.abs, "sin": tt.sin, "reciprocal": tt.reciprocal,
    "add": tt.add, "sub": tt.sub, "mul": tt.mul, "div": tt.true_div, "pow": tt.pow, "max": tt.maximum,
}
NAMES = {op: name for name, op in OURS.items()}


def as_relation(before: str, after: str) -> Rule:
    """The rule of two texts."""
    def clauses(x: Any, y: Any, z: Any) -> Any:
        known = {"x": x, "y": y, "z": z}
        sides = [mapped(tree(text), OURS, lambda leaf: known.get(leaf, leaf)) for text in (before, after)]
        yield tuple(int(side) if isinstance(side, float) else side for side in sides)
    return relation(clauses, name=f"{before} = {after}")


class Termgraph:
    """termgraph: relations, staged and compiled."""

    name = "termgraph"

    def __init__(self, rules: Texts = RULES) -> None:
        self.rules = RuleSet([tg.rules.fold, *(as_relation(*texts) for texts in rules)])

    def build(self, program: Program) -> list[Variable]:
        return built(program, {**OURS, "leaf": tt.dscalar, "number": lambda value: tt.constant(value, dtype="float64")})

    def rewrite(self, graph: list[Variable]) -> list[Variable]:
        results, report = normalize(graph, self.rules)
        report.raise_error()
        return results

    def read(self, node: Variable) -> tuple[Any, ...]:
        if isinstance(node, Constant):
            return "number", float(node.data)
        if node.owner is None:
            return "leaf", node.name
        return NAMES[node.head], *node.owner.inputs


class Kanren(Termgraph):
    """The same relations, run by kanren on each node, inputs first."""

    name = "naive kanren"

    def rewrite(self, graph: list[Variable]) -> list[Variable]:
        table = NodeTable()
        normal: dict[Variable, Variable] = {}

        def normal_form(variable: Variable) -> Variable:
            # Everything below the outermost nodes of a right side has its normal form: the recursion is as deep as those.
            if variable not in normal:
                here = variable
                if variable.owner is None:
                    here = table.leaf(variable)
                else:
                    inputs = [normal_form(i) for i in variable.owner.inputs]
                    here = table.rebuilt(variable.owner, inputs)[0]
                after = None if here.owner is None or here in normal else self.after(here, table)
                normal[here] = normal.get(here, here) if after is None else normal_form(after)
                normal[variable] = normal[here]
            return normal[variable]

        for node in toposort(graph):
            normal_form(node.outputs[0])
        return [normal_form(output) for output in graph]

    def after(self, variable: Variable, table: NodeTable) -> Variable | None:
        """What the first rule that has an answer makes of a variable."""
        q = tg.var("after")
        for rule in self.rules:
            for answer in run(1, q, rule(variable, q)):
                made = build(answer, table.make)
                return table.intern(made if isinstance(made, Variable) else tt.constant(float(made), dtype="float64"))
        return None


# --- by hand --------------------------------------------------------------------------------------------------------------

class Handwritten:
    """Plain Python for these rules and no others."""

    name = "by hand"

    def build(self, program: Program) -> list[handwritten.Node]:
        make: Vocabulary = {op: lambda *args, op=op: handwritten.Node(op, *args) for op in OURS}
        return built(program, {**make, "leaf": handwritten_leaf, "number": lambda v: handwritten.Node("number", value=v)})

    def rewrite(self, graph: list[handwritten.Node]) -> list[handwritten.Node]:
        return handwritten.rewriter()(graph)

    def read(self, node: handwritten.Node) -> tuple[Any, ...]:
        if node.op == "number":
            return "number", node.value
        return (node.op, NAMES_OF_LEAVES[node]) if node.op == "leaf" else (node.op, *(i for i in (node.a, node.b) if i))


NAMES_OF_LEAVES: dict[handwritten.Node, str] = {}


def handwritten_leaf(name: str) -> handwritten.Node:
    """A leaf, whose name nobody needs until results are compared."""
    node = handwritten.Node("leaf")
    NAMES_OF_LEAVES[node] = name
    return node


# --- tinygrad ---------------------------------------------------------------------------------------------------------------

#: tinygrad has no abs, and exp and log to the base 2: the rules do not ask what an operation computes.
THEIRS = {"neg": "NEG", "exp": "EXP2", "log": "LOG2", "sqrt": "SQRT", "abs": "TRUNC", "sin": "SIN", "reciprocal": "RECIPROCAL",
          "add": "ADD", "sub": "SUB", "mul": "MUL", "div": "FDIV", "pow": "POW", "max": "MAX"}


class Tinygrad:
    """tinygrad: UPats compiled by its PatternMatcher, driven by its graph_rewrite, with uops made as directly as it allows."""

    name = "tinygrad"

    def __init__(self, rules: Texts = RULES) -> None:
        self.make: Vocabulary = {n: lambda *src, op=op: UOp(op, dtypes.float64, src) for n, op in self.ops().items()}
        self.names = {op: name for name, op in self.ops().items()}
        fold = UPat(tuple(self.names), src=UPat(Ops.CONST), name="node")
        names = {int(op): name for op, name in self.names.items()}
        folding = self.function("node", "number(folded(NAMES[node.op], *[s.arg for s in node.src]))", {"NAMES": names})
        self.matcher = PatternMatcher([(fold, folding), *itertools.chain(*(self.patterns(*texts) for texts in rules))])

    @staticmethod
    def ops() -> dict[str, Any]:
        return {name: getattr(Ops, op) for name, op in THEIRS.items()}

    def patterns(self, before: str, after: str) -> list[tuple[Any, Any]]:
        """A pattern for each order of commuting arguments, as termgraph tries them."""
        make: Vocabulary = {name: lambda *src, op=op: UPat(op, src=src) for name, op in self.ops().items()}
        template = self.function(", ".join(variables(tree(before))), self.code(tree(after)), {})
        leaf = lambda t: UPat(name=t) if isinstance(t, str) else UPat(Ops.CONST, arg=t)  # noqa: E731
        return [(mapped(variant, make, leaf), template) for variant in commuted(tree(before))]

    def code(self, term: Tree) -> str:
        """Python that makes a term. tinygrad takes functions without closures only."""
        if isinstance(term, tuple):
            return f"UOp(Ops.{THEIRS[term[0]]}, FLOAT, ({''.join(f'{self.code(t)}, ' for t in term[1:])}))"
        return term if isinstance(term, str) else f"number({term!r})"

    @staticmethod
    def function(parameters: str, body: str, names: dict[str, Any]) -> Any:
        space = {"UOp": UOp, "Ops": Ops, "FLOAT": dtypes.float64, "number": tiny_number, "folded": folded, **names}
        return eval(f"lambda {parameters}: {body}", space)

    def build(self, program: Program) -> Any:
        leaf = lambda name: UOp(Ops.NOOP, dtypes.float64, (), name)  # noqa: E731
        return UOp(Ops.SINK, dtypes.void, tuple(built(program, {**self.make, "leaf": leaf, "number": tiny_number})))

    def rewrite(self, graph: Any) -> Sequence[Any]:
        return graph_rewrite(graph, self.matcher).src  # type: ignore[no-any-return]

    def read(self, node: Any) -> tuple[Any, ...]:
        if node.op is Ops.CONST:
            return "number", float(node.arg)
        return ("leaf", node.arg) if node.op is Ops.NOOP else (self.names[node.op], *node.src)


def tiny_number(value: float) -> Any:
    """A constant of tinygrad."""
    return UOp(Ops.CONST, dtypes.float64, (), dtypes.float64.const(value))


# --- PyTensor ---------------------------------------------------------------------------------------------------------------

class PyTensor:
    """PyTensor: an EquilibriumGraphRewriter over PatternNodeRewriters, equal nodes merged after each pass. Given them directly
    it starts at the outputs, takes twice as long and ends in other normal forms; so a walk from the inputs is between."""

    name = "pytensor"

    def __init__(self, rules: Texts = RULES) -> None:
        self.make: Vocabulary = {"neg": pt.neg, "exp": pt.exp, "log": pt.log, "sqrt": pt.sqrt, "abs": pt.abs, "add": pt.add,
                                 "sub": pt.sub, "mul": pt.mul, "div": pt.true_div, "pow": pt.pow}
        self.names = {op: name for name, op in self.make.items()}

        @node_rewriter(list(self.names))
        def fold(fgraph: Any, node: Any) -> Any:
            if all(isinstance(i, PConstant) for i in node.inputs):
                return [pt.constant(folded(self.names[node.op], *[float(i.data) for i in node.inputs]), dtype="float64")]
            return None

        make: Vocabulary = {name: lambda *args, op=op: (op, *args) for name, op in self.make.items()}
        leaf = lambda t: t if isinstance(t, str) else pt.constant(t, dtype="float64")  # noqa: E731
        patterns = [PatternNodeRewriter(mapped(variant, make, leaf), mapped(tree(after), make, leaf), name=before,
                                        allow_multiple_clients=True)
                    for before, after in rules for variant in commuted(tree(before))]
        walk = WalkingGraphRewriter(SequentialNodeRewriter(fold, *patterns), order="in_to_out", ignore_newtrees=False)
        self.rewriter = EquilibriumGraphRewriter([walk], max_use_ratio=100, final_rewriters=[MergeOptimizer()])

    def build(self, program: Program) -> Any:
        number = lambda value: pt.constant(value, dtype="float64")  # noqa: E731
        return FunctionGraph(outputs=built(program, {**self.make, "leaf": pt.dscalar, "number": number}), clone=False)

    def rewrite(self, graph: Any) -> Sequence[Any]:
        self.rewriter.rewrite(graph)
        return graph.outputs  # type: ignore[no-any-return]

    def read(self, node: Any) -> tuple[Any, ...]:
        if isinstance(node, PConstant):
            return "number", float(node.data)
        return ("leaf", node.name) if node.owner is None else (self.names[node.owner.op], *node.owner.inputs)
