r"""The channel of crossed columns: reports of several columns seen as one report of their combination.

Where every column has a report of its own, the score of a combination is the product of the scores of its
values, and the channel is the product of the columns' channels. Where one report names the whole combination
by a matrix, the score of a value of one column is the sum of the scores of all combinations that have it.

Both are linear in *features* of what was sent: in one report of a value, whether it is each value; in a
report of a set, whether it holds each value, and one feature that is always 1. The features of several
reports are all products of one feature of each. Counts of features two by two are whole numbers, and every
moment of the scores follows from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.collect.protocols.channel import ADDED_PEOPLE, Channel, MatrixChannel, mean_other_squares
from evenhand.collect.reports.layouts import IntegerLayout

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from evenhand.collect.protocols.base import Protocol

    Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CrossedChannel:
    """How often each report comes from each combination, with the scores that undo it.

    Parameters
    ----------
    scores : array of shape (k, features)
        The score of a combination is this times the features.
    squares : array of shape (k, k)
        The mean square of the score of a combination (row) for people who have a combination (column), or
        where it depends on more than that the largest mean square.
    support : array of bool of shape (k, features)
        Which features add up to the number of reports that support each combination.
    least, most : array of shape (k,)
        The least and the largest probability that a report supports each combination.
    low, high : array of shape (k,)
        The smallest and the largest score.
    even : array of shape (features, features)
        The mean products of two features if all reports were as likely, made positive definite.
    """

    scores: Floats
    squares: Floats
    support: npt.NDArray[np.bool_]
    least: Floats
    most: Floats
    low: Floats
    high: Floats
    even: Floats

    @classmethod
    def of_protocols(cls, protocols: Sequence[Protocol], *, owner: str) -> CrossedChannel:
        """Return the channel of columns that are reported independently, each by its own protocol.

        >>> from evenhand.collect.protocols.grr import GRR
        >>> both = CrossedChannel.of_protocols([GRR(2, "1"), GRR(3, "1")], owner="group_rates")
        >>> both.scores.shape, bool(np.allclose(both.scores.sum(axis=0), 1))
        ((6, 6), True)
        """
        return reduce(_multiply, (_of_protocol(protocol, owner) for protocol in protocols))

    @classmethod
    def of_margin(cls, whole: MatrixChannel, members: npt.NDArray[np.bool_]) -> CrossedChannel:
        """Return the channel of sets of combinations, where one report names a combination by a matrix.

        Parameters
        ----------
        whole : MatrixChannel
            The channel of the combinations.
        members : array of bool of shape (k, combinations)
            Which combinations belong to each set.
        """
        scores = members @ whole.scores
        by_combination = scores**2 @ whole.matrix.T
        worst = [by_combination[:, inside].max(axis=1) for inside in members]
        parts = whole.matrix @ members.T
        return cls(
            scores=scores,
            squares=np.stack(worst, axis=1),
            support=members,
            least=parts.min(axis=0),
            most=parts.max(axis=0),
            low=scores.min(axis=1),
            high=scores.max(axis=1),
            even=_even_reports(members.shape[1]),
        )

    @property
    def k(self) -> int:
        """How many combinations there are."""
        return len(self.scores)

    @property
    def features(self) -> int:
        """How many features are counted."""
        return int(self.scores.shape[1])

    @property
    def step(self) -> Floats:
        """The most that one other report changes in the score of each combination."""
        return self.high - self.low

    def sums(self, support: npt.NDArray[Any], people: npt.NDArray[Any]) -> Floats:  # noqa: ARG002 - as Channel
        """Return the sums of scores from the counts of features, along the last axis."""
        return np.asarray(support @ self.scores.T)

    def smoothed(
        self, together: npt.NDArray[Any], people: npt.NDArray[Any]
    ) -> tuple[Floats, Floats, npt.NDArray[Any]]:
        """Return sums of scores and of products of two scores, and the people, with two people more.

        They are spread evenly over all reports.
        """
        counts = together + ADDED_PEOPLE * self.even
        first = np.diagonal(counts, axis1=-2, axis2=-1) @ self.scores.T
        return first, self.scores @ counts @ self.scores.T, people + ADDED_PEOPLE

    def mean_squares(self, with_outcome: Floats) -> tuple[Floats, Floats]:
        """Return the mean squares of the score of a person in the group, and of one in another."""
        return np.diagonal(self.squares), mean_other_squares(self.squares, with_outcome).max(axis=-2)


def _of_protocol(protocol: Protocol, owner: str) -> CrossedChannel:
    """Return the channel of one column."""
    channel, k = Channel.of(protocol, owner=owner), protocol.k
    channel.require_inverse()
    one, ones = np.eye(k), np.ones(k)
    if isinstance(channel, MatrixChannel):
        scores, squares = channel.scores, channel.squares
    else:
        own, other = channel.mean_squares(one)
        squares = other + (own - other) * one
        scores = (one - float(channel.q)) / channel.width
    if isinstance(protocol.layout, IntegerLayout):
        support, even = one, _even_reports(k)
        low, high = scores.min(axis=1), scores.max(axis=1)
    else:
        support = np.eye(k, k + 1)
        low, high = -channel.least * channel.step * ones, (1 - channel.least) * channel.step * ones
        scores = np.column_stack([one * channel.step, low])
        even = _even_sets(k)
    least, most = channel.least * ones, channel.most * ones
    return CrossedChannel(scores, squares, support > 0, least, most, low, high, even)


def _multiply(first: CrossedChannel, second: CrossedChannel) -> CrossedChannel:
    """Return the channel of two independent reports, the values of the second changing fastest."""
    ends = np.stack([np.kron(a, b) for a in (first.low, first.high) for b in (second.low, second.high)])
    products = {
        name: np.kron(getattr(first, name), getattr(second, name))
        for name in ("scores", "squares", "support", "least", "most", "even")
    }
    return CrossedChannel(**products, low=ends.min(axis=0), high=ends.max(axis=0))


def _even_reports(k: int) -> Floats:
    """Return the mean products of features of a report of one of `k` values.

    Half a report of each value is taken to say another value too: the scores of all values sum to one, and a
    covariance of all of them could not be inverted otherwise.
    """
    one = np.eye(k)
    return np.asarray((one + (1 - one) / (2 * (k - 1))) / k)


def _even_sets(k: int) -> Floats:
    """Return the mean products of features of a report that holds each value with an even chance."""
    even = np.full((k + 1, k + 1), 0.25)
    even[np.arange(k), np.arange(k)] = even[:k, k] = even[k, :k] = 0.5
    even[k, k] = 1.0
    return even
