"""A bar where somebody can see it, and silence elsewhere."""

import io

import pytest
from rich.console import Console

from evenhand.errors import InvalidParameterError
from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.run.events import Cancelled, CellDone, CellFailed, Finished, Started, _rate, listening
from evenhand.study.store.outcome import Failure, Outcome

DONE = Outcome(Cell(Setting(), 0))
FAILED = Outcome(Cell(Setting(), 1), failure=Failure("ValueError", "Raised at a.py:1."))
EVENTS = [
    Started(done=3, failed=0, total=8),
    CellDone(done=4, failed=0, total=8, outcome=DONE),
    CellFailed(done=5, failed=1, total=8, outcome=FAILED),
]


def _shown(progress, *events, terminal):
    console = Console(file=io.StringIO(), force_terminal=terminal, width=100, color_system=None)
    with listening(progress, console=console) as tell:
        for event in [*EVENTS, *events]:
            tell(event)
    return console.file.getvalue()


def test_a_terminal_sees_how_far_the_study_is():
    text = _shown(None, Finished(done=8, failed=1, total=8), terminal=True)

    assert "Running the study" in text
    assert "8/8" in text
    assert "1 failed" in text


def test_a_file_gets_nothing():
    """A log with a thousand bars is no log."""
    assert _shown(None, terminal=False) == ""


def test_a_bar_can_be_asked_for_and_refused():
    assert "5/8" in _shown(progress=True, terminal=False)
    assert _shown(progress=False, terminal=True) == ""


def test_a_study_that_was_stopped_says_so():
    assert "Stopped" in _shown(None, Cancelled(done=5, failed=1, total=8), terminal=True)


def test_a_function_gets_every_event():
    seen = []
    with listening(seen.append) as tell:
        for event in EVENTS:
            tell(event)

    assert seen == EVENTS


def test_anything_else_is_refused():
    with pytest.raises(InvalidParameterError, match="'progress' parameter of run"):
        listening("yes")


def test_the_rate_is_readable():
    assert [_rate(each) for each in (None, 0.0, 0.5, 12.34)] == ["", "", "30.0 runs/min", "12.3 runs/s"]


def test_standard_output_is_left_to_the_results(capsys):
    with listening(progress=True) as tell:
        tell(EVENTS[0])
    shown = capsys.readouterr()

    assert shown.out == ""
    assert "3/8" in shown.err
