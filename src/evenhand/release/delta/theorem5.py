r"""The delta that Theorem 5 of zhu2023 prints for sampling before k-anonymity.

.. math:: \delta = 1 - \min_{1 \le w \le B} \Bigl( \sum_{j=0}^{\nu} f(j; w, \beta) \Bigr)^2,
          \quad \nu = \lfloor (1 - e^{-\varepsilon}) w \rfloor

where :math:`f` is the binomial law. It is valid and very loose: it bounds the chance that the probabilities
of a sample differ by more than :math:`e^\varepsilon` in two cells at once, where the right delta is the
chance :math:`\beta` that the one changed record is in the sample at all. It does not depend on :math:`k`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evenhand._validate import integer
from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import Number, exact, exp_bounds

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy.typing as npt

_FIRST = 64  # times the count whose mean is 1
_MOST_COUNT = 1 << 24
_NEAR = 1e-6  # far above what rounding moves a product by


def theorem_5_delta(epsilon: Number, *, beta: Number | None = None, bound: int | None = None) -> float:
    r"""Return the delta of Theorem 5 as printed.

    Parameters
    ----------
    epsilon : int, float, str, Fraction or Decimal
        At least 0; above 0 without `beta`.
    beta : number, optional
        The probability that a record is sampled, above 0 and below 1; :math:`1 - e^{-\varepsilon}` unless
        told.
    bound : int, optional
        The public bound on counts. Without one, the minimum is over all counts.

    Notes
    -----
    With the default `beta`, or a smaller one, the sum at :math:`w` is at least the chance that a binomial
    count is at most its mean. A median of that count is no more than the next whole number, and no value has
    a probability above :math:`1/\sqrt{2 e w \beta (1 - \beta)}`, so the sum is at least one half less that:
    counts are searched until this is more than the least sum found, at most 16 million. Those below
    :math:`1/(1-\beta)` are passed over where they are many: the sum is least at 1 among them. With a larger
    `beta` the sum falls towards 0 with :math:`w`, and all counts up to the bound are searched.

    Examples
    --------
    >>> [f"{theorem_5_delta(epsilon):.4f}" for epsilon in (0.5, 1, 2, 4)]
    ['0.8787', '0.9061', '0.9817', '0.9997']
    """
    owner = "theorem_5_delta"
    amount = exact(epsilon, name="epsilon", owner=owner, least=0)
    share = 1 - exp_bounds(-amount)[1]
    chance = share if beta is None else exact(beta, name="beta", owner=owner, above=0)
    if not 0 < chance < 1:
        name, got = ("epsilon", epsilon) if beta is None else ("beta", beta)
        raise InvalidParameterError(name, owner=owner, must_be="such that 0 < beta < 1", got=got)
    if bound is None and chance > share:
        return 1.0  # the chance that a count is below a lower share than its mean tends to 0
    highest = _MOST_COUNT if bound is None else min(_MOST_COUNT, integer("bound", bound, owner=owner, low=1))
    if chance > share:
        return 1.0 - _least_sum(1, highest, share, chance) ** 2
    most = min(highest, math.ceil(_FIRST / chance))
    least = _least_sum(1, most, share, chance)
    spread = 2 * math.e * float(chance * (1 - chance)) * max(0.5 - least, 0.0) ** 2
    enough = highest if spread * highest <= 1 else math.ceil(1 / spread)
    first = max(most + 1, math.floor(1 / (1 - chance)))
    if enough >= first:
        least = min(least, _least_sum(first, enough, share, chance))
    return 1.0 - least**2


def _least_sum(first: int, last: int, share: Fraction, chance: Fraction) -> float:
    """Return the least sum of the theorem over these counts."""
    from scipy.special import bdtr  # noqa: PLC0415 - slow to import

    counts = np.arange(first, last + 1)
    return float(bdtr(_floors(counts, share), counts, float(chance)).min())


def _floors(counts: npt.NDArray[np.int64], share: Fraction) -> npt.NDArray[np.float64]:
    """Return the whole part of each count times the share; exact as long as 53 bits tell it from a whole."""
    products = counts * float(share)
    floors: npt.NDArray[np.float64] = np.floor(products)
    for place in np.flatnonzero(np.abs(products - np.rint(products)) < _NEAR):
        floors[place] = math.floor(int(counts[place]) * share)
    return floors
