"""What was published, and the files it is written to."""

import hashlib
import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from evenhand.errors import GuaranteeError, InvalidParameterError, UnwritableFileError
from evenhand.privacy.randomness import SecureSource, SeededSource
from evenhand.release.mechanisms.noise import Laplace
from evenhand.release.mechanisms.thresholded import ThresholdedLaplace
from evenhand.release.postprocess import Integral, Nonnegative, Shrink, integral
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema

SCHEMA = Schema([Column("tenure", Domain.categorical(["own", "rent", "=free"]))])
TABLE = Histogram.of([120, 14, 0], SCHEMA)
LAPLACE = Laplace(1, unit="replace one")


def test_a_file_says_beside_it_what_it_is(tmp_path):
    path = tmp_path / "table.parquet"
    LAPLACE.release(TABLE, post=[Nonnegative()]).write(path)
    note = json.loads((tmp_path / "table.parquet.json").read_text())

    assert note["format"] == "evenhand release 2"
    assert note["mechanism"] == {"mechanism": "laplace", "epsilon": "1", "unit": "replace one"}
    assert note["guarantee"]["unit"] == "replace one"
    assert note["guarantee_in_words"].startswith("Seeing what is published")
    assert note["postprocessing"] == ["counts below 0 set to 0"]
    assert note["rng"] == "secure"
    assert note["schema_sha256"] == SCHEMA.fingerprint
    assert note["files"] == {"table.parquet": hashlib.sha256(path.read_bytes()).hexdigest()}
    assert (note["ledger_entry"], note["signed_by"]) == (None, None)
    assert set(note["versions"]) == {"evenhand", "numpy", "pyarrow"}


def test_the_note_holds_nothing_of_the_rows(tmp_path):
    """A true count, or how long it took, would be told to every reader."""
    odd = Histogram.of([7_351_946, 0, 0], SCHEMA)
    Laplace("1/1000", unit="replace one").release(odd).write(tmp_path / "table.csv")
    text = (tmp_path / "table.csv.json").read_text()

    assert "7351946" not in text
    assert not [name for name in json.loads(text) if "time" in name or "seconds" in name or "people" in name]


def test_text_that_a_spreadsheet_would_run_is_made_inert(tmp_path):
    LAPLACE.release(TABLE).write(tmp_path / "table.csv")

    assert '"\'=free"' in (tmp_path / "table.csv").read_text()


@pytest.mark.parametrize("name", ["table", "table.xlsx", "table.json", "table.csv.gz"])
def test_another_ending_is_refused(name, tmp_path):
    with pytest.raises(InvalidParameterError, match=r"\.csv or \.parquet"):
        LAPLACE.release(TABLE).write(tmp_path / name)

    assert not list(tmp_path.iterdir())


def test_capital_letters_end_a_name_too(tmp_path):
    LAPLACE.release(TABLE).write(str(tmp_path / "TABLE.CSV"))

    assert sorted(each.name for each in tmp_path.iterdir()) == ["TABLE.CSV", "TABLE.CSV.json"]


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(UnwritableFileError, match="its folder is not there"):
        LAPLACE.release(TABLE).write(tmp_path / "nowhere" / "table.csv")


def test_a_seeded_step_makes_a_release_a_simulation(tmp_path):
    """The note would say that all of its randomness was secure."""
    secure = LAPLACE.release(TABLE)
    rounded = integral(secure, rng=7)

    assert not secure.simulated
    assert rounded.simulated
    with pytest.raises(GuaranteeError, match="drawn with a seed"):
        rounded.write(tmp_path / "table.csv")
    assert not integral(secure).simulated


def test_steps_pass_over_cells_without_a_count():
    """A suppressed cell must not come back as a 0, nor as a share of what makes the table add up."""
    release = ThresholdedLaplace(1, 10).release(TABLE, rng=3)
    after = release.processed([Shrink(5)], source=SeededSource(1))
    hidden = release.suppressed

    assert hidden.tolist() == [False, False, True]
    assert after.values[hidden].tolist() == [0]
    assert after.values[~hidden] == pytest.approx(Shrink(5).apply(release.values[~hidden]))
    assert after.to_frame("pyarrow")["count"].to_pylist()[2] is None
    assert after.postprocessing == (Shrink(5).words,)


def test_a_fill_is_published_in_place_of_a_suppressed_count():
    release = ThresholdedLaplace(1, 10).release(TABLE, rng=3)
    filled = replace(release, fill=5, histogram=TABLE.with_counts([119, 11, 5]))

    assert filled.unpublished is None
    assert filled.to_frame("pyarrow")["count"].to_pylist() == [119, 11, 5]
    assert filled.processed([Nonnegative()], source=SecureSource()).values.tolist() == [119, 11, 5]


def test_fractions_are_published_as_fractions(tmp_path):
    release = LAPLACE.release(TABLE, post=[Shrink(3)])
    release.write(tmp_path / "table.parquet")
    found = pq.read_table(tmp_path / "table.parquet")["count"].to_pylist()

    assert found == release.values.tolist()
    assert release.values.dtype == np.float64
    whole = LAPLACE.release(TABLE, rng=1, post=[Shrink(3), Integral()])
    assert whole.values.dtype == np.int64


def test_a_sparse_table_says_that_missing_cells_are_suppressed(tmp_path):
    wide = Schema([Column(name, Domain.integers(0, 999)) for name in "abc"])
    sparse = Histogram.of_cells([5, 9_000_000], [100, 70], wide)
    release = ThresholdedLaplace(1, 40).release(sparse)
    release.write(tmp_path / "table.parquet")
    note = json.loads((tmp_path / "table.parquet.json").read_text())

    assert (note["cells"], note["cells_without_a_row"]) == (10**9, "suppressed")
    assert pq.read_table(tmp_path / "table.parquet").num_rows == release.values.size


def test_arrays_of_a_release_cannot_be_written_to():
    release = ThresholdedLaplace(1, 10).release(TABLE, rng=3)

    for array in (release.values, release.suppressed):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_marks_of_another_shape_are_refused():
    release = LAPLACE.release(TABLE, rng=1)
    with pytest.raises(InvalidParameterError, match="suppressed"):
        replace(release, suppressed=np.zeros(2, bool))


def test_a_column_called_count_is_refused_in_a_frame():
    odd = Histogram.of([1, 2], Schema([Column("count", Domain.integers(0, 1))]))
    with pytest.raises(InvalidParameterError, match="without a column of the name 'count'"):
        LAPLACE.release(odd, rng=1).to_frame()


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow", None])
def test_a_frame_comes_in_the_library_asked_for(backend):
    frame = LAPLACE.release(TABLE, rng=1).to_frame(backend)

    assert list(frame.columns if backend != "pyarrow" else frame.column_names) == ["tenure", "count"]
    assert (backend or "pandas") in type(frame).__module__
