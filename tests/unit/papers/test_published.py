"""Published runs are found where data sets are, packed or plain, or not at all."""

import gzip

import numpy as np
import pytest

from evenhand.papers.published import Published, read_published_columns
from evenhand.study.plan.cells import Setting

TABLE = b"name,score\na,0.5\nb,\n"


@pytest.mark.parametrize(("end", "pack"), [(".csv", bytes), (".csv.gz", gzip.compress)])
def test_a_table_is_read_packed_or_plain(end, pack, monkeypatch, tmp_path):
    """People keep it either way."""
    (tmp_path / f"runs{end}").write_bytes(pack(TABLE))
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    found = read_published_columns("runs", numbers=("score",))

    assert found["name"].tolist() == ["a", "b"]
    np.testing.assert_array_equal(found["score"], [0.5, np.nan])


def test_without_the_file_there_is_none(monkeypatch, tmp_path):
    """The tables of others are not part of evenhand."""
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))

    assert read_published_columns("runs", numbers=()) is None


def test_a_spread_needs_two_runs():
    """The deviation of one number is not zero, it is unknown."""
    key = ("adult", Setting().id)
    runs = {(*key, "acc"): np.array([0.5, np.nan]), (*key, "di"): np.array([0.25, 0.75])}
    known = Published(runs, same_seeds=True)

    assert known.spread("adult", Setting(), "acc") is None
    assert known.spread("adult", Setting(), "di") == pytest.approx(0.5 / np.sqrt(2))
    assert known.runs("lsac", Setting(), "acc") is None


def test_the_mean_of_published_runs_leaves_out_what_was_not_published():
    """Nineteen seeds have a mean, none have no mean."""
    runs = {
        ("a", Setting().id, "acc"): np.array([0.5, np.nan, 0.7]),
        ("a", Setting().id, "f1"): np.full(3, np.nan),
    }
    published = Published(runs, same_seeds=True)

    assert published.mean("a", Setting(), "acc") == pytest.approx(0.6)
    assert published.mean("a", Setting(), "f1") is None
    assert published.mean("b", Setting(), "acc") is None
