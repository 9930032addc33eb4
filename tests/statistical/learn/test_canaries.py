"""Trained classifiers show no more than they claim, and an audit with canaries would see it if they did."""

import csv
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from evenhand.learn.audit.canaries import audit_canaries, chance_of_guesses, least_epsilon
from evenhand.privacy.laws import DiscreteGaussian
from statistical._canaries import BROKEN_CELLS, CELLS, SETTINGS, Setting, audit_setting, noise_alone, trained
from statistical._exact import ALPHA, exact_events_pvalue

pytestmark = pytest.mark.figures

SURE = 1 - ALPHA

# --- the statistics, on mechanisms whose epsilon is known ------------------------------------------


@pytest.mark.parametrize("epsilon", [0.25, 1.0, 2.0])
@pytest.mark.parametrize("guesses", [60, 300])
def test_the_bound_covers_randomized_response(epsilon, guesses):
    """A coin told with probability e^eps/(1+e^eps) keeps epsilon and no less: the error is an exact sum."""
    error, right, worse = 0.01, 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(-1.5 * epsilon))
    chances = [chance_of_guesses(v, guesses, canaries=guesses, epsilon=epsilon) for v in range(guesses + 1)]
    fewest = next(v for v, chance in enumerate(chances) if chance < error)
    careless = next(v for v, chance in enumerate(chances) if chance < 3 * error)
    measured = [least_epsilon(v, guesses, canaries=guesses, error=error) for v in (fewest - 1, fewest)]

    assert measured[0] <= epsilon < measured[1]
    assert error / 3 < binom.sf(fewest - 1, guesses, right) <= error
    assert binom.sf(careless - 1, guesses, right) > error  # the twin: a bound at three times the error
    assert binom.sf(fewest - 1, guesses, worse) > error  # and coins that are told too often are seen


@pytest.mark.statistical
def test_the_bound_covers_laplace_noise_with_abstentions():
    """The best of several numbers of guesses must not be over more often than one that was fixed."""
    epsilon, canaries, audits, error, numbers = 1.0, 400, 2_000, 0.05, (400, 100, 40, 20)
    rng = np.random.default_rng(81)
    coins = rng.random((audits, canaries)) < 0.5
    scores = coins + rng.laplace(scale=1 / epsilon, size=coins.shape)
    ranked = np.take_along_axis(coins, np.argsort(scores, axis=1), axis=1)
    over = {}
    for kind, level in (("right", error / len(numbers)), ("twin", 2.5 * error)):
        hits = np.zeros(audits, dtype=bool)
        for number in numbers:
            half = number // 2
            correct = ranked[:, canaries - half :].sum(axis=1) + (~ranked[:, :half]).sum(axis=1)
            table = [
                chance_of_guesses(v, number, canaries=canaries, epsilon=epsilon) for v in range(number + 1)
            ]
            hits |= np.array(table)[correct] < level
        over[kind] = int(hits.sum())

    assert binom.sf(over["right"] - 1, audits, error) > ALPHA
    assert binom.sf(over["twin"] - 1, audits, error) < ALPHA  # each number at a level of its own


@pytest.mark.statistical
def test_the_bound_pays_for_delta():
    """Whoever tells a coin outright with probability delta and else by randomized response keeps both."""
    epsilon, delta, canaries = 0.5, 0.02, 1_000
    rng = np.random.default_rng(82)
    coins = rng.random(canaries) < 0.5
    told = np.where(rng.random(canaries) < 1 / (1 + math.exp(-epsilon)), coins, ~coins)
    scores = np.where(rng.random(canaries) < delta, 10.0, 1.0) * np.where(told, 1, -1)
    outright = np.abs(scores) == 10
    scores[outright] = np.where(coins[outright], 10, -10)

    found = audit_canaries(scores, coins, claimed=epsilon, delta=delta, confidence=SURE)
    forgotten = audit_canaries(scores, coins, claimed=epsilon, guesses=[10], confidence=0.99)  # the twin

    assert not found.exceeds
    assert forgotten.exceeds


# --- trainings -------------------------------------------------------------------------------------


