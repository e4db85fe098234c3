"""KanrenRelation: a plain kanren relation as a rule, with PyTensor's way of choosing results and nodes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kanren import eq, run
from unification import reify

from termgraph.errors import RuleError
from termgraph.graph.apply import Apply
from termgraph.graph.symbol import Symbol
from termgraph.graph.variable import Variable
from termgraph.rewrite.context import typed_like
from termgraph.rewrite.delay import Goal, State, substitution_of
from termgraph.rewrite.relation import Rule
from termgraph.rewrite.skeleton import Skeleton
from termgraph.terms.build import build
from termgraph.terms.term import var


def first_result(results: Iterator[Any]) -> Any:
    """The first of the results, None where there is none."""
    return next(results, None)


class KanrenRelation(Rule):
    """A rule made of a relation `rel(before, after)` that returns a goal: what PyTensor calls KanrenRelationSub.

    A node is replaced by what `results_filter` picks from the results of `run(None, q, rel(term, q))`, a lazy stream: the
    first, unless another function is given; None is no result. The term is the node's output (its default output), and for
    a node of several outputs without default each output in turn, then the list of all, for which a result is a list with
    one replacement, or None, for each. A result may be a Variable, a term of any notation, or a number. `node_filter(node)`
    says which nodes are looked at.

    Without filters the relation is staged, and then costs what any rule does. With one, or where it cannot be staged (see
    `not_staged`), it runs as kanren search.

    >>> import termgraph as tg, termgraph.tensor as tt
    >>> from kanren import eq, lall
    >>> def double(before, after):
    ...     x = tg.var("x")
    ...     return lall(eq(before, tt.add(x, x)), eq(after, tt.mul(2, x)))
    >>> y = tt.vector("y")
    >>> tg.pprint(tg.rewrite_graph(tt.exp(y + y), rules=[tg.KanrenRelation(double)])[0])
    'exp(2 * y)'
    >>> only_sums_of_y = tg.KanrenRelation(double, node_filter=lambda node: node.inputs[0] is y)
    >>> z = tt.vector("z")
    >>> tg.pprint(tg.rewrite_graph(y + y - (z + z), rules=[only_sums_of_y])[0])
    '2 * y - (z + z)'
    """

    def __init__(self, relation: Callable[[Any, Any], Any], results_filter: Callable[[Iterator[Any]], Any] | None = None,
                 node_filter: Callable[[Apply], Any] | None = None, *, phase: str = "simplify", soundness: str = "real",
                 name: str | None = None, tags: Sequence[str] = ()) -> None:
        self.results_filter, self.node_filter = results_filter, node_filter
        super().__init__(_as_function(relation), phase, soundness, name, tags)

    def _stage(self) -> tuple[Skeleton, ...]:
        if self.results_filter is not None or self.node_filter is not None:
            self.not_staged = "it has a results_filter or node_filter"
            return ()
        try:
            return super()._stage()
        except RuleError as error:
            self.not_staged = error.problem
        except Exception as error:  # such a relation looks at its arguments, which are unknown while staging
            self.not_staged = f"it raises {type(error).__name__} while both sides are unknown: {error}"
        return ()

    def __call__(self, before: Any, after: Any) -> Goal:
        """The goal that `before` may be rewritten to `after`. Where it is searched, a known node has at most one result."""
        relation = super().__call__(before, after)
        if self.staged:
            return relation

        def goal(state: State) -> Iterator[State]:
            known = reify(before, substitution_of(state))
            if not isinstance(known, Variable) or known.owner is None:
                yield from relation(state)
                return
            result = self._result(known)
            if result is not None:
                yield from eq(after, result)(state)
        return goal

    def can_match(self, symbol: Symbol) -> bool:
        """Always: the relation may look at any output of a node, and node_filter decides."""
        return True

    def transform(self, fgraph: Any, node: Apply) -> list[Any] | bool:
        """The replacements of the outputs of `node`, None for one that stays, or False where none is replaced."""
        results = [self._result(output) for output in node.outputs]
        return False if all(r is None for r in results) else results

    def _result(self, variable: Variable) -> Variable | None:
        """The replacement of a variable that a node computes, found by search."""
        node: Any = variable.owner
        if self.node_filter is not None and not self.node_filter(node):
            return None
        default = 0 if len(node.outputs) == 1 else node.op.default_output
        if default is not None and variable.index != default:
            return None
        for term in [variable] if default is not None else [variable, list(node.outputs)]:
            chosen = self._chosen(term)
            if isinstance(chosen, (list, tuple)) and (isinstance(chosen, list) or isinstance(term, list)):
                chosen = self._of_output(chosen, node, variable)
            if chosen is not None:
                return typed_like(variable, build(chosen))
        return None

    def _chosen(self, term: Any) -> Any:
        q = var("q")
        results = run(None, q, super().__call__(term, q))
        chosen = (self.results_filter or first_result)(iter(results))
        return None if chosen is False else chosen

    def _of_output(self, results: Sequence[Any], node: Apply, variable: Variable) -> Any:
        """Of several results, that for `variable`; a list of one is that of the only output looked at."""
        if len(results) == len(node.outputs):
            return results[variable.index or 0]
        if len(results) > 1 or (results and node.op.default_output is None):
            raise ValueError(f"{node} has {len(node.outputs)} outputs, and there are {len(results)} results for them.")
        return results[0] if results else None


def _as_function(relation: Callable[..., Any]) -> Callable[..., Any]:
    """A relation that is no plain function (a `partial`, a table of facts, a callable object), or takes more arguments that
    have defaults, as a function of two that says where it comes from."""
    if inspect.isgeneratorfunction(relation) or (inspect.isfunction(relation) and relation.__code__.co_argcount == 2):
        return relation

    def plain(before: Any, after: Any) -> Any:
        return relation(before, after)
    inner = getattr(relation, "func", relation)
    code = getattr(inner, "__code__", None)
    if code is not None:
        plain.__code__ = plain.__code__.replace(co_filename=code.co_filename, co_firstlineno=code.co_firstlineno)
    plain.__name__ = getattr(inner, "__name__", None) or getattr(inner, "name", None) or type(inner).__name__
    plain.__doc__ = None if isinstance(inner, type(None)) else inspect.getdoc(inner)
    return plain
