"""grad: against finite differences on random graphs, what is disconnected or undefined, integers, deep graphs, economy."""

from __future__ import annotations

import numpy as np
import pytest

import termgraph.tensor as tt
from termgraph.config import config
from termgraph.errors import DisconnectedInputError, GraphTypeError, NullTypeGradError
from termgraph.gradient import DisconnectedType, NullType, grad, grad_undefined, verify_grad
from termgraph.graph import Apply, Op, ancestors, evaluate
from termgraph.graph.traversal import toposort

UNARY = [tt.sin, tt.tanh, tt.sigmoid, lambda x: tt.exp(-x * x), lambda x: tt.log(2 + tt.cos(x)), lambda x: tt.sqrt(1 + x * x),
         lambda x: x.sum(), lambda x: x.sum(axis=tuple(range(x.type.ndim))[:1], keepdims=True)]
BINARY = [tt.add, tt.sub, tt.mul, lambda x, y: x / (2 + y * y), tt.maximum, lambda x, y: tt.switch(x > y, x * y, x - y)]


def random_graph(seed):
    """A function of arrays that is a random graph with much sharing."""
    def build(*inputs):
        rng = np.random.default_rng(seed)
        pool = list(inputs)
        for _ in range(12):
            a, b = (pool[rng.integers(len(pool))] for _ in range(2))
            pool.append(UNARY[rng.integers(len(UNARY))](a) if rng.random() < 0.4 else BINARY[rng.integers(len(BINARY))](a, b))
        return sum((p.sum() for p in pool[-4:]), tt.constant(0.0))
    return build


@pytest.mark.parametrize("seed", range(25))
def test_random_graphs(seed):
    rng = np.random.default_rng(seed)
    verify_grad(random_graph(seed), [rng.normal(size=s) for s in ((2, 3), (3,), (2, 1))], n_tests=1)


def value_of(variable, givens):
    return evaluate([variable], givens)[0]


# --- what comes back --------------------------------------------------------------------------------------------------


def test_the_container_is_that_of_wrt():
    x, y = tt.scalars("x", "y")
    cost = x * y
    assert not isinstance(grad(cost, x), (list, tuple))
    assert isinstance(grad(cost, [x, y]), list)
    assert isinstance(grad(cost, (x, y)), tuple)
    assert grad(cost, []) == []
    dx, again = grad(cost, [x, x])
    assert dx is again


def test_with_respect_to_an_intermediate_and_to_what_it_is_computed_from():
    x = tt.scalar("x")
    y = tt.exp(x)
    dx, dy = grad(y * y, [x, y])
    at = {x: np.array(0.5)}
    assert value_of(dy, at) == pytest.approx(2 * np.exp(0.5))
    assert value_of(dx, at) == pytest.approx(2 * np.exp(1.0))


def test_the_cost_itself():
    x = tt.scalar("x")
    assert value_of(grad(x, x), {x: np.array(3.0)}) == 1
    y = x * 2
    assert value_of(grad(y, y), {x: np.array(3.0)}) == 1


def test_names():
    x, y = tt.scalar("x"), tt.scalar()
    cost = x * y * x
    cost.name = "c"
    dx, dy = grad(cost, [x, y])
    assert dx.name == "(dc/dx)"
    assert dy.name is None
    assert grad(cost, x, add_names=False).name is None
    # A gradient that is somebody else's variable keeps its name.
    known = tt.scalar("known")
    assert grad(cost, x, known_grads={x: known}) is known
    assert known.name == "known"


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_gradient_has_the_dtype_of_its_variable(dtype):
    x, y = tt.vector("x", dtype=dtype), tt.vector("y", dtype="float64")
    assert grad((x * y).sum(), x).type.dtype == dtype
    assert grad(tt.exp(x).sum(), x).type.dtype == dtype


# --- economy: nothing is built that a rule would have to remove -------------------------------------------------------


def nodes_behind(gradient):
    return {n.op for n in toposort([gradient])}


