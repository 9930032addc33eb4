r"""How unevenly errors fall: alpha-fairness and the size of a bias vector.

*Bias* is used in its statistical sense only: expected released value minus true value, one
entry per cell or entity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._validate import refuse
from evenhand.measure.columns import read_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class BiasEstimate:
    """A bias vector estimated from repeated releases; it stands wherever a bias vector does.

    Parameters
    ----------
    values : array
        The average over runs of released minus true, one entry per cell.
    standard_error : array
        The standard error of each entry; NaN after a single run.
    runs : int
        How many releases were averaged.
    """

    values: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    runs: int

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=copy)


def bias_from_runs(released: ArrayLike, true: ArrayLike) -> BiasEstimate:
    r"""Average released minus true over repeated releases.

    Parameters
    ----------
    released : array_like of shape (runs, cells)
        One row per release. One release alone may be given as a vector.
    true : array_like of shape (cells,)
        The true values.

    Returns
    -------
    BiasEstimate
        To be passed to :func:`alpha_fairness` and :func:`l1_bias`.

    Notes
    -----
    Both figures grow with the error of the averages: with few runs they measure the noise of the
    simulation. Where the bias has a formula, pass the exact vector instead.

    Examples
    --------
    >>> estimate = bias_from_runs([[3, 9], [1, 11]], [1, 10])
    >>> estimate.values.tolist(), estimate.standard_error.tolist()
    ([1.0, 0.0], [1.0, 1.0])
    >>> alpha_fairness(estimate), l1_bias(estimate)
    (1.0, 1.0)
    """
    truth = _vector("true", true, "bias_from_runs")
    must_be = "numbers of shape (runs, cells), with as many cells as 'true' and at least one run"
    runs = read_array(released, name="released", owner="bias_from_runs", must_be=must_be)
    runs = runs[np.newaxis] if runs.ndim == 1 else runs
    if runs.ndim != 2 or not len(runs) or runs.shape[1:] != truth.shape:
        refuse("released", "bias_from_runs", must_be, "another shape")
    errors = runs.astype(float) - truth
    _check_finite("released", errors, "bias_from_runs")
    spread = errors.std(axis=0, ddof=1) if len(errors) > 1 else np.full(len(truth), np.nan)
    return BiasEstimate(errors.mean(axis=0), spread / np.sqrt(len(errors)), len(errors))


def alpha_fairness(bias: ArrayLike | BiasEstimate) -> float:
    r"""Return the largest entry of a bias vector minus the smallest.

    .. math:: \alpha = \max_i B_i - \min_i B_i

    where :math:`B_i` is the expected released value minus the true value of cell :math:`i`.
    0 means that every cell is off by the same amount.

    Parameters
    ----------
    bias : array_like or BiasEstimate
        One entry per cell: exact, or from :func:`bias_from_runs`.

    References
    ----------
    .. [1] Fioretto, Tran, Van Hentenryck (2021). Decision making with differential privacy under a
           fairness lens. IJCAI.

    Examples
    --------
    >>> alpha_fairness([0.5, -0.25, 0.0])
    0.75
    """
    vector = _vector("bias", bias, "alpha_fairness")
    return float(vector.max() - vector.min())


def l1_bias(bias: ArrayLike | BiasEstimate) -> float:
    r"""Return the sum of the absolute entries of a bias vector, :math:`\sum_i |B_i|`.

    0 means that no cell is off on average.

    Parameters
    ----------
    bias : array_like or BiasEstimate
        One entry per cell: exact, or from :func:`bias_from_runs`.

    Examples
    --------
    >>> l1_bias([0.5, -0.25, 0.0])
    0.75
    """
    return float(np.abs(_vector("bias", bias, "l1_bias")).sum())


def _vector(name: str, values: ArrayLike | BiasEstimate, owner: str) -> NDArray[np.float64]:
    must_be = "a vector of at least one number"
    hint = "turn repeated releases into one vector with bias_from_runs(released, true)."
    array = read_array(values, name=name, owner=owner, must_be=must_be, hint=hint)
    if array.ndim != 1 or not array.size:
        refuse(name, owner, must_be, "an empty or nested array", hint=hint)
    vector: NDArray[np.float64] = array.astype(float)
    _check_finite(name, vector, owner)
    return vector


def _check_finite(name: str, array: NDArray[np.float64], owner: str) -> None:
    if not np.isfinite(array).all():
        refuse(name, owner, "finite numbers", "missing or infinite ones")
