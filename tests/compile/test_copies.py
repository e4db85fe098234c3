import numpy as np
import pytest
from compile_helpers import overwrite, random_graph, view

import termgraph.tensor as tt
from termgraph.compile import DeepCopyOp, In, Out, function, shared
from termgraph.errors import GraphTypeError, InconsistentGraphError
from termgraph.graph import evaluate


@pytest.fixture
def x():
    return tt.vector("x")


def copies(f):
    return sum(isinstance(n.op, DeepCopyOp) for n in f.maker.fgraph.apply_nodes)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("mode", ["NO_REWRITES", "FAST_RUN"])
def test_random_graphs_are_safe(seed, mode):
    rng = np.random.default_rng(seed)
    x, m = tt.vector("x"), tt.matrix("m")
    s, t = shared(rng.normal(size=4), "s"), shared(rng.normal(size=(4, 4)), "t")
    pool = random_graph(rng, [x, m, s, t], int(rng.integers(5, 41)))
    outputs = [pool[i] for i in rng.integers(len(pool), size=4)]
    vectors, matrices = ([v for v in pool if v.ndim == d] for d in (1, 2))
    updates = {s: vectors[rng.integers(len(vectors))], t: matrices[rng.integers(len(matrices))]}
    f = function([x, m], outputs, updates=updates, mode=mode, on_unused_input="ignore")
    values = {x: rng.normal(size=4), m: rng.normal(size=(4, 4))}
    before = [v.copy() for v in values.values()]
    expected = evaluate([*outputs, *updates.values()], values)
    expected = [e.copy() for e in expected]
    old = [s.get_value(borrow=True), t.get_value(borrow=True)]
    results = f(*values.values())
    new = [s.get_value(borrow=True), t.get_value(borrow=True)]
    for got, want in zip([*results, *new], expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
    for value, copy in zip(values.values(), before, strict=True):
        np.testing.assert_array_equal(value, copy)
    arrays = [*results, *new]
    for i, a in enumerate(arrays):
        for b in [*arrays[:i], *values.values(), *(old if i < len(results) else [])]:
            assert not np.shares_memory(a, b)
    again = evaluate(outputs, values)
    for got, want in zip(f(*values.values()), again, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


def test_no_copy_where_none_is_needed(x):
    assert copies(function([x], [tt.exp(x), x + 1, tt.exp(x).dimshuffle(0, "x") * 2])) == 0


@pytest.mark.parametrize("alias", [lambda x: x, lambda x: x[1:], lambda x: x.dimshuffle(0, "x").T])
def test_views_of_an_input(x, alias):
    v = np.arange(3.0)
    f = function([x], alias(x))
    assert copies(f) == 1
    result = f(v)
    result[...] = 9
    np.testing.assert_array_equal(v, [0, 1, 2])


def test_borrowed_outputs_and_inputs(x):
    v = np.arange(3.0)
    assert np.shares_memory(function([x], Out(x[1:], borrow=True))(v), v)
    assert np.shares_memory(function([In(x, borrow=True)], x[1:])(v), v)
    assert not np.shares_memory(function([x], Out(x[1:]))(v), v)


def test_an_output_twice(x):
    y = tt.exp(x)
    a, b = function([x], [y, y])(np.zeros(2))
    assert not np.shares_memory(a, b)
    c, d = function([x], [Out(y, borrow=True), Out(y, borrow=True)])(np.zeros(2))
    assert np.shares_memory(c, d)


def test_a_constant_is_returned_as_a_copy():
    f = function([], tt.constant([1.0, 2.0]))
    result = f()
    result[0] = 5
    np.testing.assert_array_equal(f(), [1, 2])


def test_a_constant_or_shared_value_borrowed_is_there_again():
    s = shared([3.0])
    f = function([], [Out(tt.constant([1.0]), borrow=True), Out(s, borrow=True)])
    for _ in range(2):
        a, b = f()
        assert (a[0], b[0]) == (1, 3)


def test_swapping_two_shared_variables():
    a, b = shared([1.0]), shared([2.0])
    function([], updates={a: b, b: a})()
    assert (a.get_value()[0], b.get_value()[0]) == (2, 1)
    assert not np.shares_memory(a.get_value(borrow=True), b.get_value(borrow=True))


def test_an_update_is_no_view_of_an_argument(x):
    s = shared([1.0, 2.0])
    v = np.array([5.0, 6.0])
    result = function([x], x[::-1], updates={s: x})(v)
    v[:] = 0
    np.testing.assert_array_equal(s.get_value(), [5, 6])
    np.testing.assert_array_equal(result, [6, 5])


def test_overwriting_is_for_mutable_inputs_only(x):
    with pytest.raises(InconsistentGraphError, match="mutable=True"):
        function([x], overwrite(view(x)), accept_inplace=True)
    s = shared([1.0])
    with pytest.raises(InconsistentGraphError, match="memory of s"):
        s.name = "s"
        function([], overwrite(s), accept_inplace=True)
    with pytest.raises(GraphTypeError, match="accept_inplace"):
        function([In(x, mutable=True)], overwrite(x))


def test_a_mutable_argument_given_twice_is_copied(x):
    y = tt.vector("y")
    f = function([In(x, mutable=True), y], [overwrite(x), y * 1], accept_inplace=True)
    v = np.zeros(2)
    first, second = f(v, v)
    np.testing.assert_array_equal(first, [1, 1])
    np.testing.assert_array_equal(second, [0, 0])
    np.testing.assert_array_equal(v, [0, 0])
    f(v, np.ones(2))
    np.testing.assert_array_equal(v, [1, 1])


def test_a_mutable_argument_that_is_a_shared_value_is_copied(x):
    s = shared([1.0, 2.0])
    f = function([In(x, mutable=True)], overwrite(x) + s, accept_inplace=True)
    np.testing.assert_array_equal(f(s.get_value(borrow=True)), [3, 5])
    np.testing.assert_array_equal(s.get_value(), [1, 2])


def test_deep_copy_op_derivatives(x):
    node = DeepCopyOp()(x).owner
    assert node.op.pullback(node.inputs, node.outputs, [x]) == [x]
    assert node.op.pushforward(node.inputs, node.outputs, [None]) == [None]
    assert node.op.infer_shape(None, node, [(3,)]) == [(3,)]
    [value] = evaluate([node.outputs[0]], {x: np.ones(2)})
    np.testing.assert_array_equal(value, [1, 1])
