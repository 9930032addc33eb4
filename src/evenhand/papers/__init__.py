"""Papers, reproduced: their plans, their claims, and what came of them.

What runs a paper is loaded when it is first used, so that the list of papers can be read at next to no cost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand._lazy import lazy_names
from evenhand.papers.claims import Claim, ClaimRow, Evidence
from evenhand.papers.paper import DESIGNS, PAPERS, Paper, Study, paper_named

if TYPE_CHECKING:
    from evenhand.papers.reproduction import Reproduction, examine, reproduce

__all__ = [
    "DESIGNS",
    "PAPERS",
    "Claim",
    "ClaimRow",
    "Evidence",
    "Paper",
    "Reproduction",
    "Study",
    "examine",
    "paper_named",
    "reproduce",
]

__getattr__ = lazy_names(__name__, {"reproduction": ("Reproduction", "examine", "reproduce")})


def __dir__() -> list[str]:
    return sorted(__all__)
