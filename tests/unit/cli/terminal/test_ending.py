"""A command that the system ends cleans up as after Ctrl-C, and says so by its exit code."""

import json
import os
import signal
import threading

import pytest

import evenhand.engine.drawing
from evenhand.cli.terminal.ending import sigterm_as_interrupt, stop_code
from unit.cli.conftest import ROLES

PRIVATIZE = ["privatize", "people.csv", "r.csv", "--epsilon", "1", "--columns", "sex", "--infer-schema"]


@pytest.fixture(autouse=True)
def _guard():
    """Without the handler under test, the signal is a failed test and not the end of all of them."""

    def unheard(*_):
        raise AssertionError

    before = signal.signal(signal.SIGTERM, unheard)
    yield
    after = signal.signal(signal.SIGTERM, before)

    assert after is unheard


def _ended(*_, **__):
    os.kill(os.getpid(), signal.SIGTERM)
    for _ in range(1_000):  # the interpreter hears it here
        pass


def test_a_run_that_is_ended_by_the_system_leaves_nothing_behind(call, file, tmp_path, monkeypatch):
    """What was written until then holds columns in the clear, in a file that no listing shows."""
    monkeypatch.setattr(evenhand.engine.drawing.Drawing, "_make_reports", _ended)
    done = call(*PRIVATIZE)

    assert done.exit_code == 143
    assert [each.name for each in tmp_path.iterdir()] == ["people.csv"]


def test_what_a_killed_run_left_is_removed_by_the_next(call, file, tmp_path):
    (tmp_path / ".r.csv.ab12_xyz.evenhand.part").write_text("S3CRET")
    (tmp_path / ".r.csv.12345.part").write_text("of another program")
    done = call(*PRIVATIZE)

    names = ("people.csv", "r.csv", "r.csv.guarantee.json", "r.csv.schema.toml")
    assert done.exit_code == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == [".r.csv.12345.part", *names]


@pytest.mark.parametrize("command", ["audit", "advise"])
def test_a_study_that_is_ended_by_the_system_says_how_to_go_on(call, file, fake, monkeypatch, command):
    def ended_with_results(plan, out, **_):
        out.mkdir()
        (out / "study.db").touch()
        _ended()

    monkeypatch.setattr("evenhand.cli.study.run_cells", ended_with_results)
    done = call(command, file, *ROLES, "--sensitive", "sex", "--out", "s", "--workers", 1, "--json")

    told = json.loads(done.stdout)
    assert done.exit_code == 143
    assert told == {"stopped": True, "resume": f"evenhand {command} --resume --out s", "exit": 143}


def test_a_second_wish_does_not_disturb_the_cleaning_up():
    reached = []
    with sigterm_as_interrupt():
        with pytest.raises(KeyboardInterrupt):
            _ended()
        _ended()
        reached.append(stop_code())

    assert reached == [143]
    assert stop_code() == 130


def test_in_a_thread_commands_run_without_hearing_the_system():
    """Only the main thread may listen; a program that runs a command in another must not fail for it."""
    reached = []

    def work():
        with sigterm_as_interrupt():
            reached.append(stop_code())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert reached == [130]
