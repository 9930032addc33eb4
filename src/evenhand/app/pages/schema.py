"""The second step: what is in the data, and what is public about it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from htmltools import Tag, TagChild, TagList, tags
from shiny import reactive

from evenhand.app.pages.address import study_address
from evenhand.app.pages.columns import ROLES, as_list, change_role, draw_columns, show_changes
from evenhand.app.pages.glossary import term
from evenhand.app.pages.kinds import LIST_KINDS
from evenhand.app.pages.parts import (
    actions,
    button,
    chips,
    control,
    error_note,
    hint,
    label,
    lede,
    link,
    look_note,
    note,
    panel,
    select,
    suggesting,
    text_input,
    waiting,
)
from evenhand.app.pages.visit import Problem, count
from evenhand.errors import EvenhandError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.app.flow.views import Described, MissingRole
    from evenhand.app.pages.visit import Answer, Visit
    from evenhand.app.state.record import StudyRecord

_MOST_LISTED = 12
_NUMBER_OR_BAND = re.compile(r"-?\d+\.?\d*|\[.+, .+[)\]]")
_ROWS = (
    ("people", "one person", "Such as an answer to a survey, or a record of a patient."),
    ("places", "one place with counts of people", "Such as a county, a school or a district."),
)
_BOUNDS = ("low", "high", "width")
_REPLACES = {
    "kind": ("values", *_BOUNDS, "edges"),
    "edges": _BOUNDS,
    **dict.fromkeys(_BOUNDS, ("edges",)),
}
"""What a person wrote of a column before, and what no longer holds when another part is written."""

_LATER = "You can answer the questions above later: not every study needs all of them."
_PLACES = (
    "Each row is a place, and its columns are counts, so no column needs a role. Which right or which money "
    "follows from the counts is asked on the next page."
)


def draw(visit: Visit, study: str) -> TagList:
    """Return the page where the data is described."""
    record = visit.record(study)
    is_of_people = _is_of_people(visit, record)
    top = _heading(is_of_people=is_of_people)
    if record.data is None:
        nothing = note("plain", tags.p("There is no data yet. Choose a file or a data set first."))
        return TagList(
            *top,
            nothing,
            actions(link("Choose data", study_address(study, "data"), look="primary", id="back")),
        )
    answer = read_described(visit, record)
    if answer.value is None:
        shown: TagChild = (
            error_note(answer.error) if answer.error else waiting(f"Reading {record.data.label}.")
        )
        return TagList(*top, shown, actions(link("Back", study_address(study, "data"), id="back")))
    described: Described = show_changes(answer.value, record) if answer.waiting else answer.value
    rows_are = _rows_are(visit, record)
    if not is_of_people:
        return TagList(
            *top,
            rows_are,
            _problem(visit),
            note("plain", tags.p(_PLACES)),
            draw_columns(record, described, has_roles=False),
            _foot(record, replace(described, error="", missing=()), answer.waiting, has_schema=False),
        )
    return TagList(
        *top,
        rows_are,
        _problem(visit),
        error_note(described.error, id="schema-error") if described.error else None,
        *(look_note(look) for look in described.warnings),
        *(_missing(record, role) for role in described.missing),
        draw_columns(record, described),
        panel(tags.h2("Who is compared, and which outcome is good?"), _values(record, described)),
        _all_public(record) if described.inferred else None,
        _files(record),
        _foot(record, described, answer.waiting),
    )


def _heading(*, is_of_people: bool) -> list[Tag]:
    """Return the question of the page, and what a person is asked to check."""
    if not is_of_people:
        return [
            tags.h1("What is in it?"),
            lede("Please check that every column was read as what it is: counts must be whole numbers."),
        ]
    return [
        tags.h1("What is in it, and what is public about it?"),
        lede(
            "We guessed values and roles from names and rows. Please check them: the ",
            term("schema", "schema"),
            " counts as public knowledge.",
        ),
    ]


def read_described(visit: Visit, record: StudyRecord) -> Answer[Any]:
    """Return the description of a study's data, asked anew when the record changes."""
    key = (record.id, record.with_(name="", described=False, tutorial=False).to_json())
    return visit.inquiry("describe:describe").read(key, visit.folder(record.id), record)


def _is_of_people(visit: Visit, record: StudyRecord) -> bool:
    """Whether each row of the data is a person, as the question of the study has it."""
    kinds = visit.inquiry(LIST_KINDS).read("kinds").value or ()
    return all(kind.needs_people for kind in kinds if kind.name == record.kind)


def _rows_are(visit: Visit, record: StudyRecord) -> Tag:
    """Return the question what a row is: people have roles, and places have counts."""
    chosen = "people" if _is_of_people(visit, record) else "places"
    return panel(
        chips(
            "rows-are",
            "Each row of the data is",
            _ROWS,
            [chosen],
            single=True,
            do="schema.rows",
            data_study=record.id,
        )
    )


def _problem(visit: Visit) -> Tag | None:
    problem = visit.problem()
    return error_note(problem.text, id="problem-schema") if problem and problem.field == "schema" else None


