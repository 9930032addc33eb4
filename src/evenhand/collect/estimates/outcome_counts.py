r"""Reports counted by outcome: all that the rates of the true groups are computed from.

Rates of the true groups need an outcome that is independent of the reports once the true group is known. If
it is, then among people with one outcome the reports that support a group are at least as many as if none of
them were in it, and at most as many as if all were: binomial counts with the probabilities q and p, or with
the least and the largest probability of the report where a matrix says it. A count beyond both is one that no
true groups could have made, and the rates computed from it are wrong.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from evenhand._lazy import lazy
from evenhand._validate import refuse
from evenhand.collect.estimates.frequencies import count_together
from evenhand.collect.reports.layouts import IntegerLayout
from evenhand.errors import IndependenceWarning, LimitExceededError
from evenhand.measure.columns import read_column, same_length
from evenhand.measure.report_text import quote_group

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from evenhand.collect.estimates.crossed_channel import CrossedChannel
    from evenhand.collect.protocols.base import Protocol
    from evenhand.collect.protocols.channel import Channel, MatrixChannel
    from evenhand.collect.reports.reports import Reports

special = lazy("scipy.special")
stats = lazy("scipy.stats")

MOST_GROUPS = 1_024
"""Groups whose supports are counted two by two, for each outcome."""

_CELLS_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class OutcomeCounts:
    """How many people have each outcome, and how many of their reports support each group.

    Parameters
    ----------
    people : array of shape (2,)
        People with outcome 0 and with outcome 1.
    together : array of shape (2, k, k)
        ``together[y, u, v]`` reports of people with outcome ``y`` support both ``u`` and ``v``; the diagonal
        holds how many support each group.
    members : array of bool of shape (groups, k), optional
        Where columns are crossed: which of the k counts add up to the support of each group. By default each
        count is that of one group.
    """

    people: npt.NDArray[Any]
    together: npt.NDArray[Any]
    members: npt.NDArray[np.bool_] | None = None

    @property
    def n(self) -> int:
        """How many people there are."""
        return int(self.people.sum())

    @property
    def k(self) -> int:
        """How many groups there are."""
        return int(self.together.shape[1]) if self.members is None else len(self.members)

    @property
    def support(self) -> npt.NDArray[Any]:
        """How many reports of people with each outcome support each group, of shape (2, groups)."""
        counts = np.diagonal(self.together, axis1=1, axis2=2)
        return counts if self.members is None else counts @ self.members.T

    def __add__(self, other: OutcomeCounts) -> OutcomeCounts:
        """Return the counts of both, of reports that were made alike."""
        people, together = self.people + other.people, self.together + other.together
        return replace(self, people=people, together=together)

    @classmethod
    def of_chunks(
        cls, outcome: npt.NDArray[Any], chunks: Iterable[npt.NDArray[np.uint8]], k: int
    ) -> OutcomeCounts:
        """Count such arrays one block of people after the other."""
        together, start = np.zeros((2, k, k), dtype=np.int64), 0
        for chunk in chunks:
            positive = outcome[start : start + len(chunk)] == 1
            together[1] += count_together([chunk[positive]], k)
            together[0] += count_together([chunk[~positive]], k)
            start += len(chunk)
        return cls(_people(outcome), together)


class ColumnCounts(NamedTuple):
    """How many reports of a column there are, how many support each value, and the same by outcome."""

    reports: int
    counts: npt.NDArray[np.int64]
    by_outcome: OutcomeCounts | None = None


class CrossedCounts(NamedTuple):
    """Reports counted by outcome and by the combinations of several columns."""

    columns: tuple[str, ...]
    counts: OutcomeCounts


class CountedBy(NamedTuple):
    """A column in the clear by which reports were counted, and the value of it that counts as 1."""

    column: str
    positive: str | None = None


def count_outcomes(outcome: npt.NDArray[Any], reports: Reports, protocol: Protocol) -> OutcomeCounts:
    """Count reports by outcome, one block after the other.

    Parameters
    ----------
    outcome : array of 0 and 1
        One for each report.
    reports : Reports
        What the people sent.
    protocol : Protocol
        What made them.
    """
    k = protocol.k
    if k > MOST_GROUPS:
        refuse_many_groups(k)
    if isinstance(protocol.layout, IntegerLayout):
        return count_values(outcome, reports.values, k)
    return OutcomeCounts.of_chunks(outcome, protocol.indicator_chunks(reports, rows=block_rows(k)), k)


def count_values(outcome: npt.NDArray[Any], values: npt.NDArray[Any], k: int) -> OutcomeCounts:
    """Count reports that name one of `k` values each, so that none supports two together."""
    cells = np.bincount(values + outcome * np.intp(k), minlength=2 * k).reshape(2, k)
    return OutcomeCounts(_people(outcome), cells[:, :, None] * np.eye(k, dtype=np.int64))


def block_rows(k: int) -> int:
    """Return how many reports of `k` numbers each are looked at together."""
    return max(1, _CELLS_AT_ONCE // k)


def refuse_many_groups(k: int) -> NoReturn:
    """Refuse more groups than a table of every two of them is made for."""
    raise LimitExceededError(
        f"Rates of {k:,} groups need a table of every two of them; {MOST_GROUPS:,} groups is the most. "
        "Hint: merge groups into fewer before they are reported.",
        limit="groups",
    )


def _people(outcome: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    ones = int(np.count_nonzero(outcome))
    return np.array([outcome.size - ones, ones], dtype=np.int64)


SUSPECT = 1e-4
"""The chance with which training is suspected that memorised nothing."""

RARE = 2.866515718791933e-07
"""The chance beyond which a count is called impossible: one tail at five standard errors."""


def impossible_groups(
    counts: OutcomeCounts, channel: Channel | MatrixChannel | CrossedChannel
) -> npt.NDArray[np.intp]:
    """Return the groups whose reports no true groups could have made, by exact binomial tests.

    Each group has four tests (two outcomes, two sides), so an independent outcome is suspected with a
    chance of at most 1.15e-6 for each group.
    """
    people = counts.people[:, None].astype(float)
    support = counts.support.astype(float)
    few = _at_least(people - support, people, 1 - channel.least)
    many = _at_least(support, people, channel.most)
    return np.flatnonzero((np.minimum(few, many) < RARE).any(axis=0))


def read_trained_on(trained_on: Any, reports: Any, *, owner: str) -> npt.NDArray[np.bool_]:
    """Return who was in the training; there must be others to compare them with."""
    part = read_column(trained_on, name="trained_on", owner=owner)
    same_length([("reports", reports), ("trained_on", part)], owner=owner)
    if part.dtype != np.bool_ or part.all() or not part.any():
        must_be = "True for people in the training and False for the others, of whom there must be some"
        refuse("trained_on", owner, must_be, "something else")
    return part


def differing_groups(whole: OutcomeCounts, part: OutcomeCounts) -> npt.NDArray[np.intp]:
    """Return the groups that a part of the people support more or less often than the others, by exact tests.

    People with one outcome are compared with each other. If the part was drawn at random, how many of it
    support a group follows a hypergeometric law. Each group has four tests (two outcomes, two sides).
    """
    people, support = whole.people[:, None], whole.support
    drawn, found = part.people[:, None], part.support
    few = stats.hypergeom.cdf(found, people, support, drawn)
    many = stats.hypergeom.sf(found - 1, people, support, drawn)
    return np.flatnonzero((np.minimum(few, many) < SUSPECT / (4 * whole.k)).any(axis=0))


def _at_least(
    count: npt.NDArray[np.float64], people: npt.NDArray[np.float64], chance: Any
) -> npt.NDArray[np.float64]:
    """Return the probability of so many or more successes, for any number of people."""
    some = count > 0
    return np.where(some, special.betainc(np.where(some, count, 1.0), people - count + 1, chance), 1.0)


_NEEDS = (
    "group_rates needs an outcome that does not depend on a person's report once their true group is known; "
    "predictions made from the reports depend on it. "
    "Hint: use observed outcomes, or decisions that never saw the reports."
)


DEPENDENT_OUTCOME = (
    f"The outcome is made from the reports, so these are not the rates of the true groups: {_NEEDS}"
)
"""The warning for an outcome that is said to be made from the reports."""


def warn_of_impossible_groups(*estimates: Any, stacklevel: int) -> None:
    """Warn of the first :class:`GroupRates` whose reports no true groups could have made."""
    for estimate in estimates:
        impossible = impossible_groups(estimate.counts, estimate.channel)
        if impossible.size:
            text = (
                "The rates are wrong: with this outcome, what the reports say of group "
                f"{_name_groups(estimate, impossible)} lies outside of 0 to 1 by more than 5 standard "
                "errors. "
                f"The outcome was made from the reports, or the reports are not of this protocol: {_NEEDS}"
            )
            warnings.warn(text, IndependenceWarning, stacklevel=stacklevel)
            return


def warn_of_training(whole: Any, trained: Any, *, stacklevel: int) -> None:
    """Warn of the first :class:`GroupRates` in which people in the training differ from the others.

    Parameters
    ----------
    whole, trained : GroupRates
        Of all people, and of those in the training.
    stacklevel : int
        Whose line the warning names.
    """
    for estimate, part in zip(
        (whole, *whole.margins.values()), (trained, *trained.margins.values()), strict=True
    ):
        differing = differing_groups(estimate.counts, part.counts)
        if differing.size:
            text = (
                "These are not the rates of new people, and may be wrong for everybody: with the same "
                f"outcome, people in the training report group {_name_groups(estimate, differing)} more or "
                "less often than the others. The model memorised their reports or labels, or they were not "
                "chosen at random. Hint: leave them out, with outcome[~trained_on] and reports[~trained_on]."
            )
            warnings.warn(text, IndependenceWarning, stacklevel=stacklevel)
            return


def _name_groups(estimate: Any, groups: npt.NDArray[np.intp]) -> str:
    named = ", ".join(quote_group(estimate.labels[group]) for group in groups[:3])
    return named + (f" and {len(groups) - 3} more" if len(groups) > 3 else "")
