"""NIST excerpts, against the figures of zhu2023."""

import hashlib
import json

import numpy as np
import pytest

from evenhand.datasets.download.files import Reader
from evenhand.datasets.download.parsing import line_feeds
from evenhand.datasets.entries.nist_excerpts import FILES

AXES = ("PUMA", "RAC1P", "SEX", "OWN_RENT", "INCOME_ABOVE_50000")


@pytest.mark.parametrize(
    ("part", "areas", "cells"), [("ma", 5, 540), ("tx", 6, 648), ("national", 20, 2_160)]
)
def test_the_histogram_has_the_cells_of_zhu2023(part, areas, cells, real):
    """108 cells in each area, empty ones included."""
    schema = real("nist_excerpts", part=part, histogram=True).schema

    assert schema["PUMA"].size == areas
    assert np.prod([schema[name].size for name in AXES]) == cells
    assert schema.quasi_identifiers == ("RAC1P",)


@pytest.mark.parametrize(("part", "rate"), [("ma", 0.3771), ("tx", 0.2652), ("national", 0.2736)])
def test_a_high_income_is_above_50000(part, rate, real):
    frame = real("nist_excerpts", part=part, histogram=True).frame

    assert round(frame["INCOME_ABOVE_50000"].mean(), 4) == rate
    assert ((frame["PINCP"] > 50_000) == (frame["INCOME_ABOVE_50000"] == 1)).all()


def test_not_applicable_is_a_declared_category(real):
    loaded = real("nist_excerpts")

    for name in ("MSP", "NOC", "NPF", "INDP_CAT", "EDU", "PINCP_DECILE", "POVPIP", "DVET", "DREM", "DPHY"):
        assert loaded.schema[name].labels[-1] == "N"
        assert "N" in set(loaded.frame[name])


def test_income_is_missing_for_children_only(real):
    frame = real("nist_excerpts").frame

    assert (frame["PINCP"].isna() == (frame["AGEP"] < 15)).all()


def test_ages_fall_into_five_brackets(real):
    frame = real("nist_excerpts", part="national", histogram=True, age_brackets=True).frame
    lowest = frame.groupby("AGE_BRACKET")["AGEP"].agg(["min", "max"])

    assert lowest.index.tolist() == ["0-19", "20-39", "40-59", "60-79", "80-99"]
    assert (lowest // 20).to_numpy().tolist() == [[place, place] for place in range(5)]


@pytest.mark.parametrize("part", ["ma", "tx", "national"])
def test_the_declared_codes_are_those_of_the_data_dictionary(part, real, data):
    """Declared in code, and compared with the dictionary that NIST publishes."""
    dictionary = json.loads((data / "nist_data_dictionary.json").read_text(encoding="utf-8"))
    schema = real("nist_excerpts", part=part).schema

    for column in schema:
        listed = dictionary[column.name].get("values", {})
        if column.name == "PUMA":
            assert set(column.labels) <= set(listed)
        elif "min" not in listed:
            assert set(column.labels) == set(listed)
        else:
            named = {code for code in listed if code not in {"min", "max"}}
            between = {str(code) for code in range(listed["min"], listed["max"] + 1)}
            assert set(column.labels) == between | named


def test_the_published_file_gives_our_file(data):
    """The content of the Texas file in the repository of NIST has this SHA-256."""
    ours = Reader("nist_excerpts", folder=data, download=False).content(FILES["tx"])
    raw = ours.replace(b"\n", b"\r\n")

    assert (
        hashlib.sha256(raw).hexdigest() == "33b17bc20ea97c7b1752e1d42cd90dbd1b368700c88ea4273b0b95466e9a579f"
    )
    assert line_feeds(raw) == ours