def _missing(record: StudyRecord, role: MissingRole) -> Tag:
    name = f"missing-{role.role}"
    known = {"do": "schema.fill", "data_study": record.id, "data_role": role.role}
    is_value = role.role in {"positive", "privileged"}
    build = _choose_or_write if is_value else _choose
    return note(
        "warn",
        tags.div(tags.label(role.question, for_=name, class_="label")),
        build(name, "", role.choices, **known),
    )


def _choose(name: str, value: str, choices: Sequence[str], **known: Any) -> Tag:
    return select(name, [("", "choose"), *((choice, choice) for choice in choices)], value, **known)


def _choose_or_write(name: str, value: str, choices: Sequence[str], **known: Any) -> Tag | TagList:
    """Return a list to choose from where it is short, else a line to write in that suggests values.

    Of more than two numbers, or of bands of them, people may want all from one on, which they write.
    """
    are_numbers = all(_NUMBER_OR_BAND.fullmatch(choice) for choice in choices)
    most = 2 if are_numbers else _MOST_LISTED
    if 1 < len(choices) <= most and value in ("", *choices):
        return _choose(name, value, choices, **known)
    return suggesting(name, value, choices, **known)


# --- groups, outcomes, people ----------------------------------------------------------------------


def _values(record: StudyRecord, described: Described) -> Tag:
    roles = described.roles
    fields = []
    asked = (
        ("positive", "The good outcome", "positive"),
        ("privileged", "The group that others are compared with", "privileged"),
    )
    for role, words, word in asked:
        choices = described.choices.get(role, ())
        chosen = ", ".join(as_list(roles.get(role)))
        known = {"do": "schema.value", "data_study": record.id, "data_role": role}
        control = _choose_or_write(role, chosen, choices, **known)
        fields.append(tags.div(label(words, role, word), control, hint(described.reasons.get(role, ""))))
    numbers = (
        (
            "rows_per_person",
            "Rows of one person that count at most",
            "person",
            "Leave it empty if each person has one row.",
        ),
        (
            "pool_below",
            "Compare groups of fewer people than this as one",
            "small-group",
            "Leave it empty to compare every group.",
        ),
    )
    for role, words, word, help_words in numbers:
        value = str(roles.get(role) or "")
        number = text_input(
            role, value, do="schema.value", data_study=record.id, data_role=role, inputmode="numeric"
        )
        fields.append(tags.div(label(words, role, word), number, hint(help_words)))
    crossed = "Give several columns the role “protected” to compare crossed groups, such as women over 60."
    return tags.div(tags.div(*fields, class_="form two"), hint(crossed))


def _all_public(record: StudyRecord) -> Tag:
    """Return the button by which one says of all lists at once what can be said of each."""
    return tags.details(
        tags.summary("Are all of these lists public?"),
        tags.p(
            "Press this only if none of the values above was learnt from this file: each list stands in a "
            "handbook, in a law, or somewhere else that everybody may read.",
            class_="hint",
        ),
        actions(
            button(
                "All of these lists are public",
                "schema.all_public",
                look="small",
                id="all-public",
                data_study=record.id,
            )
        ),
        id="all-public-fold",
    )


def _files(record: StudyRecord) -> Tag:
    return tags.details(
        tags.summary("Load a schema.toml that you have"),
        tags.div(
            tags.p(
                "A schema file declares the columns; it takes the place of what was guessed.", class_="hint"
            ),
            control(
                "input",
                type="file",
                id="schema-file",
                class_="file",
                accept=".toml,text/plain",
                aria_label="Choose a schema file",
            ),
            tags.label("Choose schema.toml", for_="schema-file", class_="btn"),
            tags.progress(max="1", value="0", hidden="", aria_label="How much of the file is read"),
            tags.p(data_upload_words="", role="status", class_="hint"),
            class_="drop",
            data_upload=f"studies/{record.id}/schema",
            data_study=record.id,
            data_done="schema.loaded",
            data_failed="schema.failed",
        ),
        id="schema-load",
    )


def _foot(
    record: StudyRecord,
    described: Described,
    waits: bool,  # noqa: FBT001
    *,
    has_schema: bool = True,
) -> TagList:
    blocked = bool(described.error)
    why = "Correct what is marked above first." if blocked else _LATER if described.missing else ""
    right = button(
        "These are right",
        "schema.right",
        look="primary",
        id="right",
        data_study=record.id,
        disabled="" if blocked else None,
    )
    save = button(
        "Save schema.toml",
        "schema.save",
        id="save-schema",
        data_save="schema-text",
        data_name="schema.toml",
        disabled=None if described.schema_text else "",
    )
    return TagList(
        tags.pre(described.schema_text, id="schema-text", hidden=""),
        actions(
            right,
            save if has_schema else None,
            link("Back", study_address(record.id, "data"), id="back"),
            waiting("Checking.") if waits else hint(why) if why else None,
        ),
    )


# --- what its controls do --------------------------------------------------------------------------


def _change(visit: Visit, study: str, **changes: Any) -> None:
    visit.change(study, draw=True, described=False, **changes)


