"""Every exact method against draws of the noise and decisions made one by one.

Rules: how often an entity's decision comes out true is binomial, so the test is exact, with ALPHA split over
the entities. Shares: a mean of pairs of draws lies within `REACH` standard errors of the truth except with a
probability below ALPHA / 10 for a normal mean; pairs of bounded shares are near enough to it at these sizes.
"""

import numpy as np
import pytest

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.language.terms import count, ratio, threshold
from evenhand.decide.result.bias import bias
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from evenhand.privacy.randomness import SeededSource
from evenhand.release.postprocess.steps import Nonnegative, Shrink
from statistical._exact import ALPHA, binomial_pvalue

REACH = 6.5
LAWS = [
    Laplace(8),
    DiscreteLaplace(8),
    pytest.param(Gaussian(150), marks=pytest.mark.slow),
    pytest.param(DiscreteGaussian(150), marks=pytest.mark.slow),
]
COLUMNS = {
    "s": np.array([80, 3305, 400, 20, 1000, 100]),
    "sp": np.array([4, 160, 30, 1, 52, 90]),
    "spe": np.array([1, 3, 0, 1, 20, 1]),
}


def language(x):
    """The language rule of one place, spelt out."""
    share = x["s"] > 0 and x["sp"] / x["s"] > 0.05
    return (share or x["sp"] > 100) and x["sp"] > 0 and x["spe"] / x["sp"] > 0.0131


RULES = {
    "threshold": (threshold("sp", 30), lambda x: x["sp"] >= 30),
    "ratio": (ratio("sp", "s") > 0.05, lambda x: x["s"] > 0 and x["sp"] / x["s"] > 0.05),
    "apart": (
        (count("s") > 90) ^ (count("spe") <= 2),
        lambda x: (x["s"] > 90) != (x["spe"] <= 2),
    ),
    "two shared": (
        (count("sp") + count("spe") > 33) & ~(count("sp") - 2 * count("spe") > 25),
        lambda x: x["sp"] + x["spe"] > 33 and not x["sp"] - 2 * x["spe"] > 25,
    ),
    "language": (
        ((ratio("sp", "s") > 0.05) | (count("sp") > 100)) & (ratio("spe", "sp") > 0.0131),
        language,
    ),
}


def times_held(decide, law, draws, *, least=None, seed=11):
    """Draw each count, decide each place by itself, count."""
    source, held = SeededSource(seed), np.zeros(6, dtype=np.int64)
    noisy = {name: law.draw(size=(draws, 6), source=source) + each for name, each in COLUMNS.items()}
    for name, each in noisy.items():
        noisy[name] = (each if least is None else np.maximum(each, least)).tolist()
    for row in range(draws):
        for place in range(6):
            held[place] += decide({name: each[row][place] for name, each in noisy.items()})
    return held


def rejected(held, draws, probability):
    return 6 * binomial_pvalue(held, draws, probability).min() < ALPHA


@pytest.mark.statistical
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_rules_hold_as_often_as_computed(name, law):
    """An exact method that is wrong misleads with confidence; a difference of 17 points must be seen."""
    rule, decide = RULES[name]
    held = times_held(decide, law, 2_000)
    probability = bias(rule, COLUMNS, law, method="exact").expected
    moved = np.where(probability > 0.5, probability - 0.17, probability + 0.17)

    assert not rejected(held, 2_000, probability)
    assert rejected(held, 2_000, moved)


@pytest.mark.statistical
@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_clamped_counts_hold_as_often_as_computed(law):
    rule, decide = RULES["language"]
    held = times_held(decide, law, 2_000, least=1)
    probability = bias(rule, COLUMNS, law, post=[Nonnegative(least=1)], method="exact").expected
    unclamped = bias(rule, COLUMNS, law, method="exact").expected

    assert not rejected(held, 2_000, probability)
    assert rejected(held, 2_000, unclamped)


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_the_language_rule_with_its_shared_count_is_not_the_independent_one(law):
    """With 60,000 draws, taking its parts for independent is seen to be wrong."""
    rule, decide = RULES["language"]
    held = times_held(decide, law, 60_000)
    probability = bias(rule, COLUMNS, law, method="exact").expected
    parts = [
        bias(each, COLUMNS, law).expected
        for each in (ratio("sp", "s") > 0.05, count("sp") > 100, ratio("spe", "sp") > 0.0131)
    ]
    independent = (1 - (1 - parts[0]) * (1 - parts[1])) * parts[2]

    assert not rejected(held, 60_000, probability)
    assert rejected(held, 60_000, independent)


