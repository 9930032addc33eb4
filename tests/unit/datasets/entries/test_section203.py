"""Minority-language determinations, against the figures of fioretto2021."""

import csv
import io

import numpy as np
import pytest

from evenhand.datasets.download.files import Reader
from evenhand.datasets.entries.counties import covered
from evenhand.datasets.entries.section203 import (
    ALASKA,
    DETERMINED,
    _draw_not_covered,
    _round_as_bureau,
    first_columns,
)


def says(frame):
    return covered(frame["s"].to_numpy(), frame["sp"].to_numpy(), frame["spe"].to_numpy())


def test_the_counts_are_nested(real):
    for options in ({}, {"version": "alaska", "language": "all"}, {"version": "simulated"}):
        frame = real("section203", **options).frame

        assert (frame["spe"] <= frame["sp"]).all()
        assert (frame["sp"] <= frame["s"]).all()


def test_the_rule_covers_every_determined_county_but_one(real):
    """Counts are published rounded, and Union County lies on the threshold."""
    frame = real("section203").frame
    outside = frame[~says(frame)]

    assert (frame["covered"] == 1).all()
    assert outside["area"].tolist() == ["Union County, New Mexico"]
    assert outside[["s", "sp"]].to_numpy().tolist() == [[3_305, 165]]


def test_the_counties_that_fioretto2021_finds_at_the_threshold_are_not_determined(real):
    """Loving (4 of 80) and Terrell (30 of 600) lie exactly on 0.05, and the rule is strict."""
    areas = set(real("section203").frame["area"])

    assert not areas & {"Loving County, Texas", "Terrell County, Texas"}


def test_the_denominator_is_all_citizens_not_the_group(real, data):
    """With the group's own citizens below the line, nearly everybody would be covered."""
    import pandas as pd

    raw = pd.read_csv(data / "sect203_2016_determined_areas.csv.gz", dtype=str)
    group = raw[(raw["LEVEL"] == "County") & (raw["LANGUAGE"] == "Hispanic")]
    frame = real("section203").frame
    stated = group["LEPPCT"].astype(float).to_numpy()

    np.testing.assert_allclose(100 * frame["sp"] / frame["s"], stated, atol=6e-5)


def test_the_citizens_of_alaska_are_recovered_from_percentages(real, data):
    """The percentage of every language group must come out of the recovered denominator."""
    import pandas as pd

    stated = pd.read_csv(data / "sect203_2016_alaska_all_counties.csv.gz")["LEPPCT"]
    frame = real("section203", version="alaska", language="all").frame

    assert frame["area"].nunique() == 29
    assert (np.abs(100 * frame["sp"] / frame["s"] - stated) < 6e-5).all()
    assert frame.loc[frame["area"].str.startswith("Sitka"), "s"].unique().tolist() == [6_600]


def test_the_recovered_citizens_are_as_certain_as_the_note_says(real, data):
    """How many multiples of five give all printed percentages of a borough, around the one taken."""
    import pandas as pd

    stated = pd.read_csv(data / "sect203_2016_alaska_all_counties.csv.gz")["LEPPCT"].to_numpy()
    frame = real("section203", version="alaska", language="all").frame
    fitting = {}
    for area, rows in frame.groupby("area").indices.items():
        taken, counts = int(frame["s"].iloc[rows[0]]), frame["sp"].to_numpy()[rows]
        fitting[area] = [
            other - taken
            for other in range(max(taken - 200, 5), taken + 201, 5)
            if (np.abs(100 * counts / other - stated[rows]) < 5.1e-5).all()
        ]

    assert sum(each == [0] for each in fitting.values()) == 25
    assert max(abs(gap) for each in fitting.values() for gap in each) == 15


def test_one_borough_of_alaska_is_covered_for_spanish(real):
    frame = real("section203", version="alaska").frame

    assert frame.loc[frame["covered"] == 1, "area"].tolist() == ["Aleutians East Borough, Alaska"]
    assert says(frame).sum() == 1


