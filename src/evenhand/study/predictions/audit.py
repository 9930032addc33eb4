"""An audit of predictions: their numbers, the rules that they must keep, and how its page reads them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from evenhand._validate import boolean
from evenhand.answer.effects import read_matters
from evenhand.measure.decisions import OWNER, DecisionNumbers
from evenhand.study.tasks.shared.fields import participle

if TYPE_CHECKING:
    from evenhand.study.predictions.columns import Predictions
    from evenhand.study.predictions.rules import Rule, Verdict

RATES = {"wrongly_refused": "fnr", "wrongly_selected": "fpr", "wrong": "error", "selected": "selection"}
"""The rate that each effect is, with outcomes; without them it is the last one only."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PredictionAudit(DecisionNumbers):
    """The numbers of predictions, and what :func:`evenhand.measure.page` asks for besides."""

    rows: Predictions
    rules: tuple[Rule, ...] = ()
    unwanted: bool | None = None
    """Whether a positive prediction hurts people; None where nobody said, and it is read as good."""
    matters: tuple[str, ...] = ()
    called: str = ""

    def __post_init__(self) -> None:
        read_matters(self.matters, owner=OWNER, names=tuple(RATES))
        participle(self.called, owner=OWNER)
        if self.unwanted is not None:
            boolean("unwanted", self.unwanted, owner=OWNER)
        super().__post_init__()

    @cached_property
    def verdicts(self) -> tuple[tuple[Rule, Verdict], ...]:
        """Return whether each rule is kept."""
        return tuple((rule, rule.judge(self.disparities[rule.comparison])) for rule in self.rules)

    def to_dict(self) -> dict[str, Any]:
        """Return every number by its name; what cannot be estimated is not a number."""
        rows = self.rows
        return {
            "outcome": rows.outcome if self.is_labelled else None,
            "protected": rows.protected,
            "people": len(rows.predicted),
            "left_out": dict(rows.left_out),
            "unwanted": bool(self.unwanted),
            "unwanted_given": self.unwanted is not None,
            **super().to_dict(),
            "rules": [self.rule_numbers(*judged) for judged in self.verdicts],
        }

    def rule_numbers(self, rule: Rule, verdict: Verdict) -> dict[str, Any]:
        """Return a rule with what was measured and the verdict."""
        found = self.disparities[rule.comparison]
        numbers = {"value": found.value, "low": found.low, "high": found.high}
        return {"rule": rule.text, "comparison": rule.comparison, "limit": rule.limit, **numbers,
                "verdict": verdict}  # fmt: skip
