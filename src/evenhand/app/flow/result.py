"""The fifth step: the report itself, about the setting that the plan fixes or another one."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from evenhand.answer.page import build_page
from evenhand.app.flow.files import downloads_of
from evenhand.app.flow.messages import leave_out_options
from evenhand.app.flow.opening import portable_plan
from evenhand.app.flow.views import ResultView, SettingChoice
from evenhand.app.state.record import StudyRecord
from evenhand.app.state.workspace import OUTPUT, RECORD
from evenhand.app.tasks.registry import form_of_kind
from evenhand.errors import InvalidParameterError, StudyStoreError, UnknownNameError
from evenhand.report.html import render_fragment
from evenhand.study.results.results import Results

if TYPE_CHECKING:
    from pathlib import Path

STORE = "study.db"
"""The results of a study, in the folder of its run."""


def read_result(folder: Path, *, chosen: str = "") -> ResultView:
    """Return the results in a folder as the page shows them.

    Parameters
    ----------
    folder : path
        Of a study of the workbench, or one with results of the command line.
    chosen : str
        The key of the setting that the page is about; by default the plan fixes it.

    Raises
    ------
    StudyStoreError
        If there are no results.
    UnknownNameError
        If the key is not one of the study's.
    """
    place = _results_folder(folder)
    results = _load(str(place), (place / STORE).stat().st_mtime_ns)
    settings = {setting.id: setting for setting in results.settings if setting.is_protected}
    if chosen and chosen not in settings:
        raise UnknownNameError("Setting", chosen, (), place="one of this study")
    data = "" if results.plan.data is None else results.plan.data.label
    view = results.view(place, chosen=settings.get(chosen), data=data)
    page = build_page(replace(view, commands=()))  # which stand below, with buttons
    name_setting = results.plan.task.name_setting
    return ResultView(
        answer_html=leave_out_options(render_fragment(page, part="answer")),
        findings_html=leave_out_options(render_fragment(page, part="findings")),
        settings=tuple(SettingChoice(key, name_setting(each)) for key, each in settings.items()),
        chosen=next((key for key, each in settings.items() if str(each) == view.page), ""),
        recommended=next(
            (name_setting(each) for each in results.settings if str(each) == view.recommended), ""
        ),
        commands=tuple((command.label, command.line) for command in view.commands),
        advice=_advice(folder, results),
        files=downloads_of(folder, is_output=place == folder),
        done=len(results) - len(results.failures),
        total=len(results) + len(results.missing),
        failed=len(results.failures),
    )


def _advice(folder: Path, results: Results) -> str:
    """Return which setting keeps the limits that the record of a study has; nothing without a record."""
    kept = folder / RECORD
    if not kept.is_file():
        return ""
    record = StudyRecord.from_json(kept.read_bytes())
    kind = results.plan.task.kind
    try:
        return form_of_kind(kind).advise(results, record.form.get(kind, {}))
    except InvalidParameterError as error:
        return str(error)


def load_results(folder: Path) -> Results:
    """Return the results of a study of the workbench, or of the command line.

    Raises
    ------
    StudyStoreError
        If there are none.
    """
    place = _results_folder(folder)
    return _load(str(place), (place / STORE).stat().st_mtime_ns)


def _results_folder(folder: Path) -> Path:
    for place in (folder / OUTPUT, folder):
        if (place / STORE).is_file():
            return place
    raise StudyStoreError("There are no results yet. Hint: run the study first.")


@lru_cache(maxsize=1)
def _load(folder: str, changed: int) -> Results:
    del changed  # part of the key: results that grow are read again
    loaded = Results.load(folder)  # its plan names the whole path of its file
    return Results(portable_plan(loaded.plan), loaded.facts, loaded.outcomes)
