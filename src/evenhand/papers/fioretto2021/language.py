"""The language rule of fioretto2021 without any draws: how often noise turns each of its parts round."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.decide.bounds import composed_error
from evenhand.decide.exact.rule_probability import rule_probability
from evenhand.decide.language.terms import count, ratio
from evenhand.papers.fioretto2021.allotment import significant
from evenhand.papers.fioretto2021.data import AREAS, areas
from evenhand.papers.fioretto2021.printed import LANGUAGE_EPSILONS
from evenhand.privacy.laws import Laplace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.decide.language.rule import Rule

    Values = NDArray[np.float64]

__all__ = ["INDEPENDENT", "PARTS", "TOUCHES", "WHOLE", "language_record", "part_errors", "parts"]

TOUCHES = ("1", "3")
"""Of how many counts the noise takes care: one, as printed, or the three that a person may be in."""

WHOLE, INDEPENDENT = "rule", "rule, if independent"
PARTS = ("share", "number", "schooling", "share or number", "share and schooling", "number or schooling")
"""The three comparisons, and the pairs of figures 4 and 5."""


@lru_cache(maxsize=1)
def parts() -> dict[str, Rule]:
    """Return the rule and its parts; a ratio is computed as it stands, as in the paper."""
    share = ratio("sp", "s", nonpositive="signed") > Fraction("0.05")
    number = count("sp") > 10_000
    schooling = ratio("spe", "sp", nonpositive="signed") > Fraction("0.0131")
    return {
        WHOLE: (share | number) & schooling,
        "share": share,
        "number": number,
        "schooling": schooling,
        "share or number": share | number,
        "share and schooling": share & schooling,
        "number or schooling": number | schooling,
    }


@lru_cache(maxsize=64)
def part_errors(name: str, epsilon: str, touches: str = "1") -> dict[str, Values]:
    """Return how often noise turns the rule and each part round, one probability for each area."""
    table = areas(name)
    laws = dict.fromkeys(("s", "sp", "spe"), Laplace(int(touches) / Fraction(epsilon)))
    found, truth = {}, {}
    for part, rule in parts().items():
        truth[part] = np.asarray(rule.holds(table.columns), dtype=bool)
        holds = np.asarray(rule_probability(rule, table.columns, laws), dtype=float)
        found[part] = np.where(truth[part], 1 - holds, holds)
    either = composed_error(
        "or", found["share"], found["number"], first_true=truth["share"], second_true=truth["number"]
    )
    found[INDEPENDENT] = composed_error(
        "and", either, found["schooling"], first_true=truth["share or number"], second_true=truth["schooling"]
    )
    return found


def language_record(number: int) -> dict[str, Any]:
    """Return everything about one of the tables of areas."""
    name = list(AREAS)[number]
    table = areas(name)
    return {
        "name": name,
        "areas": len(table.s),
        "drawn": int(table.drawn.sum()),
        "covered": table.covered.tolist(),
        "names": table.names.tolist() if name == "determined" else [],
        **{column: values.tolist() for column, values in table.columns.items()},
        "truth": {part: rule.holds(table.columns).tolist() for part, rule in parts().items()},
        "errors": {
            touches: {
                text: {part: significant(each) for part, each in part_errors(name, text, touches).items()}
                for text in LANGUAGE_EPSILONS
            }
            for touches in TOUCHES
        },
    }
