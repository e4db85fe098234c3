"""How tests hold an op to its word: value and type, shape, and both derivative modes, all by the plain interpreter.

A `f` below takes variables and returns one variable. `types` gives the variables' types; by default no static length is
known.
"""

import numpy as np

from termgraph.graph import Constant, DisconnectedType, NullType, ancestors, evaluate, toposort
from termgraph.tensor.type import DISCRETE, TensorType

STEP = 1e-6


def variables_like(values, types=None):
    """A variable for each array, of the type given or of its dtype with no static length."""
    values = [np.asarray(v) for v in values]
    if types is None:
        types = [TensorType(v.dtype, (None,) * v.ndim) for v in values]
    return [t(f"x{i}") for i, t in enumerate(types)]


def evaluate_all(outputs, givens):
    """The values of `outputs`, each exactly of its declared dtype, rank and static shape; and so for all between."""
    nodes = toposort(outputs, givens)
    between = [v for node in nodes for v in node.outputs]
    values = dict(zip(between, evaluate(between, givens), strict=True))
    for variable, value in values.items():
        assert type(value) is np.ndarray, f"{variable.owner} gave a {type(value).__name__}, not an ndarray"
        variable.type.filter(value, strict=True)
        _check_memory(variable, value, values, givens)
    return [values[o] if o in values else evaluate([o], givens)[0] for o in outputs]


def _check_memory(variable, value, values, givens):
    node = variable.owner
    declared = node.op.view_map.get(variable.index, []) + node.op.destroy_map.get(variable.index, [])
    for position, i in enumerate(node.inputs):
        source = i.data if isinstance(i, Constant) else values.get(i, givens.get(i))
        if position not in declared and isinstance(source, np.ndarray):
            assert not np.shares_memory(source, value), f"output {variable.index} of {node} is an undeclared view of {i}"


def check_op(f, values, expected, types=None):
    """`f` has the value and dtype of the array `expected` on `values`, and its graph infers its shapes right; the
    thunks agree. Returns the value.
    """
    variables = variables_like(values, types)
    givens = {x: x.type.filter(np.asarray(v)) for x, v in zip(variables, values, strict=True)}
    output = f(*variables)
    (result,) = evaluate_all([output], givens)
    expected = np.asarray(expected)
    assert result.dtype == expected.dtype, f"dtype {result.dtype}, expected {expected.dtype}"
    assert result.shape == expected.shape, f"shape {result.shape}, expected {expected.shape}"
    np.testing.assert_allclose(result, expected, rtol=1e-5 if result.dtype.itemsize < 8 else 1e-10, atol=1e-12)
    check_infer_shape([output], givens)
    check_thunks([output], givens)
    return result


def check_thunks(outputs, givens):
    """Every node's thunk computes what its `perform` does, and says that it did."""
    for node in toposort(outputs, givens):
        inputs = evaluate(node.inputs, givens)
        storage = {v: [np.array(value)] for v, value in zip(node.inputs, inputs, strict=True)}
        storage |= {v: [None] for v in node.outputs}
        computed = {v: [v not in node.outputs] for v in storage}
        node.op.make_thunk(node, storage, computed, [])()
        for output, expected in zip(node.outputs, evaluate(node.outputs, givens), strict=True):
            (found,) = storage[output]
            assert type(found) is np.ndarray, f"the thunk of {node} gave a {type(found).__name__}, not an ndarray"
            assert found.dtype == expected.dtype and computed[output] == [True], f"the thunk of {node}"
            np.testing.assert_array_equal(found, expected, err_msg=f"the thunk of {node}")


def check_infer_shape(outputs, givens):
    """Every node's `infer_shape` says the shape its outputs have, without computing them."""
    lengths, actual = {}, dict(givens)

    def shape_of(variable):
        if variable not in lengths:
            value = variable.data if isinstance(variable, Constant) else givens[variable]
            if isinstance(variable, Constant) or not isinstance(variable.type, TensorType):
                lengths[variable] = getattr(value, "shape", None)
            else:
                symbols = tuple(TensorType("int64", ())(f"{variable}.{d}") for d in range(np.ndim(value)))
                actual.update(zip(symbols, (np.asarray(n) for n in np.shape(value)), strict=True))
                lengths[variable] = symbols
        return lengths[variable]

    for node in toposort(outputs, givens):
        inferred = node.op.infer_shape(None, node, [shape_of(i) for i in node.inputs])
        assert len(inferred) == len(node.outputs), f"{node.op}: {len(inferred)} shapes for {len(node.outputs)} outputs"
        for output, shape, value in zip(node.outputs, inferred, evaluate(node.outputs, givens), strict=True):
            symbolic = [n for n in shape if hasattr(n, "type")]
            assert not set(node.outputs) & set(ancestors(symbolic)), f"{node.op} computes its output to know its shape"
            found = iter(evaluate(symbolic, actual))
            numbers = tuple(int(next(found)) if hasattr(n, "type") else n for n in shape)
            assert numbers == value.shape, f"{node.op} infers {numbers}, the shape is {value.shape}"
            lengths[output] = tuple(shape)


