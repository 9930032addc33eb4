"""Adult, against the figures of the papers and the files of their authors."""

import hashlib
import itertools

import numpy as np
import pandas as pd
import pytest

from evenhand.datasets.download.files import Reader
from evenhand.datasets.entries.adult import RECONSTRUCTED, TEST, TRAIN, join_reconstructed, uci_rows


def content(data, file):
    return Reader("adult", folder=data, download=False).content(file)


def test_the_rates_of_arcolezi2023_hold(real):
    frame = real("adult").frame
    male, income = frame["gender"] == "Male", frame["income"]
    rates = [income.mean(), male.mean(), income[~male].mean(), income[male].mean()]

    assert [round(rate, 4) for rate in rates] == [0.5177, 0.6762, 0.3274, 0.6089]


def test_the_domains_are_those_of_arcolezi2023(real):
    assert real("adult").schema.sizes == {
        "age": 74, "workclass": 7, "education": 16, "marital-status": 7, "occupation": 14,
        "native-country": 41, "relationship": 6, "hours-per-week": 96, "gender": 2, "race": 5, "income": 2,
    }  # fmt: skip


def test_every_declared_value_of_the_published_code_lists_occurs(real):
    """The published label encodings were made from the values that occur."""
    loaded = real("adult")

    for column in loaded.schema:
        assert loaded.frame[column.name].nunique() == column.size


def test_the_race_distribution_of_ghoukasian2024_holds(real):
    frame = real("adult").frame
    shares = frame["race"].value_counts(normalize=True).sort_index().round(4)
    rates = frame.groupby("race")["income"].mean().round(4)

    assert shares.tolist() == [0.0095, 0.0284, 0.0924, 0.0077, 0.8620]
    assert rates.tolist() == [0.3601, 0.5357, 0.3402, 0.3683, 0.5393]


@pytest.mark.parametrize(
    ("threshold", "rate"), [(10_000, 0.8129), (26_000, 0.5177), (27_260, 0.5000), (50_000, 0.2466)]
)
def test_the_positive_rate_of_each_threshold_holds(threshold, rate, real):
    assert round(real("adult", threshold=threshold).frame["income"].mean(), 4) == rate


def test_a_higher_threshold_never_makes_a_positive(real):
    labels = [real("adult", threshold=each).frame["income"] for each in (10_000, 26_000, 27_260, 50_000)]

    assert all((low >= high).all() for low, high in itertools.pairwise(labels))


@pytest.mark.parametrize("threshold", [10_000, 27_260, 50_000])
def test_the_binary_features_are_those_of_makhlouf2024(threshold, real, data):
    """The authors' own file, row by row."""
    theirs = pd.read_csv(data / "adult_makhlouf2024_binarised.csv.gz")
    ours = real("adult", binarised=True, threshold=threshold).frame
    names = [
        "age",
        "workclass",
        "education_num",
        "maritalstatus",
        "nativecountry",
        "hoursperweek",
        "gender",
        "race",
    ]

    np.testing.assert_array_equal(ours.iloc[:, :-1].to_numpy(), theirs[names].to_numpy())
    np.testing.assert_array_equal(ours["income"], theirs[f"income_gt_{threshold}"])
    assert round(ours["gender"].mean(), 3) == 0.676


def test_the_cuts_of_the_binary_features_are_medians(real):
    frame = real("adult").frame

    assert frame["age"].median() == 37
    assert frame["hours-per-week"].median() == 40


def test_the_rows_are_those_of_arcolezi2023(real, data):
    """The authors' label-encoded file, row by row: codes are positions in the declared domains."""
    from evenhand.table.encode import Table

    theirs = pd.read_csv(data / "adult_reconstructed_26k_encoded.csv.gz")
    ours = Table.encode(real("adult").frame, real("adult").schema)

    for name in real("adult").schema.names:
        np.testing.assert_array_equal(ours[name], theirs[name])


def test_the_uci_labels_are_counted(real):
    counts = [
        (real("adult", version="uci", part=part, unknown="keep").frame["income"] == ">50K").sum()
        for part in ("train", "test")
    ]

    assert counts == [7_841, 3_846]


def test_unknown_values_are_dropped_or_a_category(real):
    kept = real("adult", version="uci", unknown="keep")
    dropped = real("adult", version="uci")

    assert "?" in set(kept.frame["workclass"])
    assert kept.schema["workclass"].size == 9
    assert dropped.schema["workclass"].size == 7
    assert not (dropped.frame == "?").to_numpy().any()


def test_one_hot_coding_gives_the_inputs_of_ghoukasian2024(real):
    """102 inputs without sex: six numbers and one for each other value."""
    schema = real("adult", version="uci").schema
    numbers = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
    others = [column.size for column in schema if column.name not in {*numbers, "sex", "income"}]

    assert len(numbers) + sum(others) == 102


def test_the_rows_of_the_fair_projection_are_black_or_white(real):
    frame = real("adult", version="fair_projection").frame

    assert set(frame["race"]) == {"Black", "White"}
    assert round((frame["income"] == ">50K").mean(), 4) == 0.2406


@pytest.mark.figures
def test_the_join_of_the_published_files_gives_our_file(data):
    """What a download does, on the authors' files as they are published."""
    import gzip

    encoded = gzip.decompress((data / "adult_reconstructed_26k_encoded.csv.gz").read_bytes())
    merged = pd.read_csv(data / "adult_makhlouf2024_binarised.csv.gz", dtype=str)
    features = list(merged.columns[:8])
    parts = [
        merged[[*features, f"income_gt_{each}"]].to_csv(index=False).encode()
        for each in (10_000, 27_260, 50_000)
    ]

    assert len(parts[0]) in range(825_350, 825_400)
    assert join_reconstructed(encoded, *parts) == content(data, RECONSTRUCTED)


@pytest.mark.figures
@pytest.mark.parametrize(
    ("file", "before", "point", "md5"),
    [
        (TRAIN, "", "", "5d7c39d7b8804f071cdd1f2a7c460872"),
        (TEST, "|1x3 Cross validator\n", ".", "35238206dfdf7f1fe215bbb874adecdc"),
    ],
)
def test_the_files_of_uci_give_our_files(file, before, point, md5, data):
    """The raw files are rebuilt from ours; their MD5 is that of adult.data and adult.test at UCI."""
    ours = content(data, file)
    lines = [line.replace(",", ", ") + point for line in ours.decode().splitlines()[1:]]
    raw = (before + "\n".join(lines) + "\n\n").encode()

    assert hashlib.md5(raw).hexdigest() == md5
    assert uci_rows(raw) == ours