def mean_of_pairs(weights, counts, law, pairs, *, step=None, seed=5):
    """Average over pairs of releases with opposite noise, each turned into shares by itself."""
    noise = law.draw(size=(pairs, counts.size), source=SeededSource(seed))
    errors = np.zeros((pairs, counts.size))
    truth = weights * counts / (weights * counts).sum()
    for each in (noise, -noise):
        noisy = counts + each
        noisy = noisy if step is None else step.apply(noisy)
        total = (weights * noisy).sum(axis=1, keepdims=True)
        shares = np.where(total == 0, 0.0, weights * noisy / np.where(total == 0, 1, total))
        errors += (shares - truth) / 2
    return errors.mean(axis=0), errors.std(axis=0, ddof=1) / np.sqrt(pairs)


@pytest.mark.statistical
@pytest.mark.parametrize("step", [None, Nonnegative(), Shrink(3.0)], ids=["plain", "clamped", "shrunken"])
@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_shares_are_off_by_what_is_computed(law, step):
    """The bias is far smaller than the noise; the factor n of the paper must be seen, and no bias too."""
    weights, counts = np.array([1, 2, 1.5, 1]), np.array([30, 250, 320, 5]) * (1 if step else 4)
    mean, error = mean_of_pairs(weights, counts, law, 25_000, step=step)
    found = bias(Allotment(weights), counts, law, post=None if step is None else [step], method="exact")
    off = np.abs(mean - found.bias) / error

    assert (off < REACH).all()
    assert (np.abs(mean - 4 * found.bias) / error > REACH).any()
    assert (np.abs(mean) / error > REACH).any()


@pytest.mark.statistical
@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_the_variance_of_shares_is_what_is_computed(law):
    weights, counts = np.array([1, 2, 1.5, 1]), np.array([120, 1000, 1280, 20])
    noise = law.draw(size=(25_000, 4), source=SeededSource(9)) + counts
    shares = weights * noise / (weights * noise).sum(axis=1, keepdims=True)
    squares = (shares - shares.mean(axis=0)) ** 2
    error = squares.std(axis=0) / np.sqrt(25_000)
    found = bias(Allotment(weights), counts, law, method="exact").variance

    assert (np.abs(squares.mean(axis=0) - found) < REACH * error).all()
    assert (np.abs(squares.mean(axis=0) - 1.1 * found) > REACH * error).any()


@pytest.mark.statistical
def test_intervals_of_sampled_flips_hold_the_truth():
    """1,200 intervals at 1 - 1e-4: with exact coverage, seven or more misses have probability below 1e-9."""
    counts = np.arange(1_200) % 60
    exact = bias(threshold("x", 30), counts, DiscreteLaplace(6)).bias
    drawn = bias(threshold("x", 30), counts, DiscreteLaplace(6), method="sample", draws=1_000, rng=3)
    low, high = drawn.interval(1 - 1e-4)
    narrow = drawn.interval(0.5)

    assert ((exact < low) | (exact > high)).sum() < 7
    assert ((exact < narrow[0]) | (exact > narrow[1])).sum() > 100


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("law", [Laplace(8), DiscreteLaplace(8)], ids=lambda law: type(law).__name__)
def test_a_million_draws_agree_with_the_exact_rule(law):
    """With a million draws, half a point off is seen."""
    rule, _ = RULES["language"]
    exact = bias(rule, COLUMNS, law, method="exact").bias
    drawn = bias(rule, COLUMNS, law, method="sample", draws=1_000_000, rng=17)
    low, high = drawn.interval(1 - ALPHA / 6)
    moved = exact + np.where(exact < 0, 0.005, -0.005)

    assert ((low <= exact) & (exact <= high)).all()
    assert ((moved < low) | (moved > high)).any()