def check_pullback(f, values, types=None, seed=0, tolerance=1e-5):
    """The pullbacks from `f` to its float arguments agree with central differences of <w, f> for a random w."""
    variables, values = variables_like(values, types), [np.asarray(v) for v in values]
    output = f(*variables)
    shape = evaluate_all([output], dict(zip(variables, values, strict=True)))[0].shape
    weight = np.asarray(np.random.default_rng(seed).normal(size=shape), output.type.dtype)
    cotangent = output.type(name="w")
    cotangents = reverse_sweep(output, cotangent, variables)
    givens = {**dict(zip(variables, values, strict=True)), cotangent: weight}

    def cost(changed):
        return float((evaluate([output], dict(zip(variables, changed, strict=True)))[0] * weight).sum())

    for position, (x, value) in enumerate(zip(variables, values, strict=True)):
        if x.type.dtype in DISCRETE:
            continue
        found = np.zeros_like(value)
        if cotangents[position] is not None:
            assert cotangents[position].type.dtype == x.type.dtype, f"cotangent of {x} has type {cotangents[position].type}"
            (found,) = evaluate_all([cotangents[position]], givens)
        assert found.shape == value.shape, f"cotangent of {x} has shape {found.shape}, not {value.shape}"
        expected = np.empty_like(value)
        for index in np.ndindex(*value.shape):
            step = np.zeros_like(value)
            step[index] = STEP
            up, down = ([np.asarray(v + s * step) if i == position else v for i, v in enumerate(values)] for s in (1, -1))
            expected[index] = (cost(up) - cost(down)) / (2 * STEP)
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance, err_msg=f"cotangent of {x}")


def check_pushforward(f, values, types=None, seed=0, tolerance=1e-5):
    """The pushforwards to `f` agree with a central difference along a random direction in all float arguments."""
    variables, values = variables_like(values, types), [np.asarray(v) for v in values]
    rng = np.random.default_rng(seed)
    output = f(*variables)
    directions = [None if x.type.dtype in DISCRETE else np.asarray(rng.normal(size=v.shape), v.dtype)
                  for x, v in zip(variables, values, strict=True)]
    symbols = [None if d is None else x.type(name=f"t{i}") for i, (x, d) in enumerate(zip(variables, directions, strict=True))]
    tangent = forward_sweep(output, variables, symbols)
    up, down = ([v if d is None else np.asarray(v + s * STEP * d) for v, d in zip(values, directions, strict=True)]
                for s in (1, -1))
    high, low = (evaluate([output], dict(zip(variables, v, strict=True)))[0] for v in (up, down))
    expected = (high - low) / (2 * STEP)
    found = np.zeros_like(expected)
    if tangent is not None:
        assert tangent.type.dtype == output.type.dtype, f"the tangent has type {tangent.type}"
        givens = dict(zip(variables, values, strict=True))
        givens |= {s: d for s, d in zip(symbols, directions, strict=True) if s is not None}
        (found,) = evaluate_all([tangent], givens)
    assert found.shape == expected.shape, f"the tangent has shape {found.shape}, not {expected.shape}"
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def check_derivatives(f, values, types=None, seed=0, tolerance=1e-5):
    """Both modes."""
    check_pullback(f, values, types, seed, tolerance)
    check_pushforward(f, values, types, seed, tolerance)


def reverse_sweep(output, cotangent, wrt):
    """The cotangents of `wrt` (None: disconnected), each node's `pullback` called in turn."""
    wanted = set(wrt)
    cotangents = {output: cotangent}
    for node in reversed(toposort([output], wanted)):
        arriving = [cotangents.get(o) for o in node.outputs]
        if all(g is None for g in arriving):
            continue
        arriving = [DisconnectedType()() if g is None else g for g in arriving]
        results = node.op.pullback(node.inputs, node.outputs, arriving)
        assert len(results) == len(node.inputs), f"{node.op}: {len(results)} cotangents for {len(node.inputs)} inputs"
        for x, g in zip(node.inputs, results, strict=True):
            if isinstance(g.type, DisconnectedType) or isinstance(x, Constant) or x.type.dtype in DISCRETE:
                continue
            if isinstance(g.type, NullType):
                assert wanted.isdisjoint(ancestors([x])), g.type.why_null
                continue
            assert g.type.ndim == x.type.ndim, f"{node.op} gives {x} of type {x.type} a cotangent of type {g.type}"
            cotangents[x] = cotangents[x] + g if x in cotangents else g
    return [cotangents.get(x) for x in wrt]


def forward_sweep(output, wrt, directions):
    """The tangent of `output` (None: zero) where `wrt` have the tangents `directions`."""
    tangents = {x: t for x, t in zip(wrt, directions, strict=True) if t is not None}
    for node in toposort([output], wrt):
        arriving = [tangents.get(i) for i in node.inputs]
        if any(t is not None for t in arriving):
            results = node.op.pushforward(node.inputs, node.outputs, arriving)
            assert len(results) == len(node.outputs), f"{node.op}: {len(results)} tangents for {len(node.outputs)} outputs"
            tangents.update((o, t) for o, t in zip(node.outputs, results, strict=True) if t is not None)
    return tangents.get(output)
