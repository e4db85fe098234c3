"""The bottom-up driver, for rules that look only downwards.

Each node is made anew over its normalised inputs in a hash-consing table, and rewritten on the spot until no rule fires. A
node whose inputs are normal and on which no rule fires stays so, for its subterms never change: one pass is the equilibrium.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

from termgraph.graph.apply import Apply
from termgraph.graph.collector import collector_paused
from termgraph.graph.symbol import CONSTANT
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
    outputs = list(outputs)
    results: list[Variable] = []
    session = Session(rules, phase, count_nodes=lambda: (len(toposort(outputs)), len(toposort(results))))
    with collector_paused():
        normalizer = Normalizer(session, fresh)
        normalizer.walk(outputs)
        results.extend(normalizer.normal_form(o) for o in outputs)
    session.report.seconds = perf_counter() - start
    return results, session.report


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

    def walk(self, outputs: Sequence[Variable]) -> None:
        """Visit every node below `outputs`, inputs first.

        This is the loop that every node of every graph goes through, so it is written for speed: a node nothing happens to
        costs a few dictionary operations and one call of its generated matcher. All else is in methods.
        """
        normal, nodes, index = self.normal, self.table.nodes, self.session.matchers.index
        context, session, fresh, leaf = self.session.context, self.session, self.fresh, self.table.leaf
        renewed, twin = self.table.renewed, self.table.twin
        searched = bool(session.searched)
        visited = 0
        for output in outputs:
            stack = [output.owner] if output.owner is not None and output not in normal else []
            while stack:
                node: Any = stack[-1]
                inputs = node.inputs
                variable = node.outputs[0]
                if variable in normal:
                    stack.pop()
                    continue
                # One and two inputs, which nearly all nodes have, are written out: no list, no loop.
                if len(inputs) == 2:
                    a, b = inputs
                    x = normal.get(a)
                    if x is None:
                        if a.owner is not None:
                            stack.append(a.owner)
                            continue
                        x = normal[a] = leaf(a) if a.symbol is CONSTANT else a
                    y = normal.get(b)
                    if y is None:
                        if b.owner is not None:
                            stack.append(b.owner)
                            continue
                        y = normal[b] = leaf(b) if b.symbol is CONSTANT else b
                    key: tuple[Any, ...] = (variable.symbol, x, y)
                    same = x is a and y is b
                    typed = same or (x.type is a.type and y.type is b.type)
                elif len(inputs) == 1:
                    (a,) = inputs
                    x = normal.get(a)
                    if x is None:
                        if a.owner is not None:
                            stack.append(a.owner)
                            continue
                        x = normal[a] = leaf(a) if a.symbol is CONSTANT else a
                    key = (variable.symbol, x)
                    same = x is a
                    typed = same or x.type is a.type
                else:
                    waited = next((i for i in inputs if i not in normal and i.owner is not None), None)
                    if waited is not None:
                        stack.append(waited.owner)
                        continue
                    key = (variable.symbol, *map(self.normal_form, inputs))
                    same = list(key[1:]) == inputs
                    typed = same
                stack.pop()
                visited += 1
                if len(node.outputs) != 1:
                    self.visit(node)
                    continue
                made: Any = nodes.get(key)
                if made is not None:
                    session.merges += 1
                    normal[variable] = normal[made] if made in normal else self.settle(made)
                    continue
                if same and not fresh:
                    made = variable
                else:
                    made = twin(node, variable, list(key[1:])) if typed else renewed(node, list(key[1:]))
                    if made in normal:
                        normal[variable] = normal[made]
                        continue
                nodes[key] = made
                symbol = key[0]
                try:
                    match = index[symbol]
                except KeyError:
                    match = session.matchers.function_for(symbol)
                hit = match(made, made.owner.inputs, context) if match is not None else None
                if hit is not None or searched:
                    session.size = visited
                    normal[variable] = self._hit(made, hit)
                else:
                    normal[made] = normal[variable] = made
        session.size = visited

    def _hit(self, variable: Variable, hit: Any) -> Variable:
        """The normal form of `variable`, for which the matcher has just given `hit`, or nothing and there are rules to
        search."""
        session = self.session
        after = None
        if not session.stopped:
            after = session.search(variable) if hit is None else session.accept(variable, session.entries[hit[0]][0], hit[1])
        if after is None:
            result = variable
        elif after in self.normal:
            result = self.normal[after]
        else:
            return self.follow(variable, after)
        self.normal[variable] = result
        return result

    def visit(self, node: Apply) -> None:
        """Find the normal forms of the outputs of a node whose inputs have theirs, in general."""
        normal = self.normal
        inputs = [normal[i] for i in node.inputs]
        size = len(self.table.nodes)
        rebuilt = self.table.rebuilt(node, inputs, self.fresh)
        if rebuilt is not node.outputs and len(self.table.nodes) == size:
            self.session.merges += 1
        for old, new in zip(node.outputs, rebuilt, strict=True):
            found = normal.get(new)
            normal[old] = self.settle(new) if found is None else found

    def settle(self, variable: Variable) -> Variable:
        """The normal form of a variable of the table whose inputs are normal."""
        after = None if self.session.stopped else self.session.fire(variable)
        if after is None:
            self.normal[variable] = variable
            return variable
        return self.follow(variable, after)

    def follow(self, variable: Variable, after: Variable) -> Variable:
        """The normal form of `variable`, which has just become `after`: rewrite until nothing fires, with a stack of the
        variables whose normal forms are awaited."""
        normal, forward = self.normal, self.forward
        forward[variable] = after
        stack = [variable]
        while stack:
            current = stack[-1]
            if current in normal:
                stack.pop()
            elif current in forward:
                target = forward[current]
                if target in normal:
                    normal[current] = normal[target]
                    del forward[current]
                    stack.pop()
                else:
                    self._await(target, stack)
            else:
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
                if not self._await(i, stack):
                    return
            return
        inputs = [normal[i] for i in owner.inputs]
        if inputs != owner.inputs:
            self.forward[current] = self.table.rebuilt(owner, inputs)[current.index or 0]
            return
        after = None if self.session.stopped else self.session.fire(current)
        if after is None:
            normal[current] = current
        else:
            self.forward[current] = after

    def _await(self, target: Variable, stack: list[Variable]) -> bool:
        """Put `target` on the stack; if it is being computed already, the rules brought it back: stop there."""
        if target not in self.forward:
            stack.append(target)
            return True
        first = stack.index(target)
        self.session.loop([v for v in stack[first:] if v in self.forward])
        self.normal[target] = target
        del self.forward[target]
        return False
