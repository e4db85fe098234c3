"""Usmm: alpha * x @ y + z."""

import numpy as np
import pytest
from sparse_helpers import FORMATS, SHAPES, check_derivatives, check_value, dense_value, frozen, ops_of, pull_back, sparse_value

import termgraph.sparse as sparse
import termgraph.tensor as tt
from termgraph.errors import GraphTypeError, StaticShapeError
from termgraph.graph import evaluate
from termgraph.sparse import SparseTensorType
from termgraph.sparse.usmm import Usmm
from termgraph.tensor.type import TensorType
from termgraph.terms import Term, var


def operands(shape, fmt, columns=2, dtype="float64"):
    y, z = dense_value((shape[1], columns), dtype=dtype), dense_value((shape[0], columns), seed=1, dtype=dtype)
    return [dense_value((), dtype=dtype), sparse_value(shape, fmt, dtype=dtype), y, z]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("columns", [0, 1, 3])
def test_usmm(shape, fmt, columns):
    values = a, x, y, z = operands(shape, fmt, columns)
    check_value(sparse.usmm, values, a * (x.toarray() @ y) + z)
    check_derivatives(sparse.usmm, values)


@pytest.mark.parametrize("alpha_shape", [(1,), (1, 1)])
def test_alpha_may_be_any_tensor_of_one_element(alpha_shape):
    _, x, y, z = operands((4, 3), "csr")
    alpha = np.full(alpha_shape, 3.0)
    types = [TensorType("float64", alpha_shape), SparseTensorType("csr", "float64"), *[TensorType("float64", (None, None))] * 2]
    check_value(sparse.usmm, [alpha, x, y, z], 3 * (x @ y) + z, types)
    check_derivatives(sparse.usmm, [alpha, x, y, z], types=types)
    check_value(lambda x, y, z: sparse.usmm(-2, x, y, z), [x, y, z], z - 2 * (x @ y))


@pytest.mark.parametrize("dtypes", [["float32"] * 4, ["int64", "float32", "float32", "float32"],
                                    ["float32", "int8", "float64", "float32"], ["int64"] * 4])
@pytest.mark.parametrize("fmt", FORMATS)
def test_dtypes_promote_as_in_the_expression(dtypes, fmt):
    a, x, y, z = (v.astype(d) for v, d in zip(operands((4, 3), fmt), dtypes, strict=True))
    wide = np.result_type(*dtypes)  # all is computed in it
    expected = a.astype(wide) * (x.toarray().astype(wide) @ y.astype(wide)) + z.astype(wide)
    check_value(sparse.usmm, [np.asarray(a), x, y, z], expected)


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_layouts_of_the_dense_operands(fmt, order):
    a, x, y, z = operands((4, 3), fmt)

    def laid_out(m):
        if order == "strided":
            return np.repeat(m, 2, axis=1)[:, ::2]
        return np.array(m, order=order)

    va, vx, vy, vz = tt.scalar(), sparse.matrix(fmt), tt.matrix(), tt.matrix()
    for inplace in (False, True):
        target = laid_out(z)
        before = target.copy()
        (found,) = evaluate([Usmm(inplace=inplace)(va, vx, vy, vz)],
                            {va: a, vx: frozen(x), vy: frozen(laid_out(y)), vz: target})
        np.testing.assert_allclose(found, a * (x @ y) + z)
        assert (found is target) == inplace
        np.testing.assert_array_equal(target, found if inplace else before)


def test_inplace_declares_what_it_destroys():
    assert Usmm(inplace=True).destroy_map == {0: [3]}
    assert Usmm().destroy_map == {}
    assert sparse.usmm_inplace == Usmm(inplace=True) != sparse.usmm


def test_usmm_on_logic_variables_is_a_pattern():
    a, x, y, z = (var(n) for n in "axyz")
    assert sparse.usmm(a, x, y, z) == Term(Usmm(), (a, x, y, z))
    assert sparse.usmm(2, x, y, z) == Term(Usmm(), (2, x, y, z))


def test_derivatives_never_make_x_dense():
    a, x, y, z = tt.scalar(), sparse.csr_matrix(), tt.matrix(), tt.matrix()
    output = sparse.usmm(a, x, y, z)
    assert not ops_of(pull_back(output, [a, x, y, z], output.type())) & {"DenseFromSparse", "SparseFromDense"}


def test_errors():
    a, x, y, z = tt.scalar("a"), sparse.csr_matrix("x"), tt.matrix("y"), tt.matrix("z")
    with pytest.raises(GraphTypeError, match=r"Usmm.*static lengths 1"):
        sparse.usmm(tt.vector("v"), x, y, z)
    with pytest.raises(GraphTypeError, match="second argument"):
        sparse.usmm(a, y, y, z)
    with pytest.raises(GraphTypeError, match="third argument"):
        sparse.usmm(a, x, x, z)
    with pytest.raises(GraphTypeError, match="dimensions"):
        sparse.usmm(a, x, y, tt.vector("z"))
    with pytest.raises(GraphTypeError, match="cannot write"):
        sparse.usmm_inplace(a, x, y, tt.fmatrix("z"))
    with pytest.raises(StaticShapeError):
        sparse.usmm(a, SparseTensorType("csr", "float64", (3, 4))(), y, TensorType("float64", (1, None))())
    values = {a: dense_value(()), x: sparse_value((4, 3)), y: dense_value((3, 2))}
    for shape in [(1, 2), (4, 1), (3, 2)]:  # z does not broadcast
        with pytest.raises(ValueError, match="fit together"):
            evaluate([sparse.usmm(a, x, y, z)], {**values, z: np.ones(shape)})
