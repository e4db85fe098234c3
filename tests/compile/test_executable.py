import copy
import pickle
import sys
import threading
import traceback

import numpy as np
import pytest
from compile_helpers import Spy
from scipy.sparse import csr_matrix

import termgraph.tensor as tt
from termgraph.compile import Function, In, Mode, function, ifelse, shared
from termgraph.errors import CallArgumentError, GraphTypeError, InputValueError


@pytest.fixture
def x():
    return tt.vector("x")


@pytest.fixture
def f(x):
    return function([x, tt.scalar("y")], x * 2, name="twice", on_unused_input="ignore")


# --- arguments --------------------------------------------------------------------------------------------------------


def test_positions_and_keywords(f):
    for result in (f([1.0], 2.0), f([1.0], y=2.0), f(y=2.0, x=[1.0])):
        np.testing.assert_array_equal(result, [2])


@pytest.mark.parametrize(("args", "named", "message"), [
    (([1.0],), {}, r"missing the argument 1 \(y\)"),
    ((), {}, r"missing the argument 0 \(x\)"),
    (([1.0], 2.0, 3.0), {}, "at most 2 positional arguments, got 3"),
    (([1.0],), {"z": 1.0}, "unknown keyword argument 'z'"),
    (([1.0], 2.0), {"x": [1.0]}, "'x' was given twice"),
])
def test_wrong_arguments(f, args, named, message):
    with pytest.raises(CallArgumentError, match=message) as caught:
        f(*args, **named)
    assert "twice(x, y)" in str(caught.value)
    assert "x: Vector(float64" in str(caught.value)


def test_keywords_that_look_like_the_codes_own_names():
    a0, rest, named, self = tt.scalars("a0", "rest", "named", "self")
    g = function([rest, a0, named, self], [a0, rest, named, self])
    assert [float(v) for v in g(a0=1.0, rest=2.0, named=3.0, self=4.0)] == [1, 2, 3, 4]


@pytest.mark.parametrize(("value", "got"), [
    (np.zeros((2, 3)), r"ndarray of dtype float64 and shape \(2, 3\)"),
    (np.zeros(2, "complex128"), "dtype complex128"),
    ("text", "str 'text'"),
    (tt.vector("v"), "symbolic variable v"),
])
def test_wrong_values(f, value, got):
    with pytest.raises(InputValueError, match=got) as caught:
        f(value, 1.0)
    assert all(t in str(caught.value) for t in ("input 0 (x)", "twice", "Vector(float64", "test_executable.py"))


def test_a_nameless_input_is_known_by_its_type():
    v = tt.vector()
    with pytest.raises(InputValueError, match=r"input 0 \(<Vector"):
        function([v], v)(1.0)


@pytest.mark.parametrize("value", [1.5, np.float64(1.5), np.array(1.5), 2, np.float32(1.5), np.int8(3), True])
def test_scalars_of_all_kinds(value):
    y = tt.dscalar("y")
    result = function([y], y + 1)(value)
    assert (result.dtype, float(result)) == (np.float64, float(value) + 1)


def test_static_lengths_are_checked():
    y = tt.tensor("y", shape=(3,))
    g = function([y], y + 1)
    assert g(np.zeros(3)).shape == (3,)
    with pytest.raises(InputValueError, match="static shape"):
        g(np.zeros(4))


def test_subclasses_and_other_layouts(x):
    m = tt.matrix("m")
    g = function([m], m * 2)
    v = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(g(v[:, ::-1]), v[:, ::-1] * 2)
    np.testing.assert_array_equal(g(v.astype(">f8")), v * 2)
    np.testing.assert_array_equal(function([x], x + 1)(np.ma.array([1.0, 2.0])), [2, 3])


def test_trust_input(x):
    g = function([x], x * 2, trust_input=True)
    assert g.trust_input
    assert "convert" not in g.source
    np.testing.assert_array_equal(g(np.array([1.0])), [2])
    g.trust_input = False
    with pytest.raises(InputValueError):
        g(3.0)
    g.trust_input = True
    assert isinstance(g, Function)


# --- the object -------------------------------------------------------------------------------------------------------


def test_what_it_shows(f, x):
    assert repr(f) == "Function twice(x, y)"
    assert f.name == "twice"
    assert f.maker.fgraph.inputs[0] is x
    assert f.maker.mode.name == "FAST_RUN"
    assert f.reports == f.maker.reports
    assert len(f.input_storage) == 2
    assert [c[0] for c in f.output_storage] == [None]
    assert f.source.startswith("def __call__")
    f.free()
    np.testing.assert_array_equal(f([1.0], 0.0), [2])


def test_the_source_is_in_tracebacks(x):
    spy = Spy()
    spy.error = ValueError("no")
    with pytest.raises(ValueError, match="no") as caught:
        function([x], spy(x))([1.0])
    assert "thunk0()" in "".join(traceback.format_exception(caught.value))


def test_values_by_name(x):
    s = shared([1.0], "s")
    f = function([x, In(tt.scalar("y"), value=2.0)], x + s, on_unused_input="ignore")
    assert f["s"] is s.get_value(borrow=True)
    f["s"] = [5.0]
    np.testing.assert_array_equal(f[s], [5])
    np.testing.assert_array_equal(f([1.0]), [6])
    with pytest.raises(KeyError, match=r"'x'.*y, s"):
        f["x"]
    with pytest.raises(GraphTypeError):
        f["s"] = 3.0


def test_a_type_that_is_not_a_tensor():
    s = shared(csr_matrix(np.eye(2)), "s")
    result = function([], s)()
    assert (result != s.get_value()).nnz == 0
    assert result is not s.get_value(borrow=True)


# --- copies and pickles -----------------------------------------------------------------------------------------------


