"""Merge: what is computed twice is computed once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from termgraph.rewrite.goals import computed_by, differs
from termgraph.rewrite.relation import relation


@relation
def merge(x: Any, y: Any, f: Any, xs: Any) -> Iterator[tuple[Any, ...]]:
    """f(xs) = f(xs): y, computed from the same inputs by the same op as x, is x

    Over the facts (op, inputs) -> output of a graph, op and inputs determine the output. Staged, that functional dependency
    is a hash table, which the drivers keep true at every change: equality inside a graph is identity.

    Soundness: exact.
    """
    yield y, x, computed_by(y, f, xs), computed_by(x, f, xs), differs(x, y)
