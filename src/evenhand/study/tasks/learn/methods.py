"""The ways in which a study of classifiers trains one, by name: what is private, and what evens it out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from evenhand.errors import InvalidParameterError

__all__ = ["DEFAULT_WAYS", "PLAIN", "WAYS", "Way", "way_named", "way_title"]

PLAIN = "plain"
"""The way that every other is compared with: logistic regression, nothing protected, nothing evened out."""

_OWNER = "LearnTask"


@dataclass(frozen=True)
class Way:
    """How a classifier is trained, and what is done with it afterwards.

    Parameters
    ----------
    name : str
        As a plan and the command line have it.
    title : str
        In tables and beside marks.
    words : str
        In a sentence.
    base : {"plain", "dp", "fermi", "local"}
        What is trained.
    then : {"", "parity", "projection"}
        What evens out its decisions afterwards.
    """

    name: str
    title: str
    words: str
    base: Literal["plain", "dp", "fermi", "local"]
    then: Literal["", "parity", "projection"] = ""

    @property
    def takes_epsilon(self) -> bool:
        """Whether it is run once for each epsilon, or once in all."""
        return self.base != "plain"

    @property
    def needs_accounting(self) -> bool:
        """Whether its noise is calibrated by the package of the extra ``dp``."""
        return self.base in {"dp", "fermi"}

    @property
    def needs_group(self) -> bool:
        """Whether somebody's group must be known when a decision about them is made."""
        return bool(self.then)

    @property
    def voids(self) -> bool:
        """Whether what follows the training looks at private rows without paying for it."""
        return self.then == "projection"


_EVERY = (
    Way(PLAIN, "Plain", "logistic regression without privacy", "plain"),
    Way(
        "plain+parity",
        "Plain + parity",
        "plain logistic regression with parity afterwards",
        "plain",
        "parity",
    ),
    Way("dp", "DP", "DP logistic regression", "dp"),
    Way("dp+parity", "DP + parity", "DP logistic regression with parity afterwards", "dp", "parity"),
    Way("fermi", "Fermi", "DP-FERMI", "fermi"),
    Way("fermi+parity", "Fermi + parity", "DP-FERMI with parity afterwards", "fermi", "parity"),
    Way(
        "dp+projection",
        "DP + projection",
        "DP logistic regression with Fair Projection afterwards",
        "dp",
        "projection",
    ),
    Way("local", "Local", "logistic regression on local reports", "local"),
)

WAYS: dict[str, Way] = {way.name: way for way in _EVERY}
"""Every way by name, the plain one first."""

DEFAULT_WAYS = tuple(name for name in WAYS if name != "local")
"""What is compared unless a plan names its own; local reports take sensitive columns, so not these."""


def way_named(given: object) -> str:
    """Return the way that a name stands for; blanks around the plus sign and capitals do not count.

    >>> way_named("DP + parity")
    'dp+parity'
    """
    name = re.sub(r"\s*\+\s*", "+", given.strip().casefold()) if isinstance(given, str) else given
    if name not in WAYS:
        must_be = f"of {', '.join(WAYS)}"
        raise InvalidParameterError("ways", owner=_OWNER, must_be=must_be, got=given)
    return str(name)


def way_title(protocol: str) -> str:
    """Return how the way of a setting is called in a table; that of no protection is plain.

    >>> way_title("fermi+parity"), way_title("none")
    ('Fermi + parity', 'Plain')
    """
    return WAYS[protocol].title if protocol in WAYS else WAYS[PLAIN].title
