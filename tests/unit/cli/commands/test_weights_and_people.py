"""Weights and persons on the command line: what is used, and what is refused before anything is written."""

import json

import pytest

from evenhand.study import Plan

ROLES = ["--target", "hired", "--positive", "yes", "--protected", "sex", "--privileged", "m"]
RELEASE = ["--columns", "sex,hired", "--mechanism", "laplace", "--epsilon", "1", "--infer-schema"]


@pytest.fixture
def rows(tmp_path):
    """Return a file of 60 rows of 20 people, and another in which a weight is wrong."""
    lines = [
        f"p{i % 20},{'fm'[i % 2]},{'abc'[i % 5 % 3]},{('no', 'yes')[i % 3 == 0]},{1 + i % 4}.5"
        for i in range(60)
    ]
    for name, bad in (("good", ""), ("negative", ",-7.25"), ("missing", ",")):
        text = [lines[0] if not bad else lines[0].rpartition(",")[0] + bad, *lines[1:]]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,sex,job,hired,w", *text, ""]))
    return tmp_path


def test_a_plan_keeps_the_roles_that_were_typed(call, rows, fake):
    shared = [rows / "good.csv", *ROLES, "--yes", "--anyway"]
    call("audit", "collect", *shared, "--sensitive", "sex", "--weight", "w", "--out", rows / "a")
    call("audit", "learn", *shared, "--person", "id", "--weight", "w", "--out", rows / "b")

    schemas = [Plan.from_toml(plan.to_toml()).schema for plan in (made["plan"] for made in fake)]
    assert [schema.weight for schema in schemas] == ["w", "w"]
    assert [(schema.person, schema.rows_per_person) for schema in schemas] == [(None, None), ("id", 1)]
    assert all("w" not in schema.names for schema in schemas)


@pytest.mark.parametrize("name", ["negative", "missing"])
def test_bad_weights_end_with_one_sentence_and_nothing_written(call, rows, name):
    out = rows / "study"
    found = call(
        "audit", rows / f"{name}.csv", *ROLES, "--sensitive", "sex", "--weight", "w", "--out", out, "--yes"
    )

    assert found.exit_code == 2
    assert "give every row a number of at least 0" in " ".join(found.output.split())
    assert "7.25" not in found.output
    assert not out.exists()


def test_a_release_is_promised_to_people(call, rows):
    out = rows / "table.csv"
    found = call(
        "release", rows / "good.csv", *RELEASE, "--person", "id", "--rows-per-person", 3, "--out", out
    )
    note = json.loads((rows / "table.csv.json").read_text())

    assert found.exit_code == 0, found.output
    assert note["guarantee"]["unit"] == "one person"
    assert note["guarantee"]["epsilon"] == "1"
    assert note["mechanism"]["rows_per_person"] == 3
    assert "'id' are those of one person, of whom at most 3 rows" in note["guarantee"]["assumptions"][0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--weight", "w"], "--weight does not go with release"),
        (["--rows-per-person", 2], "--rows-per-person is typed without --person"),
        (["--person", "nobody"], "Column 'nobody' is not in the data"),
        (["--person", "id", "--rows-per-person", 0], "--rows-per-person must be"),
    ],
)
def test_what_a_release_cannot_keep_is_refused(call, rows, options, message):
    found = call("release", rows / "good.csv", *RELEASE, *options, "--out", rows / "table.csv")

    assert found.exit_code == 2
    assert message in " ".join(found.output.split())
    assert not (rows / "table.csv").exists()


def test_a_declared_schema_may_have_them_or_not(call, rows):
    schema = rows / "schema.toml"
    schema.write_text(
        "format = 1\n[[columns]]\nname = 'sex'\nkind = 'categorical'\nvalues = ['f', 'm']\n"
        "outside = 'error'\nnulls = 'error'\n"
    )
    declared = ["--columns", "sex", "--mechanism", "laplace", "--epsilon", "1", "--schema", schema]
    first = call("release", rows / "good.csv", *declared, "--person", "id", "--out", rows / "a.csv")
    schema.write_text(schema.read_text().replace("format = 1\n", "format = 1\n[roles]\nperson = 'id'\n"))
    second = call("release", rows / "good.csv", *declared, "--out", rows / "b.csv")
    schema.write_text(schema.read_text().replace("person = 'id'", "weight = 'w'"))
    third = call("release", rows / "good.csv", *declared, "--out", rows / "c.csv")

    assert [found.exit_code for found in (first, second, third)] == [0, 0, 2]
    assert "role weight does not go with release" in " ".join(third.output.split())
