"""DisconnectedType and NullType hold no values and say why."""

import pytest

import termgraph.tensor as tt
from termgraph.errors import GraphTypeError
from termgraph.graph import DisconnectedType, NullType
from termgraph.graph.null import grad_not_implemented, grad_undefined


def test_disconnected():
    assert DisconnectedType() == DisconnectedType() and hash(DisconnectedType()) == hash(DisconnectedType())
    assert DisconnectedType() != NullType() and DisconnectedType() != tt.dvector().type
    assert str(DisconnectedType()) == repr(DisconnectedType()) == "DisconnectedType"
    assert not DisconnectedType().is_valid_value(0.0)
    with pytest.raises(GraphTypeError, match="no value"):
        DisconnectedType().filter(1.0)


def test_null():
    assert NullType("a") == NullType("b") and hash(NullType("a")) == hash(NullType("b"))
    assert NullType() != DisconnectedType()
    assert str(NullType("a reason")) == "NullType(a reason)"
    with pytest.raises(GraphTypeError, match="a reason"):
        NullType("a reason").filter(1.0)


@pytest.mark.parametrize(("make", "word"), [(grad_undefined, "undefined"), (grad_not_implemented, "not implemented")])
def test_what_a_pullback_returns(make, word):
    x = tt.dvector("x")
    variable = make(tt.floor, 0, x, "It jumps.")
    assert isinstance(variable.type, NullType) and variable.owner is None
    assert variable.type.why_null == f"the derivative of Floor with respect to its input 0 (x) is {word}. It jumps."
    assert make(tt.floor, 0, x).type.why_null.endswith(f"is {word}.")
