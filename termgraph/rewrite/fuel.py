"""Fuel: a bound on the work of a kanren goal, which may have no end of its own.

A goal that runs on without giving an answer cannot be interrupted from outside, and counting in the state it carries would
change its meaning (kanren's `neq` adds to the constraint stores of whatever state it is given). So its calls are counted.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class OutOfFuel(Exception):
    """The goal made more calls than it was allowed to."""


@contextmanager
def call_limit(calls: int) -> Iterator[None]:
    """Inside the block, OutOfFuel is raised in the running function after this many calls of Python functions.

    >>> with call_limit(100):
    ...     while True:
    ...         (lambda: 0)()
    Traceback (most recent call last):
    termgraph.rewrite.fuel.OutOfFuel
    """
    left = calls

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal left
        if event == "call":
            left -= 1
            if left < 0:
                raise OutOfFuel

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)
