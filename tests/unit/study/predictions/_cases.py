"""Predictions of made-up people, for the tests of their audit."""

import numpy as np

from evenhand.measure.disparities import comparison_named
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


def audit(
    truth, predicted, group, *, scores=None, weights=None, rules=(), headline="selection_gap", **options
):
    columns = {"outcome": truth, "prediction": predicted, "score": scores, "weight": weights}
    there = {name: values for name, values in columns.items() if values is not None}
    names = {"outcome": "hired", "prediction": "offer", "score": "risk", "weight": "weight"}
    reading = {name: options.pop(name) for name in ("positive", "predicted", "threshold") if name in options}
    rows = read_predictions(there, {"sex": encode_group(group)}, names=names, **reading)
    return PredictionAudit(rows, comparison_named(headline), tuple(map(Rule.parse, rules)), **options)
