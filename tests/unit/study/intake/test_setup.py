"""From opened data and a few words to a schema and a plan."""

import csv
from dataclasses import replace

import pyarrow as pa
import pytest

from evenhand.errors import ColumnNotFoundError, SchemaError, UnknownNameError, UnreadableFileError
from evenhand.schema import Domain, Schema
from evenhand.study.intake.opening import Opened, open_data, open_plan
from evenhand.study.intake.setup import (
    RoleOptions,
    Setup,
    missing_roles,
    set_up,
    value_of,
)
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.run.prepare import prepare
from evenhand.study.tasks.collect.task import CollectTask

ALL = RoleOptions(target="ok", positive="yes", protected="sex", privileged="m", sensitive=("sex", "age"))


def opened(schema=None, **columns):
    rows = {"sex": ["m", "f"] * 60, "age": list(range(20, 80)) * 2, "ok": ["yes", "no", "yes"] * 40}
    return Opened(DataSource(path="people.csv"), pa.table(rows | columns), schema)


def test_a_schema_is_drafted_with_its_roles():
    made = set_up(opened(), ALL)

    assert made.inferred
    assert made.schema.roles.sensitive == ("sex", "age")
    assert made.schema["age"].domain == Domain.binned(range(20, 81, 10))
    assert made.left_out == {}


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (list(range(120)), "numbers the rows, as identifiers do"),
        ([f"name {row}" for row in range(120)], "holds too many different texts, as names and free text do"),
        (
            [f"name {row % 61}" for row in range(120)],
            "holds too many different texts, as names and free text do",
        ),
        (["x"] * 120, "holds one value only"),
        ([None] * 120, "holds no value"),
        (pa.array([0] * 120, pa.timestamp("s")), "holds one value only"),
        (pa.array(range(120), pa.timestamp("s")), "holds dates; band them: --band more=10y"),
        ([float("inf"), float("nan")] * 60, "holds no number"),
        ([-(2**63), 2**63 - 1, 0] * 40, "holds whole numbers that are too large"),
        (pa.array([b"x", b"y"] * 60), "is of type Binary, for which no domain can be read"),
    ],
)
def test_a_column_that_cannot_be_a_feature_is_left_out_with_its_reason(values, why):
    made = set_up(opened(more=values), ALL)

    assert dict(made.left_out) == {"more": why}
    assert "more" not in made.schema


@pytest.mark.parametrize(
    ("values", "part", "domain"),
    [
        ([0.0, 1.0] * 60, "clear", Domain.categorical([0, 1], ordered=True)),
        ([1, 2, 3] * 40, "clear", Domain.categorical([1, 2, 3], ordered=True)),
        (list(range(0, 1_200_000, 10_000)), "clear", Domain.integers(0, 1_190_000)),
        ([True, None] * 60, "clear", Domain.categorical([False, True])),
        ([row / 7 for row in range(120)], "sensitive", Domain.binned(range(0, 19, 2))),
        (list(range(0, 1_200, 10)), "sensitive", Domain.binned(range(0, 1_201, 200))),
    ],
)
def test_a_domain_fits_what_the_column_is_for(values, part, domain):
    words = RoleOptions(sensitive=("more",)) if part == "sensitive" else RoleOptions()
    made = set_up(opened(more=values), words)

    assert made.schema["more"].domain == domain


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.int8(), pa.decimal128(21, 2)])
def test_numbers_of_every_type_can_be_used(kind):
    people = opened(more=pa.array([row % 60 for row in range(120)]).cast(kind))
    made = set_up(people, ALL)

    assert prepare(Plan(data=people.source, schema=made.schema), frame=people.frame).facts.rows == 120


def test_a_library_that_cannot_compare_leaves_the_column_out(monkeypatch):
    """Its message might show a value."""

    def fail(*_):
        raise RuntimeError("private 4711")

    monkeypatch.setattr("evenhand.schema.infer.round_edges", fail)
    made = set_up(opened(more=[row / 7 for row in range(120)]), replace(ALL, sensitive=("sex",)))

    assert dict(made.left_out) == {"more": "holds values that cannot be compared"}


