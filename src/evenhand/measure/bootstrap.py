r"""Bootstrap intervals from the count table, with a generator that the caller brings.

Resampling rows and counting them is the same as drawing the counts from a multinomial law, so no
row is needed and a thousand resamples take a few milliseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenhand._validate import integer, kind_of, one_of, refuse
from evenhand.measure import gaps
from evenhand.measure.columns import check_name
from evenhand.measure.counts import Tables
from evenhand.measure.groups import GroupReport
from evenhand.measure.intervals import Interval, check_level

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

_OWNER = "bootstrap_interval"


def bootstrap_interval(
    report: GroupReport,
    statistic: str | Callable[[NDArray[np.int64]], float],
    *,
    generator: Generator,
    repeats: int = 2000,
    level: float = 0.95,
    within: Literal["groups", "rows"] = "groups",
) -> Interval:
    r"""Return the percentile bootstrap interval of a measure or of a statistic of your own.

    Parameters
    ----------
    report : GroupReport
        A report without weights.
    statistic : str or callable
        The name of a measure, or a function of an array ``counts[group, y, p]`` of one resample.
    generator : numpy.random.Generator
        The source of the draws. None is made here: pass one, and the result can be repeated.
    repeats : int
        Number of resamples, at least 100.
    level : float
        Between 0 and 1.
    within : {"groups", "rows"}
        ``"groups"`` keeps the size of every group; ``"rows"`` draws from all rows, so that sizes vary.

    Returns
    -------
    Interval
        Resamples in which the statistic is undefined are left out, and ``method`` says how many.

    Notes
    -----
    Meant for statistics that have no interval of their own here. For worst-pair gaps prefer
    :meth:`GroupReport.interval`: near a true gap of 0 the bootstrap does not cover, because every
    resample has a gap above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.measure import group_report
    >>> report = group_report([1, 0] * 50, [1, 0, 0, 0] * 25, [0, 1] * 50, privileged=0)
    >>> low, high = bootstrap_interval(report, "spd", generator=np.random.default_rng(7))
    >>> low < report.spd < high
    True
    """
    level = check_level(level, owner=_OWNER)
    repeats = integer("repeats", repeats, owner=_OWNER, low=100)
    chosen = one_of("within", within, ("groups", "rows"), owner=_OWNER)
    _check(report, statistic, generator)
    counts = _resample(report.table.counts, repeats, chosen, generator)
    if callable(statistic):
        values = np.array([float(statistic(table)) for table in counts])
    else:
        groups = report.table.groups
        privileged = groups.index(report.privileged) if report.privileged in groups else None
        cells = counts.reshape(repeats, len(groups), 4)
        values = gaps.value(statistic, Tables(cells, None, privileged, report.table.labelled))
    defined = values[np.isfinite(values)]
    left_out = "" if len(defined) == repeats else f", {repeats - len(defined)} undefined ones left out"
    method = f"percentile bootstrap, {repeats} resamples{left_out}"
    if not len(defined):
        reason = "The statistic is undefined in every resample."
        return Interval(np.nan, np.nan, level, method, exact=False, reason=reason)
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level, method, exact=False)


def _resample(table: NDArray[Any], repeats: int, within: str, generator: Generator) -> NDArray[np.int64]:
    """Return `repeats` tables drawn with the observed shares."""
    rows = table.reshape(len(table), 4) if within == "groups" else table.reshape(1, -1)
    drawn = np.zeros((repeats, *rows.shape), dtype=np.int64)
    for place, row in enumerate(rows):
        size = int(row.sum())
        if size:
            drawn[:, place] = generator.multinomial(size, row / size, size=repeats)
    return drawn.reshape(repeats, *table.shape)


def _check(report: object, statistic: object, generator: object) -> None:
    if not isinstance(report, GroupReport):
        refuse("report", _OWNER, "a GroupReport", kind_of(report))
    if not hasattr(
        getattr(generator, "bit_generator", None), "random_raw"
    ):  # the module numpy.random has none
        refuse(
            "generator",
            _OWNER,
            "a numpy random Generator",
            f"a {type(generator).__name__}",
            hint="pass numpy.random.default_rng(seed).",
        )
    if report.table.weighted:
        refuse(
            "report",
            _OWNER,
            "a report without weights",
            "a weighted one, whose rows cannot be drawn again from their sums",
        )
    countable = [name for name in gaps.MEASURES if name != "auc"]
    if not callable(statistic):
        check_name("Measure", statistic, countable, place="one that the count table holds")
