"""The sections on entities: errors against size or distance, and the table of the most affected."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evenhand.report.charts import bars_chart, spots_chart
from evenhand.report.marks import Axis, Bar, Class, Estimate, Spot
from evenhand.report.page import Section, Table
from evenhand.report.words import number
from evenhand.study.page.wording import plain, with_article
from evenhand.study.tasks.decide.answers import gain_heading, sides
from evenhand.study.tasks.decide.wording import chance_text, few_text, setting_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.study.tasks.decide.reading import DecideReading, Entity

__all__ = ["classes_section", "entities_section", "flips_section", "sizes_section"]

_SHOWN = 40


# --- money against size ---------------------------------------------------------------------------


def sizes_section(reading: DecideReading) -> Section:
    """Return the typical error of an award against the size of the entity."""
    noun, people = reading.noun, plain(reading.task.count)
    spots = [
        Spot(entity.name, entity["size"], entity["error"] / entity["truth"])
        for entity in reading.entities
        if entity["truth"] > 0
    ]
    classes = [size_class for size_class in _classes(reading) if size_class.x > 0]
    heading = _sizes_heading(reading, classes)
    chart = spots_chart(
        Axis(f"{people} counted"),
        Axis("typical error of one release", "% of the award", 100.0),
        spots,
        classes=classes,
        kinds=(f"one {noun.one}", ""),
        named=0,
        name="misallocation-by-size",
        alt=f"{heading}. {_alt_classes(classes)}",
        caption=(
            f"**{reading.exactness}** Root mean square error of the award of one release, as a share of "
            f"what the {noun.one} is due. {setting_words(reading.chosen)}. Both axes are logarithmic. "
            f"{_which(reading)} Of nobody counted there is no share."
        ),
    )
    return Section(
        heading=heading,
        lead="The same noise weighs more where few people are counted. What it does on average stands above; "
        "what one release does is here, in either direction.",
        charts=(chart,),
        anchor="sizes",
    )


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
    noun = reading.noun
    if len(classes) < 2:
        return f"What one release is off by, {noun.one} by {noun.one}"
    small, large = classes[0], classes[-1]
    first, last = (chance_text(size_class.y) for size_class in (small, large))
    if small.y <= large.y:
        return f"Large {noun.many} are off by {last} of their award, small ones by {first}"
    return (
        f"With {small.label} {plain(reading.task.count)} an award is typically off by {first}, with "
        f"{large.label} by {last}"
    )


def _alt_classes(classes: Sequence[Class]) -> str:
    return "; ".join(f"{size_class.label}: {chance_text(size_class.y)}" for size_class in classes) + "."


def classes_section(reading: DecideReading) -> Section | None:
    """Return what entities of each size gain or lose on average, in money."""
    sizes = [size for size in reading.sizes if math.isfinite(reading.of_size("gain", size))]
    if not sizes:
        return None
    values = [reading.of_size("gain", size) for size in sizes]
    bars = [
        Bar(f"{size.label} ({reading.of_size('entities', size):,.0f})", Estimate(value), strong=value < 0)
        for size, value in zip(sizes, values, strict=True)
    ]
    heading = gain_heading(reading)
    amounts = reading.amounts
    said = "; ".join(
        f"{size.label} {amounts.text(value, sign=True)}" for size, value in zip(sizes, values, strict=True)
    )
    chart = bars_chart(
        amounts.axis(f"expected gain or loss of one {reading.noun.one}", values),
        bars,
        name="gain-by-size",
        alt=f"{heading}. {said}.",
        caption=(
            f"**{reading.exactness}** Mean over the {reading.noun.many} of a class of sizes by "
            f"{plain(reading.task.count)}; in brackets how many there are. Losses are dark. "
            f"{setting_words(reading.chosen)}."
        ),
    )
    return Section(
        heading=heading,
        lead="This is the bias: expected minus true, which stays however often counts are published. It is 0 "
        "where nobody is favoured.",
        charts=(chart,),
        anchor="gains",
    )


# --- rights against distance ----------------------------------------------------------------------


def flips_section(reading: DecideReading) -> Section:
    """Return the chance of a wrong decision against the distance from the line."""
    noun = reading.noun
    spots = [
        Spot(entity.name, entity["distance"], entity["flip"], second=entity["truth"] < 0.5)
        for entity in reading.entities
    ]
    heading, article = _flips_heading(reading), with_article(noun.one)
    listed = "; ".join(f"{entity.name} {chance_text(entity['flip'])}" for entity in reading.entities[:5])
    chart = spots_chart(
        Axis("people between it and the line"),
        Axis("chance of a wrong decision", "%", 100.0),
        spots,
        kinds=("has the right, may lose it", "has it not, may gain it"),
        shares=True,
        name="flips-by-distance",
        alt=f"{heading}. {listed}.",
        caption=(
            f"**{reading.exactness}** One dot for each {noun.one}. How many more or fewer people, in the "
            "count that weighs most in a comparison, would change the decision from the true counts. "
            f"{setting_words(reading.chosen)}. {_which(reading)}"
        ),
    )
    return Section(
        heading=heading,
        lead=f"Near the line noise decides. {article[:1].upper()}{article[1:]} far from it is decided as its "
        "true counts say.",
        charts=(chart,),
        anchor="flips",
    )


def _flips_heading(reading: DecideReading) -> str:
    noun = reading.noun
    if reading.outcome() is None:
        return "No chance of a wrong decision is known"
    number_of = round(reading.mean("at_risk"))
    if not number_of:
        largest = chance_text(reading.mean("largest_flip"))
        return f"No {noun.one} has a chance above {largest} of a wrong decision"
    lose = round(reading.mean("at_risk_of_loss"))
    verb = "has" if number_of == 1 else "have"
    return (
        f"{noun.count(number_of)} {verb} a chance of 5% or more of a wrong decision; {lose:,} of them would "
        "lose a right"
    )


# --- one by one -----------------------------------------------------------------------------------


def entities_section(reading: DecideReading) -> Section:
    """Return the table of the most affected entities, which a reader may sort."""
    shown = _shown(reading)
    table = _rule_table(reading, shown) if reading.is_rule else _money_table(reading, shown)
    left = reading.entities_in_all - len(shown)
    rest = f" {reading.noun.count(left)} are less affected." if left else ""
    return Section(
        heading=_entities_heading(reading),
        lead=f"The {len(shown)} most affected {reading.noun.many}, in the order that you choose.{rest} "
        "The CSV has more of each.",
        tables=(table,),
        anchor="entities",
    )


def _shown(reading: DecideReading) -> list[Entity]:
    """Return the most affected; of an allotment both sides, so that gains do not hide losses."""
    if reading.is_rule:
        return [entity for entity in reading.entities if entity["flip"] > 0][:_SHOWN] or list(
            reading.entities[:_SHOWN]
        )
    gains, losses = sides(reading)
    half = _SHOWN // 2
    few = gains[: max(half, _SHOWN - len(losses))] + losses[: max(half, _SHOWN - len(gains))]
    kept = few or list(reading.entities[:_SHOWN])
    return sorted(kept, key=lambda entity: -abs(entity["bias"]))


def _entities_heading(reading: DecideReading) -> str:
    if not reading.entities:
        return f"No {reading.noun.one} is known"
    worst = reading.entities[0]
    if reading.is_rule:
        return f"{worst.name} is most likely to be decided wrongly: {chance_text(worst['flip'])}"
    way = "gains" if worst["bias"] > 0 else "loses"
    amount = reading.amounts.text(abs(worst["bias"]) * reading.money)
    return f"{worst.name} {way} most on average: {amount}"


def _orders(
    shown: Sequence[Entity], keys: Sequence[tuple[str, Callable[[Entity], Any]]]
) -> tuple[tuple[str, list[int]], ...]:
    places = range(len(shown))

    def ordered(key: Callable[[Entity], Any]) -> list[int]:
        return sorted(places, key=lambda place: key(shown[place]))

    return tuple((name, ordered(key)) for name, key in keys)


def _money_table(reading: DecideReading, shown: Sequence[Entity]) -> Table:
    amounts, money = reading.amounts, reading.money
    rows = [
        [
            entity.name,
            number(entity["size"], 0),
            amounts.text(entity["truth"] * money),
            f"**{amounts.text(entity['bias'] * money, sign=True)}**",
            amounts.text(entity["error"] * money),
            chance_text(entity["error"] / entity["truth"]) if entity["truth"] > 0 else "no award",
        ]
        for entity in shown
    ]
    keys = (
        ("gain or loss", lambda entity: -abs(entity["bias"])),
        ("losses first", lambda entity: entity["bias"]),
        ("gains first", lambda entity: -entity["bias"]),
        ("size", lambda entity: -entity["size"]),
        ("share", lambda entity: -(entity["error"] / entity["truth"]) if entity["truth"] > 0 else math.inf),
        ("name", lambda entity: entity.name.casefold()),
    )
    return Table(
        header=[
            reading.noun.one.capitalize(), f"{plain(reading.task.count)}\ncounted", "Due\nfrom true counts",
            "Gain or loss\non average", "Typical error\nof one release", "Typical error\n% of the award",
        ],
        rows=rows,
        numeric=[False, True, True, True, True, True],
        caption=f"**{reading.exactness}** {setting_words(reading.chosen)}.",
        name="most-affected",
        data=_kept(reading),
        orders=_orders(shown, keys),
    )  # fmt: skip


def _rule_table(reading: DecideReading, shown: Sequence[Entity]) -> Table:
    rows = [
        [
            entity.name,
            "has the right" if entity["truth"] >= 0.5 else "has it not",
            f"**{chance_text(entity['flip'])}**",
            few_text(entity["distance"]),
            number(entity["size"], 0),
        ]
        for entity in shown
    ]
    keys = (
        ("chance", lambda entity: -entity["flip"]),
        ("losses first", lambda entity: (-entity["truth"], -entity["flip"])),
        ("distance", lambda entity: entity["distance"]),
        ("size", lambda entity: -entity["size"]),
        ("name", lambda entity: entity.name.casefold()),
    )
    return Table(
        header=[
            reading.noun.one.capitalize(), "By true counts", "Wrong decision\nchance",
            "Distance\npeople from the line", "Size\nlargest count",
        ],
        rows=rows,
        numeric=[False, False, True, True, True],
        caption=f"**{reading.exactness}** {setting_words(reading.chosen)}.",
        name="most-affected",
        data=_kept(reading),
        orders=_orders(shown, keys),
    )  # fmt: skip


def _kept(reading: DecideReading) -> dict[str, list[object]]:
    """Return what is kept of the entities, for the CSV; what does not apply is left out."""
    names = ["size", "truth", "bias", *(["flip", "distance"] if reading.is_rule else ["error"])]
    columns: dict[str, list[object]] = {"entity": [entity.name for entity in reading.entities]}
    columns |= {name: [entity[name] for entity in reading.entities] for name in names}
    if not reading.is_rule and reading.amounts.in_money:
        for name in ("truth", "bias", "error"):
            columns[f"{name}_in_money"] = [entity[name] * reading.money for entity in reading.entities]
    return columns


def _which(reading: DecideReading) -> str:
    if reading.all_kept:
        return f"All {reading.noun.count(reading.entities_in_all)} are shown."
    return (
        f"{len(reading.entities):,} of {reading.noun.count(reading.entities_in_all)} are shown: the most "
        "affected, and some of every size."
    )
