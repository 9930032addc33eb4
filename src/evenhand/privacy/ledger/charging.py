"""Which ledger a draw is charged to: the one that is given, that is set for all, or beside the data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand._validate import kind_of, refuse
from evenhand.errors import LedgerError
from evenhand.privacy.ledger.budget import LONGEST_TEXT
from evenhand.privacy.ledger.ledger import Ledger, anchor_beside

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.privacy.ledger.chain import Entry
    from evenhand.privacy.randomness import Source

VARIABLE = "EVENHAND_LEDGER"
"""The environment variable that names the ledger of everything that is drawn."""

BESIDE = "evenhand-ledger.db"
"""The name of a ledger that is charged with whatever is drawn from files in its folder."""

AnyLedger = Ledger | str | os.PathLike[str]
"""What may be given where a ledger is wanted: one that is open, or the path of one that is there."""


def find_ledger(
    given: AnyLedger | None,
    *,
    source: Source | None = None,
    data: str | os.PathLike[str] | None = None,
    anchor: str | os.PathLike[str] | None = None,
    owner: str = "evenhand",
) -> Ledger | None:
    """Return the ledger that is to be charged; None where none is configured.

    Parameters
    ----------
    given : Ledger, str or path, optional
        The ledger, or its file. It goes before the others.
    source : Source, optional
        What will be drawn from. Draws with a seed are no release: a ledger that is given refuses them, and
        one that is set for everything is not charged with them.
    data : str or path, optional
        The file that is drawn from. After the environment variable ``EVENHAND_LEDGER``, a ledger
        ``evenhand-ledger.db`` in its folder counts.
    anchor : str or path, optional
        Where the anchor of that file stands, if not where the ledger remembers it.
    owner : str
        Whose parameter `ledger` is, for the message when it is refused.

    Raises
    ------
    LedgerError
        If a ledger is configured and is not there, or is refused.
    """
    if isinstance(given, Ledger):
        return given
    if given is None and source is not None and source.simulated:
        return None
    if given is None:
        given = _ledger_of_everything() or _ledger_beside(data)
    elif not isinstance(given, str | os.PathLike):
        refuse("ledger", owner, "a Ledger, the path of one, or None", kind_of(given))
    return None if given is None else Ledger(given, anchor=anchor)


def fit_purpose(text: str) -> str:
    r"""Return a purpose that was made up from names as a ledger takes it: in one line, and not too long.

    >>> print(fit_purpose("Laplace noise: a\nb"), len(fit_purpose("x" * 900)))
    Laplace noise: a\nb 500
    """
    shown = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
    return shown if len(shown) <= LONGEST_TEXT else f"{shown[: LONGEST_TEXT - 1]}…"


def charge_draw(
    given: AnyLedger | None,
    guarantee: Callable[[], Guarantee],
    *,
    source: Source,
    purpose: str,
    owner: str,
) -> Entry | None:
    """Charge the ledger that is configured with one draw, before it; return None where none is.

    Parameters
    ----------
    given, source, owner
        As for :func:`find_ledger`.
    guarantee : callable
        Returns what the draw promises; asked only where there is a ledger.
    purpose : str
        What the ledger is told.
    """
    found = find_ledger(given, source=source, owner=owner)
    return None if found is None else found.spend(guarantee(), purpose=purpose, source=source)


def _ledger_of_everything() -> str | None:
    """Return what the environment variable names; one that is set and empty is a mistake, and no choice."""
    named = os.environ.get(VARIABLE)
    if named is not None and not named.strip():
        raise LedgerError(
            f"The environment variable {VARIABLE} is set and names no ledger. Nothing was drawn. "
            "Hint: give it the path of one, or unset it."
        )
    return named


def _ledger_beside(data: str | os.PathLike[str] | None) -> Path | None:
    """Return the ledger in the folder of the data, or of what a link to it leads to.

    One that is lost counts as long as its anchor is there: it is then refused, and not forgotten.
    """
    if data is None:
        return None
    named = Path(data).absolute()
    places = {folder.resolve() / BESIDE for folder in (named.parent, named.resolve().parent)}
    ledgers = [place for place in places if any(map(os.path.lexists, (place, anchor_beside(place))))]
    if len(ledgers) > 1:
        raise LedgerError(
            f"There is a ledger '{BESIDE}' beside the link to the data, and another beside the data itself. "
            "Nothing was spent. Hint: name the one to charge."
        )
    return ledgers[0] if ledgers else None
