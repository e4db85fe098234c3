"""rewrite_graph: apply rules to a graph and say what happened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from termgraph.graph.fgraph import FunctionGraph
from termgraph.graph.replace import clone_get_equiv
from termgraph.graph.traversal import graph_inputs
from termgraph.graph.variable import Constant, Variable
from termgraph.rewrite.equilibrium import equilibrate
from termgraph.rewrite.normalize import normalize
from termgraph.rewrite.report import Report
from termgraph.rewrite.ruleset import RuleSet


def rewrite_graph(outputs: Variable | Sequence[Variable], rules: Any, phase: str = "") -> tuple[Any, Report]:
    """`outputs` rewritten by `rules` until none fires, and the report.

    `outputs` is a Variable or a list of them, and so is the result; the graph given is not changed. `rules` is a rule, a
    RuleSet, a plain relation, or a sequence of these; rules of several phases are applied phase by phase. A term that the
    rules bring back stops the rewriting: then `report.stop_reason` is "loop", `report.error` names the rules and the term,
    and the result is the last good state.

    Raises RuleExecutionError where a goal or a constructor of a rule raises.

    >>> import termgraph as tg, termgraph.tensor as tt
    >>> x, y = tt.vectors("x", "y")
    >>> new, report = rewrite_graph(x * y / y, rules=[tg.rules.cancel_factor])
    >>> new is x, report.stop_reason, report.rules["cancel_factor"].fires
    (True, 'equilibrium', 1)
    """
    several = not isinstance(outputs, Variable)
    wanted = [outputs] if isinstance(outputs, Variable) else list(outputs)
    for position, output in enumerate(wanted):
        if not isinstance(output, Variable):
            raise TypeError(f"output {position} must be a Variable, got {type(output).__name__} {output!r:.60}.")
    ruleset = rules if isinstance(rules, RuleSet) else RuleSet(rules if isinstance(rules, Iterable) else [rules])
    groups = ruleset.by_phase()
    reports = []
    for name, group in groups.items() or [(phase, ruleset)]:
        wanted, report = _rewrite(wanted, group, name if len(groups) > 1 else phase)
        reports.append(report)
    return (wanted if several else wanted[0]), reports[0] if len(reports) == 1 else Report.joined(reports)


def _rewrite(outputs: list[Variable], rules: RuleSet, phase: str) -> tuple[list[Variable], Report]:
    if not rules.contextual:
        return normalize(outputs, rules, phase)
    inputs = [v for v in graph_inputs(outputs) if not isinstance(v, Constant)]
    # The user's graph must stay as it is: the driver works on a copy over the same inputs.
    copies = clone_get_equiv(inputs, outputs, copy_inputs=False, copy_orphans=False)
    fgraph = FunctionGraph(inputs, [copies[o] for o in outputs], clone=False)
    report = equilibrate(fgraph, rules, phase)
    return list(fgraph.outputs), report
