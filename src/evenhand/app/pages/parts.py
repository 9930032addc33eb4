"""The parts that pages are made of: buttons, fields, notes, tables. All text is escaped by htmltools."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

from htmltools import HTML, Tag, TagChild, TagList, tags

from evenhand.app.flow.messages import say_in_browser
from evenhand.app.pages.glossary import term

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evenhand.app.flow.views import Look

_ICONS = {
    "warn": '<path d="M10 2.5 18.5 17.5H1.5Z"/><path d="M10 8v4.6M10 14.4v.9"/>',
    "bad": '<circle cx="10" cy="10" r="8"/><path d="M7 7l6 6M13 7l-6 6"/>',
    "ok": '<circle cx="10" cy="10" r="8"/><path d="M6 10.4l2.7 2.8L14 7.2"/>',
    "plain": '<circle cx="10" cy="10" r="8"/><path d="M10 9v5M10 5.8v.9"/>',
}
_BOLD = re.compile(r"\*\*(.+?)\*\*")
_FIRST = re.compile(r"^(.+?[.:?])(\s+)(.*)$", re.DOTALL)


def icon(tone: str) -> HTML:
    """Return the small picture of a tone; it says nothing that the words beside it do not."""
    return HTML(
        '<svg class="icon" width="20" height="20" viewBox="0 0 20 20" aria-hidden="true" focusable="false">'
        f"{_ICONS.get(tone, _ICONS['plain'])}</svg>"
    )


def brand(href: str) -> Tag:
    """Return the mark with the name."""
    mark = HTML(
        '<svg width="28" height="22" viewBox="0 0 28 22" aria-hidden="true" focusable="false">'
        '<path class="beam" d="M14 2.5V19M4 6.5H24M9.5 19.5H18.5"/><circle class="solid c-g1" cx="5" cy="13" '
        'r="3.7"/><rect class="solid c-g2" x="19.6" y="9.6" width="6.8" height="6.8"/></svg>'
    )
    return tags.a(mark, "evenhand", class_="brand", href=href, id="home-link")


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, without what makes studies, which the server must not load.

    >>> counted(1, "run"), counted(1200, "run")
    ('1 run', '1,200 runs')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def bold(text: str) -> TagList:
    """Return a sentence in which what stands between double asterisks is bold."""
    pieces = _BOLD.split(text)
    return TagList(*(tags.b(piece) if place % 2 else piece for place, piece in enumerate(pieces)))


def note(tone: str, *content: TagChild, alert: bool = False, **attributes: Any) -> Tag:
    """Return a coloured note with its icon; an alert is read out when it appears."""
    role = {"role": "alert"} if alert else {"role": "note"}
    return tags.div(icon(tone), tags.div(*content), class_=f"note {tone}", **role, **attributes)


def error_note(text: str, *more: TagChild, **attributes: Any) -> Tag:
    """Return what went wrong: its first sentence bold, the hint behind it."""
    text = say_in_browser(text.strip())
    found = _FIRST.match(text)
    first, rest = (found[1], found[3]) if found else (text, "")
    return note("bad", tags.p(tags.b(first), " ", rest), *more, alert=True, **attributes)


def look_note(look: Look) -> Tag:
    """Return a warning of the steps as a note: bold is what stands out, behind it what to do."""
    said, detail = say_in_browser(look.text), say_in_browser(look.detail)
    return note(look.tone, tags.p(tags.b(said) if detail else bold(said), " ", bold(detail)))


def tag(tone: str, text: str) -> Tag:
    """Return a few words on a coloured ground."""
    return tags.span(text, class_=f"tag {tone}")


def panel(*content: TagChild, **attributes: Any) -> Tag:
    """Return a card."""
    return tags.div(*content, class_="panel", **attributes)


def lede(*content: TagChild) -> Tag:
    """Return the sentence below a heading."""
    return tags.p(*content, class_="lede")


def hint(*content: TagChild, **attributes: Any) -> Tag:
    """Return a small explanation."""
    return tags.p(*content, class_="hint", **attributes)


def button(label: TagChild, do: str, *, look: str = "", **data: Any) -> Tag:
    """Return a button that does an action; `data` are its attributes, such as ``data_study``."""
    return tags.button(label, type="button", class_=f"btn {look}".strip(), data_do=do, **data)


def link(label: TagChild, href: str, *, look: str = "", **attributes: Any) -> Tag:
    """Return a link that looks like a button."""
    return tags.a(label, class_=f"btn {look}".strip(), href=href, **attributes)


def actions(*content: TagChild) -> Tag:
    """Return the row of buttons at the foot of a page."""
    return tags.div(*content, class_="actions")


def waiting(text: str) -> Tag:
    """Return a line that says what is being waited for."""
    return tags.p(text, class_="waiting", role="status")


def live(name: str, tag_name: str = "div", *content: TagChild, **attributes: Any) -> Tag:
    """Return the place of a part that changes while the page stays."""
    return Tag(tag_name, *content, id=name, class_="shiny-html-output", **attributes)


def code_block(name: str, label: str, text: str) -> TagList:
    """Return text to copy, with its button."""
    return TagList(
        tags.p(label, class_="code-name"),
        tags.div(
            tags.pre(tags.code(text, id=name), tabindex="0", aria_label=label),
            tags.button(
                "Copy",
                type="button",
                class_="btn small",
                data_copy=name,
                aria_label=f"Copy: {label}",
                id=f"copy-{name}",
            ),
            class_="code",
        ),
    )


def command_block(name: str, words: str, command: str) -> TagList:
    """Return a command line to copy, with one option a line."""
    return code_block(name, words, one_option_a_line(command))


def one_option_a_line(command: str) -> str:
    r"""Return a command with a break before each option; a shell reads the same words in it.

    >>> print(one_option_a_line("evenhand audit a.csv --target income"))
    evenhand audit a.csv \
      --target income
    """
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    return "".join(
        f" \\\n  {word}" if word.startswith("--") else f" {shlex.quote(word)}" for word in words
    ).strip()


def facts(pairs: Iterable[tuple[str, TagChild]]) -> Tag:
    """Return terms with what they are."""
    return tags.dl(*(tags.div(tags.dt(name), tags.dd(value)) for name, value in pairs), class_="pairs")


def table(header: Sequence[str], rows: Iterable[Sequence[TagChild]], *, caption: str = "") -> Tag:
    """Return a table; on a phone each row becomes a block, in which every cell has its name."""
    body = []
    for row in rows:
        first, *others = row
        cells = [
            tags.td(tags.span(cell) if isinstance(cell, str) else cell, data_name=name)
            for name, cell in zip(header[1:], others, strict=True)
        ]
        body.append(tags.tr(tags.th(first, scope="row"), *cells))
    return tags.table(
        tags.caption(caption) if caption else None,
        tags.thead(tags.tr(*(tags.th(name, scope="col") for name in header))),
        tags.tbody(*body),
    )


# --- fields ----------------------------------------------------------------------------------------


def control(kind: str, *content: TagChild, **attributes: Any) -> Tag:
    """Return a control that says what it does in ``data-do``; Shiny does not send its value a second time."""
    return Tag(kind, *content, autocomplete="off", data_shiny_no_bind_input="", **attributes)


def label(text: str, target: str, word: str = "") -> Tag:
    """Return the label of a control, with its definition where the word has one."""
    return tags.div(tags.label(text, for_=target), term(word) if word else None, class_="label")


def problem_place(name: str) -> Tag:
    """Return the place where an error of a field is shown."""
    return tags.p(id=f"problem-{name}", class_="problem", role="alert", hidden="", data_problem=name)


def select(
    name: str, options: Iterable[tuple[str, str]], chosen: str, *, do: str = "", **attributes: Any
) -> Tag:
    """Return a list of which one is chosen."""
    shown = [
        tags.option(words, value=value, selected="" if value == chosen else None) for value, words in options
    ]
    return control("select", *shown, id=name, data_do=do or None, **attributes)


def text_input(name: str, value: str, *, do: str, kind: str = "text", **attributes: Any) -> Tag:
    """Return a line to write in."""
    return control("input", type=kind, id=name, value=value, data_do=do, spellcheck="false", **attributes)


def suggesting(name: str, value: str, choices: Iterable[str], *, do: str, **attributes: Any) -> TagList:
    """Return a line to write in that suggests some values."""
    listed = tags.datalist(*(tags.option(value=choice) for choice in choices), id=f"{name}-choices")
    return TagList(text_input(name, value, do=do, list=f"{name}-choices", **attributes), listed)


def chips(
    name: str,
    legend: TagChild,
    options: Iterable[tuple[str, str, str]],
    chosen: Iterable[str],
    *,
    do: str,
    single: bool = False,
    **attributes: Any,
) -> Tag:
    """Return choices as pills: several of them, or one; each has a value, words and a longer title."""
    picked = set(chosen)
    kind = "radio" if single else "checkbox"
    pills = [
        tags.label(
            control(
                "input",
                type=kind,
                name=name,
                value=value,
                id=f"{name}-{place}",
                checked="" if value in picked else None,
            ),
            words,
            class_="chip",
            title=title or None,
        )
        for place, (value, words, title) in enumerate(options)
    ]
    return tags.fieldset(
        tags.legend(legend, class_="label"),
        tags.div(*pills, class_="chips"),
        id=name,
        data_do=do,
        **attributes,
    )


def tick(name: str, words: TagChild, *, needed: bool = True, **attributes: Any) -> Tag:
    """Return a box to tick."""
    extra: Mapping[str, Any] = {"data_needs": ""} if needed else {}
    return tags.label(
        control("input", type="checkbox", id=name, **extra, **attributes),
        tags.span(words),
        class_="tick",
    )
