"""Settings, each with its default and what it does; an environment variable TERMGRAPH_<NAME> overrides the default."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any


@dataclass
class Config:
    """The settings. `config.floatX = "float32"` sets one, `with config.change_flags(floatX="float32"):` for a while."""

    #: dtype of `tt.vector()` and its like when none is given, and of Python floats that meet no other dtype
    floatX: str = "float64"
    #: name of the mode `function` compiles in when none is given
    mode: str = "FAST_RUN"
    #: bound on the number of fires of one rewriting, as a multiple of the nodes it starts with
    max_fires_per_node: int = 50

    def __post_init__(self) -> None:
        for field in fields(self):
            given = os.environ.get(f"TERMGRAPH_{field.name.upper()}")
            if given is not None:
                setattr(self, field.name, type(getattr(self, field.name))(given))

    @contextmanager
    def change_flags(self, **changes: Any) -> Iterator[Config]:
        """Set some settings inside a `with` block. Raises AttributeError for a name that is no setting."""
        known = {f.name for f in fields(self)}
        for name in changes:
            if name not in known:
                raise AttributeError(f"no setting {name!r}; there are {', '.join(sorted(known))}.")
        before = {name: getattr(self, name) for name in changes}
        try:
            for name, value in changes.items():
                setattr(self, name, value)
            yield self
        finally:
            for name, value in before.items():
                setattr(self, name, value)


config = Config()
