"""Collecting answers from people who each randomise their own (local differential privacy).

`LocalPrivatizer` and `Memo` are loaded when they are first used, since scikit-learn and Arrow are slow to
import.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evenhand.collect.estimates.frequencies import Frequencies
from evenhand.collect.estimates.group_rates import GroupRates, group_rates
from evenhand.collect.estimates.share_limits import Intervals
from evenhand.collect.estimates.simplex import ConsistentShares
from evenhand.collect.fairest.group_outcomes import GroupOutcomes
from evenhand.collect.joint.build import (
    Combined,
    Independent,
    JointFrequencies,
    JointReports,
    Sampled,
    Single,
    Strategy,
    strategy_for,
)
from evenhand.collect.joint.combined_optimal import CombinedOptimal
from evenhand.collect.joint.optimal_strategy import optimal_strategy
from evenhand.collect.joint.split import sampling_cost, split_budget, split_cost
from evenhand.collect.joint.split_fair import fair_epsilon, reported_unfairness
from evenhand.collect.protocols.base import Protocol
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.hash_family import HashFamily
from evenhand.collect.protocols.hashing import BLH, OLH
from evenhand.collect.protocols.optimal import Certificate, Optimal, Unfairness
from evenhand.collect.protocols.registry import PROTOCOLS, protocol_from, protocol_named
from evenhand.collect.protocols.subset import SS
from evenhand.collect.protocols.thresholded import THE
from evenhand.collect.protocols.unary import OUE, RAPPOR
from evenhand.collect.reports.reports import Reports

if TYPE_CHECKING:
    from evenhand.collect.privatizer.transformer import LocalPrivatizer
    from evenhand.collect.reports.memo import Memo

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

_HOMES = {"LocalPrivatizer": "privatizer.transformer", "Memo": "reports.memo"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        message = f"module 'evenhand.collect' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(f"evenhand.collect.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
