"""grad: the derivative of a scalar with respect to variables, as a graph."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from termgraph.config import config
from termgraph.errors import DisconnectedInputError, GraphTypeError, NullTypeGradError
from termgraph.gradient.bridge import check_derivative, is_null
from termgraph.gradient.reverse import ZERO, Sweep
from termgraph.graph.null import DisconnectedType
from termgraph.graph.trace import describe
from termgraph.graph.variable import Variable
from termgraph.tensor.elementwise import float_zeros_like
from termgraph.tensor.type import COMPLEX, DISCRETE, TensorType
from termgraph.tensor.variable import as_tensor_variable, constant

DISCONNECTED_INPUTS = ("raise", "warn", "ignore")
RETURN_DISCONNECTED = ("zero", "none", "disconnected")
NULL_GRADIENTS = ("raise", "return")


def grad(cost: Any, wrt: Any, consider_constant: Sequence[Variable] | None = None, disconnected_inputs: str = "raise",
         add_names: bool = True, known_grads: Mapping[Variable, Any] | None = None, return_disconnected: str = "zero",
         null_gradients: str = "raise") -> Any:
    """The gradient of the scalar `cost` with respect to `wrt`: a variable, or a list or tuple of which comes the same.

    Each gradient has the shape of its variable, and its dtype if that is a float; that of an integer is in config.floatX
    or the float the integer was promoted to. Through integers (rounding, comparisons) the gradient is zero.

    `consider_constant` are variables behind which nothing is looked for. `known_grads` gives the gradients of some
    variables instead of computing them; `cost` may then be None. `disconnected_inputs` says what happens when the cost
    does not depend on a variable ("raise" DisconnectedInputError, "warn" or "ignore"), and `return_disconnected` what is
    then returned for it ("zero", "none" or "disconnected"). `null_gradients` says whether a gradient that does not exist
    raises NullTypeGradError or is returned as a variable of NullType. Raises GraphTypeError where `cost` is not a real
    scalar.

    >>> import termgraph.tensor as tt
    >>> from termgraph.graph import evaluate
    >>> x = tt.scalar("x")
    >>> evaluate([grad(tt.exp(x) * x, x)], {x: x.type.filter(0.0)})
    [array(1.)]
    """
    check_choice("disconnected_inputs", disconnected_inputs, DISCONNECTED_INPUTS)
    check_choice("return_disconnected", return_disconnected, RETURN_DISCONNECTED)
    check_choice("null_gradients", null_gradients, NULL_GRADIENTS)
    variables = as_list(wrt, "wrt")
    fixed = {v: _known(v, g) for v, g in (known_grads or {}).items()}
    seeds = []
    if cost is not None:
        check_cost(cost)
        dtype = "float64" if cost.type.dtype in DISCRETE else cost.type.dtype
        seeds = [(cost, constant(1.0, dtype=dtype))]
    elif not fixed:
        raise GraphTypeError("grad() needs a cost, or known_grads to start from; got neither.")
    sweep = Sweep(seeds, variables, consider_constant or (), fixed)
    gradients = finish(sweep, cost, variables, disconnected_inputs, return_disconnected, null_gradients)
    if add_names and cost is not None and cost.name is not None:
        for gradient, variable in zip(gradients, variables, strict=True):
            if gradient is not None and gradient.owner is not None and gradient.name is None and variable.name is not None:
                gradient.name = f"(d{cost.name}/d{variable.name})"
    return like(wrt, gradients)


def finish(sweep: Sweep, cost: Any, variables: Sequence[Any], disconnected_inputs: str = "raise",
           return_disconnected: str = "zero", null_gradients: str = "raise") -> list[Any]:
    """What the user gets for each variable after the sweep: zeros are built here and nowhere else."""
    results = []
    for variable in variables:
        found = sweep.cotangents.get(variable)
        if found is None:
            results.append(disconnected(variable, cost, variable, disconnected_inputs, return_disconnected))
        elif found is ZERO:
            results.append(zeros_for(variable))
        elif is_null(found) and null_gradients == "raise":
            node = sweep.null_at.get(found)
            raise NullTypeGradError(variable, found.type.why_null, describe(node.trace if node else variable.trace))
        else:
            results.append(found)
    return results


def disconnected(variable: Any, cost: Any, like_what: Any, action: str, returned: str) -> Any:
    """Complain as `action` says that `cost` does not depend on `variable`; what stands for the derivative, which would be
    like `like_what`."""
    error = DisconnectedInputError(variable, cost, describe(variable.trace))
    if action == "raise":
        raise error
    if action == "warn":
        warnings.warn(str(error), UserWarning, stacklevel=4)
    if returned == "zero":
        return zeros_for(like_what)
    return None if returned == "none" else DisconnectedType()()


def zeros_for(variable: Any) -> Any:
    """Zeros of the shape of `variable` in a float dtype; for a type other than tensors what its method `zeros_like(dtype)`
    makes, and a variable of DisconnectedType where it has none."""
    if isinstance(variable.type, TensorType):
        return float_zeros_like(variable)
    zeros_like = getattr(variable, "zeros_like", None)
    if zeros_like is None:
        return DisconnectedType()()
    return zeros_like(config.floatX if variable.type.dtype in DISCRETE else variable.type.dtype)


def check_cost(cost: Any) -> None:
    """Raise GraphTypeError unless `cost` is a real scalar."""
    if is_null(cost):
        raise GraphTypeError(f"the cost is undefined: {cost.type.why_null}.")
    if not isinstance(cost, Variable) or not isinstance(cost.type, TensorType):
        raise GraphTypeError(f"the cost must be a scalar variable, got {getattr(cost, 'type', type(cost).__name__)}.")
    if cost.type.ndim != 0:
        raise GraphTypeError(f"the cost must be a scalar (0 dimensions), got {cost} with {cost.type.ndim}: {cost.type}. "
                             "Reduce it with .sum(), or use jacobian() for the derivative of a vector.")
    if cost.type.dtype in COMPLEX:
        raise GraphTypeError(f"the cost must be real, got {cost} of dtype {cost.type.dtype}; take its real or absolute part.")


def _known(variable: Any, gradient: Any) -> Any:
    if not isinstance(gradient, Variable):
        dtype = variable.type.dtype if variable.type.dtype not in DISCRETE else None
        gradient = as_tensor_variable(gradient, dtype=dtype)
    if not is_null(gradient):
        check_derivative(gradient, variable, f"the known gradient of {variable}")
    return gradient


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    """Raise ValueError unless `value` is one of `choices`."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")


def as_list(variables: Any, name: str) -> list[Any]:
    """`variables`, one or a list or tuple, as a list; raises GraphTypeError where one is not a Variable."""
    several = isinstance(variables, (list, tuple))
    for variable in variables if several else [variables]:
        if not isinstance(variable, Variable):
            raise GraphTypeError(f"{name} must be a variable or a list or tuple of them, got {type(variable).__name__}.")
    return list(variables) if several else [variables]


def like(given: Any, results: Sequence[Any]) -> Any:
    """The results in the container that was given: a list, a tuple, or none."""
    if isinstance(given, (list, tuple)):
        return tuple(results) if isinstance(given, tuple) else list(results)
    return results[0]
