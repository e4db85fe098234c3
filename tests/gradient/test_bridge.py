"""Ops that define the older methods, and what is refused from any Op."""

from __future__ import annotations

import numpy as np
import pytest

import termgraph.tensor as tt
from termgraph.errors import GraphTypeError, MethodNotDefined
from termgraph.gradient import DisconnectedType, grad, pullback_of, pushforward, pushforward_of
from termgraph.graph import Apply, Op, evaluate


class Cube(Op):
    """x**3; subclasses give its derivatives."""

    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.asarray(inputs[0] ** 3)


class WithGrad(Cube):
    __props__ = ()

    def grad(self, inputs, output_grads):
        return [3 * inputs[0] ** 2 * output_grads[0]]


class WithLop(Cube):
    __props__ = ()

    def L_op(self, inputs, outputs, output_grads):
        return [3 * outputs[0] / inputs[0] * output_grads[0]]


class WithRop(WithGrad):
    __props__ = ()

    def R_op(self, inputs, eval_points):
        return [None if eval_points[0] is None else 3 * inputs[0] ** 2 * eval_points[0]]


class Overridden(WithLop):
    """A subclass that overrides with the oldest method is heard."""

    __props__ = ()

    def grad(self, inputs, output_grads):
        return [-output_grads[0]]


@pytest.mark.parametrize(("op", "name", "expected"), [(WithGrad, "grad", 12), (WithLop, "L_op", 12), (Overridden, "grad", -1)])
def test_older_reverse_methods(op, name, expected):
    x = tt.scalar("x")
    with pytest.warns(DeprecationWarning, match=rf"{op.__name__} defines the older {name}\(\)"):
        gradient = grad(op()(x), x)
    assert float(evaluate([gradient], {x: np.array(2.0)})[0]) == expected


def test_the_older_forward_method():
    x = tt.scalar("x")
    with pytest.warns(DeprecationWarning, match="R_op"):
        tangent = pushforward(WithRop()(x), x, 10.0)
    assert float(evaluate([tangent], {x: np.array(2.0)})[0]) == 120


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forward_mode_through_the_older_reverse_method():
    x = tt.scalar("x")
    assert float(evaluate([pushforward(WithGrad()(x), x, 10.0)], {x: np.array(2.0)})[0]) == 120


def test_no_method_at_all():
    node = Cube()(tt.scalar("x")).owner
    with pytest.raises(MethodNotDefined, match="pullback"):
        pullback_of(node, [tt.constant(1.0)])
    with pytest.raises(MethodNotDefined, match="pushforward"):
        pushforward_of(node, [tt.constant(1.0)])


def returning(*derivatives):
    class Wrong(Cube):
        __props__ = ()

        def pullback(self, inputs, outputs, cotangents):
            return list(derivatives)

        def pushforward(self, inputs, outputs, tangents):
            return list(derivatives)
    return Wrong()


@pytest.mark.parametrize(("op", "message"), [
    (returning(), "returned 0 derivatives, expected 1"), (returning(tt.constant([1.0])), "rank"),
    (returning(tt.constant(1)), "integer dtype"), (returning(1.0), "must be a variable, got float|has no attribute"),
], ids=["number", "rank", "dtype", "no variable"])
def test_what_no_op_may_return(op, message):
    node = op(tt.scalar("x")).owner
    for ask in (pullback_of, pushforward_of):
        with pytest.raises(GraphTypeError, match=message) as caught:
            ask(node, [tt.constant(1.0)])
        assert "test_bridge.py" in str(caught.value)
        assert "Wrong" in str(caught.value)


def test_none_is_zero_forward_and_a_mistake_backward():
    node = returning(None)(tt.scalar("x")).owner
    assert pushforward_of(node, [tt.constant(1.0)]) == [None]
    with pytest.raises(GraphTypeError, match="returned None for input 0"):
        pullback_of(node, [tt.constant(1.0)])
    disconnected = returning(DisconnectedType()())(tt.scalar("x")).owner
    assert pushforward_of(disconnected, [tt.constant(1.0)]) == [None]


def test_a_derivative_gets_the_float_dtype_of_its_variable():
    x = tt.scalar("x", dtype="float32")
    node = returning(tt.constant(np.float64(2)))(x).owner
    assert pullback_of(node, [tt.constant(np.float32(1))])[0].type.dtype == "float32"
    assert pushforward_of(node, [tt.constant(np.float32(1))])[0].type.dtype == "float32"
