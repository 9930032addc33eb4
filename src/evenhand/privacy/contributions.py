"""Several rows of one person: at most so many count, and which ones is drawn at random.

Which rows of a person stay depends on that person and on fresh randomness alone. So two data sets that differ
by everything about one person can be drawn alike for everybody else, and then differ by the rows that were
kept of that person: at most so many of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import ColumnNotFoundError
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.units import ONE_ROW, SEVERAL_ROWS, Trust, Unit
from evenhand.table.frames import eager_frame
from evenhand.table.persons import RULE, person_codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.privacy.randomness import Source
    from evenhand.schema import Schema


def rows_to_keep(people: NDArray[Any], most: int, *, source: Source) -> NDArray[np.intp]:
    """Return the places of the rows that stay, in their order: of each person at most `most`, at random.

    Parameters
    ----------
    people : array
        Whose row it is: equal for rows of one person.
    most : int
        At least 1.
    source : Source
        Where the randomness comes from.

    Examples
    --------
    >>> from evenhand.privacy.randomness import SeededSource
    >>> rows_to_keep(np.array([7, 7, 8, 7]), 2, source=SeededSource(1)).size
    3
    """
    _, person = np.unique(people, return_inverse=True)
    return np.sort(lowest_rows(person, source.words(len(person)), most))


def lowest_rows(people: NDArray[Any], words: NDArray[np.uint64], most: int) -> NDArray[np.intp]:
    """Return the places of at most `most` rows of each person: those with the lowest words."""
    order = np.lexsort((words, people))
    owner = people[order]
    first = np.searchsorted(owner, owner)  # where the rows of the same person begin
    return order[np.arange(len(order)) - first < most]


def bound_rows(frame: Any, schema: Schema, *, source: Source, owner: str) -> Any:
    """Return the frame with at most as many rows of each person as the schema says; all if it names none.

    Whose row it is follows the rule of :mod:`evenhand.table.persons`.

    Raises
    ------
    ColumnNotFoundError
        If the frame lacks the column of the person.
    OutsideDomainError
        If a row has no person, or ids are of several types.
    """
    if schema.person is None or schema.rows_per_person is None:
        return frame
    eager = eager_frame(frame, owner=owner, parameter="frame")
    if schema.person not in eager.columns:
        raise ColumnNotFoundError(schema.person, [str(name) for name in eager.columns], place="in the frame")
    people = person_codes(eager.get_column(schema.person))
    kept = rows_to_keep(people, schema.rows_per_person, source=source)
    return eager[kept.tolist(), :].to_native()


def assumed_rows(person: str | None, most: int | None) -> str:
    """Return what a guarantee says of the rows of one person.

    Parameters
    ----------
    person : str, optional
        What tells whose row it is; None where each row is another person.
    most : int, optional
        How many rows of one person count; None is one.
    """
    if person is None:
        return ONE_ROW
    rows = "one row" if (most or 1) == 1 else f"at most {most:,} rows"
    return (
        f"rows with the same '{person}' are those of one person, of whom {rows} drawn at random count; {RULE}"
    )


def promise_to_people(
    guarantee: Guarantee, person: str | None, most: int | None, *, instead_of: Sequence[str] = (ONE_ROW,)
) -> Guarantee:
    """Return a guarantee about rows that were bounded for each person, as one about people.

    Where a row was replaced, everything about one person is: the unit is then one person. See
    :func:`assumed_rows` for `person` and `most`.
    """
    if person is None or guarantee.trust.value == "none":
        return guarantee
    kept = [text for text in guarantee.assumptions if text not in instead_of]
    unit = Unit.ONE_PERSON if guarantee.unit is Unit.REPLACE_ONE else guarantee.unit
    stated = {"unit": str(unit), "assumptions": list(dict.fromkeys((assumed_rows(person, most), *kept)))}
    return Guarantee.from_dict(guarantee.to_dict() | stated)


def promise_to_rows(guarantee: Guarantee) -> Guarantee:
    """Return a guarantee as one about rows, where one person may have several and nobody said whose they are.

    It then reads as one about rows, see :mod:`evenhand.privacy.guarantees.wording`.
    """
    if guarantee.trust is Trust.NONE:
        return guarantee
    return assume_first(guarantee, SEVERAL_ROWS, instead_of=ONE_ROW)


def assume_first(guarantee: Guarantee, assumption: str, *, instead_of: str = "") -> Guarantee:
    """Return a guarantee with one more assumption, before all others."""
    others = [text for text in guarantee.assumptions if text not in {assumption, instead_of}]
    return Guarantee.from_dict(guarantee.to_dict() | {"assumptions": [assumption, *others]})
