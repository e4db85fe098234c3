import numpy as np
import pytest
from compile_helpers import Spy, overwrite, view

import termgraph.tensor as tt
from termgraph.compile import In, function, ifelse
from termgraph.errors import GraphTypeError
from termgraph.graph import evaluate


@pytest.fixture
def cx():
    return tt.scalar("c"), tt.vector("x")


@pytest.mark.parametrize("choice", [0.0, 1.0, -2.0])
def test_value(cx, choice):
    c, x = cx
    y = ifelse(c, tt.exp(x), x - 1)
    v = np.array([0.5, 1.5])
    expected = np.exp(v) if choice else v - 1
    np.testing.assert_allclose(function([c, x], y)(choice, v), expected)
    np.testing.assert_allclose(evaluate([y], {c: np.array(choice), x: v})[0], expected)


def test_only_the_chosen_branch_runs(cx):
    c, x = cx
    one, two, both = Spy("one"), Spy("two"), Spy("both")
    common = both(x)
    f = function([c, x], ifelse(c, one(one(common)), two(common)) + common)
    f(1.0, [1.0])
    assert (len(one.seen), len(two.seen), len(both.seen)) == (2, 0, 1)
    f(0.0, [1.0])
    assert (len(one.seen), len(two.seen), len(both.seen)) == (2, 1, 2)


def test_a_failing_branch_that_is_not_taken(cx):
    c, x = cx
    bad = Spy("bad")
    bad.error = ValueError("no")
    f = function([c, x], ifelse(c, bad(x), x + 1))
    np.testing.assert_array_equal(f(0.0, [1.0]), [2])
    with pytest.raises(ValueError, match="no") as caught:
        f(1.0, [1.0])
    assert "while computing" in caught.value.__notes__[0]
    np.testing.assert_array_equal(f(0.0, [1.0]), [2])


def test_nested(cx):
    c, x = cx
    d = tt.scalar("d")
    spies = [Spy(str(i)) for i in range(3)]
    y = ifelse(c, ifelse(d, spies[0](x), spies[1](x)), spies[2](x))
    f = function([c, d, x], y)
    for choice, ran in (((1.0, 1.0), 0), ((1.0, 0.0), 1), ((0.0, 1.0), 2)):
        before = [len(s.seen) for s in spies]
        np.testing.assert_array_equal(f(*choice, [1.0]), [2])
        assert [len(s.seen) - b for s, b in zip(spies, before, strict=True)] == [i == ran for i in range(3)]


def test_several_outputs(cx):
    c, x = cx
    a, b = ifelse(c, [x, x.sum()], [x * 2, x[0]])
    f = function([c, x], [a, b])
    np.testing.assert_array_equal(f(1.0, [1.0, 2.0])[0], [1, 2])
    assert f(1.0, [1.0, 2.0])[1] == 3
    np.testing.assert_array_equal(f(0.0, [1.0, 2.0])[0], [2, 4])
    assert f(0.0, [1.0, 2.0])[1] == 1


def test_the_result_is_no_view_of_an_argument(cx):
    c, x = cx
    v = np.ones(3)
    r = function([c, x], ifelse(c, x, x + 1))(1.0, v)
    assert not np.shares_memory(r, v)


def test_overwriting_waits_for_both_branches(cx):
    c, x = cx
    other = view(x)
    y = ifelse(c, other + 1, x * 3)
    f = function([c, In(x, mutable=True)], [overwrite(x), y], accept_inplace=True, mode="NO_REWRITES")
    for choice, expected in ((1.0, [2, 3]), (0.0, [3, 6])):
        out, chosen = f(choice, np.array([1.0, 2.0]))
        np.testing.assert_array_equal(out, [2, 3])
        np.testing.assert_array_equal(chosen, expected)


def test_cells_are_empty_after_a_lazy_call(cx):
    c, x = cx
    f = function([c, x], ifelse(c, tt.exp(x) + 1, tt.exp(x) * 2), mode="NO_REWRITES")
    f(1.0, [1.0])
    assert f.vm.lazy
    assert all(cell[0] is None for v, cell in f.vm.storage_map.items() if not hasattr(v, "data"))


def test_deep_lazy_graphs(cx):
    c, x = cx
    y = x
    for i in range(20_000):
        y = ifelse(c, y, x) if i % 100 == 0 else tt.neg(y)
    f = function([c, x], y, mode="NO_REWRITES")
    np.testing.assert_array_equal(f(1.0, [1.0]), [1.0])


def test_derivatives(cx):
    c, x = cx
    y = ifelse(c, x**2, 3 * x)
    node = y.owner
    g = tt.vector("g")
    cotangents = node.op.pullback(node.inputs, node.outputs, [g])
    f = function([c, x, g], cotangents[1:], on_unused_input="ignore")
    np.testing.assert_array_equal(f(1.0, [1.0, 2.0], [5.0, 6.0]), [[5, 6], [0, 0]])
    np.testing.assert_array_equal(f(0.0, [1.0, 2.0], [5.0, 6.0]), [[0, 0], [5, 6]])
    [tangent] = node.op.pushforward(node.inputs, node.outputs, [None, g, None])
    f = function([c, x, g], tangent, on_unused_input="ignore")
    np.testing.assert_array_equal(f(1.0, [1.0], [5.0]), [5])
    np.testing.assert_array_equal(f(0.0, [1.0], [5.0]), [0])
    assert node.op.pushforward(node.inputs, node.outputs, [None, None, None]) == [None]
    assert node.op.connection_pattern(node) == [[False], [True], [True]]


def test_infer_shape(cx):
    c, x = cx
    y = ifelse(c, x, x[1:])
    [shape] = y.owner.op.infer_shape(None, y.owner, [(), (x.shape[0],), (x[1:].shape[0],)])
    f = function([c, x], shape[0])
    assert (f(1.0, np.zeros(4)), f(0.0, np.zeros(4))) == (4, 3)


def test_types():
    x = tt.tensor("x", shape=(3, None))
    y = tt.tensor("y", shape=(3, 4))
    assert ifelse(1, x, y).type.shape == (3, None)
    with pytest.raises(GraphTypeError, match="same dtype and rank"):
        ifelse(1, x, tt.vector("v"))
    with pytest.raises(GraphTypeError, match="scalar"):
        ifelse(x, x, y)
    with pytest.raises(GraphTypeError, match="2 variables"):
        ifelse(1, [x, y], [x])
