"""The README keeps its word. Its doctests run with those of the documents; here is what they do not cover."""

import re
from pathlib import Path

import pytest

import termgraph as tg

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def blocks():
    """The Python blocks that are not doctests."""
    return [b for b in re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL) if ">>>" not in b]


def run_block(source, name):
    """What the block defines. Rules read their own source lines, so it is compiled under a name."""
    space = {}
    exec(compile(source, name, "exec"), space)
    return space


def test_the_rule_shown_is_a_rule():
    (source,) = blocks()
    rules = [v for v in run_block(source, "README.md").values() if isinstance(v, tg.Rule)]
    assert [r.soundness for r in rules] == ["real"]
    x = tg.tensor.vector("x")
    product = tg.tensor.log(tg.tensor.exp(x) * tg.tensor.exp(-x))
    new, report = tg.rewrite_graph(product, rules)
    assert report.fires == 1
    assert new.owner.op == tg.tensor.add


def test_what_it_names_is_there():
    named = re.findall(r"`([\w/]+(?:\.py)?)`", README[README.index("## Where things are"):])
    paths = [n for n in named if n.split("/")[0] in ("termgraph", "tests", "docs", "examples", "benchmarks")]
    assert len(paths) > 10
    assert [p for p in paths if not (ROOT / p).exists()] == []


@pytest.mark.parametrize("target", ["quickstart", "test", "bench"])
def test_the_commands_are_there(target):
    assert f"make {target}" in README
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
