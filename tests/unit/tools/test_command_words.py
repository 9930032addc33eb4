"""The tools take the words of their command lines as they were typed."""

import runpy
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[3] / "tools"


@pytest.mark.parametrize(
    ("typed", "tried"),
    [
        (["3.12", "--", "-k", "this or that"], {"3.12": ["-k", "this or that"]}),
        (["--", "--maxfail=1"], {version: ["--maxfail=1"] for version in ("3.11", "3.12", "3.13")}),
    ],
)
def test_words_for_pytest_stay_whole(typed, tried, monkeypatch):
    tool = runpy.run_path(str(TOOLS / "try_pythons.py"))
    seen = {}
    monkeypatch.setitem(tool["main"].__globals__, "try_python", seen.__setitem__)
    monkeypatch.setattr(sys, "argv", ["try_pythons.py", *typed])
    with pytest.raises(SystemExit):
        tool["main"]()

    assert seen == tried


def test_a_study_that_there_is_not_is_told(monkeypatch, capsys):
    """It ended with a division by zero after it had written the people."""
    tool = runpy.run_path(str(TOOLS / "timing.py"))
    monkeypatch.setattr(sys, "argv", ["timing.py", "--only", "no such study"])
    with pytest.raises(SystemExit, match="2"):
        tool["main"]()

    assert "there are: collect, few rows; " in capsys.readouterr().err