def test_simulated_rows_are_marked_and_not_covered(real):
    loaded = real("section203", version="simulated")
    frame = loaded.frame
    drawn = frame["simulated"] == 1

    assert loaded.note.startswith("PARTLY SYNTHETIC: the 187 rows with simulated = 0 are published figures")
    assert drawn.sum() == 3_129 - 187
    assert not says(frame[drawn]).any()
    assert (frame.loc[drawn, "covered"] == 0).all()
    assert frame["geoid"].is_unique


def test_the_simulated_table_does_not_pass_for_synthetic_nor_for_published(real):
    """187 rows are real, and the drawn ones have the names of real counties."""
    loaded = real("section203", version="simulated")

    assert loaded.provenance.synthetic == "partly"
    assert repr(loaded).startswith("DataSet 'section203': 3,129 rows, 7 columns, partly synthetic\n")
    assert "its sp and spe are drawn at random and say nothing about that county" in loaded.note
    assert real("section203").provenance.synthetic is False
    assert repr(real("section203")).startswith("DataSet 'section203': 187 rows, 6 columns\n")


def test_published_rows_survive_the_simulation(real):
    names = ["geoid", "area", "s", "sp", "spe", "covered"]
    published = real("section203", version="simulated").frame.query("simulated == 0")[names]

    assert published.reset_index(drop=True).equals(real("section203").frame[names])


def test_the_simulation_is_calibrated_on_the_published_rows(real):
    steps = real("section203", version="simulated").provenance.cleaning

    assert any("log sp = -2.119 + 0.980 log(Hispanic population), spread 0.314" in step for step in steps)


def test_the_simulation_is_seeded(real):
    first = real("section203", version="simulated").frame["sp"]
    other = real("section203", version="simulated", seed=1).frame["sp"]

    assert not first.equals(other)


def test_what_cannot_be_drawn_uncovered_is_cut_back():
    """A county that the fitted line puts far above the thresholds must still come out uncovered."""
    from evenhand.datasets.draws import Draws

    s = np.array([1_000, 10_000_000])
    sp, spe = _draw_not_covered(Draws("test", 0), s, (np.log(s / 2), 0.01, -1.0, 0.01))

    assert sp.tolist() == [50, 10_000]
    assert (spe <= sp).all()
    assert not covered(s, sp, spe).any()


def test_counts_are_rounded_as_the_bureau_rounds():
    assert _round_as_bureau(np.array([0, 0.4, 1, 4, 7, 8, 12, 13, 10_003])).tolist() == [
        0,
        0,
        4,
        4,
        4,
        10,
        10,
        15,
        10_005,
    ]


@pytest.mark.parametrize(
    ("s", "sp", "spe", "expected"),
    [(80, 4, 4, False), (79, 4, 4, True), (10**6, 10_000, 5_000, False), (10**6, 10_001, 5_000, True),
     (1_000, 100, 1, False), (1_000, 100, 2, True), (10_000, 10_000, 131, False), (10_000, 10_000, 132, True),
     (100, 0, 0, False)],
)  # fmt: skip
def test_the_rule_is_strict_at_each_threshold(s, sp, spe, expected):
    assert bool(covered(np.array(s), np.array(sp), np.array(spe))) is expected


@pytest.mark.parametrize("file", [DETERMINED, ALASKA])
def test_the_published_files_give_our_files(file, data):
    """Published with quotation marks, blanks for empty flags, and columns of the publisher's own."""
    ours = Reader("section203", folder=data, download=False).content(file)
    rows = list(csv.reader(io.StringIO(ours.decode(), newline="")))
    text = io.StringIO()
    for row in rows:
        csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerow(
            [*(cell or " " for cell in row), "added", "0.5"]
        )

    assert first_columns(text.getvalue().encode()) == ours
