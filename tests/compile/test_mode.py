import pickle

import pytest

from termgraph.compile import FAST_COMPILE, FAST_RUN, NO_REWRITES, Mode, Phase, default_phases, get_mode, register_mode
from termgraph.config import config


class Names:
    """Stands for a set of rules: the names that are on."""

    def __init__(self, *names):
        self.names = names

    def including(self, *tags):
        return Names(*self.names, *tags)

    def excluding(self, *tags):
        return Names(*[n for n in self.names if n not in tags])


@pytest.fixture
def mode():
    return Mode([Phase("algebra", Names("a", "b"), frozenset({"fast"})), Phase("inplace", Names("c"))], name="mine")


def test_excluding_rules_and_phases(mode):
    assert [p.rules.names for p in mode.excluding("a").phases] == [("b",), ("c",)]
    assert [p.name for p in mode.excluding("inplace").phases] == ["algebra"]
    assert [p.name for p in mode.excluding("fast").phases] == ["inplace"]
    assert [p.rules.names for p in mode.phases] == [("a", "b"), ("c",)]


def test_including(mode):
    assert [p.rules.names for p in mode.including("z").phases] == [("a", "b", "z"), ("c", "z")]


def test_phases_are_made_once_when_asked_for():
    made = []

    def phases():
        made.append(1)
        return [Phase("p", Names())]

    mode = Mode(phases)
    assert made == []
    assert [p.name for p in mode.phases] == [p.name for p in mode.phases] == ["p"]
    assert made == [1]


def test_named_modes():
    assert get_mode("FAST_RUN") is FAST_RUN
    assert get_mode(FAST_COMPILE) is FAST_COMPILE
    assert [p.name for p in FAST_RUN.phases] == [p.name for p in default_phases()]
    assert NO_REWRITES.phases == ()
    assert {p.name for p in FAST_COMPILE.phases} <= {p.name for p in FAST_RUN.phases}
    with config.change_flags(mode="NO_REWRITES"):
        assert get_mode() is NO_REWRITES
    with pytest.raises(ValueError, match="FAST_RUN, FAST_COMPILE, NO_REWRITES"):
        get_mode("FAST")


def test_a_name_is_registered_once():
    with pytest.raises(ValueError, match="already"):
        register_mode("FAST_RUN", FAST_COMPILE)
    assert get_mode("FAST_RUN") is FAST_RUN


def test_unknown_linker():
    with pytest.raises(ValueError, match="linker"):
        Mode(linker="c")


def test_a_named_mode_pickles_as_its_name():
    assert pickle.loads(pickle.dumps(FAST_RUN)) is FAST_RUN
