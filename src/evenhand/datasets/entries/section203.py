"""Section 203 of the Voting Rights Act: where ballots must be in a minority language, 2016."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.datasets.download.parsing import keep_rows, read_rows, write_rows
from evenhand.datasets.draws import Draws
from evenhand.datasets.entries.counties import covered, rule_schema
from evenhand.datasets.entry import Cleaned, read_entry
from evenhand.schema import Column, Domain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.datasets.download.files import Reader

_COLUMNS = 32


def first_columns(raw: bytes) -> bytes:
    """Make our file of a published one: the Bureau's 32 columns, cells without blanks around them."""
    return write_rows([cell.strip() for cell in row[:_COLUMNS]] for row in read_rows(raw))


def _build(read: Reader, options: Mapping[str, Any]) -> Cleaned:
    if options["version"] == "alaska":
        return _alaska(read, options["language"])
    listed = hispanic_counties(read)
    if options["version"] == "determined":
        note = (
            "Every area here is covered, so these are true positives only. Counts are rounded by the Bureau."
        )
        return Cleaned(columns=listed, schema=rule_schema(), rows=187, cleaning=_LISTED, note=note)
    columns, steps = simulate(read.columns(BASE, numbers=_BASE_NUMBERS), listed, seed=options["seed"])
    schema = rule_schema(Column("simulated", Domain.integers(0, 1)))
    note = (
        "PARTLY SYNTHETIC: the 187 rows with simulated = 0 are published figures of real counties. Every "
        "other row has the name, the code and the voting-age citizens (s) of a real county that was not "
        "determined, but its sp and spe are drawn at random and say nothing about that county."
    )
    return Cleaned(
        columns=columns,
        schema=schema,
        rows=3_129,
        cleaning=(*_LISTED, *steps),
        note=note,
        synthetic="partly",
    )


_BASE_NUMBERS = ("total_pop", "hispanic_pct", "voting_age_citizens")
_LISTED = (
    "only county rows of the Hispanic language group (187)",
    "sp is VACLEP and spe is ILLIT of that row; s is VACIT of the area's Total Population row",
)


def hispanic_counties(read: Reader) -> dict[str, Any]:
    """Return the 187 counties determined for the Hispanic language group, with s, sp and spe."""
    raw = read.columns(DETERMINED, numbers=("VACIT", "VACLEP", "ILLIT"))
    raw = keep_rows(raw, raw["LEVEL"] == "County")
    total = keep_rows(raw, raw["LANGUAGE"] == "Total Population")
    citizens = dict(zip(total["GEOID"], total["VACIT"], strict=True))
    group = keep_rows(raw, raw["LANGUAGE"] == "Hispanic")
    return {
        "geoid": group["GEOID"],
        "area": group["NAMELSAD"],
        "s": np.array([citizens[geoid] for geoid in group["GEOID"]]).astype(np.int64),
        "sp": group["VACLEP"].astype(np.int64),
        "spe": group["ILLIT"].astype(np.int64),
        "covered": np.ones(len(group["GEOID"]), dtype=np.int64),
    }


def _alaska(read: Reader, language: str) -> Cleaned:
    raw = read.columns(ALASKA, integers=("FLAG_COV",), numbers=("VACLEP", "ILLIT", "LEPPCT"))
    citizens = _citizens(raw["GEOID"], raw["VACLEP"], raw["LEPPCT"])
    columns = {
        "geoid": np.array([geoid.zfill(5) for geoid in raw["GEOID"]], dtype=object),
        "area": raw["NAMELSAD"],
        "language": raw["LANGUAGE"],
        "s": np.array([citizens[geoid] for geoid in raw["GEOID"]], dtype=np.int64),
        "sp": raw["VACLEP"].astype(np.int64),
        "spe": raw["ILLIT"].astype(np.int64),
        "covered": raw["FLAG_COV"],
    }
    steps: tuple[str, ...] = (
        "sp is VACLEP, spe is ILLIT, covered is FLAG_COV, which the rule for Native lands may set too",
        (
            "s recovered from VACLEP and its percentage LEPPCT in the row where that is largest, to the "
            "nearest 5"
        ),
    )
    if language != "all":
        columns = keep_rows(columns, columns["language"] == language)
        steps = (*steps, f"only the language group {language}")
    note = (
        "s is not in the file. It is recovered from a percentage with four decimals: exact in 25 of 29 "
        "boroughs, within 15 people in the four largest."
    )
    rows = 390 if language == "all" else 29
    return Cleaned(columns=columns, schema=rule_schema(), rows=rows, cleaning=steps, note=note)


