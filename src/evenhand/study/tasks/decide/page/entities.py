"""The sections on entities: errors against size or distance, and the table of the most affected."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evenhand.report.charts import bars_chart, spots_chart
from evenhand.report.marks import Axis, Bar, Class, Estimate, Spot
from evenhand.report.page import Section, Table
from evenhand.report.words import number
from evenhand.study.tasks.decide.answers import heading_of, sides, who_gains
from evenhand.study.tasks.decide.wording import LEAST_CHANCE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.study.tasks.decide.reading import DecideReading, Entity

_SHOWN = 40


# --- money against size ---------------------------------------------------------------------------


def sizes_section(reading: DecideReading) -> Section:
    """Return the typical error of an award against the size of the entity."""
    spots = [
        Spot(entity.name, entity["size"], entity["error"] / entity["truth"])
        for entity in reading.entities
        if entity["truth"] > 0
    ]
    say, classes = reading.say, [size_class for size_class in _classes(reading) if size_class.x > 0]
    heading = _sizes_heading(reading, classes)
    listed = "; ".join(f"{size_class.label}: {reading.chance(size_class.y)}" for size_class in classes)
    chart = spots_chart(
        Axis(say("sizes.x")),
        Axis(say("sizes.y"), say("sizes.y_unit"), 100.0),
        spots,
        classes=classes,
        kinds=(say("sizes.one"), ""),
        named=0,
        name="misallocation-by-size",
        alt=f"{heading}. {listed}.",
        caption=say("sizes.caption", exactness=reading.exactness, which=_which(reading)),
    )
    return Section(heading=heading, lead=say("sizes.lead"), charts=(chart,), anchor="sizes")


def _classes(reading: DecideReading) -> list[Class]:
    """Return the mean error of each class of sizes, as a share of what its entities are due."""
    made = []
    for size in reading.sizes:
        mean, share = reading.of_size("size", size), reading.of_size("relative", size)
        if size.least and math.isfinite(share):
            high = size.most + 1.0 if size.most is not None else max(mean * 1.5, 3.0 * size.least)
            number_of = reading.of_size("entities", size)
            made.append(Class(size.label, float(size.least), float(high), mean, share, number_of))
    return made


def _sizes_heading(reading: DecideReading, classes: Sequence[Class]) -> str:
    if len(classes) < 2:
        return reading.say("sizes.heading_one")
    small, large = classes[0], classes[-1]
    first, last = (reading.chance(size_class.y) for size_class in (small, large))
    key = "large" if small.y <= large.y else "small"
    labels = {"small": small.label, "large": large.label}
    return reading.say(f"sizes.heading_{key}", first=first, last=last, **labels)


def classes_section(reading: DecideReading) -> Section | None:
    """Return what entities of each size gain or lose on average, in money; None where nobody does."""
    sizes = [size for size in reading.sizes if math.isfinite(reading.of_size("gain", size))]
    amounts = reading.amounts
    values = [amounts.round_to_smallest(reading.of_size("gain", size)) for size in sizes]
    if not any(values) or reading.nobody_gains_or_loses():
        return None
    bars = [
        Bar(f"{size.label} ({reading.of_size('entities', size):,.0f})", Estimate(value), strong=value < 0)
        for size, value in zip(sizes, values, strict=True)
    ]
    heading = heading_of(who_gains(reading))
    listed = "; ".join(
        f"{size.label} {amounts.text(value, sign=True)}" for size, value in zip(sizes, values, strict=True)
    )
    chart = bars_chart(
        amounts.axis(reading.say("gains.axis"), values),
        bars,
        name="gain-by-size",
        alt=f"{heading}. {listed}.",
        caption=reading.say("gains.caption", exactness=reading.exactness),
    )
    return Section(heading=heading, lead=reading.say("gains.lead"), charts=(chart,), anchor="gains")


# --- rights against distance ----------------------------------------------------------------------


def flips_section(reading: DecideReading) -> Section:
    """Return the chance of a wrong decision against the distance from the line."""
    spots = [
        Spot(entity.name, entity["distance"], entity["flip"], second=entity["truth"] < 0.5)
        for entity in reading.entities
    ]
    say, heading = reading.say, _flips_heading(reading)
    listed = "; ".join(f"{entity.name} {reading.chance(entity['flip'])}" for entity in reading.entities[:5])
    chart = spots_chart(
        Axis(say("flips.x")),
        Axis(say("flips.y"), "%", 100.0),
        spots,
        kinds=(say("flips.has"), say("flips.has_not")),
        shares=True,
        name="flips-by-distance",
        alt=f"{heading}. {listed}.",
        caption=say("flips.caption", exactness=reading.exactness, which=_which(reading)),
    )
    return Section(heading=heading, lead=say("flips.lead"), charts=(chart,), anchor="flips")


def _flips_heading(reading: DecideReading) -> str:
    if reading.outcome() is None:
        return reading.say("flips.heading_unknown")
    count, lose = (round(reading.mean(name)) for name in ("at_risk", "at_risk_of_loss"))
    if not count:
        largest = reading.mean("largest_flip")
        if largest > 0:
            largest = max(largest, LEAST_CHANCE)  # "above less than" would be no bound
        return reading.say("flips.heading_none", largest=reading.chance(largest))
    return reading.say("flips.heading" if count > 1 else "flips.heading_one", number=count, lose=lose)


# --- one by one -----------------------------------------------------------------------------------


def entities_section(reading: DecideReading) -> Section:
    """Return the table of the most affected entities, which a reader may sort."""
    shown = _select_entities(reading)
    table = _rule_table(reading, shown) if reading.is_rule else _money_table(reading, shown)
    left = reading.entities_in_all - len(shown)
    rest = reading.say("entities.rest", left=reading.noun.count(left), count=left) if left else ""
    key = "lead" if reading.is_rule or not reading.nobody_gains_or_loses() else "lead_still"
    return Section(
        heading=_entities_heading(reading),
        lead=reading.say(f"entities.{key}", shown=len(shown), rest=rest, kept=len(reading.entities)),
        tables=(table,),
        anchor="entities",
    )


def _select_entities(reading: DecideReading) -> list[Entity]:
    """Return the most affected; of an allotment both sides, so that gains do not hide losses."""
    if reading.is_rule:
        return [entity for entity in reading.entities if entity["flip"] > 0][:_SHOWN] or list(
            reading.entities[:_SHOWN]
        )
    if reading.nobody_gains_or_loses():
        return sorted(reading.entities, key=lambda entity: -_share(entity))[:_SHOWN]
    gains, losses = sides(reading)
    half = _SHOWN // 2
    few = gains[: max(half, _SHOWN - len(losses))] + losses[: max(half, _SHOWN - len(gains))]
    kept = few or list(reading.entities[:_SHOWN])
    return sorted(kept, key=lambda entity: -abs(entity["bias"]))


def _entities_heading(reading: DecideReading) -> str:
    if not reading.entities:
        return reading.say("entities.heading_none")
    worst, amounts = reading.entities[0], reading.amounts
    if reading.is_rule:
        chance = reading.chance(worst["flip"])
        key = "heading_right" if chance == reading.chance(0.0) else "heading_rule"
        return reading.say(f"entities.{key}", name=worst.name, chance=chance)
    amount = abs(worst["bias"]) * reading.money
    if amounts.is_none(amount):
        return reading.say("entities.heading_nobody", smallest=amounts.text(amounts.least))
    key = "gains" if worst["bias"] > 0 else "loses"
    return reading.say(f"entities.heading_{key}", name=worst.name, amount=amounts.text(amount))


def _orders(
    reading: DecideReading,
    shown: Sequence[Entity],
    keys: Sequence[tuple[str, Callable[[Entity], Any]]],
) -> tuple[tuple[str, list[int]], ...]:
    def ordered(key: Callable[[Entity], Any]) -> list[int]:
        return sorted(range(len(shown)), key=lambda place: key(shown[place]))

    return tuple((reading.say(f"entities.order.{name}"), ordered(key)) for name, key in keys)


def _share(entity: Entity) -> float:
    """Return the typical error as a share of the award; below every number where there is no award."""
    return entity["error"] / entity["truth"] if entity["truth"] > 0 else -math.inf


def _money_table(reading: DecideReading, shown: Sequence[Entity]) -> Table:
    amounts, money = reading.amounts, reading.money
    rows = [
        [
            entity.name,
            number(entity["size"], 0),
            amounts.text(entity["truth"] * money),
            f"**{amounts.text(entity['bias'] * money, sign=True)}**",
            amounts.text(entity["error"] * money),
            reading.chance(_share(entity)) if entity["truth"] > 0 else reading.say("entities.no_award"),
        ]
        for entity in shown
    ]
    moves = (
        ("gain", lambda entity: -abs(entity["bias"])),
        ("losses", lambda entity: entity["bias"]),
        ("gains", lambda entity: -entity["bias"]),
    )
    keys = (
        *(() if reading.nobody_gains_or_loses() else moves),
        ("share", lambda entity: -_share(entity)),
        ("size", lambda entity: -entity["size"]),
        ("name", lambda entity: entity.name.casefold()),
    )
    return _table(reading, rows, ("counted", "due", "gain", "error", "share"), _orders(reading, shown, keys))


def _rule_table(reading: DecideReading, shown: Sequence[Entity]) -> Table:
    rows = [
        [
            entity.name,
            reading.say("entities.has" if entity["truth"] >= 0.5 else "entities.has_not"),
            f"**{reading.chance(entity['flip'])}**",
            number(entity["distance"], 0 if entity["distance"] >= 100 else 1),
            number(entity["size"], 0),
        ]
        for entity in shown
    ]
    keys = (
        ("chance", lambda entity: -entity["flip"]),
        ("losses", lambda entity: (-entity["truth"], -entity["flip"])),
        ("distance", lambda entity: entity["distance"]),
        ("size", lambda entity: -entity["size"]),
        ("name", lambda entity: entity.name.casefold()),
    )
    return _table(reading, rows, ("truth", "chance", "distance", "size"), _orders(reading, shown, keys))


def _table(
    reading: DecideReading,
    rows: Sequence[Sequence[str]],
    columns: Sequence[str],
    orders: tuple[tuple[str, list[int]], ...],
) -> Table:
    """Return the table of entities, the first column of which has their names."""
    return Table(
        header=[
            reading.say("entities.header.name"),
            *(reading.say(f"entities.header.{key}") for key in columns),
        ],
        rows=rows,
        numeric=[False, *(key != "truth" for key in columns)],
        caption=reading.say("entities.caption", exactness=reading.exactness),
        name="most-affected",
        data=_list_columns(reading),
        orders=orders,
    )


def _list_columns(reading: DecideReading) -> dict[str, list[object]]:
    """Return what is kept of the entities, for the CSV; what does not apply is left out."""
    names = ["size", "truth", "bias", *(["flip", "distance"] if reading.is_rule else ["error"])]
    columns: dict[str, list[object]] = {"entity": [entity.name for entity in reading.entities]}
    columns |= {name: [entity[name] for entity in reading.entities] for name in names}
    if not reading.is_rule and reading.amounts.in_money:
        for name in ("truth", "bias", "error"):
            columns[f"{name}_in_money"] = [entity[name] * reading.money for entity in reading.entities]
    return columns


def _which(reading: DecideReading) -> str:
    key = "all" if reading.all_kept else "some"
    entities = reading.noun.count(reading.entities_in_all)
    return reading.say(f"entities.{key}_shown", kept=len(reading.entities), entities=entities)
