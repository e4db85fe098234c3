"""Phases: the order in which groups of rules are applied, by name."""

from __future__ import annotations

#: Context-free algebra; then rewrites to special operations; last, memory taken over. A phase is declared after its
#: predecessor, never numbered.
_order: list[str] = ["simplify", "specialize", "inplace"]


def phase_order() -> tuple[str, ...]:
    """The names of the phases, in order."""
    return tuple(_order)


def declare_phase(name: str, *, after: str | None = None, before: str | None = None) -> None:
    """Add a phase directly after, or before, one that is there; without either it comes first.

    Raises ValueError for a name already taken, for an unknown neighbour, and for neighbours in the wrong order.

    >>> declare_phase("expand", before="simplify")
    >>> phase_order()
    ('expand', 'simplify', 'specialize', 'inplace')
    >>> forget_phase("expand")
    """
    if name in _order:
        raise ValueError(f"there is already a phase {name!r}; the phases are {', '.join(_order)}.")
    for neighbour in (after, before):
        if neighbour is not None and neighbour not in _order:
            raise ValueError(f"no phase {neighbour!r} to place {name!r} by; the phases are {', '.join(_order)}.")
    position = _order.index(after) + 1 if after is not None else _order.index(before) if before is not None else 0
    if after is not None and before is not None and position > _order.index(before):
        raise ValueError(f"{name!r} cannot come after {after!r} and before {before!r}: the phases are {', '.join(_order)}.")
    _order.insert(position, name)


def forget_phase(name: str) -> None:
    """Remove a phase that `declare_phase` added; rules that belong to it can no longer be ordered."""
    _order.remove(name)
