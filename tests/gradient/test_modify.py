"""Identities that change the derivative."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import termgraph.tensor as tt
from termgraph.errors import DisconnectedInputError
from termgraph.gradient import consider_constant, disconnected_grad, grad, grad_clip, grad_scale, pushforward, zero_grad
from termgraph.gradient.modify import GradClip, GradScale
from termgraph.graph import evaluate

ALL = [zero_grad, disconnected_grad, consider_constant, lambda x: grad_clip(x, -1, 1), lambda x: grad_scale(x, 3)]


@pytest.mark.parametrize("function", ALL)
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_the_value_and_type_are_the_inputs(function, shape):
    x = tt.tensor("x", shape=shape)
    y = function(x)
    assert y.type is x.type
    value = np.ones(shape)
    assert evaluate([y], {x: value})[0] is value
    assert y.owner.op.view_map == {0: [0]}
    assert y.owner.op.infer_shape(None, y.owner, [shape]) == [shape]
    assert pickle.loads(pickle.dumps(y.owner.op)) == y.owner.op


def derivative(function, value, mode):
    x = tt.scalar("x")
    y = function(x) ** 2 * 5 + x
    made = grad(y, x) if mode == "reverse" else pushforward(y, x, 1.0)
    return float(evaluate([made], {x: np.array(value)})[0])


@pytest.mark.parametrize(("function", "reverse", "forward"), [
    (zero_grad, 1, 1), (consider_constant, 1, 1), (disconnected_grad, 1, 1), (lambda x: grad_clip(x, -2, 4), 5, 21),
    (lambda x: grad_clip(x, -2, 400), 21, 21), (lambda x: grad_scale(x, -0.5), -9, -9),
])
def test_derivatives(function, reverse, forward):
    assert derivative(function, 2.0, "reverse") == reverse
    assert derivative(function, 2.0, "forward") == forward


def test_zero_is_connected_and_disconnected_is_not():
    x = tt.vector("x")
    assert evaluate([grad(zero_grad(x).sum(), x)], {x: np.ones(2)})[0].tolist() == [0, 0]
    with pytest.raises(DisconnectedInputError):
        grad(disconnected_grad(x).sum(), x)
    with pytest.raises(DisconnectedInputError):
        pushforward(disconnected_grad(x), x, tt.vector())


def test_each_element_is_clipped():
    x = tt.vector("x")
    weights = tt.constant([-10.0, 0.5, 10.0])
    assert evaluate([grad((grad_clip(x, -1, 2) * weights).sum(), x)], {x: np.ones(3)})[0].tolist() == [-1, 0.5, 2]


def test_parameters():
    assert GradClip(0, 1) == GradClip(0.0, 1.0)
    assert GradScale(2) != GradScale(3)
    with pytest.raises(ValueError, match="must not exceed"):
        grad_clip(tt.scalar(), 2, 1)
