r"""What a channel does: the unfairness that is left in its reports, and how often it says another group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from evenhand._validate import one_of
from evenhand.collect.fairest.population import Population, check_matrix, population
from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float64]

    Kind = Literal["ratio", "difference"]

__all__ = [
    "KINDS",
    "channel_error",
    "channel_unfairness",
    "grr_matrix",
    "printed_channel",
    "require_outcome",
    "unfairness_of",
]

KINDS: tuple[Kind, ...] = ("ratio", "difference")


def channel_unfairness(
    matrix: npt.ArrayLike, weights: npt.ArrayLike, rates: npt.ArrayLike, *, kind: Kind = "ratio"
) -> float:
    r"""Return how far the outcome still depends on the group that a channel reports.

    With :math:`\rho_a = \Pr(Y = 1 \mid Z = a)` and :math:`\pi = \Pr(Y = 1)`,

    .. math:: \Delta = \max_a |\rho_a / \pi - 1|, \qquad \Delta' = \max_a \rho_a - \min_a \rho_a,

    where :math:`Z` is the reported group, :math:`Y` the outcome, :math:`\Delta` is ``kind="ratio"`` and
    :math:`\Delta'` is ``kind="difference"``. Zero means that a report tells nothing about the outcome.

    Parameters
    ----------
    matrix : array-like of shape (k, k)
        Row :math:`i` holds the probabilities of the reports of somebody in group :math:`i`.
    weights, rates : array-like of shape (k,)
        Share of each group, and share with outcome 1 in it.
    kind : {"ratio", "difference"}, default "ratio"
        Which of the two.

    Examples
    --------
    >>> truth = [[1, 0], [0, 1]]
    >>> round(channel_unfairness(truth, [0.7, 0.3], [0.2, 0.6], kind="difference"), 12)
    0.4
    """
    owner = "channel_unfairness"
    people = population(weights, rates, 1, owner=owner)
    channel = check_matrix(matrix, k=people.k, owner=owner)
    return unfairness_of(channel, people, one_of("kind", kind, KINDS, owner=owner), owner=owner)


def unfairness_of(matrix: Matrix, people: Population, kind: Kind, *, owner: str) -> float:
    """Return the unfairness of a checked matrix; a report that nobody makes does not count."""
    if kind == "ratio":
        require_outcome(people, owner=owner)
    reported = people.weights @ matrix
    made = reported > 0
    # The mean is taken off first: the differences lose no digits where the rates are nearly equal.
    apart = (people.weights * people.away) @ matrix
    away = apart[made] / reported[made]
    if kind == "ratio":
        return float(np.abs(away).max() / people.mean)
    return float(away.max() - away.min())


def require_outcome(people: Population, *, owner: str) -> None:
    """Refuse rates that are all zero, because a ratio to their mean has no meaning."""
    if people.mean <= 0:
        raise InvalidParameterError(
            "rates",
            owner=owner,
            must_be="above 0 in a group that has people, for kind='ratio'",
            got="only zeros",
            hint="with kind='difference' the unfairness is defined for every rate.",
        )


def channel_error(matrix: Matrix, people: Population) -> float:
    """Return the probability that a report says another group than the true one."""
    return float(people.weights @ (1 - np.diagonal(matrix)))


def grr_matrix(people: Population) -> Matrix:
    """Return generalized randomized response as a matrix."""
    false = people.floor / (1 + (people.k - 1) * people.floor)
    matrix = np.full((people.k, people.k), false)
    np.fill_diagonal(matrix, 1 - (people.k - 1) * false)
    return matrix


def printed_channel(weights: npt.ArrayLike, epsilon: object) -> Matrix:
    r"""Return the closed form for two groups, as printed: the larger group reports a fair coin.

    .. math:: (q_{00}, q_{11}) = \begin{cases} (1 - e^{-\varepsilon}/2,\; 1/2) & p_0 \le p_1 \\
              (1/2,\; 1 - e^{-\varepsilon}/2) & p_1 < p_0 \end{cases}

    where :math:`p_0, p_1` are ``weights``, :math:`q_{ii}` is the probability of the truth and
    :math:`\varepsilon` is ``epsilon``.

    Parameters
    ----------
    weights : array-like of shape (2,)
        Share of each group.
    epsilon : number
        Privacy parameter, > 0.

    Returns
    -------
    ndarray of shape (2, 2)
        Row :math:`i` holds the probabilities of the reports of group :math:`i`.

    Notes
    -----
    [1]_, Theorem 14. The theorem silently needs :math:`q_{00}, q_{11} \ge 1/2`, and groups of the same
    size may use either branch: the first is taken. At its own error probability it is not the fairest
    channel; `fairest_channel` is.

    References
    ----------
    .. [1] Ghoukasian (2024). Classification algorithms with differential privacy and fairness guarantees.
           Thesis, section 5.

    Examples
    --------
    >>> printed_channel([0.7, 0.3], 1).round(4)
    array([[0.5   , 0.5   ],
           [0.1839, 0.8161]])
    """
    people = population(weights, [0.5] * np.size(weights), epsilon, owner="printed_channel")
    if people.k != 2:
        raise InvalidParameterError(
            "weights",
            owner="printed_channel",
            must_be="of two groups",
            got=f"{people.k} groups",
            hint="fairest_channel works for any number of groups.",
        )
    half = people.floor / 2
    if people.weights[0] <= people.weights[1]:
        return np.array([[1 - half, half], [0.5, 0.5]])
    return np.array([[0.5, 0.5], [half, 1 - half]])
