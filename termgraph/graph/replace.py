"""Copies of graphs with parts exchanged, and whether two graphs compute the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from termgraph.graph.apply import Apply
from termgraph.graph.traversal import toposort
from termgraph.graph.variable import Constant, Variable


def clone_get_equiv(inputs: Iterable[Variable], outputs: Sequence[Variable], copy_inputs: bool = True,
                    copy_orphans: bool = True, memo: dict[Any, Any] | None = None) -> dict[Any, Any]:
    """Copy the graph between `inputs` and `outputs`; the mapping from each old Variable and Apply to its copy.

    Variables in `memo` are replaced by what it maps them to. Constants are shared, not copied.
    """
    memo = {} if memo is None else memo
    inputs = list(inputs)
    for variable in inputs:
        memo.setdefault(variable, variable.clone() if copy_inputs and not isinstance(variable, Constant) else variable)

    def leaf(variable: Variable) -> None:
        if variable.owner is None and variable not in memo:
            memo[variable] = variable.clone() if copy_orphans else variable

    for node in toposort(outputs, memo):
        for variable in node.inputs:
            leaf(variable)
        copy = node.clone_with_new_inputs([memo[i] for i in node.inputs], strict=False)
        memo[node] = copy
        for old, new in zip(node.outputs, copy.outputs, strict=True):
            memo.setdefault(old, new)
    for output in outputs:
        leaf(output)
    return memo


def clone(inputs: Sequence[Variable], outputs: Sequence[Variable], copy_inputs: bool = True,
          copy_orphans: bool | None = None) -> tuple[list[Variable], list[Variable]]:
    """Copies of `inputs` and of `outputs`."""
    equiv = clone_get_equiv(inputs, outputs, copy_inputs, copy_inputs if copy_orphans is None else copy_orphans)
    return [equiv[i] for i in inputs], [equiv[o] for o in outputs]


def graph_replace(outputs: Any, replace: Mapping[Variable, Variable] | Iterable[tuple[Variable, Variable]]) -> Any:
    """`outputs` (a Variable or a sequence) with some variables replaced by others; what does not depend on a replaced
    variable is shared with the original graph, which stays as it is.

    >>> import termgraph as tg, termgraph.tensor as tt
    >>> x, y = tt.scalars("x", "y")
    >>> tg.pprint(graph_replace(tt.exp(x) + 1, {x: y}))
    'exp(y) + 1'
    """
    memo: dict[Variable, Variable] = dict(replace.items() if isinstance(replace, Mapping) else replace)
    several = not isinstance(outputs, Variable)
    wanted = list(outputs) if several else [outputs]
    for old, new in memo.items():
        memo[old] = old.type.filter_variable(new)
    replaced = set(memo)
    for node in toposort(wanted, replaced):
        inputs = [memo.get(i, i) for i in node.inputs]
        if all(a is b for a, b in zip(inputs, node.inputs, strict=True)):
            continue
        copy: Apply = node.clone_with_new_inputs(inputs, strict=False)
        for old, new in zip(node.outputs, copy.outputs, strict=True):
            memo.setdefault(old, new)
    result = [memo.get(o, o) for o in wanted]
    return result if several else result[0]


def clone_replace(output: Any, replace: Any = None, **kwargs: Any) -> Any:
    """`graph_replace` under PyTensor's other name; without `replace`, `output` itself."""
    return graph_replace(output, replace or {})


def equal_computations(xs: Sequence[Variable], ys: Sequence[Variable], in_xs: Sequence[Variable] = (),
                       in_ys: Sequence[Variable] = ()) -> bool:
    """Whether `ys` compute from `in_ys` what `xs` compute from `in_xs`, node by node: same ops, constants of equal key,
    and otherwise the same variables."""
    if len(xs) != len(ys) or len(in_xs) != len(in_ys):
        return False
    if any(a.type != b.type for a, b in zip(in_xs, in_ys, strict=True)):
        return False
    # One number for each class of equal terms: structurally equal variables of both graphs get the same number. What an
    # input stands for holds in its own graph only: it may be another leaf in the other.
    numbers: dict[Any, int] = {}

    def numbered(outputs: Sequence[Variable], given: Sequence[Variable]) -> list[int]:
        number_of = {v: numbers.setdefault(("in", position), len(numbers)) for position, v in enumerate(given)}

        def number(variable: Variable) -> int:
            found = number_of.get(variable)
            if found is None:
                key = ("const", variable.key) if isinstance(variable, Constant) else ("leaf", variable)
                found = number_of[variable] = numbers.setdefault(key, len(numbers))
            return found

        for node in toposort(outputs, set(given)):
            key = (node.op.canonical, tuple(number(i) for i in node.inputs))
            for index, output in enumerate(node.outputs):
                if output not in number_of:
                    number_of[output] = numbers.setdefault((*key, index), len(numbers))
        return [number(o) for o in outputs]

    return numbered(xs, in_xs) == numbered(ys, in_ys)
