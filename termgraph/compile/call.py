"""The body of a call, as Python source made for one function.

A call of a small function must cost little more than the arithmetic in it, so the general steps (bind the arguments,
convert them, fill the cells, run, collect, update) are written out for the function's own inputs and outputs. The source
depends only on the kinds of inputs and outputs, is compiled once for all functions of the same kinds, and is kept in
linecache for tracebacks; `Function.source` shows it.
"""

from __future__ import annotations

import linecache
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np

from termgraph.tensor.type import TensorType

#: Up to this many nodes the thunks are called one by one instead of in a loop.
UNROLLED = 12


@dataclass(frozen=True)
class Plan:
    """What the source depends on."""

    #: for each argument, the statement that converts it where that is needed ("" for none)
    conversions: tuple[str, ...]
    #: positions of the arguments that the function may overwrite
    mutable: tuple[int, ...]
    #: for each thunk, how many cells to empty after it; None where the VM runs its own loop
    dead: tuple[int, ...] | None
    #: how many cells hold results, and which expression of r0, r1, ... is returned
    results: int
    returned: str
    #: how many cells hold new values of shared variables
    updates: int
    #: how many cells are still to be emptied at the end
    emptied: int


def conversion_of(position: int, type_: Any) -> str:
    """The statement that makes argument number `position` a value of `type_`, with a short way for what is one already."""
    a = f"a{position}"
    convert = f"{a} = convert({position}, {a})"
    if not isinstance(type_, TensorType) or any(s is not None for s in type_.shape):
        return convert
    if type_.ndim == 0 and type_.dtype == "float64":
        convert = f"{a} = asarray({a}) if type({a}) is float or type({a}) is float64 else convert({position}, {a})"
    return f"if type({a}) is not ndarray or {a}.dtype is not t{position} or {a}.ndim != {type_.ndim}: {convert}"


def source_of(plan: Plan) -> str:
    """The source of `__call__` for functions of this plan."""
    arguments = [f"a{i}" for i in range(len(plan.conversions))]
    given = "".join(f"{a}, " for a in arguments)
    lines = [
        f"def __call__(self, {''.join(f'{a}=MISSING, ' for a in arguments)}/, *rest, **named):",
        f"    if rest or named{f' or {arguments[-1]} is MISSING' if arguments else ''}:",
        f"        [{given}] = bind([{given}*rest], named)",
    ]
    lines += [f"    {statement}" for statement in plan.conversions if statement]
    if plan.updates:
        lines += ["    with lock:", *("    " + line for line in _guarded(plan, arguments))]
    else:
        lines += _guarded(plan, arguments)
    return "\n".join(lines) + "\n"


def _guarded(plan: Plan, arguments: Sequence[str]) -> list[str]:
    # Taking the token is atomic: of two calls at once, or of a call from inside itself, one gets storage of its own.
    given = "".join(f", {a}" for a in arguments)
    lines = [
        "    try:",
        "        token = take()",
        "    except IndexError:",
        f"        return spare()(self{given})",
        "    try:",
    ]
    lines += [f"        a{i} = separate({i}, [{', '.join(arguments)}])" for i in plan.mutable]
    lines += [f"        i{i}[0] = {a}" for i, a in enumerate(arguments)]
    lines += _running(plan)
    lines += [f"        r{i} = o{i}[0]" for i in range(plan.results)]
    lines += [f"        n{i} = u{i}[0]" for i in range(plan.updates)]
    lines += [f"        s{i}[0] = n{i}" for i in range(plan.updates)]
    lines += [f"        e{i}[0] = None" for i in range(plan.emptied)]
    lines += [f"        return {plan.returned}", "    finally:", "        give(token)"]
    return lines


def _running(plan: Plan) -> list[str]:
    if plan.dead is None:
        return ["        run()"]
    lines = ["        at = 0", "        try:"]
    for position, dead in enumerate(plan.dead):
        lines += [f"            at = {position}"] if position else []
        lines += [f"            thunk{position}()"]
        lines += [f"            d{position}_{i}[0] = None" for i in range(dead)]
    if not plan.dead:
        lines += ["            pass"]
    return [*lines, "        except BaseException as error:", "            fail(at, error)", "            raise"]


@lru_cache(maxsize=1024)
def compiled(plan: Plan) -> tuple[CodeType, str]:
    """The code and the source of a plan."""
    source = source_of(plan)
    filename = f"<termgraph call {zlib.crc32(source.encode()):08x}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    return compile(source, filename, "exec"), source


def build(plan: Plan, names: dict[str, Any]) -> tuple[Any, str]:
    """The function, with its cells and helpers by name, and its source."""
    code, source = compiled(plan)
    namespace: dict[str, Any] = {"ndarray": np.ndarray, "asarray": np.asarray, "float64": np.float64, **names}
    exec(code, namespace)
    return namespace["__call__"], source
