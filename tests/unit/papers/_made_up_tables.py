"""Records of zhu2023 made by hand: findings and numbers can be planted in them."""

from evenhand.papers.claims import Evidence
from evenhand.papers.zhu2023.data import (
    AGAINST_ALL,
    ANONYMITY,
    BY_THRESHOLD,
    DATA,
    EPSILONS,
    EXACT,
    GAUSSIAN,
    LAPLACE,
    MECHANISMS,
    PRINTED,
    READINGS,
    SHARES,
    SMALLER_NOISE,
    THRESHOLDS,
)
from evenhand.papers.zhu2023.experiments import BASELINE, MAJORITY, ORIGINAL, ORIGINALS

EXPERIMENTS = 6


def wobble(number):
    """Return a number near 1 that differs from one experiment to the next."""
    return 1 + 0.001 * (number % 3 - 1)


def table_record(name, number, *, times=1.0, mechanisms=MECHANISMS):
    """Return an experiment whose numbers are the printed ones, times something."""
    found = {
        mechanism: {
            text: {
                "l1": float(PRINTED[name][mechanism, text].l1) * times * wobble(number),
                "alpha": float(PRINTED[name][mechanism, text].alpha) * times * wobble(number),
                "error": 1.0,
            }
            for text in EPSILONS
        }
        for mechanism in mechanisms
    }
    other = {text: {"l1": 1.0, "alpha": 1.0, "error": 1.0} for text in EPSILONS}
    return {"numbers": found | dict.fromkeys((SMALLER_NOISE, BY_THRESHOLD, AGAINST_ALL), other)}


def exact_record(name, *, times=1.0, areas=None, smaller=0.5, people=10_000):
    """Return what is known exactly: printed deltas times something, and half of the printed alphas."""
    numbers = {}
    for (mechanism, text), row in PRINTED[name].items():
        delta = float(row.delta) * times
        known = {"delta": delta, "exact delta": delta / 10}
        if mechanism != ANONYMITY:
            known |= {"l1": float(row.l1), "alpha": float(row.alpha) / (2 if mechanism == LAPLACE else 1)}
        numbers.setdefault(mechanism, {})[text] = known
    numbers[SMALLER_NOISE] = {
        text: {"l1": smaller * each["l1"], "alpha": 1.0, "exact delta": 0.1}
        for text, each in numbers[GAUSSIAN].items()
    }
    return {
        "name": name,
        "people": people,
        "areas": DATA[name].areas if areas is None else areas,
        "columns": 26,
        "cells": 540,
        "empty": 300,
        "numbers": numbers,
        "bounds": {
            text: {f"theorem {each}": (1.0, 1.0 if each == 4 else 2.0) for each in (2, 4, 7, 8, 9)}
            for text in EPSILONS
        },
        "shipped": {LAPLACE: {text: {"delta": 0.0, "l1": 1.0, "alpha": 1.0} for text in EPSILONS}},
    }


def figure_record(number, *, gap=0.02, sign=-1.0):
    """Return originals at 100, and counterparts whose distance falls from `gap` of it as epsilon rises.

    The counterparts are below the originals, or above with another sign.
    """
    near = dict(zip(EPSILONS, (4.0, 3.0, 2.0, 1.0), strict=True))

    def summary(value):
        return {"error": value * wobble(number), "alpha": value * wobble(number), "l1": value}

    def counterparts():
        return {text: summary(100 * (1 + sign * gap * near[text])) for text in EPSILONS}

    against = {f"{text}, everybody": summary(500.0) for text in EPSILONS}
    return {
        "suppression": {str(k): {ORIGINAL: summary(100.0), **counterparts()} for k in THRESHOLDS},
        "swapping": {
            **{reading: {str(share): summary(100.0) for share in SHARES} for reading in READINGS},
            "epsilon": counterparts(),
        },
        "k-anonymity": {str(k): {ORIGINAL: summary(100.0), **counterparts(), **against} for k in THRESHOLDS},
    }


def accuracy_record(number, *, counterparts=0.70, classical=0.795):
    """Return accuracies: 0.8 for the baseline, and those of the two kinds of mechanisms."""
    found = {BASELINE: {"": 0.8}, MAJORITY: {"": 0.6}}
    found |= {each: {"": 0.7} for each in ORIGINALS.values()}
    for mechanism in MECHANISMS:
        level = counterparts if mechanism in ORIGINALS else classical
        found[mechanism] = dict.fromkeys(EPSILONS, level * wobble(number))
    return {"plain": found, "areas": found}


def evidence(tables=None, exact=None, figures=None, accuracies=None, coded=None):
    """Return records of all three data sets, with what is given handed to those who make them."""
    trials = {EXACT: {place: exact_record(name, **(exact or {})) for place, name in enumerate(DATA)}}
    for name in DATA:
        numbers = range(EXPERIMENTS)
        trials[f"tables-{name}"] = {each: table_record(name, each, **(tables or {})) for each in numbers}
        trials[f"ipums-{name}"] = {each: table_record(name, each, **(coded or {})) for each in numbers}
        trials[f"figures-{name}"] = {each: figure_record(each, **(figures or {})) for each in numbers}
        trials[f"classification-{name}"] = {
            each: accuracy_record(each, **(accuracies or {})) for each in numbers
        }
    return Evidence({}, None, trials)
