"""Python processes beside the server: each is a fresh interpreter, which ends when the server does."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from typing import Any

SHOW_TRACEBACKS = "EVENHAND_TRACEBACKS"
"""The variable of the environment that shows tracebacks as they are, for whoever develops the workbench."""

_NICE = 10
_ENDED_SECONDS = 5.0


def start_python(module: str, *arguments: str, is_nice: bool = False) -> Any:
    """Start a module of evenhand as a process of its own, and return the process.

    Its standard input is a pipe that only this process holds: it ends when this process does, in whatever
    way. It finds the same modules as this process, and none in the folder that it happens to be started from.

    Parameters
    ----------
    module : str
    *arguments : str
    is_nice : bool
        Whether other processes go before it.
    """
    paths = [path for path in sys.path if path and os.path.isabs(path)]  # noqa: PTH117 - a text
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    options: dict[str, Any] = {}
    if is_nice and sys.platform == "win32":
        options["creationflags"] = subprocess.BELOW_NORMAL_PRIORITY_CLASS
    if sys.platform != "win32":
        options["start_new_session"] = True  # Ctrl-C goes to the server, which asks the others to stop
    return subprocess.Popen(  # noqa: S603 - our own module, in our own interpreter
        [sys.executable, "-P", "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=None if os.environ.get(SHOW_TRACEBACKS) else subprocess.DEVNULL,
        env=environment,
        **options,
    )


def silence_errors() -> None:
    """Keep what libraries write to standard error off the terminal: it may quote a value of the data."""
    if not os.environ.get(SHOW_TRACEBACKS):
        with suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 2)
            os.close(nowhere)


def be_nice() -> None:
    """Let other processes go before this one and those that it starts, where the system has such a thing."""
    if hasattr(os, "nice"):
        with suppress(OSError):
            os.nice(_NICE)


def end_process(process: Any, *, seconds: float = 0.0) -> None:
    """End a process: it is given some seconds to end by itself once its standard input is closed.

    Parameters
    ----------
    process : subprocess.Popen
    seconds : float
    """
    with suppress(OSError, ValueError):
        process.stdin.close()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        with suppress(OSError):
            process.kill()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_ENDED_SECONDS)
