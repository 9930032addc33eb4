"""The sections of the page of a ledger: over time, by purpose, tighter totals, and every entry."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from evenhand.privacy.ledger.budget import ZERO, Amount
from evenhand.privacy.ledger.chain import OPEN, RETIRE, SPEND
from evenhand.privacy.ledger.totals import total_of
from evenhand.report.charts import bars_chart, steps_chart
from evenhand.report.marks import Axis, Bar, Estimate, Moment, Sums
from evenhand.report.page import LegendKey, Section, Table
from evenhand.report.words import plain
from evenhand.study.budget.reading import (
    LONGEST_CELL,
    BudgetReading,
    figure,
    period_start,
    power_of,
    power_words,
    seconds_of,
)
from evenhand.study.page.parts import fold_rows
from evenhand.study.page.wording import percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.privacy.ledger import Entry
    from evenhand.report.page import Chart

SYMBOLS = {"epsilon": "ε", "delta": "δ"}
"""What stands for each part of an amount."""

_MOST_PURPOSES = 10
_MOST_ENTRIES = 300
_MANY = 60  # steps; from here on not every one is drawn


def share_of(part: Fraction, whole: Fraction) -> float:
    """Return a share for a sentence; that of a budget of 0 is 0."""
    return float(part / whole) if whole else 0.0


# --- over time ------------------------------------------------------------------------------------


def time_section(reading: BudgetReading) -> Section:
    """Return the sums over time against the budget, and what each period spent."""
    say, total = reading.sentences.under("time"), reading.total
    share = share_of(total.spent.epsilon, total.budget.epsilon)
    key = "heading_none" if len(reading.entries) == 1 else f"heading{'_period' * bool(reading.period)}"
    lead = say("lead")
    if reading.period:
        everything = total_of(reading.entries, reading.budget, period="").spent
        lead = say("lead_period", period=reading.budget.period, all_time=reading.amount(everything))
    return Section(
        heading=say(key, share=share, period=reading.period),
        lead=lead,
        charts=(time_chart(reading),),
        tables=(_periods_table(reading),) if len(reading.periods) > 1 else (),
        anchor="time",
    )


def time_chart(reading: BudgetReading) -> Chart:
    """Return the picture of the sums over time."""
    say, total = reading.sentences.under("time"), reading.total
    shown = ["epsilon", *(["delta"] if reading.has_delta else [])]
    marks = {
        "unbounded": LegendKey(say("unbounded"), "cross", "ink"),
        "retired": LegendKey(say("retired"), "circle", "ink", hollow=True),
    }
    happened = {_kind_of(entry) for entry in reading.entries}
    marks = {kind: look for kind, look in marks.items() if kind in happened}
    legend = [LegendKey(say("line"), "line", "ink"), LegendKey(say("limit"), "dashed", "ink2")]
    caption = "caption_many" if len(reading.entries) > _MANY else "caption"
    return steps_chart(
        [_sums(reading, name) for name in shown],
        marks=marks,
        legend=[*legend, *marks.values()],
        across=say("across"),
        name="budget-over-time",
        alt=say("alt", spent=reading.amount(total.spent), whole=reading.amount(total.budget)),
        caption=say(caption, unit=reading.budget.unit),
        data=_entry_columns(reading),
    )


def _kind_of(entry: Entry) -> str:
    """Return which mark stands for an entry; an empty text for an ordinary step."""
    return "unbounded" if entry.is_unbounded else "retired" if entry.kind == RETIRE else ""


def _sums(reading: BudgetReading, name: str) -> Sums:
    say, limit = reading.sentences.under("time"), getattr(reading.budget, name)
    power = power_of(limit)
    unit = reading.sentences.say("words.power", power=power_words(power)) if power else ""
    moments = [
        Moment(
            seconds_of(entry),
            float(getattr(spent, name) * Fraction(10) ** -power),
            _tip(reading, entry, spent),
            _kind_of(entry),
        )
        for entry, spent in zip(reading.entries, reading.sums, strict=True)
    ]
    return Sums(
        Axis(say("axis", symbol=SYMBOLS[name]), unit),
        moments,
        float(limit * Fraction(10) ** -power),
        reading.sentences.say("words.budget", whole=figure(limit)),
        [(period_start(period), period) for period in reading.periods if period],
    )


def _tip(reading: BudgetReading, entry: Entry, spent: Amount) -> str:
    say, purpose = reading.sentences.under("time"), plain(entry.purpose)
    number = reading.sentences.say("words.entry", number=entry.number)
    if entry.kind == OPEN:
        return say("opened", time=entry.time)
    if entry.kind == RETIRE:
        retired = reading.sentences.say("words.entry", number=entry.terms["entry"])
        return say("tip_retired", time=entry.time, retired=retired, purpose=purpose)
    if entry.is_unbounded:
        return say("tip_unbounded", time=entry.time, entry=number, purpose=purpose)
    amount = reading.amount(Amount(entry.epsilon, entry.delta))
    told = {"time": entry.time, "entry": number, "amount": amount, "purpose": purpose}
    return say("tip", **told, sum=reading.amount(spent))


def _periods_table(reading: BudgetReading) -> Table:
    say, names = reading.sentences.under("periods"), list(SYMBOLS)[: 1 + reading.has_delta]
    totals = [total_of(reading.entries, reading.budget, period=period) for period in reading.periods]
    rows = [
        [
            total.period,
            f"{total.charges:,}",
            *(figure(getattr(total.spent, name)) for name in names),
            *(figure(getattr(total.remaining, name), is_left=True) for name in names),
        ]
        for total in reversed(totals)
    ]
    header = [say("period"), say("charges"), *(say("spent", symbol=SYMBOLS[name]) for name in names)]
    header += [say("left", symbol=SYMBOLS[name]) for name in names]
    data: dict[str, list[Any]] = {
        "period": [total.period for total in totals],
        "charges": [total.charges for total in totals],
        **{f"{name}_spent": [getattr(total.spent, name) for total in totals] for name in names},
    }
    numeric = [False, *[True] * (len(header) - 1)]
    fold = fold_rows(len(rows))
    return Table(header, rows, numeric, say("caption"), fold=fold, name="periods", data=data)


# --- by purpose -----------------------------------------------------------------------------------


def purposes_section(reading: BudgetReading) -> Section | None:
    """Return what each purpose cost, the largest first and the rest summed; None if nothing was spent."""
    parts = purpose_parts(reading)
    if not parts:
        return None
    say, largest = reading.sentences.under("purposes"), parts[0][0]
    return Section(
        heading=say("heading_one") if len(parts) == 1 else say("heading", purpose=plain(largest)),
        lead=say("lead", when=reading.when),
        charts=purposes_chart(reading),
        tables=(_purposes_table(reading, parts),),
        anchor="purposes",
    )


def purpose_parts(reading: BudgetReading) -> list[tuple[str, Amount, int]]:
    """Return purposes with what they cost and how often, the largest first; small ones are one part."""
    costly = list(reading.costs.items())
    charges = reading.charges_by_purpose
    most = len(costly) if len(costly) <= _MOST_PURPOSES else _MOST_PURPOSES - 1
    parts = [(plain(name, longest=LONGEST_CELL), amount, charges[name]) for name, amount in costly[:most]]
    rest = costly[most:]
    if rest:
        whole = ZERO
        for _, amount in rest:
            whole = whole.plus(amount)
        label = reading.sentences.say("purposes.rest", count=len(rest))
        parts.append((label, whole, sum(charges[name] for name, _ in rest)))
    return parts


def purposes_chart(reading: BudgetReading) -> list[Chart]:
    """Return the bars of what each purpose cost; none if nothing was spent."""
    parts = purpose_parts(reading)
    if not parts:
        return []
    say, (largest, amount, _) = reading.sentences.under("purposes"), parts[0]
    told = {
        "purpose": largest,
        "amount": reading.amount(amount),
        "spent": reading.amount(reading.total.spent),
    }
    power = power_of(max(amount.epsilon for _, amount, _ in parts))
    unit = reading.sentences.say("words.power", power=power_words(power)) if power else ""
    bars = [
        Bar(name, Estimate(float(amount.epsilon * Fraction(10) ** -power)), strong=place == 0)
        for place, (name, amount, _) in enumerate(parts)
    ]
    axis, alt = Axis(say("axis"), unit), say("alt", **told)
    return [bars_chart(axis, bars, name="budget-by-purpose", alt=alt, caption=say("caption"))]


def _purposes_table(reading: BudgetReading, parts: Sequence[tuple[str, Amount, int]]) -> Table:
    say, whole = reading.sentences.under("purposes"), reading.total.spent.epsilon
    names = list(SYMBOLS)[: 1 + reading.has_delta]
    rows = [
        [
            name,
            f"{charges:,}",
            *(figure(getattr(amount, part)) for part in names),
            percent(share_of(amount.epsilon, whole)),
        ]
        for name, amount, charges in parts
    ]
    header = [say("purpose"), say("charges"), *(SYMBOLS[name] for name in names), say("share")]
    data: dict[str, list[Any]] = {
        "purpose": list(reading.by_purpose),
        "charges": [reading.charges_by_purpose[name] for name in reading.by_purpose],
        **{part: [getattr(amount, part) for amount in reading.by_purpose.values()] for part in names},
    }
    caption = say("table", when=reading.when)
    return Table(header, rows, [False, *[True] * (len(header) - 1)], caption, name="purposes", data=data)


# --- tighter totals, and every entry --------------------------------------------------------------


def tighter_section(reading: BudgetReading) -> Section | None:
    """Return the totals that are smaller than the sum, by name; None if there is none."""
    if not reading.tighter:
        return None
    say, spent = reading.sentences.under("tighter"), reading.total.spent
    ways = [(say("sum"), spent, say("always"))]
    ways += [(way.name, way.amount, say("if_fixed")) for way in reading.tighter]
    table = Table(
        [say("way"), "ε", "δ", say("when")],
        [[name, figure(amount.epsilon), figure(amount.delta), when] for name, amount, when in ways],
        [False, True, True, False],
        say("caption", when=reading.when),
        name="totals",
        data={
            "way": [name for name, _, _ in ways],
            "epsilon": [amount.epsilon for _, amount, _ in ways],
            "delta": [amount.delta for _, amount, _ in ways],
        },
    )
    return Section(say("heading"), say("lead"), tables=(table,), anchor="tighter")


def entries_section(reading: BudgetReading) -> Section:
    """Return the table of entries, the newest first; the file beside it has them all."""
    say, names = reading.sentences.under("entries"), list(SYMBOLS)[: 1 + reading.has_delta]
    newest = list(zip(reading.entries, reading.sums, strict=True))[: -_MOST_ENTRIES - 1 : -1]
    header = [say("number"), say("time"), say("purpose"), *(SYMBOLS[name] for name in names)]
    header += [say("sum", symbol=SYMBOLS[name]) for name in names]
    whole = len(reading.entries) <= _MOST_ENTRIES
    caption = say("caption" if whole else "caption_newest", shown=len(newest), entries=len(reading.entries))
    table = Table(
        header,
        [_entry_row(reading, entry, spent, names) for entry, spent in newest],
        [True, False, False, *[True] * (2 * len(names))],
        caption,
        fold=fold_rows(len(newest)),
        name="entries",
        data=_entry_columns(reading),
        tags={(place, 3): "bad" for place, (entry, _) in enumerate(newest) if entry.is_unbounded},
    )
    return Section(say("heading"), say("lead"), tables=(table,), anchor="entries")


def _entry_row(reading: BudgetReading, entry: Entry, spent: Amount, names: Sequence[str]) -> list[str]:
    say, purpose = reading.sentences.under("entries"), reading.purpose(entry)
    if entry.kind == SPEND and entry.people and entry.people != reading.budget.people:
        purpose = f"{purpose}\n{say('people', people=plain(entry.people, longest=LONGEST_CELL))}"
    if entry.kind == OPEN:
        purpose = say("open")
    elif entry.kind == RETIRE:
        retired = reading.sentences.say("words.entry", number=entry.terms["entry"])
        purpose = f"{say('retire', entry=retired)}\n{purpose}"
    amounts = [figure(getattr(entry, name)) for name in names] if entry.kind == SPEND else [""] * len(names)
    if entry.is_unbounded:
        amounts[0] = say("unbounded")
    time = entry.time.removesuffix("Z").replace("T", "\n")
    return [f"{entry.number:,}", time, purpose, *amounts, *(figure(getattr(spent, name)) for name in names)]


def _entry_columns(reading: BudgetReading) -> Mapping[str, Sequence[Any]]:
    """Return every entry as columns of a CSV, with exact amounts as decimals."""
    entries, sums = reading.entries, reading.sums
    return {
        "entry": [entry.number for entry in entries],
        "time": [entry.time for entry in entries],
        "kind": ["unbounded" if entry.is_unbounded else entry.kind for entry in entries],
        "purpose": [entry.purpose for entry in entries],
        "people": [entry.people for entry in entries],
        "epsilon": [entry.epsilon for entry in entries],
        "delta": [entry.delta for entry in entries],
        "epsilon_sum": [spent.epsilon for spent in sums],
        "delta_sum": [spent.delta for spent in sums],
        "hash": [entry.hash for entry in entries],
    }
