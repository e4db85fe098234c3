"""The house as a test: imports between rooms only go down, none is hidden in a function, and no file is too long."""

import ast
from pathlib import Path

import pytest

import termgraph

PACKAGE = Path(termgraph.__file__).parent
#: From the lowest to the highest; a room may import itself and the rooms before it.
ROOMS = ("errors", "config", "graph", "terms", "rewrite", "tensor", "sparse", "gradient", "rules", "compile", "printing",
         "checking")
MAX_LINES = 500
FILES = sorted(PACKAGE.rglob("*.py"))


def room_of(module):
    """The room of a dotted module name below termgraph, "" for termgraph itself."""
    return (module.split(".") + [""])[1]


def module_of(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts)


def imported_modules(tree, module):
    """The modules of termgraph that a file imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = module.rsplit(".", node.level)[0] if node.level else ""
            source = ".".join(p for p in (base, node.module) if p)
            names = [f"{source}.{alias.name}" for alias in node.names] if source == "termgraph" else [source]
        else:
            continue
        yield from ((node.lineno, name) for name in names if name.split(".")[0] == "termgraph")


def hidden_imports(tree):
    """The lines of the imports inside functions."""
    functions = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))]
    return sorted({n.lineno for f in functions for n in ast.walk(f) if isinstance(n, (ast.Import, ast.ImportFrom))})


def upward_imports(tree, module):
    """(line, module) of the imports that do not go down."""
    room = room_of(module)
    return [(line, name) for line, name in imported_modules(tree, module)
            if room_of(name) not in ROOMS or ROOMS.index(room_of(name)) > ROOMS.index(room)]


def relative(path):
    return str(path.relative_to(PACKAGE))


def test_every_room_is_known():
    rooms = {room_of(module_of(path)) for path in FILES} - {"__init__"}
    assert rooms <= set(ROOMS)
    assert {"errors", "config", "graph", "terms", "tensor"} <= rooms


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_file(path):
    source = path.read_text()
    tree, module = ast.parse(source), module_of(path)
    assert hidden_imports(tree) == []
    assert len(source.splitlines()) <= MAX_LINES
    if path != PACKAGE / "__init__.py":
        assert upward_imports(tree, module) == []


@pytest.mark.parametrize(("module", "source", "upward"), [
    ("termgraph.graph.op", "from termgraph.terms.term import Term", True),
    ("termgraph.graph.op", "import termgraph.tensor as tt", True),
    ("termgraph.graph.op", "from termgraph import tensor", True),
    ("termgraph.graph.op", "import termgraph", True),
    ("termgraph.graph.op", "from ..tensor import type", True),
    ("termgraph.graph.op", "from .apply import Apply", False),
    ("termgraph.graph.op", "from termgraph.errors import GraphTypeError", False),
    ("termgraph.terms.term", "from termgraph.graph.op import Op", False),
    ("termgraph.config", "from termgraph import errors", False),
    ("termgraph.errors", "from termgraph import config", True),
    ("termgraph.tensor.type", "import numpy as np\nfrom typing import Any", False),
])
def test_the_check_sees_what_goes_up(module, source, upward):
    assert bool(upward_imports(ast.parse(source), module)) == upward


def test_the_check_sees_hidden_imports():
    assert hidden_imports(ast.parse("import a\ndef f():\n    if 1:\n        from b import c\n    return c")) == [4]