async def _rows(visit: Visit, event: Mapping[str, Any]) -> None:
    """Ask the first question that is about such rows."""
    kinds = await visit.desk.ask(LIST_KINDS)
    wanted = event.get("value") != "places"
    kind = next(kind.name for kind in kinds if kind.needs_people == wanted)
    _change(visit, str(event["study"]), kind=kind)


async def _role(visit: Visit, event: Mapping[str, Any]) -> None:
    record = visit.record(str(event["study"]))
    role = str(event.get("value", ""))
    if role in ROLES:
        _change(visit, record.id, roles=change_role(_roles(visit, record), str(event["column"]), role))


def _roles(visit: Visit, record: StudyRecord) -> Mapping[str, Any]:
    """Return the roles that hold: those of the record, and those that the data set itself declares.

    A description from before the newest change would take that change back.
    """
    with reactive.isolate():
        answer = read_described(visit, record)
    return record.roles if answer.value is None or answer.waiting else dict(answer.value.roles)


async def _fill(visit: Visit, event: Mapping[str, Any]) -> None:
    record, role, value = visit.record(str(event["study"])), str(event["role"]), str(event.get("value", ""))
    if not value:
        return
    if role in {"target", "protected", "sensitive"}:
        _change(visit, record.id, roles=change_role(_roles(visit, record), value, role))
    else:
        _change(visit, record.id, roles={**_roles(visit, record), role: value})


async def _value(visit: Visit, event: Mapping[str, Any]) -> None:
    record, role, value = (
        visit.record(str(event["study"])),
        str(event["role"]),
        str(event.get("value", "")).strip(),
    )
    kept = {key: held for key, held in _roles(visit, record).items() if key != role}
    given: Any = value
    if role == "privileged" and len(as_list(kept.get("protected"))) > 1:
        given = [part.strip() for part in value.split(",")]
    _change(visit, record.id, roles={**kept, **({role: given} if value else {})})


async def _column(visit: Visit, event: Mapping[str, Any]) -> None:
    record, column, key = visit.record(str(event["study"])), str(event["column"]), str(event["key"])
    replaced = _REPLACES.get(key, ())
    edit = {name: value for name, value in record.columns.get(column, {}).items() if name not in replaced}
    edit[key] = str(event.get("value", "")).strip()
    _change(visit, record.id, columns={**record.columns, column: edit})


async def _band(visit: Visit, event: Mapping[str, Any]) -> None:
    record, column = visit.record(str(event["study"])), str(event["column"])
    roles = dict(_roles(visit, record))
    bands = {name: band for name, band in dict(roles.get("bands") or {}).items() if name != column}
    band = str(event.get("value", ""))
    roles["bands"] = {**bands, **({column: band} if band else {})}
    _change(visit, record.id, roles=roles)


async def _public(visit: Visit, event: Mapping[str, Any]) -> None:
    record, column = visit.record(str(event["study"])), str(event["column"])
    edit = {**record.columns.get(column, {}), "public": bool(event.get("value"))}
    _change(visit, record.id, columns={**record.columns, column: edit})


async def _public_all(visit: Visit, event: Mapping[str, Any]) -> None:
    record = visit.record(str(event["study"]))
    with reactive.isolate():
        described = read_described(visit, record).value
    inferred = described.inferred if described is not None else ()
    edits = {name: {**record.columns.get(name, {}), "public": True} for name in inferred}
    _change(visit, record.id, columns={**record.columns, **edits})


async def _declare(visit: Visit, event: Mapping[str, Any]) -> None:
    record, column = visit.record(str(event["study"])), str(event["column"])
    text = str(event.get("text", ""))
    try:
        values, labels = await visit.ask_once("describe:read_code_list", text)
    except EvenhandError as error:
        visit.problem.set(Problem(str(error), "schema"))
        return
    edit = {**record.columns.get(column, {}), "kind": "categories", "values": values, "labels": labels}
    _change(visit, record.id, columns={**record.columns, column: edit})


async def _undo(visit: Visit, event: Mapping[str, Any]) -> None:
    record, column = visit.record(str(event["study"])), str(event["column"])
    _change(visit, record.id, columns={name: edit for name, edit in record.columns.items() if name != column})


async def _loaded(visit: Visit, event: Mapping[str, Any]) -> None:  # noqa: ARG001
    count(visit.saved)
    count(visit.drawn)


async def _failed(visit: Visit, event: Mapping[str, Any]) -> None:
    visit.problem.set(Problem(str(event.get("value", ""))[:1000], "schema"))


async def _right(visit: Visit, event: Mapping[str, Any]) -> None:
    study = str(event["study"])
    visit.change(study, draw=True, described=True)
    await visit.go(study_address(study, "question"))


ACTIONS = {
    "schema.rows": _rows,
    "schema.role": _role,
    "schema.fill": _fill,
    "schema.value": _value,
    "schema.column": _column,
    "schema.band": _band,
    "schema.public": _public,
    "schema.all_public": _public_all,
    "schema.values": _declare,
    "schema.undo": _undo,
    "schema.loaded": _loaded,
    "schema.failed": _failed,
    "schema.right": _right,
}
"""What the controls of this page do."""
