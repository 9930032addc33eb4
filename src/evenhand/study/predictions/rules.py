"""Rules that predictions must keep, such as the 80% rule, and whether they do: yes, no, or unclear."""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evenhand.decide.language.tokens import refuse_text, tokenize
from evenhand.measure.disparities import comparison_named

if TYPE_CHECKING:
    from evenhand.measure.disparities import Disparity

Verdict = Literal["pass", "fail", "unclear"]

_PERCENT_RULE = re.compile(r"\s*([0-9]{1,2}(?:\.[0-9]+)?)\s*%\s*(?:rule)?\s*", re.IGNORECASE)
_SIGNS = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}


@dataclass(frozen=True)
class Rule:
    """A comparison and the limit that it must keep: a share, such as 0.05 for five points, or a ratio."""

    text: str
    comparison: str
    sign: str
    limit: float

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Return the rule of a text: ``80%``, or a comparison, a sign and a number.

        The first is the rule of four fifths: no group is selected less than 80% as often as another. What
        cannot be read is a RuleError that points at the place.

        Examples
        --------
        >>> Rule.parse("80%")
        Rule(text='80%', comparison='selection_ratio', sign='>=', limit=0.8)
        >>> Rule.parse("equalized odds difference <= 0.1").comparison
        'odds_gap'
        """
        percent = _PERCENT_RULE.fullmatch(text)
        if percent:
            return cls(text.strip(), "selection_ratio", ">=", float(percent[1]) / 100)
        *names, sign, limit, end = [None] * 4 + tokenize(text.replace("-", "_"), keywords=())
        words = [name for name in names if name is not None]
        if end is None or limit is None or sign is None or not words or any(w.kind != "name" for w in words):
            refuse_text(text, 0, expected="80%, or a comparison, a sign and a number", got="another text",
                        hint="write for example 'selection_gap <= 0.05'.")  # fmt: skip
        if sign.text not in _SIGNS or limit.kind != "number" or not 0 <= float(limit.text) <= 1:
            place = sign.place if sign.text not in _SIGNS else limit.place
            refuse_text(text, place, expected="'<=' or '>=' and a number from 0 to 1", got="something else")
        name = comparison_named(" ".join(word.text for word in words))
        return cls(text.strip(), name, sign.text, float(limit.text))

    def judge(self, disparity: Disparity) -> Verdict:
        """Return whether a comparison keeps the rule: only if its whole interval does.

        It breaks the rule if its whole interval does. Else, and where it is undefined, that is unclear.
        """
        if math.isnan(disparity.low) or math.isnan(disparity.high):
            return "unclear"
        holds = {_SIGNS[self.sign](limit, self.limit) for limit in (disparity.low, disparity.high)}
        return "unclear" if len(holds) > 1 else "pass" if holds == {True} else "fail"
