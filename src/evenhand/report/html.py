"""A page as one HTML file that asks nothing of anybody: no script, no font, no picture from elsewhere.

The numbers of its figures and tables are inside it, as links that a browser saves as CSV files.
"""

from __future__ import annotations

import gzip
import math
import re
from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from io import BytesIO
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evenhand._lazy import lazy
from evenhand.errors import MissingExtraError
from evenhand.report.language import fixed_word, written_in
from evenhand.report.svg import rebuilt_each
from evenhand.report.theme import DARK, LIGHT, MONO, SANS, SHAPES, css_tokens
from evenhand.report.words import clean, number, unbroken
from evenhand.table.write import replacing_together, write_csv_into

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from markupsafe import Markup

    from evenhand.report.page import Chart, Page, Section, Table

pa = lazy("pyarrow")  # takes time to import

_TEMPLATES = Path(__file__).parent / "templates"
_MOST_ROWS = 200
"""So many rows of a chart's numbers are shown; all are in its CSV."""

_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])")
_LONGEST = 60
_LARGE = 400_000
"""From so many bytes on, the CSV of a figure is compressed."""

_MOST = 2_000_000
"""Chromium saves nothing from a link with more letters than about this."""

_BOLD = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*", re.DOTALL)
_NUMBER = r"[+\u2212-]?[0-9][0-9.,]*%?"
_OPTION = re.compile(r"--[a-z][a-z-]*")
_INTERVAL = re.compile(rf"\({_NUMBER} (?:to|bis) {_NUMBER}\)")
_MARKS = frozenset({*SHAPES, "line", "dashed", "band", "upright", "none"})


def render(page: Page) -> str:
    """Return a page as HTML, with the numbers of its figures and tables inside.

    All text of the page is escaped and every picture is rebuilt from a list of what a static picture needs.
    The same page gives the same text to the byte.

    Each chart and table that has numbers has a link that holds them as CSV, compressed where they are many.
    Text that a spreadsheet could take for a formula gets an apostrophe before it.

    Parameters
    ----------
    page : Page

    Returns
    -------
    str

    Raises
    ------
    MissingExtraError
        If jinja2 is not installed.

    Examples
    --------
    >>> from evenhand.report import Page
    >>> text = render(Page(question="Who pays?", answers=("**Everyone** pays a little.",)))
    >>> "<h1>Who pays?</h1>" in text and "<script" not in text
    True
    """
    with written_in(page.language):
        return str(_template("page.html.j2").render(page=page, **_parts(page), **_styles()))


def render_fragment(page: Page, *, part: Literal["answer", "findings"]) -> str:
    """Return a part of a page as HTML to stand inside another document, escaped as in a report.

    Parameters
    ----------
    page : Page
    part : {"answer", "findings"}
        The question and its answers; or the sections with their charts and tables, and how it was done.
        Warnings of a page with a head come with its findings, so that buttons may stand above them.

    Returns
    -------
    str

    Raises
    ------
    MissingExtraError
        If jinja2 is not installed.

    Examples
    --------
    >>> from evenhand.report import Page
    >>> "<h1>Who pays?</h1>" in render_fragment(Page(question="Who pays?", answers=()), part="answer")
    True
    """
    if page.head:
        names = ["verdict"] if part == "answer" else ["notes", "strip", "answered"]
    else:
        names = ["answer", "notes"] if part == "answer" else ["findings", "foot"]
    with written_in(page.language):
        parts = _parts(page, is_inside=True) if part == "findings" else {}
        return "\n".join(str(_template(f"{name}.html.j2").render(page=page, **parts)) for name in names)


@cache
def style_sheet() -> str:
    """Return the styles of every page: the colours of both themes first, then the parts."""
    return str(_template("style.css.j2").render(_styles()))


def write(page: Page, path: str | os.PathLike[str]) -> None:
    """Write a page to one HTML file, which needs no file beside it.

    Parameters
    ----------
    page : Page
    path : str or path
        Where to. An old file there stays until the new one is complete.

    Raises
    ------
    UnwritableFileError
        If the file cannot be written.
    MissingExtraError
        If jinja2 is not installed.
    """
    text = render(page)
    with replacing_together(Path(path)) as (file,):
        file.write(text.encode())


