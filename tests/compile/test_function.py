import numpy as np
import pytest
from compile_helpers import Spy

import termgraph.tensor as tt
from termgraph.compile import In, function, shared
from termgraph.errors import GraphTypeError, MissingInputError, UnusedInputError, UpdateError
from termgraph.graph import Apply, Op


@pytest.fixture
def x():
    return tt.vector("x")


def test_forms_of_outputs(x):
    v = np.array([1.0, 2.0])
    assert isinstance(function([x], x + 1)(v), np.ndarray)
    [a] = function([x], [x + 1])(v)
    np.testing.assert_array_equal(a, v + 1)
    a, b = function([x], (x + 1, x * 2))(v)
    np.testing.assert_array_equal(b, v * 2)
    named = function([x], {"sum": x.sum(), "it's": x * 2})(v)
    assert list(named) == ["sum", "it's"]
    assert named["sum"] == 3
    assert function([x], [], on_unused_input="ignore")(v) == []
    assert function([], None)() == []


def test_results_are_arrays_of_the_declared_type():
    x = tt.fscalar("x")
    result = function([x], x * 2 + 1)(3.0)
    assert isinstance(result, np.ndarray)
    assert (result.dtype, result.shape, float(result)) == (np.float32, (), 7.0)


def test_an_inner_variable_as_input(x):
    y = tt.exp(x)
    f = function([y], y + 1)
    np.testing.assert_array_equal(f([1.0]), [2])


def test_an_op_written_the_tutorial_way(x):
    class Double(Op):
        __props__ = ()

        def make_node(self, x):
            x = tt.as_tensor_variable(x)
            return Apply(self, [x], [x.type()])

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0] * 2

    np.testing.assert_array_equal(function([x], Double()(x))([1.0, 2.0]), [2, 4])


def test_an_op_of_itypes_and_several_outputs(x):
    class DivMod(Op):
        __props__ = ()
        itypes = (tt.dvector().type, tt.dvector().type)
        otypes = (tt.dvector().type, tt.dvector().type)

        def perform(self, node, inputs, output_storage):
            output_storage[0][0], output_storage[1][0] = np.divmod(*inputs)

    quotient, _ = DivMod()(x, x + 1)
    np.testing.assert_array_equal(function([x], quotient)([1.0, 2.0]), [0, 0])


# --- updates ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [dict, list, lambda pairs: tuple(list(p) for p in pairs)])
def test_updates(x, form):
    s = shared(np.zeros(2), "s")
    f = function([x], s, updates=form([(s, s + x)]))
    np.testing.assert_array_equal(f([1.0, 2.0]), [0, 0])
    np.testing.assert_array_equal(f([1.0, 2.0]), [1, 2])
    np.testing.assert_array_equal(s.get_value(), [2, 4])
    assert f.get_shared() == [s]
    assert f.maker.fgraph.update_mapping == {1: 1}


def test_an_update_with_a_value():
    s = shared(5.0)
    function([], updates={s: 0.0})()
    assert s.get_value() == 0


def test_all_updates_read_the_old_values():
    a, b = shared(1.0), shared(10.0)
    function([], updates={a: a + b, b: a - b})()
    assert (a.get_value(), b.get_value()) == (11, -9)


def test_updates_are_atomic(x):
    a, b, spy = shared(1.0, "a"), shared(1.0, "b"), Spy()
    f = function([x], updates=[(a, a + 1), (b, spy(b) + x.sum())])
    spy.error = RuntimeError("no")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="no"):
            f([1.0])
        assert (a.get_value(), b.get_value()) == (1, 1)
    spy.error = None
    f([1.0])
    assert (a.get_value(), b.get_value()) == (2, 3)


def test_updates_that_cannot_be(x):
    s = shared(np.zeros(2, "float32"), "s")
    with pytest.raises(UpdateError) as caught:
        function([x], updates={s: x.dimshuffle(0, "x")})
    assert all(t in str(caught.value) for t in ("update s", str(s.type), "Matrix(float64", "test_function.py"))
    with pytest.raises(UpdateError, match="twice"):
        function([], updates=[(s, s), (s, s)])
    with pytest.raises(UpdateError, match="not a shared variable"):
        function([x], updates={x: x})
    with pytest.raises(UpdateError, match="the value"):
        function([], updates={s: "text"})
    with pytest.raises(GraphTypeError, match="pairs"):
        function([], updates=[s])


