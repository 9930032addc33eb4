"""Group measures with intervals: who gets what, how far apart, and how sure.

A disparity is computed the same way whatever protected the data. ``page`` stands two layers above, with all
pages, and is found by its name when it is first used: no module of this package imports it.
"""

from importlib import import_module
from typing import Any

from evenhand.measure.added import GroupMeasure
from evenhand.measure.alpha import BiasEstimate, alpha_fairness, bias_from_runs, l1_bias
from evenhand.measure.bootstrap import bootstrap_interval
from evenhand.measure.counts import RATES, CountTable, GroupRates, count_table
from evenhand.measure.gaps import MEASURES, Measured, data_unfairness
from evenhand.measure.groups import GroupReport, group_report
from evenhand.measure.intervals import (
    Interval,
    clopper_pearson,
    mean_of_shares,
    newcombe,
    share_difference,
    share_ratio,
    wilson,
)
from evenhand.measure.repeats import NoisePart, NoiseParts, noise_parts

__all__ = [
    "MEASURES",
    "RATES",
    "BiasEstimate",
    "CountTable",
    "GroupMeasure",
    "GroupRates",
    "GroupReport",
    "Interval",
    "Measured",
    "NoisePart",
    "NoiseParts",
    "alpha_fairness",
    "bias_from_runs",
    "bootstrap_interval",
    "clopper_pearson",
    "count_table",
    "data_unfairness",
    "group_report",
    "l1_bias",
    "mean_of_shares",
    "newcombe",
    "noise_parts",
    "page",
    "share_difference",
    "share_ratio",
    "wilson",
]

_PAGE = "evenhand.study.predictions.page"


def __getattr__(name: str) -> Any:
    if name != "page":
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return import_module(_PAGE).page
