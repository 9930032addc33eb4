"""The columns on the schema page: what each holds and what it is for, to be changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from htmltools import Tag, TagChild, tags

from evenhand.app.flow.messages import say_in_browser
from evenhand.app.pages.glossary import term
from evenhand.app.pages.parts import (
    button,
    control,
    counted,
    hint,
    label,
    panel,
    select,
    tag,
    text_input,
    tick,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.app.flow.views import ColumnRow, Described
    from evenhand.app.state.record import StudyRecord

ROLES = {
    "clear": "feature",
    "protected": "protected",
    "sensitive": "sensitive",
    "protected, sensitive": "protected and sensitive",
    "target": "target",
    "target, sensitive": "target and sensitive",
    "weight": "survey weight",
    "person": "whose row it is",
    "left out": "leave it out",
}
"""Every role that a column may have, with its words."""

_KINDS = (("categories", "categories"), ("whole numbers", "whole numbers"), ("bands", "numbers in bands"))
_UNKNOWN = (("error", "stop with an error"), ("other", "count as other"), ("drop", "leave the row out"))
_ROLE_WORDS = ("protected", "sensitive", "target", "weight", "person")
_HEADER = ("Column", "Values", "Missing", "Role", "Look at")
_SHOWN_AT_ONCE = ("kind", "unknown", "missing")
_LISTS = ("protected", "sensitive", "drop")
_SINGLE = ("target", "weight", "person")
_OWNERS = {"positive": "target", "privileged": "protected"}


def role_of(roles: Mapping[str, Any], column: str) -> str:
    """Return the role of a column.

    >>> role_of({"protected": ["sex"], "sensitive": ["sex"]}, "sex")
    'protected, sensitive'
    """
    single = next((role for role in _SINGLE if roles.get(role) == column), "")
    if single:
        is_secret = single == "target" and column in as_list(roles.get("sensitive"))
        return f"{single}, sensitive" if is_secret else single
    held = [role for role in ("protected", "sensitive") if column in as_list(roles.get(role))]
    if held:
        return ", ".join(held)
    return "left out" if column in as_list(roles.get("drop")) else "clear"


def change_role(roles: Mapping[str, Any], column: str, role: str) -> dict[str, Any]:
    """Return the roles after a column was given another one.

    A target and a weight are one column each, so the column that had the role before loses it. The positive
    value goes with its target, and the privileged group with its protected columns.

    >>> change_role({"target": "income", "positive": "high"}, "age", "target")
    {'target': 'age'}
    """
    changed = {key: value for key, value in roles.items() if key not in {*_LISTS, *_SINGLE}}
    singles = {key: roles[key] for key in _SINGLE if roles.get(key) and roles[key] != column}
    lists = {key: [name for name in as_list(roles.get(key)) if name != column] for key in _LISTS}
    for part in role.split(", "):
        if part in _SINGLE:
            singles[part] = column
        if part in lists:
            lists[part].append(column)
        if part == "left out":
            lists["drop"].append(column)
    if singles.get("target") != roles.get("target"):
        changed.pop("positive", None)
    if lists["protected"] != as_list(roles.get("protected")):
        changed.pop("privileged", None)
    return {**changed, **singles, **{key: names for key, names in lists.items() if names}}


def as_list(value: object) -> list[str]:
    """Return names as a list, whether there are several, one or none."""
    if value is None or value == "":
        return []
    return [value] if isinstance(value, str) else [str(name) for name in value]  # type: ignore[attr-defined]


def show_changes(described: Described, record: StudyRecord) -> Described:
    """Return an older description with what was chosen since, so that no choice seems to be taken back."""
    roles = record.roles or described.roles
    rows = []
    for row in described.columns:
        edit = record.columns.get(row.name, {})
        role = role_of(roles, row.name)
        chosen: dict[str, Any] = {key: str(edit[key]) for key in _SHOWN_AT_ONCE if edit.get(key)}
        rows.append(
            replace(
                row,
                role=role,
                reason=row.reason if role == row.role else "",
                inferred=row.inferred and not edit.get("public"),
                **chosen,
            )
        )
    changed = {role for role in (*roles, *described.roles) if roles.get(role) != described.roles.get(role)}
    of_others = {role for role, owner in _OWNERS.items() if owner in changed}  # values of another column
    return replace(
        described,
        columns=tuple(rows),
        roles=roles,
        choices={role: choices for role, choices in described.choices.items() if role not in of_others},
        reasons={role: words for role, words in described.reasons.items() if role not in changed},
        missing=tuple(
            missing
            for missing in described.missing
            if not roles.get(missing.role) and missing.role not in of_others
        ),
    )


# --- the table ------------------------------------------------------------------------------------


def draw_columns(record: StudyRecord, described: Described, *, has_roles: bool = True) -> Tag:
    """Return the table of the columns, in which all can be changed; without roles, only what they hold."""
    header: Sequence[str] = _HEADER if has_roles else _HEADER[:3]
    rows = [
        _row(record, row, place) if has_roles else _plain_row(row)
        for place, row in enumerate(described.columns)
    ]
    drawn = " drawn at random from a larger file" if described.drawn else ""
    return panel(
        tags.div(
            tags.table(
                tags.caption(
                    f"{counted(len(described.columns), 'column')}, {counted(described.rows, 'row')}{drawn}."
                ),
                tags.thead(tags.tr(*(tags.th(name, scope="col") for name in header))),
                tags.tbody(*rows),
                class_="plain-table",
            ),
            class_="table-scroll",
        ),
        tags.p("What the roles mean: ", *_role_words(), class_="hint") if has_roles else None,
    )


def _plain_row(row: ColumnRow) -> Tag:
    """Return a column of places: its numbers are used as they are, whatever bands they were put into."""
    words = f"between {row.low} and {row.high}" if row.low else row.domain_words
    values = tags.div(tags.span(row.type_words.partition(",")[0]), tags.small(words))
    cells = zip(_HEADER[1:], (values, tags.span(row.missing_share)), strict=False)
    return tags.tr(
        tags.th(tags.b(row.name), scope="row"), *(tags.td(cell, data_name=name) for name, cell in cells)
    )


def _role_words() -> list[TagChild]:
    words: list[TagChild] = []
    for word in _ROLE_WORDS:
        words += [term(word, word), ", "]
    return [*words[:-1], "."]


def _row(record: StudyRecord, row: ColumnRow, place: int) -> Tag:
    role = select(
        f"role-{place}",
        ROLES.items(),
        row.role,
        do="schema.role",
        data_study=record.id,
        data_column=row.name,
        aria_label=f"Role of {row.name}",
        data_testid="role",
    )
    looks = [tag(look.tone, look.text) for look in row.looks]
    details = [tags.p(say_in_browser(look.detail), class_="why") for look in row.looks if look.detail]
    reason = say_in_browser(row.reason)
    fold = tags.details(tags.summary("What to do"), *details, id=f"looks-{place}") if details else None
    cells = (
        tags.div(tags.span(row.type_words), tags.small(row.domain_words), _edit(record, row, place)),
        tags.span(row.missing_share),
        tags.span(role, tags.span(reason, class_="why") if reason else None, class_="role"),
        tags.div(tags.span(*looks, class_="looks"), fold) if looks else None,
    )
    named = zip(_HEADER[1:], cells, strict=True)
    return tags.tr(
        tags.th(tags.b(row.name), scope="row"), *(tags.td(cell, data_name=name) for name, cell in named)
    )


def _edit(record: StudyRecord, row: ColumnRow, place: int) -> Tag:
    """Return the fold in which everything about a column's values is changed."""
    known = {"data_study": record.id, "data_column": row.name}
    kind = row.kind or "categories"
    rules = (("unknown", "A value outside these", row.unknown), ("missing", "A missing value", row.missing))
    public = tick(
        f"public-{place}",
        "These values are public knowledge, not learnt from this file.",
        needed=False,
        checked=None if row.inferred else "",
        data_do="schema.public",
        **known,
    )
    undo = button("Undo my changes", "schema.undo", look="small", id=f"undo-{place}", **known)
    values = [_choice(place, "kind", "Kind of values", _KINDS, kind, known)]
    values.append(_code_list(row, place, known) if kind == "categories" else _bounds(row, place, known))
    if row.bands:
        values = [_dates(row, place, known)]
    return tags.details(
        tags.summary("Change", tags.span(f" what {row.name} holds", class_="hidden")),
        tags.div(
            *values,
            *(_choice(place, key, words, _UNKNOWN, value, known) for key, words, value in rules),
            public,
            undo if row.edited else None,
            class_="edit",
        ),
        id=f"edit-{place}",
    )


