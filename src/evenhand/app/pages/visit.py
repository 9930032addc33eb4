"""One browser tab: where it is, what it reads of a study, and what it waits for."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from shiny import reactive

from evenhand.app.pages.address import Address, read_address
from evenhand.app.state.far import FarFunction
from evenhand.errors import EvenhandError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping
    from pathlib import Path

    from shiny import Session

    from evenhand.app.state.desk import Desk
    from evenhand.app.state.jobs import Jobs
    from evenhand.app.state.record import StudyRecord
    from evenhand.app.state.workbench import Workbench
    from evenhand.app.state.workspace import Workspace

T = TypeVar("T")

_AGAIN_SECONDS = 1.5
_MOST_TIMES = 80


@dataclass(frozen=True)
class Answer(Generic[T]):
    """What the desk said last: a value or an error, and whether a newer answer is on its way."""

    value: T | None = None
    error: str = ""
    waiting: bool = False


class Inquiry(Generic[T]):
    """A question to the desk that is asked again when what it is about changes; only the newest counts.

    Parameters
    ----------
    desk : Desk
    function : FarFunction
    is_provisional : callable, optional
        Whether a value is to become a better one by itself: then the same is asked again after a moment.
    """

    def __init__(
        self, desk: Desk, function: FarFunction, is_provisional: Callable[[T], bool] | None = None
    ) -> None:
        self._desk = desk
        self._function = function
        self._is_provisional = is_provisional or (lambda _: False)
        self._has_changed = asyncio.Event()
        self._answer: reactive.Value[tuple[Hashable, Answer[T]]] = reactive.Value(
            (None, Answer()), name="answer"
        )
        self._wanted: Hashable = None
        self._arguments: tuple[Any, ...] = ()
        self._options: dict[str, Any] = {}
        self._task: asyncio.Task[None] | None = None

    def read(self, key: Hashable, *arguments: Any, **options: Any) -> Answer[T]:
        """Return the newest answer, and ask anew if `key` is another one than before.

        What came for another key is shown no longer unless the first part of the key, the study, is the same.
        """
        if key != self._wanted:
            self._wanted, self._arguments, self._options = key, arguments, options
            self._has_changed.set()
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._work())
        answered, answer = self._answer()
        if answered == key:
            return answer
        same_study = isinstance(answered, tuple) and isinstance(key, tuple) and answered[:1] == key[:1]
        return Answer(answer.value if same_study else None, waiting=True)

    def newest(self, study: str) -> T | None:
        """Return the newest value that came about a study, without following it."""
        with reactive.isolate():
            key, answer = self._answer()
        return answer.value if isinstance(key, tuple) and key[0] == study else None

    def stop(self) -> None:
        """Wait for nothing any more: the tab is closed."""
        if self._task is not None:
            self._task.cancel()

    async def _work(self) -> None:
        """Ask until the newest question is answered, and again while its answer is a provisional one."""
        answered, times = None, 0
        while answered != self._wanted or times:
            self._has_changed.clear()
            times = times - 1 if answered == self._wanted else _MOST_TIMES
            answered = self._wanted
            answer = await self._ask()
            if answered != self._wanted:
                continue
            await self._publish(answered, answer)
            if answer.value is None or not self._is_provisional(answer.value):
                times = 0
            elif times:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._has_changed.wait(), _AGAIN_SECONDS)

    async def _publish(self, key: Hashable, answer: Answer[T]) -> None:
        """Show an answer, unless it is the one that is on show."""
        with reactive.isolate():
            is_known = self._answer() == (key, answer)
        if not is_known:
            async with reactive.lock():
                self._answer.set((key, answer))
                await reactive.flush()

    async def _ask(self) -> Answer[T]:
        try:
            return Answer(await self._desk.ask(self._function, *self._arguments, **self._options))
        except EvenhandError as error:
            return Answer(error=str(error))


@dataclass(frozen=True)
class Problem:
    """Something that went wrong, and the control that it is about."""

    text: str
    field: str = ""


class Visit:
    """What the pages of one browser tab share.

    Parameters
    ----------
    workbench : Workbench
    session : Session
        Of Shiny.
    """

    def __init__(self, workbench: Workbench, session: Session) -> None:
        self.workbench = workbench
        self.session = session
        self.desk: Desk = workbench.desk
        # values have names, or Shiny would search all source files on the stack for one
        self.drawn: reactive.Value[int] = reactive.Value(0, name="drawn")
        """Counts what a page must be drawn anew for."""
        self.saved: reactive.Value[int] = reactive.Value(0, name="saved")
        """Counts changes of records, which live parts of a page follow."""
        self.problem: reactive.Value[Problem | None] = reactive.Value(None, name="problem")
        self.open_part: reactive.Value[tuple[str, str]] = reactive.Value(("", ""), name="open_part")
        """What is opened on the first page: a word such as "rename", and the study."""
        self.choices: reactive.Value[dict[Hashable, Any]] = reactive.Value({}, name="choices")
        """What was chosen on a page and belongs to the tab alone, such as two settings to compare."""
        self._inquiries: dict[tuple[FarFunction, str], Inquiry[Any]] = {}
        session.on_ended(self._end)

    # --- where ------------------------------------------------------------------------------------

    @property
    def address(self) -> Address:
        """The page that the tab shows; read inside something reactive, it is followed."""
        if self.workbench.read_only is not None:
            found = read_address(self.session.clientdata.url_hash())
            return found if found.place == "help" else Address("study", "", "result")
        return read_address(self.session.clientdata.url_hash())

    async def go(self, address: str) -> None:
        """Show another page."""
        self.problem.set(None)
        await self.session.send_custom_message("go", {"address": address})

    # --- studies ----------------------------------------------------------------------------------

    @property
    def workspace(self) -> Workspace:
        """The folder of all studies; there is none where a finished study is only shown."""
        if self.workbench.read_only is not None:
            raise EvenhandError("This study is only shown. Hint: start `evenhand serve` to make one.")
        return self.workbench.workspace

    @property
    def jobs(self) -> Jobs:
        """The queue of runs."""
        if self.workbench.read_only is not None:
            raise EvenhandError("This study is only shown. Hint: start `evenhand serve` to run one.")
        return self.workbench.jobs

    def folder(self, study: str) -> Path:
        """Return the folder of a study."""
        return self.workspace.folder(study)

    def record(self, study: str) -> StudyRecord:
        """Return the record of a study as it is kept now."""
        return self.workspace.load(study)

    def change(self, study: str, *, draw: bool = False, **changes: Any) -> StudyRecord:
        """Change some fields of a study's record and keep it; say whether the page must be drawn anew."""
        record = self.workspace.load(study).with_(**changes)
        self.workspace.save(record)
        count(self.saved)
        if draw:
            count(self.drawn)
        return record

    # --- the desk ---------------------------------------------------------------------------------

    def inquiry(
        self,
        function: FarFunction | str,
        purpose: str = "",
        *,
        is_provisional: Callable[[Any], bool] | None = None,
    ) -> Inquiry[Any]:
        """Return this tab's inquiry at the desk by its function, such as ``"data:built_in"``.

        There is one for each purpose.
        """
        far = flow_function(function) if isinstance(function, str) else function
        if (far, purpose) not in self._inquiries:
            self._inquiries[far, purpose] = Inquiry(self.desk, far, is_provisional)
        return self._inquiries[far, purpose]

    async def ask_once(self, function: str, *arguments: Any, **options: Any) -> Any:
        """Return what a function of the steps returns, which the desk calls."""
        return await self.desk.ask(flow_function(function), *arguments, **options)

    def choose(self, choices: Mapping[Hashable, Any]) -> None:
        """Keep what was chosen on a page for as long as the tab is open."""
        with reactive.isolate():
            self.choices.set({**self.choices(), **choices})

    def chosen(self, key: Hashable) -> Any:
        """Return what was chosen, without following it."""
        with reactive.isolate():
            return self.choices().get(key)

    async def show_now(self) -> None:
        """Show what changed before something that takes long."""
        async with reactive.lock():
            await reactive.flush()

    def _end(self) -> None:
        for inquiry in self._inquiries.values():
            inquiry.stop()


def flow_function(name: str) -> FarFunction:
    """Return a function of the steps by module and name, which only the desk's process imports.

    >>> flow_function("data:built_in").module
    'evenhand.app.flow.data'
    """
    module, _, function = name.partition(":")
    return FarFunction(f"evenhand.app.flow.{module}", function)


def count(value: reactive.Value[int]) -> None:
    """Add one to a counter, without following it."""
    with reactive.isolate():
        value.set(value() + 1)
