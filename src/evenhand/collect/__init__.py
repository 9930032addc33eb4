"""Collecting answers from people who each randomise their own (local differential privacy).

Names are loaded when they are first used: help texts can read the names of the protocols without numpy, and
scikit-learn and Arrow, which are slow to import, wait until `LocalPrivatizer` and `Memo` are used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.collect.estimates.aggregate import Aggregate
    from evenhand.collect.estimates.frequencies import ConsistentShares, Frequencies, Intervals
    from evenhand.collect.estimates.group_rates import GroupRates, group_rates
    from evenhand.collect.fairest.group_outcomes import GroupOutcomes
    from evenhand.collect.joint.build import optimal_strategy, strategy_for
    from evenhand.collect.joint.combined import Combined, CombinedOptimal
    from evenhand.collect.joint.estimate import JointFrequencies
    from evenhand.collect.joint.independent import Independent, Sampled, Single
    from evenhand.collect.joint.split import sampling_cost, split_budget, split_cost
    from evenhand.collect.joint.split_fair import fair_epsilon, reported_unfairness
    from evenhand.collect.joint.strategy import JointReports, Strategy
    from evenhand.collect.privatizer.transformer import LocalPrivatizer
    from evenhand.collect.protocols.base import Protocol
    from evenhand.collect.protocols.grr import GRR
    from evenhand.collect.protocols.hashing import BLH, OLH, HashFamily
    from evenhand.collect.protocols.optimal import Certificate, Optimal, Unfairness
    from evenhand.collect.protocols.registry import PROTOCOLS, protocol_from, protocol_named
    from evenhand.collect.protocols.subset import SS
    from evenhand.collect.protocols.thresholded import THE
    from evenhand.collect.protocols.unary import OUE, RAPPOR
    from evenhand.collect.reports.memo import Memo
    from evenhand.collect.reports.reports import Reports

__all__ = [
    "BLH",
    "GRR",
    "OLH",
    "OUE",
    "PROTOCOLS",
    "RAPPOR",
    "SS",
    "THE",
    "Aggregate",
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

_NAMES = {
    "estimates.aggregate": ("Aggregate",),
    "estimates.frequencies": ("ConsistentShares", "Frequencies", "Intervals"),
    "estimates.group_rates": ("GroupRates", "group_rates"),
    "fairest.group_outcomes": ("GroupOutcomes",),
    "joint.build": ("optimal_strategy", "strategy_for"),
    "joint.combined": ("Combined", "CombinedOptimal"),
    "joint.estimate": ("JointFrequencies",),
    "joint.independent": ("Independent", "Sampled", "Single"),
    "joint.split": ("sampling_cost", "split_budget", "split_cost"),
    "joint.split_fair": ("fair_epsilon", "reported_unfairness"),
    "joint.strategy": ("JointReports", "Strategy"),
    "privatizer.transformer": ("LocalPrivatizer",),
    "protocols.base": ("Protocol",),
    "protocols.grr": ("GRR",),
    "protocols.hashing": ("BLH", "HashFamily", "OLH"),
    "protocols.optimal": ("Certificate", "Optimal", "Unfairness"),
    "protocols.registry": ("PROTOCOLS", "protocol_from", "protocol_named"),
    "protocols.subset": ("SS",),
    "protocols.thresholded": ("THE",),
    "protocols.unary": ("OUE", "RAPPOR"),
    "reports.memo": ("Memo",),
    "reports.reports": ("Reports",),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        message = f"module 'evenhand.collect' has no attribute {name!r}"
        raise AttributeError(message)
    loaded = getattr(import_module(f"evenhand.collect.{_HOMES[name]}"), name)
    globals()[name] = loaded
    return loaded


def __dir__() -> list[str]:
    return sorted(__all__)
