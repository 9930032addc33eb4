"""Subset selection: report a set of values, which holds the true one with a known probability."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from evenhand.collect.base import Protocol
from evenhand.collect.codes import code_type
from evenhand.collect.dyadic import exp_below, round_down
from evenhand.collect.layouts import SetLayout
from evenhand.privacy.sampling import bernoulli, subsets, uniform_below

if TYPE_CHECKING:
    import numpy.typing as npt

    from evenhand.privacy.randomness import Source
    from evenhand.privacy.rational import Number

__all__ = ["SS"]


@dataclass(frozen=True, init=False, repr=False)
class SS(Protocol):
    r"""Report a set of `size` values that holds the true one more often than any other.

    The true value is in the set with probability :math:`p`; the rest of the set is uniform.

    .. math:: p = \frac{\omega e^\varepsilon}{\omega e^\varepsilon + k - \omega}, \qquad
              q = \frac{p (\omega - 1) + (1 - p)\,\omega}{k - 1}

    where :math:`\omega` is ``size``.

    **Guarantee.** Pure local differential privacy with ``epsilon``; unit: one report; tight.

    Parameters
    ----------
    k : int
        How many values there are, at least 2.
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter of one report, > 0.
    as_printed : bool
        Take the whole number nearest to :math:`k / (e^\varepsilon + 1)` as size, as in the literature,
        instead of the neighbour of least variance.

    References
    ----------
    .. [1] Ye, Barg (2018). Optimal schemes for discrete distribution estimation under locally differential
           privacy. IEEE Transactions on Information Theory.

    Examples
    --------
    >>> ss = SS(k=10, epsilon=1)
    >>> f"{ss.size} {ss.p:.4f} {ss.q:.4f} {ss.variance():.4f}"
    '2 0.4046 0.1773 2.8217'
    >>> SS(k=10, epsilon=1, as_printed=True).size
    3
    """

    name: ClassVar[str] = "ss"
    title: ClassVar[str] = "subset selection"

    as_printed: bool = False

    def __init__(self, k: int, epsilon: Number, *, as_printed: bool = False) -> None:
        super().__init__(k, epsilon)
        self._set(as_printed=bool(as_printed))

    @cached_property
    def size(self) -> int:
        """How many values a report names."""
        shrunk = math.exp(-min(float(self.epsilon), 700.0))
        ideal = self.k * shrunk / (1 + shrunk)
        if self.as_printed:
            return max(1, round(ideal))
        return min(max(1, math.floor(ideal)), math.ceil(ideal), key=self._variance_of)

    def _variance_of(self, size: int) -> float:
        shrunk = math.exp(-min(float(self.epsilon), 700.0))
        p = size / (size + (self.k - size) * shrunk)
        q = (size - p) / (self.k - 1)
        return q * (1 - q) / (p - q) ** 2

    def _probabilities(self) -> tuple[Fraction, Fraction]:
        raised = self.size * exp_below(self.epsilon)
        p = round_down(raised / (raised + self.k - self.size))
        return p, (self.size - p) / (self.k - 1)

    def _worst_ratio(self) -> Fraction:
        return self.p_exact * (self.k - self.size) / ((1 - self.p_exact) * self.size)

    def _bits(self) -> int:
        listed = self.size * (self.k - 1).bit_length()
        return min(listed, (math.comb(self.k, self.size) - 1).bit_length())

    def _layout(self) -> SetLayout:
        return SetLayout(self.k, self.size)

    def _privatize(self, codes: npt.NDArray[Any], source: Source) -> npt.NDArray[Any]:
        n, place = codes.size, np.arange(codes.size)
        held = codes.astype(np.int64)[:, None]
        rows = subsets(self.k - 1, self.size, size=n, source=source).astype(np.int64)
        rows += rows >= held
        chosen = uniform_below(self.size, size=n, source=source)
        kept = bernoulli(self.p_exact, size=n, source=source)
        rows[place[kept], chosen[kept]] = codes[kept]
        return rows.astype(code_type(self.k))

    def _counts(self, values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        return np.bincount(values.ravel(), minlength=self.k)

    def _indicators(self, values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        out = np.zeros((len(values), self.k), dtype=np.uint8)
        out[np.arange(len(values))[:, None], values] = 1
        return out

    def _law(self) -> npt.NDArray[Any]:
        inside = self._indicators(self._outputs()).T == 1
        with_it = self.p_exact / math.comb(self.k - 1, self.size - 1)
        without = (1 - self.p_exact) / math.comb(self.k - 1, self.size)
        return np.where(inside, with_it, without)

    def _outputs(self) -> npt.NDArray[Any]:
        self._check_few(math.comb(self.k, self.size))
        return np.array(list(combinations(range(self.k), self.size)), dtype=code_type(self.k))
