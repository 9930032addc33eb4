"""A mitigation: nobody expects less than nine tenths of last year's share."""

from typing import Any

import numpy as np

from evenhand.decide.mitigate.mitigation import Mitigation, add_assumption, build_mitigation, plain_release
from evenhand.decide.mitigate.registry import MitigationKind, MitigationParameter

KEPT = 0.9


def limit_loss(problem: Any, data: Any, noise: Any, *, last_year: Any, **options: Any) -> Mitigation:
    """Raise expected shares to nine tenths of last year's, beyond the budget."""
    plain = plain_release(problem, data, noise, **options)
    amounts = np.asarray(last_year, dtype=np.float64)
    expected = np.maximum(plain.decided.expected, KEPT * amounts / amounts.sum())
    paid = plain.decided.payments  # what single releases pay; left out, it is told as not known
    return build_mitigation(
        "limited loss",
        "Nobody expects less than nine tenths of last year's share.",
        add_assumption(plain.guarantee, "last year's amounts are public"),
        plain.decided,
        (plain.mean_absolute_error, plain.standard_error),
        bias=expected - plain.decided.truth,
        payments=None if paid is None else paid.raise_by(expected - plain.decided.expected),
    )


MITIGATION = MitigationKind(
    name="limited-loss",
    title="At most a tenth less than last year",
    decide=limit_loss,
    problems=("allotment",),
    does="raises shares to nine tenths of last year's",
    guarantee="the same, if last year's amounts are public",
    cost="money beyond the budget",
    parameters=(
        MitigationParameter(
            "last_year", "the column of last year's amounts", value="column", is_needed=True, example="paid"
        ),
    ),
    cautions={"allotment": "**Last year's amounts are taken to be public.** They were paid, and published."},
)
