"""From graphs to callables: `function`, shared variables, modes, and the machine that runs a compiled graph."""

from termgraph.compile.copies import DeepCopyOp, deep_copy_op
from termgraph.compile.executable import Function
from termgraph.compile.function import function
from termgraph.compile.ifelse import IfElse, ifelse
from termgraph.compile.io import In, Out
from termgraph.compile.mode import Mode, Phase, get_mode, register_mode
from termgraph.compile.phases import FAST_COMPILE, FAST_RUN, NO_REWRITES, default_phases
from termgraph.compile.shared import shared

__all__ = [
    "FAST_COMPILE", "FAST_RUN", "NO_REWRITES", "DeepCopyOp", "Function", "IfElse", "In", "Mode", "Out", "Phase",
    "deep_copy_op", "default_phases", "function", "get_mode", "ifelse", "register_mode", "shared",
]
