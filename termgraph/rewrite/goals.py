"""The vocabulary of guards: what a clause may ask besides its two sides.

Each is a goal for kanren and at the same time a residue for the matcher generator. A guard is decided as soon as its
arguments are known and waits until then, so it may be written before or after the goals that bind them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from cons import cons
from kanren import eq
from unification import reify

from termgraph.graph.variable import Constant, Variable, literal_of
from termgraph.rewrite.context import all_constant
from termgraph.rewrite.delay import Delayed, Goal, State, delayed, substitution_of
from termgraph.rewrite.facts import finite, negative, nonnegative, nonzero, positive
from termgraph.terms.dispatch import equals_literal
from termgraph.terms.term import OpTerm


def where(predicate: Callable[..., Any], *args: Any, name: str | None = None) -> Goal:
    """`predicate(*args)` is true: a test of one's own, over Variables, Ops, tuples of inputs, or op parameters."""
    return delayed(Delayed(name or predicate.__name__, predicate, args))


def compute(result: Any, function: Callable[..., Any], *args: Any, name: str | None = None) -> Goal:
    """`result` is `function(*args)`; it fails where that is None. One way only: it never guesses the arguments."""
    return delayed(Delayed(name or function.__name__, function, args, outs=result))


def choose(result: Any, function: Callable[..., Any], *args: Any, name: str | None = None) -> Goal:
    """`result` is one of the values in `function(*args)`, in their order. One way only."""
    return delayed(Delayed(name or function.__name__, function, args, outs=result, many=True))


def in_context(predicate: Callable[..., Any], *args: Any, name: str | None = None) -> Goal:
    """`predicate(graph, *args)` is true of the graph being rewritten (a `GraphView`)."""
    return delayed(Delayed(name or predicate.__name__, predicate, args, contextual=True))


def apply(op: Any, inputs: Any) -> Any:
    """The term of any op applied to any inputs: `apply(f, xs)` with logic variables matches every node."""
    return cons(op, inputs)


def an(op_class: type, **params: Any) -> OpTerm:
    """The term of an Op of this class with these parameters; an Op given by class alone matches whatever they are."""
    return OpTerm(op_class, **params)


# --- values -----------------------------------------------------------------------------------------------------------

def _is_constant(x: Any) -> bool:
    return isinstance(x, (Constant, int, float)) or (isinstance(x, Variable) and literal_of(x) is not None)


def constant(x: Any) -> Goal:
    """The value of x is known while compiling."""
    return where(_is_constant, x, name="constant")


def constants(xs: Any) -> Goal:
    """Every one of the inputs xs is a constant, and there is one."""
    return where(all_constant, xs, name="constants")


def _equals(x: Any, number: Any) -> bool:
    return equals_literal(x, number) if isinstance(x, Variable) else bool(x == number)


def equal_to(x: Any, number: Any) -> Goal:
    """Every element of x is known to equal the Python number."""
    return where(_equals, x, number, name="equal_to")


# positive, negative, nonnegative, nonzero, finite: facts that follow from how a term is built (see `facts`)

# --- types ------------------------------------------------------------------------------------------------------------

def _dtype(x: Any) -> Any:
    return getattr(x.type, "dtype", None)


def dtype(x: Any, name: Any) -> Goal:
    """The dtype of x, a string, is `name`."""
    return compute(name, _dtype, x, name="dtype")


def ndim(x: Any, number: Any) -> Goal:
    """x has `number` dimensions."""
    return compute(number, lambda v: v.type.ndim, x, name="ndim")


def static_shape(x: Any, lengths: Any) -> Goal:
    """The lengths of x's dimensions known before running are `lengths`, a tuple with None for those that are not."""
    return compute(lengths, lambda v: getattr(v.type, "shape", None), x, name="static_shape")


def broadcastable(x: Any, which: Any) -> Goal:
    """The dimensions of x that have the static length 1 are `which`, a tuple of bools."""
    return compute(which, lambda v: getattr(v.type, "broadcastable", None), x, name="broadcastable")


