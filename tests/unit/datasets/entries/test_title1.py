"""School districts, against the figures of fioretto2021."""

import numpy as np
import pandas as pd
import pytest

from evenhand.datasets.download.files import Reader
from evenhand.datasets.download.parsing import line_feeds
from evenhand.datasets.entries.title1 import EXPENDITURE, NCES, short_header


def test_the_shares_are_the_published_ones(real, data):
    """x a / sum(x a) from our columns is the allotment in the file."""
    stored = pd.read_csv(data / "title1_districts_fioretto2021.csv.gz")
    frame = real("title1").frame
    product = frame["num_students"] * frame["exp_index"]

    np.testing.assert_array_equal(product, stored["true_prod"])
    np.testing.assert_allclose(product / product.sum(), stored["true_frac"], rtol=1e-12)


def test_the_raw_table_gives_the_same_districts(real):
    """Which settles 16,641 against the 16,441 of the paper."""
    names = ["state", "district", "county", "num_students", "exp_index"]
    cleaned, raw = (
        each.frame[names].sort_values(names, ignore_index=True)
        for each in (real("title1"), real("title1", version="nces"))
    )

    pd.testing.assert_frame_equal(cleaned, raw)


@pytest.mark.parametrize("least", [0, 1, 1_000])
def test_the_smallest_district_is_an_option(least, real, data):
    raw = pd.read_csv(data / "nces_elsi_districts_2014_15_raw.csv.gz", dtype=str)
    students = pd.to_numeric(
        raw["Total Students, All Grades (Excludes AE) [District] 2014-15"], errors="coerce"
    )
    frame = real("title1", version="nces", least_students=least).frame

    assert frame["num_students"].tolist() == students[students >= least].tolist()


def test_new_york_is_the_state_of_the_figures(real):
    frame = real("title1", state="NEW YORK").frame

    assert set(frame["state"]) == {"NEW YORK"}
    assert set(frame["exp_index"]) == {21_504}


@pytest.mark.parametrize("year", range(2015, 2021))
def test_poverty_counts_are_joined_with_the_expenditure_of_the_state(year, real, data):
    loaded = real("title1", version="saipe", year=year)
    table = pd.read_csv(data / "nces_state_ppe_2013_14.csv.gz").set_index("state").iloc[:, 1]
    frame = loaded.frame

    assert (frame["exp_index"] == frame["state"].map(table)).all()
    assert (frame["poverty_5_17"] <= frame["pop_5_17"]).all()
    assert (frame["pop_5_17"] <= frame["pop_total"]).all()
    assert "PUERTO RICO" not in set(frame["state"])
    assert len(loaded.provenance.files) == 2


def test_every_state_is_declared(real):
    assert real("title1").frame["state"].nunique() == real("title1").schema["state"].size == 51


def test_the_published_tables_give_our_files(data):
    read = Reader("title1", folder=data, download=False)
    nces, states = read.content(NCES), read.content(EXPENDITURE)
    raw = nces.replace(b"\n", b"\r\n").removesuffix(b"\r\n")
    lines = states.decode().splitlines()[1:]

    assert len(raw.decode()) == 4_045_211
    assert line_feeds(raw) == nces
    assert short_header("\n".join(["State Name,ADA,NCE13", *lines]).encode()) == states
