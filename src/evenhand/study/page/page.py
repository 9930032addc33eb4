"""From results to a page, whatever kind of study they are of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.answer.case import Command
from evenhand.answer.compose import compose
from evenhand.answer.page import build_page
from evenhand.answer.words import words_in
from evenhand.report.language import written_in
from evenhand.report.page import Answer
from evenhand.study.tasks.base import Task

if TYPE_CHECKING:
    from evenhand.answer.view import View
    from evenhand.report.page import Page
    from evenhand.study.results.base import ResultData


def answers(results: ResultData, *, chosen: object = None, language: str = "en") -> tuple[str, str, str]:
    """Return the three sentences of a report and of the terminal.

    Parameters
    ----------
    results : Results
    chosen : Setting, mapping or str, optional
        The setting that they are about, as in :meth:`Results.setting`; by default the one that the rule of
        the kind of study finds.
    language : str
        One that the kind of study has sentences in.

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
    >>> answers(run(plan, workers=1, progress=False))[2].finding
    'Run about 10 more repeats.'
    """
    if type(results.plan.task).read is Task.read:
        view = _view_of(results, chosen, language)
        who, how_much, what_to_do = (
            Answer(said.text, " ".join(said.details)) for said in (view.who, view.how_much, view.what_to_do)
        )
        return who, how_much, what_to_do
    with written_in(language):
        return results.plan.task.read(results, chosen=chosen, language=language).answers()


def page_of(results: ResultData, *, chosen: object = None, command: str = "", language: str = "en") -> Page:
    """Return the report of a study as a page.

    Parameters
    ----------
    results : Results
    chosen : Setting, mapping or str, optional
        The setting that the page is about, as in :meth:`Results.setting`; by default the one that the rule of
        the kind of study finds.
    command : str
        What makes the page again, such as :meth:`Results.command` finds.
    language : str
        One that the kind of study has sentences in.

    Returns
    -------
    Page

    Raises
    ------
    InvalidParameterError
        If `chosen` is not a setting that a page of this kind can be about.
    MissingExtraError
        If altair or vl-convert is not installed.
    """
    if type(results.plan.task).read is Task.read:
        view, again = _view_of(results, chosen, language), words_in(language).say("default.again")
        commands = (*view.commands, *([Command(again, "", command)] if command else []))
        return build_page(replace(view, commands=commands))
    page: Page = results.plan.task.read(results, chosen=chosen, language=language).page(command=command)
    return page


def _view_of(results: ResultData, chosen: object, language: str) -> View:
    asked = None if chosen is None else results.setting(chosen)
    return compose(results.plan.task.case(results, page=asked, language=language))
