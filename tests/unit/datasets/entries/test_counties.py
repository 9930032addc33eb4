"""Synthetic counties put the minority-language rule to work."""

import hashlib

import numpy as np
import pytest

from evenhand.datasets import load
from evenhand.datasets.draws import Draws
from evenhand.datasets.entries.counties import covered


def test_the_default_rows_never_change():
    frame = load("counties").frame
    numbers = np.stack([frame["s"], frame["sp"], frame["spe"]]).astype("<i8")

    assert (
        hashlib.sha256(numbers.tobytes()).hexdigest()
        == "6370dcb1f939d044bf28573def203416e83be1f9bf5cc532bd8b34175e9757ff"
    )


def test_the_counts_are_nested():
    frame = load("counties").frame

    assert (frame["spe"] <= frame["sp"]).all()
    assert (frame["sp"] <= frame["s"]).all()
    assert (frame["spe"] >= 0).all()


def test_covered_is_what_the_rule_says():
    frame = load("counties").frame
    expected = ((frame["sp"] / frame["s"] > 0.05) | (frame["sp"] > 10_000)) & (
        frame["spe"] > 0.0131 * frame["sp"]
    )

    assert (covered(frame["s"], frame["sp"], frame["spe"]) == (frame["covered"] == 1)).all()
    assert (expected == (frame["covered"] == 1)).mean() > 0.999


def test_as_many_are_covered_as_is_realistic():
    """The Bureau determined 187 counties of about 3,000 in 2016."""
    assert 100 < load("counties", near_per_mille=0).frame["covered"].sum() < 300


def test_some_counties_lie_next_to_each_threshold():
    """Noise decides there, and nowhere else; without such counties an audit would see nothing."""
    frame = load("counties").frame
    share, schooling = frame["sp"] / frame["s"], frame["spe"] / frame["sp"].clip(lower=1)

    assert (abs(share / 0.05 - 1) < 0.1).sum() >= 50
    assert (abs(frame["sp"] / 10_000 - 1) < 0.1).sum() >= 50
    assert (abs(schooling / 0.0131 - 1) < 0.3).sum() >= 20


def test_the_sizes_are_near_those_of_real_counties(data):
    import pandas as pd

    real = pd.read_csv(data / "county_language_base_acs.csv.gz")["voting_age_citizens"]
    made = load("counties", near_per_mille=0).frame["s"]
    at = [0.05, 0.25, 0.5, 0.75, 0.95]

    np.testing.assert_allclose(made.quantile(at), real.quantile(at), rtol=0.25)


@pytest.mark.parametrize("n", [10, 11, 49])
def test_a_handful_of_counties_can_be_made(n):
    assert len(load("counties", n=n, near_per_mille=300).frame) == n


def test_binomial_draws_are_those_of_the_slow_way():
    """Compared with scipy's inverse of the distribution function."""
    from scipy.stats import binom

    trials = np.tile([0, 1, 5, 100, 10_000, 6_000_000], 500)
    chance = np.resize([1e-6, 0.0131, 0.05, 0.5, 0.9, 1.0, 0.999], trials.size)
    expected = binom.ppf(Draws("test", 1).uniform(trials.size), trials, chance)

    np.testing.assert_array_equal(Draws("test", 1).binomial(trials, chance), expected)


def test_uniform_draws_stay_inside_the_unit_interval():
    draws = Draws("test", 0).uniform(100_000)

    assert draws.min() > 0
    assert draws.max() < 1


def test_two_data_sets_with_one_seed_share_no_stream():
    first, second = Draws("one", 0).uniform(1_000), Draws("two", 0).uniform(1_000)

    assert abs(np.corrcoef(first, second)[0, 1]) < 6.5 / np.sqrt(1_000)
