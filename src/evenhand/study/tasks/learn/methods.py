"""The methods in which a study of classifiers trains one, by name: what is private, and what evens it out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from evenhand.errors import InvalidParameterError

PLAIN = "plain"
"""The method that all others are compared with: logistic regression without privacy and without parity."""

_OWNER = "LearnTask"


@dataclass(frozen=True)
class Method:
    """Hold how a classifier is trained, and what is done with it afterwards.

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
        """Return whether it is run once for each epsilon, or once in all."""
        return self.base != "plain"

    @property
    def needs_accounting(self) -> bool:
        """Return whether its noise is calibrated by the package of the extra ``dp``."""
        return self.base in {"dp", "fermi"}

    @property
    def needs_group(self) -> bool:
        """Return whether somebody's group must be known when a decision about them is made."""
        return bool(self.then)

    @property
    def voids(self) -> bool:
        """Return whether what follows the training looks at private rows without paying for it."""
        return self.then == "projection"


_EVERY = (
    Method(PLAIN, "Plain", "logistic regression without privacy", "plain"),
    Method(
        "plain+parity",
        "Plain + parity",
        "plain logistic regression with parity afterwards",
        "plain",
        "parity",
    ),
    Method("dp", "DP", "DP logistic regression", "dp"),
    Method("dp+parity", "DP + parity", "DP logistic regression with parity afterwards", "dp", "parity"),
    Method("fermi", "Fermi", "DP-FERMI", "fermi"),
    Method("fermi+parity", "Fermi + parity", "DP-FERMI with parity afterwards", "fermi", "parity"),
    Method(
        "dp+projection",
        "DP + projection",
        "DP logistic regression with Fair Projection afterwards",
        "dp",
        "projection",
    ),
    Method("local", "Local", "logistic regression on local reports", "local"),
)

METHODS: dict[str, Method] = {method.name: method for method in _EVERY}
"""Every method by name, the plain one first."""

DEFAULT_METHODS = tuple(name for name in METHODS if name != "local")
"""What is compared unless a plan names its own; local reports take sensitive columns, so not these."""


def method_named(given: object) -> str:
    """Return the method that a name stands for; blanks around the plus sign and capitals do not count.

    >>> method_named("DP + parity")
    'dp+parity'
    """
    name = re.sub(r"\s*\+\s*", "+", given.strip().casefold()) if isinstance(given, str) else given
    if name not in METHODS:
        must_be = f"of {', '.join(METHODS)}"
        raise InvalidParameterError("methods", owner=_OWNER, must_be=must_be, got=given)
    return str(name)
