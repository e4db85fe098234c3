"""From the ingredients of a function to the graph that is run: rewriting, protection, copies."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from termgraph.compile.copies import insert_copies
from termgraph.compile.io import In, Out
from termgraph.compile.mode import Mode, Phase
from termgraph.compile.vm import VM
from termgraph.graph.aliasing import check_destroyed
from termgraph.graph.apply import Apply
from termgraph.graph.fgraph import FunctionGraph
from termgraph.graph.op import StorageMap
from termgraph.graph.shared import SharedVariable
from termgraph.graph.traversal import toposort
from termgraph.graph.variable import Variable
from termgraph.rewrite import Report, RuleSet, equilibrate, normalize


@dataclass
class Ingredients:
    """What `function` was asked for, in one form: every input an In, every output an Out, givens already substituted and
    default updates already among the updates. It is what is pickled, and what a copy starts from."""

    inputs: list[In]
    outputs: list[Out]
    #: how results are returned: "single", "list", or the keys of a dict
    form: str | tuple[Any, ...]
    updates: list[tuple[SharedVariable, Variable]]
    mode: Mode
    name: str | None = None
    trust_input: bool = False

    @property
    def input_updates(self) -> list[In]:
        """The inputs with an update."""
        return [i for i in self.inputs if i.update is not None]

    def expressions(self) -> list[Variable]:
        """All that is to be computed: the outputs, the new values of shared variables, those of updated inputs."""
        return [*(o.variable for o in self.outputs), *(e for _, e in self.updates),
                *(i.update for i in self.inputs if i.update is not None)]


def rewrite_graph_for(fgraph_inputs: Sequence[Variable], outputs: Sequence[Variable],
                      mode: Mode) -> tuple[list[Variable], list[Report]]:
    """What the mode's context-free phases make of `outputs`, as a graph of its own, and one report for each phase.

    Inputs, constants and shared variables are the same variables as before.
    """
    first = mode.phases[0].rules if mode.phases and not mode.phases[0].rules.contextual else RuleSet()
    reports = []
    # The first phase makes every node anew, so that what comes later may change the graph without touching the user's.
    phases = list(context_free(mode))
    outputs, report = normalize(outputs, first, phases[0].name if phases else "", fresh=True)
    if phases:
        reports.append(report)
    for phase in phases[1:]:
        outputs, report = normalize(outputs, phase.rules, phase.name)
        reports.append(report)
    for report in reports:
        warn_if_stopped(report)
    return list(outputs), reports


def context_free(mode: Mode) -> Iterator[Phase]:
    """The phases before the first that asks about the graph around a term."""
    return takewhile(lambda phase: not phase.rules.contextual, mode.phases)


def rewrite_fgraph(fgraph: FunctionGraph, mode: Mode, protected: Sequence[Variable] = ()) -> list[Report]:
    """Apply to `fgraph` the phases that are left; one report for each. The memory of `protected` is not overwritten."""
    reports = []
    for phase in mode.phases[len(list(context_free(mode))):]:
        report = equilibrate(fgraph, phase.rules, phase.name, protected)
        warn_if_stopped(report)
        reports.append(report)
    return reports


def warn_if_stopped(report: Report) -> None:
    """Rules that loop or grow leave a graph that is right but not in normal form: a warning names them."""
    if report.error is not None:
        warnings.warn(str(report.error), RuntimeWarning, stacklevel=2)


def leaves_of(order: Sequence[Apply], expressions: Sequence[Variable],
              inputs: Collection[Variable]) -> dict[Variable, Apply | None]:
    """The variables without owner, and those of `inputs`, that the nodes in `order` or `expressions` read, each with the
    first node that reads it (None where none does)."""
    leaves: dict[Variable, Apply | None] = {}
    for node in order:
        for variable in node.inputs:
            if variable.owner is None or variable in inputs:
                leaves.setdefault(variable, node)
    for variable in expressions:
        if variable.owner is None or variable in inputs:
            leaves.setdefault(variable, None)
    return leaves


class FunctionMaker:
    """The compiled graph of a function, from which storage and thunks are made as often as needed.

    Its outputs are the user's outputs followed by the new values of shared variables and of updated inputs.
    """

    def __init__(self, ingredients: Ingredients) -> None:
        self.ingredients = ingredients
        self.mode, self.name = ingredients.mode, ingredients.name
        self.inputs, self.outputs = ingredients.inputs, ingredients.outputs
        explicit = [i.variable for i in self.inputs]
        expressions = ingredients.expressions()
        leaves = leaves_of(toposort(expressions, set(explicit)), expressions, set(explicit))
        used = [v for v in leaves if isinstance(v, SharedVariable)]
        self.shared: list[SharedVariable] = list(dict.fromkeys([*used, *(s for s, _ in ingredients.updates)]))
        fgraph_inputs = [*explicit, *self.shared]
        rewritten, self.reports = rewrite_graph_for(fgraph_inputs, expressions, self.mode)
        self.fgraph = FunctionGraph(fgraph_inputs, rewritten, clone=False, update_mapping=self._update_mapping(fgraph_inputs))
        self.reports = [*self.reports, *rewrite_fgraph(self.fgraph, self.mode)]
        mutable = {i.variable for i in self.inputs if i.mutable}
        check_destroyed(self.fgraph, [v for v in fgraph_inputs if v not in mutable])
        insert_copies(self.fgraph, self.inputs, self.outputs)

    def _update_mapping(self, fgraph_inputs: Sequence[Variable]) -> dict[int, int]:
        position = {v: i for i, v in enumerate(fgraph_inputs)}
        targets = [*(s for s, _ in self.ingredients.updates), *(i.variable for i in self.ingredients.input_updates)]
        return {len(self.outputs) + k: position[v] for k, v in enumerate(targets)}

    def make_vm(self) -> VM:
        """Fresh storage and thunks; the cells of shared variables and implicit inputs are those of their containers."""
        storage: StorageMap = {s: s.container.storage for s in self.shared}
        storage.update((i.variable, i.container.storage) for i in self.inputs if i.implicit and i.container is not None)
        return VM(self.fgraph, storage)

    def update_targets(self) -> list[list[Any]]:
        """The cells that the last outputs replace after a call."""
        containers = [*(s.container for s, _ in self.ingredients.updates),
                      *(i.container for i in self.ingredients.input_updates)]
        return [c.storage for c in containers if c is not None]
