"""The cyclic garbage collector, paused while much is allocated and nothing dropped."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Nodes and variables refer to each other, and the collector looks at all of them again and again while they are made:
    with it at work, time per node would grow with the graph."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
