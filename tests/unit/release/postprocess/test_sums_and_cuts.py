"""Sums of groups that stay when counts below 0 are raised, and small counts that are set to 0."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.result.bias import bias
from evenhand.errors import InvalidParameterError
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Laplace
from evenhand.privacy.randomness import SeededSource
from evenhand.release import Histogram, Suppression
from evenhand.release import Laplace as LaplaceTable
from evenhand.release.postprocess import Cut, KeepSums, Nonnegative
from evenhand.release.postprocess.registry import checked_step, steps_of
from evenhand.release.postprocess.steps import absolute_error_after, bias_after
from evenhand.schema import Column, Domain, Schema


def listed_noise(law, reach=60):
    """Return noise and its masses, one by one."""
    noise = np.arange(-reach, reach + 1)
    return noise, law.pmf(noise)


def small_table(counts):
    counts = np.array(counts)
    columns = [
        Column(name, Domain.categorical([f"{name}{value}" for value in range(size)]))
        for name, size in zip("abc", counts.shape, strict=False)
    ]
    return Histogram.of(counts, Schema(columns))


# --- sums that stay -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_sums_stay_and_no_count_is_below_zero(seed):
    """A group's sum is what the remedy is for: one person off would come back in every table."""
    rng = np.random.default_rng(seed)
    noisy = rng.integers(-9, 12, size=(3, 4, 5))
    for columns, others in (((1,), (1, 2)), ((2,), (0, 2)), ((1, 3), (1,)), ((3, 1), (1,))):
        made = KeepSums(*columns).apply(noisy, source=SeededSource(seed))

        assert made.dtype.kind == "i"
        assert made.min() >= 0
        assert np.array_equal(made.sum(axis=others), np.maximum(noisy.sum(axis=others), 0))


def test_it_is_the_nearest_such_table():
    """Compared with a search that knows nothing but the two conditions."""
    rng = np.random.default_rng(4)
    for _ in range(10):
        noisy = rng.normal(1, 4, size=4)
        wanted = max(0.0, noisy.sum())
        found = minimize(
            lambda x, noisy=noisy: ((x - noisy) ** 2).sum(),
            np.full(4, wanted / 4),
            bounds=[(0, None)] * 4,
            constraints={"type": "eq", "fun": lambda x, wanted=wanted: x.sum() - wanted},
        )

        assert KeepSums(1).apply(noisy[np.newaxis])[0] == pytest.approx(found.x, abs=1e-3)


def test_what_is_left_over_favours_no_cell():
    """Given to the first cells it would make a group's first category larger in every table."""
    noisy, source = np.array([[-1, 5, 5, 5]]), SeededSource(3)
    drawn = np.array([KeepSums(1).apply(noisy, source=source)[0] for _ in range(900)])
    lowered = (drawn[:, 1:] == 4).sum(axis=0)  # 300 each, with a standard deviation of 14.1

    assert drawn[:, 0].max() == 0
    assert lowered.sum() == 900
    assert np.abs(lowered - 300).max() < 6.2 * 14.1  # two-sided 1e-9 in each of three


def test_a_clamp_invents_people_in_an_empty_group_and_sums_that_stay_take_most_of_them_away():
    """The harm for which the step is made, by listing all noise of two cells."""
    law, true = DiscreteLaplace(2), np.array([0, 0])
    noise, masses = listed_noise(law)
    clamped = kept = 0.0
    for (one, p), (other, q) in itertools.product(zip(noise, masses, strict=True), repeat=2):
        clamped += p * q * (max(one, 0) + max(other, 0))
        kept += p * q * max(one + other, 0)
    mechanism = LaplaceTable(epsilon=1, unit="replace one")
    table = small_table([true.tolist(), [50, 60]])

    assert mechanism.bias(table, post=[Nonnegative()]).values[0].sum() == pytest.approx(clamped, abs=1e-9)
    drawn = mechanism.bias(table, post=[KeepSums(1)], draws=500, rng=1)
    assert drawn.values[0].sum() == pytest.approx(kept, abs=6 * np.linalg.norm(drawn.standard_error[0]))
    assert drawn.values[1] == pytest.approx(0, abs=1e-9)  # nothing to draw: the noise cancels
    assert kept < 0.8 * clamped


