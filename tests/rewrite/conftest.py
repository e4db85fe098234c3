import pytest

import termgraph.tensor as tt


@pytest.fixture(scope="session")
def deep():
    """(x, the sine of the sine of x ... 100,000 times): deeper than any recursion reaches. Not to be changed."""
    x = y = tt.dscalar("x")
    for _ in range(100_000):
        y = tt.sin(y)
    return x, y
