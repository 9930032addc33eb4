"""From the results of any study to its report: the three sentences, the page, and how to make it again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.errors import EvenhandError
from evenhand.study.plan.plan import Plan

if TYPE_CHECKING:
    import os

    from evenhand.report.page import Page
    from evenhand.study.results.base import ResultData

__all__ = ["answers", "command_of", "page_of"]

_PLAN_FILE = "plan.toml"


def answers(results: ResultData, *, chosen: object = None) -> tuple[str, str, str]:
    """Return the three sentences of a report and of the terminal.

    Parameters
    ----------
    results : Results
    chosen : Setting, mapping or str, optional
        The protected setting that they are about, as in :meth:`Results.setting`; by default the one that a
        rule finds.

    Returns
    -------
    tuple of three str
        ``**bold**`` is the finding itself. There may be more than one full stop in a sentence.

    Examples
    --------
    >>> from evenhand.study import CollectTask, DataSource, Plan
    >>> from evenhand.study.run.whole import run
    >>> data = DataSource(dataset="causal", options={"n": 300})
    >>> plan = Plan(data=data, task=CollectTask("grr", 1, model="logistic"), repeats=1)
    >>> answers(run(plan, workers=1, progress=False))[2]
    '**No recommendation: one setting was tested.** Try other protocols, splits or values of ε to have ...'
    """
    return results.plan.task.read(results, chosen=chosen).answers()


def page_of(results: ResultData, *, chosen: object = None, command: str = "") -> Page:
    """Return the report of a study as a page.

    Parameters
    ----------
    results : Results
    chosen : Setting, mapping or str, optional
        The protected setting that the page is about, as in :meth:`Results.setting`; by default the one that a
        rule finds.
    command : str
        What makes the page again, such as :func:`command_of` finds.

    Returns
    -------
    Page

    Raises
    ------
    InvalidParameterError
        If `chosen` is not a protected setting of the study.
    MissingExtraError
        If altair or vl-convert is not installed.
    """
    page: Page = results.plan.task.read(results, chosen=chosen).page(command=command)
    return page


def command_of(results: ResultData, folder: str | os.PathLike[str]) -> str:
    """Return the command that runs a study again, if its plan is a file in the folder, or an empty text."""
    try:
        found = Plan.load(Path(folder) / _PLAN_FILE)
    except EvenhandError:
        return ""
    same = found.seed == results.plan.seed and tuple(found.cells()) == tuple(results.plan.cells())
    return results.plan.task.command(results.plan, file=_PLAN_FILE) if same else ""
