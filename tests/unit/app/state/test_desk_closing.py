"""A desk that is closed ends at once, whatever its processes do and whether they have started yet."""

import asyncio
import threading
import time

import pytest

from evenhand.app.state import desk as module
from evenhand.app.state.desk import Desk
from evenhand.errors import WorkbenchError


class SlowClerk:
    """A process that takes a while to start, and whose first call takes longer than anybody waits."""

    starting, may_start = threading.Event(), threading.Event()

    def __init__(self, modules):
        self.calls, self._is_ended = 0, threading.Event()
        self.starting.set()
        assert self.may_start.wait(30)

    def ask(self, call):
        if self._is_ended.wait(20):
            raise EOFError
        raise AssertionError("a process that nobody ended was asked")

    def end(self):
        self._is_ended.set()


def wait_until_closed(desk):
    while not desk._is_closed:
        time.sleep(0.01)


def test_a_process_that_starts_while_the_desk_is_closed_is_ended(monkeypatch):
    """Otherwise the workbench ends only when that call has been answered, minutes after Ctrl-C."""
    monkeypatch.setattr(module, "_Clerk", SlowClerk)
    desk = Desk(size=1)

    async def ask_and_close():
        call = asyncio.ensure_future(desk.ask(len, "abc"))
        await asyncio.to_thread(SlowClerk.starting.wait, 30)
        closing = asyncio.ensure_future(asyncio.to_thread(desk.close))
        await asyncio.to_thread(wait_until_closed, desk)
        SlowClerk.may_start.set()
        await closing
        with pytest.raises(WorkbenchError):
            await call

    begin = time.monotonic()
    asyncio.run(ask_and_close())

    assert time.monotonic() - begin < 10
