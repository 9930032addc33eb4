"""Learn from a published table: the people that its counts stand for, and a test on true rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.learn.encoding.reports import feature_matrix, layout
from evenhand.learn.models import classifier, predict_codes
from evenhand.measure import MEASURES, RATES, group_report
from evenhand.study.tasks.groups import margin_rates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.schema import Schema
    from evenhand.study.tasks.base import Prepared

MODEL = "logistic"
"""What learns from a table."""

ENCODER = "one-hot"
"""How its columns become features: one for each value."""


@dataclass(frozen=True)
class Learnt:
    """What came of the model on the test rows: measures, and rates of each group."""

    measures: dict[str, float]
    groups: dict[str, dict[str, float]]


def rebuilt_people(published: NDArray[Any]) -> NDArray[np.int64]:
    """Return how many people a published count stands for: the nearest whole number, and none below zero.

    >>> rebuilt_people(np.array([-3, 0.4, 2.5, 7])).tolist()
    [0, 0, 2, 7]
    """
    whole: NDArray[np.int64] = np.maximum(np.rint(published), 0).astype(np.int64)
    return whole


def learnt_from(
    published: NDArray[Any], prepared: Prepared, tested: NDArray[np.intp], *, seed: int
) -> Learnt:
    """Train on the people that a table stands for, and compare the groups of true rows.

    A cell of n people is one row of weight n, which is the same to a logistic regression as n equal rows.

    Parameters
    ----------
    published : array
        The published counts, in the shape of the table.
    prepared : Prepared
    tested : array
        The rows that test the model; none of them is in the table.
    seed : int
        Of the model.

    Returns
    -------
    Learnt
        With NaN for everything if the table holds nobody, and the one answer for everybody if it holds
        people of one outcome only.
    """
    facts, schema = prepared.facts, prepared.facts.schema
    tested = prepared.stated(tested)
    labels, scores = _predictions(published, schema, prepared, tested, seed)
    if labels is None:
        nothing = dict.fromkeys((*RATES, "people"), math.nan)
        names = (*facts.groups, *(label for margin in facts.margins.values() for label in margin))
        return Learnt(dict.fromkeys(MEASURES, math.nan), {name: dict(nothing) for name in names})
    report = group_report(
        prepared.target[tested],
        labels,
        prepared.group[tested],
        privileged=facts.privileged,
        groups=range(len(facts.groups)),
        scores=scores,
    )
    groups = {}
    for place, label in enumerate(facts.groups):
        rates = report.rates[place]
        groups[label] = {name: float(getattr(rates, name)) for name in RATES}
        groups[label]["people"] = float(rates.size)
    groups |= margin_rates(prepared, tested, labels)
    return Learnt({name: float(report.value(name)) for name in MEASURES}, groups)


def _predictions(
    published: NDArray[Any], schema: Schema, prepared: Prepared, tested: NDArray[np.intp], seed: int
) -> tuple[NDArray[Any] | None, NDArray[np.float64] | None]:
    people = rebuilt_people(published)
    filled = np.flatnonzero(people)
    if not filled.size:
        return None, None
    codes = dict(zip(schema.names, np.unravel_index(filled, people.shape), strict=True))
    column = schema[str(schema.target)]
    outcome = (codes[column.name] == column.domain.code(schema.positive)).astype(np.uint8)
    if outcome.all() or not outcome.any():
        return np.full(len(tested), outcome[0], dtype=np.uint8), None
    model: Any = classifier(MODEL, seed=seed)
    weights = {f"{model.steps[-1][0]}__sample_weight": people.reshape(-1)[filled].astype(np.float64)}
    model.fit(feature_matrix(codes, blocks=layout(schema, ENCODER)), outcome, **weights)
    clean = {name: prepared.codes[name][tested] for name in schema.names if name != schema.target}
    return predict_codes(model, clean, model=MODEL, schema=schema, encoder=ENCODER)
