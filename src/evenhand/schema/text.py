"""Public names and labels as text that a person can read on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_FEW = 5
_LONGEST = 40
_BARE = frozenset({"yes", "true", "false", "none", "other", "unknown", "missing", "not stated"})


def brief(name: str) -> str:
    """Return `name`, cut if it is too long for a message.

    >>> brief("age"), len(brief("x" * 1_000_000))
    ('age', 100)
    """
    return name if len(name) <= 100 else f"{name[:99]}…"


def is_bare(label: str) -> bool:
    """Return whether a label says nothing without the name of its column.

    >>> is_bare("women"), is_bare("1"), is_bare("other")
    (False, True, True)
    """
    words = " ".join(label.split())
    return len(words) < 3 or not any(letter.isalpha() for letter in words) or words.lower() in _BARE


def visible(text: str) -> str:
    r"""Return `text` with what cannot be seen written out, and cut if it is long.

    Line ends, control characters and marks that turn the reading direction are escaped, so that a
    name cannot break a table or pose as another.

    >>> print(visible("a\nb"), visible(""), visible("x" * 50))
    a\nb '' xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
    """
    if not text or text.isspace():
        return repr(text)
    shown = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"


def shortened(labels: Sequence[str], size: int, *, ends_only: bool) -> str:
    """List labels; of many, show the first ones and the last.

    >>> shortened(["a", "b"], 2, ends_only=False), shortened("abcdefgh", 8, ends_only=False)
    ('a, b', 'a, b, c … h')
    >>> shortened("abcdefgh", 8, ends_only=True)
    'a … h'
    """
    if size <= _FEW:
        return ", ".join(map(visible, labels))
    first = [labels[place] for place in range(1 if ends_only else 3)]
    return f"{', '.join(map(visible, first))} … {visible(labels[size - 1])}"


def listed(words: Iterable[str]) -> str:
    """Join words as a sentence does.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
