"""Constructors of variables."""

from __future__ import annotations

import pytest

import termgraph.tensor as tt
from termgraph.config import config
from termgraph.errors import GraphTypeError
from termgraph.tensor.type import TensorType

SHAPES = {"scalar": (), "vector": (None,), "row": (1, None), "col": (None, 1), "matrix": (None, None), "tensor3": (None,) * 3,
          "tensor4": (None,) * 4, "tensor5": (None,) * 5}
PREFIXES = {"b": "int8", "w": "int16", "i": "int32", "l": "int64", "f": "float32", "d": "float64", "c": "complex64",
            "z": "complex128"}


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("prefix", ["", *PREFIXES])
def test_every_constructor(kind, prefix):
    dtype = PREFIXES.get(prefix, "float64")
    x = getattr(tt, prefix + kind)("x")
    assert x.name == "x"
    assert x.owner is None
    assert x.type is TensorType(dtype, SHAPES[kind])
    assert getattr(tt, prefix + kind).type is x.type
    plural = getattr(tt, prefix + ("matrices" if kind == "matrix" else f"{kind}s"))
    a, b = plural("a", "b")
    assert (a.name, b.name) == ("a", "b")
    assert a.type is b.type is x.type
    assert [v.name for v in plural(3)] == [None] * 3


def test_dtype_and_shape_can_be_given():
    assert tt.vector("x", dtype="int8").type is TensorType("int8", (None,))
    assert tt.matrix("x", shape=(None, 3)).type is TensorType("float64", (None, 3))
    assert tt.vectors("x", "y", dtype="bool")[0].type.dtype == "bool"
    with pytest.raises(ValueError, match="a vector has 1 dimensions"):
        tt.vector(shape=(1, 2))


def test_floatX_is_read_when_called():
    with config.change_flags(floatX="float32"):
        assert tt.vector().type.dtype == "float32"
        assert tt.tensor(shape=(2,)).type.dtype == "float32"
        assert tt.dvector().type.dtype == "float64"
    assert tt.vector().type.dtype == "float64"


def test_tensor():
    x = tt.tensor("x", dtype="int32", shape=(None, 3))
    assert x.name == "x"
    assert x.type is TensorType("int32", (None, 3))
    with pytest.raises(GraphTypeError):
        tt.tensor(shape=(-2,))
