"""Deciding: who gains and who loses when money and rights follow private data."""

from evenhand.decide import bounds, bounds_curvature, mitigate  # noqa: F401 - modules that people reach by name
from evenhand.decide.allotment.allotment import Allotment, Formula, award_cents
from evenhand.decide.exact.noise import guarantee_of, noise_of
from evenhand.decide.exact.rule_probability import exactly_solvable, rule_probability
from evenhand.decide.language.parse import parse
from evenhand.decide.language.rule import Rule
from evenhand.decide.language.terms import Ratio, Term, count, ratio, threshold
from evenhand.decide.result.bias import bias
from evenhand.decide.result.breakdown import Breakdown, EntityClass, GroupGain, GroupShares, group_shares
from evenhand.decide.result.decided import Decided
from evenhand.decide.result.entities import Entities
from evenhand.decide.result.figures import Affected

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
