"""Type: the defaults a subclass inherits."""

import numpy as np
import pytest

from termgraph.errors import GraphTypeError
from termgraph.graph import Constant, Type, Variable
from termgraph.graph.type import describe_value


class Word(Type):
    """Strings, perhaps of one length only."""

    def __init__(self, length=None):
        self.length = length

    def __eq__(self, other):
        return isinstance(other, Word) and self.length == other.length

    def __hash__(self):
        return hash((Word, self.length))

    def is_super(self, otype):
        return isinstance(otype, Word) and self.length in (None, otype.length)

    def filter(self, data, strict=False, allow_downcast=None):
        if not isinstance(data, str) and (strict or not isinstance(data, int)):
            raise GraphTypeError(f"no word: {data!r}")
        if self.length not in (None, len(str(data))):
            raise ValueError("too long or too short")
        return str(data)


def test_filter_must_be_defined():
    with pytest.raises(NotImplementedError, match=r"Type.*filter"):
        Type().filter(1)


def test_is_valid_value():
    assert Word().is_valid_value("a")
    assert not Word().is_valid_value(1)
    assert Word().is_valid_value(1, strict=False)
    assert not Word(2).is_valid_value("a")


def test_making_variables():
    variable = Word()("w")
    assert type(variable) is Variable
    assert (variable.name, variable.type, variable.owner, variable.head) == ("w", Word(), None, None)
    assert variable.trace is not None and variable.trace[0].co_name == "test_making_variables"
    assert Word().make_variable().trace is None


def test_making_constants():
    constant = Word().make_constant(5, "five")
    assert isinstance(constant, Constant)
    assert (constant.data, constant.name) == ("5", "five")
    with pytest.raises(GraphTypeError):
        Word().make_constant(2.5)


def test_filter_variable():
    long, short = Word(3)("long"), Word(2)("short")
    assert Word().filter_variable(long) is long
    assert Word(3).filter_variable("abc").data == "abc"
    with pytest.raises(GraphTypeError, match="expected a variable of type"):
        Word(3).filter_variable(short)
    with pytest.raises(GraphTypeError):
        Word(3).filter_variable(short, allow_convert=False)


def test_filter_variable_converts_where_the_type_knows_how():
    class Trimmed(Word):
        def convert_variable(self, var):
            return Constant(self, "xy")

    assert Trimmed(2).filter_variable(Word(3)("long")).data == "xy"
    with pytest.raises(GraphTypeError):
        Trimmed(2).filter_variable(Word(3)("long"), allow_convert=False)


def test_comparisons_default_to_equality():
    assert Type.is_super(Word(1), Word(1)) and not Type.is_super(Word(1), Word(2))
    assert Word(1).in_same_class(Word(1)) and not Word(1).in_same_class(Word(2))
    assert Word().convert_variable(v := Word(1)()) is v
    assert Word(1).convert_variable(Word()()) is None


def test_the_other_defaults():
    data = ["a"]
    assert Type().freeze(data) is data
    assert Type().ndim is None
    assert Type.samples() == ()
    assert Type().literal_of(3) is None
    assert Type().values_eq("a", "a") and not Type().values_eq_approx("a", "b")
    assert Type.may_share_memory(data, data) and not Type.may_share_memory(data, ["a"])


def test_describe_value():
    assert describe_value(np.zeros((2, 3), "float32")) == "ndarray of dtype float32 and shape (2, 3)"
    assert describe_value("hello") == "str 'hello'"
    assert len(describe_value("x" * 1000)) < 80
