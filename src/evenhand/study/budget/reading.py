"""What the page of a ledger reads from it, and how it words amounts."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Context, Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any

from evenhand.privacy.ledger.chain import RETIRE, SPEND
from evenhand.privacy.ledger.totals import amounts_by_purpose, running_sums, tighter_totals, total_of
from evenhand.privacy.rational import text_above, text_below
from evenhand.report.page import Answer
from evenhand.report.words import plain
from evenhand.study.page.words import words_in

if TYPE_CHECKING:
    from fractions import Fraction

    from evenhand.answer.words import Words
    from evenhand.privacy.ledger import Amount, Budget, Composition, Entry, Ledger, Total

LONGEST_CELL = 200
"""How many letters of a purpose stand in a table."""

_DIGITS = 4
_POWER = re.compile(r"(?:(.*)e)([+-])0*(\d+)")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_FORM = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True)
class BudgetReading:
    """A ledger at one moment: all entries, and the total of the present period.

    Parameters
    ----------
    name : str
        Of the file, without its folder.
    budget : Budget
    entries : tuple of Entry
    period : str
        The present one; ``""`` where there are none.
    """

    name: str
    budget: Budget
    entries: tuple[Entry, ...]
    period: str

    @classmethod
    def of(cls, ledger: Ledger) -> BudgetReading:
        """Return what a ledger holds now, after every entry and the anchor were checked."""
        ledger.verify()
        period = ledger.total().period
        return cls(ledger.name, ledger.budget, ledger.history(), period)

    @property
    def sentences(self) -> Words:
        """The sentences of the page."""
        return words_in("en", "evenhand.study.budget")

    def answer(self, key: str, **slots: Any) -> Answer:
        """Return the templates ``finding`` and ``evidence`` under a key; evidence is optional."""
        say = self.sentences.under(key)
        evidence = say("evidence", **slots) if self.sentences.has(f"{key}.evidence") else ""
        return Answer(say("finding", **slots), evidence)

    @cached_property
    def total(self) -> Total:
        """What was spent in the present period, and what is left of it."""
        return total_of(self.entries, self.budget, period=self.period)

    @cached_property
    def sums(self) -> list[Amount]:
        """The sum of its period up to each entry."""
        return running_sums(self.entries, self.budget)

    @cached_property
    def by_purpose(self) -> dict[str, Amount]:
        """What each purpose cost in the present period, the largest first."""
        return amounts_by_purpose(self.entries, self.budget, period=self.period)

    @cached_property
    def costs(self) -> dict[str, Amount]:
        """The same of the purposes that cost anything."""
        return {name: amount for name, amount in self.by_purpose.items() if any(amount)}

    @cached_property
    def charges_by_purpose(self) -> Counter[str]:
        """How often each purpose was charged in the present period."""
        own = [entry for entry in self.entries if entry.kind == SPEND and self.is_present(entry)]
        return Counter(entry.purpose for entry in own)

    @cached_property
    def tighter(self) -> list[Composition]:
        """Totals of the present period that are smaller than the sum."""
        return tighter_totals(self.entries, self.budget, period=self.period)

    @cached_property
    def retired(self) -> tuple[int, ...]:
        """The numbers of the entries that were declared retired."""
        return tuple(entry.terms["entry"] for entry in self.entries if entry.kind == RETIRE)

    @cached_property
    def periods(self) -> tuple[str, ...]:
        """All periods with an entry, and the present one, in order."""
        return tuple(
            dict.fromkeys([*(self.budget.period_of(entry.time) for entry in self.entries), self.period])
        )

    @property
    def has_delta(self) -> bool:
        """Whether any delta may be spent."""
        return self.budget.delta > 0

    def is_present(self, entry: Entry) -> bool:
        """Whether an entry belongs to the present period."""
        return self.budget.period_of(entry.time) == self.period

    # --- words ------------------------------------------------------------------------------------

    def amount(self, amount: Amount, *, is_left: bool = False) -> str:
        """Return an amount in symbols: what is spent is never shown too low, what is left never too high."""
        shown = f"ε = {figure(amount.epsilon, is_left=is_left)}"
        return f"{shown}, δ\u00a0=\u00a0{figure(amount.delta, is_left=is_left)}" if self.has_delta else shown

    @property
    def when(self) -> str:
        """The present period, as it stands in a sentence; an empty text where there are none."""
        return self.sentences.say("words.in_period", period=self.period) if self.period else ""

    @property
    def people(self) -> str:
        """Whom the budget is about, as it stands in a sentence."""
        people = self.budget.people
        return self.sentences.say("words.people", people=plain(people, longest=120)) if people else ""

    @property
    def per(self) -> str:
        """For what the budget is, where it is for each period."""
        return self.sentences.say("words.per", period=self.budget.period) if self.budget.period else ""

    def purpose(self, entry: Entry) -> str:
        """Return what an entry says it is for, as a cell of a table has it."""
        return plain(entry.purpose, longest=LONGEST_CELL)


def figure(value: Fraction, *, is_left: bool = False) -> str:
    r"""Return an amount with four digits: what is spent rounded up, what is left rounded down.

    >>> from fractions import Fraction
    >>> figure(Fraction(1, 3)), figure(Fraction(1, 3), is_left=True)
    ('0.3334', '0.3333')
    >>> figure(Fraction(1, 10**7)), figure(Fraction(25 * 10**20)).replace("\u00a0", " ")
    ('10⁻⁷', '2.5 × 10²¹')
    """
    shown = (text_below if is_left else text_above)(value, digits=_DIGITS)
    found = _POWER.fullmatch(shown)
    if found is None:
        return shown
    power = f"10{(found[3] if found[2] == '+' else f'-{found[3]}').translate(_RAISED)}"
    return power if found[1] == "1" else f"{found[1]}\u00a0×\u00a0{power}"


def power_of(value: Fraction) -> int:
    """Return the power of ten by which an axis is scaled: 0 unless numbers would be very small or large.

    >>> from fractions import Fraction
    >>> power_of(Fraction(1)), power_of(Fraction(25, 10**7)), power_of(Fraction(3 * 10**9))
    (0, -6, 9)
    """
    if not value:
        return 0
    wide = Context(prec=6, Emax=10**9, Emin=-(10**9))
    power = wide.divide(Decimal(value.numerator), Decimal(value.denominator)).adjusted()
    return power if not -3 <= power < 6 else 0


def power_words(power: int) -> str:
    """Return a power of ten with raised figures; an empty text for the power of 0."""
    return f"10{str(power).translate(_RAISED)}" if power else ""


def seconds_of(entry: Entry) -> float:
    """Return the time of an entry in seconds since 1970."""
    return datetime.strptime(entry.time, _FORM).replace(tzinfo=UTC).timestamp()


def period_start(period: str) -> float:
    """Return when a period begins, in seconds since 1970.

    >>> period_start("2026"), period_start("2026-02")
    (1767225600.0, 1769904000.0)
    """
    year, _, month = period.partition("-")
    return datetime(int(year), int(month or 1), 1, tzinfo=UTC).timestamp()