def test_no_add_for_one_contribution_and_one_for_two():
    x, y = tt.scalars("x", "y")
    assert tt.add not in nodes_behind(grad(tt.exp(x) * y, x))
    assert len([n for n in toposort([grad(tt.exp(x) * tt.sin(x), x)]) if n.op == tt.add]) == 1


def test_zeros_are_not_passed_on():
    x = tt.vector("x")
    gradient = grad(tt.switch(tt.exp(x) > 1, x, 2 * x).sum() + tt.floor(tt.log(x)).sum(), x)
    # One add, for the two branches: nothing came from the condition or the floor.
    assert len([n for n in toposort([gradient]) if n.op == tt.add]) == 1
    assert not nodes_behind(gradient) & {tt.log, tt.floor}
    assert value_of(gradient, {x: np.array([-1.0, 1.0])}).tolist() == [2.0, 1.0]


class Spy(Op):
    """exp, which counts the calls of its pullback."""

    __props__ = ()
    calls = 0

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.exp(inputs[0])

    def pullback(self, inputs, outputs, cotangents):
        Spy.calls += 1
        return [cotangents[0] * outputs[0]]


def test_only_nodes_between_are_asked():
    x, y = tt.scalars("x", "y")
    Spy.calls = 0
    grad(Spy()(x) * Spy()(y), y)
    assert Spy.calls == 1
    grad(Spy()(tt.floor(Spy()(y))) * y, y)  # through floor nothing comes back to the inner one
    assert Spy.calls == 2
    shared = Spy()(x)
    for _ in range(5):
        shared = shared * shared
    grad(shared, x)
    assert Spy.calls == 3


# --- depth ------------------------------------------------------------------------------------------------------------


def test_a_chain_of_100_000():
    x = y = tt.scalar("x")
    for _ in range(100_000):
        y = -y
    gradient = grad(y, x)
    assert len(toposort([gradient])) <= 100_000
    assert value_of(gradient, {x: np.array(1.0)}) == 1


def test_a_deep_graph_of_doublings():
    # 2^60 paths: each node has to be visited once.
    x = y = tt.scalar("x")
    for _ in range(60):
        y = y + y
    assert value_of(grad(y, x), {x: np.array(1.0)}) == 2.0 ** 60


def test_a_variable_with_very_many_clients():
    x = tt.scalar("x")
    cost = tt.constant(0.0)
    for i in range(3000):
        cost = cost + x * float(i)
    assert value_of(grad(cost, x), {x: np.array(1.0)}) == sum(range(3000))


# --- disconnected -----------------------------------------------------------------------------------------------------


def test_disconnected_inputs():
    x, y = tt.vector("x"), tt.scalar("y")
    cost = y * 2
    with pytest.raises(DisconnectedInputError, match=r"does not depend on x[\s\S]*test_grad.py"):
        grad(cost, x)
    with pytest.warns(UserWarning, match="does not depend on x"):
        zeros = grad(cost, x, disconnected_inputs="warn")
    assert value_of(zeros, {x: np.ones(3)}).tolist() == [0, 0, 0]
    zeros, dy = grad(cost, [x, y], disconnected_inputs="ignore")
    assert value_of(zeros, {x: np.ones(2)}).tolist() == [0, 0]
    assert value_of(dy, {y: np.array(1.0)}) == 2
    assert grad(cost, x, disconnected_inputs="ignore", return_disconnected="none") is None
    assert isinstance(grad(cost, x, disconnected_inputs="ignore", return_disconnected="disconnected").type, DisconnectedType)


@pytest.mark.parametrize("argument", ["disconnected_inputs", "return_disconnected", "null_gradients"])
def test_unknown_choices(argument):
    x = tt.scalar("x")
    with pytest.raises(ValueError, match=f"{argument} must be one of"):
        grad(x * 2, x, **{argument: "perhaps"})


def test_a_shape_or_an_index_is_no_connection():
    x, y, i = tt.vector("x"), tt.vector("y"), tt.lscalar("i")
    with pytest.raises(DisconnectedInputError):
        grad(tt.second(x, tt.constant(2.0)).sum(), x)
    with pytest.raises(DisconnectedInputError):
        grad(y[i], i)


