"""Tell what the page of a ledger reads from it, and how it words amounts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from evenhand.privacy.ledger.budget import ZERO, Amount
from evenhand.privacy.ledger.chain import RETIRE
from evenhand.privacy.ledger.totals import (
    amounts_by_purpose,
    charges_of,
    running_sums,
    tighter_totals,
    total_of,
)
from evenhand.privacy.rational import text_above, text_below
from evenhand.report.language import in_language, language_now
from evenhand.report.marks import Axis
from evenhand.report.page import Answer
from evenhand.report.words import plain
from evenhand.study.page.wording import power_of_ten
from evenhand.study.page.words import words_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.privacy.ledger import Budget, Composition, Entry, Ledger, Total

LONGEST_CELL = 200
"""How many letters of a purpose stand in a table."""

SYMBOLS = {"epsilon": "ε", "delta": "δ"}
"""What stands for each part of an amount."""

_DIGITS = 4
_MOST_PURPOSES = 10


class Purpose(NamedTuple):
    """Hold what a purpose cost in the present period, and how often it was charged."""

    name: str
    amount: Amount
    charges: int


@dataclass(frozen=True)
class BudgetReading:
    """A ledger at one moment: the name of its file, all entries, and the present period.

    The period is ``""`` where there are none.
    """

    name: str
    budget: Budget
    entries: tuple[Entry, ...]
    period: str

    @classmethod
    def of(cls, ledger: Ledger) -> BudgetReading:
        """Return what a ledger holds now, after every entry and the anchor were checked."""
        ledger.verify()
        return cls(ledger.name, ledger.budget, ledger.history(), ledger.total().period)

    @cached_property
    def total(self) -> Total:
        """Return what was spent in the present period, and what is left of it."""
        return total_of(self.entries, self.budget, period=self.period)

    @cached_property
    def sums(self) -> list[Amount]:
        """The sum of its period up to each entry."""
        return running_sums(self.entries, self.budget)

    @cached_property
    def purposes(self) -> list[Purpose]:
        """All purposes of the present period, the largest first."""
        amounts = amounts_by_purpose(self.entries, self.budget, period=self.period)
        present = [e for e in charges_of(self.entries) if self.budget.period_of(e.time) == self.period]
        charges = Counter(entry.purpose for entry in present)
        return [Purpose(name, amount, charges[name]) for name, amount in amounts.items()]

    @cached_property
    def costs(self) -> list[Purpose]:
        """The purposes that cost anything."""
        return [purpose for purpose in self.purposes if any(purpose.amount)]

    @cached_property
    def largest_costs(self) -> list[Purpose]:
        """The same with the small ones as one, and names as short as a cell of a table has them."""
        most = len(self.costs) if len(self.costs) <= _MOST_PURPOSES else _MOST_PURPOSES - 1
        shown = [cost._replace(name=plain(cost.name, longest=LONGEST_CELL)) for cost in self.costs[:most]]
        rest = self.costs[most:]
        if rest:
            amount = reduce(Amount.plus, (cost.amount for cost in rest), ZERO)
            name = self.say("purposes.rest", count=len(rest))
            shown.append(Purpose(name, amount, sum(cost.charges for cost in rest)))
        return shown

    @cached_property
    def tighter(self) -> list[Composition]:
        """Totals of the present period that are smaller than the sum."""
        return tighter_totals(self.entries, self.budget, period=self.period)

    @property
    def retired(self) -> list[int]:
        """The numbers of the entries that were declared retired."""
        return [entry.terms["entry"] for entry in self.entries if entry.kind == RETIRE]

    @property
    def periods(self) -> list[str]:
        """All periods with an entry, and the present one, in order."""
        return list(dict.fromkeys([*(self.budget.period_of(e.time) for e in self.entries), self.period]))

    @property
    def names(self) -> list[str]:
        """The parts of an amount that may be spent: epsilon, and delta where the budget has any."""
        return list(SYMBOLS)[: 1 + bool(self.budget.delta)]

    # --- words ------------------------------------------------------------------------------------

    def say(self, key: str, /, **slots: Any) -> str:
        """Return a template of the page with its slots filled."""
        return words_in(language_now(), "evenhand.study.budget").say(key, **slots)

    def answer(self, key: str, **slots: Any) -> Answer:
        """Return the templates ``finding`` and ``evidence`` under a key."""
        return Answer(self.say(f"{key}.finding", **slots), self.say(f"{key}.evidence", **slots))

    def parts(self, amounts: Sequence[Amount], *, end: str = "") -> dict[str, list[Fraction]]:
        """Return amounts as columns of a CSV, exactly."""
        return {f"{name}{end}": [getattr(amount, name) for amount in amounts] for name in self.names}

    def figures(
        self, amounts: Sequence[Amount], *, title: str = "", is_left: bool = False
    ) -> dict[str, list[str]]:
        """Return amounts as columns of a table by their titles, the symbols alone without a template."""
        return {
            self.say(title, symbol=SYMBOLS[name]) if title else SYMBOLS[name]: [
                figure(value, is_left=is_left) for value in values
            ]
            for name, values in self.parts(amounts).items()
        }

    def amount(self, amount: Amount, *, is_left: bool = False) -> str:
        """Return an amount in symbols: what is spent is never shown too low, what is left never too high."""
        shown = f"ε = {figure(amount.epsilon, is_left=is_left)}"
        return (
            f"{shown}, δ\u00a0=\u00a0{figure(amount.delta, is_left=is_left)}" if self.budget.delta else shown
        )

    @property
    def when(self) -> str:
        """The present period, as it stands in a sentence; an empty text where there are none."""
        return self.say("words.in_period", period=self.period) if self.period else ""

    def name_entry(self, number: int) -> str:
        """Return what an entry is called in a sentence."""
        return self.say("words.entry", number=number)

    def scale_axis(self, title: str, largest: Fraction) -> tuple[Axis, Fraction]:
        """Return an axis for amounts, and by what they are multiplied.

        Its unit is a power of ten where numbers would be very small or large.
        """
        power = power_of(largest)
        unit = self.say("words.power", power=power_of_ten(power)) if power else ""
        return Axis(title, unit), Fraction(10) ** -power


def figure(value: Fraction, *, is_left: bool = False) -> str:
    r"""Return an amount with four digits: what is spent rounded up, what is left rounded down.

    >>> figure(Fraction(1, 3)), figure(Fraction(1, 3), is_left=True)
    ('0.3334', '0.3333')
    >>> figure(Fraction(1, 10**7)), figure(Fraction(25 * 10**20)).replace("\u00a0", " ")
    ('10⁻⁷', '2.5 × 10²¹')
    """
    shown = (text_below if is_left else text_above)(value, digits=_DIGITS)
    digits, _, power = in_language(shown).partition("e")
    if not power:
        return digits
    raised = power_of_ten(int(power))
    return raised if digits == "1" else f"{digits}\u00a0×\u00a0{raised}"


def power_of(value: Fraction) -> int:
    """Return the power of ten by which an axis is scaled: 0 unless numbers would be very small or large.

    >>> power_of(Fraction(1)), power_of(Fraction(25, 10**7)), power_of(Fraction(3 * 10**9))
    (0, -6, 9)
    """
    power = Decimal(text_above(value)).adjusted()
    return power if not -3 <= power < 6 else 0
