"""Walks over graphs. All of them are iterative: no function here recurses over the depth of a graph."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from typing import Any

from termgraph.errors import InconsistentGraphError
from termgraph.graph.apply import Apply
from termgraph.graph.variable import Constant, Variable


def toposort(outputs: Iterable[Variable], blockers: Collection[Variable] = ()) -> list[Apply]:
    """The Applys needed for `outputs`, each after those it depends on, not looking behind `blockers`.

    The order is that of a depth-first walk from the outputs, inputs left to right: the same in every process. Raises
    InconsistentGraphError on a cycle.
    """
    blocked = blockers if isinstance(blockers, (set, frozenset, dict)) else set(blockers)
    order: list[Apply] = []
    done: set[Apply] = set()
    path: set[Apply] = set()  # expanded and not done: the ancestors, in the walk, of the node at hand
    for output in outputs:
        if output.owner is None or output in blocked or output.owner in done:
            continue
        stack = [output.owner]
        while stack:
            node = stack[-1]
            if node in done:
                stack.pop()
                continue
            pending = False
            for variable in reversed(node.inputs):
                owner = variable.owner
                if owner is not None and owner not in done and variable not in blocked:
                    if owner in path:
                        raise InconsistentGraphError(f"the graph has a cycle: {owner} depends on itself.")
                    stack.append(owner)
                    pending = True
            if pending:
                path.add(node)
            else:
                stack.pop()
                path.discard(node)
                done.add(node)
                order.append(node)
    return order


def io_toposort(inputs: Iterable[Variable], outputs: Iterable[Variable]) -> list[Apply]:
    """The Applys between `inputs` and `outputs`, dependencies first."""
    return toposort(outputs, set(inputs))


def walk(nodes: Iterable[Any], expand: Callable[[Any], Iterable[Any] | None],
         bfs: bool = True) -> Generator[Any, None, None]:
    """Each thing reachable from `nodes` through `expand`, once, breadth first or depth first."""
    queue = deque(dict.fromkeys(nodes))
    seen = set(queue)
    while queue:
        item = queue.popleft()
        yield item
        fresh = [n for n in dict.fromkeys(expand(item) or ()) if n not in seen]
        seen.update(fresh)
        if bfs:
            queue.extend(fresh)
        else:
            queue.extendleft(reversed(fresh))


def ancestors(variables: Iterable[Variable],
        blockers: Collection[Variable] | None = None) -> Generator[Variable, None, None]:
    """`variables` and all they depend on, not looking behind `blockers`."""
    blocked = set(blockers or ())

    def expand(variable: Variable) -> Sequence[Variable] | None:
        return variable.owner.inputs if variable.owner is not None and variable not in blocked else None

    yield from walk(variables, expand, bfs=False)


variable_ancestors = ancestors


def apply_ancestors(variables: Iterable[Variable],
        blockers: Collection[Variable] | None = None) -> Generator[Apply, None, None]:
    """The Applys that `variables` depend on, dependencies first."""
    yield from toposort(variables, blockers or ())


def graph_inputs(variables: Iterable[Variable],
        blockers: Collection[Variable] | None = None) -> Generator[Variable, None, None]:
    """The variables without owner (constants included) and the blockers that `variables` depend on."""
    blocked = set(blockers or ())
    yield from (v for v in ancestors(variables, blocked) if v.owner is None or v in blocked)


def explicit_graph_inputs(variables: Iterable[Variable]) -> Generator[Variable, None, None]:
    """The graph inputs that a function of `variables` has to be given: neither constant nor shared."""
    yield from (v for v in graph_inputs(variables) if not isinstance(v, Constant) and not hasattr(v, "container"))


def applys_between(inputs: Collection[Variable], outputs: Iterable[Variable]) -> Generator[Apply, None, None]:
    """The Applys between two sets of variables, dependencies first."""
    yield from toposort(outputs, set(inputs))


def vars_between(inputs: Collection[Variable], outputs: Iterable[Variable]) -> Generator[Variable, None, None]:
    """The variables between two sets of variables, both included."""
    yield from ancestors(outputs, set(inputs))


def variable_depends_on(variable: Variable, depends_on: Variable | Collection[Variable]) -> bool:
    """Whether `variable` is, or is computed from, one of `depends_on`."""
    targets = {depends_on} if isinstance(depends_on, Variable) else set(depends_on)
    return any(v in targets for v in ancestors([variable]))
