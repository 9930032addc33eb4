"""Sentences that carry what kind of remark they are, so that nobody has to look for words in them."""

from __future__ import annotations

from typing import Any, Self

from evenhand.errors import InvalidParameterError

KINDS = {
    "data": "about the rows and columns that were used",
    "privacy": "what weakens a promise, such as a domain that was read from the rows",
    "target": "that a column tells the target, so that a model needs no other one",
    "sample": "that some of the rows were drawn, and what follows from it",
    "method": "how a result was computed",
    "estimated error": "how a result was computed, with an error that is estimated and not proved",
    "uncertified": "how a result was computed, with a bound that is wide or not proved",
    "total": "how likely a noisy total is by which nothing can be divided",
    "unit": "what the neighbours of a promise are",
    "trust": "who sees the rows",
    "assumption": "what a promise rests on",
    "limit": "what the numbers do not cover",
}
"""Each kind of note, and what it tells."""


class Note(str):
    """A sentence with its kind. It is text wherever text is wanted; a page sorts by its kind.

    Parameters
    ----------
    kind : str
        One of :data:`KINDS`.
    text : str

    Examples
    --------
    >>> note = Note("privacy", "The domain of 'race' was read from the rows.")
    >>> note.kind, note.startswith("The domain")
    ('privacy', True)
    >>> Note.of("The study uses 500 of the rows.").kind
    'data'
    >>> Note.of(note.plain) == note
    True
    """

    __slots__ = ("kind",)
    kind: str

    def __new__(cls, kind: str, text: str) -> Self:
        """Return the sentence with its kind; a kind that is not known is refused."""
        if kind not in KINDS:
            must_be = f"one of {', '.join(KINDS)}"
            raise InvalidParameterError("kind", owner="Note", must_be=must_be, got=kind)
        made = super().__new__(cls, text)
        made.kind = kind
        return made

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return self.kind, str(self)

    @classmethod
    def of(cls, given: Any, kind: str = "data") -> Note:
        """Return a note as it is, a mapping with ``kind`` and ``text``, or a text as a note of a kind."""
        if isinstance(given, Note):
            return given
        if isinstance(given, dict) and given.keys() == {"kind", "text"}:
            return cls(given["kind"], str(given["text"]))
        return cls(kind, str(given))

    @property
    def plain(self) -> str | dict[str, str]:
        """As files hold it: the text alone if it is about the data, else a table with kind and text."""
        return str(self) if self.kind == "data" else {"kind": self.kind, "text": str(self)}
