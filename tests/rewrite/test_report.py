"""Reports: counts, steps, reasons and refusals, and how they print."""

import pytest
from rewrite_helpers import DRIVERS, random_graph, texts
from rich.console import Console

import termgraph as tg
import termgraph.tensor as tt
from termgraph.errors import RewriteLoopError
from termgraph.rewrite.goals import constant

x, y = tt.dvectors("x", "y")
s = tt.dscalar("s")


@tg.relation
def gather(a, b):
    yield a - b, a + -b, constant(b)


@tg.relation
def logs(a):
    yield tt.log(tt.exp(a)), a


@tg.relation
def spin(a):
    yield tt.sin(a), tt.cos(a)
    yield tt.cos(a), tt.sin(a)


@pytest.fixture(params=DRIVERS)
def driver(request):
    return DRIVERS[request.param]


def test_counts_of_one_rule(driver):
    result, report = driver([tt.log(tt.exp(x)), tt.log(y), s - 2.0, x - y], [logs, gather])
    assert texts(result) == ["x", "log(y)", "s + -2", "x - y"]
    assert (report.rules["logs"].tries, report.rules["logs"].matches, report.rules["logs"].fires) == (2, 1, 1)
    assert (report.rules["gather"].tries, report.rules["gather"].matches, report.rules["gather"].fires) == (2, 2, 1)
    assert report.rules["logs"].refused == {} and report.rules["gather"].refused == {"constant": 1}
    assert report.fires == 2 and report.stop_reason == "equilibrium" and report.error is None
    assert report.nodes_before == 5 and report.nodes_after == 4
    assert report.fires == sum(stats.fires for stats in report.rules.values())
    report.raise_error()


@pytest.mark.parametrize("seed", range(5))
def test_tries_matches_fires_and_steps_agree(driver, seed):
    _, report = driver(random_graph(seed)[1], tg.rules.ALL.filter(phase="simplify"))
    for name, stats in report.rules.items():
        if name != "merge":
            assert stats.tries >= stats.fires and stats.matches >= stats.fires
            assert stats.fires == sum(step.rule.name == name for step in report.steps)
            assert stats.matches <= stats.fires + sum(stats.refused.values()) + stats.matches * (stats.seconds > 0)
    assert report.fires == len(report.steps) + report.rules["merge"].fires > 0


def test_every_merge_is_counted(driver):
    @tg.relation
    def to_exp(a):
        yield tt.exp2(a), tt.exp(a)

    result, report = driver([tt.log(tt.exp(x)), tt.log(tt.exp2(x))], [tg.rules.ALL["merge"], to_exp])
    assert result[0] is result[1] and report.rules["merge"].fires > 0


def test_merge_is_tried_before_it_matches(driver):
    _, report = driver([tt.log(tt.exp(x)), tt.log(tt.exp(x))], [tg.rules.ALL["merge"]])
    stats = report.rules["merge"]
    assert stats.fires == 2 and stats.tries >= stats.matches >= stats.fires


def test_steps_say_what_became_what_and_where_the_user_built_it(driver):
    term = tt.log(tt.exp(tt.log(tt.exp(x))))
    _, report = driver(term, logs)
    assert {str(step) for step in report.steps} == {"logs: log(exp(x)) -> x"}
    for step in report.steps:
        assert step.rule is logs and step.after is x and "test_report.py" in step.where_built
        assert "term = tt.log(tt.exp(tt.log(tt.exp(x))))" in step.where_built


def test_the_phase_is_written_down():
    _, report = tg.rewrite_graph(tt.log(tt.exp(x)), logs, phase="early")
    assert report.phase == "early" and report.steps[0].phase == "early"
    assert report.summary.startswith("early: stopped: equilibrium; ")


def test_how_a_report_prints():
    _, report = tg.rewrite_graph([tt.log(tt.exp(x)), s - 2.0, x - y], [logs, gather])
    text = str(report)
    assert text.splitlines()[0] == report.summary and "stopped: equilibrium; 4 -> 3 nodes, 2 fires" in report.summary
    assert "logs: 1 tries, 1 matches, 1 fires" in text and "gather: 2 tries, 2 matches, 1 fires" in text
    assert "constant refused 1" in text and report.summary in repr(report)
    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(report)
    table = console.export_text()
    assert "gather" in table and "constant 1" in table and "matches" in table


def test_a_rule_that_never_matched_is_left_out_of_the_text():
    _, report = tg.rewrite_graph(tt.log(y), [logs, gather])
    assert report.rules["logs"].tries == 1 and str(report) == report.summary


def test_a_loop_is_in_the_report_and_can_be_raised(driver):
    _, report = driver(tt.sin(x), spin)
    assert str(report.error) in str(report)
    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(report)
    assert "rule spin" in console.export_text()
    with pytest.raises(RewriteLoopError, match="spin"):
        report.raise_error()
