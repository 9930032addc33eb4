"""Sentences as HTML: escaped first, then ``**bold**`` and intervals set apart, and nothing else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evenhand.errors import MissingExtraError
from evenhand.report.words import clean

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["sentence"]

_BOLD = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*", re.DOTALL)
_NUMBER = r"[+\u2212-]?[0-9][0-9.,]*%?"
_INTERVAL = re.compile(rf"\({_NUMBER} to {_NUMBER}\)")
_EPSILON = re.compile(r"ε ([=≤≥<>]) (?=[0-9∞])")


def sentence(text: str) -> Markup:
    """Return a sentence of a page as HTML.

    Everything is escaped. Then text between double asterisks becomes bold, an interval such as
    ``(0.8 to 1.1)`` is set smaller and kept on one line, and so are ``ε = 1`` and ``k-based``.

    >>> str(sentence("**Everyone pays:** 0.9 points (0.8 to 1.1) <b>"))
    '<b>Everyone pays:</b> 0.9 points <span class="interval">(0.8 to 1.1)</span> &lt;b&gt;'
    """
    try:
        from markupsafe import Markup, escape  # noqa: PLC0415 - comes with jinja2, an extra
    except ImportError:
        raise MissingExtraError("jinja2", feature="A report", extra="report") from None
    escaped = str(escape(clean(text)))
    escaped = _EPSILON.sub("ε\u00a0\\1\u00a0", escaped)
    escaped = escaped.replace("k-based", "k\u2011based")
    escaped = _INTERVAL.sub(lambda found: f'<span class="interval">{found[0]}</span>', escaped)
    return Markup(_BOLD.sub(r"<b>\1</b>", escaped))  # noqa: S704 - every letter of the text is escaped above
