r"""Synthetic school districts with a realistic heavy tail.

The number of students has a log-normal body and a Pareto tail that begins at its 98.8 % quantile:

.. math::

    x(u) = e^{6.72 + 1.58\,\Phi^{-1}(u)} \text{ for } u < 0.988, \qquad
    x(u) = x(0.988) \left(\frac{0.012}{1 - u}\right)^{1/1.75} \text{ above},

where :math:`u` is uniform. The parameters were chosen by hand to agree with published quantiles of
the districts of the United States, 2014-15; no row of theirs is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._lazy import lazy
from evenhand.datasets.draws import Draws
from evenhand.datasets.entry import Cleaned, read_entry
from evenhand.schema import Column, Domain, Schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.datasets.download.files import Reader

special = lazy("scipy.special")

_STATES = 51
_BODY, _TAIL = 0.988, 1.75


def sizes(uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the number of students at each quantile, at least 1.

    Examples
    --------
    >>> sizes(np.array([0.05, 0.5, 0.95, 0.999])).tolist()
    [61, 828, 11146, 121322]
    """
    body = np.exp(6.72 + 1.58 * special.ndtri(np.minimum(uniform, _BODY)))
    tail = ((1 - _BODY) / (1 - np.maximum(uniform, _BODY))) ** (1 / _TAIL)
    return np.asarray(np.maximum(np.floor(body * tail), 1), dtype=np.int64)


def states() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return each state's share of the districts and its expenditure per pupil.

    Both are fixed: normal scores, scaled, paired so that large states do not spend more.

    Examples
    --------
    >>> share, expenditure = states()
    >>> int(expenditure.min()), int(expenditure.max()), len(set(expenditure.tolist()))
    (5636, 22860, 51)
    """
    score = special.ndtri((np.arange(_STATES) + 0.5) / _STATES)
    weight = np.exp(0.8 * score)
    expenditure = np.rint(np.exp(9.337 + 0.3 * score[np.arange(_STATES) * 20 % _STATES]))
    return weight / weight.sum(), expenditure.astype(np.int64)


def _build(read: Reader, options: Mapping[str, Any]) -> Cleaned:  # noqa: ARG001 - no file is needed
    n = options["n"]
    draws = Draws("school_districts", options["seed"])
    share, expenditure = states()
    state = np.searchsorted(np.cumsum(share)[:-1], draws.uniform(n), side="right")
    names = [f"State {number:02d}" for number in range(1, _STATES + 1)]
    columns = {
        "district": np.array([f"District {number:05d}" for number in range(1, n + 1)], dtype=object),
        "state": np.array(names, dtype=object)[state],
        "num_students": sizes(draws.uniform(n)),
        "exp_index": expenditure[state],
    }
    schema = Schema(
        (
            Column("state", Domain.categorical(names)),
            Column("num_students", Domain.integers(0, 100_000_000)),
            Column("exp_index", Domain.integers(1, 100_000)),
        )
    )
    steps = (
        (
            "students: a log-normal body (6.72, 1.58) with a Pareto tail of exponent 1.75 above its 98.8 % "
            "quantile"
        ),
        "51 states with log-normal numbers of districts and log-normal expenditure per pupil",
    )
    note = (
        "Synthetic: no row describes a school district. num_students is x and exp_index is a in an allotment."
    )
    return Cleaned(columns=columns, schema=schema, rows=n, cleaning=steps, note=note, synthetic=True)


ENTRY = read_entry("school_districts", build=_build)
