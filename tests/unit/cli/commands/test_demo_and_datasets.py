"""evenhand demo and datasets."""

import json

import pytest

from evenhand.cli.compiled import announce_compiling
from evenhand.cli.options import complete_name
from evenhand.cli.terminal.console import Terminal
from evenhand.datasets import DATASETS
from evenhand.errors import MissingExtraError
from evenhand.study.results.results import Results


def test_the_demo_has_five_protocols_at_three_epsilons(call, fake):
    done = call("demo", "--workers", 1)

    plan = fake[0]["plan"]
    assert done.exit_code == 0
    assert len(plan.task.protocols) == 5
    assert len(plan.task.epsilons) == 3
    assert str(fake[0]["out"]) == "evenhand-demo"
    assert "Made-up people" in done.stderr


def test_the_demo_says_that_its_intervals_do_not_cover_the_choice_of_the_study(call, fake):
    """A study that was picked for its clear answer is clearer than one that was not."""
    done = call("demo", "--workers", 1)
    told = "chosen out of about ten because its answer is clear; others gave none, or another one. "

    assert f"{told}Its intervals do not cover that choice." in " ".join(done.stderr.split())
    assert [(note.kind, "do not cover that choice" in note) for note in fake[0]["plan"].notes] == [
        ("limit", True)
    ]


def test_the_demo_ends_with_where_to_go_next(call, fake):
    done = call("demo", "--workers", 1)
    last = done.stdout.splitlines()[-4:]

    assert "evenhand audit learn causal --methods plain,plain+parity" in " ".join(done.stdout.split())
    assert last[-1].startswith("Read on     evenhand --help")
    assert "What helps" not in call("demo", "--json").stdout


def test_that_loops_are_compiled_is_said_once(capsys, monkeypatch, tmp_path):
    """The first command on a machine would seem to hang."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    announce_compiling(Terminal())
    first = capsys.readouterr().err
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "bits.nbi").touch()
    announce_compiling(Terminal())

    assert "Compile  compiling, once: about ten seconds" in first
    assert capsys.readouterr().err == ""


def test_the_report_is_opened_where_somebody_is_there(call, fake, monkeypatch):
    opened = []
    monkeypatch.setattr("typer.launch", opened.append)
    call("demo")
    monkeypatch.setattr("evenhand.cli.terminal.console.Terminal.is_interactive", True)
    call("demo", "--no-open")

    assert opened == []
    call("demo")
    assert opened[0].startswith("file://")
    assert opened[0].endswith("report.html")


def test_without_the_extra_for_reports_the_numbers_are_there_all_the_same(call, fake, monkeypatch):
    def missing(self, path, **_):
        raise MissingExtraError("jinja2", feature="The report", extra="report")

    monkeypatch.setattr(Results, "report", missing)
    done = call("demo", "--quiet")

    assert done.exit_code == 0
    assert "pip install 'evenhand[report]'" in " ".join(done.stderr.split())
    assert "report.html" not in done.stdout
    assert "evenhand-demo/cells.csv" in done.stdout


def test_data_sets_are_listed_with_where_they_are(call, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path))
    from evenhand.datasets import describe

    (tmp_path / f"{describe('adult').files[0].stem}.csv").touch()
    (tmp_path / f"{describe('credit_default').files[0].stem}.csv.gz").touch()
    done = call("datasets", "--json")

    rows = {row["name"]: row["where"] for row in json.loads(done.stdout)["datasets"]}
    assert list(rows) == list(DATASETS)
    assert rows["causal"] == "built in"
    assert rows["compas"] == "downloaded when asked for"
    assert rows["adult"] == "partly on this machine"
    assert rows["credit_default"] == "on this machine"
    assert "causal" in call("datasets").stdout
    assert call("datasets", "--quiet").stdout.split() == list(DATASETS)


def test_a_data_set_is_shown(call):
    done = call("datasets", "show", "compas")
    told = json.loads(call("datasets", "show", "compas", "--json").stdout)

    assert "Option   version" in done.stdout
    assert "Cite     Angwin" in done.stdout
    assert told["name"] == "compas"
    assert told["files"]


def test_the_name_of_a_data_set_alone_shows_it(call):
    assert call("datasets", "compas").stdout == call("datasets", "show", "compas").stdout
    assert call("datasets", "cmpas").exit_code == 2


def test_a_data_set_is_fetched(call):
    done = call("datasets", "fetch", "causal")

    assert done.exit_code == 0
    assert "Ready    causal, " in done.stdout
    assert json.loads(call("datasets", "fetch", "causal", "--json").stdout)["files"] == []


@pytest.mark.parametrize("words", ["fetch c", "show c"])
def test_names_of_data_sets_are_completed(words):
    assert complete_name("datasets")(words.split()[1])[:2] == ["causal", "compas"]