def _citizens(areas: Any, count: Any, percentage: Any) -> dict[str, int]:
    """Return the number of voting-age citizens of each area, from a count and its percentage of them."""
    best: dict[str, tuple[float, float]] = {}
    for area, part, share in zip(areas, count, percentage, strict=True):
        if share > best.get(area, (0.0, 0.0))[1]:
            best[area] = (part, share)
    return {area: 5 * round(20 * part / share) for area, (part, share) in best.items()}


ENTRY = read_entry("section203", build=_build, converters=(first_columns,))
DETERMINED, ALASKA, BASE = ENTRY.files


_ROUNDS = 200


def simulate(
    base: Mapping[str, Any], listed: Mapping[str, Any], *, seed: int
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return a county table: published figures where there are any, simulated ones elsewhere.

    A line is fitted to the 187 published counties: the log of the group with limited English
    against the log of the Hispanic population. Every other county with a Hispanic person is drawn
    around that line and drawn again as long as the rule covers it, since it was not determined.

    Parameters
    ----------
    base : mapping
        Real county figures.
    listed : mapping
        The published rows.
    seed : int
        Seed of the simulation.
    """
    people = np.rint(base["hispanic_pct"] * base["total_pop"] / 100)
    known = dict(zip(base["county_fips"], people, strict=True))
    there = np.log(np.array([known[geoid] for geoid in listed["geoid"]]))
    slope, intercept = np.polyfit(there, np.log(listed["sp"]), 1)
    spread = float(np.std(np.log(listed["sp"]) - slope * there - intercept, ddof=2))
    schooling = np.log(listed["spe"] / listed["sp"])
    states = np.array([geoid[:2] for geoid in base["county_fips"]])
    wanted = (people >= 1) & (states != "72") & ~np.isin(base["county_fips"], listed["geoid"])
    s = base["voting_age_citizens"][wanted].astype(np.int64)
    middle = slope * np.log(people[wanted]) + intercept
    law = (middle, spread, float(schooling.mean()), float(schooling.std(ddof=1)))
    sp, spe = _draw_not_covered(Draws("section203", seed), s, law)
    counties = np.array(
        [
            f"{county}, {state}"
            for county, state in zip(base["county"][wanted], base["state"][wanted], strict=True)
        ],
        dtype=object,
    )
    drawn = {
        "geoid": base["county_fips"][wanted],
        "area": counties,
        "s": s,
        "sp": sp,
        "spe": spe,
        "covered": np.zeros(len(s), dtype=np.int64),
    }
    columns = {name: np.concatenate([listed[name], drawn[name]]) for name in drawn}
    columns["simulated"] = np.repeat([0, 1], [len(listed["geoid"]), len(s)])
    line = f"log sp = {intercept:.3f} + {slope:.3f} log(Hispanic population), spread {spread:.3f}"
    return columns, (
        f"fitted to the 187: {line}; log(spe/sp) has mean {law[2]:.3f} and spread {law[3]:.3f}",
        (
            "every other county of the 50 states and DC with a Hispanic person drawn from that, again and "
            "again until the rule does not cover it, since the Bureau did not determine it"
        ),
        (
            "s of these is the voting-age citizens of the American Community Survey; counts rounded as the "
            "Bureau rounds"
        ),
    )


def _draw_not_covered(
    draws: Draws, s: NDArray[np.int64], law: tuple[Any, float, float, float]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw counts that the rule does not cover; what is still covered after all rounds is cut back."""
    middle, spread, mean, width = law
    sp, spe = np.zeros_like(s), np.zeros_like(s)
    waiting = np.arange(len(s))
    for _ in range(_ROUNDS):
        drawn = np.exp(middle[waiting] + spread * draws.normal(len(waiting)))
        sp[waiting] = np.minimum(_round_as_bureau(drawn), s[waiting])
        share = np.minimum(np.exp(mean + width * draws.normal(len(waiting))), 1)
        spe[waiting] = np.minimum(_round_as_bureau(draws.binomial(sp[waiting], share)), sp[waiting])
        waiting = waiting[covered(s, sp, spe)[waiting]]
    sp[waiting] = np.minimum(s[waiting] // 20, 10_000)
    spe[waiting] = np.minimum(spe[waiting], sp[waiting])
    return sp, spe


def _round_as_bureau(count: Any) -> NDArray[np.int64]:
    """Round as the Bureau does: zero stays zero, 1 to 7 become 4, the rest goes to the nearest 5."""
    whole = np.rint(count).astype(np.int64)
    return np.where(whole == 0, 0, np.where(whole < 8, 4, 5 * np.rint(whole / 5).astype(np.int64)))
