"""The page of a ledger: what is spent and left in three sentences, then the pictures and the entries.

A report on releases has a section of it: what publishing would spend.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from evenhand.errors import GuaranteeError, LedgerError
from evenhand.privacy.ledger import find_ledger
from evenhand.privacy.ledger.budget import Amount
from evenhand.privacy.ledger.chain import OPEN, RETIRE, SPEND
from evenhand.privacy.ledger.totals import charges_of, total_of
from evenhand.report.charts import bars_chart, steps_chart
from evenhand.report.language import language_now
from evenhand.report.marks import Bar, Estimate, Moment, Sums
from evenhand.report.page import KeyNumber, LegendKey, Note, Page, Section, Table
from evenhand.report.words import plain
from evenhand.study.budget.reading import LONGEST_CELL, SYMBOLS, BudgetReading, figure
from evenhand.study.page.wording import fold_rows
from evenhand.study.page.words import words_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from fractions import Fraction

    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.privacy.ledger import Entry
    from evenhand.report.page import Answer, Chart

_MOST_NAMED = 6
_ALTS = {"heading_fits": "alt", "heading_refused": "alt_refused"}
_MOST_ENTRIES = 300
_MANY = 60  # steps; from here on not every one is drawn


def build_budget_page(reading: BudgetReading, *, command: str = "") -> Page:
    """Return the page of a ledger; write it with :func:`evenhand.report.write`.

    `command` is what makes the page again.
    """
    say, charges = reading.say, len(charges_of(reading.entries))
    sections = [_time_section(reading), *([_purposes_section(reading)] if reading.costs else [])]
    sections += [_tighter_section(reading)] if reading.tighter else []
    return Page(
        question=say("head.question", name=plain(reading.name)),
        answers=budget_answers(reading),
        kicker=say("head.kicker"),
        meta=say("head.meta", charges=charges, entries=len(reading.entries)),
        numbers=_key_numbers(reading),
        notes=(Note("plain", say("head.private")),),
        sections=[*sections, _entries_section(reading)],
        method=[say("method.sum"), say("method.unit", unit=reading.budget.unit), say("method.whole")],
        limits=[say("limits.owner"), say("limits.copies"), say("limits.forgotten")],
        command=command,
    )


def budget_answers(reading: BudgetReading) -> list[Answer]:
    """Return what is spent and left, whether that is a promise (first, where it is none), and what for."""
    if not charges_of(reading.entries):
        return [_spent_answer(reading), reading.answer("answer.nothing_yet")]
    answers = [_spent_answer(reading), _bounded_answer(reading)]
    if reading.total.unbounded:
        answers.reverse()
    return [*answers, _purpose_answer(reading)]


def _spent_answer(reading: BudgetReading) -> Answer:
    """Return what is spent and left, and of what."""
    total, budget, say = reading.total, reading.budget, reading.say
    key = "none" if not any(total.spent) else "spent" if total.remaining.epsilon else "gone"
    return reading.answer(
        f"answer.{key}",
        spent=reading.amount(total.spent),
        left=reading.amount(total.remaining, is_left=True),
        whole=reading.amount(total.budget),
        when=reading.when,
        per=say("words.per", period=budget.period) if budget.period else "",
        unit=budget.unit,
        people=say("words.people", people=plain(budget.people, longest=120)) if budget.people else "",
        charges=total.charges,
    )


def _bounded_answer(reading: BudgetReading) -> Answer:
    """Return whether anything is unbounded, which makes every sum say too little."""
    unbounded, retired = reading.total.unbounded, reading.retired
    key = "unbounded" if unbounded else "retired" if retired else "bounded"
    entries = [reading.name_entry(number) for number in unbounded or retired]
    if len(unbounded) > _MOST_NAMED:
        entries = [reading.say("words.entries", count=len(unbounded))]
    return reading.answer(f"answer.{key}", entries=entries, count=len(unbounded or retired))


def _purpose_answer(reading: BudgetReading) -> Answer:
    """Return which purpose took most."""
    costs, spent = reading.largest_costs, reading.total.spent.epsilon
    if not costs or not spent:
        return reading.answer("answer.nothing_yet")
    largest = costs[0]
    key = "only" if len(costs) == 1 else "largest" if 2 * largest.amount.epsilon >= spent else "spread"
    return reading.answer(
        f"answer.{key}",
        purpose=plain(largest.name),
        amount=f"ε = {figure(largest.amount.epsilon)}",
        spent=f"ε = {figure(spent)}",
        charges=largest.charges,
        purposes=len(reading.costs),
    )


def _key_numbers(reading: BudgetReading) -> list[KeyNumber]:
    say, total = reading.say, reading.total
    numbers = []
    for name, symbol in SYMBOLS.items():
        whole = getattr(total.budget, name)
        for key, amount in (("spent", total.spent), ("left", total.remaining)):
            value = getattr(amount, name)
            if whole:
                detail = say("head.of", whole=figure(whole), share=_share(value, whole))
                label, shown = say(f"head.{key}", symbol=symbol), figure(value, is_left=key == "left")
                numbers.append(KeyNumber(label, shown, detail))
    for way in reading.tighter[: 4 - len(numbers)]:
        label, detail = say("head.by", symbol="ε", name=way.name), say("head.if_fixed")
        numbers.append(KeyNumber(label, figure(way.amount.epsilon), detail))
    return numbers


def _share(part: Fraction, whole: Fraction) -> float:
    return float(part / whole) if whole else 0.0


# --- over time ------------------------------------------------------------------------------------


def _time_section(reading: BudgetReading) -> Section:
    """Return the sums over time against the budget, and what each period spent."""
    say, total = reading.say, reading.total
    key, lead = "heading", say("time.lead")
    if reading.period:
        everything = total_of(reading.entries, reading.budget, period="").spent
        told = {"period": reading.budget.period, "all_time": reading.amount(everything)}
        key, lead = "heading_period", say("time.lead_period", **told)
    if len(reading.entries) == 1:
        key = "heading_none"
    share = _share(total.spent.epsilon, total.budget.epsilon)
    return Section(
        heading=say(f"time.{key}", share=share, period=reading.period),
        lead=lead,
        charts=(time_chart(reading),),
        tables=(_periods_table(reading),) if len(reading.periods) > 1 else (),
        anchor="time",
    )


def time_chart(reading: BudgetReading) -> Chart:
    """Return the picture of the sums over time."""
    say, total = reading.say, reading.total
    marks = {
        "unbounded": LegendKey(say("time.unbounded"), "cross", "ink"),
        "retired": LegendKey(say("time.retired"), "circle", "ink", hollow=True),
    }
    happened = {_kind_of(entry) for entry in reading.entries}
    marks = {kind: look for kind, look in marks.items() if kind in happened}
    legend = [LegendKey(say("time.line"), "line", "ink"), LegendKey(say("time.limit"), "dashed", "ink2")]
    caption = "time.caption_many" if len(reading.entries) > _MANY else "time.caption"
    return steps_chart(
        [_sums(reading, name) for name in reading.names],
        marks=marks,
        legend=[*legend, *marks.values()],
        across=say("time.across"),
        name="budget-over-time",
        alt=say("time.alt", spent=reading.amount(total.spent), whole=reading.amount(total.budget)),
        caption=say(caption, unit=reading.budget.unit),
        data=_entry_columns(reading),
    )


def _kind_of(entry: Entry) -> str:
    """Return which mark stands for an entry; an empty text for an ordinary step."""
    return "unbounded" if entry.is_unbounded else "retired" if entry.kind == RETIRE else ""


def _sums(reading: BudgetReading, name: str) -> Sums:
    limit = getattr(reading.budget, name)
    axis, times = reading.scale_axis(reading.say("time.axis", symbol=SYMBOLS[name]), limit)
    moments = [
        Moment(
            datetime.fromisoformat(entry.time).timestamp(),
            float(getattr(spent, name) * times),
            _tip(reading, entry, spent),
            _kind_of(entry),
        )
        for entry, spent in zip(reading.entries, reading.sums, strict=True)
    ]
    starts = {period: f"{period}-01-01"[:10] for period in reading.periods if period}  # of years and months
    return Sums(
        axis,
        moments,
        float(limit * times),
        reading.say("words.budget", whole=figure(limit)),
        [(datetime.fromisoformat(f"{day}T00Z").timestamp(), period) for period, day in starts.items()],
    )


def _tip(reading: BudgetReading, entry: Entry, spent: Amount) -> str:
    if entry.kind == OPEN:
        return reading.say("time.opened", time=entry.time)
    key = _kind_of(entry)
    return reading.say(
        f"time.tip_{key}" if key else "time.tip",
        time=entry.time,
        entry=reading.name_entry(entry.terms["entry"] if entry.kind == RETIRE else entry.number),
        purpose=plain(entry.purpose),
        amount=reading.amount(Amount(entry.epsilon, entry.delta)),
        sum=reading.amount(spent),
    )


def _periods_table(reading: BudgetReading) -> Table:
    say = reading.say
    totals = [total_of(reading.entries, reading.budget, period=period) for period in reading.periods]
    newest = totals[::-1]
    columns = {
        say("periods.period"): [total.period for total in newest],
        say("periods.charges"): [f"{total.charges:,}" for total in newest],
        **reading.figures([total.spent for total in newest], title="periods.spent"),
        **reading.figures([total.remaining for total in newest], title="periods.left", is_left=True),
    }
    data = {
        "period": [total.period for total in totals],
        "charges": [total.charges for total in totals],
        **reading.parts([total.spent for total in totals], end="_spent"),
    }
    return _build_table(columns, say("periods.caption"), "periods", data)


def _build_table(
    columns: Mapping[str, Sequence[str]], caption: str, name: str, data: Mapping[str, Any]
) -> Table:
    """Return a table of columns by their titles, all but the first of numbers."""
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    numeric = [False, *[True] * (len(columns) - 1)]
    return Table(list(columns), rows, numeric, caption, fold=fold_rows(len(rows)), name=name, data=data)


# --- by purpose, and tighter totals ---------------------------------------------------------------


def purposes_chart(reading: BudgetReading) -> list[Chart]:
    """Return the bars of what each purpose cost; none if nothing was spent."""
    costs, say = reading.largest_costs, reading.say
    if not costs:
        return []
    axis, times = reading.scale_axis(say("purposes.axis"), max(cost.amount.epsilon for cost in costs))
    bars = [
        Bar(cost.name, Estimate(float(cost.amount.epsilon * times)), strong=cost is costs[0])
        for cost in costs
    ]
    alt = say(
        "purposes.alt",
        purpose=costs[0].name,
        amount=reading.amount(costs[0].amount),
        spent=reading.amount(reading.total.spent),
    )
    return [bars_chart(axis, bars, name="budget-by-purpose", alt=alt, caption=say("purposes.caption"))]


def _purposes_section(reading: BudgetReading) -> Section:
    """Return what each purpose cost, the largest first and the rest summed."""
    say, whole = reading.say, reading.total.spent.epsilon
    costs, every = reading.largest_costs, reading.purposes
    columns = {
        say("purposes.purpose"): [cost.name for cost in costs],
        say("purposes.charges"): [f"{cost.charges:,}" for cost in costs],
        **reading.figures([cost.amount for cost in costs]),
        say("purposes.share"): [
            say("words.share", share=_share(cost.amount.epsilon, whole)) for cost in costs
        ],
    }
    data = {
        "purpose": [each.name for each in every],
        "charges": [each.charges for each in every],
        **reading.parts([each.amount for each in every]),
    }
    table = _build_table(columns, say("purposes.table", when=reading.when), "purposes", data)
    return Section(
        say("purposes.heading_one" if len(costs) == 1 else "purposes.heading", purpose=plain(costs[0].name)),
        say("purposes.lead", when=reading.when),
        charts=purposes_chart(reading),
        tables=(table,),
        anchor="purposes",
    )


def _tighter_section(reading: BudgetReading) -> Section:
    """Return the totals that are smaller than the sum, by name."""
    say = reading.say
    ways = [(say("tighter.sum"), reading.total.spent, say("tighter.always"))]
    ways += [(way.name, way.amount, say("tighter.if_fixed")) for way in reading.tighter]
    table = Table(
        [say("tighter.way"), *SYMBOLS.values(), say("tighter.when")],
        [[name, *map(figure, amount), when] for name, amount, when in ways],
        [False, True, True, False],
        say("tighter.caption", when=reading.when),
        name="totals",
        data={"way": [name for name, _, _ in ways], **reading.parts([amount for _, amount, _ in ways])},
    )
    return Section(say("tighter.heading"), say("tighter.lead"), tables=(table,), anchor="tighter")


# --- every entry ----------------------------------------------------------------------------------


def _entries_section(reading: BudgetReading) -> Section:
    """Return the table of entries, the newest first; the file beside it has them all."""
    say, symbols = reading.say, [SYMBOLS[name] for name in reading.names]
    newest = list(zip(reading.entries, reading.sums, strict=True))[: -_MOST_ENTRIES - 1 : -1]
    header = [say("entries.number"), say("entries.time"), say("entries.purpose"), *symbols]
    key = "entries.caption" if len(newest) == len(reading.entries) else "entries.caption_newest"
    table = Table(
        header + [say("entries.sum", symbol=symbol) for symbol in symbols],
        [_entry_row(reading, entry, spent) for entry, spent in newest],
        [True, False, False, *[True] * (2 * len(symbols))],
        say(key, shown=len(newest), entries=len(reading.entries)),
        fold=fold_rows(len(newest)),
        name="entries",
        data=_entry_columns(reading),
        tags={(place, 3): "bad" for place, (entry, _) in enumerate(newest) if entry.is_unbounded},
    )
    return Section(say("entries.heading"), say("entries.lead"), tables=(table,), anchor="entries")


def _entry_row(reading: BudgetReading, entry: Entry, spent: Amount) -> list[str]:
    say, purpose = reading.say, plain(entry.purpose, longest=LONGEST_CELL)
    amounts = [figure(getattr(entry, name)) if entry.kind == SPEND else "" for name in reading.names]
    if entry.kind == OPEN:
        purpose = say("entries.open")
    elif entry.kind == RETIRE:
        purpose = f"{say('entries.retire', entry=reading.name_entry(entry.terms['entry']))}\n{purpose}"
    elif entry.people not in ("", reading.budget.people):
        purpose += f"\n{say('entries.people', people=plain(entry.people, longest=LONGEST_CELL))}"
    if entry.is_unbounded:
        amounts[0] = say("entries.unbounded")
    time = entry.time.removesuffix("Z").replace("T", "\n")
    sums = [figure(getattr(spent, name)) for name in reading.names]
    return [f"{entry.number:,}", time, purpose, *amounts, *sums]


def _entry_columns(reading: BudgetReading) -> Mapping[str, Sequence[Any]]:
    """Return every entry as columns of a CSV, with exact amounts as decimals."""
    entries = reading.entries
    return {
        "entry": [entry.number for entry in entries],
        "time": [entry.time for entry in entries],
        "kind": ["unbounded" if entry.is_unbounded else entry.kind for entry in entries],
        **{name: [getattr(entry, name) for entry in entries] for name in ("purpose", "people", *SYMBOLS)},
        "epsilon_sum": [spent.epsilon for spent in reading.sums],
        "delta_sum": [spent.delta for spent in reading.sums],
        "hash": [entry.hash for entry in entries],
    }


# --- in a report: what publishing would cost ------------------------------------------------------


def ledger_section(data: str | None, promise: Callable[[], Guarantee], *, setting: str) -> Section | None:
    """Return what a release would spend of the ledger of some rows; None where none is configured.

    Where one is configured and cannot be used, nothing can be published, and the section says why.
    """
    try:
        ledger = find_ledger(None, data=data)
        if ledger is None:
            return None
        return publishing_section(BudgetReading.of(ledger), promise(), setting=setting)
    except LedgerError as error:
        say = words_in(language_now(), "evenhand.study.budget").say
        note = Note("bad", say("release.broken", reason=plain(error, longest=400)))
        return Section(say("release.heading_broken"), notes=(note,), anchor="ledger")


def publishing_section(reading: BudgetReading, guarantee: Guarantee, *, setting: str) -> Section:
    """Return what a release with this guarantee would spend, what is left, and the ledger in pictures."""
    say, left, spent = reading.say, reading.total.remaining, reading.total.spent
    charge, key, notes = None, "heading_none", []
    try:
        charge = reading.budget.charge_for(guarantee)
        key = "heading_fits" if charge is not None else "heading_unbounded"
    except GuaranteeError as error:
        notes = [Note("warn", say("release.uncharged", reason=plain(error, longest=400)))]
    if charge is not None and charge.is_within(left):
        left = left.minus(charge)
    elif charge is not None:
        key = "heading_refused"

    def spell(amount: Amount, *, is_left: bool = False) -> str:
        """Return an amount in symbols; without delta where the charge has none."""
        if charge is not None and not charge.delta:
            return f"ε = {figure(amount.epsilon, is_left=is_left)}"
        return reading.amount(amount, is_left=is_left)

    told = {"cost": "" if charge is None else spell(charge), "left": spell(left, is_left=True)}
    last = say("release.bar_left" if key == "heading_fits" else "release.bar_left_now")
    bars = ((say("release.bar_spent"), spent), (setting, charge), (last, left))
    parts = [(label, amount) for label, amount in bars if amount is not None]
    axis, times = reading.scale_axis(say("release.axis"), reading.budget.epsilon)
    caption = say("release.caption", unit=reading.budget.unit, when=reading.when)
    chart = bars_chart(
        axis,
        [Bar(label, Estimate(float(each.epsilon * times)), strong=each is charge) for label, each in parts],
        name="ledger",
        alt=say(f"release.{_ALTS.get(key, 'alt_none')}", spent=reading.amount(spent), **told),
        caption=caption,
    )
    labels, amounts = [label for label, _ in parts], [amount for _, amount in parts]
    left_cells = reading.figures([left], is_left=True)
    columns = {say("release.part"): labels}
    columns |= {symbol: cells + left_cells[symbol] for symbol, cells in reading.figures(amounts[:-1]).items()}
    table = _build_table(columns, caption, "ledger-parts", {"part": labels, **reading.parts(amounts)})
    return Section(
        heading=say(f"release.{key}", **told),
        lead=say("release.lead", name=plain(reading.name)),
        charts=[chart, time_chart(reading), *purposes_chart(reading)],
        tables=(table,),
        notes=notes,
        anchor="ledger",
    )
