"""Where the user built a node: one frame, captured cheaply, turned into file and line only when somebody asks."""

from __future__ import annotations

import linecache
import sys
from pathlib import Path
from types import CodeType

#: (code object, index of the last instruction): enough to find the line later, without holding the frame alive.
Trace = tuple[CodeType, int]

_PACKAGE = str(Path(__file__).resolve().parent.parent)
_internal: dict[str, bool] = {}


def capture() -> Trace | None:
    """The innermost frame that is not termgraph's own, or None where there is none.

    Capturing costs well under a microsecond: resolving the line number is left to `describe`.
    """
    frame = sys._getframe(1)
    while frame is not None:
        filename = frame.f_code.co_filename
        internal = _internal.get(filename)
        if internal is None:
            internal = _internal[filename] = filename.startswith(_PACKAGE)
        if not internal:
            return frame.f_code, frame.f_lasti
        frame = frame.f_back  # type: ignore[assignment]
    return None


def line_of(trace: Trace) -> int:
    """The line number of a trace."""
    code, lasti = trace
    for start, end, line in code.co_lines():
        if start <= lasti < end and line is not None:
            return line
    return code.co_firstlineno


def describe(trace: Trace | None) -> str | None:
    """`file.py:12 in f: y = x * 2`, or None for None."""
    if trace is None:
        return None
    line = line_of(trace)
    filename = trace[0].co_filename
    source = linecache.getline(filename, line).strip()
    text = f"{filename}:{line} in {trace[0].co_name}"
    return f"{text}: {source}" if source else text
