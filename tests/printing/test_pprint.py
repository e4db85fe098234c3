"""pprint: operators with the parentheses they need and no others, and texts that would be too long."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import termgraph.tensor as tt
from termgraph import sparse
from termgraph.errors import GraphTypeError
from termgraph.graph import Apply, FunctionGraph, Op, evaluate
from termgraph.printing import pp, pprint

x, y = tt.matrices("x", "y")
v = tt.vector("v")
s = tt.scalar("s")
i = tt.iscalar("i")
a, b, c = tt.lscalars("a", "b", "c")


@pytest.mark.parametrize(("built", "expected"), [
    (lambda: x + y * 2.0, "x + y * 2"),
    (lambda: (x + y) * 2.0, "(x + y) * 2"),
    (lambda: x - (y - x), "x - (y - x)"),
    (lambda: x - y - x, "x - y - x"),
    (lambda: x - (y + x), "x - (y + x)"),
    (lambda: x / (y * x), "x / (y * x)"),
    (lambda: x / y * x, "x / y * x"),
    (lambda: x * (y / x), "x * (y / x)"),
    (lambda: a // b % c, "a // b % c"),
    (lambda: x ** y ** x, "x ** y ** x"),
    (lambda: (x ** y) ** x, "(x ** y) ** x"),
    (lambda: x ** -y, "x ** -y"),
    (lambda: -x ** y, "-x ** y"),
    (lambda: (-x) ** y, "(-x) ** y"),
    (lambda: x ** (y + 1), "x ** (y + 1)"),
    (lambda: -(x * y), "-(x * y)"),
    (lambda: -x * y, "-x * y"),
    (lambda: tt.neg(-x), "--x"),
    (lambda: x - -y, "x - -y"),
    (lambda: (a < b) & (b >= c), "(a < b) & (b >= c)"),
    (lambda: tt.lt(tt.le(a, b), c), "(a <= b) < c"),
    (lambda: a & b < c, "a & b < c"),
    (lambda: a | b ^ c & a, "a | b ^ c & a"),
    (lambda: (a | b) & c, "(a | b) & c"),
    (lambda: ~(a & b), "~(a & b)"),
    (lambda: ~a & b, "~a & b"),
    (lambda: x @ y @ x, "x @ y @ x"),
    (lambda: x @ (y @ x), "x @ (y @ x)"),
    (lambda: tt.dot(x, v) + v, "x @ v + v"),
    (lambda: (x + y) @ y, "(x + y) @ y"),
])
def test_parentheses(built, expected):
    assert pprint(built()) == expected


@pytest.mark.parametrize(("built", "expected"), [
    (lambda: tt.exp(x + 1), "exp(x + 1)"),
    (lambda: tt.maximum(x, 0.5), "maximum(x, 0.5)"),
    (lambda: tt.eq(x, y), "eq(x, y)"),
    (lambda: abs(x), "abs(x)"),
    (lambda: tt.cast(x, "float32"), "float32(x)"),
    (lambda: x + v, "x + v"),
    (lambda: v.dimshuffle(0, "x") * 2, "v * 2"),
    (lambda: x.T, "x.T"),
    (lambda: (x + y).T, "(x + y).T"),
    (lambda: tt.exp(x).T, "exp(x).T"),
    (lambda: tt.tensor3("t").dimshuffle(1, 0, 2), "Transpose{axes=[1, 0, 2]}(t)"),
    (lambda: x.sum(), "sum(x)"),
    (lambda: x.sum(axis=0), "sum(x, axis=0)"),
    (lambda: tt.tensor3("t").max(axis=(0, 2)), "max(t, axis=(0, 2))"),
    (lambda: x.argmax(axis=1), "argmax(x, axis=1)"),
    (lambda: x[1:, 0], "x[1:, 0]"),
    (lambda: x[::2, ::-1], "x[::2, ::-1]"),
    (lambda: x[i + 1:, -1], "x[i + 1:, -1]"),
    (lambda: x[:, i], "x[:, i]"),
    (lambda: (x * y)[0], "(x * y)[0]"),
    (lambda: x[0][1:i:2], "x[0][1:i:2]"),
    (lambda: v[tt.lvector("k")], "v[k]"),
    (lambda: tt.dvector(), "<Vector(float64, shape=(?,))>"),
])
def test_forms(built, expected):
    assert pprint(built()) == expected


def test_sparse_products():
    m = sparse.csr_matrix("m")
    assert pprint(sparse.dot(m, x + y)) == "m @ (x + y)"
    assert pprint(sparse.dot(m.T, x)) == "m.T @ x"
    assert pprint(sparse.true_dot(m, m)) == "m @ m"
    constant = sparse.as_sparse_variable(csr_matrix(np.eye(2)))
    assert pprint(constant) == str(constant) and "\n" not in str(constant)


@pytest.mark.parametrize(("value", "expected"), [
    (2.0, "2"), (-1.5, "-1.5"), (1e300, "1e+300"), (True, "True"), (3, "3"), (np.float32(0.1), "0.1"), (np.nan, "nan"),
    (np.array([[2.0]]), "2"), (np.array([1, 2, 3]), "[1 2 3]"), (np.array([]), "[]"), (1 + 2j, "(1+2j)"),
])
def test_constants(value, expected):
    assert pprint(tt.constant(value)) == expected


def test_a_long_constant_is_shortened_and_a_named_one_is_its_name():
    assert pprint(tt.constant(np.arange(100))).endswith("...") and len(pprint(tt.constant(np.arange(100)))) <= 24
    assert pprint(tt.constant(2.0, name="two") * s) == "two * s"


def test_a_negative_constant_is_a_term_with_a_sign():
    assert pprint(s - -1.0) == "s - -1"
    assert pprint(tt.constant(-2.0) ** s) == "(-2) ** s"
    assert pprint(s ** -2.0) == "s ** -2"


class Halves(Op):
    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type(), x.type()])


def test_the_outputs_of_one_node():
    node = Halves().make_node(x)
    assert pprint(node) == "Halves(x).0, Halves(x).1"
    assert pprint(node.outputs[1].T) == "Halves(x).1.T"


def test_whatever_has_outputs():
    fgraph = FunctionGraph([x, y], [x + y, x])
    function = SimpleNamespace(maker=SimpleNamespace(fgraph=fgraph))
    assert pprint(fgraph) == pprint(function) == pprint([x + y, x]) == "x + y, x"
    assert pprint([]) == ""
    assert pp is pprint
    with pytest.raises(GraphTypeError, match="to print"):
        pprint(3)


@pytest.mark.parametrize("seed", range(30))
def test_python_reads_the_text_as_the_graph(seed):
    rng = np.random.default_rng(seed)
    integers, names = tt.lscalars("p", "q", "r"), ("p", "q", "r")
    values = dict(zip(names, map(np.asarray, rng.integers(1, 7, 3)), strict=True))
    pool = list(integers)
    operators = [lambda m, n: m + n, lambda m, n: m - n, lambda m, n: m * n, lambda m, n: m // (n * n + 1), lambda m, n: -m,
                 lambda m, n: m & n, lambda m, n: m | n, lambda m, n: m ^ n, lambda m, n: ~m, lambda m, n: m ** 2,
                 lambda m, n: (m < n) * n, lambda m, n: tt.cast(m <= n, "int64")]
    for _ in range(8):
        left, right = (pool[rng.integers(len(pool))] for _ in range(2))
        pool.append(operators[rng.integers(len(operators))](left, right))
    (expected,) = evaluate([pool[-1]], {n: values[n.name] for n in integers})
    assert eval(pprint(pool[-1], max_chars=None), {"int64": np.int64, **values}) == expected


def test_a_deep_chain_shows_as_many_levels_as_fit(deep):
    z = s
    for _ in range(1000):
        z = tt.exp(z)
    assert pprint(z, max_chars=20) == "exp(exp(exp(...)))"
    assert pprint(z) == "exp(" * 399 + "..." + ")" * 399
    assert pprint(deep[1]) == "-" * 1997 + "..."
    assert pprint(deep[1], max_chars=None) == "-" * 100_000 + "x"


def test_a_chain_of_added_dimensions_is_followed():
    z = s
    for _ in range(50):
        z = z.dimshuffle(*range(z.ndim), "x")
    assert pprint(z) == "s"


def test_a_dag_with_an_exponential_tree():
    z = s
    for _ in range(100):
        z = z + z
    assert pprint(z, max_chars=30) == "... + ... + (... + ...)"
    assert 1000 < len(pprint(z)) <= 2000


def test_a_text_that_just_fits_is_whole():
    whole = "exp(exp(exp(s)))"
    z = tt.exp(tt.exp(tt.exp(s)))
    assert pprint(z, max_chars=len(whole)) == whole
    assert pprint(z, max_chars=len(whole) - 1) == "exp(exp(...))"
    assert pprint(z, max_chars=2) == "..."
