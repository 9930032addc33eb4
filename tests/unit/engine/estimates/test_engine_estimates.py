"""Estimates from a file are those from its reports at once, and a file that does not fit is refused."""

import json
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.collect.estimates.group_rates import group_rates
from evenhand.collect.reports.reports import Reports
from evenhand.engine.estimates import estimate_file
from evenhand.errors import (
    ColumnNotFoundError,
    GuaranteeError,
    IndependenceWarning,
    InvalidParameterError,
    LimitExceededError,
    OutsideDomainError,
    SchemaError,
    UnreadableFileError,
)
from evenhand.schema import Column, Domain, Schema
from unit.engine._keeping import privatize_all
from unit.engine._streams import SCHEMA, people, write

ROWS = 4_000
PEOPLE = people(ROWS)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return files of reports by all forms, drawn with a seed."""
    folder = tmp_path_factory.mktemp("made")
    source = write(PEOPLE, folder / "people.parquet")
    how = {"schema": SCHEMA, "epsilon": 4, "protocol": {"race": "grr", "age": "oue"}, "simulate": 3}
    return {
        form: privatize_all(source, folder / f"reports.{form}", **how).places.out
        for form in ("csv", "parquet")
    }


@pytest.fixture
def collected(tmp_path):
    """Return a file of reports that nobody simulated."""
    source = write(PEOPLE, tmp_path / "people.parquet")
    return privatize_all(source, tmp_path / "reports.parquet", schema=SCHEMA, epsilon=4).places.out


def _estimated(path, **how):
    return estimate_file(path, simulated="allow", **how)


def _copied(path, folder):
    for each in path.parent.glob(f"{path.name}*"):
        (folder / each.name).write_bytes(each.read_bytes())
    return folder / path.name


# --- the numbers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_rows", [500, 100_000])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_counts_of_batches_are_the_counts_of_all(made, form, batch_rows):
    """The slow twin: all reports in memory, estimated and set against the outcome at once."""
    table = pq.read_table(made["parquet"])
    found = _estimated(made[form], by="hired", batch_rows=batch_rows)
    for name in ("race", "age"):
        protocol = found.record.strategy.protocols[name]
        reports = Reports.from_arrow(table[name].combine_chunks(), protocol)
        rates = group_rates(
            table["hired"].to_pylist(), reports, positive="yes", labels=list(found.labels(name))
        )

        assert np.array_equal(found.shares[name].counts, protocol.counts(reports))
        assert np.array_equal(found.rates[name].counts.together, rates.counts.together)
        assert np.array_equal(found.rates[name].counts.people, rates.counts.people)
    assert found.rates["race"].privileged == "white"
    assert found.rates["age"].privileged is None


def test_tables_have_a_row_for_each_value(made):
    found = _estimated(made["csv"], by="hired", level=0.9)
    shares, rates = found.table(), found.rates_table()

    assert shares.num_rows == rates.num_rows == 6 + 20
    assert shares["value"].to_pylist()[:6] == [*SCHEMA["race"].labels]
    assert set(shares["level"].to_pylist()) == {0.9}
    assert sum(shares["consistent_share"].to_pylist()[:6]) == pytest.approx(1)
    assert rates["column"].to_pylist().count("race") == 6


def test_columns_are_chosen_by_name(made):
    assert list(_estimated(made["csv"], columns=["age"]).shares) == ["age"]
    assert list(_estimated(made["csv"], columns="race").shares) == ["race"]
    with pytest.raises(ColumnNotFoundError):
        _estimated(made["csv"], columns=["hired"])


def test_progress_is_told(made):
    seen = []
    _estimated(made["parquet"], batch_rows=1_500, progress=lambda *told: seen.append(told))

    assert [rows for rows, _ in seen] == [1_500, 3_000, ROWS]


# --- outcomes -------------------------------------------------------------------------------------------


def _file(folder, outcomes, form="csv", schema=None):
    """Return reports with the outcomes given in the clear."""
    sex = Column("sex", Domain.categorical(["f", "m"]))
    table = pa.table({"sex": ["f", "m"] * (len(outcomes) // 2), "outcome": outcomes})
    source = write(table, folder / f"in.{form}")
    told = Schema([sex, *(schema or [])], sensitive="sex")
    return privatize_all(source, folder / f"o.{form}", schema=told, epsilon=3, overwrite=True).places.out


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("outcomes", "positive"),
    [
        ([1, 0, 1, 0], None),
        ([True, False, True, False], None),
        ([1.0, 0.0, 1.0, 0.0], None),
        (["yes", "no", "yes", "no"], "yes"),
        (["=yes", "no", "=yes", "=no"], "=yes"),
        ([7, 8, 7, 9], "7"),
    ],
)
def test_an_outcome_without_a_domain_is_read_as_it_stands(tmp_path, form, outcomes, positive):
    found = estimate_file(_file(tmp_path, outcomes, form), by="outcome", positive=positive)

    assert found.rates["sex"].counts.people.tolist() == [2, 2]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_an_outcome_with_a_domain_follows_its_rules(tmp_path, form):
    domain = Domain.categorical(["no", "yes"])
    outcomes = ["yes", "no", "yes", "maybe", None, "yes"]
    left_out = Column("outcome", domain, outside="drop", nulls="drop")
    path = _file(tmp_path, outcomes, form, [left_out])
    found = estimate_file(path, by="outcome", positive="yes")

    assert found.rates["sex"].counts.people.tolist() == [1, 3]
    assert found.shares["sex"].n == 6
    strict = _file(tmp_path, outcomes, form, [Column("outcome", domain)])
    with pytest.raises(OutsideDomainError):
        estimate_file(strict, by="outcome", positive="yes")


def test_an_outcome_of_numbers_with_a_domain_needs_no_positive(tmp_path):
    whole = [Column("outcome", Domain.integers(0, 1))]

    assert estimate_file(_file(tmp_path, [1, 0], schema=whole), by="outcome").rates["sex"].n == 2
    other = [Column("outcome", Domain.integers(0, 2))]
    with pytest.raises(InvalidParameterError, match="unless its values are 0 and 1"):
        estimate_file(_file(tmp_path, [1, 0], schema=other), by="outcome")
    with pytest.raises(InvalidParameterError, match="a value of column 'outcome'"):
        estimate_file(_file(tmp_path, [1, 0], schema=other), by="outcome", positive="7")


@pytest.mark.parametrize("outcomes", [["yes", "no"], [1, 2], [0.5, 1]])
def test_an_outcome_that_is_not_0_and_1_needs_a_positive_value(tmp_path, outcomes):
    with pytest.raises(InvalidParameterError, match="unless its values are 0 and 1"):
        estimate_file(_file(tmp_path, outcomes), by="outcome")


def test_a_positive_value_that_nobody_has_is_refused(tmp_path):
    with pytest.raises(InvalidParameterError, match="a value of column 'outcome'"):
        estimate_file(_file(tmp_path, ["yes", "no"]), by="outcome", positive="Yes")


def test_a_missing_outcome_is_refused(tmp_path):
    with pytest.raises(InvalidParameterError, match="in which some are missing"):
        estimate_file(_file(tmp_path, ["yes", None]), by="outcome", positive="yes")


def test_a_reported_column_is_no_outcome(made):
    with pytest.raises(ColumnNotFoundError, match="among the columns in the clear") as caught:
        _estimated(made["csv"], by="race")
    assert "row order" not in str(caught.value)  # which is in the clear, and no column


def test_a_privileged_group_that_is_none_is_refused(made):
    with pytest.raises(InvalidParameterError, match="'privileged'"):
        _estimated(made["csv"], columns=["race"], by="hired", privileged="green")


def test_too_many_groups_for_rates_are_refused(tmp_path):
    many = Column("sex", Domain.integers(0, 2_000))
    source = write(pa.table({"sex": [1, 2], "hired": [0, 1]}), tmp_path / "in.csv")
    path = privatize_all(
        source, tmp_path / "o.csv", schema=Schema([many], sensitive="sex"), epsilon=1
    ).places.out

    assert len(estimate_file(path).shares["sex"]) == 2_001
    with pytest.raises(LimitExceededError, match="2,001 groups"):
        estimate_file(path, by="hired")


def test_an_outcome_made_from_the_reports_is_warned_of(tmp_path):
    """Predictions of a model that saw the reports have rates that no true groups could have."""
    source = write(pa.table({"sex": ["f", "m"] * 3_000, "outcome": [0] * 6_000}), tmp_path / "in.parquet")
    schema = Schema([Column("sex", Domain.categorical(["f", "m"]))], sensitive="sex")
    path = privatize_all(source, tmp_path / "o.parquet", schema=schema, epsilon="1/2").places.out
    reports = pq.read_table(path)
    said = reports.schema.metadata
    forged = reports.set_column(1, "outcome", reports["sex"].cast(pa.int64())).replace_schema_metadata(said)
    pq.write_table(forged, path, store_schema=False)

    with pytest.warns(IndependenceWarning, match="The rates are wrong"):
        estimate_file(path, by="outcome")


# --- what does not fit ----------------------------------------------------------------------------------


def test_simulated_reports_are_refused_unless_allowed(made):
    with pytest.raises(GuaranteeError, match="simulated"):
        estimate_file(made["csv"])
    with pytest.raises(InvalidParameterError):
        estimate_file(made["csv"], simulated="yes")


def test_files_beside_it_may_stand_elsewhere(collected, tmp_path):
    (tmp_path / "away").mkdir()
    for kind in ("guarantee.json", "schema.toml"):
        (tmp_path / f"reports.parquet.{kind}").rename(tmp_path / "away" / kind)
    with pytest.raises(UnreadableFileError, match=r"reports\.parquet\.guarantee\.json was not read"):
        estimate_file(collected)
    away = {"guarantee": tmp_path / "away" / "guarantee.json", "schema": tmp_path / "away" / "schema.toml"}

    assert estimate_file(collected, **away).shares["race"].n == ROWS
    with pytest.raises(UnreadableFileError):
        estimate_file(collected, guarantee=away["guarantee"])


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_another_schema_is_refused(made, form, tmp_path):
    path = _copied(made[form], tmp_path)
    for low in (-4, -6):  # fewer values, and as many others
        other = SCHEMA.with_columns(Column("age", Domain.integers(low, low + 19 if low < -5 else 14)))
        other.save(f"{path}.schema.toml")

        with pytest.raises(UnreadableFileError, match="is not the schema that its guarantee speaks of"):
            _estimated(path)
    (tmp_path / f"{path.name}.schema.toml").write_text("nonsense")
    with pytest.raises(SchemaError):
        _estimated(path)


def test_a_guarantee_of_another_form_of_file_is_refused(made):
    beside = f"{made['csv']}.guarantee.json"

    with pytest.raises(UnreadableFileError, match="another form"):
        _estimated(made["parquet"], guarantee=beside)


def test_a_guarantee_that_was_changed_is_refused(collected):
    beside = collected.with_name(f"{collected.name}.guarantee.json")
    said = json.loads(beside.read_text())
    beside.write_text(json.dumps(said | {"statement": "We promise everything."}))

    with pytest.raises(UnreadableFileError, match="that of another file, or was changed"):
        estimate_file(collected)


def test_a_file_that_lost_rows_is_refused(made, tmp_path):
    path = _copied(made["csv"], tmp_path)
    text = path.read_text()
    path.write_text(text[: text.rindex(f"-{ROWS - 1},")])

    with pytest.raises(UnreadableFileError, match="the number of reports"):
        _estimated(path)


def test_a_damaged_report_is_refused_without_being_told(made, tmp_path):
    path = _copied(made["csv"], tmp_path)
    path.write_text(path.read_text().replace(",white,", ",S3CRET,", 1))
    told = "its reports of column 'race' are not labels of the schema"

    with pytest.raises(UnreadableFileError, match=told) as caught:
        _estimated(path)
    assert "S3CRET" not in str(caught.value)


def test_counts_by_outcome_are_there_only_if_asked_for(made):
    total = _estimated(made["csv"]).aggregate

    assert total.columns["race"].by_outcome is None
    with pytest.raises(InvalidParameterError, match="counted by an outcome"):
        total.group_rates("race")


def test_reading_warns_of_nothing(tmp_path):
    """Whoever estimates from reports did not choose their epsilon."""
    source = write(PEOPLE.slice(0, 10), tmp_path / "people.parquet")
    with warnings.catch_warnings(action="ignore"):
        path = privatize_all(source, tmp_path / "o.csv", schema=SCHEMA, epsilon=20).places.out

    assert estimate_file(path).shares["race"].n == 10
