"""How tests hold a sparse op to its word: value and type, memory, shape, and both derivative modes, by the plain interpreter.

A `f` below takes variables, one for each value, and returns one variable. Derivatives are compared with finite differences
in a random direction on the *stored* values.
"""

import numpy as np
import scipy.sparse

from termgraph.graph import Constant, DisconnectedType, ancestors, evaluate, toposort
from termgraph.graph.evaluate import perform
from termgraph.sparse import SparseTensorType
from termgraph.sparse.storage import arrays
from termgraph.tensor.type import TensorType

FORMATS = ("csr", "csc")
SHAPES = ((4, 3), (3, 5), (1, 1), (1, 4), (0, 3), (3, 0), (7, 7))
STEP = 1e-6


def sparse_value(shape, fmt="csr", seed=0, dtype="float64", low=0.5, high=2.0, density=0.4):
    """A matrix with about `density` of its values stored, one of them a 0, and with rows that store nothing."""
    rng = np.random.default_rng(seed)
    stored = rng.random(shape) < density
    if shape[0] > 1:
        stored[rng.integers(shape[0])] = False
    rows, cols = np.nonzero(stored)
    data = rng.uniform(low, high, len(rows))
    if low <= 0 <= high and len(data):
        data[0] = 0
    return scipy.sparse.coo_matrix((data.astype(dtype), (rows, cols)), shape=shape).asformat(fmt)


def dense_value(shape, seed=0, dtype="float64", low=0.5, high=2.0):
    return np.asarray(np.random.default_rng(seed + 1000).uniform(low, high, shape)).astype(dtype)


def type_of(value):
    if scipy.sparse.issparse(value):
        return SparseTensorType(value.format, value.dtype)
    return TensorType(value.dtype, (None,) * value.ndim)


def variables_like(values, types=None):
    return [t(f"x{i}") for i, t in enumerate(types or [type_of(v) for v in values])]


def frozen(value):
    """A copy that nobody can write to: an op that changes its input raises."""
    value = value.copy()
    for array in arrays(value):
        array.flags.writeable = False
    return value


def shared_memory(a, b):
    return any(np.shares_memory(u, v) for u in arrays(a) for v in arrays(b))


def compute(output, variables, values):
    """The value of `output`; every node on the way is held to its declared types, views, and shapes."""
    known = {v: frozen(x) for v, x in zip(variables, values, strict=True)}
    known.update((v, v.data) for v in ancestors([output]) if isinstance(v, Constant))
    for node in toposort([output]):
        inputs = [known[i] for i in node.inputs]
        results = perform(node, inputs)
        for index, (variable, result) in enumerate(zip(node.outputs, results, strict=True)):
            assert variable.type.filter(result, strict=True) is result, f"{node} gave {result!r} for {variable.type}"
            declared = node.op.view_map.get(index, [])
            for position, value in enumerate(inputs):
                assert position in declared or not shared_memory(value, result), f"{node}: undeclared view of {position}"
            known[variable] = result
        check_shapes(node, inputs, results)
        assert all(o.type == t for o, t in zip(node.op.make_node(*node.inputs).outputs, [o.type for o in node.outputs],
                                               strict=True))
    return known[output]


def check_shapes(node, inputs, results):
    if not type(node.op).__module__.startswith("termgraph.sparse") or len(node.outputs) != 1:
        return
    (inferred,) = node.op.infer_shape(None, node, [x.shape for x in inputs])
    givens = dict(zip(node.inputs, inputs, strict=True))
    lengths = [n if isinstance(n, (int, np.integer)) else int(evaluate([n], givens)[0]) for n in inferred]
    assert tuple(lengths) == results[0].shape, f"{node} infers the shape {lengths}, but it is {results[0].shape}"


def dense(value):
    return value.toarray() if scipy.sparse.issparse(value) else value


