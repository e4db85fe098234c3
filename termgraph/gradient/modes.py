"""Products with Jacobians in both modes, and the whole matrices made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from termgraph.errors import GraphTypeError
from termgraph.gradient.bridge import check_derivative, is_disconnected
from termgraph.gradient.forward import forward_sweep
from termgraph.gradient.grad import (
    DISCONNECTED_INPUTS,
    RETURN_DISCONNECTED,
    as_list,
    check_choice,
    disconnected,
    finish,
    grad,
    like,
    zeros_for,
)
from termgraph.gradient.reverse import Sweep
from termgraph.graph.variable import Variable
from termgraph.tensor.type import DISCRETE, TensorType
from termgraph.tensor.variable import TensorVariable, as_tensor_variable, constant


def _vectors(given: Any, primals: Sequence[Any], name: str) -> list[Any]:
    """One tangent or cotangent for each of `primals`; None and DisconnectedType stand for zero."""
    vectors = list(given) if isinstance(given, (list, tuple)) else [given]
    if len(vectors) != len(primals):
        raise GraphTypeError(f"{name} must give one for each of {len(primals)} variables, got {len(vectors)}.")
    results: list[Any] = []
    for vector, primal in zip(vectors, primals, strict=True):
        if vector is None or (isinstance(vector, Variable) and is_disconnected(vector)):
            results.append(None)
            continue
        if not isinstance(vector, Variable):
            vector = as_tensor_variable(vector, dtype=None if primal.type.dtype in DISCRETE else primal.type.dtype)
        check_derivative(vector, primal, f"{name} for {primal}")
        results.append(vector)
    return results


def pullback(f: Any, wrt: Any, output_cotangents: Any, consider_constant: Sequence[Variable] | None = None,
             disconnected_inputs: str = "raise", return_disconnected: str = "zero") -> Any:
    """Reverse mode: for each variable of `wrt` the sum over `f` of J^T w, where w is the cotangent of f, of its shape.

    `f`, `wrt` and `output_cotangents` are each one variable or a list or tuple; what comes is like `wrt`. The other
    arguments and the errors are those of `grad`.

    >>> import termgraph.tensor as tt
    >>> from termgraph.graph import evaluate
    >>> x, w = tt.vectors("x", "w")
    >>> evaluate([pullback(x ** 2, x, w)], {x: x.type.filter([1.0, 2.0]), w: w.type.filter([1.0, 10.0])})
    [array([ 2., 40.])]
    """
    check_choice("disconnected_inputs", disconnected_inputs, DISCONNECTED_INPUTS)
    check_choice("return_disconnected", return_disconnected, RETURN_DISCONNECTED)
    outputs, variables = as_list(f, "f"), as_list(wrt, "wrt")
    cotangents = _vectors(output_cotangents, outputs, "output_cotangents")
    seeds = [(o, w) for o, w in zip(outputs, cotangents, strict=True) if w is not None]
    sweep = Sweep(seeds, variables, consider_constant or ())
    return like(wrt, finish(sweep, f, variables, disconnected_inputs, return_disconnected))


def pushforward(f: Any, wrt: Any, tangents: Any, disconnected_outputs: str = "raise",
                return_disconnected: str = "zero") -> Any:
    """Forward mode: for each variable of `f` the sum over `wrt` of J v, where v is the tangent of that variable.

    Each Op pushes tangents forward by its `pushforward`, or by pulling back twice where it only has `pullback`. `f`, `wrt`
    and `tangents` are each one variable or a list or tuple; what comes is like `f`. `disconnected_outputs` says what
    happens when an output depends on none of `wrt` ("raise" DisconnectedInputError, "warn", "ignore"), and
    `return_disconnected` what is then returned for it ("zero", "none", "disconnected"). Raises MethodNotDefined for an Op
    that defines neither mode, NullTypeGradError where a derivative does not exist.

    >>> import termgraph.tensor as tt
    >>> from termgraph.graph import evaluate
    >>> x, v = tt.vectors("x", "v")
    >>> evaluate([pushforward(x ** 2, x, v)], {x: x.type.filter([1.0, 2.0]), v: v.type.filter([1.0, 10.0])})
    [array([ 2., 40.])]
    """
    check_choice("disconnected_outputs", disconnected_outputs, DISCONNECTED_INPUTS)
    check_choice("return_disconnected", return_disconnected, RETURN_DISCONNECTED)
    outputs, variables = as_list(f, "f"), as_list(wrt, "wrt")
    found, reached = forward_sweep(outputs, variables, _vectors(tangents, variables, "tangents"))
    results = []
    for output in outputs:
        if output in found:
            results.append(found[output])
        elif output in reached:
            results.append(zeros_for(output))
        else:
            results.append(disconnected(variables[0], output, output, disconnected_outputs, return_disconnected))
    return like(f, results)


def Lop(f: Any, wrt: Any, eval_points: Any, consider_constant: Sequence[Variable] | None = None,
        disconnected_inputs: str = "raise") -> Any:
    """`pullback` under its older name."""
    return pullback(f, wrt, eval_points, consider_constant, disconnected_inputs)


def Rop(f: Any, wrt: Any, eval_points: Any, disconnected_outputs: str = "raise", return_disconnected: str = "zero") -> Any:
    """`pushforward` under its older name."""
    return pushforward(f, wrt, eval_points, disconnected_outputs, return_disconnected)


def jacobian(expression: Any, wrt: Any, consider_constant: Sequence[Variable] | None = None,
             disconnected_inputs: str = "raise") -> Any:
    """The derivatives of each entry of `expression`, a scalar or vector: for each variable of `wrt` an array of shape
    `expression.shape + variable.shape`.

    There is one reverse sweep for each entry, so the length must be known before running: raises
    GraphTypeError where it is not, and where `expression` has more dimensions.

    >>> import termgraph.tensor as tt
    >>> from termgraph.graph import evaluate
    >>> x = tt.vector("x", shape=(2,))
    >>> evaluate([jacobian(x ** 2, x)], {x: x.type.filter([1.0, 2.0])})
    [array([[2., 0.],
           [0., 4.]])]
    """
    if not isinstance(expression, Variable) or not isinstance(expression.type, TensorType) or expression.type.ndim > 1:
        raise GraphTypeError(f"jacobian() takes a scalar or vector, got {getattr(expression, 'type', expression)}; "
                             "flatten the expression first.")
    if expression.type.ndim == 0:
        return grad(expression, wrt, consider_constant, disconnected_inputs)
    return _rows(expression, wrt, expression.type.shape[0], consider_constant, disconnected_inputs)


def _rows(expression: Any, wrt: Any, length: int | None, consider_constant: Sequence[Variable] | None,
          disconnected_inputs: str) -> Any:
    variables = as_list(wrt, "wrt")
    if length is None:
        raise GraphTypeError(f"the length of {expression}, {expression.type}, is not known before running, so its Jacobian "
                             "cannot be written out row by row. Give it a static shape (specify_shape), or use pullback() "
                             "and pushforward() for products with the Jacobian.")
    dtype = "float64" if expression.type.dtype in DISCRETE else expression.type.dtype
    units = np.eye(length, dtype=dtype)
    rows = [pullback(expression, variables, constant(unit), consider_constant, disconnected_inputs) for unit in units]
    functions = TensorVariable.functions
    if length == 0:
        return like(wrt, [functions["expand_dims"](zeros_for(v), 0)[:0] for v in variables])
    return like(wrt, [functions["stack"]([row[i] for row in rows]) for i in range(len(variables))])


def hessian(cost: Any, wrt: Any, consider_constant: Sequence[Variable] | None = None,
            disconnected_inputs: str = "raise") -> Any:
    """The second derivatives of the scalar `cost` with respect to each vector of `wrt`, a square matrix for each.

    The length of each vector must be known before running; raises GraphTypeError where it is not, or where a variable
    is not a vector.

    >>> import termgraph.tensor as tt
    >>> from termgraph.graph import evaluate
    >>> x = tt.vector("x", shape=(2,))
    >>> evaluate([hessian((x ** 3).sum(), x)], {x: x.type.filter([1.0, 2.0])})
    [array([[ 6.,  0.],
           [ 0., 12.]])]
    """
    results = []
    for variable in as_list(wrt, "wrt"):
        if variable.type.ndim != 1:
            raise GraphTypeError(f"hessian() takes vectors, got {variable} of type {variable.type}.")
        slope = grad(cost, variable, consider_constant, disconnected_inputs)
        # A gradient that does not depend on its variable has zeros for its derivative: nothing to complain about.
        results.append(_rows(slope, variable, variable.type.shape[0], consider_constant, "ignore"))
    return like(wrt, results)


def hessian_vector_product(cost: Any, wrt: Any, p: Any, **grad_kwargs: Any) -> Any:
    """The Hessian of the scalar `cost` times the direction `p`, which has the form and shapes of `wrt`: forward mode over
    reverse mode, at a small multiple of the cost's own work. Keyword arguments go to `grad`.

    >>> import termgraph.tensor as tt
    >>> from termgraph.graph import evaluate
    >>> x, p = tt.vectors("x", "p")
    >>> evaluate([hessian_vector_product((x ** 3).sum(), x, p)], {x: x.type.filter([1.0, 2.0]), p: p.type.filter([1.0, 1.0])})
    [array([ 6., 12.])]
    """
    return pushforward(grad(cost, wrt, **grad_kwargs), wrt, p, disconnected_outputs="ignore")
