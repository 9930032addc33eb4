"""Rows that cannot be read, on the command line: refused, or counted by the rules of the columns."""

import json

import pytest

from evenhand.schema import Column, Domain, Schema

RELEASE = ["--columns", "sex", "--mechanism", "laplace", "--epsilon", "1"]


@pytest.fixture
def rows(tmp_path):
    Schema([Column("sex", Domain.categorical(["f", "m"]), outside="other")]).save(tmp_path / "schema.toml")
    (tmp_path / "people.csv").write_text('id,sex\n1,f\n2,"secret\n3,m\n')
    return tmp_path


@pytest.mark.parametrize("rule", [[], ["--broken-rows", "refuse"]])
def test_a_broken_row_is_refused_unless_another_rule_is_typed(call, rows, rule):
    found = call(
        "release",
        rows / "people.csv",
        "--schema",
        rows / "schema.toml",
        *RELEASE,
        *rule,
        "--out",
        rows / "t.csv",
    )

    assert found.exit_code == 2
    assert "never ends" in found.output
    assert "secret" not in found.output
    assert not (rows / "t.csv").exists()


@pytest.mark.parametrize("person", [[], ["--person", "id"]])
def test_with_the_rule_other_there_is_a_release_that_says_so(call, rows, person):
    """If this is false one respondent decides whether there is a release."""
    typed = ["--schema", rows / "schema.toml", *RELEASE, *person, "--broken-rows", "other"]
    found = call("release", rows / "people.csv", *typed, "--out", rows / "t.csv")
    note = (rows / "t.csv.json").read_text()

    assert found.exit_code == 0, found.output
    assert "Each line of the file was taken for one row" in json.loads(note)["warnings"][0]
    assert "secret" not in found.output + note + (rows / "t.csv").read_text()
    assert ("a rule of id leaves the row out" in note) == bool(person)


def test_the_rule_needs_a_schema_and_a_known_word(call, rows):
    typed = ["release", rows / "people.csv", *RELEASE, "--out", rows / "t.csv"]
    inferred = call(*typed, "--infer-schema", "--broken-rows", "other")
    unknown = call(*typed, "--schema", rows / "schema.toml", "--broken-rows", "drop")

    assert (inferred.exit_code, unknown.exit_code) == (2, 2)
    assert "--broken-rows other needs the columns with their rules" in " ".join(inferred.output.split())
    assert "must be one of 'refuse', 'other'" in " ".join(unknown.output.split())