def test_comparisons_and_rounding_are_connections_with_derivative_zero():
    x = tt.vector("x")
    for cost in (tt.floor(x).sum(), (x > 0).sum(), tt.cast(x > 0, "float64").sum(), tt.sign(x).sum(), tt.argmax(x),
                 tt.cast(tt.cast(x, "int8"), "float64").sum()):
        zeros = grad(cost, x)
        assert zeros.type.dtype == "float64"
        assert value_of(zeros, {x: np.array([1.5, -2.0])}).tolist() == [0, 0]


# --- undefined --------------------------------------------------------------------------------------------------------


class Undefined(Op):
    """x + y, said to have no derivative with respect to y."""

    __props__ = ()

    def make_node(self, x, y):
        return Apply(self, [x, y], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.asarray(inputs[0] + inputs[1])

    def pullback(self, inputs, outputs, cotangents):
        return [cotangents[0], grad_undefined(self, 1, inputs[1], "It jumps")]


class NoDerivative(Op):
    """The identity, with neither mode."""

    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0].copy()


def test_a_gradient_that_does_not_exist():
    x, y, z = tt.scalars("x", "y", "z")
    cost = Undefined()(x, tt.exp(y) * z) * y
    assert value_of(grad(cost, x), {y: np.array(3.0)}) == 3
    with pytest.raises(NullTypeGradError, match="with respect to y is undefined: ") as caught:
        grad(cost, y)
    assert all(text in str(caught.value) for text in ("Undefined", "It jumps", "test_grad.py", "cost = Undefined()"))
    dx, dz = grad(cost, [x, z], null_gradients="return")
    assert isinstance(dz.type, NullType)
    assert value_of(dx, {y: np.array(3.0)}) == 3


def test_null_wins_over_other_contributions_in_either_order():
    x, y = tt.scalars("x", "y")
    for cost in (Undefined()(y, x) + x * x, x * x + Undefined()(y, x)):
        with pytest.raises(NullTypeGradError):
            grad(cost, x)


def test_an_op_without_derivatives_is_named():
    x = tt.scalar("x")
    cost = NoDerivative()(x) * 2
    with pytest.raises(NullTypeGradError, match=r"NoDerivative[\s\S]*not implemented[\s\S]*Define pullback[\s\S]*test_grad.py"):
        grad(cost, x)
    # Where nothing smooth passes through it, it is not needed.
    assert value_of(grad(tt.floor(NoDerivative()(x)) + x, x), {}) == 1


# --- known gradients and constants ------------------------------------------------------------------------------------


def test_known_grads():
    x, g = tt.vectors("x", "g")
    y = x * x
    at = {x: np.array([1.0, 2.0]), g: np.array([10.0, 100.0])}
    assert value_of(grad(None, x, known_grads={y: g}), at).tolist() == [20.0, 400.0]
    assert value_of(grad(None, x, known_grads={y: [10.0, 100.0]}), at).tolist() == [20.0, 400.0]
    # It replaces what would be computed for that variable, and joins what comes another way.
    assert value_of(grad((y * 5).sum() + x.sum(), x, known_grads={y: g}), at).tolist() == [21.0, 401.0]
    assert grad((y * 5).sum(), y, known_grads={y: g}) is g


def test_known_grads_that_cannot_be():
    x = tt.vector("x")
    with pytest.raises(GraphTypeError, match="rank"):
        grad(None, x, known_grads={x * 2: tt.scalar("g")})
    with pytest.raises(GraphTypeError, match="integer dtype"):
        grad(None, x, known_grads={x * 2: tt.lvector("g")})
    with pytest.raises(GraphTypeError, match="needs a cost"):
        grad(None, x)


def test_consider_constant():
    x = tt.scalar("x")
    y = x * x
    at = {x: np.array(3.0)}
    assert value_of(grad(y * x, x), at) == 27
    assert value_of(grad(y * x, x, consider_constant=[y]), at) == 9
    with pytest.raises(DisconnectedInputError):
        grad(y * 2, x, consider_constant=[y])


