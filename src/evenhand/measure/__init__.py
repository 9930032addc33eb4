"""Group measures with intervals: who gets what, how far apart, and how sure.

A disparity is computed the same way whatever protected the data.
"""

from evenhand.measure.alpha import BiasEstimate, alpha_fairness, bias_from_runs, l1_bias
from evenhand.measure.bootstrap import bootstrap_interval
from evenhand.measure.counts import CountTable, count_table
from evenhand.measure.gaps import MEASURES, Measured
from evenhand.measure.groups import GroupReport, group_report
from evenhand.measure.intervals import (
    Interval,
    clopper_pearson,
    mean_of_shares,
    newcombe,
    share_ratio,
    wilson,
)
from evenhand.measure.rates import RATES, GroupRates
from evenhand.measure.repeats import NoisePart, NoiseParts, noise_parts
from evenhand.measure.unfairness import data_unfairness

__all__ = [
    "MEASURES",
    "RATES",
    "BiasEstimate",
    "CountTable",
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
    "share_ratio",
    "wilson",
]