def check_value(f, values, expected, types=None):
    """`f(values)` is `expected`: sparse or dense as it is, of its dtype, and of its fmt where it is sparse."""
    variables = variables_like(values, types)
    result = compute(f(*variables), variables, values)
    assert scipy.sparse.issparse(result) == scipy.sparse.issparse(expected)
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    assert getattr(result, "format", None) == getattr(expected, "format", None)
    np.testing.assert_allclose(dense(result), dense(expected), rtol=1e-5 if result.dtype.itemsize < 8 else 1e-10)
    return result


def like(value, rng):
    """A random direction: for a sparse value one on its structure."""
    if not scipy.sparse.issparse(value):
        return rng.uniform(-1, 1, value.shape)
    direction = value.copy()
    direction.data = rng.uniform(-1, 1, len(value.data))
    return direction


def moved(values, directions, step):
    result = []
    for value, direction in zip(values, directions, strict=True):
        if direction is None:
            result.append(value)
            continue
        other = value.copy()
        if scipy.sparse.issparse(value):
            other.data = value.data + step * direction.data
        else:
            other = np.asarray(value + step * direction)
        result.append(other)
    return result


def pull_back(output, wrt, cotangent):
    """The cotangents of `wrt`, None where nothing arrives: the sweep of reverse mode, at its simplest."""
    found = {output: cotangent}
    for node in reversed(toposort([output])):
        arrived = [found.get(o, DisconnectedType()()) for o in node.outputs]
        if all(isinstance(g.type, DisconnectedType) for g in arrived):
            continue
        for i, g in zip(node.inputs, node.op.pullback(node.inputs, node.outputs, arrived), strict=True):
            if not isinstance(g.type, DisconnectedType):
                found[i] = found[i] + g if i in found else g
    return [found.get(v) for v in wrt]


def push_forward(output, tangents):
    found = dict(tangents)
    for node in toposort([output]):
        found.update(zip(node.outputs, node.op.pushforward(node.inputs, node.outputs,
                                                           [found.get(i) for i in node.inputs]), strict=True))
    return found[output]


def check_derivatives(f, values, wrt=None, types=None, seed=7):
    """Both modes agree with finite differences with respect to the values at the positions `wrt` (all), and cotangents have
    the fmt, dtype and dimensions of their variables. Returns the graph of the cotangents."""
    rng = np.random.default_rng(seed)
    wrt = range(len(values)) if wrt is None else wrt
    variables = variables_like(values, types)
    output = f(*variables)
    directions = [like(v, rng) if i in wrt else None for i, v in enumerate(values)]
    at = [dense(compute(output, variables, moved(values, directions, s))) for s in (STEP, -STEP)]
    expected = (at[0] - at[1]) / (2 * STEP)

    tangents = {v: v.type(f"t{i}") for i, v in enumerate(variables) if i in wrt}
    forward = push_forward(output, tangents)
    assert forward.type.in_same_class(output.type), f"tangent of type {forward.type} for {output.type}"
    all_variables = [*variables, *tangents.values()]
    all_values = [*values, *[d for d in directions if d is not None]]
    np.testing.assert_allclose(dense(compute(forward, all_variables, all_values)), expected, rtol=1e-6, atol=1e-7)

    value = compute(output, variables, values)
    weight = like(value, rng)
    w = output.type("w")
    backward = pull_back(output, [variables[i] for i in wrt], w)
    inner = 0.0
    for i, g in zip(wrt, backward, strict=True):
        x = variables[i]
        assert type(g.type) is type(x.type), f"cotangent of type {g.type} for {x.type}"
        assert (g.type.dtype, g.type.ndim, g.type.broadcastable) == (x.type.dtype, x.type.ndim, x.type.broadcastable)
        assert getattr(g.type, "format", None) == getattr(x.type, "format", None)
        got = compute(g, [*variables, w], [*values, weight])
        assert got.shape == values[i].shape
        inner += float((dense(got) * dense(directions[i])).sum())
    np.testing.assert_allclose(inner, float((dense(weight) * expected).sum()), rtol=1e-5, atol=1e-6)
    return backward


def ops_of(outputs):
    return {type(node.op).__name__ for node in toposort(outputs)}
