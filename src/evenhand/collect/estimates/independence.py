r"""Whether an outcome can be independent of the reports once the true group is known.

If it is, then among people with one outcome the reports that support a group are at least as many as if none
of them were in it, and at most as many as if all were: binomial counts with the probabilities q and p, or
with the least and the largest probability of the report where a matrix says it. A count beyond both is one
that no true groups could have made, and the rates computed from it are wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from evenhand.collect.estimates.outcome_counts import OutcomeCounts
    from evenhand.collect.protocols.channel import Channel
    from evenhand.collect.protocols.matrix_channel import MatrixChannel

__all__ = ["RARE", "impossible_groups", "made_from_reports", "warning_text"]

RARE = 2.866515718791933e-07
"""The chance beyond which a count is called impossible: one tail at five standard errors."""


def impossible_groups(counts: OutcomeCounts, channel: Channel | MatrixChannel) -> npt.NDArray[np.intp]:
    """Return the groups whose reports no true groups could have made, by exact binomial tests.

    Each group has four tests (two outcomes, two sides), so an independent outcome is suspected with a
    chance of at most 1.15e-6 for each group.
    """
    people = counts.people[:, None].astype(float)
    support = counts.support.astype(float)
    few = _at_least(people - support, people, 1 - channel.least)
    many = _at_least(support, people, channel.most)
    return np.flatnonzero((np.minimum(few, many) < RARE).any(axis=0))


def _at_least(
    count: npt.NDArray[np.float64], people: npt.NDArray[np.float64], chance: Any
) -> npt.NDArray[np.float64]:
    """Return the probability of so many or more successes, for any number of people."""
    from scipy.special import betainc  # noqa: PLC0415 (slow to import)

    some = count > 0
    return np.where(some, betainc(np.where(some, count, 1.0), people - count + 1, chance), 1.0)


_NEEDS = (
    "group_rates needs an outcome that does not depend on a person's report once their true group is known; "
    "predictions made from the reports depend on it. "
    "Hint: use observed outcomes, or decisions that never saw the reports."
)


def made_from_reports() -> str:
    """Return the warning for an outcome that is said to be made from the reports."""
    return f"The outcome is made from the reports, so these are not the rates of the true groups: {_NEEDS}"


def warning_text(labels: tuple[Any, ...], groups: npt.NDArray[np.intp]) -> str:
    """Return the warning for groups whose reports no true groups could have made."""
    named = ", ".join(repr(labels[group]) for group in groups[:3])
    more = f" and {len(groups) - 3} more" if len(groups) > 3 else ""
    return (
        f"The rates are wrong: with this outcome, what the reports say of group {named}{more} lies outside "
        "of 0 to 1 by more than 5 standard errors. "
        f"The outcome was made from the reports, or the reports are not of this protocol: {_NEEDS}"
    )
