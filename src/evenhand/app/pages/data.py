"""The first step: which data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htmltools import Tag, TagList, tags
from shiny import reactive, render

from evenhand.app.flow.messages import HOW_WRITTEN, say_in_browser
from evenhand.app.pages.address import study_address
from evenhand.app.pages.kinds import LIST_KINDS
from evenhand.app.pages.parts import (
    actions,
    control,
    error_note,
    hint,
    label,
    lede,
    link,
    live,
    select,
    waiting,
)
from evenhand.app.pages.visit import Problem, count
from evenhand.app.security.limits import UPLOAD_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.app.flow.views import BuiltIn
    from evenhand.app.pages.visit import Visit
    from evenhand.app.state.record import StudyRecord

_FOUND_OUT = ("", "found out by itself")
_FORMATS = (
    (
        "delimiter",
        "Between two fields stands a",
        (("comma", "comma ,"), ("semicolon", "semicolon ;"), ("tab", "tab"), ("pipe", "bar |")),
    ),
    ("decimal", "Decimals of a number follow a", (("point", "point: 2.5"), ("comma", "comma: 2,5"))),
    (
        "encoding",
        "Encoding of the text",
        (
            ("utf-8", "UTF-8"),
            ("utf-16", "UTF-16"),
            ("windows-1252", "Windows-1252, Western Europe"),
            ("latin-1", "Latin-1, Western Europe"),
            ("cp1250", "Windows-1250, Central Europe"),
            ("cp1251", "Windows-1251, Cyrillic"),
            ("cp1253", "Windows-1253, Greek"),
            ("cp1254", "Windows-1254, Turkish"),
            ("cp1255", "Windows-1255, Hebrew"),
            ("cp1256", "Windows-1256, Arabic"),
            ("gb18030", "GB18030, Chinese"),
            ("big5", "Big5, Chinese"),
            ("shift_jis", "Shift JIS, Japanese"),
            ("euc_kr", "EUC-KR, Korean"),
        ),
    ),
)
_LOOKING = "Looking which data sets are here."
_ACCEPT = ".csv,.tsv,.txt,.gz,.bz2,.xlsx,.parquet,.pq"


def draw(visit: Visit, study: str) -> TagList:
    """Return the page where data is chosen.

    It does not follow what the desk says: a page that is drawn anew loses the file that a person is choosing.
    """
    record = visit.record(study)
    with reactive.isolate():
        visit.inquiry(LIST_KINDS).read("kinds")  # so that the question page need not wait for them
    problem = visit.problem()
    wrong = error_note(problem.text, id="upload-problem") if problem and problem.field == "data" else None
    return TagList(
        tags.h1("Which data?"),
        lede("Bring your own file, or start with a built-in data set to see how it works."),
        tags.div(
            tags.h2("Your own file"), _drop_zone(record), wrong, _format(record, problem), class_="part"
        ),
        tags.div(tags.h2("Built in"), live("tiles", "div", waiting(_LOOKING)), class_="part"),
        _continue(visit, record),
    )


def _drop_zone(record: StudyRecord) -> Tag:
    has_file = record.data is not None and record.data.source == "upload"
    title = (
        f"{record.data.label} is open"
        if record.data and has_file
        else "Drop a CSV, Excel or Parquet file here"
    )
    return tags.div(
        tags.b(title),
        tags.span("One row per person, or one row per place with counts. Up to 200 MB."),
        tags.div(
            control(
                "input", type="file", id="file", class_="file", accept=_ACCEPT, aria_label="Choose a file"
            ),
            tags.label("Choose another file" if has_file else "Choose a file", for_="file", class_="btn"),
        ),
        tags.progress(max="1", value="0", hidden="", aria_label="How much of the file is opened"),
        tags.p(data_upload_words="", role="status", class_="hint"),
        class_="drop",
        data_upload=f"studies/{record.id}/data",
        data_study=record.id,
        data_done="data.uploaded",
        data_failed="data.failed",
        data_most=str(UPLOAD_BYTES),
        id="drop",
    )


def _format(record: StudyRecord, problem: Problem | None) -> Tag:
    """Return the fold where a person says how a file is written that was read wrongly, or not at all."""
    chosen = record.data.file_format if record.data is not None else {}
    is_asked = problem is not None and HOW_WRITTEN in say_in_browser(problem.text)
    fields = [
        tags.div(
            label(words, f"format-{name}"),
            select(f"format-{name}", [_FOUND_OUT, *options], chosen.get(name, ""), data_format=name),
        )
        for name, words, options in _FORMATS
    ]
    sheet = control(
        "input", type="text", id="format-sheet", value=chosen.get("sheet", ""), data_format="sheet"
    )
    fields.append(tags.div(label("Sheet, by its name or its place such as 2", "format-sheet"), sheet))
    again = tags.button(
        "Open the file again", type="button", class_="btn small", data_again="file", id="again"
    )
    return tags.details(
        tags.summary(HOW_WRITTEN),
        tags.div(*fields, class_="form two"),
        tags.div(again, hint("This is found out by itself for nearly every file."), class_="actions"),
        open="" if is_asked or chosen else None,
        id="format",
        class_="more",
    )


def add_outputs(visit: Visit) -> None:
    """Add the part of the page that comes later: the data sets."""

    @render.ui
    def tiles() -> Tag | None:
        visit.drawn()
        address = visit.address
        if address.place != "study" or not address.study or address.page != "data":
            return None
        return _tiles(visit, visit.record(address.study))


def _tiles(visit: Visit, record: StudyRecord) -> Tag:
    answer = visit.inquiry("data:built_in").read("built in")
    if answer.error:
        return error_note(answer.error)
    if answer.value is None:
        return waiting(_LOOKING)
    return tags.div(*(_tile(record, entry) for entry in answer.value), class_="tiles")


def _tile(record: StudyRecord, entry: BuiltIn) -> Tag:
    chosen = record.data is not None and record.data.dataset == entry.name
    meta = ", ".join(part for part in (entry.rows, entry.where) if part)
    return tags.button(
        tags.b(entry.title, " (demo)" if entry.is_demo else ""),
        tags.span(entry.sentence),
        tags.span(meta, class_="meta"),
        type="button",
        class_="tile",
        aria_pressed="true" if chosen else "false",
        data_do="data.choose",
        data_study=record.id,
        data_name=entry.name,
        id=f"dataset-{entry.name}",
    )


def _continue(visit: Visit, record: StudyRecord) -> Tag:
    if record.data is None:
        return actions(
            tags.button("Continue", type="button", class_="btn primary", disabled="", id="continue"),
            hint("Choose a file or a data set first."),
        )
    with reactive.isolate():
        entries = visit.inquiry("data:built_in").read("built in").value or ()
    known = {entry.name: entry.title for entry in entries}
    title = known.get(record.data.dataset, record.data.label)
    return actions(
        link("Continue", study_address(record.id, "schema"), look="primary", id="continue"),
        hint(f"with {title}"),
    )


# --- what its controls do --------------------------------------------------------------------------


async def _choose(visit: Visit, event: Mapping[str, Any]) -> None:
    study = str(event["study"])
    changes = await visit.ask_once("data:choose_dataset", str(event.get("name", "")))
    visit.change(study, draw=True, **changes)
    await guess_roles(visit, study)


async def _uploaded(visit: Visit, event: Mapping[str, Any]) -> None:
    study = str(event["study"])
    await guess_roles(visit, study)
    count(visit.saved)
    count(visit.drawn)


async def _failed(visit: Visit, event: Mapping[str, Any]) -> None:
    visit.problem.set(Problem(str(event.get("value", ""))[:1000], "data"))


async def guess_roles(visit: Visit, study: str) -> None:
    """Keep the roles that the rows suggest, for a person to check."""
    changes = await visit.ask_once("describe:guess_roles", visit.folder(study), visit.record(study))
    visit.change(study, draw=True, **changes)


ACTIONS = {"data.choose": _choose, "data.uploaded": _uploaded, "data.failed": _failed}
"""What the controls of this page do."""
