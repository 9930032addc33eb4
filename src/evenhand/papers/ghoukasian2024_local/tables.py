"""Tables 5.1 to 5.4 of ghoukasian2024: what is printed, and what ours is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from evenhand.papers.claims import DIFFERS, UNCHECKED, Checked
from evenhand.papers.ghoukasian2024_local import matched
from evenhand.papers.rules import FEWEST, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.study.results.estimates import Estimated

    Records = Mapping[int, Mapping[str, Any]]

__all__ = ["TABLES", "Printed", "Row", "compared"]

_SAME = 1e-6


class Printed(NamedTuple):
    """One line of a table.

    Parameters
    ----------
    method : {"none", "opt", "kl", "ce"}
    epsilon : str
        Of OPT; for a projection, that of the line of OPT whose gap it was matched with.
    acc, gap : float
    """

    method: str
    epsilon: str
    acc: float
    gap: float


class Row(NamedTuple):
    """A printed number beside ours."""

    table: str
    trials: str
    printed: Printed
    measure: str
    checked: Checked


def _lines(opt: str, none: str, *projections: str) -> tuple[Printed, ...]:
    """Return the lines of a table from its numbers, OPT's by falling privacy."""

    def pairs(text: str) -> list[tuple[float, float]]:
        numbers = [float(each) for each in text.split()]
        return list(zip(numbers[::2], numbers[1::2], strict=True))

    found = [
        Printed("opt", epsilon, *pair) for epsilon, pair in zip(("0.2", "1", "4"), pairs(opt), strict=True)
    ]
    found += [Printed("none", "", *pair) for pair in pairs(none)]
    for line in projections:
        epsilon, _, numbers = line.partition(":")
        found += [
            Printed(way, epsilon, *pair) for way, pair in zip(("kl", "ce"), pairs(numbers), strict=True)
        ]
    return tuple(found)


TABLES: dict[str, tuple[str, str, tuple[Printed, ...]]] = {
    "table-5.1": (
        "compas-projection", "sp",
        _lines(
            ".6798 .2200  .6802 .2346  .6804 .2482", ".6807 .2553",
            "0.2: .6784 .2201 .6789 .2197", "1: .6794 .2345 .6792 .2348", "4: .6803 .2486 .6802 .2480",
        ),
    ),
    "table-5.2": (
        "compas-projection", "meo",
        _lines(
            ".6798 .1670  .6802 .1780  .6804 .1943", ".6807 .2106",
            "0.2: .6785 .1675 .6781 .1664", "1: .6790 .1785 .6792 .1776", "4: .6802 .1941 .6798 .1938",
        ),
    ),
    "table-5.3": (
        "adult-projection", "sp",
        _lines(
            ".8609 .1094  .8611 .1099  .8611 .1101", ".8611 .1151",
            "0.2: .8607 .1090 .8606 .1092", "4: .8610 .1101 .8610 .1101",
        ),
    ),
    "table-5.4": (
        "adult-projection", "meo",
        _lines(
            ".8609 .0573  .8611 .0580  .8611 .0583", ".8611 .0668",
            "0.2: .8607 .0573 .8607 .0573", "4: .8610 .0584 .8610 .0582",
        ),
    ),
}  # fmt: skip
"""Each table's trials, kind of gap and lines.

Tables 5.3 and 5.4 have two pairs of projections for three lines of OPT: they are taken to belong to the first
and the last.
"""


def compared(table: str, records: Records) -> list[Row]:
    """Return every number of a table beside ours.

    A projection's accuracy is that at the printed gap: its tolerance is such that the mean gap of the test
    rows is the printed one, so the gap itself is no number to check. A curve that does not reach it has no
    accuracy to compare.
    """
    trials, kind, lines = TABLES[table]
    found = []
    for line in lines:
        known = (("acc", line.acc), (kind, line.gap))
        for measure, printed in known if line.method in {"none", "opt"} else known[:1]:
            ours = _ours(records, kind, line, measure)
            checked = _not_reached(records) if ours is None else quoted(ours, printed, decimals=4)
            found.append(Row(table, trials, line, measure, replace(checked, paper_value=printed)))
    return found


def _not_reached(records: Records) -> Checked:
    """Return the verdict of a printed gap that our curve does not have; a few splits may be to blame."""
    few = len(records) < FEWEST
    return Checked(UNCHECKED if few else DIFFERS, "Our curve does not reach the printed gap.")


def _ours(records: Records, kind: str, line: Printed, measure: str) -> Estimated | None:
    """Return our number; nothing if our curve has no point at the printed gap."""
    if line.method == "none":
        return matched.estimated(matched.of_none(records, measure))
    if line.method == "opt":
        return matched.estimated(matched.of_opt(records, line.epsilon, measure))
    point = matched.matched_on_test(records, kind, line.method, line.gap)
    return matched.estimated(point.acc) if abs(point.gap.mean() - line.gap) < _SAME else None
