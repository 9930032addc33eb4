"""A table of rows of which one person may have several promises rows, until somebody says whose they are."""

import json

import pandas as pd
import pytest

import evenhand as eh
from evenhand.schema import Column, Domain

SCHEMA = eh.Schema([Column("sex", Domain.categorical(["f", "m"]))])


@pytest.fixture
def panel(tmp_path):
    """Write 60 people with four rows each."""
    rows = [
        {"nr": 7919 * who % 9973, "sex": "fm"[who % 2], "wage": who * 5 + year}
        for who in range(60)
        for year in range(4)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "panel.csv", index=False)
    SCHEMA.save(tmp_path / "schema.toml")
    return tmp_path / "panel.csv"


@pytest.fixture
def publish(call, panel, tmp_path):
    """Return a function that releases the panel and gives what was said and the note."""

    def run(*words, source=panel, schema=("--schema", "schema.toml")):
        typed = ["--columns", "sex", "--mechanism", "laplace", "--epsilon", 1, "--out", "table.csv"]
        done = call("release", source, *schema, *typed, *words, "--overwrite")
        assert done.exit_code == 0, done.output
        note = json.loads((tmp_path / "table.csv.json").read_text("utf-8"))
        return " ".join(done.stderr.split()), note

    return run


@pytest.mark.parametrize("schema", [("--schema", "schema.toml"), ("--infer-schema",)], ids=str)
@pytest.mark.parametrize("unit", ["replace one", "add or remove one"])
def test_a_panel_is_promised_for_a_row_and_the_column_is_named(publish, schema, unit):
    """If this is false, a person with four rows is promised a quarter of the epsilon that they pay."""
    said, note = publish("--unit", unit, schema=schema)

    assert "Values of 'nr' repeat" in said
    assert "--person" in said
    assert "one row" in note["guarantee_in_words"].partition("Assumes")[0]
    assert "one person" not in note["guarantee_in_words"].partition("Assumes")[0]
    assert "each person" not in note["guarantee_in_words"]
    assert "one person may have several rows" in note["guarantee"]["assumptions"][0]
    assert any("'nr'" in warning for warning in note["warnings"])


def test_whoever_says_whose_row_it_is_gets_a_promise_for_a_person(publish):
    said, note = publish("--person", "nr")

    assert "repeat" not in said
    assert note["warnings"] == []
    assert note["guarantee"]["unit"] == "one person"
    assert "one person's sex" in note["guarantee_in_words"]


def test_a_file_of_one_row_a_person_is_promised_for_a_person(publish, panel, tmp_path):
    rows = pd.read_csv(panel).drop_duplicates("nr")
    rows.to_csv(tmp_path / "once.csv", index=False)
    said, note = publish(source=tmp_path / "once.csv")

    assert "repeat" not in said
    assert note["guarantee"]["assumptions"][0] == "each person is one row"


def test_a_column_that_cannot_be_read_and_is_not_asked_for_stops_no_release(publish, panel, tmp_path):
    """What is looked at to warn may be broken where nothing of it is counted."""
    lines = panel.read_bytes().splitlines()
    lines[7] = lines[7].rpartition(b",")[0] + b",\xff\xfe"
    (tmp_path / "odd.csv").write_bytes(b"\n".join(lines) + b"\n")
    _, note = publish(source=tmp_path / "odd.csv")

    assert note["guarantee"]["epsilon"] == "1"


def test_no_value_of_the_column_is_told(publish, panel):
    said, note = publish()
    values = {str(value) for value in pd.read_csv(panel)["nr"] if value > 999}

    assert values
    assert not any(value in said + json.dumps(note["guarantee"]) + str(note["warnings"]) for value in values)
