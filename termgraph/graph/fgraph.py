"""FunctionGraph: a graph with fixed inputs and outputs that knows who reads what, and can be changed safely."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from termgraph.errors import GraphTypeError, InconsistentGraphError, MissingInputError
from termgraph.graph.apply import Apply
from termgraph.graph.op import Op
from termgraph.graph.replace import clone_get_equiv
from termgraph.graph.trace import describe
from termgraph.graph.traversal import ancestors, toposort
from termgraph.graph.variable import Constant, Variable

Client = tuple[Apply, int]


class Output(Op):
    """Stands for output `idx` of a FunctionGraph among the clients of a variable; never computed."""

    __props__ = ("idx",)

    def __init__(self, idx: int) -> None:
        self.idx = idx

    def make_node(self, *inputs: Any) -> Apply:
        return Apply(self, list(inputs), [])


class ClientsView(Mapping[Variable, list[Client]]):
    """The clients as the field shows them, lists; kept underneath in dicts, so that one is removed in constant time."""

    def __init__(self, clients: dict[Variable, dict[Client, None]]) -> None:
        self._clients = clients

    def __getitem__(self, variable: Variable) -> list[Client]:
        return list(self._clients[variable])

    def __iter__(self) -> Iterator[Variable]:
        return iter(self._clients)

    def __len__(self) -> int:
        return len(self._clients)


class Feature:
    """Something told of every change of a FunctionGraph. Override what you need."""

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Called when attached; the nodes already there are not announced."""

    def on_detach(self, fgraph: FunctionGraph) -> None:
        """Called when removed."""

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: str | None) -> None:
        """`node` is now part of the graph."""

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: str | None) -> None:
        """`node` is no longer part of the graph."""

    def on_change_input(self, fgraph: FunctionGraph, node: Apply, i: int, var: Variable, new_var: Variable,
                        reason: str | None = None) -> None:
        """Input `i` of `node` was `var` and is `new_var`."""