def _choice(
    place: int,
    key: str,
    words: str,
    options: Sequence[tuple[str, str]],
    chosen: str,
    known: Mapping[str, str],
) -> Tag:
    name = f"{key}-{place}"
    return tags.div(
        label(words, name), select(name, options, chosen, do="schema.column", data_key=key, **known)
    )


def _code_list(row: ColumnRow, place: int, known: Mapping[str, str]) -> Tag:
    """Return the values of a column to edit, or to paste a public code list over."""
    name = f"values-{place}"
    lines = [f"{value}: {row.labels[value]}" if row.labels.get(value) else value for value in row.values]
    shown = f"{len(row.values)} of {row.value_count:,} values are shown. Paste the whole list to declare it."
    return tags.div(
        label("Values, one a line, such as “1: women”", name, "domain"),
        control("textarea", "\n".join(lines), id=name, rows="5", spellcheck="false"),
        hint(shown) if row.value_count > len(row.values) else None,
        button(
            "Declare these values",
            "schema.values",
            look="small",
            data_from=name,
            id=f"declare-{place}",
            **known,
        ),
    )


def _dates(row: ColumnRow, place: int, known: Mapping[str, str]) -> Tag:
    name = f"band-{place}"
    options = [("", "none: leave the column out"), *row.bands]
    return tags.div(
        label("Put dates into bands of", name),
        select(name, options, row.band, do="schema.band", **known),
        hint("Dates are used in bands of time only: a single day points at a person."),
    )


def _bounds(row: ColumnRow, place: int, known: Mapping[str, str]) -> Tag:
    """Return the ends of whole numbers or bands to edit; of bands their width or their edges, too."""
    asked = [("low", "Lowest", row.low), ("high", "Highest", row.high)]
    words = ""
    if row.kind == "bands" and row.edges:
        asked = [("edges", "Edges of the bands", row.edges), ("width", "One width for all bands", row.width)]
        words = "The bands have different widths. Change their edges, or write one width for all of them."
    elif row.kind == "bands":
        asked.append(("width", "Width of a band", row.width))
        asked.append(("edges", "Or the edges of bands of different widths", ""))
        words = "Edges have commas between them, such as 0, 18, 65, 120."
    fields = [
        tags.div(
            label(name, f"{key}-{place}"),
            text_input(
                f"{key}-{place}",
                value,
                do="schema.column",
                data_key=key,
                inputmode="text" if key == "edges" else "decimal",
                **known,
            ),
        )
        for key, name, value in asked
    ]
    return tags.div(tags.div(*fields, class_="form two"), hint(words) if words else None)
