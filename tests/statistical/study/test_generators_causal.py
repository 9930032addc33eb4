"""The causal generator draws from the model it states, and not from the misprinted one."""

import os
import pathlib

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from evenhand.datasets import load
from evenhand.datasets.entries.causal import MEDIATOR, SWAPPED_MEDIATOR, draw
from statistical._exact import ALPHA, binomial_pvalue, exact_events_pvalue

pytestmark = pytest.mark.statistical

N = 200_000
# Rates of Y = 1 in groups 0 and 1, published with the paper's sample of 100,000 (37,810 and 62,190 people).
PUBLISHED = {0.25: (0.5704, 0.8592), 0.5: (0.2801, 0.6337), 0.75: (0.0908, 0.3468)}
PUBLISHED_SIZES = (37_810, 62_190)
STANDARD_ERRORS = 6.11  # two-sided tail of a normal: 1e-9


def cells(mediator):
    """Return the chance of each (C, A, M), written out by hand."""
    chances = {}
    for confounder, share in ((0, 0.65), (1, 0.35)):
        in_group = 0.55 if confounder == 0 else 0.75
        for group, of_group in ((0, 1 - in_group), (1, in_group)):
            for middle in range(3):
                chances[confounder, group, middle] = share * of_group * mediator[group][middle]
    return chances


def rate(group, quantile, *, mediator=MEDIATOR, sign=1):
    """Return P(Y = 1 | A = group): the outcome is a mixture of twelve normal laws."""
    law = cells(mediator)
    middle = {each: sign * (0.75 * each[1] + 0.6 * each[2] + 0.5 * each[0]) for each in law}

    def above(threshold, kept):
        total = sum(law[each] for each in kept)
        return sum(law[each] * norm.sf(threshold - middle[each]) for each in kept) / total

    threshold = brentq(lambda at: above(at, law) - (1 - quantile), -10, 10)
    return above(threshold, [each for each in law if each[1] == group])


def codes(columns):
    return columns["C"] * 6 + columns["A"] * 3 + columns["M"]


def label_pvalue(columns, quantile, **law):
    """Return the smaller p-value of the two groups, times two."""
    pvalues = []
    for group in (0, 1):
        labels = columns["Y"][columns["A"] == group]
        pvalues.append(binomial_pvalue(int(labels.sum()), len(labels), rate(group, quantile, **law)))
    return 2 * min(pvalues)


def furthest(columns, quantile):
    """Return how many standard errors lie between these rates and the published ones, at most."""
    gaps = []
    for group, size in enumerate(PUBLISHED_SIZES):
        labels = columns["Y"][columns["A"] == group]
        published = PUBLISHED[quantile][group]
        error = np.sqrt(published * (1 - published) * (1 / size + 1 / len(labels)))
        gaps.append(abs(labels.mean() - published) / error)
    return max(gaps)


def test_the_attributes_follow_the_causal_model():
    law = list(cells(MEDIATOR).values())
    right, wrong = (draw(N, seed=1, quantile=0.5, mediator=each) for each in (MEDIATOR, SWAPPED_MEDIATOR))

    assert exact_events_pvalue(codes(right), law) > ALPHA
    assert exact_events_pvalue(codes(wrong), law) < ALPHA  # the twin: as printed in the paper


@pytest.mark.parametrize("quantile", [0.25, 0.5, 0.75])
@pytest.mark.parametrize(("privileged", "sign"), [(1, 1), (0, -1)])
def test_the_labels_follow_the_causal_model(quantile, privileged, sign):
    drawn = {"seed": 2, "quantile": quantile, "privileged_group": privileged}
    right, wrong = (draw(N, mediator=each, **drawn) for each in (MEDIATOR, SWAPPED_MEDIATOR))

    assert label_pvalue(right, quantile, sign=sign) > ALPHA
    assert label_pvalue(wrong, quantile, sign=sign) < ALPHA  # the twin


@pytest.mark.parametrize("quantile", [0.25, 0.5, 0.75])
def test_the_rates_are_those_of_the_published_sample(quantile):
    right, wrong = (
        draw(N, seed=3, quantile=quantile, mediator=each) for each in (MEDIATOR, SWAPPED_MEDIATOR)
    )

    assert furthest(right, quantile) < STANDARD_ERRORS
    assert furthest(wrong, quantile) > STANDARD_ERRORS  # the twin


@pytest.mark.parametrize("quantile", [0.25, 0.5, 0.75])
def test_the_published_sample_follows_the_model_and_not_the_print(quantile):
    """Which settles which of the two the authors used."""
    folder = os.environ.get("EVENHAND_DATA")
    if not folder or not pathlib.Path(folder).is_dir():
        pytest.skip("EVENHAND_DATA names no folder of data files")
    frame = load("causal", version="stored", quantile=quantile, folder=folder, download=False).frame
    stored = {name: frame[name].to_numpy() for name in frame.columns}

    assert exact_events_pvalue(codes(stored), list(cells(MEDIATOR).values())) > ALPHA
    assert exact_events_pvalue(codes(stored), list(cells(SWAPPED_MEDIATOR).values())) < ALPHA
    assert label_pvalue(stored, quantile) > ALPHA
    assert label_pvalue(stored, quantile, mediator=SWAPPED_MEDIATOR) < ALPHA


def test_the_mirrored_set_has_the_mirrored_gap():
    """Turning three signs around turns the gap around, at the mirrored quantile."""
    gaps = [
        (rate(1, quantile, sign=sign) - rate(0, quantile, sign=sign))
        for quantile, sign in ((0.25, 1), (0.75, -1), (0.5, 1), (0.5, -1))
    ]

    assert gaps[0] == pytest.approx(-gaps[1], abs=1e-9)
    assert gaps[2] == pytest.approx(-gaps[3], abs=1e-9)
