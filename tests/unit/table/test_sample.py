"""Rows drawn in one pass: every set of rows alike, whatever the batches; and what fits is read whole."""

import itertools
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from evenhand.errors import LimitExceededError
from evenhand.privacy.randomness import SeededSource
from evenhand.schema import Column, Domain, Schema
from evenhand.table.limits import Limits
from evenhand.table.sample import read_or_sample, sample_rows

SMALL = Limits(bytes=2_000)


@pytest.fixture
def file(tmp_path):
    table = pa.table({"age": np.arange(1_000), "sex": ["f", "m"] * 500})
    pq.write_table(table, tmp_path / "people.parquet")
    pa.csv.write_csv(table, tmp_path / "people.csv")
    return tmp_path / "people.parquet"


def ages(path, rows, seed=1):
    return sample_rows(path, rows, source=SeededSource(seed))["age"].to_pylist()


def test_rows_are_those_of_a_sample_from_memory(file):
    """One word for each row, the smallest are kept: as a study draws rows of a file that fits."""
    words = SeededSource(1).words(1_000)

    assert ages(file, 50) == sorted(np.argsort(words)[:50].tolist())


@pytest.mark.parametrize("rows", [1, 7, 999, 1_000, 5_000])
def test_the_size_of_batches_changes_nothing(file, rows):
    whole = ages(file, rows)
    folder = file.parent / "parts"
    folder.mkdir()
    for start in range(0, 1_000, 90):
        pq.write_table(pq.read_table(file).slice(start, 90), folder / f"{start:04}.parquet")

    assert len(whole) == min(rows, 1_000)
    assert ages(folder, rows) == whole


@pytest.mark.figures
def test_every_pair_of_rows_is_as_likely(tmp_path):
    """3,000 draws of 2 of 4 rows: each of 6 pairs is drawn about 500 times, within 5 deviations."""
    pq.write_table(pa.table({"age": np.arange(4)}), tmp_path / "few.parquet")
    drawn = Counter(tuple(ages(tmp_path / "few.parquet", 2, seed)) for seed in range(3_000))

    assert set(drawn) == set(itertools.combinations(range(4), 2))
    assert all(abs(count - 500) < 5 * np.sqrt(3_000 * 5 / 36) for count in drawn.values())


@pytest.mark.parametrize("name", ["people.parquet", "people.csv"])
def test_what_fits_is_read_whole_and_what_does_not_is_drawn_from(file, name):
    path, options = file.with_name(name), {"source": SeededSource(1)}

    assert read_or_sample(path, rows=5, limits=Limits(), **options).drawn is None
    few = read_or_sample(path, rows=5, limits=SMALL, **options)
    assert few.drawn == 5
    assert few.frame.num_rows == 5
    assert few.frame["age"].type == pa.int64()
    with pytest.raises(LimitExceededError):
        read_or_sample(path, rows=None, limits=SMALL, **options)


def test_folders_are_read_whole_or_drawn_from(file):
    file.with_name("people.csv").unlink()
    options = {"source": SeededSource(1), "schema": Schema([Column("age", Domain.integers(0, 999))])}

    assert read_or_sample(file.parent, rows=5, limits=Limits(), **options).frame.num_rows == 1_000
    drawn = read_or_sample(file.parent, rows=5, limits=SMALL, **options)
    assert drawn.frame.column_names == ["age"]
    assert drawn.drawn == 5


def test_other_limits_still_hold(tmp_path):
    (tmp_path / "long.csv").write_text("a\n" + "x" * 70_000 + "\n")

    with pytest.raises(LimitExceededError, match="is longer than 65,536"):
        read_or_sample(tmp_path / "long.csv", rows=5, limits=Limits(), source=SeededSource(1))
