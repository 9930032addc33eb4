"""Steps applied to a release, a table or an array, each by a function of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.privacy.randomness import source_from
from evenhand.release.postprocess.steps import Integral, Nonnegative, Shrink, SumTo
from evenhand.release.table.histogram import Histogram
from evenhand.release.table.released import Release

if TYPE_CHECKING:
    from evenhand.release.postprocess.steps import Step


def nonnegative(table: Any = None, *, least: int = 0) -> Any:
    """Apply :class:`Nonnegative` to a Release, a Histogram or an array; without one, return the step."""
    return _apply_step(Nonnegative(least=least), table)


def integral(table: Any = None, *, rng: Any = None) -> Any:
    """Apply :class:`Integral` to a Release, a Histogram or an array; without one, return the step.

    Parameters
    ----------
    table : Release, Histogram or array, optional
        What is rounded.
    rng : None, int, Generator or Source
        None for the operating system's secure source.

    Examples
    --------
    >>> integral([0.25, 2.0, -1.5], rng=1)
    array([ 0,  2, -2])
    """
    return _apply_step(Integral(), table, rng=rng)


def sum_to(table: Any = None, *, total: float, nonnegative: bool = False) -> Any:
    """Apply :class:`SumTo` to a Release, a Histogram or an array; without one, return the step.

    Examples
    --------
    >>> sum_to([-3.0, 1.0, 8.0], total=9)
    array([-2.,  2.,  9.])
    >>> sum_to([-3.0, 1.0, 8.0], total=9, nonnegative=True)
    array([0., 1., 8.])
    """
    return _apply_step(SumTo(total, nonnegative=nonnegative), table)


def shrink(table: Any = None, *, T: float, least: int = 0) -> Any:  # noqa: N803 - the name it has in the literature
    """Apply :class:`Shrink` to a Release, a Histogram or an array; without one, return the step."""
    return _apply_step(Shrink(T, least=least), table)


def _apply_step(step: Step, table: Any, *, rng: Any = None) -> Any:
    if table is None:
        return step
    source = source_from(rng)
    if isinstance(table, Release):
        return table.processed([step], source=source)
    if isinstance(table, Histogram):
        counts = table.require_dense(owner=type(step).__name__)
        return table.with_counts(step.apply(counts, source=source))
    return step.apply(table, source=source)
