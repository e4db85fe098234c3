"""What tests of several rooms start from."""

import pytest

import termgraph.tensor as tt


@pytest.fixture(scope="session")
def deep():
    """(x, x negated 100,000 times): deeper than any recursion reaches. Not to be changed."""
    y = x = tt.dscalar("x")
    for _ in range(100_000):
        y = tt.neg(y)
    return x, y
