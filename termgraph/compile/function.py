"""function: from symbolic inputs and outputs to something that can be called."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from termgraph.compile.executable import Function
from termgraph.compile.io import In, Out
from termgraph.compile.mode import Mode, get_mode
from termgraph.compile.pipeline import FunctionMaker, Ingredients, leaves_of
from termgraph.errors import GraphTypeError, MissingInputError, UnusedInputError, UpdateError
from termgraph.graph.collector import collector_paused
from termgraph.graph.replace import graph_replace
from termgraph.graph.shared import SharedVariable
from termgraph.graph.trace import describe
from termgraph.graph.traversal import toposort
from termgraph.graph.variable import Constant, Variable

Replacements = dict[Variable, Variable]
Pairs = Mapping[Any, Any] | Iterable[tuple[Any, Any]]


def function(inputs: Sequence[Any], outputs: Any = None, mode: str | Mode | None = None, updates: Pairs | None = None,
             givens: Pairs | None = None, no_default_updates: bool | Sequence[Variable] = False, accept_inplace: bool = False,
             name: str | None = None, rebuild_strict: bool = True, allow_input_downcast: bool | None = None,
             profile: Any = None, on_unused_input: str = "raise", trust_input: bool = False) -> Function:
    """A callable that computes `outputs` from values of `inputs`.

    What happens, in order:

    1. The arguments are brought into one form: each input an `In`, each output an `Out`, and a copy of the graph in which
       `givens` (pairs variable, replacement) are substituted.
    2. Updates are gathered: `updates` (pairs shared variable, new value), and the `default_update` of every shared
       variable met, except those in `no_default_updates`.
    3. Mistakes are looked for: missing, unused and duplicate inputs, types that do not fit.
    4. The graph, with its shared variables as further inputs, is rewritten by the phases of `mode`.
    5. Outputs that may share memory with an input, a shared variable, a constant or one another get a copy.
    6. The nodes are put in an order in which nothing is overwritten before it has been read; each op gives its thunk.
    7. A call converts its arguments, runs the thunks, stores all updates together and returns the outputs.

    `outputs` is a variable, a sequence (a list is returned), a dict (a dict is returned) or None (an empty list is
    returned). Arguments are not changed unless they are `In(..., mutable=True)`; if a call raises, no shared variable has
    changed. `rebuild_strict` False lets givens convert to the type of what they replace; `allow_input_downcast` True
    accepts arguments that lose precision, None only Python floats; `on_unused_input` is "raise", "warn" or "ignore";
    `trust_input` skips the checks of arguments; `accept_inplace` allows ops that overwrite their inputs in the given
    graph. `profile` is accepted for compatibility.

    Raises GraphTypeError, MissingInputError, UnusedInputError or UpdateError, each naming the variable.

    >>> import termgraph.tensor as tt
    >>> x, y = tt.scalars("x", "y")
    >>> f = function([x, y], x + 2 * y)
    >>> f(1, y=2)
    array(5.)
    """
    with collector_paused():
        ins = _as_ins(inputs, allow_input_downcast)
        outs, form = _as_outs(outputs)
        substitute = _substitution(_replacements(givens, rebuild_strict), _cut_at(ins))
        outs = [Out(e, o.borrow) for o, e in zip(outs, substitute([o.variable for o in outs]), strict=True)]
        for i in ins:
            i.update = None if i.update is None else substitute([i.update])[0]
        explicit = [(s, substitute([e])[0]) for s, e in _checked_updates(updates)]
        ingredients = Ingredients(ins, outs, form, explicit, get_mode(mode), name, trust_input)
        if no_default_updates is not True:
            _add_default_updates(ingredients, set(no_default_updates or ()), substitute)
        _check_graph(ingredients, accept_inplace, on_unused_input)
        return Function(FunctionMaker(ingredients))


def _as_ins(inputs: Any, allow_downcast: bool | None) -> list[In]:
    if not isinstance(inputs, (list, tuple)):
        raise GraphTypeError(f"function takes a list of inputs, got {type(inputs).__name__}: write [x], not x.")
    ins = []
    for position, given in enumerate(inputs):
        if not isinstance(given, (In, Variable)):
            raise GraphTypeError(f"input {position} of function must be a Variable or an In, "
                                 f"got {type(given).__name__} {given!r:.60}.")
        i = given if isinstance(given, In) else In(given, allow_downcast=allow_downcast)
        if isinstance(i.variable, SharedVariable):
            raise GraphTypeError(f"input {position} ({i.variable}) is a shared variable: it has a value of its own and is not "
                                 "an argument. Remove it from the inputs, or replace it with givens=.")
        if isinstance(i.variable, Constant):
            raise GraphTypeError(f"input {position} ({i.variable}) is a constant: its value is known.")
        ins.append(_own(i, allow_downcast))
    _check_duplicates(ins)
    return ins


def _own(i: In, allow_downcast: bool | None) -> In:
    own = In(i.variable, i.name, i.container, i.update, i.mutable, i.borrow, i.allow_downcast, i.strict, i.implicit)
    if own.allow_downcast is None:
        own.allow_downcast = allow_downcast
    return own


def _check_duplicates(ins: Sequence[In]) -> None:
    seen: dict[Variable, int] = {}
    for position, i in enumerate(ins):
        first = seen.setdefault(i.variable, position)
        if first != position:
            raise GraphTypeError(f"the variable {i.variable} is given twice, as inputs {first} and {position}; remove one.")


def _as_outs(outputs: Any) -> tuple[list[Out], str | tuple[Any, ...]]:
    """The outputs, and how to return them."""
    form: str | tuple[Any, ...] = "list"
    if outputs is None:
        listed = []
    elif isinstance(outputs, Mapping):
        form = tuple(outputs)
        for key in form:
            if not isinstance(key, str):
                raise GraphTypeError(f"the keys of outputs must be strings, got {key!r}.")
        listed = list(outputs.values())
    elif isinstance(outputs, (list, tuple)):
        listed = list(outputs)
    else:
        form, listed = "single", [outputs]
    for position, output in enumerate(listed):
        if not isinstance(output, (Out, Variable)):
            raise GraphTypeError(f"output {position} of function must be a Variable or an Out, "
                                 f"got {type(output).__name__} {output!r:.60}.")
    return [o if isinstance(o, Out) else Out(o) for o in listed], form


def _pairs(given: Pairs | None, what: str) -> list[tuple[Any, Any]]:
    pairs = list(given.items() if isinstance(given, Mapping) else given or ())
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise GraphTypeError(f"{what} must be a dict or a list of pairs, got the item {pair!r:.60}.")
    return [(a, b) for a, b in pairs]


def _replacements(givens: Pairs | None, strict: bool) -> Replacements:
    replacements: Replacements = {}
    for old, new in _pairs(givens, "givens"):
        if not isinstance(old, Variable):
            raise GraphTypeError(f"givens replace variables, got {type(old).__name__} {old!r:.60}.")
        if old in replacements:
            raise GraphTypeError(f"givens replace {old} twice.")
        allow_convert = not strict or not isinstance(new, Variable)
        replacements[old] = old.type.filter_variable(new, allow_convert=allow_convert)
    return replacements


def _cut_at(ins: Sequence[In]) -> Replacements:
    """A fresh variable for each input that is computed from others, which the input then is."""
    cuts = {i.variable: i.variable.clone() for i in ins if i.variable.owner is not None}
    for i in ins:
        i.variable = cuts.get(i.variable, i.variable)
    return cuts


def _substitution(*steps: Replacements) -> Callable[[Sequence[Variable]], list[Variable]]:
    """The function that replaces in some variables those of each step, all of a step at once."""
    def substitute(variables: Sequence[Variable]) -> list[Variable]:
        result = list(variables)
        for step in steps:
            result = graph_replace(result, step) if step else result
        return result

    return substitute


def _checked_updates(updates: Pairs | None) -> list[tuple[SharedVariable, Variable]]:
    checked: dict[SharedVariable, Variable] = {}
    for shared, new in _pairs(updates, "updates"):
        if not isinstance(shared, SharedVariable):
            raise UpdateError(shared, f"it is a {type(shared).__name__}, not a shared variable",
                              "Make it with shared(), or give an input an update with In(x, value=..., update=...).")
        if shared in checked:
            raise UpdateError(shared, "it is updated twice", "Give each shared variable one new value.")
        checked[shared] = _of_type(shared, new)
    return list(checked.items())


def _of_type(shared: SharedVariable, new: Any) -> Variable:
    try:
        return shared.type.filter_variable(new)  # type: ignore[no-any-return]
    except TypeError as error:
        what = f"{new} of type {new.type}" if isinstance(new, Variable) else f"the value {new!r:.60}"
        where = built_at(new) if isinstance(new, Variable) else None
        raise UpdateError(shared, f"it has type {shared.type}, and its new value is {what}",
                          "Convert the new value (astype, or other dimensions) to the type of the shared variable.",
                          where) from error


def built_at(variable: Variable) -> str | None:
    """Where the user made the variable, or the node that computes it."""
    return describe(variable.trace if variable.owner is None else variable.owner.trace)


def _add_default_updates(ingredients: Ingredients, without: set[Variable],
                         substitute: Callable[[Sequence[Variable]], list[Variable]]) -> None:
    """Add the default updates of the shared variables that are met, also of those met in default updates."""
    inputs = {i.variable for i in ingredients.inputs}
    seen = {s for s, _ in ingredients.updates} | without
    fresh = [*ingredients.expressions(), *(s for s, _ in ingredients.updates)]
    while fresh:
        met = [v for v in leaves_of(toposort(fresh, inputs), fresh, inputs) if isinstance(v, SharedVariable) and v not in seen]
        seen.update(met)
        added = [(s, substitute([_of_type(s, s.default_update)])[0]) for s in met if s.default_update is not None]
        ingredients.updates += added
        fresh = [e for _, e in added]


def _check_graph(ingredients: Ingredients, accept_inplace: bool, on_unused_input: str) -> None:
    """Raise where an input is missing or not used, or where an op overwrites its input and that was not allowed."""
    inputs = {i.variable for i in ingredients.inputs}
    expressions = ingredients.expressions()
    order = toposort(expressions, inputs)
    leaves = leaves_of(order, expressions, inputs)
    for variable, node in leaves.items():
        if variable not in inputs and not isinstance(variable, (Constant, SharedVariable)):
            raise MissingInputError(variable, node, built_at(variable) or describe(node.trace if node else None))
    _check_unused(ingredients, leaves.keys(), on_unused_input)
    if not accept_inplace:
        for node in order:
            if node.op.destroy_map:
                raise GraphTypeError(f"{node} overwrites its input; the graph given to function must not contain such ops. "
                                     f"Pass accept_inplace=True to allow it.\n  built at {describe(node.trace)}")


def _check_unused(ingredients: Ingredients, used: Collection[Variable], on_unused_input: str) -> None:
    if on_unused_input not in ("raise", "warn", "ignore"):
        raise ValueError(f"on_unused_input must be 'raise', 'warn' or 'ignore', got {on_unused_input!r}.")
    if on_unused_input == "ignore":
        return
    for position, i in enumerate(ingredients.inputs):
        if i.variable not in used:
            error = UnusedInputError(i.name or i.variable, position, describe(i.variable.trace))
            if on_unused_input == "raise":
                raise error
            warnings.warn(str(error), stacklevel=4)
