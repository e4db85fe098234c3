"""Every row of the scalar table: values and dtypes against NumPy, both ways to compute, both derivative modes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

import termgraph.tensor as tt
from termgraph.errors import GraphTypeError
from termgraph.gradient import Lop, Rop, verify_grad
from termgraph.graph import evaluate, toposort
from termgraph.tensor.elementwise import Elemwise, Row, cast_row, row_named, rows
from termgraph.tensor.type import DISCRETE, DTYPES, TensorType

ROWS = rows()
#: Shapes of up to three arguments; a length 1 is static, and broadcasts.
SHAPES = [((), (), ()), ((0,), (0,), (0,)), ((1,), (1,), (1,)), ((5,), (5,), (5,)), ((4,), (1,), ()), ((1, 3), (2, 1), (2, 3)),
          ((), (2, 0), (1, 0))]
OF_BITS = {"and_", "or_", "xor", "invert"}


def integers_in_domain(row: Row, dtype: str) -> list[int]:
    """The integers of `dtype` well inside the row's domain."""
    low, high = (-4, 4) if row.name in OF_BITS else row.domain
    info = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return [n for n in range(-4, 5) if low < n < high and info[0] <= n <= info[1]]


def draw(row: Row, rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    if dtype in DISCRETE:
        return np.asarray(rng.choice(integers_in_domain(row, dtype) or [1], shape), dtype=dtype)
    return np.asarray(rng.uniform(*row.domain, shape), dtype=dtype)


def draw_all(row: Row, rng: np.random.Generator, dtype: str, shapes: Sequence[tuple[int, ...]]) -> list[np.ndarray]:
    values = [draw(row, rng, dtype, s) for s in shapes[: row.nin]]
    if row.name == "polygamma":  # the order is a whole number, whatever its dtype
        values[0] = np.asarray(np.floor(values[0]))
    return values


def variables(values: list[np.ndarray]) -> list:
    return [TensorType(v.dtype, tuple(1 if n == 1 else None for n in v.shape))(f"x{i}") for i, v in enumerate(values)]


def by_thunk(output, inputs, values):
    """What the thunks of make_thunk compute: a little VM."""
    storage, computed = dict(zip(inputs, ([v] for v in values), strict=True)), {}
    for node in toposort([output]):
        for v in node.inputs:
            if v not in storage:
                storage[v] = [v.data]
        for o in node.outputs:
            storage[o], computed[o] = [None], [False]
        node.op.make_thunk(node, storage, computed, [])()
        assert all(computed[o][0] for o in node.outputs)
    return storage[output][0]


def tolerance(dtype: str) -> dict[str, float]:
    loose = {"float16": 2e-2, "float32": 2e-5, "complex64": 2e-5}.get(dtype, 1e-12)
    return {"rtol": loose, "atol": loose}


def check(row: Row, values: list[np.ndarray]) -> None:
    inputs = variables(values)
    try:
        output = Elemwise(row)(*inputs)
    except GraphTypeError:
        # What the table refuses, NumPy refuses; or the function orders complex numbers, or mixes integers into a float.
        if not any(v.dtype.kind == "c" for v in values):
            with pytest.raises(TypeError):
                row.numpy(*values)
        return
    before = [v.copy() for v in values]
    (got,) = evaluate([output], dict(zip(inputs, values, strict=True)))
    assert isinstance(got, np.ndarray)
    assert got.dtype == output.type.numpy_dtype
    assert got.shape == np.broadcast_shapes(*[v.shape for v in values])
    assert not any(np.may_share_memory(got, v) for v in values)
    assert got.flags.writeable
    wide = got.dtype if got.dtype.kind in "fc" else None
    arguments = [v.astype(wide) if wide is not None and v.dtype.kind in "biu" else v for v in values]
    np.testing.assert_allclose(got, np.asarray(row.numpy(*arguments)), **tolerance(output.type.dtype))
    thunked = by_thunk(output, inputs, values)
    assert isinstance(thunked, np.ndarray)
    assert thunked.dtype == got.dtype
    assert not any(np.may_share_memory(thunked, v) for v in values)
    np.testing.assert_array_equal(thunked, got)
    for value, kept in zip(values, before, strict=True):
        np.testing.assert_array_equal(value, kept)


@pytest.mark.parametrize("row", ROWS, ids=str)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_values_of_floats(row, shapes):
    rng = np.random.default_rng(len(row.name))
    dtype = "int64" if row.name in OF_BITS else "float64"
    values = draw_all(row, rng, dtype, shapes)
    if row.name == "switch":
        values[0] = values[0] > 0
    check(row, values)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_values_and_dtypes_of_all_dtypes(row):
    rng = np.random.default_rng(7)
    for dtypes in itertools.product([d for d in DTYPES if not d.startswith("complex")], repeat=min(row.nin, 2)):
        values = [draw_all(row, rng, d, [(3,)] * 3)[i] for i, d in enumerate((*dtypes, dtypes[0])[: row.nin])]
        check(row, values)


@pytest.mark.parametrize("row", ROWS, ids=str)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_values(row, dtype):
    rng = np.random.default_rng(3)
    values = [(draw(row, rng, "float64", (3,)) + 1j * rng.uniform(0.1, 1, 3)).astype(dtype) for _ in range(row.nin)]
    try:
        row.numpy(*values)
    except TypeError:
        with pytest.raises(TypeError):
            evaluate([Elemwise(row)(*variables(values))], dict(zip(variables(values), values, strict=True)))
        return
    check(row, values)


def natural_dtype(row: Row, dtypes: tuple[str, ...]) -> str | None:
    try:
        return str(np.asarray(row.numpy(*[np.ones(0, d) for d in dtypes])).dtype)
    except TypeError:
        return None


@pytest.mark.parametrize("row", [r for r in ROWS if isinstance(r.numpy, np.ufunc) and r.name not in ("conj", "reciprocal")],
                         ids=str)
def test_declared_dtypes_are_numpys_except_where_integers_become_floats(row):
    for dtypes in itertools.product(["bool", "int8", "int32", "uint8", "int64", "float32", "float64"], repeat=row.nin):
        natural = natural_dtype(row, dtypes)
        if natural is None:
            with pytest.raises(GraphTypeError):
                row.dtype(dtypes)
        elif all(d in DISCRETE for d in dtypes) and row.dtype(dtypes) not in DISCRETE:
            assert row.dtype(dtypes) == "float64"
        else:
            assert row.dtype(dtypes) == natural


def function_of_reals(row: Row):
    """The row's function of its differentiable arguments, and the number of these."""
    op = Elemwise(row)
    if row.name == "switch":
        return (lambda c, x, y: op(c > 0, x, y)), 3
    if row.name == "polygamma":
        return (lambda x: op(2, x)), 1
    return op, row.nin


@pytest.mark.parametrize("row", [r for r in ROWS if r.name not in OF_BITS], ids=str)
@pytest.mark.parametrize("shapes", [((), (), ()), ((3,), (3,), (3,)), ((1, 3), (2, 1), ()), ((2,), (1,), (1, 1))], ids=str)
def test_derivatives(row, shapes):
    rng = np.random.default_rng(11)
    function, nin = function_of_reals(row)
    verify_grad(function, [rng.uniform(*row.domain, s) for s in shapes[:nin]], n_tests=1, rng=rng)


@pytest.mark.parametrize("row", [r for r in ROWS if r.name not in OF_BITS], ids=str)
def test_derivatives_on_empty_arrays_have_their_shapes(row):
    function, nin = function_of_reals(row)
    verify_grad(function, [np.zeros((0, 2)) for _ in range(nin)], n_tests=1)


@pytest.mark.parametrize("row", [r for r in ROWS if r.name not in OF_BITS], ids=str)
def test_second_derivatives(row):
    rng = np.random.default_rng(5)
    function, nin = function_of_reals(row)
    points = [rng.uniform(*row.domain, (2,)) for _ in range(nin)]
    for index in range(nin):
        def slope(*xs, index=index):
            y = function(*xs)
            return Lop(y, xs[index], tt.ones_like(y, dtype="float64"), disconnected_inputs="ignore")
        verify_grad(slope, points, n_tests=1, abs_tol=1e-5, rel_tol=1e-5)


SMOOTH = [r for r in ROWS if r.name not in OF_BITS | {"polygamma", "switch"} and any(r.partials)
          and r.dtype(("float32",) * r.nin) == "float32"]


@pytest.mark.parametrize(("row", "dtype"), [(r, d) for r in SMOOTH for d in ("int8", "uint8", "int64")
                                            if integers_in_domain(r, d)], ids=str)
def test_derivative_with_respect_to_integers_is_that_of_the_floats(row, dtype):
    rng = np.random.default_rng(2)
    others = [rng.uniform(*row.domain, 3) for _ in range(row.nin - 1)]
    integers = draw(row, rng, dtype, (3,))
    for position in range(row.nin):
        results = []
        for value in (integers, integers.astype("float64")):
            values = [*others[:position], value, *others[position:]]
            xs = variables(values)
            y = Elemwise(row)(*xs)
            one = tt.constant(np.ones(3))
            gradients = [Lop(y, xs[position], one, disconnected_inputs="ignore"),
                         Rop(y, xs[position], one, disconnected_outputs="ignore")]
            assert [g.type.dtype for g in gradients] == ["float64", "float64"]
            results.append([y.type.dtype, *evaluate(gradients, dict(zip(xs, values, strict=True)))])
        if results[0][0] in DISCRETE:  # integers in, integers out: the derivative is zero
            np.testing.assert_array_equal(results[0][1:], np.zeros((2, 3)))
        else:
            np.testing.assert_allclose(results[0][1:], results[1][1:], rtol=1e-12)


@pytest.mark.parametrize("row", [r for r in SMOOTH if r.nin > 1], ids=str)
@pytest.mark.parametrize("dtypes", [("float32", "float64"), ("float64", "float32")])
def test_derivatives_have_the_dtype_of_their_variable(row, dtypes):
    xs = [TensorType(d, (None,))() for d in (*dtypes, dtypes[0])[: row.nin]]
    y = Elemwise(row)(*xs)
    for x in xs:
        one = tt.constant(np.ones(2, x.type.dtype))
        assert Rop(y, x, one, disconnected_outputs="ignore").type.dtype == y.type.dtype
        assert Lop(y, x, tt.ones_like(y), disconnected_inputs="ignore").type.dtype == x.type.dtype


KEEP_DTYPE = [r for r in ROWS if r.name in OF_BITS or r.dtype(("float64",) * r.nin) == "float64"]


@pytest.mark.parametrize("row", KEEP_DTYPE, ids=str)
def test_in_place_gives_the_same_and_takes_the_memory(row):
    rng = np.random.default_rng(9)
    dtype = "int64" if row.name in OF_BITS else "float64"
    for position in range(row.nin):
        values = draw_all(row, rng, dtype, [(2, 3)] * 3)
        xs = variables(values)
        (expected,) = evaluate([Elemwise(row)(*xs)], dict(zip(xs, values, strict=True)))
        op = Elemwise(row, {0: position})
        assert op != Elemwise(row)
        assert op == Elemwise(row, {0: position})
        assert op.destroy_map == {0: [position]}
        for compute in (lambda o, i, v: evaluate([o], dict(zip(i, v, strict=True)))[0], by_thunk):
            copies = [v.copy() for v in values]
            got = compute(op(*xs), xs, copies)
            np.testing.assert_array_equal(got, expected)
            assert got is copies[position]
            for other in set(range(row.nin)) - {position}:
                np.testing.assert_array_equal(copies[other], values[other])


@pytest.mark.parametrize("dtype", [d for d in DTYPES if not d.startswith("complex")])
@pytest.mark.parametrize("target", [d for d in DTYPES if not d.startswith("complex")])
def test_casts(dtype, target):
    value = np.array([0, 1, 2]).astype(dtype)
    x = TensorType(dtype, (None,))()
    y = tt.cast(x, target)
    assert (y is x) == (dtype == target)
    (got,) = evaluate([y], {x: value})
    assert got.dtype == np.dtype(target)
    np.testing.assert_array_equal(got, value.astype(target))


def test_derivative_through_a_cast():
    verify_grad(lambda x: tt.cast(x, "float64") ** 2, [np.array([1.0, 2.0], "float32")])
    x = tt.fvector()
    assert Lop(tt.cast(x, "float64"), x, tt.constant([1.0])).type.dtype == "float32"


def test_rows_by_name():
    assert row_named("add") is tt.add.scalar_op
    assert row_named("cast_int8") is cast_row("int8")
    with pytest.raises(KeyError):
        row_named("nonsense")


@pytest.mark.parametrize("row", [r for r in ROWS if r.inverse is not None], ids=str)
def test_the_inverse_undoes(row):
    other = row_named(row.inverse)
    rng = np.random.default_rng(1)
    low, high = max(row.domain[0], other.domain[0]), min(row.domain[1], other.domain[1])
    value = rng.integers(-5, 5, 4) if row.name in OF_BITS else rng.uniform(low, high, 4)
    np.testing.assert_allclose(row.numpy(other.numpy(value)), value, rtol=1e-12)


@pytest.mark.parametrize("row", [r for r in ROWS if r.nin == 2], ids=str)
def test_the_algebraic_facts(row):
    rng = np.random.default_rng(1)
    dtype = "int64" if row.name in OF_BITS else "float64"
    a, b = (draw(row, rng, dtype, (20,)) for _ in range(2))
    if row.commutative:
        np.testing.assert_array_equal(row.numpy(a, b), row.numpy(b, a))
    if row.identity is not None:
        np.testing.assert_array_equal(row.numpy(np.full_like(a, row.identity), a), a)
    if row.absorbing is not None:
        np.testing.assert_array_equal(row.numpy(np.full_like(a, row.absorbing), a), np.full_like(a, row.absorbing))


def test_the_pieces_of_clip():
    # Each order of the three arguments, the bounds exchanged too (the upper one wins then, as in NumPy).
    orders = np.array(list(itertools.permutations([-1.0, 0.5, 2.0])))
    verify_grad(tt.clip, list(orders.T))
    x, low, high = variables([c.copy() for c in orders.T])
    values = dict(zip((x, low, high), orders.T, strict=True))
    slopes = evaluate(Lop(tt.clip(x, low, high), [x, low, high], tt.constant(np.ones(6))), values)
    assert {tuple(s) for s in np.array(slopes).T.tolist()} == {(1, 0, 0), (0, 1, 0), (0, 0, 1)}