# --- the cost ---------------------------------------------------------------------------------------------------------


def test_what_is_no_cost():
    x = tt.vector("x")
    with pytest.raises(GraphTypeError, match=r"scalar \(0 dimensions\)[\s\S]*with 1[\s\S]*\.sum\(\)[\s\S]*jacobian"):
        grad(x * 2, x)
    with pytest.raises(GraphTypeError, match="must be a scalar variable, got float"):
        grad(1.0, x)
    with pytest.raises(GraphTypeError, match="must be real"):
        grad(tt.zscalar("z") * 2, x)
    with pytest.raises(GraphTypeError, match="wrt must be a variable"):
        grad(x.sum(), "x")
    with pytest.raises(GraphTypeError, match="undefined: nobody knows"):
        grad(NullType("nobody knows")(), x)


# --- integers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "bool"])
def test_an_integer_used_as_a_real_number(dtype):
    i, x = tt.vector("i", dtype=dtype), tt.vector("x")
    di = grad((tt.exp(i * 1.0) * x).sum(), i)
    assert di.type.dtype == "float64"
    values = {i: np.array([0, 1], dtype), x: np.array([2.0, 3.0])}
    np.testing.assert_allclose(value_of(di, values), [2.0, 3 * np.e])


def test_an_integer_in_float32_has_a_gradient_of_floats():
    i, x = tt.vector("i", dtype="int8"), tt.vector("x", dtype="float32")
    di, dx = grad((i * x).sum(), [i, x])
    assert di.type.dtype == dx.type.dtype == "float32"
    with config.change_flags(floatX="float32"):
        assert grad(i.sum(), i).type.dtype == "float32"


def test_partial_derivatives_do_not_overflow_in_the_integers_dtype():
    i = tt.vector("i", dtype="int8")
    np.testing.assert_allclose(value_of(grad(tt.arctan(i).sum(), i), {i: np.array([100], "int8")}), [1 / 10001])
    j = tt.vector("j", dtype="uint8")
    x = tt.vector("x")
    at = {x: np.array([2.0]), j: np.array([0], "uint8")}
    np.testing.assert_allclose(value_of(grad((x ** j).sum(), x), at), [0.0])


# --- outputs without a cotangent, and connection patterns -------------------------------------------------------------


class TwoOutputs(Op):
    """(a*b, b*c): each output depends on two of the three inputs."""

    __props__ = ()

    def make_node(self, a, b, c):
        return Apply(self, [a, b, c], [a.type(), a.type()])

    def perform(self, node, inputs, output_storage):
        a, b, c = inputs
        output_storage[0][0], output_storage[1][0] = np.asarray(a * b), np.asarray(b * c)

    def connection_pattern(self, node):
        return [[True, False], [True, True], [False, True]]

    def pullback(self, inputs, outputs, cotangents):
        (a, b, c), (g, h) = inputs, cotangents
        return [g * b, g * a + h * c, h * b]


def test_an_output_nobody_uses():
    xs = tt.scalars("a", "b", "c")
    at = dict(zip(xs, (np.array(2.0), np.array(3.0), np.array(5.0)), strict=True))
    first, second = TwoOutputs()(*xs)
    assert [float(v) for v in evaluate(grad(first, xs[:2]), at)] == [3, 2]
    assert [float(v) for v in evaluate(grad(second, xs[1:]), at)] == [5, 3]
    assert [float(v) for v in evaluate(grad(first * second, xs), at)] == [45, 60, 18]
    with pytest.raises(DisconnectedInputError):
        grad(first, xs[2])
    with pytest.raises(DisconnectedInputError):
        grad(second, xs[0])


def test_the_gradient_does_not_look_behind_what_it_needs():
    x, y = tt.scalars("x", "y")
    assert y not in set(ancestors([grad(tt.exp(x) + tt.exp(y), x)]))
