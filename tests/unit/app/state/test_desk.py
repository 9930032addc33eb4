"""Functions at the desk: errors come back as themselves, a crash costs one call, memory stays bounded."""

import asyncio
import math
import os
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from evenhand.app.state.desk import Desk
from evenhand.errors import (
    EvenhandError,
    InvalidParameterError,
    LimitExceededError,
    SchemaError,
    WorkbenchError,
)
from unit.app.state import _desk_functions as there
from unit.app.state._studies import wait_until

pytestmark = pytest.mark.figures  # real processes, which take a while


def ask(*calls, **options):
    """Return what each call at one desk returned or raised."""

    async def ask_all():
        answers = []
        with Desk(**options) as desk:
            for function, *arguments in calls:
                try:
                    answers.append(await desk.ask(function, *arguments))
                except Exception as error:  # noqa: BLE001 - it is what the tests look at
                    answers.append(error)
        return answers

    return asyncio.run(ask_all())


def test_a_function_runs_in_another_process_which_is_used_again():
    first, second, number = ask((there.number_of_process,), (there.number_of_process,), (math.factorial, 5))

    assert first == second != os.getpid()
    assert number == 120


def test_our_errors_come_back_as_themselves_with_their_facts():
    """A page shows the sentence beside the field that the error names."""
    parameter, schema, limit, unsendable = ask(
        *((there.refuse, which) for which in ("parameter", "schema", "limit", "unsendable"))
    )

    assert (type(parameter), parameter.parameter) == (InvalidParameterError, "k")
    assert str(parameter).endswith("must be at least 2. Got 1 instead. Hint: say 2.")
    assert (type(schema), schema.field) == (SchemaError, "columns")
    assert (type(limit), limit.limit) == (LimitExceededError, "bytes")
    assert isinstance(unsendable, EvenhandError)
    assert str(unsendable) == "The schema is empty."


def test_an_error_of_others_tells_its_class_and_its_line_but_no_value_and_no_path():
    failed, unsendable, fine = ask((there.fail_with_a_value,), (there.return_a_lock,), (there.speak,))

    assert isinstance(failed, WorkbenchError)
    assert "KeyError at _desk_functions.py:" in str(failed)
    assert "private" not in str(failed)
    assert "/" not in str(failed)
    assert isinstance(unsendable, WorkbenchError)
    assert fine == "said"


@pytest.mark.parametrize("end", [there.crash, there.leave])
def test_a_crash_is_one_clear_error_and_the_next_call_works(end):
    """Otherwise one file that needs too much memory would end the whole workbench."""
    before, crashed, after = ask((there.number_of_process,), (end,), (there.number_of_process,))

    assert isinstance(crashed, WorkbenchError)
    assert str(crashed).startswith("The process that works this out ended")
    assert str(crashed).count("Hint:") == 1
    assert isinstance(after, int)
    assert after != before


def test_a_process_is_replaced_after_some_calls():
    numbers = ask(*[(there.number_of_process,)] * 4, calls=2)

    assert numbers[0] == numbers[1] != numbers[2] == numbers[3]


def test_a_process_that_has_grown_is_replaced():
    """What large files leave in memory must leave the machine again."""
    small, large, after = ask((there.grow, 1), (there.grow, 150), (there.number_of_process,), megabytes=120)

    assert small == large
    assert after != large


def start_waiting(desk, folder):
    """Return a call that waits, and what tells that it began and what lets it go on."""
    began, goes_on = folder / "began", folder / "goes on"
    return asyncio.create_task(desk.ask(there.wait_there, began, goes_on)), began, goes_on


def test_a_short_call_does_not_wait_for_a_long_one(tmp_path):
    """While one tab describes a large file, another must answer."""

    async def ask_both():
        with Desk() as desk:
            long, began, goes_on = start_waiting(desk, tmp_path)
            await asyncio.to_thread(wait_until, began.exists)
            short = await desk.ask(there.number_of_process)
            is_done = long.done()
            goes_on.touch()
            await long
            return is_done, short

    is_done, short = asyncio.run(ask_both())

    assert not is_done
    assert isinstance(short, int)


def test_closing_ends_the_processes_and_what_they_work_on_is_an_error(tmp_path):
    async def close_in_the_middle():
        desk = Desk()
        number = await desk.ask(there.number_of_process)
        call, began, _ = start_waiting(desk, tmp_path)
        await asyncio.to_thread(wait_until, began.exists)
        desk.close()
        with pytest.raises(WorkbenchError, match="closing"):
            await call
        with pytest.raises(WorkbenchError, match="closing"):
            await desk.ask(there.number_of_process)
        return number

    number = asyncio.run(close_in_the_middle())

    if os.name == "posix":
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)


@pytest.mark.skipif(os.name != "posix", reason="the system has no modes")
def test_files_that_a_function_writes_are_private(tmp_path):
    ask((there.write_file, str(tmp_path / "rows.csv")))

    assert stat.S_IMODE((tmp_path / "rows.csv").stat().st_mode) == 0o600


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_the_desk_ends_when_the_server_is_killed(tmp_path):
    """Otherwise rows would stay in the memory of a process that nobody knows."""
    script = tmp_path / "server.py"
    script.write_text(
        textwrap.dedent("""
        import asyncio, sys
        from evenhand.app.state.desk import Desk
        from unit.app.state import _desk_functions as there

        async def main():
            desk = Desk()
            print(await desk.ask(there.number_of_process), flush=True)
            await desk.ask(there.sleep_there, 60)

        asyncio.run(main())
        """)
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    server = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, env=environment)
    number = int(server.stdout.readline())
    server.kill()
    server.wait()
    server.stdout.close()
    wait_until(lambda: not _is_alive(number))


def _is_alive(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
