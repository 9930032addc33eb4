"""Files of reports and saved sums of them, counted together."""

import json

import numpy as np
import pytest

from evenhand.collect import GRR, Aggregate
from evenhand.engine import count_file, estimate_file
from evenhand.errors import ColumnNotFoundError, GuaranteeError, InvalidParameterError, UnreadableFileError
from evenhand.schema import Column, Domain, Schema
from unit.engine._keeping import privatize_all
from unit.engine._streams import SCHEMA, people, write

ALLOWED = {"simulated": "allow"}


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Return a folder of three files of reports, each with what stands beside it."""
    folder = tmp_path_factory.mktemp("parts")
    for place, ending in enumerate(("parquet", "csv", "parquet")):
        data = write(people(300 + place, seed=place), folder.parent / f"people-{place}.{ending}")
        privatize_all(data, folder / f"{place}.{ending}", schema=SCHEMA, epsilon=3, simulate=place)
    return folder


def numbers(estimates):
    return {name: (shares.n, shares.values.tobytes()) for name, shares in estimates.shares.items()}


def test_a_folder_is_estimated_as_the_sum_of_its_files(parts, tmp_path):
    """If this is false, reports in two files say something else than in one."""
    whole = estimate_file(parts, by="hired", positive="yes", **ALLOWED)
    for file in sorted(parts.glob("?.*")):
        if file.suffix in {".csv", ".parquet"}:
            count_file(file, by="hired", positive="yes", **ALLOWED).save(tmp_path / f"{file.stem}.json")

    from_sums = estimate_file(tmp_path, by="hired", **ALLOWED)
    by_pattern = estimate_file(str(parts / "[0-2].*t"), **ALLOWED)  # the two Parquet files

    assert whole.rows == 903
    assert whole.record.rows == 903
    assert numbers(from_sums) == numbers(whole)
    assert from_sums.record is None
    assert from_sums.labels("race") == whole.labels("race")
    assert by_pattern.rows == 602
    for name, rates in whole.rates.items():
        again = from_sums.rates[name].rates
        assert str([rates.rates[label] for label in rates.labels]) == str([again[label] for label in again])
        assert from_sums.rates[name].privileged == rates.privileged


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_the_number_of_threads_changes_nothing(parts, workers):
    one = estimate_file(parts, **ALLOWED, workers=1)

    assert numbers(estimate_file(parts, **ALLOWED, workers=workers, batch_rows=50)) == numbers(one)


def test_the_same_file_is_not_counted_twice(parts, tmp_path):
    """If this is false, a copy in the folder doubles its people."""
    count_file(parts / "0.parquet", **ALLOWED).save(tmp_path / "a.json")
    count_file(parts / "0.parquet", **ALLOWED).save(tmp_path / "b.parquet")

    with pytest.raises(UnreadableFileError, match=r"b.parquet was not read: .*each part is merged once"):
        estimate_file(tmp_path, **ALLOWED)


def test_files_that_do_not_belong_together_are_refused(parts, tmp_path):
    count_file(parts / "0.parquet", **ALLOWED).save(tmp_path / "a.json")
    data = write(people(80), tmp_path / "people.csv.txt")
    privatize_all(
        data,
        tmp_path / "b.csv",
        schema=SCHEMA,
        epsilon=2,
        simulate=1,
        file_format=None,
        columns=["race", "age"],
    )
    data.unlink()

    with pytest.raises(UnreadableFileError, match="the same protocols"):
        estimate_file(tmp_path, **ALLOWED)
    with pytest.raises(GuaranteeError, match="simulated reports"):
        estimate_file(tmp_path)
    with pytest.raises(InvalidParameterError, match="left out where several"):
        estimate_file(tmp_path, schema=tmp_path / "b.csv.schema.toml", **ALLOWED)


def test_what_was_not_counted_cannot_be_asked_of_a_sum(parts, tmp_path):
    count_file(parts / "0.parquet", by="hired", positive="yes", **ALLOWED).save(tmp_path / "a.json")

    with pytest.raises(UnreadableFileError, match="not counted by this outcome"):
        estimate_file(tmp_path / "a.json", by="wage", **ALLOWED)
    with pytest.raises(UnreadableFileError, match="another value"):
        estimate_file(tmp_path / "a.json", by="hired", positive="no", **ALLOWED)
    with pytest.raises(ColumnNotFoundError, match="among those counted"):
        estimate_file(tmp_path / "a.json", columns=["hired"], **ALLOWED)
    assert list(estimate_file(tmp_path / "a.json", columns="race", **ALLOWED).shares) == ["race"]


def test_sums_without_a_schema_have_codes_for_labels(tmp_path):
    reports = GRR(3, 1).privatize(np.arange(90) % 3, rng=1)
    Aggregate.of(reports, outcome=np.arange(90) % 2).save(tmp_path / "a.json")

    estimates = estimate_file(tmp_path / "a.json", **ALLOWED)

    assert list(estimates.labels("")) == ["0", "1", "2"]
    assert estimates.rates[""].labels == ("0", "1", "2")
    assert estimates.shares[""].values.tobytes() == GRR(3, 1).estimate(reports).values.tobytes()


def test_a_folder_of_side_files_alone_is_refused(parts, tmp_path):
    (tmp_path / "x.csv.guarantee.json").write_text(json.dumps({}))

    with pytest.raises(UnreadableFileError, match="no file of it has reports"):
        estimate_file(tmp_path)
    assert isinstance(SCHEMA, Schema)


UNDECLARED = Schema([Column("sex", Domain.categorical(["f", "m"]))], sensitive="sex")


@pytest.fixture
def unequal(tmp_path):
    """Return a folder of two files of reports; nobody in the second one was hired."""
    (tmp_path / "people").mkdir()
    for name, hired in (("a", "yes"), ("b", "no")):
        rows = "".join(f"{sex},{outcome}\n" for sex in "fm" for outcome in ["no", hired] * 40)
        (tmp_path / "people" / f"{name}.csv").write_text(f"sex,hired\n{rows}", encoding="utf-8")
    privatize_all(tmp_path / "people", tmp_path / "reports", schema=UNDECLARED, epsilon=4)
    return tmp_path / "reports"


def test_an_outcome_that_one_file_of_several_has_is_counted(unequal):
    """A small office in which nobody was hired would keep all others from being estimated."""
    rates = estimate_file(unequal, by="hired", positive="yes").rates["sex"]

    assert rates.counts.people.tolist() == [240, 80]


def test_an_outcome_that_no_file_of_several_has_is_refused(unequal):
    with pytest.raises(InvalidParameterError, match="must be a value of column 'hired'"):
        estimate_file(unequal, by="hired", positive="Yes")
