import pytest

import termgraph.tensor as tt

DEPTH = 100_000


def negations(x, depth=DEPTH):
    """`x` negated `depth` times."""
    for _ in range(depth):
        x = tt.neg(x)
    return x


@pytest.fixture(scope="session")
def deep():
    """(x, x negated 100,000 times): deeper than any recursion reaches. Not to be changed."""
    x = tt.dscalar("x")
    return x, negations(x)
