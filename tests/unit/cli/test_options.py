"""Lists with commas, what the shell completes, and the values that a person may choose from."""

import pyarrow as pa
import pytest

from evenhand.cli import options
from evenhand.cli.options import REGISTRIES, complete_data, complete_name, names_in, split_list
from evenhand.cli.roles import with_choices
from evenhand.errors import SchemaError
from evenhand.schema import Column, Domain, Schema
from evenhand.study.intake.opening import Opened
from evenhand.study.intake.setup import RoleOptions
from evenhand.study.plan.source import DataSource


@pytest.mark.parametrize(
    ("given", "known", "meant"),
    [
        (None, (), ()),
        (["a,b"], (), ("a", "b")),
        (["a", "b , c"], (), ("a", "b", "c")),
        (['"a, b",c'], (), ("a, b", "c")),
        (["a, b"], ("a, b",), ("a, b",)),
        ([",a,,"], (), ("a",)),
        ([""], (), ()),
        (["it's"], (), ("it's",)),
    ],
)
def test_a_list_is_read_as_a_person_means_it(given, known, meant):
    assert split_list(given, known) == meant


def test_the_last_of_several_words_is_completed(monkeypatch):
    monkeypatch.setattr(options, "names_in", lambda _: ["grr", "oue", "olh"])
    complete = complete_name("protocols")

    assert complete("") == ["grr", "oue", "olh"]
    assert complete("grr,o") == ["grr,oue", "grr,olh"]


def test_files_folders_and_data_sets_are_offered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "adults").mkdir()
    (tmp_path / "adults" / "x.parquet").touch()
    (tmp_path / "ad.csv").touch()
    (tmp_path / "ad.txt").touch()
    (tmp_path / "ad.pdf").touch()

    assert complete_data("ad") == ["ad.csv", "ad.txt", "adults/", "adult"]
    assert complete_data("adults/") == ["adults/x.parquet"]
    assert complete_data("nowhere/x") == []


@pytest.mark.parametrize("registry", REGISTRIES)
def test_every_registry_is_where_the_table_says(registry):
    assert all(isinstance(name, str) for name in names_in(registry))


DECLARED = Schema([Column("sex", Domain.categorical(["f", "m", "x"]))])


@pytest.mark.parametrize(
    ("rows", "schema", "shown"),
    [
        (["f", "m"] * 60, None, ["Values of sex: f, m."]),
        (["x"] * 120, None, []),
        (
            ["f", "m"] * 60,
            Schema([Column("sex", Domain.categorical(["f", "m", "x"]))]),
            ["Values of sex: f, m, x."],
        ),
    ],
)
def test_a_wrong_value_is_answered_with_those_of_the_column(rows, schema, shown):
    """Whose file it is must see what can be typed; a column that cannot be used has nothing to choose."""
    opened = Opened(DataSource(path="people.csv"), pa.table({"sex": rows}), schema)
    error = SchemaError("No such value.", field="roles.privileged")

    assert with_choices(opened, RoleOptions(protected="sex"), error).splitlines()[1:] == shown


@pytest.mark.parametrize("typed", [("--protected", "sex", "--protected", "age"), ("--protected=a",) * 2])
def test_columns_that_are_given_twice_are_refused(typed, call):
    """If not, the first would be dropped without a word."""
    done = call("audit", "people.csv", *typed)

    assert done.exit_code == 2
    assert "it is given twice" in done.stderr


def test_an_option_of_one_value_may_be_given_again(call):
    """As everywhere the last one counts, so that a command that was saved can be changed at its end."""
    done = call(
        "audit", "no such file.csv", "--repeats", 2, "--repeats", 3, "--label", "a=b", "--label", "c=d"
    )

    assert "given twice" not in done.stderr