def sentence(text: str) -> Markup:
    """Return a sentence of a page as HTML.

    Everything is escaped. Then text between double asterisks becomes bold, an interval such as
    ``(0.8 to 1.1)`` is set smaller and kept on one line, and so are ``ε = 1`` and ``k-based``.

    >>> str(sentence("**Everyone pays:** 0.9 points (0.8 to 1.1) <b>"))
    '<b>Everyone pays:</b> 0.9 points <span class="interval">(0.8 to 1.1)</span> &lt;b&gt;'
    """
    escaped = str(_markup().escape(unbroken(clean(text))))
    escaped = _INTERVAL.sub(lambda found: f'<span class="interval">{found[0]}</span>', escaped)
    return _markup()(_BOLD.sub(r"<b>\1</b>", escaped))  # every letter of the text is escaped above


def command(text: str) -> Markup:
    """Return a command as HTML in which no option breaks at its hyphens.

    >>> str(command("evenhand audit --max-gap <5>"))
    'evenhand audit <span class="option">--max-gap</span> &lt;5&gt;'
    """
    escaped = str(_markup().escape(clean(text)))
    return _markup()(_OPTION.sub(r'<span class="option">\g<0></span>', escaped))  # escaped just above


def _markup() -> type[Markup]:
    """Return the class of text that is HTML already, of which only what is escaped may be made."""
    kind: type[Markup] = _extra("markupsafe").Markup  # comes with jinja2
    return kind


def _extra(module: str) -> Any:
    """Return a module that comes with the extra for reports, or say how to get it."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError("jinja2", feature="A report", extra="report") from None


def _template(name: str) -> Any:
    return _environment().get_template(name)


@cache
def _environment() -> Any:
    jinja2 = _extra("jinja2")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters |= {"sentence": sentence, "unbroken": unbroken, "command": command}
    environment.globals |= {"SHAPES": SHAPES, "mark_of": _mark_of, "token": _token}
    environment.globals["fixed_word"] = fixed_word
    return environment


def _finalize(value: Any) -> Any:
    """Clean plain text before it is escaped; markup of ours is clean already."""
    return clean(value) if type(value) is str else value


def _styles() -> dict[str, Any]:
    markup = _markup()
    return {
        "light": markup(css_tokens(LIGHT)),  # our own constants, not data
        "dark": markup(css_tokens(DARK)),
        "fonts": markup(f"--sans:{SANS};--mono:{MONO};"),
    }


def _parts(page: Page, *, is_inside: bool = False) -> dict[str, Any]:
    """Return the sections of a page, and those of its head by name.

    With `is_inside`, for documents that are read and not sent, each chart has its numbers as a table, too,
    and commands are folded.
    """
    sections = list(_sections(page, chart_tables=is_inside))
    named: dict[str, Any] = {"picture": None, "choice": None}
    if page.head:
        named |= {name: sections.pop(0) for name in named if getattr(page.head, name)}
    return {**named, "sections": sections, "is_inside": is_inside}


def _all_sections(page: Page) -> list[Section]:
    """Return the sections with charts and tables, those of the head first."""
    parts = (page.head.picture, page.head.choice) if page.head else ()
    return [*filter(None, parts), *page.sections]


def _sections(page: Page, *, chart_tables: bool = False) -> Iterator[dict[str, Any]]:
    """Yield sections with their pictures rebuilt and the links of their figures, in reading order."""
    links = data_links(page)
    place = 0
    for ordinal, section in enumerate(_all_sections(page), start=1):
        charts, tables = [], []
        for chart in section.charts:
            numbers = _numbers(chart) if chart_tables and chart.data else None
            pictures = _pictures(chart, place)
            charts.append({"chart": chart, "link": links.get(place), "numbers": numbers, **pictures})
            place += 1
        for table in section.tables:
            tables.append({"table": table, "link": links.get(place)})
            place += 1
        yield {
            "section": section,
            "anchor": _anchor(section, ordinal),
            "layout": _layout(section),
            "charts": charts,
            "tables": tables,
        }


def _numbers(chart: Chart) -> dict[str, Any]:
    """Return the numbers of a chart as rows of text, as many as people read."""
    columns = [list(values) for values in chart.data.values()]
    rows = list(zip(*columns, strict=True))[:_MOST_ROWS]
    texts = [[_cell_text(value) for value in row] for row in rows]
    return {
        "header": [name.replace("_", " ") for name in chart.data],
        "rows": texts,
        "left": len(columns[0]) - len(rows),
    }


def _cell_text(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool | str):
        return str(value)
    return (
        number(int(value), 0) if isinstance(value, Integral) else f"{float(value):.4g}".replace("-", "\u2212")
    )


def _layout(section: Section) -> str:
    """Return how a section is laid out at the desk: in one column, or as two halves side by side."""
    if not section.charts and section.tables and section.facts:
        return "halves"
    small = len(section.charts) == 1 and not section.tables and not section.facts
    width = re.match(r'<svg[^>]* width="([0-9.]+)', section.charts[0].wide) if small else None
    return "beside" if width and float(width[1]) <= 520 and section.charts[0].columns == 1 else "whole"


def _pictures(chart: Chart, place: int) -> dict[str, Any]:
    """Return the panels of a chart by width and by row, as markup that was rebuilt from a list."""
    markup = _markup()
    pictures = {}
    for width in ("wide", "narrow"):
        panels = rebuilt_each(getattr(chart, width), prefix=f"f{place + 1}{width[0]}")
        rows = list(chart.rows) or [""]
        length = -(-len(panels) // len(rows))
        pictures[width] = [
            (row, [markup(panel) for panel in panels[start : start + length]])  # rebuilt just above
            for row, start in zip(rows, range(0, len(panels), length), strict=False)
        ]
    return pictures


def _anchor(section: Section, number: int) -> str:
    """Return the place of a section in the page's address, from a fixed alphabet and with its number."""
    kept = "".join(
        letter for letter in section.anchor.lower() if letter in "abcdefghijklmnopqrstuvwxyz0123456789-"
    )
    return f"s{number}-{kept[:40]}".rstrip("-")


