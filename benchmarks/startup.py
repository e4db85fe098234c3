"""What starting costs: importing termgraph beyond NumPy and SciPy, and the first compiled function of a process beside the
second. Each is measured in processes of its own."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter

from common import show, verdict

PROCESSES = 7
CACHE = tempfile.TemporaryDirectory()
IMPORT_BAR, COMPILE_BAR = 0.15, 0.05
#: The parts of SciPy that termgraph needs; `import scipy` alone loads none.
BELOW = "import numpy, scipy, scipy.linalg, scipy.sparse, scipy.special"
IMPORT = f"""
from time import perf_counter
{BELOW}
start = perf_counter()
import termgraph
print(perf_counter() - start)
"""
COMPILE = """
from time import perf_counter
import termgraph as tg, termgraph.tensor as tt
def compiled():
    x, y = tt.dvectors("x", "y")
    start = perf_counter()
    tg.function([x, y], tt.exp(x * y / y) + tt.log(x + 0) * 2)
    return perf_counter() - start
print(compiled(), compiled())
"""


def output(code: str, *options: str) -> subprocess.CompletedProcess[str]:
    """What a fresh process prints. Whatever the environment says, it finds modules compiled, as an installed package's are."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": CACHE.name, "PYTHONDONTWRITEBYTECODE": ""}
    return subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True, check=True, env=environment)


def measured(code: str) -> list[float]:
    """The median of each number that fresh processes print."""
    output(code)  # the first compiles modules
    rows = [[float(number) for number in output(code).stdout.split()] for _ in range(PROCESSES)]
    return [statistics.median(column) for column in zip(*rows, strict=True)]


def spent() -> list[tuple[str, float]]:
    """The milliseconds of importing termgraph, by package, and for termgraph by room: what `-X importtime` says modules
    take themselves."""
    code = f"{BELOW}; import sys; sys.stderr.write('--\\n'); import termgraph"
    lines = output(code, "-X", "importtime").stderr
    totals: Counter[str] = Counter()
    for own, module in re.findall(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)", lines.partition("--\n")[2]):
        parts = module.split(".")
        totals[".".join(parts[:2 if parts[0] == "termgraph" else 1])] += int(own)
    return [(name, time / 1e3) for name, time in totals.most_common(12)]


def main() -> None:
    (imported,) = measured(IMPORT)
    first, second = measured(COMPILE)
    rows = [("import termgraph, NumPy and SciPy loaded", imported * 1e3, IMPORT_BAR * 1e3, verdict(imported, IMPORT_BAR)),
            ("first function of a process", first * 1e3, "", ""),
            ("second function", second * 1e3, "", ""),
            ("first beyond second", (first - second) * 1e3, COMPILE_BAR * 1e3, verdict(first - second, COMPILE_BAR))]
    show("startup: milliseconds", ("what", "median", "bar", "verdict"), rows)
    show("startup: where importing spends them, one process, traced", ("package", "ms"), spent())


if __name__ == "__main__":
    main()
