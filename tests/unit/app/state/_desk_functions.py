"""Functions that are called at a desk."""

import os
import signal
import time

from evenhand.errors import InvalidParameterError, LimitExceededError, SchemaError

_KEPT = []


def number_of_process():
    return os.getpid()


def sleep_there(seconds):
    time.sleep(seconds)
    return os.getpid()


def wait_there(began, goes_on):
    """Say with a file that the call began, and wait for another file."""
    from pathlib import Path

    Path(began).touch()
    while not Path(goes_on).exists():
        time.sleep(0.01)


def crash():
    os.kill(os.getpid(), signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
    time.sleep(60)


def leave():
    os._exit(7)


def refuse(which):
    raise {
        "parameter": InvalidParameterError("k", owner="GRR", must_be="at least 2", got=1, hint="say 2."),
        "schema": SchemaError("The schema is empty.", field="columns"),
        "limit": LimitExceededError("The file is too large.", limit="bytes"),
        "unsendable": _with_a_lock(SchemaError("The schema is empty.", field="columns")),
    }[which]


def _with_a_lock(error):
    import threading

    error.extra = threading.Lock()
    return error


def fail_with_a_value():
    raise KeyError("private value in /home/somebody/rows.csv")


def return_a_lock():
    import threading

    return threading.Lock()


def grow(megabytes):
    """Keep so much memory, and say which process does."""
    _KEPT.append(bytearray(os.urandom(1 << 20) * megabytes))
    return os.getpid()


def speak():
    print("a library prints")  # noqa: T201 - which must not break the next answer
    return "said"


def write_file(path):
    from pathlib import Path

    Path(path).write_text("rows")