def _mark_of(mark: str) -> str:
    return mark if mark in _MARKS else "none"


def _token(name: str) -> str:
    return name if name in LIGHT else "ink"


# --- the numbers of figures and tables as links -----------------------------------------------------


@dataclass(frozen=True)
class DataLink:
    """A link that holds a file: the name under which it is saved, its address, and the words to click."""

    name: str
    address: str
    words: str


def data_links(page: Page) -> dict[int, DataLink]:
    """Return the numbers of each chart and table that has some, by its place on the page, as a link.

    A link that would be too long for a browser holds the first rows, and its words say how many.
    """
    exhibits = _exhibits(page)
    return {place: _link(name, _frame(exhibits[place].data)) for place, name in file_names(page).items()}


def _link(name: str, table: Any) -> DataLink:
    rows = table.num_rows
    while True:
        file = BytesIO()
        write_csv_into(table.slice(0, rows), file)
        is_large = file.tell() > _LARGE
        content = gzip.compress(file.getvalue(), mtime=0) if is_large else file.getvalue()
        kind = "application/gzip" if is_large else "text/csv;charset=utf-8"
        address = f"data:{kind};base64,{b64encode(content).decode()}"
        if len(address) <= _MOST or not rows:
            break
        rows = min(rows - 1, int(rows * 0.9 * _MOST / len(address)))
    words = "csv_gzip" if is_large else "csv"
    if rows < table.num_rows:
        words = "csv_part"
    counts = {"rows": number(rows, 0), "all_rows": number(table.num_rows, 0)}
    return DataLink(f"{name}.gz" if is_large else name, address, fixed_word(f"page.{words}", **counts))


def file_names(page: Page) -> dict[int, str]:
    """Return the name of the CSV file of each chart and table that has numbers, by its place on the page.

    Places count charts and tables in reading order, from 0. Names are made of small letters, figures and
    hyphens, whatever the charts are called, and no two are the same.
    """
    names: dict[int, str] = {}
    for place, exhibit in enumerate(_exhibits(page)):
        if not exhibit.name or not exhibit.data:
            continue
        stem = "-".join(re.findall(r"[a-z0-9]+", exhibit.name.lower()))[:_LONGEST].strip("-")
        if not stem or _RESERVED.fullmatch(stem):
            stem = f"figure-{place + 1}"
        taken = set(names.values())
        again = 2
        unique = f"{stem}.csv"
        while unique in taken:
            unique = f"{stem}-{again}.csv"
            again += 1
        names[place] = unique
    return names


def _exhibits(page: Page) -> list[Chart | Table]:
    exhibits: list[Chart | Table] = []
    for section in _all_sections(page):
        exhibits += [*section.charts, *section.tables]
    return exhibits


def _frame(columns: Mapping[str, Sequence[Any]]) -> Any:
    return pa.table({clean(name): _column(list(values)) for name, values in columns.items()})


def _column(values: list[Any]) -> Any:
    """Return values as one Arrow type: numbers stay numbers, and what is mixed becomes text."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {bool}:
        return pa.array(values, pa.bool_())
    if bool not in kinds and all(issubclass(kind, Integral) for kind in kinds):
        return pa.array([None if value is None else int(value) for value in values])
    if bool not in kinds and all(issubclass(kind, Real) for kind in kinds):
        return pa.array([None if value is None or math.isnan(value) else float(value) for value in values])
    return pa.array([None if value is None else clean(str(value)) for value in values], pa.large_string())
