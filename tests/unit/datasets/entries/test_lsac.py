"""Law school bar passage, against the figures and files of arcolezi2023."""

import numpy as np
import pandas as pd
import pytest


def test_the_rates_of_arcolezi2023_hold(real):
    frame = real("lsac").frame
    other, passed = frame["race1"] == "other", frame["pass_bar"]
    rates = [passed.mean(), other.mean(), passed[~other].mean(), passed[other].mean()]

    assert [round(rate, 4) for rate in rates] == [0.9492, 0.9414, 0.778, 0.9599]


def test_the_domains_are_those_of_arcolezi2023(real):
    assert real("lsac").schema.sizes == {
        "fam_inc": 5, "gender": 2, "fulltime": 2, "race1": 2, "lsat": 37, "ugpa": 6, "pass_bar": 2,
    }  # fmt: skip


def test_the_distributions_of_ghoukasian2024_hold(real):
    frame = real("lsac").frame
    male = frame["gender"] == "male"
    income = frame.groupby("fam_inc")["pass_bar"]

    assert round(male.mean(), 4) == 0.5630
    assert [round(frame["pass_bar"][each].mean(), 4) for each in (~male, male)] == [0.9424, 0.9544]
    assert (income.size() / len(frame)).round(4).tolist() == [0.0203, 0.0969, 0.3584, 0.4423, 0.0820]
    assert income.mean().round(4).tolist() == [0.8602, 0.9162, 0.9443, 0.9615, 0.9654]


def test_cleaning_the_full_file_gives_the_stored_clean_file(real, data):
    """The order of dropping and choosing columns, and rounding halves to even, are as published."""
    stored = pd.read_csv(data / "lsac_clean.csv.gz")
    ours = real("lsac", race="five groups").frame

    np.testing.assert_array_equal(ours["race1"], stored["race"])
    for name in ("fam_inc", "gender", "fulltime", "lsat", "ugpa", "pass_bar"):
        np.testing.assert_array_equal(ours[name], stored[name])
    np.testing.assert_array_equal(ours["race1"] == "black", stored["race_black"] == 1)


def test_the_published_encoded_file_holds_the_same_rows(real):
    """Two ways to the same table: decoding what was published, and cleaning the full file."""
    decoded, cleaned = real("lsac").frame, real("lsac", race="five groups").frame

    np.testing.assert_array_equal(decoded["race1"] == "black", cleaned["race1"] == "black")
    for name in ("fam_inc", "gender", "fulltime", "lsat", "ugpa", "pass_bar"):
        np.testing.assert_array_equal(decoded[name], cleaned[name])


def test_dropping_on_the_used_columns_keeps_more_rows(real):
    used = real("lsac", missing="used columns")

    assert used.provenance.rows == 22_076
    assert set(used.frame["race1"]) == {"black", "other"}
    assert any("22,076" in step for step in used.provenance.cleaning)


@pytest.mark.parametrize(("race", "privileged"), [("two groups", "other"), ("five groups", "white")])
def test_the_privileged_group_follows_the_coding_of_race(race, privileged, real):
    assert real("lsac", race=race).schema.privileged == privileged
