"""Where the user built a node."""

import sys

import termgraph.tensor as tt
from termgraph.graph.trace import capture, describe, line_of


def here():
    return sys._getframe(1).f_lineno


def test_capture_finds_the_caller():
    trace, line = capture(), here()
    assert trace[0].co_name == "test_capture_finds_the_caller"
    assert line_of(trace) == line


def test_describe():
    text = describe(capture())
    assert text.endswith("in test_describe: text = describe(capture())")
    assert text.startswith(__file__)
    assert describe(None) is None


def test_each_line_of_a_function_is_told_apart():
    x = tt.dscalar("x")
    y, line_y = tt.exp(x), here()
    z, line_z = y * y, here()
    assert (line_of(y.owner.trace), line_of(z.owner.trace)) == (line_y, line_z)


def test_code_without_source():
    trace = eval(compile("capture()", "<nowhere>", "eval"), {"capture": capture})
    assert describe(trace) == "<nowhere>:1 in <module>"
    assert line_of((trace[0], 10_000)) == 1
