"""Products with Jacobians in both modes, and Jacobians and Hessians, against each other and against known ones."""

from __future__ import annotations

import numpy as np
import pytest

import termgraph.tensor as tt
from termgraph.errors import DisconnectedInputError, GraphTypeError, MethodNotDefined, NullTypeGradError
from termgraph.gradient import Lop, Rop, grad, hessian, hessian_vector_product, jacobian, pullback, pushforward
from termgraph.graph import Apply, Op, evaluate
from termgraph.graph.traversal import toposort

RNG = np.random.default_rng(0)

FUNCTIONS = {
    "elementwise": lambda x, m: tt.tanh(x) * tt.exp(-x),
    "broadcast": lambda x, m: x * m,
    "reduction": lambda x, m: (x * m).sum(axis=0) * x.sum(),
    "maximum": lambda x, m: tt.maximum(m, x).max(axis=1),
    "product": lambda x, m: m @ x,
    "index": lambda x, m: m[0] * x[::-1],
    "shared": lambda x, m: (y := tt.sin(x)) * y + y / (2 + y),
    "transpose": lambda x, m: tt.exp(m.T).sum(axis=1) * x,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_forward_and_reverse_are_adjoint(name):
    """<J v, w> = <v, J^T w>"""
    x, m = tt.vector("x"), tt.matrix("m")
    values = {x: RNG.normal(size=3), m: RNG.normal(size=(2, 3))}
    y = FUNCTIONS[name](x, m)
    w = RNG.normal(size=evaluate([y], values)[0].shape)
    v, u = RNG.normal(size=3), RNG.normal(size=(2, 3))
    jv = Rop(y, [x, m], [tt.constant(v), tt.constant(u)])
    wx, wm = Lop(y, [x, m], tt.constant(w), disconnected_inputs="ignore")
    jv, wx, wm = evaluate([jv, wx, wm], values)
    assert jv.shape == w.shape
    assert (jv * w).sum() == pytest.approx((wx * v).sum() + (wm * u).sum(), rel=1e-12)


def test_several_outputs_and_containers():
    x, y = tt.scalars("x", "y")
    at = {x: np.array(2.0), y: np.array(3.0)}
    pulled = pullback([x * y, x + y], (x, y), [1.0, 10.0])
    assert isinstance(pulled, tuple)
    assert [float(v) for v in evaluate(pulled, at)] == [13, 12]
    pushed = pushforward((x * y, x + y), [x, y], [1.0, 10.0])
    assert isinstance(pushed, tuple)
    assert [float(v) for v in evaluate(pushed, at)] == [23, 11]
    assert float(evaluate([pushforward(x * y, x, 1.0)], at)[0]) == 3


def test_none_is_a_zero_vector():
    x, y = tt.scalars("x", "y")
    at = {x: np.array(2.0), y: np.array(3.0)}
    assert float(evaluate([pushforward(x * y, [x, y], [None, 1.0])], at)[0]) == 2
    assert float(evaluate([pushforward(x * y, x, None)], at)[0]) == 0
    assert float(evaluate([pullback([x * y, x], x, [None, 1.0])], at)[0]) == 1


def test_one_output_twice_counts_twice():
    x = tt.scalar("x")
    y = x * x
    assert float(evaluate([pullback([y, y], x, [1.0, 1.0])], {x: np.array(3.0)})[0]) == 12


def test_with_respect_to_an_intermediate():
    x = tt.scalar("x")
    y = tt.exp(x)
    # y keeps the tangent it is given, whatever x has.
    assert float(evaluate([pushforward(y * 3 + x, [x, y], [1.0, 10.0])], {x: np.array(0.0)})[0]) == 31


@pytest.mark.parametrize("mode", [pullback, pushforward])
def test_vectors_that_cannot_be(mode):
    x = tt.vector("x")
    with pytest.raises(GraphTypeError, match="rank"):
        mode(x * 2, x, tt.scalar())
    with pytest.raises(GraphTypeError, match="one for each of 1"):
        mode(x * 2, x, [tt.vector(), tt.vector()])
    with pytest.raises(GraphTypeError, match="integer dtype"):
        mode(x * 2, x, tt.lvector())
    with pytest.raises(GraphTypeError, match="f must be a variable"):
        mode(2.0, x, tt.vector())


def test_disconnected_outputs():
    x, y = tt.vectors("x", "y")
    with pytest.raises(DisconnectedInputError):
        pushforward(y * 2, x, tt.vector())
    zeros = pushforward(y * 2, x, tt.vector(), disconnected_outputs="ignore")
    assert evaluate([zeros], {y: np.ones(2)})[0].tolist() == [0, 0]
    assert pushforward(y * 2, x, tt.vector(), disconnected_outputs="ignore", return_disconnected="none") is None
    with pytest.warns(UserWarning):
        pushforward(y * 2, x, tt.vector(), disconnected_outputs="warn")
    assert evaluate([pushforward(tt.floor(x), x, tt.vector())], {x: np.ones(2)})[0].tolist() == [0, 0]


class Square(Op):
    """x*x with reverse mode only."""

    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.asarray(inputs[0] ** 2)

    def pullback(self, inputs, outputs, cotangents):
        return [2 * inputs[0] * cotangents[0]]


class SumAndProduct(Op):
    """(x + y, x*y) with reverse mode only; the pullback of the sum returns its cotangent itself, twice."""

    __props__ = ()

    def make_node(self, x, y):
        return Apply(self, [x, y], [x.type(), x.type()])

    def perform(self, node, inputs, output_storage):
        x, y = inputs
        output_storage[0][0], output_storage[1][0] = np.asarray(x + y), np.asarray(x * y)

    def pullback(self, inputs, outputs, cotangents):
        (x, y), (g, h) = inputs, cotangents
        return [g + h * y, g + h * x]


class Plus(Op):
    """x + y, whose pullback gives one variable for both."""

    __props__ = ()

    def make_node(self, x, y):
        return Apply(self, [x, y], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.asarray(inputs[0] + inputs[1])

    def pullback(self, inputs, outputs, cotangents):
        return [cotangents[0], cotangents[0]]


def test_forward_mode_from_the_pullback_alone():
    x, y = tt.vectors("x", "y")
    at = {x: np.array([2.0, 3.0]), y: np.array([5.0, 7.0])}
    v, u = tt.constant([1.0, 10.0]), tt.constant([100.0, 1000.0])
    assert evaluate([pushforward(tt.sin(Square()(x)), x, v)], at)[0] == pytest.approx(np.cos([4, 9]) * [4, 60])
    assert evaluate([pushforward(Plus()(x, y), [x, y], [v, u])], at)[0].tolist() == [101, 1010]
    assert evaluate([pushforward(Plus()(x, x), x, v)], at)[0].tolist() == [2, 20]
    total, product = pushforward(SumAndProduct()(x, y), [x, y], [v, u])
    assert evaluate([total, product], at)[0].tolist() == [101, 1010]
    assert evaluate([total, product], at)[1].tolist() == [205, 3070]
    assert evaluate([pushforward(SumAndProduct()(x, y)[1], y, u)], at)[0].tolist() == [200, 3000]


def test_an_op_with_neither_mode():
    class Opaque(Square):
        __props__ = ()
        pullback = Op.pullback
    x = tt.scalar("x")
    with pytest.raises(MethodNotDefined, match="Opaque"):
        pushforward(Opaque()(x), x, 1.0)


def test_a_derivative_that_does_not_exist():
    x, n = tt.scalar("x"), tt.scalar("n")
    from_pullback = UndefinedInY()(x, n)
    assert float(evaluate([pushforward(from_pullback, x, 1.0)], {x: np.array(2.0), n: np.array(1.0)})[0]) == 1
    with pytest.raises(NullTypeGradError, match="no derivative here"):
        pushforward(from_pullback, n, 1.0)


class UndefinedInY(Op):
    """x + y without a derivative in y."""

    __props__ = ()

    def make_node(self, x, y):
        return Apply(self, [x, y], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.asarray(inputs[0] + inputs[1])

    def pullback(self, inputs, outputs, cotangents):
        from termgraph.gradient import grad_undefined  # noqa: PLC0415
        return [cotangents[0], grad_undefined(self, 1, inputs[1], "There is no derivative here")]


def test_forward_mode_is_not_recursive():
    x = y = tt.scalar("x")
    for _ in range(20_000):
        y = -y
    assert float(evaluate([pushforward(y, x, 1.0)], {x: np.array(1.0)})[0]) == 1


def test_forward_mode_builds_no_more_than_it_needs():
    x, y = tt.scalars("x", "y")
    tangent = pushforward(tt.exp(x) + tt.exp(y), x, tt.scalar("v"))
    assert len(toposort([tangent])) == 2  # exp(x) * v


# --- whole matrices ---------------------------------------------------------------------------------------------------


def test_jacobian():
    x, m = tt.vector("x", shape=(3,)), tt.matrix("m", shape=(2, 3))
    at = {x: RNG.normal(size=3), m: RNG.normal(size=(2, 3))}
    jx, jm = jacobian(m @ x, [x, m])
    got_x, got_m = evaluate([jx, jm], at)
    np.testing.assert_allclose(got_x, at[m])
    np.testing.assert_allclose(got_m, np.einsum("ik,j->ikj", np.eye(2), at[x]))
    np.testing.assert_allclose(evaluate([jacobian(x.sum() ** 2, x)], at)[0], np.full(3, 2 * at[x].sum()))


@pytest.mark.parametrize("length", [0, 1, 4])
def test_jacobian_of_each_length(length):
    x = tt.vector("x", shape=(length,))
    value = RNG.normal(size=length)
    got = evaluate([jacobian(tt.sin(x), x)], {x: value})[0]
    assert got.shape == (length, length)
    np.testing.assert_allclose(got, np.diag(np.cos(value)).reshape(length, length))


def test_jacobian_where_it_cannot_be_written_out():
    x, m = tt.vector("x"), tt.matrix("m")
    with pytest.raises(GraphTypeError, match="not known before running"):
        jacobian(x * 2, x)
    with pytest.raises(GraphTypeError, match="scalar or vector"):
        jacobian(m, m)
    with pytest.raises(DisconnectedInputError):
        jacobian(tt.vector(shape=(2,)) * 2, x)


def test_hessian():
    x, y = tt.vector("x", shape=(3,)), tt.vector("y", shape=(2,))
    a = RNG.normal(size=(3, 3))
    cost = (x * (tt.constant(a) @ x)).sum() + (y ** 3).sum()
    at = {x: RNG.normal(size=3), y: np.array([1.0, 2.0])}
    hx, hy = evaluate(hessian(cost, [x, y]), at)
    np.testing.assert_allclose(hx, a + a.T, atol=1e-12)
    np.testing.assert_allclose(hy, np.diag([6.0, 12.0]))
    assert evaluate([hessian((3 * x).sum(), x)], at)[0].tolist() == np.zeros((3, 3)).tolist()


def test_hessian_where_it_cannot_be():
    with pytest.raises(GraphTypeError, match="takes vectors"):
        hessian(tt.constant(1.0), tt.matrix())
    x = tt.vector("x")
    with pytest.raises(GraphTypeError, match="not known before running"):
        hessian((x ** 2).sum(), x)


def test_hessian_vector_product():
    x = tt.vector("x")
    p = tt.vector("p")
    cost = tt.exp(x).sum() * (x ** 2).sum()
    at = {x: RNG.normal(size=3), p: RNG.normal(size=3)}
    fixed = tt.vector("x", shape=(3,))
    full = hessian(tt.exp(fixed).sum() * (fixed ** 2).sum(), fixed)
    product = evaluate([hessian_vector_product(cost, x, p)], at)[0]
    np.testing.assert_allclose(product, evaluate([full], {fixed: at[x]})[0] @ at[p])
    # The same by reverse over reverse.
    np.testing.assert_allclose(product, evaluate([Lop(grad(cost, x), x, p)], at)[0])


def test_hessian_vector_product_of_several():
    x, y = tt.scalars("x", "y")
    products = hessian_vector_product(x * x * y, [x, y], [1.0, 10.0])
    assert [float(v) for v in evaluate(products, {x: np.array(2.0), y: np.array(3.0)})] == [46, 4]
