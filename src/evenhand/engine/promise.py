"""What the makers of reports promise, what they do not hide, and the schema beside their output."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand._validate import refuse
from evenhand.collect.fairest.group_outcomes import GroupOutcomes
from evenhand.collect.protocols.law import VALUES_PUBLIC
from evenhand.collect.protocols.optimal import Optimal
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.in_clear import leak_of_domains, state_inferred
from evenhand.privacy.guarantees.units import LINKABLE
from evenhand.schema.text import listed, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.collect.joint.strategy import Strategy
    from evenhand.engine.choices import Choice
    from evenhand.privacy.ledger import Entry, Ledger
    from evenhand.privacy.randomness import Source
    from evenhand.schema import Schema
    from evenhand.table.unique_rows import UniqueRows

MOST_LINKABLE = 0.05
"""The largest share of rows that may link to one person each in a file that is for publication."""

_MOST_NAMED = 10
_HELD_BACK = "the true values stay with whoever made the reports from them"


@dataclass(frozen=True)
class Linkability:
    """How many rows link to one person each by the columns in the clear: those that are unique on them.

    Whoever has these columns of a person, from elsewhere, finds that person's row, and with it all that is in
    the clear about them.

    Parameters
    ----------
    unique_share : float
        The share of rows that no other row equals in the columns in the clear, rounded up.
    is_sampled : bool
        Whether it was measured on a sample, because there are many different rows.
    """

    unique_share: float
    is_sampled: bool = False

    @classmethod
    def of(cls, unique: UniqueRows) -> Linkability:
        """Return what was measured, with four decimals."""
        return cls(math.ceil(round(unique.share * 10_000, 6)) / 10_000, unique.is_sampled)

    @property
    def is_for_publication(self) -> bool:
        """Whether few enough rows link."""
        return self.unique_share <= MOST_LINKABLE

    @property
    def percent(self) -> str:
        """The share in words, such as ``"99.71 %"``."""
        return f"{'about ' if self.is_sampled else ''}{100 * self.unique_share:.4g} %"

    @property
    def in_clear(self) -> tuple[str, ...]:
        """What a guarantee says of it among what is in the clear: nothing if no row links."""
        return (f"{LINKABLE} ({self.percent} are unique on these columns)",) if self.unique_share else ()

    def describe(self, columns: Sequence[str]) -> str:
        """Return a sentence for whoever holds the rows.

        >>> print(Linkability(0.9971).describe(["age", "county"]))
        Not for publication: 99.71 % of the rows are unique on age and county, which are in the clear. Whoever
        knows these of a person finds the row, and with it all else that is in the clear.
        """
        are = "are" if len(columns) > 1 else "is"
        where = f"unique on {_few(columns)}, which {are} in the clear"
        where += ", measured on a sample." if self.is_sampled else "."
        if not self.unique_share:
            return f"No row is {where}"
        warned = "" if self.is_for_publication else "Not for publication: "
        finds = "Whoever knows these of a person finds the row, and with it all else that is in the clear."
        return f"{warned}{self.percent} of the rows are {where} {finds}"

    def check(self, columns: Sequence[str], *, is_allowed: bool, owner: str) -> None:
        """Refuse to write rows too many of which link, unless that is allowed."""
        if self.is_for_publication or is_allowed:
            return
        must_be = f"columns on which at most {MOST_LINKABLE:.0%} of the rows are unique".replace("%", " %")
        hint = (
            "this is not for publication: more rows are unique, and each links to one person. Keep fewer "
            "columns, or allow it with linkable=True (--linkable)."
        )
        refuse("keep", owner, must_be, _few(columns), hint=hint)


def _few(columns: Sequence[str]) -> str:
    """Return the first names of columns, and how many more there are."""
    shown = [visible(name) for name in columns[:_MOST_NAMED]]
    return listed([*shown, f"{len(columns) - _MOST_NAMED} more"] if len(columns) > _MOST_NAMED else shown)


def prepare_strategy(strategy: Strategy, solving: Any) -> None:
    """Refuse reports that cannot be drawn, and solve what optimal protocols need, before any charge."""
    for sender in strategy.senders:
        sender.check_drawable()
    for protocol in strategy.protocols.values():
        if isinstance(protocol, Optimal):
            protocol.solve(solving)


def state_guarantee(
    strategy: Strategy, choice: Choice, protocol: Any, inferred: Sequence[str], *, person: str | None = None
) -> Guarantee:
    """Return what one person is promised, whose row is their only report.

    Where the column `person` says whose row it is, or seems to, a person may have several rows, and it is
    promised for one report. With what an optimal channel was made from, what learning that cost, and which
    domains were inferred.
    """
    whole = strategy.guarantee_for(in_clear=choice.in_clear)
    if person is None:
        whole = whole.as_unit("one person")
    else:
        whole = Guarantee.from_dict(
            whole.to_dict() | {"assumptions": [describe_repeats(person), *whole.assumptions]}
        )
    if isinstance(protocol, GroupOutcomes):
        whole = protocol.guarantee_with(whole, epsilon=strategy.epsilon)
    whole = state_inferred(whole, inferred, instead_of=VALUES_PUBLIC)
    return Guarantee.from_dict(whole.to_dict() | {"assumptions": [*whole.assumptions, _HELD_BACK]})


def describe_repeats(person: str) -> str:
    """Return what a guarantee says where a column tells whose row it is, or seems to."""
    name = visible(person)
    return f"one person may have several rows, those of one {name}, and is promised this for each of them"


def add_in_clear(promise: Guarantee, more: Sequence[str]) -> Guarantee:
    """Return the guarantee with more that is in the clear."""
    return Guarantee.from_dict(promise.to_dict() | {"in_clear": [*promise.in_clear, *more]})


def charge_once(
    ledger: Ledger,
    guarantee: Guarantee,
    *,
    purpose: str,
    run: str,
    source: Source,
    check: Callable[[], object] | None = None,
) -> Entry:
    """Charge a ledger with a run, or find the charge of the same run that was begun before.

    Parameters
    ----------
    ledger : Ledger
    guarantee : Guarantee
    purpose : str
        What the ledger is told.
    run : str
        The random name of a run that may be taken up again, which the purpose then ends with; empty for one
        that may not.
    source : Source
        What will be drawn from.
    check : callable, optional
        What is done before a charge, such as to refuse rows that cannot be reported.
    """
    told = f"{purpose} (run {run})" if run else purpose
    if run:
        for entry in ledger.history():
            if entry.terms.get("purpose") == told:
                return entry
    if check is not None:
        check()
    return ledger.spend(guarantee, purpose=told, source=source)


def schema_text(schema: Schema, *, simulated: bool, inferred: Sequence[str]) -> bytes:
    """Return the file of the schema beside reports, with a warning where there is something to warn of."""
    note = "# Beside simulated reports, which were drawn with a seed: no guarantee holds for them.\n"
    leak = f"# A warning: {leak_of_domains(inferred)}.\n" if inferred else ""
    return ((note if simulated else "") + leak + schema.to_toml()).encode("utf-8")
