"""Whoever knows the list of people must not learn a value from who is left out of what is published."""

import gzip

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest

from evenhand.collect import LocalPrivatizer, strategy_for
from evenhand.engine import privatize, privatize_file
from evenhand.errors import SchemaError
from evenhand.schema import Column, Domain, Schema
from evenhand.study import CollectTask, DataSource, Plan
from evenhand.study.run.prepare import prepare
from evenhand.table import Table

LIST = ["ann", "ben", "cem", "dee", "eva", "fay"]
RACES = ["white", "black", "asian", "white", None, "black"]
PEOPLE = pa.table({"name": LIST, "race": RACES, "hired": ["yes", "no", None, "yes", "no", "yes"]})
DROP = ("outside", "nulls")


def schema(**rules):
    return Schema(
        [
            Column("race", Domain.categorical(["white", "black"]), **{"outside": "other"} | rules),
            Column("hired", Domain.categorical(["no", "yes"]), nulls="drop"),
        ],
        sensitive="race",
        protected="race",
        privileged="white",
        target="hired",
        positive="yes",
    )


def dropping(rule):
    return schema(**{"nulls": "other", rule: "drop"})


def write_people(folder):
    arrow_csv.write_csv(PEOPLE, folder / "people.csv")
    return folder / "people.csv"


def never_read(*args, **kwargs):
    raise AssertionError("a row was read")


@pytest.mark.parametrize("rule", DROP)
def test_a_file_in_which_a_reported_value_could_leave_people_out_is_refused_unread(
    tmp_path, rule, monkeypatch
):
    """Who is on the list and not in the reports would have another value, or none, with certainty."""
    people = write_people(tmp_path)
    monkeypatch.setattr(privatize, "open_batches", never_read)

    with pytest.raises(
        SchemaError, match=f"'race' is declared with {rule}='drop' in a collection of reports"
    ) as caught:
        privatize_file(people, tmp_path / "o.csv", schema=dropping(rule), epsilon="1/10")
    assert caught.value.field == f"columns.race.{rule}"
    assert f"Hint: declare {rule}='other'" in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_everybody_on_the_list_is_in_the_file_of_reports(tmp_path):
    """With 'other' they report that value; a rule of a column in the clear leaves nobody out either."""
    how = {"epsilon": "1/10", "keep": ["name"], "linkable": True}
    made = privatize_file(write_people(tmp_path), tmp_path / "o.csv", schema=schema(nulls="other"), **how)

    assert made.rows == len(LIST)
    assert set(arrow_csv.read_csv(tmp_path / "o.csv")["name"].to_pylist()) == set(LIST)


@pytest.mark.parametrize("rule", DROP)
def test_codes_of_a_table_that_could_have_left_people_out_are_refused(rule):
    """The codes of a table know by which rules they were made; whether a row was left out does not count."""
    strategy = strategy_for({"race": 3}, epsilon=1)
    clean = PEOPLE.filter(pa.array([True, True, False, False, False, False]))
    for rows in (PEOPLE, clean):
        table = Table.encode(rows, dropping(rule), columns=["race"])

        with pytest.raises(
            SchemaError, match=f"'race' is declared with {rule}='drop' in a collection of reports"
        ):
            strategy.privatize(table.codes)


def test_codes_are_refused_where_a_sensitive_column_that_is_not_reported_may_leave_people_out():
    """Nothing is said of that column, so it is not in the clear, and who has no report would tell it."""
    hidden = schema(nulls="other").with_roles(sensitive=["race", "hired"], target=None)
    table = Table.encode(PEOPLE, hidden)

    with pytest.raises(SchemaError, match="'hired' is declared with nulls='drop' in a collection of reports"):
        strategy_for({"race": 3}, epsilon=1).privatize(table.codes)


def test_codes_of_a_table_that_leaves_people_out_for_a_column_in_the_clear_are_reported():
    table = Table.encode(PEOPLE, schema(nulls="other"))

    assert len(strategy_for({"race": 3}, epsilon=1).privatize(table.codes)) == len(table) == len(LIST) - 1


@pytest.mark.parametrize("rule", DROP)
def test_a_privatizer_refuses_it_with_the_same_words(rule):
    with pytest.raises(
        SchemaError, match=f"'race' is declared with {rule}='drop' in a collection of reports"
    ):
        LocalPrivatizer(schema=dropping(rule).select(["race"])).fit(PEOPLE.select(["race"]))


@pytest.mark.parametrize("rule", DROP)
def test_a_study_of_collection_refuses_it_with_the_same_words(rule):
    """Its page states the guarantee of the reports, which must hold for everybody."""
    plan = Plan(
        data=DataSource(path="people.csv"), schema=dropping(rule), task=CollectTask("grr", 1), repeats=1
    )

    with pytest.raises(
        SchemaError, match=f"'race' is declared with {rule}='drop' in a collection of reports"
    ):
        prepare(plan, frame=PEOPLE)


@pytest.mark.parametrize("protocol", ["grr", "olh", "oue", "ss", "the"])
def test_a_guarantee_of_reports_assumes_that_who_reports_does_not_depend_on_the_value(protocol):
    """Bare arrays of codes cannot know who was left out, so the guarantee has to say it."""
    strategy = strategy_for({"race": 3, "sex": 2}, epsilon=1, protocol=protocol)

    for guarantee in (strategy.guarantee, strategy.protocols["race"].guarantee):
        assert "whether a person reports does not depend on the values reported" in guarantee.assumptions


@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz"])
def test_whoever_has_a_missing_value_in_a_file_of_one_column_reports(tmp_path, name):
    """The missing cell of a lone column is a blank line, which looks like no line at all."""
    people = tmp_path / name
    write = gzip.open if name.endswith("gz") else open
    with write(people, "wb") as file:
        file.write(b"race\nwhite\n\nblack\n\nwhite\n")
    made = privatize_file(
        people, tmp_path / "o.csv", schema=schema(nulls="other").select(["race"]), epsilon=1
    )

    assert made.rows == 5
