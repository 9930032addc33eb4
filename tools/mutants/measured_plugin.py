"""A plugin of pytest that writes how long every test took, if it passed, while coverage is measured."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

_SECONDS: dict[str, float] = {}
_PASSED: dict[str, bool] = {}


def pytest_runtest_logreport(report: Any) -> None:
    """Add up the parts of a test."""
    _SECONDS[report.nodeid] = _SECONDS.get(report.nodeid, 0.0) + report.duration
    _PASSED[report.nodeid] = _PASSED.get(report.nodeid, True) and report.outcome == "passed"


def pytest_sessionfinish(session: Any) -> None:
    """Write the times of the tests that passed, from the process that started all others."""
    if not hasattr(session.config, "workerinput"):
        seconds = {name: round(_SECONDS[name], 4) for name, passed in _PASSED.items() if passed}
        pathlib.Path(os.environ["MUTANTS_SECONDS"]).write_text(json.dumps(seconds), encoding="utf-8")
