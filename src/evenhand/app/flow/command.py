"""The command that does a setting for real, in a process that goes on when its workbench is closed."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand._locks import Lock
from evenhand.app.flow.files import APPLIED_NOTE, read_applied
from evenhand.app.state.files import write_private
from evenhand.app.state.workspace import APPLIED
from evenhand.privacy.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evenhand.app.flow.views import Applied

WORK = ".work"
"""The folder of a command, in that of what was done for real."""

_RUNNING, _ORDER = ".running", ".order.json"


def write_order(
    work: Path, *, inputs: Sequence[str], said: Mapping[str, object], ledger: Ledger | None
) -> None:
    """Write into the folder of a command what it needs to finish by itself, and what the page says then."""
    paid = "" if ledger is None else str(ledger.path)
    write_private(work / _ORDER, json.dumps({"inputs": list(inputs), "said": dict(said), "ledger": paid}))


def run(main: Callable[[], None]) -> None:
    """Run the command line in this folder, and keep what it wrote.

    Its lock is held as long, so that nobody does the same beside it after the workbench was started again.
    """
    work = Path.cwd()
    lock = Lock(work / _RUNNING)
    if not lock.take():
        sys.exit("Another command runs in this folder.")
    try:
        main()
    except SystemExit as ended:
        if not ended.code:
            keep_files(work)
        raise
    finally:
        lock.free()


def runs_in(work: Path) -> bool:
    """Whether a command runs in a folder."""
    if not (work / _RUNNING).exists():
        return False
    lock = Lock(work / _RUNNING)
    if not lock.take():
        return True
    lock.free()
    return False


def keep_files(work: Path) -> None:
    """Put what was written beside the folder of the command, after what it promises and was charged."""
    order = json.loads((work / _ORDER).read_bytes())
    charged = ""
    if order["ledger"]:
        ledger = Ledger(order["ledger"])
        total = ledger.total()
        spent, left = amount_text(total.spent), amount_text(total.remaining)
        charged = f"Ledger '{Path(ledger.name).stem}': {spent} is spent, {left} is left."
    # so that it is still said when the page is loaded again
    write_private(work.parent.parent / APPLIED_NOTE, json.dumps(order["said"] | {"charged": charged}))
    _move_files(work, order["inputs"])


def find_done(folder: Path) -> Applied | None:
    """Return what was done for real on the last page of a study; None if nothing was.

    If a command was killed as it put its files in place, which it does last, the rest is put there.
    """
    work = folder / APPLIED / WORK
    with suppress(OSError, ValueError):  # there is nothing to do, or another tab does it
        if (folder / APPLIED_NOTE).exists() and not runs_in(work):
            _move_files(work, json.loads((work / _ORDER).read_bytes())["inputs"])
    return read_applied(folder)


def _move_files(work: Path, inputs: Sequence[str]) -> None:
    for file in work.iterdir():
        if file.name not in inputs and not file.name.startswith("."):
            file.rename(work.parent / file.name)


def amount_text(amount: object) -> str:
    """Return an amount of a ledger as the page writes it, without a delta of zero.

    >>> amount_text("epsilon = 4, delta = 0")
    'ε = 4'
    """
    return str(amount).removesuffix(", delta = 0").replace("epsilon", "ε").replace("delta", "δ")
