"""A new data set is one file and one line of the registry; everything else asks the registry."""

import json

import pytest
from typer.testing import CliRunner

import evenhand as eh
from evenhand.cli.app import app
from evenhand.cli.options import complete_data
from evenhand.datasets import DATASETS, describe, entries, load, names, registry
from evenhand.study import DataSource

FILE = """
import numpy as np

from evenhand.datasets.entry import Cleaned, Entry, Option
from evenhand.schema import Column, Domain, Schema


def _build(read, options):
    rows = np.arange(options["n"])
    bit = Domain.integers(0, 1)
    names = ("group", "smokes", "ill")
    schema = Schema(
        tuple(Column(name, bit) for name in names),
        target="ill", positive=1, protected="group", privileged=1, sensitive=("group", "smokes"),
    )
    columns = {name: rows // 2**place % 2 for place, name in enumerate(names)}
    return Cleaned(columns=columns, schema=schema, rows=len(rows), cleaning=("none",), synthetic=True)


ENTRY = Entry(
    about="People who do not exist.",
    citation="nobody",
    options=(Option(name="n", default=400, low=8, meaning="How many people."),),
    build=_build,
    built_in=True,
)
"""


@pytest.fixture
def toy(monkeypatch, tmp_path):
    """Add the file and the line, and take both away again."""
    (tmp_path / "toy_people.py").write_text(FILE, encoding="utf-8")
    monkeypatch.setattr(entries, "__path__", [*entries.__path__, str(tmp_path)])
    monkeypatch.setitem(registry._TITLES, "toy_people", "Toy people")
    return "toy_people"


def test_it_has_a_name_a_description_and_rows(toy):
    assert toy in names()
    assert DATASETS[toy] == describe(toy).title == "Toy people"
    assert load(toy, n=40).provenance.rows == 40
    assert complete_data("toy") == [toy]


def test_it_is_studied_by_name(toy):
    plan = eh.Plan(data=DataSource(dataset=toy, options={"n": 200}), repeats=1)
    results = eh.run(plan, workers=1, progress=False)

    assert len(results) > 1
    assert results.failures == ()


def test_the_command_line_lists_it(toy):
    done = CliRunner().invoke(app, ["datasets", "--json"], prog_name="evenhand")

    assert {"name": toy, "title": "Toy people", "where": "built in"} in json.loads(done.stdout)["datasets"]
