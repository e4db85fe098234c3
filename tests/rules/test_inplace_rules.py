"""In-place promotion: where a result takes the memory of an input, and where it must not."""

import numpy as np
import pytest
from rewrite_helpers import equilibrated, graph_of, run_overwriting

import termgraph as tg
import termgraph.sparse as sparse
import termgraph.tensor as tt
from termgraph.graph import evaluate, toposort
from termgraph.rewrite import equilibrate
from termgraph.sparse import Usmm

INPLACE = tg.rules.ALL.filter(phase="inplace")
x, y = tt.dvectors("x", "y")
m = tt.dmatrix("m")


def overwriting(outputs, **options):
    """{name of op: the input it overwrites} of what the phase makes of `outputs`."""
    results, _ = equilibrated(outputs if isinstance(outputs, list) else [outputs], INPLACE, **options)
    return {n.op.name: n.op.destroy_map[0][0] for n in toposort(results) if n.op.destroy_map}


@pytest.mark.parametrize(("term", "taken"), [
    (tt.exp(tt.sin(x)), {"exp": 0}), (tt.sin(x) + y, {"add": 0}), (y - tt.sin(x), {"sub": 1}), (x + y, {}),
    (tt.exp(x), {}),
    (tt.exp(tt.log(tt.sin(x))), {"exp": 0, "log": 0}), (tt.sin(x) * tt.cos(y), {"mul": 0}),
    (tt.exp(tt.sin(tt.dscalar("s"))), {}),
    (tt.exp(tt.sin(m).T), {"exp": 0}), (tt.exp(tt.sin(m)[::-1]), {"exp": 0}), (tt.exp(m.T), {}), (tt.exp(x[::-1]), {}),
    (tt.lt(tt.sin(x), y), {}), (tt.cast(tt.sin(x), "float32"), {}), (tt.exp(tt.sin(tt.lvector("n"))), {"exp": 0}),
    (tt.sin(tt.drow("r")) + m, {}), (m + tt.sin(tt.drow("r")), {}), (tt.sin(tt.drow("r")) + tt.drow("q"), {"add": 0}),
    (tt.sum(tt.sin(x)), {}), (tt.fvector("f") + tt.sin(x), {"add": 1}), (tt.sin(tt.fvector("f")) + x, {}),
], ids=lambda v: getattr(v, "__name__", str(v)))
def test_which_input_is_overwritten(term, taken):
    assert overwriting(term) == taken


def test_memory_that_is_read_again_is_kept():
    s = tt.sin(x)
    assert overwriting([tt.exp(s), s]) == {}
    assert overwriting(tt.exp(s) * tt.cos(s)).keys() == {"cos", "mul"}  # exp is computed first and may not
    assert overwriting(s * s) == {} and overwriting(s - s) == {}
    t = tt.sin(m)
    assert overwriting(t - t.T) == {} and "exp" not in overwriting(tt.exp(t) - tt.log(t.T))


def test_protected_inputs_and_constants_are_kept():
    assert overwriting(tt.exp(tt.constant([1.0, 2.0])) + y) == {"add": 0}
    assert overwriting(tt.exp(tt.constant([1.0, 2.0]))) == {}
    w = tg.shared(np.ones(3), name="w")
    assert overwriting([tt.exp(w)]) == {}


def test_the_same_memory_is_not_taken_twice():
    s = tt.sin(x)
    results, _ = equilibrated([tt.exp(s), tt.cos(s), tt.log(s)], INPLACE)
    assert sum(bool(n.op.destroy_map) for n in toposort(results)) == 1


def test_the_values_are_those_before():
    s, t = tt.sin(x), tt.cos(m)
    outputs = [tt.exp(s) * tt.cos(s) - tt.log(tt.exp(s)), tt.exp(t.T) + tt.sin(t) - m]
    fgraph = graph_of(outputs)
    report = equilibrate(fgraph, INPLACE)
    values = {x: np.array([0.5, 1.0]), m: np.array([[1.0, 2.0], [3.0, 4.0]])}
    assert report.fires >= 3
    for a, b in zip(evaluate(outputs, values), run_overwriting(fgraph, values), strict=True):
        np.testing.assert_array_equal(a, b)


def test_usmm_takes_the_memory_of_z():
    a, b, c = sparse.csr_matrix("a"), tt.dmatrix("b"), tt.dmatrix("c")
    term = sparse.usmm(2.0, a, b, tt.exp(c))
    result, _ = equilibrated(term, INPLACE)
    assert result.owner.op == Usmm(inplace=True)
    assert equilibrated(sparse.usmm(2.0, a, b, c), INPLACE)[0].owner.op == Usmm(inplace=False)


def test_compiled_functions_do_not_change_their_arguments():
    f = tg.function([x, y], [tt.exp(x + y) * y, x - tt.sin(tt.cos(x))])
    a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    for _ in range(2):
        p, q = f(a, b)
        np.testing.assert_allclose(p, np.exp(a + b) * b)
        np.testing.assert_allclose(q, a - np.sin(np.cos(a)))
    assert a.tolist() == [1.0, 2.0] and b.tolist() == [3.0, 4.0]
    assert any(n.op.destroy_map for n in f.maker.fgraph.toposort())
