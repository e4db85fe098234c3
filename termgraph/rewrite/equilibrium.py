"""The worklist driver, for rules that ask about the graph around a term: it rewrites a FunctionGraph in place.

After the first look at the nodes whose head some rule can match, only what a change touched is looked at again. Equal
nodes are merged at every change, so equality inside the graph is identity.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from time import perf_counter
from typing import Any

from termgraph.graph.apply import Apply
from termgraph.graph.collector import collector_paused
from termgraph.graph.fgraph import Feature, FunctionGraph, Output
from termgraph.graph.variable import Constant, Variable
from termgraph.rewrite.report import Report
from termgraph.rewrite.ruleset import RuleSet
from termgraph.rewrite.session import Session
from termgraph.rewrite.view import GraphView


def equilibrate(fgraph: FunctionGraph, rules: RuleSet, phase: str = "", protected: Iterable[Variable] = ()) -> Report:
    """Rewrite `fgraph` until no rule fires; the report. `protected` are variables whose memory must not be overwritten,
    besides inputs, constants and outputs.

    A fire that raises leaves the graph as it was before that fire.
    """
    start = perf_counter()
    before = len(fgraph.apply_nodes)
    sizes = [before, before]
    session = Session(rules, phase, count_nodes=lambda: (sizes[0], sizes[1]))
    session.size, session.visits = before, Counter()
    with collector_paused():
        Equilibrium(fgraph, session, protected).run()
    sizes[1] = len(fgraph.apply_nodes)
    session.report.seconds = perf_counter() - start
    return session.report


class Losses(Feature):
    """Notes the variables that lose a reader while the graph changes."""

    def __init__(self) -> None:
        self._noted: dict[Variable, None] = {}

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: str | None) -> None:
        self._noted.update(dict.fromkeys(node.inputs))

    def taken(self) -> list[Variable]:
        """The variables noted since the last call."""
        noted = list(self._noted)
        self._noted.clear()
        return noted


def _term_key(variable: Variable) -> Any:
    """Equal for equal terms over the same variables of the graph: a node made again is not the same Variable."""
    return variable if variable.owner is None else (variable.symbol, *variable.owner.inputs)


class Equilibrium:
    """The state of one run.

    Invariants, between fires: `nodes` maps (symbol, *inputs) to the variable of the graph with these, and no two
    nodes have the same op and inputs; every node a rule could fire on is in the queue; `places` holds, for
    each variable that replaced another, the terms that stood in its place before.
    """

    def __init__(self, fgraph: FunctionGraph, session: Session, protected: Iterable[Variable]) -> None:
        self.fgraph, self.session = fgraph, session
        # Nodes that rules make are interned together with those of the graph.
        self.nodes = session.table.nodes
        self.view = session.context.graph = GraphView(fgraph, session.table, {*fgraph.inputs, *protected})
        #: Whether a node of the graph overwrites an input of its own.
        self.overwriting = any(node.op.destroy_map for node in self.view.rank)
        self.losses = Losses()
        fgraph.attach_feature(self.losses)
        self.queue: deque[Apply] = deque()
        self.queued: set[Apply] = set()
        self.places: dict[Variable, dict[Any, Variable]] = {}

    def run(self) -> None:
        """Rewrite to equilibrium, or until the session stops."""
        for node in list(self.view.rank):
            if node not in self.fgraph.apply_nodes:  # merged into another on the way
                continue
            self._constants(node)
            if not self._merge(node):
                self.enqueue(node)
        try:
            while self.queue and not self.session.stopped:
                node = self.queue.popleft()
                self.queued.discard(node)
                if node in self.fgraph.apply_nodes:
                    self._rewrite(node)
        finally:
            self.fgraph.remove_feature(self.losses)

    def enqueue(self, node: Apply) -> None:
        """Look at `node` (again), if a rule can match its head."""
        if node in self.queued or isinstance(node.op, Output):
            return
        matchers = self.session.matchers
        if self.session.rules.searched or any(matchers.function_for(o.symbol) is not None for o in node.outputs):
            self.queued.add(node)
            self.queue.append(node)

    def _rewrite(self, node: Apply) -> None:
        for output in list(node.outputs):
            if output not in self.fgraph or not self.fgraph.get_clients(output):
                continue
            after = self.session.fire(output)
            if after is None:
                continue
            places = self.places.pop(output, {})
            places[_term_key(output)] = output
            if _term_key(after) in places:
                terms = list(places.values())
                self.session.loop(terms[list(places).index(_term_key(after)):])
                return
            if self._depends(after, output):
                self.session.loop([output])
                return
            if self.overwriting and not self._memory_allows(output, after):
                self.session.withdraw()
                self.places[output] = places
                continue
            self.replace(output, after)
            self.places[after] = places
            return

    def _memory_allows(self, output: Variable, after: Variable) -> bool:
        """Whether `after` may stand for `output` in a graph where nodes overwrite memory: nobody overwrites that of `output`,
        and no new node reads what somebody overwrites, unless the node it replaces read it as well."""
        if self.view.overwritten(output):
            return False
        own = set(output.owner.inputs)  # type: ignore[union-attr]
        stack = [after]
        while stack:
            variable = stack.pop()
            if variable in self.fgraph or variable.owner is None:
                if variable not in own and variable in self.fgraph and self.view.overwritten(variable):
                    return False
            else:
                stack.extend(variable.owner.inputs)
        return True

    def _depends(self, after: Variable, output: Variable) -> bool:
        """Whether `after` is computed from `output`, which it is to replace: nodes that come earlier in the order are not."""
        own = self.view.rank[output.owner]  # type: ignore[index]
        stack, seen = [after.owner], set()
        while stack:
            node = stack.pop()
            if node is None or node in seen or self.view.rank.get(node, own) < own:
                continue
            if node is output.owner:
                return True
            seen.add(node)
            stack.extend(i.owner for i in node.inputs)
        return False

    def replace(self, old: Variable, new: Variable) -> None:
        """Let every reader of `old` read `new`, merge what becomes equal, and queue what a rule might now match."""
        rank = self.view.rank
        place = rank.get(old.owner, 0) if old.owner is not None else 0
        pending: list[tuple[Variable, Variable]] = [(old, new)]
        while pending:
            before, after = pending.pop()
            if before not in self.fgraph or before is after:
                continue
            self._admit(after, place)
            clients = [node for node, _ in self.fgraph.get_clients(before) if not isinstance(node.op, Output)]
            for node in clients:
                self._forget(node)
            self.fgraph.replace_unchecked(before, after)
            for node in dict.fromkeys(clients):
                twin = self._twin(node)
                if twin is not None:
                    self.session.merges += 1
                    pending.extend(zip(node.outputs, twin.outputs, strict=True))
                else:
                    self.enqueue(node)
            self._neighbours()
            if before.owner is not None and before.owner not in self.fgraph.apply_nodes:
                self._forget(before.owner)

    def _admit(self, variable: Variable, place: int) -> None:
        """Give the new nodes below `variable` the place of the node they replace, and queue them."""
        stack = [variable.owner]
        while stack:
            node = stack.pop()
            if node is None or (node in self.view.rank and node in self.fgraph.apply_nodes):
                continue
            if node in self.queued:
                continue
            self.view.rank[node] = place
            self.overwriting = self.overwriting or bool(node.op.destroy_map)
            stack.extend(i.owner for i in node.inputs)
            self.enqueue(node)

    def _neighbours(self) -> None:
        """Queue the last readers of variables that have lost one: `sole_client` and `destroyable` may now hold there."""
        rank = self.view.rank
        for variable in self.losses.taken():
            left = self.fgraph.client_count(variable)
            if left and (left == 1 or variable.owner is not None):
                self.enqueue(max((node for node, _ in self.fgraph.latest_clients(variable)), key=lambda n: rank.get(n, -1)))

    # --- merging ------------------------------------------------------------------------------------------------------

    def _forget(self, node: Apply) -> None:
        for output in node.outputs:
            key = (output.symbol, *node.inputs)
            if self.nodes.get(key) is output:
                del self.nodes[key]

    def _twin(self, node: Apply) -> Apply | None:
        """The other node of the graph with the op and inputs of `node`; otherwise `node` is entered in the table."""
        found = None
        for output in node.outputs:
            found = self.nodes.setdefault((output.symbol, *node.inputs), output)
        return None if found is None or found.owner is node else found.owner

    def _merge(self, node: Apply) -> bool:
        twin = self._twin(node)
        if twin is None:
            return False
        self.session.merges += 1
        for before, after in zip(node.outputs, twin.outputs, strict=True):
            self.replace(before, after)
        return True

    def _constants(self, node: Apply) -> None:
        for position, variable in enumerate(node.inputs):
            if isinstance(variable, Constant):
                self.fgraph.change_node_input(node, position, self.session.table.leaf(variable))
