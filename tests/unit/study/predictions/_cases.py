"""Predictions of made-up people, for the tests of their audit."""

import numpy as np

from evenhand.study.predictions.audit import PredictionAudit
from evenhand.study.predictions.columns import encode_group, read_predictions
from evenhand.study.predictions.rules import Rule


def people(men=(160, 40, 60, 140), women=(90, 110, 30, 170)):
    """Return outcomes, predictions and groups from counts of 11, 10, 01 and 00 (outcome, prediction)."""
    rows = [
        (outcome, predicted, group)
        for group, counts in (("men", men), ("women", women))
        for (outcome, predicted), count in zip(((1, 1), (1, 0), (0, 1), (0, 0)), counts, strict=True)
        for _ in range(count)
    ]
    truth, predicted, group = zip(*rows, strict=True)
    return np.array(truth), np.array(predicted), list(group)


def crossed_people(rates, size=200):
    """Return decisions without outcomes, with sex and race, of groups that are selected so often."""
    rows = [
        (place < round(size * rate), sex, race)
        for (sex, race), rate in rates.items()
        for place in range(size)
    ]
    predicted, sex, race = zip(*rows, strict=True)
    return None, np.array(predicted).astype(int), {"sex": list(sex), "race": list(race)}


HIDDEN = {("women", "black"): 0.8, ("women", "white"): 0.2, ("men", "black"): 0.2, ("men", "white"): 0.8}
SHOWN = {("women", "black"): 0.2, ("women", "white"): 0.2, ("men", "black"): 0.8, ("men", "white"): 0.8}


def audit(truth, predicted, group, *, scores=None, weights=None, person=None, rules=(), **options):
    columns = {"outcome": truth, "prediction": predicted, "score": scores, "weight": weights}
    columns["person"] = person
    there = {name: values for name, values in columns.items() if values is not None}
    names = {"outcome": "hired", "prediction": "offer", "score": "risk", "weight": "weight", "person": "id"}
    reading = {
        name: options.pop(name)
        for name in ("positive", "predicted", "threshold", "pool_below")
        if name in options
    }
    columns = group if isinstance(group, dict) else {"sex": group}
    coded = {name: encode_group(values, name) for name, values in columns.items()}
    rows = read_predictions(there, coded, names=names, **reading)
    return PredictionAudit(rows=rows, rules=tuple(map(Rule.parse, rules)), **options)
