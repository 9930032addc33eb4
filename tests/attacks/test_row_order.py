"""An attacker who guesses how the input was sorted, and one who reads its order from another column."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
from scipy.stats import hypergeom

from evenhand.collect import GRR, Reports
from evenhand.engine import shuffle
from evenhand.engine.privatize import privatize_file
from evenhand.schema import Column, Domain, Schema
from statistical._exact import ALPHA

SCHEMA = Schema([Column("race", Domain.categorical(["white", "black"]))], sensitive="race")
EACH = 4_000
EPSILON = "1/2"
WINDOW = 201


def _write_sorted(path, **beside):
    table = pa.table({"race": ["white"] * EACH + ["black"] * EACH, **beside})
    (pq.write_table if path.name.endswith("parquet") else arrow_csv.write_csv)(table, path)
    return path


def _read_codes(path):
    if path.name.endswith("parquet"):
        return pq.read_table(path)["race"].to_numpy().astype(np.int64)
    said = arrow_csv.read_csv(path)["race"].to_pylist()
    return np.array([("white", "black").index(label) for label in said])


def _name_by_neighbours(codes):
    """Guess everybody's value from the reports around theirs: right if neighbours in the file are alike."""
    padded = np.pad(2 * codes - 1, WINDOW // 2)
    return (np.convolve(padded, np.ones(WINDOW), "valid") > 0).astype(np.int64)


def _count_named(codes):
    """Return how many values the attacker names who takes the file for sorted as the input was."""
    truth = np.repeat([0, 1], EACH)
    return int((_name_by_neighbours(codes) == truth).sum())


def _hides_the_order(codes):
    """Whether the first half of the file has as many reports of each kind as a random half of all has.

    In a uniform order the number of ones among the first half is hypergeometric, whatever the reports are.
    In the order of the input it is the sum of the reports of the white people alone.
    """
    law = hypergeom(2 * EACH, int(codes.sum()), EACH)
    ones = int(codes[:EACH].sum())
    return 2 * min(law.cdf(ones), law.sf(ones - 1)) > ALPHA


@pytest.mark.parametrize("name", ["o.csv", "o.csv.gz", "o.parquet"])
@pytest.mark.parametrize("batch_rows", [100, 100_000])
def test_a_file_sorted_by_the_sensitive_column_does_not_show_it(tmp_path, name, batch_rows):
    """Epsilon is promised for a report; in the order of the input a thousand of them answer one question."""
    people = _write_sorted(tmp_path / "people.csv")
    privatize_file(people, tmp_path / name, schema=SCHEMA, epsilon=EPSILON, keep=(), batch_rows=batch_rows)

    assert _hides_the_order(_read_codes(tmp_path / name))


@pytest.mark.parametrize("name", ["o.csv", "o.parquet"])
def test_a_file_that_is_shuffled_through_the_disk_does_not_show_it(tmp_path, name, monkeypatch):
    monkeypatch.setattr(shuffle, "MOST_ROWS", 150)
    monkeypatch.setattr(shuffle, "BUCKETS", 5)
    people = _write_sorted(tmp_path / "people.parquet")
    privatize_file(people, tmp_path / name, schema=SCHEMA, epsilon=EPSILON, keep=(), batch_rows=64)

    assert _hides_the_order(_read_codes(tmp_path / name))


@pytest.mark.parametrize("name", ["o.csv", "o.csv.gz", "o.parquet"])
def test_the_attack_names_nine_of_ten_where_the_order_is_kept(tmp_path, name):
    """The twin: what the attacker does works, and the guarantee says why."""
    people = _write_sorted(tmp_path / "people.csv")
    made = privatize_file(people, tmp_path / name, schema=SCHEMA, epsilon=EPSILON, keep=(), keep_order=True)
    codes = _read_codes(tmp_path / name)

    assert _count_named(codes) >= 0.9 * 2 * EACH
    assert not _hides_the_order(codes)
    assert made.guarantee.in_clear == ("row order",)


def test_the_attack_succeeds_where_only_blocks_are_permuted(tmp_path):
    """The twin: with ten blocks in a random order the majority of each names nine of ten."""
    people = _write_sorted(tmp_path / "people.csv")
    privatize_file(
        people, tmp_path / "o.parquet", schema=SCHEMA, epsilon=EPSILON, keep=(), keep_order=True, simulate=7
    )
    order = np.random.default_rng(7).permutation(10)
    codes = _read_codes(tmp_path / "o.parquet").reshape(10, -1)[order]
    truth = np.repeat([0, 1], EACH).reshape(10, -1)[order]
    named = int(((codes.mean(axis=1) > 0.5)[:, None] == truth).sum())

    assert named >= 0.9 * 2 * EACH


@pytest.mark.parametrize("keep_order", [False, True])
def test_reports_written_from_memory_are_shuffled_too(tmp_path, keep_order):
    reports = GRR(k=2, epsilon=EPSILON).privatize(np.repeat([0, 1], EACH))
    reports.write_parquet(tmp_path / "reports.parquet", keep_order=keep_order)
    in_file = Reports.read_parquet(tmp_path / "reports.parquet").values.astype(np.int64)
    in_text = Reports.from_json(reports.to_json(keep_order=keep_order)).values.astype(np.int64)

    for codes in (in_file, in_text):
        assert _hides_the_order(codes) is not keep_order


def test_a_column_that_follows_the_order_gives_it_back_and_the_guarantee_says_so(tmp_path):
    """Shuffling helps nobody whose file numbers its rows: the attacker sorts them again."""
    people = _write_sorted(tmp_path / "people.csv", id=list(range(2 * EACH)))
    how = {"epsilon": EPSILON, "keep": ["id"], "linkable": True}
    made = privatize_file(people, tmp_path / "o.csv", schema=SCHEMA, **how)
    told = arrow_csv.read_csv(tmp_path / "o.csv")
    codes = _read_codes(tmp_path / "o.csv")[np.argsort(told["id"].to_numpy())]

    assert _count_named(codes) >= 0.9 * 2 * EACH
    links = "linkable rows (100 % are unique on these columns)"
    assert made.guarantee.in_clear == ("id", links, "row order (id gives it back)")
    assert made.record.in_clear == made.guarantee.in_clear
