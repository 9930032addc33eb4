"""A measure: how far apart groups are in the share of people whom the predictions miss."""

from typing import Any

import numpy as np

from evenhand.measure import GroupMeasure


def missed_gap(counts: Any) -> float:
    """Return the largest minus the smallest share of a group that has the outcome and is not predicted."""
    sizes = counts.sum(axis=(1, 2))
    return float(np.ptp(counts[:, 1, 0] / sizes)) if sizes.all() else float("nan")


MISSED_GAP = GroupMeasure(
    name="missed-gap", words="gap in the share of people who are missed", value=missed_gap
)
