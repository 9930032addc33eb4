"""Collecting answers from people who each randomise their own (local differential privacy).

`LocalPrivatizer` and `Memo` are loaded when they are first used, since scikit-learn and Arrow are slow to
import.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evenhand.collect.base import Protocol
from evenhand.collect.combined_optimal import CombinedOptimal
from evenhand.collect.estimate import Frequencies
from evenhand.collect.family import HashFamily
from evenhand.collect.group_outcomes import GroupOutcomes
from evenhand.collect.group_rates import GroupRates, group_rates
from evenhand.collect.grr import GRR
from evenhand.collect.hashing import BLH, OLH
from evenhand.collect.joint import (
    Combined,
    Independent,
    JointFrequencies,
    JointReports,
    Sampled,
    Single,
    Strategy,
    strategy_for,
)
from evenhand.collect.optimal import Certificate, Optimal, Unfairness
from evenhand.collect.optimal_strategy import optimal_strategy
from evenhand.collect.registry import PROTOCOLS, protocol_from, protocol_named
from evenhand.collect.reports import Reports
from evenhand.collect.share_limits import Intervals
from evenhand.collect.simplex import ConsistentShares
from evenhand.collect.split import sampling_cost, split_budget, split_cost
from evenhand.collect.split_fair import fair_epsilon, reported_unfairness
from evenhand.collect.subset import SS
from evenhand.collect.thresholded import THE
from evenhand.collect.unary import OUE, RAPPOR

if TYPE_CHECKING:
    from evenhand.collect.memo import Memo
    from evenhand.collect.privatizer import LocalPrivatizer

__all__ = [
    "BLH",
    "GRR",
    "OLH",
    "OUE",
    "PROTOCOLS",
    "RAPPOR",
    "SS",
    "THE",
    "Certificate",
    "Combined",
    "CombinedOptimal",
    "ConsistentShares",
    "Frequencies",
    "GroupOutcomes",
    "GroupRates",
    "HashFamily",
    "Independent",
    "Intervals",
    "JointFrequencies",
    "JointReports",
    "LocalPrivatizer",
    "Memo",
    "Optimal",
    "Protocol",
    "Reports",
    "Sampled",
    "Single",
    "Strategy",
    "Unfairness",
    "fair_epsilon",
    "group_rates",
    "optimal_strategy",
    "protocol_from",
    "protocol_named",
    "reported_unfairness",
    "sampling_cost",
    "split_budget",
    "split_cost",
    "strategy_for",
]

_HOMES = {"LocalPrivatizer": "privatizer", "Memo": "memo"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        message = f"module 'evenhand.collect' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(f"evenhand.collect.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