def test_the_mean_of_every_cell_is_that_of_all_noise():
    """The noise is taken out of the mean before it is drawn; that must not change the mean."""
    law, true = DiscreteLaplace(1), np.array([0, 1, 4])
    noise, masses = listed_noise(law, reach=18)
    everything = np.array(list(itertools.product(noise, repeat=3)))
    chances = np.array(list(itertools.product(masses, repeat=3))).prod(axis=1)
    made = KeepSums(1).apply((everything + true).astype(float))
    expected = chances @ made - true
    drawn = LaplaceTable(epsilon=2, unit="replace one").bias(
        small_table([true.tolist()]), post=[KeepSums(1)], draws=500, rng=5
    )

    assert np.abs(drawn.values[0] - expected).max() < 6.2 * drawn.standard_error.max()
    assert drawn.standard_error.max() < 0.06


def test_a_table_with_blanks_is_refused():
    """Sums of what is published would tell what is not."""
    with pytest.raises(InvalidParameterError, match="columns"):
        Suppression(threshold=6).release(small_table([[50, 3], [1, 60]]), rng=1, post=[KeepSums(2)])


# --- small counts set to 0 ------------------------------------------------------------------------


@pytest.mark.parametrize("law", [DiscreteLaplace(2), DiscreteGaussian(5)])
def test_bias_and_error_of_a_cut_are_those_of_all_noise(law):
    counts = [0, 1, 5, 6, 9, 40]
    noise, masses = listed_noise(law, reach=100)
    shown = [np.where(count + noise > 5, count + noise, 0) for count in counts]

    found = bias_after(counts, law, [Cut(5)])
    assert found == pytest.approx([masses @ (s - x) for s, x in zip(shown, counts, strict=True)], abs=1e-9)
    error = absolute_error_after(counts, law, [Cut(5)])
    wanted = [masses @ np.abs(s - x) for s, x in zip(shown, counts, strict=True)]
    assert error == pytest.approx(wanted, abs=1e-9)


def test_a_cut_at_0_is_the_clamp():
    counts, law = [0, 2, 30], DiscreteLaplace(3)

    assert bias_after(counts, law, [Cut(0)]) == pytest.approx(bias_after(counts, law, [Nonnegative()]))


def test_money_after_a_cut_is_that_of_all_noise():
    """Shares of three places, by listing all noise."""
    law, true = DiscreteLaplace(1), np.array([0, 6, 12])
    noise, masses = listed_noise(law, reach=24)
    everything = np.array(list(itertools.product(noise, repeat=3))) + true
    chances = np.array(list(itertools.product(masses, repeat=3))).prod(axis=1)
    kept = np.where(everything > 3, everything, 0).astype(float)
    total = kept.sum(axis=1, keepdims=True)
    some = total[:, 0] > 0
    shares = chances[some] @ (kept[some] / total[some])  # nobody is paid where no count is left
    found = bias(Allotment(np.ones(3)), {"x": true}, law, post=[Cut(3)])

    assert found.standard_error is None
    assert found.bias == pytest.approx(shares - true / true.sum(), abs=1e-8)


def test_a_cut_of_real_noise_is_sampled():
    found = bias(Allotment(np.ones(3)), {"x": [0, 6, 12]}, Laplace(1), post=[Cut(3)], draws=2_000, rng=1)

    assert found.standard_error is not None


# --- as plans write them --------------------------------------------------------------------------


def test_steps_are_read_from_text():
    made = steps_of([checked_step(" keep_sums = 1x3"), checked_step("cut=5")])

    assert made == [KeepSums(1, 3), Cut(5)]


@pytest.mark.parametrize(
    "text", ["keep_sums", "keep_sums=0", "keep_sums=1,2", "keep_sums=race", "cut", "cut=-1"]
)
def test_other_texts_are_refused(text):
    with pytest.raises(InvalidParameterError, match="post"):
        checked_step(text)


@pytest.mark.parametrize("columns", [(), (1, 1), (0,), (1.5,)])
def test_columns_that_are_none_are_refused(columns):
    with pytest.raises(InvalidParameterError, match="columns"):
        KeepSums(*columns)