class FunctionGraph:
    """The graph from `inputs` to `outputs`, with clients kept in step with every change.

    Invariants: `clients[v]` lists exactly the (node, i) with `node.inputs[i] is v`, an `Output` node standing for each
    place among the outputs; a node is in the graph exactly when an output depends on it; every variable without owner
    is an input or a constant (or shared, when `inputs` was None). `replace` keeps them, or raises and changes nothing.

    By default the graph is a copy, so that changing it never touches the user's.

    >>> import termgraph.tensor as tt
    >>> x, y = tt.scalars("x", "y")
    >>> fgraph = FunctionGraph([x, y], [x + y], clone=False)
    >>> fgraph.replace(fgraph.outputs[0], x * y)
    >>> fgraph.toposort()
    [Mul(x, y)]
    """

    def __init__(self, inputs: Sequence[Variable] | None = None, outputs: Sequence[Variable] | None = None,
                 features: Iterable[Feature] = (), clone: bool = True,
                 update_mapping: dict[int, int] | None = None) -> None:
        if outputs is None:
            raise GraphTypeError("a FunctionGraph needs outputs.")
        outputs = list(outputs)
        if inputs is None:
            inputs = [v for v in ancestors(outputs) if v.owner is None and not isinstance(v, Constant)]
        inputs = list(inputs)
        if len(set(inputs)) != len(inputs):
            twice = next(v for v in inputs if inputs.count(v) > 1)
            raise GraphTypeError(f"the input {twice} is given twice.")
        if clone:
            equiv = clone_get_equiv(inputs, outputs, copy_orphans=False)
            inputs, outputs = [equiv[i] for i in inputs], [equiv[o] for o in outputs]
        self.inputs: list[Variable] = inputs
        self.outputs: list[Variable] = []
        #: {output: input} for outputs whose value becomes that of a shared input after a call
        self.update_mapping: dict[int, int] = dict(update_mapping or {})
        self._clients: dict[Variable, dict[Client, None]] = {v: {} for v in inputs}
        self._nodes: dict[Apply, None] = {}
        self._input_set = set(inputs)
        self._features: list[Feature] = []
        for output in outputs:
            self.import_var(output)
            self._add_output(output)
        for feature in features:
            self.attach_feature(feature)

    def _add_output(self, output: Variable) -> None:
        place = Output(len(self.outputs)).make_node(output)
        self.outputs.append(output)
        self._clients[output][place, 0] = None

    @property
    def apply_nodes(self) -> Any:
        """The nodes, a set-like view in order of import."""
        return self._nodes.keys()

    @property
    def variables(self) -> Any:
        """The variables the graph holds, a set-like view."""
        return self._clients.keys()

    @property
    def clients(self) -> Mapping[Variable, list[Client]]:
        """For each variable of the graph, the list of (node, i) that read it."""
        return ClientsView(self._clients)

    def get_clients(self, var: Variable) -> list[Client]:
        """The (node, i) that read `var`."""
        return list(self._clients[var])

    def client_count(self, var: Variable) -> int:
        """How many places read `var`, outputs included; 0 where it is not in the graph. Constant time."""
        return len(self._clients.get(var, ()))

    def latest_clients(self, var: Variable) -> Iterator[Client]:
        """The (node, i) that read `var`, those that came last first, without making a list."""
        return reversed(self._clients[var])

    def attach_feature(self, feature: Feature) -> None:
        """Tell `feature` of every change from now on."""
        if feature not in self._features:
            self._features.append(feature)
            feature.on_attach(self)

    def remove_feature(self, feature: Feature) -> None:
        """Tell `feature` no more."""
        if feature in self._features:
            self._features.remove(feature)
            feature.on_detach(self)

    # --- growth -------------------------------------------------------------------------------------------------------

    def import_var(self, var: Variable, reason: str | None = None) -> None:
        """Bring `var` and all it needs into the graph. Raises MissingInputError, before any change, where that needs an
        input the graph does not have."""
        fresh = self._missing_nodes(var)
        for node in fresh:
            self._nodes[node] = None
            for i, variable in enumerate(node.inputs):
                self._clients.setdefault(variable, {})[node, i] = None
            for output in node.outputs:
                self._clients.setdefault(output, {})
        self._clients.setdefault(var, {})
        for feature in self._features:
            for node in fresh:
                feature.on_import(self, node, reason)

    def _missing_nodes(self, var: Variable) -> list[Apply]:
        """The nodes that `var` needs and the graph has not, in order; raises MissingInputError."""
        if var in self._clients:
            return []
        if var.owner is None:
            self._check_leaf(var, None)
            return []
        order = toposort([var], self._clients)
        for node in order:
            for variable in node.inputs:
                if variable.owner is None and variable not in self._clients:
                    self._check_leaf(variable, node)
        return order

    def _check_leaf(self, variable: Variable, node: Apply | None) -> None:
        if not isinstance(variable, Constant) and variable not in self._input_set:
            raise MissingInputError(variable, node, describe(variable.trace))

    # --- change -------------------------------------------------------------------------------------------------------

    def change_node_input(self, node: Apply, i: int, new_var: Variable, reason: str | None = None) -> None:
        """Let input `i` of `node` (an `Output` node for an output of the graph) be `new_var`, of the same type."""
        old = node.inputs[i]
        if old is new_var:
            return
        if not old.type.is_super(new_var.type):
            raise InconsistentGraphError(f"cannot replace {old} of type {old.type} by {new_var} of type {new_var.type}: "
                                         "a replacement must have the same type.")
        self.import_var(new_var, reason)
        self._set_input(node, i, new_var, reason)
        self._prune(old, reason)

    def _set_input(self, node: Apply, i: int, new_var: Variable, reason: str | None) -> None:
        old = node.inputs[i]
        node.inputs[i] = new_var
        if isinstance(node.op, Output):
            self.outputs[node.op.idx] = new_var
        self._clients[new_var][node, i] = None
        del self._clients[old][node, i]
        for feature in self._features:
            feature.on_change_input(self, node, i, old, new_var, reason)

    def replace(self, var: Variable, new_var: Variable, reason: str | None = None) -> None:
        """Let every reader of `var` read `new_var`.

        Raises InconsistentGraphError where the types differ or a cycle would arise, MissingInputError where `new_var` needs
        an input the graph has not; the graph is then as it was.
        """
        if var is new_var or var not in self._clients:
            return
        if any(v is var for v in ancestors([new_var])):
            raise InconsistentGraphError(f"replacing {var} by {new_var} would make a cycle: {new_var} depends on {var}.")
        self.replace_unchecked(var, new_var, reason)

    def replace_unchecked(self, var: Variable, new_var: Variable, reason: str | None = None) -> list[Client]:
        """`replace` without the search for cycles, in time proportional to the change: for the engine, which builds
        `new_var` only from what `var` was computed from. Returns the places changed."""
        if not var.type.is_super(new_var.type):
            raise InconsistentGraphError(f"cannot replace {var} of type {var.type} by {new_var} of type {new_var.type}: "
                                         "a replacement must have the same type.")
        places = list(self._clients[var])
        if not places:
            return places
        self.import_var(new_var, reason)
        for node, i in places:
            self._set_input(node, i, new_var, reason)
        if new_var.name is None and new_var.owner is not None:
            new_var.name = var.name
        self._prune(var, reason)
        return places

    def replace_all(self, pairs: Iterable[tuple[Variable, Variable]], reason: str | None = None) -> None:
        """`replace` for each pair."""
        for var, new_var in pairs:
            self.replace(var, new_var, reason)

    def _prune(self, var: Variable, reason: str | None) -> None:
        """Remove `var` and what only it needed, if nobody reads it."""
        stack = [var]
        while stack:
            variable = stack.pop()
            if self._clients.get(variable):
                continue
            node = variable.owner
            if node is None:
                if variable not in self._input_set:
                    self._clients.pop(variable, None)
                continue
            if node not in self._nodes or any(self._clients[o] for o in node.outputs):
                continue
            del self._nodes[node]
            for output in node.outputs:
                del self._clients[output]
            for i, source in enumerate(node.inputs):
                del self._clients[source][node, i]
                stack.append(source)
            for feature in self._features:
                feature.on_prune(self, node, reason)

    # --- reading ------------------------------------------------------------------------------------------------------

    def toposort(self) -> list[Apply]:
        """The nodes, each after those it depends on."""
        return toposort(self.outputs, self._input_set)

    def check_integrity(self) -> None:
        """Verify the class's invariants; raises InconsistentGraphError naming the first that is broken."""
        expected: dict[Variable, set[tuple[int, int]]] = {v: set() for v in self.inputs}
        order = self.toposort()
        if set(order) != set(self._nodes):
            raise InconsistentGraphError("the nodes of the graph are not those its outputs depend on.")
        for node in order:
            for output in node.outputs:
                expected.setdefault(output, set())
        for node in order:
            for i, variable in enumerate(node.inputs):
                if variable.owner is None:
                    self._check_leaf(variable, node)
                expected.setdefault(variable, set()).add((id(node), i))
        for variable in self.outputs:
            expected.setdefault(variable, set())
        found = {v: {(id(n), i) for n, i in c if not isinstance(n.op, Output)} for v, c in self._clients.items()}
        for variable in set(found) | set(expected):
            if found.get(variable) != expected.get(variable):
                raise InconsistentGraphError(f"the clients of {variable} are wrong.")
        for position, variable in enumerate(self.outputs):
            places = [n.op.idx for n, _ in self._clients[variable] if isinstance(n.op, Output)]
            if position not in places:
                raise InconsistentGraphError(f"output {position} is not among the clients of {variable}.")

    def clone(self) -> FunctionGraph:
        """A copy that shares only constants."""
        return self.clone_get_equiv()[0]

    def clone_get_equiv(self) -> tuple[FunctionGraph, dict[Any, Any]]:
        """A copy, and the mapping from each old Variable and Apply to its copy."""
        equiv = clone_get_equiv(self.inputs, self.outputs)
        copy = FunctionGraph([equiv[i] for i in self.inputs], [equiv[o] for o in self.outputs], clone=False,
                             update_mapping=self.update_mapping)
        return copy, equiv

    def __contains__(self, item: Variable | Apply) -> bool:
        return item in self._nodes if isinstance(item, Apply) else item in self._clients

    def __repr__(self) -> str:
        return f"FunctionGraph({', '.join(map(str, self.outputs))})"
