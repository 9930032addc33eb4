"""Engines: data of any length, privatised and estimated in bounded memory."""

from evenhand.engine.estimates import FileEstimates, count_file, estimate_file
from evenhand.engine.privatize import Privatized, privatize_file
from evenhand.engine.verification import Check, Verification, verify

__all__ = [
    "Check",
    "FileEstimates",
    "Privatized",
    "Verification",
    "count_file",
    "estimate_file",
    "privatize_file",
    "verify",
]
