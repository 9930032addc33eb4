"""The rule ``drop`` and reports: who is left out of a collection must not depend on what is reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.schema import Column

__all__ = ["refuse_dropping"]

_TELLS = {"outside": "outside its domain", "nulls": "missing"}


def refuse_dropping(reported: Iterable[Column]) -> None:
    """Refuse columns that people report if a rule could leave a person out for the value of one of them.

    A person without a report is a person whose value is outside the domain or missing, for whoever knows the
    list of people; no noise on the reports of the others hides that. Only what is declared counts, so that
    the refusal itself depends on no row.

    Parameters
    ----------
    reported : iterable of Column
        The columns that are reported.

    Raises
    ------
    SchemaError
        If one of them has the rule ``"drop"``.

    Examples
    --------
    >>> from evenhand.schema import Column, Domain
    >>> refuse_dropping([Column("race", Domain.categorical(["a", "b"]), outside="other", nulls="other")])
    """
    for column in reported:
        for rule, tells in _TELLS.items():
            if getattr(column, rule) == "drop":
                raise SchemaError(
                    f"Column '{column.name}' is declared with {rule}='drop' in a collection of reports: who "
                    f"has no report would tell, with certainty, whose value is {tells}. Hint: declare "
                    f"{rule}='other', so that the person reports the value 'other'; or clean the data by a "
                    "rule that does not depend on the columns that are reported.",
                    field=f"columns.{column.name}.{rule}",
                )
