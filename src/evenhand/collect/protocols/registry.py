"""Protocols by name: their classes, their records and their formulas."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._validate import one_of
from evenhand.collect.protocols.homes import CLASSES
from evenhand.collect.protocols.probabilities import Ideal, least_variance
from evenhand.privacy.records import build_from_record, find_class

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from evenhand.collect.protocols.base import Protocol

    Floats = npt.NDArray[np.float64]

PROTOCOLS: Mapping[str, type[Protocol]] = CLASSES
"""Every protocol class by its name."""

AUTO = "auto"
"""The name that stands for the protocol of least variance at each size and epsilon."""

LONGEST = 1_024
"""Up to so many values ``auto`` takes protocols whose reports get longer with the number of values."""

_MOST_HASHED = 2**25  # values that OLH takes
_MOST = 700.0  # beyond which the formulas are not precise, and every protocol tells the truth
_TWO, _ONE = np.array(2.0), np.array(1.0)


def protocol_named(name: str) -> type[Protocol]:
    """Return the protocol class of a name, in small or capital letters.

    >>> protocol_named("OUE").__name__
    'OUE'
    """
    return find_class(name, PROTOCOLS, kind="Protocol")


def protocol_from(record: Mapping[str, Any]) -> Protocol:
    """Return the protocol that :meth:`Protocol.to_dict` wrote down.

    Nothing in the record is passed over: it must have the fields of its protocol, each of its type, and no
    others. What may be left out is what has a default.

    Raises
    ------
    UnknownNameError
        If there is no protocol of that name.
    InvalidParameterError
        If a field is missing, unknown, or has a value it cannot have.

    Examples
    --------
    >>> protocol_from({"protocol": "grr", "k": 5, "epsilon": "1/10"})
    GRR(k=5, epsilon=0.1)
    """
    return build_from_record(record, PROTOCOLS, kind="Protocol", owner="protocol_from")


def formula_names() -> tuple[str, ...]:
    """Return the names of the protocols that have a formula, and ``auto``.

    >>> "grr" in formula_names(), "optimal" in formula_names()
    (True, False)
    """
    return (*(name for name, kind in PROTOCOLS.items() if _has_formula(kind)), AUTO)


def check_formula(protocol: object, *, owner: str) -> str:
    """Return the name of a protocol that has a formula, or ``auto``; refuse what is none.

    No other protocol is loaded: one of another package may be slow or print.
    """
    if isinstance(protocol, str) and (
        protocol == AUTO or (protocol in PROTOCOLS and _has_formula(PROTOCOLS[protocol]))
    ):
        return protocol
    return one_of("protocol", protocol, formula_names(), owner=owner)


def _has_formula(kind: type[Protocol]) -> bool:
    return kind.ideal(_TWO, _ONE) is not None


def is_convex(name: str) -> bool:
    """Return whether the variance of a protocol is smooth and convex in epsilon; that of ``auto`` is not."""
    return name != AUTO and PROTOCOLS[name].log_gain(_TWO, _ONE) is not None


def ideal(protocol: str, k: npt.ArrayLike, epsilon: npt.ArrayLike) -> Ideal:
    r"""Return p, q and the variance at share zero of a protocol, for one or many epsilons.

    ==========  ================================================================================
    protocol    variance times the number of people, with :math:`E = e^\varepsilon`
    ==========  ================================================================================
    ``grr``     :math:`(k - 2 + E) / (E - 1)^2`
    ``blh``     :math:`(E + 1)^2 / (E - 1)^2`
    ``olh``     :math:`(E - 1 + g)^2 / ((E - 1)^2 (g - 1))`, the better whole number near :math:`E + 1`
    ``rappor``  :math:`e^{\varepsilon/2} / (e^{\varepsilon/2} - 1)^2`
    ``oue``     :math:`4E / (E - 1)^2`
    ``ss``      :math:`q (1 - q) / (p - q)^2`, the better whole number near :math:`k / (E + 1)`
    ``the``     :math:`q (1 - q) / (p - q)^2` at the threshold of least variance
    ``auto``    the least of ``grr``, ``oue`` and ``ss`` at each epsilon; above 1,024 values, where reports of
                the latter two get long, of ``grr`` and ``olh``
    ==========  ================================================================================

    Parameters
    ----------
    protocol : str
        One of :func:`formula_names`.
    k : int or array of int
        How many values there are, at least 2.
    epsilon : float or array of float
        Privacy parameter, from 1e-6 to 700 without loss of precision. `k` and `epsilon` are broadcast.

    Returns
    -------
    Ideal
        Floats where both are single numbers, else arrays.

    Examples
    --------
    >>> f"{ideal('grr', 10, 1.0).variance:.4f}"
    '3.6302'
    >>> ideal("auto", [2, 100], 1.0).variance.round(4)
    array([0.9207, 3.5896])
    """
    name = check_formula(protocol, owner="ideal")
    sizes, amounts = np.broadcast_arrays(np.asarray(k, dtype=float), np.asarray(epsilon, dtype=float))
    figures = ideal_arrays(name, sizes, amounts)
    return Ideal(*map(float, figures)) if sizes.ndim == 0 else figures


def ideal_arrays(name: str, k: Floats, epsilon: Floats) -> Ideal:
    """Return what :func:`ideal` returns, for arrays of one shape and one of :func:`formula_names`."""
    if name != AUTO:
        return least_variance(*filter(None, [PROTOCOLS[name].ideal(k, epsilon)]))
    compared = []
    for candidate, (above, most) in _auto_sizes().items():
        figures = PROTOCOLS[candidate].ideal(k, epsilon)
        if figures is not None:
            allowed = (k > above) & (k <= most)
            compared.append(figures._replace(variance=np.where(allowed, figures.variance, np.inf)))
    return least_variance(*compared)


def auto_name(k: int, epsilon: float) -> str:
    """Return which of the protocols that ``auto`` compares has the least variance; the first in a tie.

    >>> auto_name(2, 1.0), auto_name(100, 1.0)
    ('grr', 'ss')
    """
    amount = min(epsilon, _MOST)
    least = ideal(AUTO, k, amount).variance
    return next(name for name in compared_names(k) if ideal(name, k, amount).variance <= least * (1 + 1e-12))


def compared_names(k: int = 2) -> tuple[str, ...]:
    """Return the names of the protocols among which ``auto`` chooses for so many values."""
    return tuple(name for name, (above, most) in _auto_sizes().items() if above < k <= most)


def _auto_sizes() -> dict[str, tuple[float, float]]:
    """Return for how many values ``auto`` takes each protocol: above the first number, up to the second."""
    own = CLASSES.own  # never those of other packages: what is drawn must not depend on what is installed
    among = {name: (0.0, float(LONGEST)) for name in own if CLASSES[name].is_among_best}
    return {**among, "grr": (0.0, math.inf), "olh": (LONGEST, _MOST_HASHED)}
