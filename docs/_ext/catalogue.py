"""Write the catalogue into its pages while the documentation is built.

A page asks for it by fences of its own: ``{catalogue-table} release`` is the overview of a family,
``{catalogue} release`` all its entries, ``{catalogue-entry} protocols grr`` one of them without a heading,
and ``{catalogue-setup} release`` the code that their lines start from. The fences are filled in before the
page is read, so headings and links in them are ordinary ones.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalogue_entries import FAMILIES, FOLDER, Entry, comparison_rows, list_entries, read_setup
from catalogue_pictures import picture_html

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["entries_text", "entry_text", "fill_page", "setup", "table_text"]

_FENCE = re.compile(
    r"^```\{(catalogue(?:-table|-entry|-setup)?)\} ([a-z/]+)(?: ([a-z0-9_+-]+))?\n```$", re.MULTILINE
)
_COMPARISONS = "```{catalogue-comparisons}\n```"
_HEADER = ("name", "what it does", "guarantee", "when to use it", "when not")
_INTERVAL = ("name", "what it is", "interval", "when to use it", "when not")


def target_of(entry: Entry) -> str:
    """Return the name by which pages link to an entry."""
    return f"{entry.family}-{entry.name}".replace("/", "-").replace("+", "-and-").replace("_", "-")


def first_clause(text: str) -> str:
    """Return the first clause of an answer, for a table; the entry below has all of it.

    >>> first_clause("As a protection: nothing is random. Use another.")
    'As a protection.'
    """
    return f"{re.split(r'[:.] ', text, maxsplit=1)[0].removesuffix('.')}."


def table_text(family: str) -> str:
    """Return the overview of a family as a table of Markdown."""
    header = _INTERVAL if family == "measures" else _HEADER
    rows = [header, ("---",) * len(header)]
    for entry in list_entries(family):
        first = entry.page if family == "protocols" else ""
        link = f"[{entry.title}]({first}.md)" if first else f"[{entry.title}](#{target_of(entry)})"
        rows.append((link, entry.does, entry.guarantee, first_clause(entry.use), first_clause(entry.avoid)))
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)


def comparisons_text() -> str:
    """Return the comparisons of somebody's own predictions as a table of Markdown."""
    rows = [("what is compared", "gap, ratio", "also understood"), ("---",) * 3, *comparison_rows()]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def entry_text(entry: Entry, *, more: str = "") -> str:
    """Return what the catalogue says of one entry, its picture first."""
    word = "Interval" if entry.family == "measures" else "Guarantee"
    promise = entry.promise.replace(" Nothing is declared to be in the clear.", "")
    reference = f"Reference: {{py:obj}}`{entry.reference}`."
    return "\n\n".join(
        [
            picture_html(entry),
            f"**{word}.** {promise}",
            f"**When to use it.** {entry.use}",
            f"**When not.** {entry.avoid}",
            f"```python\n{entry.code}\n```",
            f"{reference} {more}".strip(),
        ]
    )


def entries_text(family: str) -> str:
    """Return all entries of a family, each with a heading."""
    parts = []
    for entry in list_entries(family):
        folder = family.partition("/")[0]
        more = f"More: [{entry.page.replace('-', ' ')}]({folder}/{entry.page}.md)." if entry.page else ""
        does = f"{entry.does[:1].upper()}{entry.does[1:].removesuffix('.')}."
        parts.append(f"({target_of(entry)})=\n### {entry.title}\n\n{does}\n\n{entry_text(entry, more=more)}")
    return "\n\n".join(parts)


def fill_page(text: str) -> str:
    """Return a page with what its fences ask for."""

    def fill(found: re.Match[str]) -> str:
        what, family, name = found[1], found[2], found[3]
        if family not in FAMILIES:
            message = f"The catalogue has no family {family!r}; it has {', '.join(FAMILIES)}."
            raise LookupError(message)
        if what == "catalogue-setup":
            return f"```python\n{read_setup(family)}\n```"
        if what == "catalogue-table":
            return table_text(family)
        if what == "catalogue-entry":
            entry = next(entry for entry in list_entries(family) if entry.name == name)
            return entry_text(replace(entry, code=f"{read_setup(family)}\n{entry.code}"))
        return entries_text(family)

    return _FENCE.sub(fill, text.replace(_COMPARISONS, comparisons_text()) if _COMPARISONS in text else text)


def _fill_source(app: Sphinx, name: str, source: list[str]) -> None:
    """Fill in a page of the catalogue, which is made again when an answer changes."""
    if name.startswith("catalogue/"):
        source[0] = fill_page(source[0])
        for path in FOLDER.iterdir():
            app.env.note_dependency(str(path))


def setup(app: Sphinx) -> dict[str, Any]:
    """Fill in every page of the catalogue before it is read."""
    app.connect("source-read", _fill_source)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
