"""pprint: a graph as one line of mathematics."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from termgraph.graph.apply import Apply
from termgraph.graph.op import Op
from termgraph.graph.variable import Constant, Variable
from termgraph.printing.graph_like import outputs_of
from termgraph.sparse.dot import StructuredDot, Transpose, TrueDot
from termgraph.tensor.dimshuffle import DimShuffle
from termgraph.tensor.elementwise import Elemwise
from termgraph.tensor.indexing import Slice, fill_template
from termgraph.tensor.linear import Dot, MatMul
from termgraph.tensor.reduction import Argmax, Argmin, CAReduce
from termgraph.tensor.subtensor import AdvancedSubtensor, Subtensor

#: Text, or a Variable to be written there and the strength with which its surroundings pull at it.
Piece = str | tuple[Variable, int]
#: The pieces of a node, and how strongly they hold together: weaker than the surroundings means parentheses.
Form = tuple[list[Piece], int]

#: Strengths beside those in the table of scalar functions, which go from 0 for comparisons to 7 for `**` and follow Python.
LOOSE, PRODUCT, UNARY, ATOM = 0, 5, 6, 9
ELLIPSIS = "..."


def pprint(graph_like: Any, max_chars: int | None = 2000) -> str:
    """One line of mathematics for a Variable, an Apply, a FunctionGraph, a compiled function or a sequence of these, whose
    outputs are separated by commas.

    Operators have as few parentheses as they can. Dimensions added for broadcasting are not shown, nor are the names of
    variables that something computes. A text is a tree: what a graph shares is written at each place. So a text longer than
    `max_chars` is cut where it is deepest: it shows as many levels of the graph as fit, and `...` for what is below them
    (None: no limit). Raises GraphTypeError for what has no outputs.

    >>> import termgraph.tensor as tt
    >>> x, y = tt.matrices("x", "y")
    >>> pprint((x + y) * 2.0 - -x / (y - (x - 1)))
    '(x + y) * 2 - -x / (y - (x - 1))'
    >>> pprint(tt.exp(tt.exp(tt.exp(x.T))), max_chars=14)
    'exp(exp(...))'
    """
    pieces = separated(outputs_of(graph_like))
    text = _write(pieces, None, max_chars)
    if text is not None:
        return text
    return _abbreviated(pieces, max_chars or 0)


pp = pprint


def _abbreviated(pieces: Sequence[Piece], max_chars: int) -> str:
    """The text with as many levels as fit; found by doubling their number and then bisecting."""
    fits, too_many = 0, 1
    best = _write(pieces, 0, max_chars)
    while (longer := _write(pieces, too_many, max_chars)) is not None:
        best, fits, too_many = longer, too_many, 2 * too_many
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        longer = _write(pieces, middle, max_chars)
        if longer is None:
            too_many = middle
        else:
            best, fits = longer, middle
    return ELLIPSIS if best is None else best


def _write(pieces: Sequence[Piece], levels: int | None, max_chars: int | None) -> str | None:
    """The text of `pieces`, showing `...` below `levels` levels of operations; None where it is longer than `max_chars`.

    The work is proportional to the text, whatever the size of the graph.
    """
    written: list[str] = []
    length = 0
    stack: list[tuple[Piece, int]] = [(p, 0) for p in reversed(pieces)]
    while stack:
        piece, level = stack.pop()
        if isinstance(piece, str):
            written.append(piece)
            length += len(piece)
            if max_chars is not None and length > max_chars:
                return None
            continue
        variable, outer = piece
        variable = _shown(variable)
        if level == levels and variable.owner is not None:
            stack.append((ELLIPSIS, level))
            continue
        form, strength = _form(variable)
        if strength < outer:
            form = ["(", *form, ")"]
        stack.extend((p, level + 1) for p in reversed(form))
    return "".join(written)


def _shown(variable: Variable) -> Variable:
    """`variable`, or what it adds dimensions to."""
    while variable.owner is not None and isinstance(variable.owner.op, DimShuffle) and _only_adds(variable.owner.op):
        variable = variable.owner.inputs[0]
    return variable


def _only_adds(op: DimShuffle) -> bool:
    return not op.drop and op.shuffle == sorted(op.shuffle) and len(op.new_order) > op.input_ndim


def _form(variable: Variable) -> Form:
    node = variable.owner
    if node is None:
        return _leaf(variable)
    form = form_of(node.op, node)
    if len(node.outputs) > 1 and variable.index != node.op.default_output:
        pieces, strength = form
        return [*(pieces if strength >= ATOM else ["(", *pieces, ")"]), f".{variable.index}"], ATOM
    return form


def _leaf(variable: Variable) -> Form:
    if isinstance(variable, Constant) and variable.name is None and isinstance(variable.data, np.ndarray):
        text = number(variable.data)
        return [text], UNARY if text.startswith("-") else ATOM
    return [str(variable)], ATOM


def number(value: np.ndarray) -> str:
    """The value of a constant: one number, a whole one without its `.0`, or an array, shortened where it is long.

    >>> number(np.array([[1.0]])), number(np.array(0.5)), number(np.array([1, 2]))
    ('1', '0.5', '[1 2]')
    """
    if value.size == 1:
        return str(value.reshape(())).removesuffix(".0")
    text = " ".join(str(value).split())
    return text if len(text) <= 24 else f"{text[:20]}{ELLIPSIS}"


def separated(items: Sequence[Variable | str]) -> list[Piece]:
    """The items with commas between them."""
    pieces: list[Piece] = []
    for item in items:
        pieces += [", "] if pieces else []
        pieces.append(item if isinstance(item, str) else (item, LOOSE))
    return pieces


def call(node: Apply, name: str, *settings: str) -> Form:
    """`name(inputs, settings)`."""
    return [f"{name}(", *separated([*node.inputs, *settings]), ")"], ATOM


def infix(node: Apply, symbol: str, strength: int) -> Form:
    """The two inputs with `symbol` between them, grouped as Python groups them."""
    left, right = node.inputs
    if symbol == "**":  # groups to the right, and a sign needs no parentheses there
        return [(left, strength + 1), " ** ", (right, UNARY)], strength
    chains = symbol in ("<", "<=", ">", ">=")  # a < b < c would be a < b and b < c
    return [(left, strength + chains), f" {symbol} ", (right, strength + 1)], strength


@singledispatch
def form_of(op: Op, node: Apply) -> Form:
    """How a node of `op` is written: `op(inputs)`, unless a form is registered for the class of `op`."""
    return call(node, str(op))


@form_of.register
def _elemwise(op: Elemwise, node: Apply) -> Form:
    row = op.scalar_op
    if row.sign is None:
        return call(node, row.name.removeprefix("cast_"))
    symbol, strength = row.sign
    return ([symbol, (node.inputs[0], strength)], strength) if row.nin == 1 else infix(node, symbol, strength)


@form_of.register(Dot)
@form_of.register(MatMul)
@form_of.register(StructuredDot)
@form_of.register(TrueDot)
def _product(op: Op, node: Apply) -> Form:
    return infix(node, "@", PRODUCT)


@form_of.register
def _dimshuffle(op: DimShuffle, node: Apply) -> Form:
    reverses = op.new_order == tuple(reversed(range(op.input_ndim)))
    return _transpose(op, node) if reverses else call(node, str(op))


@form_of.register(Transpose)
def _transpose(op: Op, node: Apply) -> Form:
    return [(node.inputs[0], ATOM), ".T"], ATOM


@form_of.register(CAReduce)
@form_of.register(Argmax)
@form_of.register(Argmin)
def _reduction(op: Any, node: Apply) -> Form:
    name = type(op).__name__.lower()
    if op.axis is None:
        return call(node, name)
    return call(node, name, f"axis={op.axis[0] if len(op.axis) == 1 else op.axis}")


@form_of.register(Subtensor)
@form_of.register(AdvancedSubtensor)
def _subtensor(op: Any, node: Apply) -> Form:
    source, *index = node.inputs
    pieces: list[Piece] = [(source, ATOM), "["]
    for position, entry in enumerate(fill_template(op.idx_list, index)):
        pieces += [", "] if position else []
        if isinstance(entry, Slice):
            start, stop, step = entry
            pieces += [*_part(start), ":", *_part(stop), *([":", *_part(step)] if step is not None else [])]
        else:
            pieces += _part(entry)
    return [*pieces, "]"], ATOM


def _part(part: Any) -> list[Piece]:
    if part is None:
        return []
    return [(part, LOOSE)] if isinstance(part, Variable) else [str(part)]
