"""The section of a report that says what doing the recommended thing would cost of a ledger."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from evenhand.errors import GuaranteeError, LedgerError
from evenhand.privacy.ledger import find_ledger
from evenhand.report.charts import bars_chart
from evenhand.report.marks import Axis, Bar, Estimate
from evenhand.report.page import Note, Section, Table
from evenhand.report.words import plain
from evenhand.study.budget.reading import BudgetReading, figure, power_of, power_words
from evenhand.study.budget.sections import SYMBOLS, purposes_chart, time_chart
from evenhand.study.page.words import words_in

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.privacy.ledger import Amount
    from evenhand.report.page import Chart

    Parts = Sequence[tuple[str, Amount, bool]]

_ALTS = {"heading_fits": "alt", "heading_refused": "alt_refused"}


def publishing_section(reading: BudgetReading, guarantee: Guarantee | None, *, setting: str) -> Section:
    """Return what a release with this guarantee would spend, what is left, and the ledger in pictures.

    Parameters
    ----------
    reading : BudgetReading
        What the ledger holds.
    guarantee : Guarantee, optional
        Of what the report recommends; None if it recommends nothing.
    setting : str
        What it is called.
    """
    say, left = reading.sentences.under("release"), reading.total.remaining
    charge, key, notes = None, "heading_none", []
    try:
        if guarantee is not None:
            charge = reading.budget.charge_for(guarantee)
            key = "heading_fits" if charge is not None else "heading_unbounded"
    except GuaranteeError as error:
        notes = [Note("warn", say("uncharged", reason=plain(error, longest=400)))]
    if charge is not None and charge.is_within(left):
        left = left.minus(charge)
    elif charge is not None:
        key = "heading_refused"
    told = {
        "cost": "" if charge is None else _spell_amount(reading, charge, charge),
        "left": _spell_amount(reading, left, charge, is_left=True),
    }
    parts = [(say("bar_spent"), reading.total.spent, False)]
    parts += [] if charge is None else [(say("bar_cost", setting=setting), charge, True)]
    parts.append((say("bar_left" if key == "heading_fits" else "bar_left_now"), left, False))
    alt = say(_ALTS.get(key, "alt_none"), spent=reading.amount(reading.total.spent), **told)
    charts = [_parts_chart(reading, parts, alt=alt), time_chart(reading), *purposes_chart(reading)]
    return Section(
        heading=say(key, **told),
        lead=say("lead", name=plain(reading.name)),
        charts=charts,
        tables=(_parts_table(reading, parts),),
        notes=notes,
        anchor="ledger",
    )


def _spell_amount(
    reading: BudgetReading, amount: Amount, charge: Amount | None, *, is_left: bool = False
) -> str:
    """Return an amount in symbols; without delta where the charge has none."""
    if charge is not None and not charge.delta:
        return f"ε = {figure(amount.epsilon, is_left=is_left)}"
    return reading.amount(amount, is_left=is_left)


def ledger_section(data: str | None, promise: Callable[[], Guarantee], *, setting: str) -> Section | None:
    """Return what a release would spend of the ledger of some rows; None where none is configured."""
    try:
        ledger = find_ledger(None, data=data)
        return (
            None
            if ledger is None
            else publishing_section(BudgetReading.of(ledger), promise(), setting=setting)
        )
    except LedgerError as error:
        return broken_section(str(error))


def broken_section(reason: str) -> Section:
    """Return that a ledger is configured and cannot be used, so that nothing can be published."""
    say = words_in("en", "evenhand.study.budget").under("release")
    note = Note("bad", say("broken", reason=plain(reason, longest=400)))
    return Section(say("heading_broken"), notes=(note,), anchor="ledger")


def _parts_chart(reading: BudgetReading, parts: Parts, *, alt: str) -> Chart:
    say, power = reading.sentences.under("release"), power_of(reading.budget.epsilon)
    unit = reading.sentences.say("words.power", power=power_words(power)) if power else ""
    bars = [
        Bar(label, Estimate(float(amount.epsilon * Fraction(10) ** -power)), strong=is_new)
        for label, amount, is_new in parts
    ]
    caption = say("caption", unit=reading.budget.unit, when=reading.when)
    return bars_chart(Axis(say("axis"), unit), bars, name="ledger", alt=alt, caption=caption)


def _parts_table(reading: BudgetReading, parts: Parts) -> Table:
    say, names = reading.sentences.under("release"), list(SYMBOLS)[: 1 + reading.has_delta]
    last = len(parts) - 1
    rows = [
        [label, *(figure(getattr(amount, name), is_left=place == last) for name in names)]
        for place, (label, amount, _) in enumerate(parts)
    ]
    data = {
        "part": [label for label, _, _ in parts],
        **{name: [getattr(amount, name) for _, amount, _ in parts] for name in names},
    }
    header = [say("part"), *(SYMBOLS[name] for name in names)]
    caption = say("caption", unit=reading.budget.unit, when=reading.when)
    return Table(header, rows, [False, *[True] * len(names)], caption, name="ledger-parts", data=data)