def sparse_format(x: Any, name: Any) -> Goal:
    """x is a sparse matrix of the format `name`, "csr" or "csc"."""
    return compute(name, lambda v: getattr(v.type, "format", None), x, name="sparse_format")


def _same_type(x: Any, y: Any) -> bool:
    return bool(x.type == y.type)


def same_type(x: Any, y: Any) -> Goal:
    """x and y have the same type: dtype, number of dimensions and static shape."""
    return where(_same_type, x, y, name="same_type")


def _floating(x: Any) -> bool:
    return getattr(x.type, "dtype", "").startswith("float")


def floating(x: Any) -> Goal:
    """x has a real floating dtype."""
    return where(_floating, x, name="floating")


def _integral(x: Any) -> bool:
    return getattr(x.type, "dtype", "").startswith(("int", "uint"))


def integral(x: Any) -> Goal:
    """x has an integer dtype."""
    return where(_integral, x, name="integral")


# --- ops --------------------------------------------------------------------------------------------------------------

def commutative(f: Any) -> Goal:
    """The order of the arguments of the Op f does not matter."""
    return where(lambda op: bool(getattr(op, "commutative", False)), f, name="commutative")


def elementwise(f: Any) -> Goal:
    """The Op f applies a scalar function to each element."""
    return where(lambda op: hasattr(op, "scalar_op"), f, name="elementwise")


def linear(f: Any) -> Goal:
    """The Op f is linear in its first input, and its output depends on no other input's elements."""
    return where(lambda op: bool(getattr(op, "linear", False)), f, name="linear")


def _differs(x: Any, y: Any) -> bool:
    return bool(x is not y and not (isinstance(x, Constant) and x.equals(y)))


def differs(x: Any, y: Any) -> Goal:
    """x and y are not the same term."""
    return where(_differs, x, y, name="differs")


# --- the graph around the term ----------------------------------------------------------------------------------------

def _sole_client(graph: Any, x: Any) -> bool:
    return isinstance(x, Variable) and graph.client_count(x) <= 1


def sole_client(x: Any) -> Goal:
    """Only one place reads x, so what computes it disappears when that place is rewritten."""
    return in_context(_sole_client, x, name="sole_client")


def _destroyable(graph: Any, x: Any, node: Any) -> bool:
    return bool(graph.destroyable(x, node))


def destroyable(x: Any, node: Any) -> Goal:
    """What computes `node` may overwrite x: nothing reads x, or anything sharing its memory, afterwards."""
    return in_context(_destroyable, x, node, name="destroyable")


def _lookup(graph: Any, op: Any, inputs: Any) -> Any:
    return graph.lookup(op, inputs)


def _is_output(graph: Any, x: Any) -> bool:
    return bool(graph.is_output(x))


def is_output(x: Any) -> Goal:
    """x is an output of the graph."""
    return in_context(_is_output, x, name="is_output")


def _is_input(graph: Any, x: Any) -> bool:
    return bool(graph.is_input(x))


def is_input(x: Any) -> Goal:
    """x is an input of the graph."""
    return in_context(_is_input, x, name="is_input")


def computed_by(x: Any, op: Any, inputs: Any) -> Goal:
    """The graph computes x by `op` from `inputs`: the facts of a graph, where (op, inputs) determine x and x them."""
    fact = delayed(Delayed("computed_by", _lookup, (op, inputs), outs=x, contextual=True))

    def goal(state: State) -> Iterator[State]:
        known = reify(x, substitution_of(state))
        if isinstance(known, Variable) and known.owner is not None:
            yield from eq((op, inputs), (known.head, tuple(known.owner.inputs)))(state)
        else:
            yield from fact(state)
    return goal


__all__ = [
    "an", "apply", "broadcastable", "choose", "commutative", "compute", "computed_by", "constant", "constants", "destroyable",
    "differs", "dtype", "elementwise", "equal_to", "finite", "floating", "in_context", "integral", "is_input", "is_output",
    "linear", "ndim", "negative", "nonnegative", "nonzero", "positive", "same_type", "sole_client", "sparse_format",
    "static_shape", "where",
]