def test_numbers_in_the_clear_get_bins_where_each_value_would_be_a_feature():
    made = set_up(opened(more=list(range(0, 1_200_000, 10_000))), ALL, bins_only=True)

    assert made.schema["more"].domain.kind == "binned"
    assert made.schema["more"].size <= 50


def test_missing_values_have_a_rule_that_is_said():
    people = opened(
        ok=["yes", "no", None] * 40,
        note=["a", None, "b"] * 40,
        number=[0.5, float("nan"), float("inf"), 2.25] * 30,
    )
    made = set_up(people, ALL)

    assert made.schema["ok"].nulls == "drop"
    assert (made.schema["note"].nulls, made.schema["number"].nulls) == ("other", "other")
    assert made.schema["number"].outside == "other"
    assert made.notes == (
        "Missing values of 'note' and 'number' count as a value of their own, 'other'.",
        "People whose 'ok' is missing are left out.",
        "Numbers of 'age' are put into bins.",
    )
    assert prepare(Plan(data=people.source, schema=made.schema), frame=people.frame).facts.rows == 80


def test_many_missing_columns_are_said_in_few_words():
    made = set_up(opened(**{f"c{at}": ["a", None, "b"] * 40 for at in range(8)}), ALL)

    assert "'c4' and 3 more count" in made.notes[0]


def test_bins_of_a_role_are_said():
    made = set_up(opened(age=[row / 7 for row in range(120)]), ALL)

    assert made.notes == ("Numbers of 'age' are put into bins.",)


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"target": "okay"}, ColumnNotFoundError, "did you mean 'ok'"),
        ({"sensitive": ("sexx",)}, ColumnNotFoundError, "did you mean 'sex'"),
        ({"drop": ("sexx",)}, ColumnNotFoundError, "is not in the data"),
        ({"drop": ("sex",)}, SchemaError, "has a role and is to be left out too"),
        ({"positive": "YES!"}, SchemaError, "The value given for 'positive' is not one of column 'ok'"),
        ({"privileged": "men"}, SchemaError, "The value given for 'privileged'"),
        ({"protected": "same"}, SchemaError, "'same' is needed (protected) and cannot be used: it holds one"),
    ],
)
def test_words_that_do_not_fit_are_refused_without_a_value_of_the_rows(changes, error, said):
    given = RoleOptions(**{**vars(ALL), **changes})
    with pytest.raises(error) as refused:
        set_up(opened(same=["secret"] * 120), given)

    assert said in str(refused.value)
    assert "secret" not in str(refused.value)


def test_a_file_without_two_columns_is_refused():
    lonely = Opened(DataSource(path="x.csv"), pa.table({"a": [1, 2], "b": [1, 1]}))
    with pytest.raises(SchemaError, match="Fewer than two columns"):
        set_up(lonely, RoleOptions())


def test_blanks_around_names_and_values_do_not_count():
    made = set_up(
        Opened(DataSource(path="x.csv"), pa.table({" sex": [" m", " f"] * 60, "ok ": ["yes", "no"] * 60})),
        RoleOptions(target="ok", positive="yes", protected="sex", privileged="m", sensitive=("sex",)),
    )

    assert made.schema.protected == " sex"
    assert made.schema.privileged == " m"
    assert made.notes == ("'m' was taken as ' m' of column ' sex'.",)


def test_a_declared_schema_is_used_as_it_is():
    declared = Schema.from_toml(set_up(opened(), ALL).schema.to_toml())
    made = set_up(opened(declared), RoleOptions(sensitive=("age",), drop=()))

    assert not made.inferred
    assert made.schema.sensitive == ("age",)
    assert made.schema.target == "ok"
    assert "age" not in set_up(opened(declared), RoleOptions(sensitive=("sex",), drop=("age",))).schema


def test_missing_roles_are_those_nobody_gives():
    assert missing_roles(RoleOptions(target="ok"), opened()) == (
        "positive",
        "protected",
        "privileged",
        "sensitive",
    )
    assert missing_roles(RoleOptions(), opened(set_up(opened(), ALL).schema)) == ()


