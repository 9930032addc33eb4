"""The fifth step: the report itself, about a setting that is chosen, beside another one, for one group."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from evenhand.app.flow.files import downloads_of
from evenhand.app.flow.messages import leave_out_options
from evenhand.app.flow.opening import portable_plan
from evenhand.app.flow.views import ResultView, SettingChoice, SideBySide
from evenhand.app.state.record import StudyRecord
from evenhand.app.state.workspace import OUTPUT, RECORD
from evenhand.app.tasks.registry import form_of_kind
from evenhand.errors import InvalidParameterError, StudyStoreError, UnknownNameError
from evenhand.report.html import render_fragment
from evenhand.report.page import Page, Section, Table
from evenhand.study.page.parts import measure_text, measure_title
from evenhand.study.page.wording import counted
from evenhand.study.results.estimates import compare, estimate, group_change, group_estimate, paired_change
from evenhand.study.results.results import Results

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evenhand.report.page import Chart
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.measure import Measure

STORE = "study.db"
"""The results of a study, in the folder of its run."""

_CLEAR, _UNCLEAR, _EXACT = "clear", "cannot tell", "computed"
_FILTER_NOTE = "In each cell the mean over repeats, and below it its 95 % interval."


def read_result(
    folder: Path, *, chosen: str = "", beside: str = "", group: str = "", measure: str = ""
) -> ResultView:
    """Return the results in a folder as the page shows them.

    Parameters
    ----------
    folder : path
        Of a study of the workbench, or one with results of the command line.
    chosen : str
        The key of the setting that the page is about; by default the one that the report is about.
    beside : str
        The key of a second setting, to be compared with it.
    group, measure : str
        What charts and tables are filtered by: keys of the view.

    Raises
    ------
    StudyStoreError
        If there are no results.
    UnknownNameError
        If a key is not one of the study's.
    """
    place = _results_folder(folder)
    results = _load(str(place), (place / STORE).stat().st_mtime_ns)
    settings = {setting.id: setting for setting in results.settings}
    first = _find(chosen, settings, "Setting") if chosen else None
    reading = _read(results, first)
    about: Setting = reading.chosen if first is None else first
    groups = {label: reading.named(label) for label in results.facts.groups}
    measures = {name: results.plan.task.measure(name).words for name in results.plan.measures}
    if group:
        _find(group, groups, "Group")
    if measure:
        _find(measure, measures, "Measure")
    command = results.command(place)
    page = _page(reading, command)
    if group:
        page = _for_group(page, groups, group)
    if group or measure:
        table = _numbers_table(results, groups, group, measure)
        page = replace(page, sections=(table, *page.sections))
    second = _find(beside, settings, "Setting") if beside else None
    return ResultView(
        answer_html=leave_out_options(render_fragment(page, part="answer")),
        findings_html=leave_out_options(render_fragment(page, part="findings")),
        settings=tuple(
            SettingChoice(key, _name(results, setting), setting.is_protected)
            for key, setting in settings.items()
        ),
        chosen=about.id,
        beside="" if second is None else second.id,
        groups=tuple(groups.items()),
        measures=tuple(measures.items()),
        compared=None if second is None else _compare(results, groups, about, second),
        answers=tuple(map(str, reading.answers())),
        advice=_advice(folder, results),
        files=downloads_of(folder, is_output=place == folder),
        command=command,
        next_command=results.next_command("" if results.plan.data is None else results.plan.data.label),
        kind=results.plan.task.kind,
        label=results.facts.label,
        done=len(results) - len(results.failures),
        total=len(results.plan.cells()),
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


@lru_cache(maxsize=4)
def _read(results: Results, chosen: Setting | None) -> Any:
    """Return what the report says of a setting, by default of the one that it is about."""
    return results.plan.task.read(results, chosen=chosen)


@lru_cache(maxsize=4)
def _page(reading: Any, command: str) -> Page:
    """Return the page of a reading, whose charts take time."""
    page: Page = reading.page(command=command)
    return page


def _find(key: str, known: Any, what: str) -> Any:
    if key not in known:
        raise UnknownNameError(what, key, (), place="one of this study")
    return known[key]


# --- filters --------------------------------------------------------------------------------------


def _for_group(page: Page, groups: dict[str, str], group: str) -> Page:
    """Return a page whose charts and tables leave out other groups, wherever they tell groups apart."""
    sections = [
        replace(
            section,
            charts=[_chart_of_group(chart, group, groups[group]) for chart in section.charts],
            tables=[_table_of_group(table, groups, group) for table in section.tables],
        )
        for section in page.sections
    ]
    return replace(page, sections=sections)


def _chart_of_group(chart: Chart, group: str, name: str) -> Chart:
    if chart.draw_group is None:
        return chart
    drawn = chart.draw_group(group)
    return replace(drawn, caption=f"**Only {name} is drawn.** {drawn.caption}")


def _table_of_group(table: Table, groups: dict[str, str], group: str) -> Table:
    """Return a table without the columns and the rows that are about other groups."""
    names = list(groups.values())
    columns = [
        place for place, title in enumerate(table.header) if _group_of(title, names) in {"", groups[group]}
    ]
    rows = [place for place, row in enumerate(table.rows) if row[0] not in names or row[0] == groups[group]]
    if len(columns) == len(table.header) and len(rows) == len(table.rows):
        return table
    place = {row: number for number, row in enumerate(rows)}
    at = {column: number for number, column in enumerate(columns)}
    return replace(
        table,
        header=[table.header[column] for column in columns],
        rows=[[table.rows[row][column] for column in columns] for row in rows],
        numeric=[table.numeric[column] for column in columns],
        tags={
            (place[row], at[column]): tag
            for (row, column), tag in table.tags.items()
            if row in place and column in at
        },
        sunk=None if table.sunk is None else place.get(table.sunk),
        chosen=None if table.chosen is None else place.get(table.chosen),
        fold=table.fold if len(rows) == len(table.rows) else None,
        orders=[(name, [place[row] for row in order if row in place]) for name, order in table.orders],
    )


def _group_of(title: str, names: Sequence[str]) -> str:
    r"""Return the group that a column is about by its title, which may be cut; none if it is about no group.

    >>> _group_of("older women selected\n%", ["women", "older women"])
    'older women'
    >>> _group_of("women of the nor… selected", ["women", "women of the north"])
    'women of the north'
    """
    first, cut, _ = title.partition("\n")[0].partition("…")
    if cut:
        return next((name for name in names if first and name.startswith(first)), "")
    found = [name for name in names if first == name or first.startswith(f"{name} ")]
    return max(found, key=len, default="")


def _numbers_table(results: Results, groups: dict[str, str], group: str, measure: str) -> Section:
    """Return every setting with a measure, or with the numbers of a group, as the results have them."""
    task = results.plan.task
    columns: list[tuple[str, Any]] = []
    if measure:
        known = task.measure(measure)
        columns += [
            (measure_title(known), lambda setting: _value(results, setting, measure, known)),
            (measure_title(known, change=True), lambda setting: _change(results, setting, measure, known)),
        ]
    for name, known in task.group_numbers.items() if group else ():
        columns += [
            (
                measure_title(known),
                lambda setting, name=name, known=known: _group_value(results, setting, group, name, known),
            )
        ]
    rows = [
        [_name(results, setting), *(cell(setting) for _, cell in columns)] for setting in results.settings
    ]
    words = [groups[group]] if group else []
    words += [task.measure(measure).words] if measure else []
    table = Table(
        header=["Setting", *(title for title, _ in columns)],
        rows=rows,
        numeric=[False, *(True for _ in columns)],
        caption=_FILTER_NOTE,
        sunk=0 if results.settings and not results.settings[0].is_protected else None,
    )
    return Section(heading=f"Every setting: {', '.join(words)}", tables=(table,), anchor="filtered")


def _value(results: Results, setting: Setting, measure: str, known: Measure) -> str:
    return measure_text(results.plan.task, known, estimate(results, setting, measure))


def _change(results: Results, setting: Setting, measure: str, known: Measure) -> str:
    if not setting.is_protected:
        return ""
    return measure_text(results.plan.task, known, paired_change(results, setting, measure), sign=True)


def _group_value(results: Results, setting: Setting, group: str, name: str, known: Measure) -> str:
    return measure_text(results.plan.task, known, group_estimate(results, setting, group, name))


def _name(results: Results, setting: Setting) -> str:
    return form_of_kind(results.plan.task.kind).name_setting(setting)


# --- two settings ---------------------------------------------------------------------------------


def _compare(results: Results, groups: dict[str, str], first: Setting, second: Setting) -> SideBySide:
    """Return two settings beside each other, with the differences that the results state."""
    both = (first, second)
    names = (_name(results, first), _name(results, second))
    readings = [_read(results, setting) if setting.is_protected else None for setting in both]
    answers = [() if reading is None else tuple(map(str, reading.answers())) for reading in readings]
    numbers = [
        ()
        if reading is None
        else tuple((each.label, each.value, each.detail) for each in reading.key_numbers())
        for reading in readings
    ]
    section = Section(
        heading=f"{names[0]}, beside {names[1]}",
        tables=(_difference_table(results, groups, first, second),),
        anchor="beside",
    )
    page = Page(question="", answers=(), sections=(section,))
    return SideBySide(
        labels=names,
        answers=(answers[0], answers[1]),
        numbers=(numbers[0], numbers[1]),
        html=render_fragment(page, part="findings"),
    )


def _difference_table(results: Results, groups: dict[str, str], first: Setting, second: Setting) -> Table:
    rows: list[list[str]] = []
    tags: dict[tuple[int, int], Literal["ok", "warn", "bad"]] = {}
    task = results.plan.task
    lines: list[tuple[str, Measure, Estimated, Estimated, Estimated]] = [
        (
            known.words,
            known,
            estimate(results, first, name),
            estimate(results, second, name),
            compare(results, first, second, measure=name).estimate,
        )
        for name in results.plan.measures
        for known in [task.measure(name)]
    ]
    for label, named in groups.items():
        for name, known in task.group_numbers.items():
            one, other = (group_estimate(results, each, label, name) for each in (first, second))
            moved = group_change(results, first, label, name, against=second)
            lines.append((f"{named}: {known.words}", known, one, other, moved))
    for words, known, one, other, moved in lines:
        verdict = _EXACT if task.is_exact else _CLEAR if moved.is_clear else _UNCLEAR
        if moved.is_clear:
            tags[len(rows), 4] = "ok"
        unit = measure_title(known).partition("\n")[2]
        title = f"{words[:1].upper()}{words[1:]}{f', {unit}' if unit else ''}"
        values = [measure_text(task, known, found) for found in (one, other)]
        rows.append([title, *values, measure_text(task, known, moved, sign=True), verdict])
    repeats = counted(results.plan.repeats, "repeat")
    caption = f"Difference: first minus second within the same repeats; 95% intervals, {repeats}."
    caption = "Difference: first minus second. Nothing was repeated." if task.is_exact else caption
    return Table(
        header=["Measure", _name(results, first), _name(results, second), "Difference", "Is it clear?"],
        rows=rows,
        numeric=[False, True, True, True, False],
        caption=caption,
        tags=tags,
    )
