"""Engines: data of any length, privatised and estimated in bounded memory."""

from evenhand.engine import dask, spark
from evenhand.engine.estimates import FileEstimates, count_file, estimate_file
from evenhand.engine.privatize import Privatized, privatize_file
from evenhand.engine.report_blocks import ReportPlan, reporter
from evenhand.engine.verification.checks import Check, Verification
from evenhand.engine.verification.verify import verify
from evenhand.privacy.randomness import RunKey

__all__ = [
    "Check",
    "FileEstimates",
    "Privatized",
    "ReportPlan",
    "RunKey",
    "Verification",
    "count_file",
    "dask",
    "estimate_file",
    "privatize_file",
    "reporter",
    "spark",
    "verify",
]
