"""The words a guarantee is stated in: for which change, trusting whom, in which measure."""

from __future__ import annotations

from enum import StrEnum

LINKABLE = "linkable rows"
"""What is in the clear where rows are unique on the columns in the clear, and so link to one person each."""

ROW_ORDER = "row order"
"""What a guarantee lists as in the clear where reports stand in the order of the people behind them."""

SEVERAL_ROWS = "one person may have several rows, and is promised this for each of them"
"""What takes the place of the next where rows look as if one person had several, and nobody said so.

A guarantee that assumes it is worded for rows, not for people.
"""

ONE_ROW = "each person is one row"
"""What a guarantee about people assumes where nothing says which rows are of one person."""


class Unit(StrEnum):
    """What may change between the two worlds that an observer cannot tell apart.

    It is passed explicitly: no mechanism has a hidden default.
    """

    ONE_REPORT = "one report"
    """The values behind one report, as one person sends it."""
    ONE_PERSON = "one person"
    """Everything about one person: all their reports or rows. Who takes part does not change."""
    REPLACE_ONE = "replace one"
    """One person's record is replaced by any other. The number of people is public."""
    ADD_OR_REMOVE_ONE = "add or remove one"
    """One person's record is there or not. The number of people is hidden too."""


class Trust(StrEnum):
    """Who sees the true values."""

    LOCAL = "local"
    """Nobody but the person: values are randomised before they are sent."""
    CENTRAL = "central"
    """Whoever holds the data; what they publish is randomised."""
    NONE = "none"
    """No guarantee is made to anybody."""


class Measure(StrEnum):
    """How the loss of privacy is measured."""

    PURE = "pure"
    r"""Chances change by at most a factor :math:`e^\varepsilon`."""
    APPROXIMATE = "approximate"
    r"""Chances change by at most a factor :math:`e^\varepsilon` plus :math:`\delta`."""
    ZCDP = "zCDP"
    r"""Zero-concentrated: every Rényi divergence of order :math:`\alpha` is at most :math:`\rho\alpha`."""
