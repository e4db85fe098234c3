"""Mode: which rewrites a graph goes through, phase after phase, and what then runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from termgraph.config import config
from termgraph.rewrite.phases import phase_order
from termgraph.rewrite.ruleset import RuleSet


@dataclass(frozen=True)
class Phase:
    """Rules that are applied together until none applies. A mode may be narrowed by a phase's `name` and `tags`."""

    name: str
    rules: Any
    tags: frozenset[str] = frozenset()

    def is_called(self, names: Iterable[str]) -> bool:
        """Whether one of `names` is this phase's name or tag."""
        return any(name == self.name or name in self.tags for name in names)


class Mode:
    """An ordered list of phases and the name of the linker ("vm") that runs the graph they leave.

    `phases` may be a function that makes them when they are first asked for; without it the phases are those of FAST_RUN.
    `soundness="exact"` leaves out every rule that can change a float's value or a NaN, `"real"` those that are unsafe. Modes
    do not change: `including`, `excluding` and `mode + rules` return new ones.

    >>> mode = Mode([Phase("algebra", None), Phase("inplace", None)], name="mine")
    >>> [p.name for p in mode.phases]
    ['algebra', 'inplace']
    """

    def __init__(self, phases: Sequence[Phase] | Callable[[], Sequence[Phase]] | None = None, linker: str = "vm",
                 name: str | None = None, soundness: str | None = None) -> None:
        if linker != "vm":
            raise ValueError(f"unknown linker {linker!r}; there is 'vm'.")
        if soundness not in (None, "exact", "real", "unsafe"):
            raise ValueError(f"unknown soundness {soundness!r}; expected 'exact', 'real' or 'unsafe'.")
        self._phases, self.linker, self.name, self.soundness = phases, linker, name, soundness

    @property
    def phases(self) -> tuple[Phase, ...]:
        """The phases, in order."""
        if self._phases is None:
            self._phases = get_mode("FAST_RUN").phases
        if callable(self._phases):
            self._phases = tuple(self._phases())
        if self.soundness is not None:
            self._phases = [replace(p, rules=p.rules.filter(soundness=self.soundness)) for p in self._phases]
            self.soundness = None
        return tuple(self._phases)

    def __add__(self, rules: Any) -> Mode:
        """This mode with more rules, each in its phase and tried before those that are there.

        >>> import termgraph as tg, termgraph.tensor as tt
        >>> @tg.relation
        ... def halves(x):
        ...     yield tt.exp(x) * tt.exp(x), tt.exp(2 * x)
        >>> x = tt.vector("x")
        >>> f = tg.function([x], tt.exp(x) * tt.exp(x), mode=tg.get_mode() + halves)
        >>> f.reports[0].rules["halves"].fires
        1
        """
        added = RuleSet([rules]).by_phase()
        phases = [replace(p, rules=added.pop(p.name) + p.rules) if p.name in added else p for p in self.phases]
        for name, own in added.items():
            order = phase_order()
            earlier = order[: order.index(name)] if name in order else ()
            place = max((i + 1 for i, p in enumerate(phases) if p.name in earlier), default=0)
            phases.insert(place, Phase(name, own))
        return Mode(phases, self.linker)

    def including(self, *tags: str) -> Mode:
        """This mode with the rules of these tags or names switched on in each of its phases."""
        return Mode([replace(p, rules=p.rules.including(*tags)) for p in self.phases], self.linker)

    def excluding(self, *tags_or_rule_names: str) -> Mode:
        """This mode without the phases, and in the others without the rules, of these tags or names."""
        kept = [p for p in self.phases if not p.is_called(tags_or_rule_names)]
        return Mode([replace(p, rules=p.rules.excluding(*tags_or_rule_names)) for p in kept], self.linker)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.name is not None and _modes.get(self.name) is self:
            return get_mode, (self.name,)
        return Mode, (self.phases, self.linker, self.name)

    def __repr__(self) -> str:
        return f"Mode({self.name or ', '.join(p.name for p in self.phases)})"


_modes: dict[str, Mode] = {}


def register_mode(name: str, mode: Mode) -> Mode:
    """From now on `get_mode(name)` is `mode`. Raises ValueError for a name already taken."""
    if name in _modes:
        raise ValueError(f"there is already a mode {name!r}.")
    _modes[name] = mode
    return mode


def get_mode(mode: str | Mode | None = None) -> Mode:
    """The mode of that name, the mode itself, or for None the mode named by `config.mode`. Raises ValueError."""
    if isinstance(mode, Mode):
        return mode
    name = config.mode if mode is None else mode
    if not isinstance(name, str) or name not in _modes:
        raise ValueError(f"unknown mode {name!r}; expected a Mode or one of {', '.join(_modes)}.")
    return _modes[name]
