"""verify_grad accepts what is right, and finds a planted fault at its input and entry."""

from __future__ import annotations

import numpy as np
import pytest

import termgraph.tensor as tt
from termgraph.errors import GradientCheckError, GraphTypeError
from termgraph.gradient import verify_grad
from termgraph.graph import Apply, Op


class Product(Op):
    """x*y of vectors; `reverse` and `forward` are what the derivatives in y are multiplied by: ones if they are right."""

    __props__ = ("forward", "reverse")

    def __init__(self, reverse=(1.0, 1.0, 1.0), forward=(1.0, 1.0, 1.0)):
        self.reverse, self.forward = reverse, forward

    def make_node(self, x, y):
        return Apply(self, [x, y], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] * inputs[1]

    def pullback(self, inputs, outputs, cotangents):
        (x, y), (g,) = inputs, cotangents
        return [g * y, g * x * np.array(self.reverse)]

    def pushforward(self, inputs, outputs, tangents):
        (x, y), (t, u) = inputs, tangents
        along_x = None if t is None else t * y
        along_y = None if u is None else u * x * np.array(self.forward)
        return [along_x + along_y if t is not None and u is not None else along_x if u is None else along_y]


class OnlyReverse(Product):
    __props__ = ("forward", "reverse")
    pushforward = Op.pushforward


POINTS = [np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 4.0])]


def test_what_is_right_passes():
    verify_grad(Product(), POINTS)
    verify_grad(lambda x, y: [x * y, tt.exp(x)], POINTS)
    verify_grad(lambda x: tt.floor(x), [np.array([0.5])])
    verify_grad(lambda x: tt.constant(2.0), POINTS[:1])


def test_a_wrong_pullback_is_found_at_its_input_and_entry():
    with pytest.raises(GradientCheckError, match=r"the pullback of input 1 is wrong at entry \(2,\)") as caught:
        verify_grad(Product(reverse=(1.0, 1.0, 1.001)), POINTS)
    error = caught.value
    assert (error.index, error.entry) == (1, (2,))
    assert error.got == pytest.approx(error.expected * 1.001, rel=1e-6)


def test_a_wrong_pushforward_is_found():
    with pytest.raises(GradientCheckError, match=r"the pushforward of input 1 is wrong at entry \(0,\)") as caught:
        verify_grad(Product(forward=(-1.0, 1.0, 1.0)), POINTS)
    assert caught.value.index == 1


def test_a_fault_inside_a_larger_graph():
    with pytest.raises(GradientCheckError, match="input 1"):
        verify_grad(lambda x, y: tt.exp(Product(reverse=(1.0, 1.01, 1.0))(x, tt.sin(y))).sum(), POINTS)


def test_a_nan_derivative_is_found():
    with pytest.raises(GradientCheckError, match="nan"):
        verify_grad(Product(reverse=(1.0, float("nan"), 1.0)), POINTS)


class WrongShape(Product):
    __props__ = ("forward", "reverse")

    def pullback(self, inputs, outputs, cotangents):
        return [cotangents[0] * inputs[1], cotangents[0][:1]]


def test_a_wrong_shape_is_found():
    with pytest.raises(GraphTypeError, match=r"pullback of input 1 has shape \(1,\), expected \(3,\)"):
        verify_grad(WrongShape(), POINTS)


def test_forward_mode_is_left_out_where_an_op_does_not_define_it():
    verify_grad(OnlyReverse(forward=(9.0, 9.0, 9.0)), POINTS)
    with pytest.raises(GradientCheckError):
        verify_grad(OnlyReverse(reverse=(1.0, 2.0, 1.0)), POINTS)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tolerances_follow_the_dtype(dtype):
    points = [p.astype(dtype) for p in POINTS]
    verify_grad(lambda x, y: tt.exp(x) * tt.sin(y), points)
    with pytest.raises(GradientCheckError):
        verify_grad(Product(reverse=(1.0, 1.1, 1.0)), points)


def test_tolerances_and_step_can_be_given():
    wrong = Product(reverse=(1.0, 1.001, 1.0), forward=(1.0, 1.0, 1.0))
    verify_grad(wrong, POINTS, rel_tol=1e-2)
    with pytest.raises(GradientCheckError):
        verify_grad(tt.exp, POINTS[:1], eps=1.0)


def test_out_type():
    verify_grad(tt.exp, [np.array([0.5], "float32")], out_type="float64")


def test_points_must_be_floats():
    with pytest.raises(GraphTypeError, match="float dtype, got int64 for input 0"):
        verify_grad(tt.exp, [np.array([1, 2])])


def test_the_points_are_not_changed_and_the_check_is_repeatable():
    points = [p.copy() for p in POINTS]
    verify_grad(Product(), points)
    assert all((a == b).all() for a, b in zip(points, POINTS, strict=True))
    messages = []
    for _ in range(2):
        with pytest.raises(GradientCheckError) as caught:
            verify_grad(Product(reverse=(1.0, 1.0, 1.1)), POINTS)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 0), (1, 3)])
def test_every_shape(shape):
    verify_grad(lambda x: tt.sin(x) * 2, [np.full(shape, 0.3)])
