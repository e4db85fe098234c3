"""What the benchmarks share: timing by medians, and a table with a bar and a verdict."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from timeit import Timer
from typing import Any

from rich.console import Console
from rich.table import Table

REPETITIONS = 9


def seconds(function: Callable[[], Any], repetitions: int = REPETITIONS, at_least: float = 0.01) -> float:
    """The median time of one call of `function`, in seconds; each repetition calls it as often as `at_least` seconds take."""
    timer = Timer(function)
    number = 1
    while (took := timer.timeit(number)) < at_least:
        number = max(2 * number, int(number * at_least / max(took, 1e-9)))
    return statistics.median(timer.repeat(repetitions, number)) / number


def verdict(value: float, bar: float) -> str:
    """Whether a measured value keeps within its bar."""
    return "[green]met[/]" if value <= bar else "[red]missed[/]"


def show(title: str, headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table: the first column is text, numbers stand to the right."""
    table = Table(title=title, title_justify="left")
    for position, heading in enumerate(headings):
        table.add_column(heading, justify="right" if position else "left")
    for row in rows:
        table.add_row(*(f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in row))
    Console(width=120).print(table)