@pytest.mark.statistical
@pytest.mark.parametrize("model", ["logistic", "fermi"])
def test_a_training_keeps_its_claim_and_one_without_noise_does_not(model):
    """The quick version of the nightly table: 1,000 canaries in one training."""
    setting = Setting(model, canaries=1_000, trainings=1, epochs=1, delta="1e-12")
    right = audit_setting(setting, "1/2", seed=83, confidence=SURE)
    wrong = audit_setting(setting, "1/2", seed=83, confidence=SURE, broken="no noise")

    assert not right.found.exceeds
    assert wrong.found.exceeds


@pytest.mark.statistical
@pytest.mark.parametrize("model", ["logistic", "fermi"])
def test_the_noise_in_a_training_is_that_of_its_accounting(model):
    """Half of the noise is too little for guesses about canaries to tell, but not for the sums themselves."""
    setting = Setting(model, canaries=1_000)
    right = trained(setting, "1/2", seed=85)
    wrong = trained(setting, "1/2", seed=85, broken="half of the noise")

    assert right.grid.noise >= right.model.noise_
    assert exact_events_pvalue(noise_alone(right), DiscreteGaussian(right.grid.variance)) > ALPHA
    assert exact_events_pvalue(noise_alone(wrong), DiscreteGaussian(wrong.grid.variance)) < ALPHA


def test_the_page_shows_the_numbers_that_were_measured(root):
    """A table that was typed in, or is older than its file, would be a claim without an audit."""
    folder = root / "docs" / "reproductions" / "learn-audit"
    measured, broken = (
        list(csv.DictReader((folder / name).read_text(encoding="utf-8").splitlines()))
        for name in ("claimed-and-measured.csv", "broken.csv")
    )
    page = (root / "docs" / "background" / "cost-of-training.md").read_text(encoding="utf-8")
    shown = [line for line in page.splitlines() if line.startswith("| `DP")]
    cells = [cell.strip() for line in shown for cell in line.split("|")[6:11]]

    assert cells == [row["measured epsilon, at least"] for row in measured]
    assert len(measured) == len(CELLS)
    assert {row["over the claim"] for row in measured} == {"no"}
    assert [row["over the claim"] for row in broken] == ["yes"] * 8 + ["no"] * 2
    for row in broken:
        assert f"| {row['measured epsilon, at least']} | {row['over the claim']} |" in page


@pytest.fixture(scope="module")
def grid():
    return [audit_setting(*each, seed=2026, share=len(CELLS)) for each in CELLS]


@pytest.mark.nightly
@pytest.mark.statistical
def test_no_training_is_over_its_claim(grid):
    """At 99.9 % for all of them together."""
    over = [(cell.setting.name, str(cell.found)) for cell in grid if cell.found.exceeds]

    assert len(grid) == len(SETTINGS) * 5 >= 50
    assert min(cell.found.canaries for cell in grid) >= 1_000
    assert over == []


@pytest.mark.nightly
@pytest.mark.statistical
def test_the_audit_sees_something_where_much_is_allowed(grid):
    """An audit that finds nothing at epsilon 8 would find nothing anywhere."""
    found = {cell.setting: cell.found.measured_epsilon for cell in grid if cell.found.claimed_epsilon == 8}

    assert len(found) == len(SETTINGS)
    assert min(epsilon for setting, epsilon in found.items() if setting.see == "sums") > 1


@pytest.mark.nightly
@pytest.mark.statistical
@pytest.mark.parametrize(("setting", "broken"), [each for each in BROKEN_CELLS if "half" not in each[1]])
def test_a_broken_training_is_seen_at_a_claimed_epsilon_of_one_half(setting, broken):
    found = audit_setting(setting, "1/2", seed=2026, share=len(CELLS), broken=broken).found

    assert found.exceeds


@pytest.mark.nightly
@pytest.mark.statistical
def test_the_secure_source_keeps_the_claim_too():
    """This is the randomness that models for release are trained with."""
    setting = replace(SETTINGS[0], secure=True)
    found = audit_setting(setting, "1/2", seed=84).found

    assert not found.exceeds
