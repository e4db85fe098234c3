"""Op: what a node does. Subclass it, give `make_node` and `perform`, and list the parameters in `__props__`."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from termgraph.config import config
from termgraph.errors import GraphTypeError, MethodNotDefined
from termgraph.graph.apply import Apply
from termgraph.graph.symbol import Symbol
from termgraph.graph.trace import Trace, capture
from termgraph.graph.type import Type
from termgraph.graph.variable import Variable

if TYPE_CHECKING:
    from termgraph.graph.fgraph import FunctionGraph

StorageMap = dict[Variable, list[Any]]
ComputeMap = dict[Variable, list[Any]]
Thunk = Callable[[], Any]


_canonical: weakref.WeakKeyDictionary[Op, weakref.ref[Op]] = weakref.WeakKeyDictionary()
#: What an Op that is `typed_by_inputs` gave for input types before: (symbol, floatX, *types) -> output types, None where
#: make_node does not take the inputs as they are (it adds a DimShuffle, say). Bounded by the Ops and types in use.
_known_types: dict[Any, tuple[Any, ...] | None] = {}
_UNKNOWN: Any = object()
_pattern_classes: tuple[type, ...] = ()


def _no_pattern(head: Any, inputs: Sequence[Any]) -> Any:
    raise NotImplementedError("no pattern class is registered")


_make_pattern: Callable[[Any, Sequence[Any]], Any] = _no_pattern


def register_patterns(classes: tuple[type, ...], construct: Callable[[Any, Sequence[Any]], Any]) -> None:
    """From now on, an Op called with an instance of one of `classes` returns `construct(op, inputs)` and not a node.

    The terms room calls this once: it is how the function that builds graphs also builds the patterns of rules.
    """
    global _pattern_classes, _make_pattern
    _pattern_classes, _make_pattern = classes, construct


def is_pattern(value: Any) -> bool:
    """Whether `value` is a logic variable or a term with logic variables, for which calls build patterns."""
    return isinstance(value, _pattern_classes)


class Op:
    """An operation on Variables.

    `__props__` names the attributes that make two instances the same operation: it gives `==`, `hash` and `str`. An Op
    must not change once it is built.

    >>> import termgraph as tg, termgraph.tensor as tt
    >>> class Double(tg.graph.Op):
    ...     __props__ = ()
    ...     def make_node(self, x):
    ...         x = tt.as_tensor_variable(x)
    ...         return tg.graph.Apply(self, [x], [x.type()])
    ...     def perform(self, node, inputs, output_storage):
    ...         output_storage[0][0] = inputs[0] * 2
    >>> x = tt.vector("x")
    >>> tg.function([x], Double()(x))([1.0, 2.0])
    array([2., 4.])
    """

    __props__: ClassVar[tuple[str, ...]]

    #: Which output a call returns; None means all of them (the only one, unwrapped, if there is one).
    default_output: int | None = None
    #: {output: [inputs it may be a view of]}
    view_map: dict[int, list[int]] = {}  # noqa: RUF012 - the field's contract: a plain attribute a subclass or instance sets
    #: {output: [inputs overwritten to compute it]}
    destroy_map: dict[int, list[int]] = {}  # noqa: RUF012
    #: Types of inputs and outputs, for Ops that need no `make_node` of their own.
    itypes: Sequence[Type] | None = None
    otypes: Sequence[Type] | None = None
    #: True where the output types follow from the op and the input types alone (not from constants' values): the engine
    #: then remembers them.
    typed_by_inputs: bool = False
    #: The position of the input whose elements are all that the (single) output holds, where there is one.
    fills_with: int | None = None
    #: Whether the output is linear in the elements of the first input and depends on those of no other.
    linear: bool = False
    #: Whether its thunk may ask for only some of its inputs.
    lazy: bool = False
    #: The number of inputs of every node, where it is always the same.
    nin: int | None = None
    #: Whether the order of the inputs does not matter.
    commutative: bool = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__props__" not in cls.__dict__:
            return
        props = cls.__props__
        if not isinstance(props, tuple) or not all(isinstance(p, str) for p in props):
            raise GraphTypeError(f"{cls.__name__}.__props__ must be a tuple of attribute names, got {props!r}.")
        if "__eq__" not in cls.__dict__:
            def __eq__(self: Any, other: Any) -> Any:
                if self is other:
                    return True
                return type(self) is type(other) and self.props() == other.props()
            cls.__eq__ = __eq__  # type: ignore[method-assign]
        if "__hash__" not in cls.__dict__ or cls.__dict__["__hash__"] is None:
            def __hash__(self: Any) -> int:
                return hash((type(self), self.props()))
            cls.__hash__ = __hash__  # type: ignore[method-assign]

    def props(self) -> tuple[Any, ...]:
        """The values of `__props__`."""
        return tuple(getattr(self, name) for name in self.__props__)

    def props_dict(self) -> dict[str, Any]:
        """The values of `__props__` by name."""
        return {name: getattr(self, name) for name in self.__props__}

    @cached_property
    def canonical(self) -> Op:
        """The one Op that stands for all that are equal to this one: identity of canonicals is equality of Ops."""
        try:
            found = _canonical.get(self)
        except TypeError as error:
            raise GraphTypeError(f"the {type(self).__name__} cannot be hashed ({error}): "
                                 "its __props__ must hold hashable values.") from error
        op = None if found is None else found()
        if op is None:
            op = self
            _canonical[self] = weakref.ref(self)
        return op

    @cached_property
    def symbol(self) -> Symbol:
        """The Symbol of the output that a call returns."""
        op = self.canonical
        return Symbol(op, op.default_output or 0, True, op.fills_with is not None) if op is self else op.symbol

    @cached_property
    def _other_symbols(self) -> dict[int, Symbol]:
        return {}

    def symbol_of(self, index: int, count: int) -> Symbol:
        """The Symbol of output `index` of `count`."""
        if count == 1 or index == self.default_output:
            return self.symbol
        others = self.canonical._other_symbols
        found = others.get(index)
        if found is None:
            found = others[index] = Symbol(self.canonical, index, False, False)
        return found

    def apply_for(self, symbol: Symbol, inputs: Sequence[Any]) -> Any:
        """The output of a new node that `symbol` stands for, or its pattern when given logic variables."""
        if any(isinstance(i, _pattern_classes) for i in inputs):
            return _make_pattern(symbol, inputs)
        return self.make_node(*inputs).outputs[symbol.index]

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state.pop("canonical", None)
        state.pop("symbol", None)
        state.pop("_other_symbols", None)
        return state

    def make_node(self, *inputs: Any) -> Apply:
        """An Apply of this Op to `inputs`, its outputs typed. Raises TypeError or ValueError on inputs it cannot take.

        The default serves Ops that give `itypes` and `otypes`.
        """
        if self.itypes is None or self.otypes is None:
            raise MethodNotDefined(self, "make_node")
        if len(inputs) != len(self.itypes):
            raise GraphTypeError(f"{self} takes {len(self.itypes)} inputs, got {len(inputs)}.")
        variables = [t.filter_variable(i) for t, i in zip(self.itypes, inputs, strict=True)]
        return Apply(self, variables, [t.make_variable() for t in self.otypes])

    def node_for(self, inputs: Sequence[Any], trace: Trace | None) -> Apply:
        """`make_node` of an Op that is `typed_by_inputs`: for types it has seen before, what it gave then."""
        try:
            key = (self.symbol, config.floatX, *[i.type for i in inputs])
        except AttributeError:  # a number or an array, which make_node converts
            node = self.make_node(*inputs)
            node.trace = trace
            return node
        types = _known_types.get(key, _UNKNOWN)
        if types is not None and types is not _UNKNOWN:
            return Apply.trusted(self, list(inputs), types, trace)
        node = self.make_node(*inputs)
        node.trace = trace
        if types is _UNKNOWN:
            plain = len(node.inputs) == len(inputs) and all(a is b for a, b in zip(node.inputs, inputs, strict=True))
            _known_types[key] = tuple(o.type for o in node.outputs) if plain else None
        return node

    def __call__(self, *inputs: Any, name: str | None = None, return_list: bool = False, **kwargs: Any) -> Any:
        """Apply the Op: the default output, or all of them in a list.

        Called with logic variables it returns a pattern term instead.
        """
        for value in inputs:
            if isinstance(value, _pattern_classes):
                return _make_pattern(self, inputs)
        node = self.node_for(inputs, None) if self.typed_by_inputs and not kwargs else self.make_node(*inputs, **kwargs)
        node.trace = capture()
        outputs = node.outputs
        if name is not None:
            if len(outputs) == 1:
                outputs[0].name = name
            else:
                for index, output in enumerate(outputs):
                    output.name = f"{name}_{index}"
        if self.default_output is not None:
            output = outputs[self.default_output]
            return [output] if return_list else output
        if return_list or len(outputs) != 1:
            return list(outputs)
        return outputs[0]

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        """Compute: put the value of output i into `output_storage[i][0]`.

        The cell may hold a value of an earlier call of the right type, which may be overwritten. Inputs must not be
        changed unless `destroy_map` says so, nor returned unless `view_map` does.
        """
        raise MethodNotDefined(self, "perform")

    def do_constant_folding(self, fgraph: FunctionGraph | None, node: Apply) -> bool:
        """Whether a node whose inputs are all constants may be computed while compiling."""
        return True

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply,
                    input_shapes: Sequence[Any]) -> list[Any]:
        """For each output, a tuple with one scalar integer variable (or int) for each dimension, computed from those of
        the inputs (None for an input that has no shape)."""
        raise MethodNotDefined(self, "infer_shape")

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """`[input][output]`: whether the output depends on the input's elements."""
        return [[True] * len(node.outputs) for _ in node.inputs]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """The cotangent of each input, given those of the outputs (reverse mode: J^T w)."""
        raise MethodNotDefined(self, "pullback")

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        """The tangent of each output, given those of the inputs (forward mode: J v); None stands for zero."""
        raise MethodNotDefined(self, "pushforward")

    def prepare_node(self, node: Apply, storage_map: StorageMap | None, compute_map: ComputeMap | None,
                     impl: str | None) -> None:
        """Called before `make_thunk`; may be called more than once."""

    def make_thunk(self, node: Apply, storage_map: StorageMap, compute_map: ComputeMap,
                   no_recycling: Sequence[Variable], impl: str | None = None) -> Thunk:
        """A function of no arguments that reads the storage cells of the node's inputs and fills those of its outputs.

        A cell is a list of one element. `no_recycling` names the variables whose cells must get a fresh value at every
        call.
        """
        self.prepare_node(node, storage_map, compute_map, impl)
        return self.make_py_thunk(node, storage_map, compute_map, no_recycling)

    def make_py_thunk(self, node: Apply, storage_map: StorageMap, compute_map: ComputeMap,
                      no_recycling: Sequence[Variable], debug: bool = False) -> Thunk:
        """The thunk that calls `perform`."""
        input_cells = [storage_map[v] for v in node.inputs]
        output_cells = [storage_map[v] for v in node.outputs]
        fresh = [storage_map[v] for v in node.outputs if v in no_recycling]
        computed = [compute_map[v] for v in node.outputs]
        perform = self.perform

        def thunk() -> None:
            for cell in fresh:
                cell[0] = None
            perform(node, [cell[0] for cell in input_cells], output_cells)
            for flag in computed:
                flag[0] = True

        thunk.inputs = input_cells  # type: ignore[attr-defined]
        thunk.outputs = output_cells  # type: ignore[attr-defined]
        thunk.lazy = False  # type: ignore[attr-defined]
        return thunk

    def __str__(self) -> str:
        props = getattr(type(self), "__props__", ())
        if not props:
            return type(self).__name__
        return f"{type(self).__name__}{{{', '.join(f'{p}={getattr(self, p)!r}' for p in props)}}}"

    def __repr__(self) -> str:
        return str(self)
