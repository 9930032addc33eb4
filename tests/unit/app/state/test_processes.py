"""Processes beside the server: they leave the computer usable, and none outlives its end."""

import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from evenhand.app.state import processes
from evenhand.app.state.processes import be_nice, end_process, start_python

WAITS_FOR_THE_END = "import sys; sys.stdin.read()"
HEARS_NOTHING = "import time; time.sleep(600)"


def start(code):
    return subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE)


def test_a_process_that_listens_ends_by_itself():
    process = start(WAITS_FOR_THE_END)
    end_process(process, seconds=60)

    assert process.returncode == 0


def test_a_process_that_does_not_listen_is_killed():
    """Otherwise a run that hangs would hold the folder of its study for ever."""
    process = start(HEARS_NOTHING)
    began = time.monotonic()
    end_process(process, seconds=0.1)

    assert process.returncode not in (None, 0)
    assert time.monotonic() - began < 300


def test_a_process_that_is_gone_already_is_no_error():
    process = start("")
    process.wait()
    end_process(process)
    end_process(process)

    assert process.returncode == 0


@pytest.fixture
def started(monkeypatch):
    """Return how processes would be started, and start none."""
    calls = []
    stand_in = SimpleNamespace(
        PIPE=-1,
        DEVNULL=-3,
        BELOW_NORMAL_PRIORITY_CLASS=0x4000,
        Popen=lambda words, **options: calls.append((words, options)),
    )
    monkeypatch.setattr(processes, "subprocess", stand_in)
    return calls


@pytest.mark.parametrize(("is_nice", "flags"), [(True, 0x4000), (False, None)])
def test_a_run_goes_behind_other_programs_on_windows(started, monkeypatch, is_nice, flags):
    """A computer that a study makes unusable is one where the study is stopped."""
    system = SimpleNamespace(platform="win32", path=["/lib"], executable="python")
    monkeypatch.setattr(processes, "sys", system)
    start_python("evenhand.app.state.worker", "folder", is_nice=is_nice)
    (_, options) = started[0]

    assert options.get("creationflags") == flags
    assert "start_new_session" not in options


def test_ctrl_c_goes_to_the_server_alone_and_no_module_of_the_current_folder_is_found(started, monkeypatch):
    system = SimpleNamespace(platform="linux", path=["", "here", "/lib"], executable="python")
    monkeypatch.setattr(processes, "sys", system)
    start_python("evenhand.app.state.worker", "folder", is_nice=True)
    (words, options) = started[0]

    assert words == ["python", "-P", "-m", "evenhand.app.state.worker", "folder"]
    assert options["start_new_session"] is True
    assert options["env"]["PYTHONPATH"] == "/lib"
    assert options["stdin"] == -1


def test_a_run_goes_behind_other_programs_where_the_system_allows_it(monkeypatch):
    asked = []

    def refuse(amount):
        asked.append(amount)
        raise PermissionError(1, "not allowed")

    monkeypatch.setattr(processes.os, "nice", refuse, raising=False)
    be_nice()
    assert asked == [10]
    monkeypatch.delattr(processes.os, "nice")
    be_nice()
