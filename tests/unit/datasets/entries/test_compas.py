"""COMPAS, against the figures and files of makhlouf2024 and ghoukasian2024."""

import numpy as np
import pandas as pd
import pytest

from evenhand.datasets.entries.compas import without_identifiers

HEADER = (
    "id,name,first,last,compas_screening_date,sex,dob,age,decile_score,priors_count,days_b_screening_arrest,"
    "c_case_number,c_days_from_compas,c_charge_desc,r_case_number,r_days_from_arrest,vr_case_number,decile_score,"
    "priors_count"
)


@pytest.mark.parametrize(("threshold", "rate"), [(1, 0.757), (3, 0.472), (5, 0.260)])
def test_the_rates_of_makhlouf2024_hold(threshold, rate, real):
    frame = real("compas", threshold=threshold).frame

    assert round(frame["high_violence_score"].mean(), 3) == rate
    assert round((frame["race"] == "Caucasian").mean(), 3) == 0.402


def test_the_combined_domain_is_that_of_makhlouf2024(real):
    schema = real("compas").schema

    assert np.prod([schema[name].size for name in schema.sensitive]) == 12


@pytest.mark.parametrize("threshold", [1, 3, 5])
def test_cleaning_the_file_of_propublica_gives_the_file_of_makhlouf2024(threshold, real, data):
    """Row by row: the codes of the declared domains are the published ones."""
    from evenhand.table.encode import Table

    theirs = pd.read_csv(data / "compas_makhlouf2024.csv.gz")
    ours = Table.encode(real("compas", threshold=threshold).frame, real("compas").schema)

    for name in ("sex", "race", "age_cat"):
        np.testing.assert_array_equal(ours[name], theirs[name])
    np.testing.assert_array_equal(ours["more_than_2_priors"], theirs["priors_count"])
    np.testing.assert_array_equal(ours["high_violence_score"], theirs[f"v_decile_score_gt_{threshold}"])


def test_the_stated_filter_is_a_subset_of_the_published_one(real, data):
    theirs = pd.read_csv(data / "compas_makhlouf2024.csv.gz")
    within = theirs["raw_days_b_screening_arrest"].abs() <= 30
    ours = real("compas", filter="and").frame

    assert within.sum() == 5_278
    np.testing.assert_array_equal(ours["high_violence_score"], theirs.loc[within, "v_decile_score_gt_3"])


def test_the_rows_of_the_fair_projection(real):
    frame = real("compas", version="fair_projection").frame
    rates = frame.groupby("race")["is_recid"].mean().round(4)

    assert rates.tolist() == [0.5584, 0.4156]
    assert set(frame["c_charge_degree"]) == {"F", "M"}
    assert (frame["length_of_stay"].min(), frame["length_of_stay"].max()) == (-1, 799)


def test_a_stay_is_whole_days_rounded_down(real, data):
    """Compared with pandas, which is what the authors used."""
    raw = pd.read_csv(data / "compas_two_years.csv.gz")
    kept = raw[
        raw["race"].isin(["African-American", "Caucasian"]) & (raw["days_b_screening_arrest"].abs() <= 30)
    ]
    days = (pd.to_datetime(kept["c_jail_out"]) - pd.to_datetime(kept["c_jail_in"])).dt.days

    np.testing.assert_array_equal(real("compas", version="fair_projection").frame["length_of_stay"], days)


def test_no_direct_identifier_is_in_the_frame(real):
    columns = set(real("compas", version="propublica").frame.columns)

    assert not columns & {"name", "first", "last", "dob", "c_case_number", "r_case_number", "vr_case_number"}


@pytest.mark.parametrize(
    ("version", "label"),
    [
        ("makhlouf2024", "a high risk score"),
        ("fair_projection", "a new charge"),
        ("propublica", "a new charge within two years"),
    ],
)
def test_the_label_nobody_hopes_for_is_explained(version, label, real):
    """A reader who takes a positive for good news reads every gap the wrong way round."""
    note = real("compas", version=version).note

    assert f"A positive label is {label}, which nobody hopes for" in note
    assert "a group with more positives is worse off" in note
    assert "Caucasian" in note


def test_a_download_loses_the_identifiers():
    """What ProPublica publishes names people; what is kept must not. The row here is invented."""
    row = (
        '7,ann example,ann,example,2013-02-03,Female,1980-01-01,33,4,2,-1,13001,1,"Theft, petty",14002,,,4,2'
    )
    raw = f"{HEADER}\r\n{row}\r\n8,bo x,bo,x,2013-02-03,Male,1981-01-01,32,1,0,,,,,,12,,1,0\r\n".encode()

    assert without_identifiers(raw).decode() == (
        "id,compas_screening_date,sex,age,decile_score,priors_count,days_b_screening_arrest,c_days_from_compas,"
        "c_charge_desc,r_days_from_arrest,decile_score.1,priors_count.1\n"
        '7,2013-02-03,Female,33,4,2,-1.0,1.0,"Theft, petty",,4,2\n'
        "8,2013-02-03,Male,32,1,0,,,,12.0,1,0\n"
    )
