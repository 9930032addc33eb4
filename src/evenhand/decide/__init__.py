"""Deciding: who gains and who loses when money and rights follow private data."""

from evenhand.decide import bounds, bounds_curvature, mitigate  # noqa: F401 - modules that people reach by name
from evenhand.decide.allotment import Allotment, Formula
from evenhand.decide.awards import award_cents
from evenhand.decide.bias import bias
from evenhand.decide.breakdown import Breakdown, EntityClass
from evenhand.decide.decided import Affected, Decided
from evenhand.decide.entities import Entities
from evenhand.decide.group_shares import GroupGain, GroupShares, group_shares
from evenhand.decide.noise import guarantee_of, noise_of
from evenhand.decide.parse import parse
from evenhand.decide.rule import Rule
from evenhand.decide.shared import exactly_solvable, rule_probability
from evenhand.decide.terms import Ratio, Term, count, ratio, threshold

__all__ = [
    "Affected",
    "Allotment",
    "Breakdown",
    "Decided",
    "Entities",
    "EntityClass",
    "Formula",
    "GroupGain",
    "GroupShares",
    "Ratio",
    "Rule",
    "Term",
    "award_cents",
    "bias",
    "count",
    "exactly_solvable",
    "group_shares",
    "guarantee_of",
    "noise_of",
    "parse",
    "ratio",
    "rule_probability",
    "threshold",
]
