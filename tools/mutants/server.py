"""A process that has imported what tests need, plants one mutant after another, and forks to test each.

Imports of numpy, pandas and scikit-learn take longer than most tests; a child of this process starts with
them. The project itself is imported by the child, since it is what was broken. Jobs come as lines of JSON,
and so do answers.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pathlib
import resource
import select
import shutil
import signal
import sys
import time
import types
from typing import Any

from sight import file_of
from sites import Mutant
from trees import planted

MEMORY = 8 << 30
PATIENCE = 30.0
"""Seconds that any test may take, besides ten times what it takes without a mutant."""
PATIENCE_COLLECTING = 180.0


class _Picker:
    """Runs the chosen tests in the chosen order and tells the parent process what happens."""

    def __init__(self, tests: list[str], tell: Any) -> None:
        self.places = {test: place for place, test in enumerate(tests)}
        self.tell = tell

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self.places), key=lambda item: self.places[item.nodeid]
        )
        self.tell({"collected": len(items)})

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.tell({"failed": report.nodeid or "collection", "why": _why(report)})

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.tell({"started": nodeid})

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.tell({"failed": report.nodeid, "why": _why(report)})


def _why(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = (
        crash.message if crash else str(report.longrepr).strip().splitlines()[-1] if report.longrepr else ""
    )
    return text.splitlines()[0][:200] if text else ""


def main() -> None:
    """Answer jobs until there are no more."""
    tree = pathlib.Path(sys.argv[1])
    settings = json.loads(sys.argv[2])
    for name in settings["preload"]:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    for number, line in enumerate(sys.stdin):
        job = json.loads(line)
        mutant = Mutant(**job["mutant"]) if job["mutant"] else None
        started = time.monotonic()
        with planted(tree, mutant, number):
            answer = _test(tree, job, settings["marks"])
        answer["seconds"] = round(time.monotonic() - started, 2)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _test(tree: pathlib.Path, job: dict[str, Any], marks: str) -> dict[str, Any]:
    """Run the tests of a job in a child and return which failed; a test that takes too long ends it."""
    scratch = tree.parent / f"{tree.name}-scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.rmtree(tree / ".hypothesis", ignore_errors=True)
    scratch.mkdir(parents=True)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _run_child(tree, job, marks, scratch, writing)
    os.close(writing)
    try:
        return _watch(reading, job)
    finally:
        os.close(reading)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, 0)
        shutil.rmtree(scratch, ignore_errors=True)


def _run_child(
    tree: pathlib.Path, job: dict[str, Any], marks: str, scratch: pathlib.Path, writing: int
) -> None:
    import pytest  # noqa: PLC0415 - imported by the parent already

    def tell(words: dict[str, Any]) -> None:
        os.write(writing, (json.dumps(words) + "\n").encode())

    code = 3
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        log = os.open(scratch / "log.txt", os.O_WRONLY | os.O_CREAT, 0o600)
        empty = os.open(os.devnull, os.O_RDONLY)
        for number, descriptor in ((empty, 0), (log, 1), (log, 2)):
            os.dup2(number, descriptor)
        os.chdir(tree)
        sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
        sys.argv, sys.modules["__main__"] = (
            ["pytest"],
            types.ModuleType("__main__"),
        )  # processes of tests import it
        sys.path[:] = [path for path in sys.path if path != str(pathlib.Path(__file__).resolve().parent)]
        files = list(dict.fromkeys(file_of(test) for test in job["tests"]))
        words = ["-q", "-p", "no:cacheprovider", "--basetemp", str(scratch / "tmp"), "-m", marks]
        words += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # plugins that were imported beforehand
        code = int(pytest.main([*words, *job["options"], *files], plugins=[_Picker(job["tests"], tell)]))
        sys.stderr.flush()
        tell({"code": code, "error": (scratch / "log.txt").read_text()[-300:] if code > 1 else ""})
    except BaseException as error:  # noqa: BLE001 - the parent must be told
        tell({"code": 3, "error": repr(error)})
    finally:
        os._exit(0)


def _watch(reading: int, job: dict[str, Any]) -> dict[str, Any]:
    seconds, running = job["seconds"], ""
    answer: dict[str, Any] = {
        "failed": [],
        "why": "",
        "code": None,
        "timeout": None,
        "collected": 0,
        "error": "",
    }
    deadline = time.monotonic() + PATIENCE_COLLECTING
    pending = b""
    while True:
        ready, _, _ = select.select([reading], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return answer | {"timeout": running or "collection"}
        piece = os.read(reading, 65536)
        if not piece:
            return answer | {"error": f"The process ended in {running or 'collection'}."}
        *lines, pending = (pending + piece).split(b"\n")
        for words in map(json.loads, lines):
            if "started" in words:
                running = words["started"]
                deadline = time.monotonic() + job["patience"] + PATIENCE + 10 * seconds.get(running, 1.0)
            elif "failed" in words:
                answer["failed"].append(words["failed"])
                answer["why"] = answer["why"] or words["why"]
            else:
                answer |= words
            if "code" in words:
                return answer


if __name__ == "__main__":
    main()
