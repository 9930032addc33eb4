"""The one door to the data sets."""

import dataclasses
import pathlib
import re

import numpy as np
import pytest

import evenhand.datasets as package
from evenhand.datasets import DATASETS, describe, load, names, registry
from evenhand.datasets.entry import Cleaned
from evenhand.errors import (
    ChecksumError,
    DataSetNotFoundError,
    InvalidParameterError,
    MissingExtraError,
    UnknownNameError,
)

BUILT_IN = ("causal", "counties", "school_districts")
PROMISED = {
    "acs_coverage", "adult", "causal", "compas", "counties", "credit_default", "lsac", "nist_excerpts",
    "school_districts", "section203", "title1",
}  # fmt: skip


def test_every_promised_data_set_has_a_name_and_a_file():
    folder = pathlib.Path(package.__file__).parent

    assert set(names()) == PROMISED
    assert list(names()) == sorted(names())
    assert [name for name in names() if not (folder / "entries" / f"{name}.py").is_file()] == []


@pytest.mark.parametrize("name", sorted(PROMISED))
def test_a_description_is_complete_without_touching_a_file(name, nowhere, monkeypatch):
    monkeypatch.setattr(pathlib.Path, "is_file", lambda _: pytest.fail("a file was looked for"))
    told = describe(name)

    assert told.title == DATASETS[name]
    assert told.about.endswith(".")
    assert told.citation
    assert told.built_in == (name in BUILT_IN)
    assert (told.files == ()) == (name in {"counties", "school_districts"})
    assert all(each.endswith(".") for each in told.departures)
    assert all(option.meaning.endswith(".") for option in told.options)
    for option in told.options:
        assert option.check(option.default, owner="test") == option.default
    assert str(told).startswith(f"{name}: {told.title}\n")


@pytest.mark.parametrize("name", sorted(PROMISED))
def test_every_file_is_on_record(name):
    for file in describe(name).files:
        assert re.fullmatch(r"[0-9a-f]{64}", file.sha256)
        assert file.size > 0
        assert file.source
        assert file.licence
        assert file.page.startswith("https://")
        for url in file.download.urls if file.download else ():
            assert url.startswith("https://")
            assert " " not in url


def test_stems_and_checksums_are_not_shared():
    files = {file for name in names() for file in describe(name).files}

    assert len({file.stem for file in files}) == len(files)
    assert len({file.sha256 for file in files}) == len(files)


@pytest.mark.parametrize("name", ["adlt", "", None, 3, ["adult"]])
def test_an_unknown_name_is_refused_with_the_known_ones(name):
    with pytest.raises(UnknownNameError) as caught:
        load(name)

    assert "There are: acs_coverage, adult, causal" in str(caught.value)


def test_a_slip_in_a_name_gets_a_guess():
    with pytest.raises(UnknownNameError, match="did you mean 'school_districts'"):
        describe("school_district")


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_data_needs_no_file_and_no_network(name, nowhere, monkeypatch):
    """The tour of the product runs on these on a machine that has never seen a data file."""
    monkeypatch.setattr(registry.Reader, "content", lambda *_: pytest.fail("a file was asked for"))
    loaded = load(name, n=50, download=False)

    assert loaded.provenance.synthetic is True
    assert loaded.provenance.files == ()
    assert loaded.provenance.url == ""
    assert loaded.provenance.licence == "Apache-2.0, as evenhand"
    assert len(loaded.frame) == 50
    assert "Synthetic" in loaded.note
    assert not nowhere.exists()


@pytest.mark.parametrize(
    ("backend", "module"), [("pandas", "pandas"), ("polars", "polars"), ("pyarrow", "pyarrow")]
)
def test_the_frame_is_of_the_library_asked_for(backend, module):
    assert type(load("counties", n=20, backend=backend).frame).__module__.split(".")[0] == module


def test_an_unknown_library_is_refused():
    with pytest.raises(InvalidParameterError, match="must be one of 'pandas', 'polars', 'pyarrow'"):
        load("counties", n=20, backend="spark")


@pytest.mark.parametrize("settings", [{"folder": 3}, {"folder": b"x"}, {"download": "no"}, {"download": 0}])
def test_a_setting_of_the_wrong_type_is_refused(settings):
    """A text such as "no" is true, and would have downloaded."""
    with pytest.raises(
        InvalidParameterError, match=f"The '{next(iter(settings))}' parameter of load must be"
    ):
        load("counties", n=20, **settings)


def test_settings_and_options_may_be_scalars_of_numpy(nowhere):
    loaded = load("causal", n=np.int64(50), quantile=np.float64(0.25), download=np.bool_(0))

    assert loaded.options["quantile"] == 0.25
    assert len(loaded.frame) == 50
    with pytest.raises(DataSetNotFoundError, match="switched off"):
        load("adult", threshold=np.int64(10_000), download=np.bool_(0))


def test_a_missing_library_says_how_to_get_it(monkeypatch):
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "polars" else found(name))
    with pytest.raises(MissingExtraError, match="pip install polars"):
        load("counties", n=20, backend="polars")


def test_a_data_set_says_what_it_is():
    loaded = load("causal", n=40, seed=3)

    assert repr(loaded).splitlines() == [
        "DataSet 'causal': 40 rows, 4 columns, synthetic",
        "  target Y = 1; protected A, privileged 1; sensitive C, A, M",
        (
            "  options: mediator='as_in_data', n=40, privileged_group=1, quantile=0.5, seed=3, "
            "version='generated'"
        ),
        "  source: evenhand, made by a seeded generator",
    ]
    assert repr(load("school_districts", n=40)).splitlines()[1] == "  options: n=40, seed=0"


def test_a_data_set_cannot_be_changed():
    loaded = load("causal", n=40)

    with pytest.raises(dataclasses.FrozenInstanceError):
        loaded.name = "other"
    with pytest.raises(TypeError):
        loaded.options["seed"] = 1


def test_a_provenance_reads_as_lines():
    lines = str(load("counties", n=40).provenance).splitlines()

    assert lines[0] == "source: evenhand, made by a seeded generator"
    assert any(line.startswith("cleaning: ") for line in lines)


def test_a_wrong_number_of_rows_is_an_error(monkeypatch):
    """A change in a cleaning step must not slip through."""
    entry = registry._entry("counties")

    def one_row_short(read, options):
        cleaned = entry.build(read, options)
        return Cleaned(
            columns=cleaned.columns, schema=cleaned.schema, rows=cleaned.rows - 1, cleaning=cleaned.cleaning
        )

    monkeypatch.setattr(registry, "_entry", lambda _: dataclasses.replace(entry, build=one_row_short))
    with pytest.raises(ChecksumError, match="has 40 rows after cleaning; 39 are on record"):
        load("counties", n=40)
