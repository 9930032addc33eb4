"""A study of a file is the study of its plain twin, whatever program saved it."""

import csv
import gzip
import random

import pytest

from evenhand.errors import InvalidParameterError, PlanError
from evenhand.study import CollectTask, DataSource, Plan, ReleaseTask, run
from evenhand.study.intake.opening import open_data
from evenhand.study.intake.setup import RoleOptions, set_up
from evenhand.study.run.prepare import prepare
from evenhand.table import FileFormat

ROLES = RoleOptions(
    target="hired", positive="ja", protected="sex", privileged="männlich", sensitive=("sex", "größe")
)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """One table, saved in several ways."""
    openpyxl = pytest.importorskip("openpyxl")
    folder, draw = tmp_path_factory.mktemp("files"), random.Random(7)
    header = ["sex", "größe", "age", "hired"]
    rows = []
    for _ in range(300):
        sex = draw.choice(["männlich", "weiblich"])
        hired = draw.random() < (0.7 if sex == "männlich" else 0.4)
        size = draw.choice([1.5, 1.75, 2.0, None])
        rows.append([sex, size, draw.randint(20, 60), "ja" if hired else "nein"])

    def save(name, delimiter, encoding, decimal="."):
        with (folder / name).open("w", encoding=encoding, newline="") as file:
            writer = csv.writer(file, delimiter=delimiter)
            writer.writerow(header)
            for sex, size, age, hired in rows:
                text = "" if size is None else str(size).replace(".", decimal)
                writer.writerow([sex, text, age, hired])

    save("plain.csv", ",", "utf-8")
    save("semicolons.csv", ";", "latin-1", ",")
    save("tabs.tsv", "\t", "utf-8-sig")
    save("unicode.txt", "\t", "utf-16", ",")
    (folder / "packed.csv.gz").write_bytes(gzip.compress((folder / "plain.csv").read_bytes()))
    book = openpyxl.Workbook()
    for row in [header, *rows]:
        book.active.append(row)
    book.save(folder / "book.xlsx")
    return folder


OTHERS = ["semicolons.csv", "tabs.tsv", "unicode.txt", "packed.csv.gz", "book.xlsx"]


def plan_of(path):
    opened = open_data(path)
    schema = set_up(opened, ROLES).schema
    return Plan(data=opened.source, schema=schema, task=CollectTask(["grr"], [1]), repeats=2)


@pytest.mark.parametrize("name", OTHERS)
def test_the_schema_and_the_rows_are_those_of_the_plain_twin(files, name):
    """If false, what is recommended depends on the program that saved the file."""
    plain, other = plan_of(files / "plain.csv"), plan_of(files / name)
    written = Plan.from_toml(other.to_toml())

    assert other.schema == plain.schema
    assert prepare(written).facts.fingerprint == prepare(plain).facts.fingerprint


@pytest.mark.figures
def test_the_numbers_of_a_report_are_those_of_the_plain_twin(files, tmp_path):
    written = []
    for name in ["plain.csv", "semicolons.csv", "book.xlsx"]:
        results = run(plan_of(files / name), out=tmp_path / name, workers=1)
        results.to_csv(tmp_path / "cells.csv")
        written.append((tmp_path / "cells.csv").read_bytes())

    assert len(written[0].splitlines()) > 4
    assert written[1:] == written[:1] * 2


def test_a_plan_of_plain_commas_says_nothing_about_its_format(files):
    """A plan that was written before stays as it is, to the byte."""
    plan = plan_of(files / "plain.csv")

    assert plan.data.file_format is None
    assert "file_format" not in plan.to_toml()
    assert plan_of(files / "semicolons.csv").data.file_format == FileFormat(
        delimiter=";", encoding="windows-1252", decimal=","
    )


def test_what_was_typed_is_kept_even_if_it_is_plain(files):
    """Otherwise the file would be looked at again, and taken for what it is not."""
    typed = FileFormat(delimiter="comma", encoding="utf-8", decimal="point")
    opened = open_data(files / "plain.csv", file_format=typed)

    assert opened.source.file_format == typed
    assert opened.assumed is None


@pytest.mark.parametrize(
    ("table", "field"),
    [
        ('delimiter = "ab"', "data.file_format.delimiter"),
        ('separator = ","', "data.file_format.separator"),
        ('encoding = "rot13"', "data.file_format.encoding"),
    ],
)
def test_a_fault_of_a_format_is_told_by_its_field(table, field):
    text = f'format = 1\n[data]\npath = "a.csv"\n[data.file_format]\n{table}\n'
    with pytest.raises(PlanError, match=field.replace(".", r"\.")):
        Plan.from_toml(text)


def test_a_data_set_has_no_file_format():
    with pytest.raises(InvalidParameterError, match="must be a FileFormat, and only of a file"):
        DataSource(dataset="causal", file_format=FileFormat())


def test_commands_that_a_report_prints_say_how_the_file_is_written(files):
    """Whoever copies one must read the same rows."""
    typed = "--delimiter semicolon --encoding windows-1252 --decimal comma"

    assert _command_for(files / "semicolons.csv").endswith(typed)
    assert "--delimiter" not in _command_for(files / "plain.csv")


def _command_for(path):
    opened = open_data(path)
    task = ReleaseTask(["sex"], ["laplace"], [1], classify=False)
    plan = Plan(data=opened.source, schema=set_up(opened, ROLES).schema, task=task, repeats=1)
    return run(plan, workers=1, progress=False).next_command(path.name)
