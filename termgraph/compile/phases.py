"""The shipped phases in their order, and the modes made of them."""

from __future__ import annotations

from termgraph.compile.mode import Mode, Phase, register_mode
from termgraph.rules import ALL


def default_phases() -> tuple[Phase, ...]:
    """The phases of FAST_RUN. Those tagged "fast_compile" are also the phases of FAST_COMPILE."""
    return (
        Phase("simplify", ALL.filter(phase="simplify"), frozenset({"fast_compile"})),
        Phase("specialize", ALL.filter(phase="specialize")),
        Phase("inplace", ALL.filter(phase="inplace")),
    )


def _fast_compile_phases() -> tuple[Phase, ...]:
    return tuple(p for p in default_phases() if p.is_called(["fast_compile"]))


FAST_RUN = register_mode("FAST_RUN", Mode(default_phases, name="FAST_RUN"))
FAST_COMPILE = register_mode("FAST_COMPILE", Mode(_fast_compile_phases, name="FAST_COMPILE"))
NO_REWRITES = register_mode("NO_REWRITES", Mode((), name="NO_REWRITES"))