@pytest.mark.parametrize(
    ("domain", "text", "value"),
    [
        (Domain.categorical(["a", "A "]), "a", "a"),
        (Domain.categorical(["a", "A "]), "A", "A "),
        (Domain.categorical(["a ", " a"]), "a", None),
        (Domain.categorical([0, 1]), "1", 1),
        (Domain.categorical([0, 1]), "1.0", 1),
        (Domain.categorical(["0", "1"]), "1.0", None),
        (Domain.categorical([0.0, 0.5]), ".5", 0.5),
        (Domain.categorical([False, True]), "true", True),
        (Domain.categorical(["true", "false"]), "True", None),
        (Domain.integers(17, 90), "18", 18),
        (Domain.integers(17, 90), "12", None),
        (Domain.integers(17, 90), "many", None),
        (Domain.integers(17, 90), "1e300", None),
        (Domain.binned([0, 10, 20]), "[0, 10)", "[0, 10)"),
        (Domain.binned([0, 10, 20]), "5", None),
    ],
)
def test_a_text_is_taken_for_the_value_that_a_person_means(domain, text, value):
    found = value_of(domain, text)

    assert found == value
    assert type(found) is type(value)


# --- opening --------------------------------------------------------------------------------------


def test_a_file_is_read_and_known_by_its_whole_path(tmp_path, monkeypatch):
    """A plan that is kept in another folder must still find its data."""
    (tmp_path / "p.csv").write_text("a,b\n1,x\n")
    monkeypatch.chdir(tmp_path)
    found = open_data("p.csv")

    assert found.source.path == str(tmp_path / "p.csv")
    assert (found.rows, found.names, found.schema) == (1, ("a", "b"), None)
    assert repr(found) == "Opened(p.csv: a, b)"


def test_a_file_goes_before_a_data_set_of_the_same_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "causal").write_text("a,b\n1,x\n")
    with pytest.raises(Exception, match="its name must end with"):
        open_data("causal")

    assert open_data("counties", options={"n": 10}).rows == 10


def test_what_is_neither_is_refused(tmp_path):
    with pytest.raises(UnknownNameError, match="did you mean 'adult'"):
        open_data("adlt")
    with pytest.raises(UnreadableFileError, match="there is no such file"):
        open_data(tmp_path / "adlt.csv")


def test_a_file_read_with_its_drafted_schema_gives_the_same_codes(tmp_path):
    """A study is resumed with the schema that its first run drafted; other codes would be other data."""
    path = tmp_path / "odd.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(["sex", "code", "town", "pay", "ok"])
        for row in range(240):
            town = ['Aix, en "Provence"', "", " Lyon", "N/A"][row % 4]
            lines.writerow(["m" if row % 2 else "f", f"0{row % 3}", town, [1.5, "", 2e3, row / 7][row % 4],
                            ["1", "0", ""][row % 3]])  # fmt: skip
    words = RoleOptions(target="ok", positive="1", protected="sex", privileged="m", sensitive=("sex", "town"))
    first = open_data(path)
    plan = Plan(data=first.source, schema=set_up(first, words).schema)

    straight = prepare(plan, frame=first.frame)
    again = prepare(plan, frame=open_data(path, schema=plan.schema).frame)
    alone = prepare(plan)
    assert straight.facts.fingerprint == again.facts.fingerprint == alone.facts.fingerprint


def test_a_setup_says_in_sentences_what_a_reader_should_know():
    many = {f"c{number}": "is free text" for number in range(8)}
    said = Setup(set_up(opened(), ALL).schema, inferred=True, left_out=many, notes=("A note.",)).sentences

    assert "leak" in said[0]
    assert said[1].startswith("Columns left out: 'c0' is free text; ")
    assert said[1].endswith("; and 2 more.")
    assert said[2:] == ("A note.",)
    assert Setup(set_up(opened(), ALL).schema).sentences == ()


def test_options_of_a_plan_are_those_of_its_own_data_set():
    """Another data set would be cut, or refused for an option that nobody gave it."""
    own = open_data("causal", options={"n": 1000})
    plan = Plan(data=own.source, schema=own.schema, task=CollectTask(epsilons=["1"]))

    assert open_plan(plan, data="causal")[1].rows == 1000
    assert open_plan(plan, data="counties")[1].source.options == {}
