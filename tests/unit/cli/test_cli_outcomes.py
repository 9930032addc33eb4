"""evenhand privatize --protocol optimal: public numbers are typed or read from a file, not from rows."""

import json

import pytest
import typer

from evenhand.cli.outcomes import outcomes_of, solving_told
from evenhand.cli.terminal.console import Terminal

TOML = 'weights = [0.7, 0.3]\nrates = [0.2, 0.6]\nsource = "census 2020"\n'


@pytest.fixture
def files(tmp_path):
    (tmp_path / "census.toml").write_text(TOML)
    (tmp_path / "census.json").write_text(json.dumps({"weights": [7, 3], "rates": [0.2, 0.6]}))
    (tmp_path / "torn.json").write_text("{")
    return tmp_path


def test_numbers_are_typed_with_commas():
    found = outcomes_of(None, ["0.7, 0.3"], ["0.2", "0.6"], "Optimal")

    assert (found.weights, found.rates, found.origin) == ((0.7, 0.3), (0.2, 0.6), "public")


def test_numbers_are_read_from_toml_and_json(files):
    assert outcomes_of(files / "census.toml", None, None, "optimal").source == "census 2020"
    assert outcomes_of(files / "census.json", None, None, "optimal").source == "census.json"


def test_other_protocols_take_none():
    assert outcomes_of(None, None, None, "grr") is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("census.toml", None, None, "grr"), "only --protocol optimal"),
        ((None, ["1,2"], None, "oue"), "only --protocol optimal"),
        ((None, None, None, "optimal"), "needs the share and the outcome rate of each group"),
        ((None, ["1,2"], None, "optimal"), "needs the share and the outcome rate of each group"),
        (("census.toml", ["1,2"], None, "optimal"), "contradict each other"),
        ((None, ["1,x"], ["0,1"], "optimal"), "--weights must be numbers"),
        (("torn.json", None, None, "optimal"), "not valid JSON"),
    ],
)
def test_wrong_use_says_what_is_needed(files, given, said):
    path, *rest = given
    with pytest.raises(typer.BadParameter, match=said):
        outcomes_of(None if path is None else files / path, *rest)


def test_a_file_of_endless_brackets_is_refused(tmp_path):
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(typer.BadParameter, match=r"deep\.json is not valid JSON"):
        outcomes_of(tmp_path / "deep.json", None, None, "optimal")


def test_a_long_solve_says_how_far_it_is(monkeypatch):
    """A hundred groups take a minute, in which nothing else is shown; few groups take no time."""
    terminal, lines = Terminal(), []
    terminal.notices._force_terminal = True
    monkeypatch.setattr(terminal, "say", lambda *words: lines.append(words))
    tell = solving_told(terminal, groups=100)
    tell(1, 10)
    tell(2, 10)

    assert lines == [("Solving", "100 groups: 1 of about 10 linear programs")]
    assert solving_told(terminal, groups=5) is None
    assert solving_told(Terminal(quiet=True), groups=100) is None
