r"""Tell how uneven a formula of counts comes out from how it curves (Theorem 3, Corollaries 1, 2, 4 and 5).

Noise with mean 0 moves the expectation of a formula :math:`P_i` by half the variance times its curvature:

.. math:: B_i \approx \frac12 \sum_j \operatorname{Var}[\eta_j]\, (H P_i)_{jj}

to second order, and exactly where the Hessian is constant, since :math:`P_i` is then quadratic.

What [1]_ prints differs: (4f) and (4g) have a further factor :math:`n`, because a sum of products was taken
for a product of sums; (5b) leaves out the 1/2; the trace in the proof sums all entries of the Hessian in
place of its diagonal. Corollary 2, that equal traces everywhere give equal biases, is exact for Gaussian
noise only, where it is the mean value property of harmonic functions. For Laplace noise it holds to second
order: :math:`P_1 = x^4 - 6 x^2 y^2 + y^4` and :math:`P_2 = 0` have equal traces at every point, and with
scale :math:`b` their biases differ by :math:`24\, b^4`.

References
----------
.. [1] Fioretto, Tran, Van Hentenryck (2021). Decision making with differential privacy under a fairness
       lens. IJCAI.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from evenhand.privacy.laws import Law

    Values = NDArray[np.float64]

__all__ = [
    "Curvature",
    "allotment_trace",
    "curvature",
    "ratio_trace",
    "second_order_alpha",
    "second_order_bias",
]


def second_order_bias(diagonals: ArrayLike, laws: Law | Sequence[Law], *, as_printed: bool = False) -> Values:
    r"""Return half the variance times the curvature, for each entity (Theorem 3, with its constant).

    Parameters
    ----------
    diagonals : array of shape (entities, inputs) or (entities,)
        The diagonal of the Hessian of each entity's formula, or its trace.
    laws : Law or sequence of Law
        The noise; one law for all inputs, or one for each. Traces need one for all.
    as_printed : bool
        Multiply by the number of inputs, as (4g) of the paper does wrongly.

    Examples
    --------
    >>> from evenhand.privacy.laws import Laplace
    >>> second_order_bias(allotment_trace([1, 2, 1.5], [30, 50, 80]), Laplace(2)).round(8)
    array([-1.6640e-05, -1.4080e-04,  1.5744e-04])
    """
    array = _numbers("diagonals", diagonals, owner="second_order_bias")
    if array.ndim not in (1, 2) or not array.size:
        must_be = "one number, or one row, for each entity"
        raise InvalidParameterError(
            "diagonals", owner="second_order_bias", must_be=must_be, got="another shape"
        )
    variances = _variances(laws, array)
    weighed: Values = array * variances if array.ndim == 1 else array @ variances
    inputs = array.shape[0] if array.ndim == 1 else array.shape[1]
    return weighed / 2 * (inputs if as_printed else 1)


def second_order_alpha(diagonals: ArrayLike, laws: Law | Sequence[Law], *, as_printed: bool = False) -> float:
    r"""Return the greatest second-order bias minus the least (5b): alpha, where Hessians are constant.

    Parameters as in :func:`second_order_bias`. With `as_printed`, the 1/2 is left out and the factor
    :math:`n` is there, as in the paper.
    """
    biases = second_order_bias(diagonals, laws, as_printed=as_printed)
    return float(np.ptp(biases)) * (2 if as_printed else 1)


def allotment_trace(weights: ArrayLike, counts: ArrayLike) -> Values:
    r"""Return the trace of the Hessian of each share :math:`a_i x_i / Z`, :math:`Z = \sum_j a_j x_j`.

    .. math:: 2 a_i \frac{x_i \sum_j a_j^2 - a_i Z}{Z^3}

    It differs between entities, so noise on the counts favours some of them (Corollary 4 and Example 1).

    Examples
    --------
    >>> allotment_trace([1, 1], [10, 30]).round(6)
    array([-0.000625,  0.000625])
    """
    a = _numbers("weights", weights, owner="allotment_trace")
    x = _numbers("counts", counts, owner="allotment_trace")
    if a.ndim != 1 or a.shape != x.shape:
        must_be = "one number for each weight"
        raise InvalidParameterError("counts", owner="allotment_trace", must_be=must_be, got="another shape")
    total = float(a @ x)
    if total == 0:
        must_be = "counts whose weighted sum is not 0, for the shares to exist"
        raise InvalidParameterError("counts", owner="allotment_trace", must_be=must_be, got="a sum of 0")
    trace: Values = 2 * (a / total) * (x / total * (a @ (a / total)) - a / total)
    return trace


def ratio_trace(numerators: ArrayLike, denominators: ArrayLike) -> Values:
    r"""Return the trace of the Hessian of :math:`x / y`, which is :math:`2 x / y^3` (Corollary 5).

    Ratios that are equal curve differently where their denominators differ: small places are off more.

    Examples
    --------
    >>> ratio_trace([4, 160], [80, 3200]).tolist()
    [1.5625e-05, 9.765625e-09]
    """
    x = _numbers("numerators", numerators, owner="ratio_trace")
    y = _numbers("denominators", denominators, owner="ratio_trace")
    if x.shape != y.shape or bool(np.any(y == 0)):
        must_be = "one number other than 0 for each numerator"
        raise InvalidParameterError(
            "denominators", owner="ratio_trace", must_be=must_be, got="something else"
        )
    return 2 * x / y**3


@dataclass(frozen=True)
class Curvature:
    """Hold what the Hessians of a problem at some data sets say about fairness.

    Parameters
    ----------
    linear : bool
        All are 0: no bias at all, so fair (Corollary 1). For a formula that is linear, at every data set.
    equal_traces : bool
        The traces of all entities are equal at each data set: fair to second order, and exactly with Gaussian
        noise or constant Hessians (Corollary 2).
    constant : bool
        The Hessians are the same at every data set: alpha is finite and the second-order bias exact
        (Theorem 3).
    spread : float
        The greatest difference of two traces at one data set; above 0 means not fair (Corollary 4), to second
        order.
    """

    linear: bool
    equal_traces: bool
    constant: bool
    spread: float

    @property
    def words(self) -> str:
        """Return what follows, in one sentence."""
        if self.linear:
            return "Linear at these data sets: no bias (Corollary 1)."
        if self.equal_traces:
            return "Equal curvature at these data sets: fair to second order (Corollary 2)."
        if self.constant:
            return (
                "Constant curvature that differs between entities: not fair, with a finite alpha (Theorem 3)."
            )
        return "Curvature that differs between entities and data sets: not fair (Corollary 4)."


def curvature(
    diagonal: Callable[[Values], ArrayLike], data_sets: Sequence[ArrayLike], *, tolerance: float = 1e-9
) -> Curvature:
    r"""Look at the Hessians of a problem at some data sets: whether they are 0, constant, or equal in trace.

    Only diagonals are looked at, since noise on different inputs is independent. A finite number of data sets
    can show that a condition fails, not that it holds everywhere.

    Parameters
    ----------
    diagonal : callable
        From counts to the diagonals of the Hessians, an array of shape (entities, inputs).
    data_sets : sequence of array
        The counts to look at, at least one.
    tolerance : float
        What counts as 0, relative to the greatest entry seen.

    Examples
    --------
    >>> squares = curvature(lambda x: np.diag([2.0, 4.0]), [[1, 2], [3, 4]])
    >>> squares.constant, squares.equal_traces, squares.spread
    (True, False, 2.0)
    """
    if not len(data_sets):
        must_be = "at least one data set"
        raise InvalidParameterError("data_sets", owner="curvature", must_be=must_be, got="none")
    diagonals = [
        _numbers("diagonal", diagonal(np.asarray(counts, dtype=float)), owner="curvature")
        for counts in data_sets
    ]
    if any(counts.ndim != 2 or counts.shape != diagonals[0].shape or not counts.size for counts in diagonals):
        must_be = "a function that returns one row for each entity"
        raise InvalidParameterError("diagonal", owner="curvature", must_be=must_be, got="another shape")
    stacked = np.stack(diagonals)
    traces = stacked.sum(axis=2)
    near = tolerance * float(np.abs(stacked).max())
    spread = float(np.ptp(traces, axis=1).max())
    return Curvature(
        linear=not bool(np.any(stacked)),
        equal_traces=spread <= near,
        constant=bool(np.ptp(stacked, axis=0).max() <= near),
        spread=spread,
    )


def _variances(laws: Any, array: Values) -> Any:
    if hasattr(laws, "variance"):
        return laws.variance if array.ndim == 1 else np.full(array.shape[1], laws.variance)
    listed = tuple(laws)
    if array.ndim == 1 or len(listed) != array.shape[1]:
        must_be = "one law, or one for each column of 'diagonals'"
        got = f"{len(listed)} laws"
        raise InvalidParameterError("laws", owner="second_order_bias", must_be=must_be, got=got)
    return np.array([law.variance for law in listed])


def _numbers(name: str, values: ArrayLike, *, owner: str) -> Values:
    array = np.asarray(values)
    if array.dtype.kind not in "fiu" or not np.isfinite(array).all():
        raise InvalidParameterError(name, owner=owner, must_be="finite numbers", got="something else")
    return array.astype(np.float64)
