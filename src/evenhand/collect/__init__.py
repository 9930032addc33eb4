"""Collecting answers from people who each randomise their own (local differential privacy)."""

from evenhand.collect.base import Protocol
from evenhand.collect.estimate import Frequencies
from evenhand.collect.grr import GRR
from evenhand.collect.hashing import BLH, OLH
from evenhand.collect.registry import PROTOCOLS, protocol_from, protocol_named
from evenhand.collect.reports import Reports
from evenhand.collect.subset import SS
from evenhand.collect.thresholded import THE
from evenhand.collect.unary import OUE, RAPPOR

__all__ = [
    "BLH",
    "GRR",
    "OLH",
    "OUE",
    "PROTOCOLS",
    "RAPPOR",
    "SS",
    "THE",
    "Frequencies",
    "Protocol",
    "Reports",
    "protocol_from",
    "protocol_named",
]
