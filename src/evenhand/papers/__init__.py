"""Papers, reproduced: their plans, their claims, and what came of them."""

from evenhand.papers.claims import Claim, ClaimRow, Evidence
from evenhand.papers.paper import DESIGNS, Paper, Study
from evenhand.papers.reproduction import PAPERS, Reproduction, examine, paper_named, reproduce

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
