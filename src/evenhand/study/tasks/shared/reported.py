"""What the people in the training rows report, and how far apart their labels then seem."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.study.tasks.shared.optimal_setting import NAME
from evenhand.study.tasks.shared.protection import strategy_of
from evenhand.study.tasks.shared.reported_optimal import People, optimal_columns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.privacy.randomness import SeededSource
    from evenhand.schema import Schema
    from evenhand.study.plan.cells import Setting


def reported_columns(
    codes: Mapping[str, NDArray[Any]],
    *,
    setting: Setting,
    schema: Schema,
    encoder: str,
    source: SeededSource,
    target: NDArray[np.uint8] | None = None,
    everybody: People | None = None,
) -> dict[str, NDArray[Any]]:
    """Return what is reported of the people whose codes these are; nothing where nothing is protected.

    Parameters
    ----------
    codes : mapping of str to array
        Of the training rows, and of no others.
    setting : Setting
    schema : Schema
    encoder : str
        With ``"codes"`` a column's reports come as codes, else as indicators: a row per person, a column per
        value.
    source : SeededSource
        Of this cell, or of this cell's fold, alone.
    target : array, optional
        Labels of the same rows, which are in the clear; for the protocol ``"optimal"``.
    everybody : People, optional
        All rows, for ``"optimal"`` with exact outcomes.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import evenhand as eh
    >>> from evenhand.privacy.randomness import SeededSource
    >>> from evenhand.study.tasks.shared.report_settings import report_setting
    >>> schema = eh.datasets.load("causal", n=10).schema
    >>> codes = {"C": np.array([0, 1]), "A": np.array([1, 1]), "M": np.array([2, 0])}
    >>> setting = report_setting("oue", Fraction(1), "uniform", "independent")
    >>> found = reported_columns(
    ...     codes, setting=setting, schema=schema, encoder="one-hot", source=SeededSource(0)
    ... )
    >>> {column: part.shape for column, part in found.items()}
    {'C': (2, 2), 'A': (2, 2), 'M': (2, 3)}
    """
    if not setting.is_protected:
        return {}
    if setting.mechanism == NAME and target is not None:
        rows = People(codes, target)
        return optimal_columns(
            rows, setting=setting, schema=schema, encoder=encoder, source=source, everybody=everybody or rows
        )
    strategy = strategy_of(setting, schema)
    reports = strategy.privatize({column: codes[column] for column in strategy.columns}, rng=source)
    if encoder == "codes":
        return {column: np.asarray(part.values) for column, part in reports.by_column.items()}
    return dict(strategy.indicators(reports))


def label_disparities(
    target: NDArray[np.uint8],
    group: NDArray[Any],
    *,
    privileged: int | None,
    reported: NDArray[Any] | tuple[NDArray[Any], NDArray[Any]] | None,
    groups: int | None = None,
) -> dict[str, float]:
    """Return how much more often the privileged group has the positive label than all others together.

    Parameters
    ----------
    target, group : array
        Labels and true groups of the training rows.
    privileged : int or None
        Code of the privileged group; without one nothing is compared.
    reported : array or pair of arrays, optional
        What takes the place of the groups: indicators or codes. A row counts for a group once if the report
        supports the group's value, and for the others as many times as it supports one of their values. Or
        how often each row counts for the privileged group, and for the others.
    groups : int, optional
        How many groups are compared, where people or reports of a code beyond them are in none.

    Returns
    -------
    dict
        ``"true"`` and ``"reported"``, NaN where a side has nobody or nothing is reported.

    Examples
    --------
    >>> target, group = np.array([1, 1, 0, 1], np.uint8), np.array([1, 1, 0, 0])
    >>> label_disparities(target, group, privileged=1, reported=np.array([[0, 1], [1, 1], [0, 0], [1, 0]]))
    {'true': 0.5, 'reported': 0.0}
    """
    if privileged is None:
        return {"true": math.nan, "reported": math.nan}
    known = np.inf if groups is None else groups
    belongs = group == privileged
    found = {"true": _difference(target, belongs, ~belongs & (group < known)), "reported": math.nan}
    if isinstance(reported, tuple):
        found["reported"] = _difference(target, *reported)
    elif reported is not None and reported.ndim == 1:
        others = (reported != privileged) & (reported < known)
        found["reported"] = _difference(target, reported == privileged, others)
    elif reported is not None:
        supports = reported[:, privileged].astype(np.int64)
        others = reported[:, :groups].sum(axis=1, dtype=np.int64) - supports
        found["reported"] = _difference(target, supports, others)
    return found


def reported_groups(
    reported: Mapping[str, NDArray[Any]], codes: Mapping[str, NDArray[Any]], schema: Schema
) -> NDArray[Any] | tuple[NDArray[Any], NDArray[Any]] | None:
    """Return what reports say of the groups, as :func:`label_disparities` reads it; None if nothing.

    Parameters
    ----------
    reported : mapping of str to array
        Reports by column: indicators or codes.
    codes : mapping of str to array
        The true codes of the same rows, for crossed columns that are in the clear.
    schema : Schema
    """
    crossing, privileged = schema.crossing, schema.privileged
    if crossing is None:
        return reported.get(str(schema.protected))
    if not isinstance(privileged, tuple) or not any(name in reported for name in schema.protected_columns):
        return None
    first, every = [], []
    for column, size, value in zip(crossing.columns, crossing.sizes, privileged, strict=True):
        part, code = reported.get(column.name, codes[column.name]), column.domain.code(value)
        is_codes = part.ndim == 1
        first.append((part == code if is_codes else part[:, code]).astype(np.int64))
        every.append((part < size if is_codes else part[:, :size].sum(axis=1)).astype(np.int64))
    supports = np.prod(first, axis=0)
    return supports, np.prod(every, axis=0) - supports


def _difference(target: NDArray[np.uint8], first: NDArray[Any], second: NDArray[Any]) -> float:
    """Return the weighted rate of the first side minus that of the second."""
    sides = [(int(side[target == 1].sum()), int(side.sum())) for side in (first, second)]
    rates = [hits / people if people else math.nan for hits, people in sides]
    return rates[0] - rates[1]