def test_copy_shares_shared_variables(x):
    s = shared([1.0], "s")
    f = function([x], x + s, updates={s: s + 1}, name="f")
    g = f.copy(name="g")
    f([0.0])
    np.testing.assert_array_equal(g([0.0]), [2])
    assert (g.name, f.name) == ("g", "f")
    np.testing.assert_array_equal(s.get_value(), [3])


def test_copy_with_swap_and_without_updates(x):
    s, t = shared([1.0], "s"), shared([10.0], "t")
    f = function([x], x + s, updates={s: s + 1})
    g = f.copy(swap={s: t})
    np.testing.assert_array_equal(g([0.0]), [10])
    np.testing.assert_array_equal(t.get_value(), [11])
    np.testing.assert_array_equal(s.get_value(), [1])
    h = f.copy(delete_updates=True)
    h([0.0])
    np.testing.assert_array_equal(s.get_value(), [1])
    with pytest.raises(GraphTypeError, match="cannot swap"):
        f.copy(swap={s: shared(1.0)})
    with pytest.raises(GraphTypeError, match="not a shared variable of"):
        f.copy(swap={t: s})


def test_a_copy_has_its_own_defaults():
    n = tt.scalar("n")
    f = function([In(n, value=1.0, update=n + 1)], n)
    f()
    g = f.copy()
    assert [float(g()), float(g()), float(f())] == [2, 3, 2]


def test_pickle(x):
    s = shared([1.0, 2.0], "s")
    n = tt.scalar("n")
    f = function([x, In(n, value=2.0, update=n + 1)], {"y": tt.exp(x) * s + n, "z": x[::-1]}, updates={s: s + x}, name="f")
    g = pickle.loads(pickle.dumps(f))
    v = [1.0, 2.0]
    for _ in range(2):
        want, got = f(v), g(v)
        np.testing.assert_array_equal(got["y"], want["y"])
        np.testing.assert_array_equal(got["z"], want["z"])
    assert (g.name, g.maker.mode, g["n"]) == ("f", f.maker.mode, f["n"])
    np.testing.assert_array_equal(g["s"], s.get_value())
    g(v)
    np.testing.assert_array_equal(s.get_value(), [3, 6])


def test_two_functions_pickled_together_share_what_they_shared():
    s = shared(0.0, "s")
    count, read = function([], updates={s: s + 1}), function([], s)
    count, read = pickle.loads(pickle.dumps((count, read)))
    count()
    assert read() == 1
    assert s.get_value() == 0


def test_deep_copy(x):
    s = shared([1.0], "s")
    f = function([x], x + s, updates={s: s * 2})
    copy.deepcopy(f)([0.0])
    np.testing.assert_array_equal(s.get_value(), [1])


def test_pickle_of_a_deep_graph(deep):
    x, y = deep
    assert pickle.loads(pickle.dumps(function([x], y, mode="NO_REWRITES")))(2.0) == 2.0


def test_pickle_of_ifelse_and_borrowed_inputs(x):
    c = tt.scalar("c")
    f = function([c, In(x, borrow=True)], ifelse(c, x[1:], x[:1]), mode=Mode())
    g = pickle.loads(pickle.dumps(f))
    v = np.arange(3.0)
    assert np.shares_memory(g(1.0, v), v)
    np.testing.assert_array_equal(g(0.0, v), [0])


# --- several calls at once --------------------------------------------------------------------------------------------


def in_threads(count, work):
    """Run work(k) for each k < count at the same time; what the threads raised."""
    errors = []
    start = threading.Barrier(count)

    def body(k):
        start.wait()
        try:
            work(k)
        except BaseException as error:  # whatever it is, the test must see it
            errors.append(error)

    threads = [threading.Thread(target=body, args=(k,)) for k in range(count)]
    old = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        sys.setswitchinterval(old)
    return errors


@pytest.mark.parametrize("length", [3, 30])
def test_threads_do_not_see_each_others_values(x, length):
    y = x
    for _ in range(length):
        y = y + x
    f = function([x], y, mode="NO_REWRITES")

    def work(k):
        for i in range(100):
            np.testing.assert_array_equal(f(np.full(3, float(k * 1000 + i))), np.full(3, (k * 1000 + i) * (length + 1.0)))

    assert in_threads(4, work) == []


def test_no_update_is_lost():
    s = shared(0.0)
    f = function([], updates={s: s + 1})
    assert in_threads(4, lambda k: [f() for _ in range(200)]) == []
    assert s.get_value() == 800


def test_two_calls_are_under_way_together(x):
    # Each waits for the other inside its op: a lock around the whole call would never let them meet.
    meeting = threading.Barrier(2, timeout=20)
    f = function([x], Spy(look=meeting.wait)(x))
    assert in_threads(2, lambda k: np.testing.assert_array_equal(f([float(k)]), [2.0 * k])) == []


@pytest.mark.parametrize("updating", [False, True])
def test_a_call_from_inside_itself(x, updating):
    depth = [0]
    inner = []

    def again():
        depth[0] += 1
        if depth[0] < 3:
            inner.append(f([10.0 * depth[0]]))

    s = shared(0.0)
    f = function([x], Spy(look=again)(x) + x, updates={s: s + 1} if updating else None)
    np.testing.assert_array_equal(f([1.0]), [3])
    assert [float(v[0]) for v in inner] == [60, 30]
    assert s.get_value() == (3 if updating else 0)


def test_an_error_gives_the_storage_back(x):
    spy = Spy()
    f = function([x], spy(x))
    spy.error = ValueError("no")
    for _ in range(3):
        with pytest.raises(ValueError, match="no"):
            f([1.0])
    spy.error = None
    spy.look = lambda: f.vm.storage_map[x][0] is not None
    f([1.0])
    assert spy.seen[-1] is True