def test_default_updates():
    s, t = shared(0.0, "s"), shared(0.0, "t")
    s.default_update = s + t + 1
    t.default_update = t + 1
    f = function([], s * 1)
    assert [float(f()) for _ in range(3)] == [0, 1, 3]
    assert t.get_value() == 3
    fixed = function([], s * 1, no_default_updates=True)
    assert fixed() == fixed()
    function([], s * 1, no_default_updates=[t])()
    assert (s.get_value(), t.get_value()) == (10, 3)
    function([], s * 1, updates={s: 0.0})()
    assert (s.get_value(), t.get_value()) == (0, 3)


# --- givens -----------------------------------------------------------------------------------------------------------


def test_givens(x):
    s = shared([1.0, 2.0], "s")
    y = tt.exp(x) + x
    v = np.array([1.0, 2.0])
    np.testing.assert_allclose(function([], y, givens={x: s})(), np.exp(v) + v)
    np.testing.assert_allclose(function([], y, givens=[(x, [1.0, 2.0])])(), np.exp(v) + v)
    np.testing.assert_allclose(function([x], y, givens={x: x * 2})(v), np.exp(2 * v) + 2 * v)
    np.testing.assert_allclose(function([x], y)(v), np.exp(v) + v)


def test_givens_replace_all_at_once(x):
    y = tt.vector("y")
    f = function([x, y], x - y, givens={x: y, y: x})
    np.testing.assert_array_equal(f([1.0], [5.0]), [4])


def test_givens_reach_updates(x):
    s = shared([0.0], "s")
    function([], updates={s: s + x}, givens={x: [7.0]})()
    np.testing.assert_array_equal(s.get_value(), [7])
    s.default_update = s - x
    function([], s, givens={x: [1.0]})()
    np.testing.assert_array_equal(s.get_value(), [6])


def test_givens_that_cannot_be(x):
    with pytest.raises(GraphTypeError, match="expected a variable of type"):
        function([], x, givens={x: tt.matrix("m")})
    with pytest.raises(GraphTypeError, match="twice"):
        function([], x, givens=[(x, [1.0]), (x, [2.0])])
    with pytest.raises(GraphTypeError, match="replace variables"):
        function([], x, givens={3: x})


# --- mistakes ---------------------------------------------------------------------------------------------------------


def test_missing_input(x):
    y = tt.vector("wye")
    with pytest.raises(MissingInputError) as caught:
        function([x], tt.exp(x * y))
    assert caught.value.variable is y
    assert all(t in str(caught.value) for t in ("wye", "Mul(x, wye)", "test_function.py", "givens"))
    with pytest.raises(MissingInputError, match="wye"):
        function([], y)


def test_unused_input(x):
    y = tt.vector("wye")
    with pytest.raises(UnusedInputError, match=r"input 1 \(wye\).*\n.*\n.*on_unused_input"):
        function([x, y], x + 1)
    with pytest.warns(UserWarning, match="wye") as caught:
        function([x, y], x + 1, on_unused_input="warn")
    assert caught[0].filename == __file__
    f = function([x, y], x + 1, on_unused_input="ignore")
    np.testing.assert_array_equal(f([1.0], [2.0]), [2])
    assert f.vm.storage_map[y][0] is None
    with pytest.raises(ValueError, match="on_unused_input"):
        function([x], x, on_unused_input="shout")
    s = shared([1.0])
    assert function([x], updates={s: x})([3.0]) == []


def test_inputs_that_cannot_be(x):
    with pytest.raises(GraphTypeError, match="given twice, as inputs 0 and 1"):
        function([x, In(x)], x)
    with pytest.raises(GraphTypeError, match=r"input 1 .* int 3"):
        function([x, 3], x)
    with pytest.raises(GraphTypeError, match=r"\[x\]"):
        function(x, x)
    with pytest.raises(GraphTypeError, match="shared variable"):
        function([shared(1.0, "s")], x)
    with pytest.raises(GraphTypeError, match="constant"):
        function([tt.constant(1.0)], x)


def test_outputs_that_cannot_be(x):
    with pytest.raises(GraphTypeError, match=r"output 1 .* str"):
        function([x], [x, "y"])
    with pytest.raises(GraphTypeError, match="keys"):
        function([x], {1: x})


def test_the_users_graph_stays_as_it_was(x):
    y = tt.exp(x) * 1 + x
    nodes = [y.owner, *[i.owner for i in y.owner.inputs if i.owner]]
    inputs = [list(n.inputs) for n in nodes]
    function([x], [y, y])
    assert [list(n.inputs) for n in nodes] == inputs
