"""Function: what `function` returns."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from termgraph.compile.call import UNROLLED, Plan, build, conversion_of
from termgraph.compile.flat import Flat, flatten, unflatten
from termgraph.compile.io import In, Out
from termgraph.compile.pipeline import FunctionMaker, Ingredients
from termgraph.compile.vm import VM
from termgraph.errors import CallArgumentError, GraphTypeError, InputValueError
from termgraph.graph.collector import collector_paused
from termgraph.graph.replace import graph_replace
from termgraph.graph.shared import Container, SharedVariable
from termgraph.graph.trace import describe
from termgraph.graph.type import describe_value
from termgraph.graph.variable import Variable


class _Missing:
    """Stands for an argument that was not given."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()


class Function:
    """A compiled graph, called with values for its inputs, by position or by name.

    `maker.fgraph` is the graph that runs, `maker.mode` its mode, `reports` what rewriting reported, `vm` the machine.
    Calls from several threads, and calls of the function from inside itself, are safe: each gets storage of its own, and
    those that update shared variables wait for one another.
    """

    # Each Function has a class of its own, whose __call__ is made for it: see call.py.

    def __init__(self, maker: FunctionMaker) -> None:
        self.maker = maker
        self.name = maker.name
        self.reports = maker.reports
        self._arguments = [i for i in maker.inputs if not i.implicit]
        self._trust_input = maker.ingredients.trust_input
        self._lock = threading.RLock()
        self.vm = maker.make_vm()
        self._containers = [i.container or Container(i.variable.type, None, i.name, i.strict, i.allow_downcast)
                            for i in maker.inputs] + [s.container for s in maker.shared]
        self._by_name: dict[str | Variable, Container] = {}
        for variable, name, container in self._named_containers():
            self._by_name[variable] = container
            if name is not None:
                self._by_name[name] = container
        self._specialise()

    def _named_containers(self) -> Iterator[tuple[Variable, str | None, Container]]:
        for i in self.maker.inputs:
            if i.container is not None:
                yield i.variable, i.name, i.container
        for s in self.maker.shared:
            yield s, s.name, s.container

    # --- the call -----------------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The values of the outputs. Raises CallArgumentError where arguments are missing or too many, InputValueError
        where one is not a value of its input's type, and whatever an op raises, with a note about the node."""
        raise NotImplementedError("replaced by _specialise")

    def _specialise(self) -> None:
        body, self.source = self._make_call(self.vm)
        self.__class__ = type("Function", (_base(type(self)),), {"__call__": body, "__module__": __name__})

    def _make_call(self, vm: VM) -> tuple[Any, str]:
        maker, arguments = self.maker, self._arguments
        count = len(maker.outputs)
        tokens: list[Any] = [None]
        names: dict[str, Any] = {
            "MISSING": MISSING, "bind": self._bind, "convert": self._convert, "separate": self._separate,
            "lock": self._lock, "take": tokens.pop, "give": tokens.append, "spare": _Spare(self),
            "run": vm, "fail": vm.fail,
        }
        names.update((f"t{k}", getattr(i.variable.type, "numpy_dtype", None)) for k, i in enumerate(arguments))
        names.update((f"i{k}", vm.storage_map[i.variable]) for k, i in enumerate(arguments))
        names.update((f"o{k}", cell) for k, cell in enumerate(vm.output_storage[:count]))
        names.update((f"u{k}", cell) for k, cell in enumerate(vm.output_storage[count:]))
        names.update((f"s{k}", cell) for k, cell in enumerate(maker.update_targets()))
        emptied = vm.cells_left()
        names.update((f"e{k}", cell) for k, cell in enumerate(emptied))
        unrolled = not vm.lazy and len(vm.nodes) <= UNROLLED
        for k, dead in enumerate(vm.dead if unrolled else []):
            names[f"thunk{k}"] = vm.thunks[k]
            names.update((f"d{k}_{j}", cell) for j, cell in enumerate(dead))
        plan = Plan(
            conversions=tuple("" if self._trust_input else conversion_of(k, i.variable.type)
                              for k, i in enumerate(arguments)),
            mutable=tuple(k for k, i in enumerate(arguments) if i.mutable),
            dead=tuple(len(dead) for dead in vm.dead) if unrolled else None,
            results=count, returned=_returned(maker.ingredients.form, count),
            updates=len(vm.output_storage) - count, emptied=len(emptied),
        )
        return build(plan, names)

    def _bind(self, args: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """One value for each argument, defaults filled in; raises CallArgumentError."""
        takes = self._arguments
        if len(args) > len(takes):
            raise self._bad_call(f"expected at most {len(takes)} positional arguments, got {len(args)}")
        values = [*args, *[MISSING] * (len(takes) - len(args))]
        position = {i.name: k for k, i in enumerate(takes) if i.name is not None}
        for name, value in named.items():
            if name not in position:
                raise self._bad_call(f"unknown keyword argument {name!r}")
            if values[position[name]] is not MISSING:
                raise self._bad_call(f"the argument {name!r} was given twice")
            values[position[name]] = value
        for k, i in enumerate(takes):
            if values[k] is MISSING:
                if i.container is None:
                    raise self._bad_call(f"missing the argument {k} ({i.name or i.variable})")
                values[k] = copy.deepcopy(i.container.value) if i.mutable else i.container.value
        return values

    def _bad_call(self, problem: str) -> CallArgumentError:
        shown = [f"{i.name or i.variable}: {i.variable.type}" + ("" if i.container is None else " = ...")
                 for i in self._arguments]
        return CallArgumentError(self, problem, ", ".join(shown))

    def _convert(self, position: int, value: Any) -> Any:
        """`value` as a value of the type of argument number `position`; raises InputValueError."""
        i = self._arguments[position]
        expected = i.variable.type
        try:
            return expected.filter(value, strict=i.strict, allow_downcast=i.allow_downcast)
        except (TypeError, ValueError) as error:
            got = f"the symbolic variable {value}" if isinstance(value, Variable) else describe_value(value)
            raise InputValueError(self, position, i.name or i.variable, expected, got, str(error),
                                  describe(i.variable.trace)) from error

    def _separate(self, position: int, values: Sequence[Any]) -> Any:
        """The argument that may be overwritten, copied if it shares memory with another argument or a shared variable."""
        value = values[position]
        may_share = self._arguments[position].variable.type.may_share_memory
        others = [v for k, v in enumerate(values) if k != position] + [c.value for c in self._containers]
        return copy.deepcopy(value) if any(may_share(value, o) for o in others) else value

    # --- around it ----------------------------------------------------------------------------------------------------

    @property
    def trust_input(self) -> bool:
        """Whether arguments are taken as they are: faster, and any wrong value gives an obscure error or a wrong result."""
        return self._trust_input

    @trust_input.setter
    def trust_input(self, trust: bool) -> None:
        self._trust_input = bool(trust)
        self._specialise()

    @property
    def input_storage(self) -> list[Container]:
        """The containers of the inputs, then those of the shared variables."""
        return list(self._containers)

    @property
    def output_storage(self) -> list[list[Any]]:
        """The cells of the outputs; empty between calls."""
        return self.vm.output_storage

    @property
    def value(self) -> Function:
        """`f.value["x"]`, the same as `f["x"]`."""
        return self

    def _container(self, item: Any) -> Container:
        if item not in self._by_name:
            known = ", ".join(str(k) for k in self._by_name if isinstance(k, str)) or "none"
            raise KeyError(f"{self} has no input with a value of its own called {item!r}; there are: {known}.")
        return self._by_name[item]

    def __getitem__(self, item: str | Variable) -> Any:
        return self._container(item).value

    def __setitem__(self, item: str | Variable, value: Any) -> None:
        self._container(item).value = value

    def get_shared(self) -> list[SharedVariable]:
        """The shared variables the function reads or updates."""
        return list(self.maker.shared)

    def free(self) -> None:
        """Empty the cells. There is nothing in them between calls, unless a call is under way in another thread."""
        self.vm.clear()

    def copy(self, share_memory: bool = False, swap: Mapping[SharedVariable, SharedVariable] | None = None,
             delete_updates: bool = False, name: str | None = None) -> Function:
        """Another function of the same graph, compiled anew, with the same shared variables (those of `swap` replaced) and
        copies of the inputs' default values. `share_memory` is accepted and has no effect: nothing is stored between
        calls. Raises GraphTypeError where a swapped variable has another type or is not used here."""
        old = self.maker.ingredients
        swap = dict(swap or {})
        for before, after in swap.items():
            if before not in self.maker.shared:
                raise GraphTypeError(f"{before} is not a shared variable of {self}.")
            if before.type != after.type:
                raise GraphTypeError(f"cannot swap {before} of type {before.type} for {after} of type {after.type}.")
        expressions = graph_replace(old.expressions(), list(swap.items()))
        count = len(old.outputs)
        updates = [] if delete_updates else [
            (swap.get(s, s), e) for (s, _), e in zip(old.updates, expressions[count:], strict=False)]
        changed = iter(expressions[count + len(old.updates):])
        inputs = [_copy_in(i, None if i.update is None else next(changed), keep_update=not delete_updates) for i in old.inputs]
        outputs = [Out(e, o.borrow) for o, e in zip(old.outputs, expressions, strict=False)]
        ingredients = replace(old, inputs=inputs, outputs=outputs, updates=updates,
                              name=self.name if name is None else name, trust_input=self._trust_input)
        with collector_paused():
            return Function(FunctionMaker(ingredients))

    def __copy__(self) -> Function:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Function:
        constructor, arguments = self.__reduce__()
        copied: Function = constructor(*copy.deepcopy(arguments, memo))
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, _ingredients_to_state(replace(self.maker.ingredients, name=self.name, trust_input=self._trust_input))

    def __repr__(self) -> str:
        shown = ", ".join(str(i.name or i.variable) for i in self._arguments)
        return f"Function {self.name or ''}({shown})".replace(" (", "(")


class _Spare:
    """Makes, when first needed, the body of a call with storage of its own, for a call that comes while another runs."""

    def __init__(self, function: Function) -> None:
        self._function, self._body, self._making = function, None, threading.Lock()

    def __call__(self) -> Any:
        with self._making:
            if self._body is None:
                self._body, _ = self._function._make_call(self._function.maker.make_vm())
        return self._body


def _base(cls: type) -> type:
    return cls if cls.__dict__.get("__call__") is Function.__call__ else cls.__mro__[1]


def _returned(form: str | tuple[Any, ...], count: int) -> str:
    if form == "single":
        return "r0"
    if form == "list":
        return f"[{', '.join(f'r{k}' for k in range(count))}]"
    return f"{{{', '.join(f'{key!r}: r{k}' for k, key in enumerate(form))}}}"


def _copy_in(i: In, update: Variable | None, keep_update: bool) -> In:
    copied = copy.copy(i)
    copied.update = update if keep_update else None
    copied.container = copy.deepcopy(i.container)
    return copied


# --- pickling: the graph is flattened, and compiled again when it is read ---------------------------------------------


def _ingredients_to_state(ingredients: Ingredients) -> tuple[Flat, list[Any], list[bool], list[int], dict[str, Any]]:
    variables = [i.variable for i in ingredients.inputs]
    shared = [s for s, _ in ingredients.updates]
    flat = flatten([*variables, *shared, *ingredients.expressions()], variables)
    inputs = [(i.name, i.mutable, i.borrow, i.allow_downcast, i.strict, i.implicit, i.container, i.update is not None)
              for i in ingredients.inputs]
    rest = {"form": ingredients.form, "mode": ingredients.mode, "name": ingredients.name,
            "trust_input": ingredients.trust_input}
    return flat, inputs, [o.borrow for o in ingredients.outputs], [len(shared)], rest


def _restore(flat: Flat, inputs: list[Any], borrows: list[bool], counts: list[int], rest: dict[str, Any]) -> Function:
    with collector_paused():
        variables = iter(unflatten(flat))
        ins = []
        for name, mutable, borrow, allow_downcast, strict, implicit, container, _ in inputs:
            ins.append(In(next(variables), name, container, None, mutable, borrow, allow_downcast, strict, implicit))
        shared: list[Any] = [next(variables) for _ in range(counts[0])]
        outputs = [Out(next(variables), borrow) for borrow in borrows]
        updates = [(s, next(variables)) for s in shared]
        for i, (*_, updated) in zip(ins, inputs, strict=True):
            if updated:
                i.update = next(variables)
        return Function(FunctionMaker(Ingredients(ins, outputs, updates=updates, **rest)))
