"""The bottom-up driver, for rules that look only downwards.

Each node is made anew over its normalised inputs in a hash-consing table, and rewritten on the spot until no rule fires. A
node whose inputs are normal and on which no rule fires stays so, for its subterms never change: one pass is the equilibrium.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from termgraph.graph.apply import Apply
from termgraph.graph.traversal import toposort
from termgraph.graph.variable import Variable
from termgraph.rewrite.report import Report
from termgraph.rewrite.ruleset import RuleSet
from termgraph.rewrite.session import Session


def normalize(outputs: Sequence[Variable], rules: RuleSet, phase: str = "",
              fresh: bool = False) -> tuple[list[Variable], Report]:
    """`outputs` in normal form, and the report. The graph given is not changed; with `fresh` the result shares no node with
    it, otherwise what no rule touched is shared."""
    start = perf_counter()
    order = toposort(outputs)
    normalizer = Normalizer(Session(rules, len(order), phase), fresh)
    for node in order:
        normalizer.visit(node)
    results = [normalizer.normal_form(o) for o in outputs]
    return results, normalizer.session.finish(len(toposort(results)), perf_counter() - start)


class Normalizer:
    """The state of one bottom-up run.

    Invariants: `normal` maps a variable to its normal form, a variable of the table; `forward` maps each variable whose
    normal form is being computed to the variable whose normal form it will have, so following it is the chain of fires.
    """

    def __init__(self, session: Session, fresh: bool) -> None:
        self.session, self.table, self.fresh = session, session.table, fresh
        self.normal: dict[Variable, Variable] = {}
        self.forward: dict[Variable, Variable] = {}

    def normal_form(self, variable: Variable) -> Variable:
        """The normal form of a variable whose owner was visited, or of a leaf."""
        found = self.normal.get(variable)
        if found is None:
            found = self.normal[variable] = self.table.leaf(variable)
        return found

    def visit(self, node: Apply) -> None:
        """Find the normal forms of the outputs of a node whose inputs have theirs."""
        normal = self.normal
        inputs = []
        for i in node.inputs:
            found = normal.get(i)
            inputs.append(self.normal_form(i) if found is None else found)
        size = len(self.table.nodes)
        rebuilt = self.table.rebuilt(node, inputs, self.fresh)
        if rebuilt is not node and len(self.table.nodes) == size:
            self.session.merges += 1
        for old, new in zip(node.outputs, rebuilt.outputs, strict=True):
            found = normal.get(new)
            if found is None:
                found = self.settle(new)
            normal[old] = found

    def settle(self, variable: Variable) -> Variable:
        """The normal form of a variable of the table whose inputs are normal."""
        if self.session.stopped:
            self.normal[variable] = variable
            return variable
        after = self.session.fire(variable)
        if after is None:
            self.normal[variable] = variable
            return variable
        return self.follow(variable, after)

    def follow(self, variable: Variable, after: Variable) -> Variable:
        """The normal form of `variable`, which has just become `after`: rewrite until nothing fires, with a stack of the
        variables whose normal forms are awaited."""
        normal, forward = self.normal, self.forward
        forward[variable] = after
        stack = [variable, after]
        while stack:
            current = stack[-1]
            if current in normal:
                stack.pop()
                continue
            if current in forward:
                target = forward[current]
                if target in normal:
                    normal[current] = normal[target]
                    del forward[current]
                    stack.pop()
                else:
                    self._await(current, target, stack)
                continue
            self._step(current, stack)
        if self.session.stopped:
            # The last good state: what the rules made of this variable before they were stopped is dropped.
            normal[variable] = variable
        return normal[variable]

    def _step(self, current: Variable, stack: list[Variable]) -> None:
        """Rewrite `current` once, or wait for its inputs, or find it normal."""
        normal = self.normal
        owner = current.owner
        if owner is None:
            normal[current] = self.table.leaf(current)
            return
        pending = [i for i in owner.inputs if i not in normal]
        if pending:
            for i in reversed(pending):
                if not self._await(current, i, stack):
                    return
            return
        inputs = [normal[i] for i in owner.inputs]
        if any(a is not b for a, b in zip(inputs, owner.inputs, strict=True)):
            rebuilt = self.table.rebuilt(owner, inputs)
            self.forward[current] = rebuilt.outputs[current.index or 0]
            return
        if self.session.stopped:
            normal[current] = current
            return
        after = self.session.fire(current)
        if after is None:
            normal[current] = current
        else:
            self.forward[current] = after

    def _await(self, current: Variable, target: Variable, stack: list[Variable]) -> bool:
        """Put `target` on the stack; if it is being computed already, the rules brought it back: stop there."""
        if target not in self.forward:
            stack.append(target)
            return True
        first = stack.index(target)
        self.session.loop([v for v in stack[first:] if v in self.forward])
        self.normal[target] = target
        del self.forward[target]
        return False
