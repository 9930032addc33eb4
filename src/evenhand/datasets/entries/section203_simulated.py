"""A full county table for the minority-language rule, simulated around real county figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.datasets.draws import Draws
from evenhand.datasets.entries.rule203 import covered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["simulate"]

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
    sp, spe = _not_covered(Draws("section203", seed), s, law)
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


def _not_covered(
    draws: Draws, s: NDArray[np.int64], law: tuple[Any, float, float, float]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw counts that the rule does not cover; what is still covered after all rounds is cut back."""
    middle, spread, mean, width = law
    sp, spe = np.zeros_like(s), np.zeros_like(s)
    waiting = np.arange(len(s))
    for _ in range(_ROUNDS):
        drawn = np.exp(middle[waiting] + spread * draws.normal(len(waiting)))
        sp[waiting] = np.minimum(_rounded(drawn), s[waiting])
        share = np.minimum(np.exp(mean + width * draws.normal(len(waiting))), 1)
        spe[waiting] = np.minimum(_rounded(draws.binomial(sp[waiting], share)), sp[waiting])
        waiting = waiting[covered(s, sp, spe)[waiting]]
    sp[waiting] = np.minimum(s[waiting] // 20, 10_000)
    spe[waiting] = np.minimum(spe[waiting], sp[waiting])
    return sp, spe


def _rounded(count: Any) -> NDArray[np.int64]:
    """Round as the Bureau does: nothing stays nothing, 1 to 7 become 4, the rest goes to the nearest 5."""
    whole = np.rint(count).astype(np.int64)
    return np.where(whole == 0, 0, np.where(whole < 8, 4, 5 * np.rint(whole / 5).astype(np.int64)))
