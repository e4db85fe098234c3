"""dprint: a graph as a tree of lines, one for each node, with shared nodes drawn once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from termgraph.graph.apply import Apply
from termgraph.graph.fgraph import FunctionGraph
from termgraph.graph.op import Op
from termgraph.graph.variable import Variable
from termgraph.printing.graph_like import fgraph_of, outputs_of

#: Branches are drawn for this many levels. A deeper line starts with its level instead of the outermost branches: with them
#: the text of a chain would grow with the square of its length.
DRAWN_LEVELS = 40
_LEVEL_WIDTH = 3


def dprint(graph_like: Any, depth: int = -1, print_type: bool = False, print_shape: bool = False, file: Any = None,
           id_type: str = "CHAR", stop_on_name: bool = False, done: dict[Apply, str] | None = None,
           used_ids: dict[Any, str] | None = None, print_op_info: bool = False, print_destroy_map: bool = False,
           print_view_map: bool = False, print_topo_order: bool = True, print_inner_graphs: bool = True) -> Any:
    """Print a graph as a tree: a node above what it is computed from.

    A node is told by its id; where one comes up again it is shown with ` ···` and not expanded. The nodes of a FunctionGraph
    or compiled function also show their position in the order of computation, and functions that an Op holds inside are
    drawn below.

    >>> import termgraph.tensor as tt
    >>> x = tt.vector("x")
    >>> y = tt.exp(x)
    >>> dprint(y / (y + 2.0))
    True_div [id A]
     ├─ Exp [id B]
     │  └─ x [id C]
     └─ Add [id D]
        ├─ Exp [id B] ···
        └─ ExpandDims{axes=[0]} [id E]
           └─ 2.0 [id F]

    Parameters
    ----------
    graph_like : Variable, Apply, FunctionGraph, compiled function, or a sequence of these
    depth : number of levels to show, all of them if negative
    print_type, print_shape : whether to show the type and the static shape of each variable
    file : a text file to write to, None for standard output, "str" to get the text
    id_type : "CHAR" for letters, "int" for numbers, "id" for Python's `id`, "" for none
    stop_on_name : whether variables with a name are left unexpanded
    done, used_ids : the nodes already expanded and the ids already given; pass the same dictionaries to several calls to
        have them speak of the same ids
    print_op_info : whether to show the parameters (`__props__`) of each Op
    print_destroy_map, print_view_map : whether to show which inputs an Op overwrites (d=) and which its outputs may share
        memory with (v=)
    print_topo_order : whether to number the nodes of a FunctionGraph or compiled function
    print_inner_graphs : whether to draw the graphs that Ops hold inside

    Returns the text for `file="str"`, the file where one was given, else None. Raises GraphTypeError where `graph_like` is
    none of these, ValueError for an unknown `id_type`.
    """
    if id_type not in ("CHAR", "int", "id", ""):
        raise ValueError(f'id_type must be "CHAR", "int", "id" or "", got {id_type!r}.')
    printer = _Printer(depth, print_type, print_shape, id_type, stop_on_name, print_op_info, print_destroy_map,
                       print_view_map, print_inner_graphs, {} if done is None else done, {} if used_ids is None else used_ids)
    outputs = outputs_of(graph_like)
    if print_topo_order:
        printer.number(graph_like)
    if file == "str":
        return "\n".join(printer.lines(outputs))
    target = sys.stdout if file is None else file
    for line in printer.lines(outputs):
        target.write(line + "\n")
    return file


debugprint = dprint


@dataclass
class _Printer:
    depth: int
    print_type: bool
    print_shape: bool
    id_type: str
    stop_on_name: bool
    print_op_info: bool
    print_destroy_map: bool
    print_view_map: bool
    print_inner_graphs: bool
    done: dict[Apply, str]
    ids: dict[Any, str]
    position: dict[Apply, int] = field(default_factory=dict)
    inner: dict[Op, Apply] = field(default_factory=dict)

    def number(self, graph_like: Any) -> None:
        """Remember the positions of the nodes of each FunctionGraph in `graph_like`."""
        for item in graph_like if isinstance(graph_like, (list, tuple)) else [graph_like]:
            fgraph = fgraph_of(item)
            if fgraph is not None:
                self.position.update((node, i) for i, node in enumerate(fgraph.toposort()))

    def lines(self, outputs: list[Variable]) -> Iterator[str]:
        """The lines for `outputs`, then those of the inner graphs found on the way."""
        for output in outputs:
            yield from self.tree(output)
        drawn = 0
        while drawn < len(self.inner):
            op, node = list(self.inner.items())[drawn]
            yield from ["", "Inner graphs:", ""] if drawn == 0 else [""]
            yield f"{op}{self.id_of(node)}"
            for output in _inner_graph(op).outputs:  # type: ignore[union-attr]
                yield from self.tree(output, " ← ", " " * _LEVEL_WIDTH)
            drawn += 1

    def tree(self, root: Variable, branch: str = "", indent: str = "") -> Iterator[str]:
        """One line for each variable under `root`, in the order a reader of trees expects."""
        stack = [(root, branch, indent, 0)] if self.depth else []
        while stack:
            variable, branch, indent, level = stack.pop()
            inputs = self.inputs_to_show(variable, level)
            again = bool(inputs) and variable.owner in self.done
            lead = f"{level}:{branch}" if level > DRAWN_LEVELS else branch
            yield f"{lead}{self.line(variable)}{' ···' if again else ''}"
            if again or not inputs:
                continue
            node = variable.owner
            self.done[node] = self.ids[node]  # type: ignore[index]
            for i in reversed(range(len(inputs))):
                last = i == len(inputs) - 1
                inside = indent + ("   " if last else " │ ")
                stack.append((inputs[i], indent + (" └─ " if last else " ├─ "), inside[-_LEVEL_WIDTH * DRAWN_LEVELS:],
                              level + 1))

    def inputs_to_show(self, variable: Variable, level: int) -> list[Variable]:
        """The variables to be drawn below `variable`."""
        if variable.owner is None or level + 1 == self.depth or (self.stop_on_name and variable.name is not None):
            return []
        return variable.owner.inputs

    def id_of(self, thing: Any) -> str:
        """` [id A]` for a node or a variable without one."""
        found = self.ids.get(thing)
        if found is None:
            count = len(self.ids)
            found = {"CHAR": letters(count), "int": str(count), "id": str(id(thing)), "": ""}[self.id_type]
            self.ids[thing] = found
        return f" [id {found}]" if found else ""

    def line(self, variable: Variable) -> str:
        """The text about one variable."""
        node = variable.owner
        if node is None:
            return f"{variable}{self.id_of(variable)}{self.type_of(variable)}"
        op = node.op
        parts = [f"{op}.{variable.index}" if len(node.outputs) > 1 else str(op), self.id_of(node), self.type_of(variable)]
        if variable.name is not None:
            parts.append(f" '{variable.name}'")
        if self.print_op_info:
            parts.append(f" {_parameters(op)}")
        if self.print_destroy_map and op.destroy_map:
            parts.append(f" d={op.destroy_map}")
        if self.print_view_map and op.view_map:
            parts.append(f" v={op.view_map}")
        if node in self.position:
            parts.append(f" {self.position[node]}")
        if self.print_inner_graphs and op not in self.inner and _inner_graph(op) is not None:
            self.inner[op] = node
        return "".join(parts)

    def type_of(self, variable: Variable) -> str:
        """The type and the static shape, as far as they are asked for."""
        text = f" <{variable.type}>" if self.print_type else ""
        shape = getattr(variable.type, "shape", None)
        if self.print_shape and shape is not None:
            lengths = ", ".join("?" if s is None else str(s) for s in shape) + ("," if len(shape) == 1 else "")
            text += f" shape=({lengths})"
        return text


def letters(count: int) -> str:
    """The name of number `count` in A, B, ..., Z, AA, AB, ..."""
    text = ""
    count += 1
    while count:
        count, digit = divmod(count - 1, 26)
        text = chr(ord("A") + digit) + text
    return text


def _inner_graph(op: Op) -> FunctionGraph | None:
    inner = getattr(op, "fgraph", None)
    return inner if isinstance(inner, FunctionGraph) else None


def _parameters(op: Op) -> str:
    props = op.props_dict() if hasattr(op, "__props__") else {}
    return f"{type(op).__name__}({', '.join(f'{k}={v!r}' for k, v in props.items())})"
