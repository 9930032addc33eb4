"""Put the table of mitigations into a page, from what each of them declares.

``{mitigations-table}`` lists the plain release, the clamp and every mitigation of the registry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.parsers.rst import Directive

from evenhand.decide.mitigate.registry import mitigation_kinds

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["setup", "table_rows"]

_HEADER = ("function", "for", "does", "guarantee", "what it costs")


def table_rows() -> list[tuple[str, ...]]:
    """Return the rows of the table, the header first."""
    both = "rules, allotments"
    rows = [
        _HEADER,
        ("plain_release", both, "decides from noisy counts", "that of the noise", "a bias from dividing"),
        (
            "plain_release(..., post=[Nonnegative()])",
            both,
            "sets counts below 0 to 0 first",
            "the same",
            "small places gain",
        ),
    ]
    for kind in mitigation_kinds():
        problems = ", ".join(f"{problem}s" for problem in kind.problems)
        rows.append((kind.decide.__name__, problems, kind.does, kind.guarantee, kind.cost))
    return rows


class MitigationsTable(Directive):
    """The table of all mitigations."""

    def run(self) -> list[nodes.Node]:
        """Return the table as a node."""
        header, *rows = table_rows()
        group = nodes.tgroup(cols=len(header))
        group += [nodes.colspec(colwidth=1) for _ in header]
        group += nodes.thead("", _row(header, is_code=False))
        group += nodes.tbody("", *(_row(row, is_code=True) for row in rows))
        return [nodes.table("", group)]


def _row(cells: tuple[str, ...], *, is_code: bool) -> nodes.row:
    """Return a row whose first cell is code where `is_code`."""
    row = nodes.row()
    for place, text in enumerate(cells):
        inside = nodes.literal(text, text) if is_code and place == 0 else nodes.Text(text)
        row += nodes.entry("", nodes.paragraph("", "", inside))
    return row


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("mitigations-table", MitigationsTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
