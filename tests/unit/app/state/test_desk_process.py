"""What the process of a desk does with calls, seen from inside: nothing that is asked may end it."""

import os
import queue
import signal
import threading
import warnings

import pytest

from evenhand.app.state import desk
from evenhand.app.state.desk import serve_calls
from evenhand.errors import EvenhandError, SchemaError, WorkbenchError
from unit.app.state import _desk_functions as there
from unit.app.state._studies import wait_until


class Line:
    """A connection whose other end says what a test says, and hangs up after so many answers."""

    def __init__(self, *calls, answers):
        self.calls = queue.SimpleQueue()
        for call in calls:
            self.calls.put(call)
        self.sent, self._answers = [], answers

    def recv(self):
        call = self.calls.get()
        if isinstance(call, BaseException):
            raise call
        return call

    def send(self, answer):
        if len(self.sent) == self._answers:
            raise BrokenPipeError
        if isinstance(answer.value, threading.Thread):
            raise TypeError("cannot pickle it")
        self.sent.append(answer)


@pytest.fixture
def served(monkeypatch):
    """Return a function that serves calls in this process until the other end hangs up."""
    ends = []

    monkeypatch.setattr(desk.os, "_exit", ends.append)
    before, mask = signal.getsignal(signal.SIGINT), os.umask(0o022)

    def serve(*calls, modules=()):
        line = Line(*calls, answers=len(calls))
        line.calls.put((there.number_of_process, (), {}))  # whose answer nobody takes
        with warnings.catch_warnings():
            serve_calls(line, modules)
        return line, ends

    yield serve
    signal.signal(signal.SIGINT, before)
    os.umask(mask)


def test_each_call_is_answered_in_turn_whatever_the_one_before_did(served):
    line, _ = served(
        (there.number_of_process, (), {}),
        (there.refuse, ("schema",), {}),
        (there.fail_with_a_value, (), {}),
        (threading.Thread, (), {}),
        ModuleNotFoundError("No module named 'elsewhere'"),
        (there.number_of_process, (), {}),
    )
    first, refused, failed, unsendable, unread, last = line.sent

    assert first.value == last.value == os.getpid()
    assert (type(refused.error), refused.error.field) == (SchemaError, "columns")
    for answer, name in ((failed, "KeyError"), (unsendable, "TypeError"), (unread, "ModuleNotFoundError")):
        assert isinstance(answer.error, WorkbenchError)
        assert name in str(answer.error)
        assert "/" not in str(answer.error)
    assert "private" not in str(failed.error)
    assert all(answer.memory > 1 << 20 for answer in line.sent)


def test_an_error_of_ours_that_cannot_be_sent_is_still_said(served, monkeypatch):
    """A page that says that evenhand is broken, where a file is wrong, sends people the wrong way."""
    send, tries = Line.send, []

    def send_at_the_second_try(line, answer):
        tries.append(answer)
        if len(tries) == 1:
            raise TypeError("cannot pickle a lock")
        send(line, answer)

    monkeypatch.setattr(Line, "send", send_at_the_second_try)
    line, _ = served((there.refuse, ("unsendable",), {}))

    assert str(line.sent[0].error) == "The schema is empty."
    assert isinstance(line.sent[0].error, EvenhandError)


def test_a_module_that_cannot_be_had_does_not_end_the_process(served):
    line, _ = served((there.number_of_process, (), {}), modules=("no.such.module", "json"))

    assert line.sent[0].value == os.getpid()


def test_the_end_of_the_server_ends_the_process(served):
    line, ends = served((there.number_of_process, (), {}))
    line.calls.put(EOFError())
    wait_until(lambda: ends)

    assert ends == [0]
    assert len(line.sent) == 1


def test_the_memory_of_a_process_is_known_without_a_list_of_processes(monkeypatch):
    """On macOS a process that has grown would never be replaced."""

    class Nowhere:
        def __init__(self, path):
            pass

        def read_text(self, encoding):
            raise FileNotFoundError

    monkeypatch.setattr(desk, "Path", Nowhere)
    assert desk._memory() > 1 << 20
    as_on_linux = desk._memory()
    monkeypatch.setattr(desk.sys, "platform", "darwin")
    assert 0 < desk._memory() <= as_on_linux  # there it is counted in bytes
    monkeypatch.setattr(desk, "import_module", _refuse_import)
    assert desk._memory() == 0


def _refuse_import(name):
    raise ModuleNotFoundError(name)


def test_an_error_without_a_place_is_described_without_one():
    assert "ValueError at an unknown place" in desk._describe(ValueError("private"))
