"""A protocol's figures as a few lines of text, and as a small table for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from evenhand.errors import EvenhandError
from evenhand.privacy.rational import text_above

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from evenhand.collect.protocols.base import Protocol

__all__ = ["guarantee_text", "probability_text", "protocol_html", "protocol_text"]

_LINE = "border-bottom:1px solid rgba(128,128,128,.4)"
_TABLE = "border-collapse:collapse;color:inherit;background:transparent;font-size:14px"
_CELL = f"text-align:left;vertical-align:top;padding:4px 12px 4px 0;{_LINE}"
_CAPTION = "caption-side:top;text-align:left;color:inherit;font-weight:650;padding:4px 0"


def protocol_text(protocol: Protocol) -> str:
    """Return the figures as aligned lines."""
    rows = list(_rows(protocol))
    width = max(len(what) for what, _ in rows)
    return "\n".join([_title(protocol), *(f"  {what:<{width}}  {figure}" for what, figure in rows)])


def protocol_html(protocol: Protocol) -> str:
    """Return the figures as an HTML table; a protocol that has none, because it cannot draw, as its name."""
    try:
        rows = list(_rows(protocol))
    except EvenhandError:
        return f"<pre>{escape(repr(protocol))}</pre>"
    body = "".join(
        f'<tr><th scope="row" style="{_CELL}">{escape(what)}</th>'
        f'<td style="{_CELL}">{escape(figure)}</td></tr>'
        for what, figure in rows
    )
    caption = f'<caption style="{_CAPTION}">{escape(_title(protocol))}</caption>'
    return f'<table style="{_TABLE}">{caption}<tbody>{body}</tbody></table>'


def _title(protocol: Protocol) -> str:
    return f"{protocol!r}: {protocol.title}"


def _rows(protocol: Protocol) -> Iterator[tuple[str, str]]:
    yield from protocol.figures()
    bits, size = protocol.bits_per_report, protocol.layout.bytes_per_report
    yield "size of a report", f"{_counted(bits, 'bit')}; {_counted(size, 'byte')} in a file"


def guarantee_text(protocol: Protocol) -> str:
    """Return what one report promises in a few words."""
    kind = "tight" if protocol.tight else "bound"
    return f"epsilon = {text_above(protocol.claimed_epsilon)}, pure, local, for one report, {kind}"


def probability_text(exact: Fraction) -> str:
    """Write a probability in six digits, and one that is nearly certain by what is missing."""
    shown = f"{float(exact):.6g}"
    return shown if shown != "1" else f"1 - {float(1 - exact):.3g}"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
