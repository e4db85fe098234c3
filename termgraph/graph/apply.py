"""Apply: one application of an Op to inputs, giving outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from termgraph.errors import GraphTypeError
from termgraph.graph.trace import Trace
from termgraph.graph.variable import Variable

if TYPE_CHECKING:
    from termgraph.graph.op import Op
    from termgraph.graph.type import Type


class Apply:
    """An Op applied to inputs.

    Invariants: every input and output is a Variable; `outputs[i].owner is self` and `outputs[i].index == i`. The inputs of
    a node change only through a FunctionGraph, which keeps its clients in step.
    """

    __slots__ = ("__weakref__", "inputs", "op", "outputs", "trace")

    op: Op
    inputs: list[Any]
    outputs: list[Any]
    trace: Trace | None

    def __init__(self, op: Op, inputs: Sequence[Variable], outputs: Sequence[Variable]) -> None:
        if not isinstance(inputs, Sequence) or not isinstance(outputs, Sequence):
            raise GraphTypeError(f"Apply({op}) takes sequences of inputs and outputs, "
                                 f"got {type(inputs).__name__} and {type(outputs).__name__}.")
        self.op = op
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self.trace = None
        for position, variable in enumerate(self.inputs):
            if not isinstance(variable, Variable):
                raise GraphTypeError(f"input {position} of Apply({op}) must be a Variable, "
                                     f"got {type(variable).__name__} {variable!r:.60}.")
        for index, variable in enumerate(self.outputs):
            if not isinstance(variable, Variable):
                raise GraphTypeError(f"output {index} of Apply({op}) must be a Variable, "
                                     f"got {type(variable).__name__} {variable!r:.60}.")
            if variable.owner is not None and variable.owner is not self:
                raise GraphTypeError(f"output {index} of Apply({op}) already belongs to {variable.owner}.")
            variable.owner = self
            variable.index = index
            variable.symbol = op.symbol_of(index, len(self.outputs))

    @classmethod
    def trusted(cls, op: Op, inputs: list[Any], types: Sequence[Type], trace: Trace | None) -> Apply:
        """An Apply from parts already known to fit together: what the engine uses, at about a microsecond."""
        node = cls.__new__(cls)
        node.op, node.inputs, node.trace = op, inputs, trace
        if len(types) == 1:
            (output_type,) = types
            variable = output_type.variable_type(output_type, node, 0)
            variable.symbol = op.symbol
            node.outputs = [variable]
            return node
        outputs: list[Any] = []
        for index, output_type in enumerate(types):
            variable = output_type.variable_type(output_type, node, index)
            variable.symbol = op.symbol_of(index, len(types))
            outputs.append(variable)
        node.outputs = outputs
        return node

    def __getstate__(self) -> dict[str, Any]:
        return {"op": self.op, "inputs": self.inputs, "outputs": self.outputs}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.op, self.inputs, self.outputs, self.trace = state["op"], state["inputs"], state["outputs"], None
        for index, output in enumerate(self.outputs):
            output.symbol = self.op.symbol_of(index, len(self.outputs))

    @property
    def nin(self) -> int:
        """Number of inputs."""
        return len(self.inputs)

    @property
    def nout(self) -> int:
        """Number of outputs."""
        return len(self.outputs)

    @property
    def out(self) -> Any:
        """The output a call of the Op returns; raises ValueError where there are several and no default."""
        return self.default_output()

    def default_output(self) -> Any:
        """The output a call of the Op returns; raises ValueError where there are several and no default."""
        default = self.op.default_output
        if default is None:
            if len(self.outputs) != 1:
                raise ValueError(f"{self.op} has {len(self.outputs)} outputs and no default_output.")
            return self.outputs[0]
        return self.outputs[default]

    def clone(self, clone_inner_graph: bool = False) -> Apply:
        """A new node with the same op and inputs and new outputs."""
        return self.clone_with_new_inputs(self.inputs, strict=False)

    def clone_with_new_inputs(self, inputs: Sequence[Variable], strict: bool = True) -> Apply:
        """The same op applied to other inputs.

        With `strict`, an input whose type differs is converted to the old type where it can be (GraphTypeError where it
        cannot); otherwise the op makes a new node for it.
        """
        inputs = list(inputs)
        same = True
        for position, (new, old) in enumerate(zip(inputs, self.inputs, strict=True)):
            if new is not old and new.type != old.type:
                if strict:
                    inputs[position] = old.type.filter_variable(new)
                same = same and inputs[position].type == old.type
        if same:
            node = Apply.trusted(self.op, inputs, [o.type for o in self.outputs], self.trace)
        else:
            node = self.op.make_node(*inputs)
            node.trace = self.trace
        for new, old in zip(node.outputs, self.outputs, strict=True):
            new.name = old.name
        return node

    def get_parents(self) -> list[Any]:
        """The inputs."""
        return list(self.inputs)

    def __str__(self) -> str:
        return f"{self.op}({', '.join(str(i) for i in self.inputs)})"

    def __repr__(self) -> str:
        return str(self)
