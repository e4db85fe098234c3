"""Scalar functions on the stored values of a sparse matrix. The functions are those of the dense table, row by row.

A *structured* function leaves the structure as it is: what is not stored stays not stored, whatever f(0) is. Where f(0) = 0
that is the function itself, which then has its plain name too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import termgraph.tensor as tt
from termgraph.errors import GraphTypeError
from termgraph.graph.apply import Apply
from termgraph.graph.op import Op
from termgraph.sparse.derivative import sparse_cotangent, total
from termgraph.sparse.like import float_zeros_like
from termgraph.sparse.parts import csm_data, with_data
from termgraph.sparse.restrict import restrict
from termgraph.sparse.storage import with_values
from termgraph.sparse.variable import dense_input, sparse_input
from termgraph.tensor.elementwise import Elemwise, Row, row_named, unbroadcast
from termgraph.tensor.elementwise import float_zeros_like as dense_zeros_like
from termgraph.tensor.scalar import second
from termgraph.tensor.type import DISCRETE


class Structured(Op):
    """`scalar_op` on each stored value of its first argument; the others, if any, are dense scalars.

    Raises GraphTypeError where an argument is of the wrong kind, or the result of a dtype no sparse matrix has.
    """

    __props__ = ("scalar_op",)
    typed_by_inputs = True

    def __init__(self, scalar_op: Row) -> None:
        self.scalar_op = scalar_op

    def make_node(self, x: Any, *others: Any) -> Apply:
        row = self.scalar_op
        if len(others) != row.nin - 1:
            raise GraphTypeError(f"{self} takes {row.nin} arguments, got {1 + len(others)}.")
        x = sparse_input(self, x, "its first argument")
        scalars = [dense_input(self, y, "its other arguments, scalars", (0,), beside=x) for y in others]
        dtype = row.dtype([x.type.dtype, *(s.type.dtype for s in scalars)])
        return Apply(self, [x, *scalars], [x.type.clone(dtype=dtype).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        x, *scalars = inputs
        data = np.array(Elemwise(self.scalar_op).function_for(node)(x.data, *scalars))
        output_storage[0][0] = with_values(x, data)

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [input_shapes[0]]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        (x, *scalars), (out,) = inputs, outputs
        first, *rest = self.scalar_op.partials
        discrete = out.type.dtype in DISCRETE
        g = csm_data(restrict(cotangents[0], out))
        values = (csm_data(x), *scalars, csm_data(out))
        results = [float_zeros_like(x) if first is None or discrete else
                   sparse_cotangent(with_data(x, first(g, *values)), x)]
        results += [dense_zeros_like(s) if partial is None or discrete else
                    unbroadcast(tt.sum(partial(g, *values)), s) for s, partial in zip(scalars, rest, strict=True)]
        return results

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        (x, *scalars), (out,) = inputs, outputs
        if out.type.dtype in DISCRETE:
            return [None]
        values = (csm_data(x), *scalars, csm_data(out))
        directions = [None if tangents[0] is None else csm_data(restrict(tangents[0], x)), *tangents[1:]]
        data = total((partial(t, *values) for t, partial in zip(directions, self.scalar_op.partials, strict=True)
                      if t is not None and partial is not None), out.type.dtype)
        if data is None:
            return [None]
        return [with_data(x, second(values[0], data) if data.type.ndim == 0 else data)]

    def __str__(self) -> str:
        return f"Structured{{{self.scalar_op.name}}}"


def structured(name: str) -> Structured:
    """The Op that applies the function `name` of the dense table to stored values; raises KeyError."""
    return Structured(row_named(name))


structured_exp = structured("exp")
structured_exp2 = structured("exp2")
structured_log = structured("log")
structured_log2 = structured("log2")
structured_log10 = structured("log10")
structured_sigmoid = structured("sigmoid")
structured_softplus = structured("softplus")
structured_cos = structured("cos")
structured_cosh = structured("cosh")
structured_arccos = structured("arccos")
structured_arccosh = structured("arccosh")
structured_reciprocal = structured("reciprocal")
structured_real = structured("real")
# with a dense scalar as second argument
structured_add = structured("add")
structured_pow = structured("pow")
structured_maximum = structured("maximum")
structured_minimum = structured("minimum")
# f(0) = 0: structured or not is the same
neg = structured_neg = structured("neg")
abs = structured_abs = structured("abs")  # noqa: A001 - the functions have the names of the dense ones
sign = sgn = structured_sign = structured("sign")
sqr = structured_sqr = structured("sqr")
sqrt = structured_sqrt = structured("sqrt")
expm1 = structured_expm1 = structured("expm1")
log1p = structured_log1p = structured("log1p")
sin = structured_sin = structured("sin")
tan = structured_tan = structured("tan")
arcsin = structured_arcsin = structured("arcsin")
arctan = structured_arctan = structured("arctan")
sinh = structured_sinh = structured("sinh")
tanh = structured_tanh = structured("tanh")
arcsinh = structured_arcsinh = structured("arcsinh")
arctanh = structured_arctanh = structured("arctanh")
deg2rad = structured_deg2rad = structured("deg2rad")
rad2deg = structured_rad2deg = structured("rad2deg")
floor = structured_floor = structured("floor")
ceil = structured_ceil = structured("ceil")
trunc = structured_trunc = structured("trunc")
rint = structured_rint = structured("round_half_to_even")
conj = structured_conj = structured("conj")

__all__ = [_name for _name, _value in globals().items() if isinstance(_value, Structured)]
