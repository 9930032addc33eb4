"""A run with a fixed key in a process of its own, which kills itself at the moment that it is told."""

import os
import signal
import sys

import evenhand.privacy.randomness as randomness
from evenhand.engine import privatize_file
from evenhand.engine.drawing import Drawing
from evenhand.engine.unfinished import Spool, Unfinished
from evenhand.table import write
from unit.engine._streams import SCHEMA

MOMENTS = {
    "begin": (Unfinished, "_start"),
    "key": (Unfinished, "_write_secret"),
    "unit 1": (Spool, "add"),
    "unit 4": (Spool, "add"),
    "drawn": (Unfinished, "mark_drawn"),
    "key gone": (Unfinished, "_destroy_key"),
    "written": (Drawing, "_record"),
    "complete": (Unfinished, "mark_placing"),
    "placing": (write, "_take_places"),
    "placed": (Unfinished, "__exit__"),
}


def kill_at(moment):
    """Kill this process with no chance to clean up, after the moment or, of units, after as many calls."""
    owner, name = MOMENTS[moment]
    calls = int(moment.split()[1]) if moment.startswith("unit") else 1
    real, made = getattr(owner, name), []

    def killing(*given, **named):
        if moment == "placed":
            os.kill(os.getpid(), signal.SIGKILL)
        real(*given, **named)
        made.append(name)
        if len(made) == calls:
            os.kill(os.getpid(), signal.SIGKILL)

    setattr(owner, name, killing)


def run(source, out, **options):
    """Privatise with keys that are the same in every process."""
    numbers = iter(range(1, 100))
    randomness.RunKey.draw = classmethod(lambda cls: cls(bytes([next(numbers)]) * 32))
    named = {"schema": SCHEMA, "epsilon": 3, "keep": ("hired",), "batch_rows": 40, "workers": 2} | options
    return privatize_file(source, out, resume=True, **named)


if __name__ == "__main__":
    source, out, keep_order, moment = sys.argv[1:5]
    if moment:
        kill_at(moment)
    ledger = sys.argv[5] if len(sys.argv) > 5 else None
    run(source, out, keep_order=keep_order == "True", ledger=ledger)
