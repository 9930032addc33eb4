"""Synthetic districts resemble the real ones where it matters: in the tail."""

import hashlib

import numpy as np
import pytest

from evenhand.datasets import load
from evenhand.datasets.entries.school_districts import sizes, states


def test_the_default_rows_never_change():
    frame = load("school_districts").frame
    numbers = np.stack([frame["num_students"], frame["exp_index"]]).astype("<i8")

    assert (
        hashlib.sha256(numbers.tobytes()).hexdigest()
        == "8fa1cf8c51ece6d95a5b552adc5f406553752b9177748a5622160f7a9baaa433"
    )


def test_every_district_has_a_student():
    assert load("school_districts").frame["num_students"].min() >= 1
    assert sizes(np.array([1e-16])).tolist() == [1]


def test_sizes_grow_with_the_quantile_without_a_jump():
    """Body and tail meet where one ends and the other begins."""
    around = sizes(np.linspace(0.98, 0.995, 1_001))

    assert (np.diff(around) >= 0).all()
    assert np.diff(around).max() < 400


def test_the_tail_is_a_power_law():
    """Doubling the size divides the share of larger districts by 2 to the power 1.75."""
    far = sizes(1 - 0.01 * 2.0 ** (-1.75 * np.arange(6)))

    np.testing.assert_allclose(far[1:] / far[:-1], 2, rtol=1e-3)


@pytest.mark.parametrize("quantile", [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999])
def test_the_quantiles_are_near_those_of_the_real_districts(quantile, real):
    truth = real("title1").frame["num_students"].quantile(quantile)

    assert sizes(np.array([quantile]))[0] == pytest.approx(truth, rel=0.15)


@pytest.mark.parametrize("quantile", [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99])
def test_the_default_rows_are_near_the_real_districts_up_to_the_highest_hundredth(quantile, real):
    made, truth = (each.frame["num_students"] for each in (load("school_districts"), real("title1")))

    assert made.quantile(quantile) == pytest.approx(truth.quantile(quantile), rel=0.15)


def test_the_highest_thousandth_of_the_default_rows_is_as_far_off_as_the_page_says(real):
    """Seventeen rows lie above it, so it moves by an eighth from seed to seed."""
    truth = real("title1").frame["num_students"].quantile(0.999)
    off = [
        load("school_districts", seed=seed).frame["num_students"].quantile(0.999) / truth - 1
        for seed in range(30)
    ]

    assert round(off[0], 2) == -0.31
    assert np.std(off) == pytest.approx(0.12, abs=0.03)


def test_the_largest_district_has_a_realistic_share(real):
    """The largest real one has 1.3 % of all students; a log-normal without a tail would have half of that."""
    made, truth = load("school_districts").frame["num_students"], real("title1").frame["num_students"]

    assert truth.max() / truth.sum() == pytest.approx(0.0129, abs=1e-4)
    assert 0.005 < made.max() / made.sum() < 0.03
    assert made.mean() == pytest.approx(truth.mean(), rel=0.1)


def test_the_states_are_near_the_real_ones(real):
    share, expenditure = states()
    truth = real("title1").frame
    counts = truth.groupby("state").size().quantile([0.25, 0.5, 0.75])
    index = truth.groupby("state")["exp_index"].first().quantile([0.1, 0.5, 0.9])

    assert share.sum() == pytest.approx(1)
    assert len(share) == len(expenditure) == 51
    np.testing.assert_allclose(np.quantile(share * 16_641, [0.25, 0.5, 0.75]), counts, rtol=0.2)
    np.testing.assert_allclose(np.quantile(expenditure, [0.1, 0.5, 0.9]), index, rtol=0.1)
    assert abs(np.corrcoef(share, expenditure)[0, 1]) < 0.2


def test_a_district_has_the_expenditure_of_its_state():
    frame = load("school_districts", n=5_000).frame

    assert (frame.groupby("state")["exp_index"].nunique() == 1).all()
    assert frame["district"].is_unique
