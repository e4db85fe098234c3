"""The cost of a call: a compiled function of one elementwise operation on 10 numbers beside the bare NumPy call."""

from __future__ import annotations

import numpy as np
from common import seconds, show, verdict

import termgraph as tg
import termgraph.tensor as tt

BAR = 3.0


def main() -> None:
    x, y = tt.vectors("x", "y")
    a, b = np.linspace(0.1, 1, 10), np.linspace(1, 2, 10)
    rows = []
    for name, inputs, output, bare, values in [
        ("exp(x)", [x], tt.exp(x), np.exp, [a]),
        ("sqrt(x)", [x], tt.sqrt(x), np.sqrt, [a]),
        ("x + y", [x, y], x + y, np.add, [a, b]),
        ("x * y", [x, y], x * y, np.multiply, [a, b]),
    ]:
        f = tg.function(inputs, output)
        np.testing.assert_allclose(f(*values), bare(*values))
        ours = seconds(lambda f=f, values=values: f(*values)) * 1e6
        numpys = seconds(lambda bare=bare, values=values: bare(*values)) * 1e6
        rows.append((name, ours, numpys, ours / numpys, BAR, verdict(ours / numpys, BAR)))
    show("call: microseconds for 10 numbers", ("function", "termgraph", "numpy", "ratio", "bar", "verdict"), rows)


if __name__ == "__main__":
    main()
