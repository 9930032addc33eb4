"""Progress: a bar in a terminal, a few lines in a log, nothing when quiet."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from evenhand.cli.terminal.console import Terminal
from evenhand.cli.terminal.progress import follow_study, spell_seconds
from evenhand.study.run.duration import round_range, spell_range
from evenhand.study.run.events import Started, Timed


@pytest.fixture
def clock(monkeypatch):
    times = iter(range(0, 10_000, 10))
    monkeypatch.setattr("time.monotonic", lambda: float(next(times)))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "1 s"), (59.4, "59 s"), (60, "1 min"), (61, "1 min 1 s"), (899, "14 min 59 s"), (901, "15 min"),
        (3600, "1 h"), (5_400, "1 h 30 min"), (7_199, "2 h"),
    ],
)  # fmt: skip
def test_a_time_is_said_as_people_say_it(seconds, words):
    assert spell_seconds(seconds) == words


def test_a_log_has_a_line_at_each_quarter(capsys, clock):
    with follow_study(Terminal()) as follow:
        for done in range(41):
            follow(Started(done=done, failed=done // 20, total=40))

    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 5
    assert lines[0] == "Running  0 of 40 runs"
    assert lines[2].startswith("Running  20 of 40 runs, about ")
    assert lines[2].endswith("1 failed")


def test_cells_of_an_earlier_run_do_not_count_for_the_pace(capsys, clock):
    """Otherwise a resumed study would promise to end at once."""
    with follow_study(Terminal()) as follow:
        follow(Started(done=30, failed=0, total=40))
        follow(Started(done=31, failed=0, total=40))
        follow(Started(done=40, failed=0, total=40))

    assert "left" not in capsys.readouterr().err.splitlines()[0]


def test_the_start_of_workers_is_not_taken_for_the_pace_of_runs(capsys, monkeypatch):
    """A line said five minutes where the line below said two: workers had started for a minute."""
    now = [0.0]
    monkeypatch.setattr("evenhand.cli.terminal.progress.time.monotonic", lambda: now[0])
    with follow_study(Terminal()) as follow:
        follow(Started(done=0, failed=0, total=40))
        now[0] = 60.0
        follow(Started(done=10, failed=0, total=40))
        follow(Timed(done=11, failed=0, total=40, seconds_left=30.0, workers=2))
        for done in range(12, 41):
            now[0] += 1.0
            follow(Started(done=done, failed=0, total=40))

    lines = capsys.readouterr().err.splitlines()
    assert [line.removeprefix("Running  ") for line in lines] == [
        "0 of 40 runs",
        "10 of 40 runs",
        "20 of 40 runs, about 20 s left",
        "30 of 40 runs, about 10 s left",
        "40 of 40 runs",
    ]


def test_quiet_shows_nothing(capsys):
    with follow_study(Terminal(quiet=True)) as follow:
        follow(Started(done=1, failed=0, total=40))

    assert capsys.readouterr().err == ""


def test_a_terminal_has_a_bar_with_done_rate_left_and_failed(monkeypatch, clock):
    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    terminal.notices = Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)
    monkeypatch.setattr("rich.progress.get_console", lambda: terminal.notices)
    with follow_study(terminal) as follow:
        follow(Started(done=0, failed=0, total=40))
        follow(Started(done=20, failed=2, total=40))

    shown = terminal.notices.file.getvalue()
    assert "20/40" in shown
    assert "2 failed" in shown
    assert "left" in shown


@given(st.floats(5.0, 1e6))  # a second of runs and the report are the least that is told
def test_a_range_of_times_is_honest_and_at_most_twofold(seconds):
    """A range from a second to an hour is always right and says nothing."""
    low, high = round_range(seconds)
    first, last = (float(word) for word in re.findall(r"[0-9.]+", spell_range(low, high)))

    assert low < seconds < high <= 2 * low
    assert last <= 2 * first * (1 + 1e-3)
    assert min(seconds / low, high / seconds) > 1.1
