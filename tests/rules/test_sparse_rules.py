"""z + a * (x @ y) becomes usmm, for csr and csc, and only where no product is needed besides."""

import numpy as np
import pytest
import scipy.sparse as scipy_sparse

import termgraph as tg
import termgraph.sparse as sparse
import termgraph.tensor as tt
from termgraph.sparse import Usmm

RULE = tg.rules.ALL["add_product"]
y, z = tt.dmatrix("y"), tt.dmatrix("z")
alpha = tt.dscalar("alpha")
FORMATS = pytest.mark.parametrize("fmt", ["csr", "csc"])


def sparse_variable(fmt):
    return sparse.csr_matrix("x") if fmt == "csr" else sparse.csc_matrix("x")


def values(x, fmt, seed=0):
    rng = np.random.default_rng(seed)
    make = scipy_sparse.csr_matrix if fmt == "csr" else scipy_sparse.csc_matrix
    dense = rng.normal(size=(4, 3)) * (rng.random((4, 3)) < 0.5)
    return {x: x.type.filter(make(dense)), y: rng.normal(size=(3, 2)), z: rng.normal(size=(4, 2)), alpha: np.array(1.5)}


def usmms(outputs):
    return [n for n in tg.graph.toposort(outputs) if isinstance(n.op, Usmm)]


FORMS = {
    "z + p": lambda p: z + p, "z - p": lambda p: z - p, "z + a p": lambda p: z + alpha * p, "z - a p": lambda p: z - alpha * p,
    "p + z": lambda p: p + z, "a p + z": lambda p: alpha * p + z, "z + p a": lambda p: z + p * alpha,
    "z - p a": lambda p: z - p * alpha,
    "z + 2 p": lambda p: z + 2 * p, "z - 0.5 p": lambda p: z - 0.5 * p,
}


@FORMATS
@pytest.mark.parametrize("form", FORMS)
def test_every_form(fmt, form):
    x = sparse_variable(fmt)
    term = FORMS[form](x @ y)
    result, report = tg.rewrite_graph(term, RULE)
    assert isinstance(result.owner.op, Usmm) and report.rules["add_product"].fires == 1
    assert not any(isinstance(n.op, sparse.StructuredDot) for n in tg.graph.toposort([result]))
    assert result.owner.inputs[1:] == [x, y, z]
    given = values(x, fmt)
    before, after = tg.graph.evaluate([term, result], given)
    np.testing.assert_allclose(before, after, rtol=1e-12)
    inputs = [v for v in given if v is not alpha or "a" in form]
    np.testing.assert_allclose(tg.function(inputs, term)(*[given[v] for v in inputs]), before, rtol=1e-12)


@FORMATS
def test_not_when_the_product_has_other_readers(fmt):
    x = sparse_variable(fmt)
    p = x @ y
    scaled = alpha * p
    for outputs in ([z + p, p], [z + p, p * 2], [z - scaled, scaled], [z + scaled, tt.exp(p)], [z + p, y + p]):
        results, report = tg.rewrite_graph(outputs, RULE)
        assert usmms(results) == [] and report.rules["add_product"].refused["sole_client"] >= 1
    results, _ = tg.rewrite_graph([z + x @ y, z * 2 - x @ (y + 1)], RULE)  # two products, each with one reader
    assert len(usmms(results)) == 2


@FORMATS
def test_not_when_z_broadcasts_or_does_not_hold_the_result(fmt):
    x = sparse_variable(fmt)
    p = x @ y
    for other in (tt.drow("r"), tt.dcol("c"), tt.dvector("v"), alpha, tt.fmatrix("f"), tt.lmatrix("i")):
        assert usmms([tg.rewrite_graph(other + p, RULE)[0]]) == []
    for term in (p - z, p * z, alpha * p, p + p, z + tt.exp(p), z + tt.dmatrix("w") * p):
        assert usmms([tg.rewrite_graph(term, RULE)[0]]) == []


def test_a_product_that_became_free_is_taken():
    x = sparse_variable("csr")
    p = x @ y

    @tg.relation(phase="specialize")
    def drop(a, b):
        yield tt.exp(a) - b, b

    results, _ = tg.rewrite_graph([z + p, tt.exp(p) - z], [drop, RULE])
    # exp(p), and with it a reader of p, goes with the node that is replaced.
    assert len(usmms(results)) == 1 and results[1] is z


def test_a_scalar_in_two_dimensions():
    x, one = sparse_variable("csr"), tt.tensor("one", shape=(1, 1))
    result, _ = tg.rewrite_graph(z + one * (x @ y), RULE)
    assert isinstance(result.owner.op, Usmm)
    row = tt.drow("r")
    assert usmms([tg.rewrite_graph(z + row * (x @ y), RULE)[0]]) == []


def test_in_float32():
    x, w, v = sparse.csr_fmatrix("x"), tt.fmatrix("w"), tt.fmatrix("v")
    result, _ = tg.rewrite_graph(v + 2 * (x @ w), RULE)
    assert isinstance(result.owner.op, Usmm) and result.type.dtype == "float32"


def test_it_belongs_to_the_specialize_phase_and_compiles_to_one_product():
    assert RULE.phase == "specialize"
    x = sparse_variable("csr")
    f = tg.function([x, y, z, alpha], z + alpha * (x @ y))
    assert len(usmms(f.maker.fgraph.outputs)) == 1
