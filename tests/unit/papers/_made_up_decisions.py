"""Records of fioretto2021 made from small tables of invented districts and counties."""

from copy import deepcopy
from functools import lru_cache

import numpy as np
import pytest

from evenhand.datasets.entries.counties import covered
from evenhand.papers.claims import Evidence
from evenhand.papers.fioretto2021 import allotment as fioretto2021_allotment
from evenhand.papers.fioretto2021 import data as fioretto2021_data
from evenhand.papers.fioretto2021 import trials as fioretto2021_language
from evenhand.papers.fioretto2021 import trials as fioretto2021_trials
from evenhand.papers.fioretto2021.data import Areas, Districts

UNION = "Union County, New Mexico"
SIZES = {"allotment": 3, "language": 2, "draws": 2, "language-draws": 2, "counties": 6, "proxies": 6}


def made_up_districts(name):
    """Return 90 districts, a third of them in the state of the figures, or those alone."""
    draw = np.random.default_rng(7)
    counts = np.exp(draw.normal(8.6, 1.5, 90)).astype(np.int64) + 1
    chosen = np.arange(90) % 3 == 0
    weights = np.where(chosen, 20_000, draw.integers(7_000, 15_000, 90))
    kept = chosen if name == "new-york" else np.ones(90, dtype=bool)
    if name == "poverty":
        counts = counts // 5 + 1
    return Districts(counts[kept], weights[kept], chosen[kept])


def made_up_areas(name):
    """Return 66 counties around the thresholds; the last 36 only in the simulated table."""
    draw = np.random.default_rng(8)
    s = np.exp(draw.normal(9.5, 1.3, 66)).astype(np.int64) + 200
    sp = (s * np.exp(draw.normal(-3.0, 0.8, 66))).astype(np.int64) + 1
    spe = (sp * np.exp(draw.normal(-3.9, 1.0, 66))).astype(np.int64)
    s[:4], sp[:4], spe[:4] = 400_000, (9_990, 12_000, 30_000, 10_010), (300, 400, 500, 100)
    s[4], sp[4], spe[4] = 3305, 160, 20
    names = np.array([UNION if place == 4 else f"County {place}" for place in range(66)], dtype=object)
    kept = slice(0, 66 if name == "simulated" else 30)
    drawn = (np.arange(66) >= 30)[kept]
    columns = {"s": s[kept], "sp": sp[kept], "spe": spe[kept]}
    return Areas(names[kept], columns, covered(**columns), drawn)


def _temperatures(epsilon):
    """Return about the temperatures of an epsilon: finding them takes a second."""
    squared = float(epsilon) ** -2
    found = {fioretto2021_allotment.EVENEST: 0.17 * squared, fioretto2021_allotment.BEST: 0.75 * squared}
    return found | {f"T = {each:g} b^2": each * squared for each in fioretto2021_allotment.STRENGTHS}


def standing_in(monkeypatch):
    """Let every module of the paper read the invented tables, and draw little."""
    monkeypatch.setattr(fioretto2021_data, "load_districts", made_up_districts)
    monkeypatch.setattr(fioretto2021_data, "load_areas", made_up_areas)
    monkeypatch.setattr(fioretto2021_allotment, "temperatures", _temperatures)
    monkeypatch.setattr(fioretto2021_trials, "PART", 40)
    monkeypatch.setattr(fioretto2021_trials, "REPETITIONS", 300)
    monkeypatch.setattr(fioretto2021_language, "GROUPS", 3)
    fioretto2021_language.part_errors.cache_clear()


@lru_cache(maxsize=1)
def _records():
    with pytest.MonkeyPatch.context() as monkeypatch:
        standing_in(monkeypatch)
        found = {each.name: each.run(None) for each in fioretto2021_trials.paper_trials(SIZES)}
    fioretto2021_language.part_errors.cache_clear()
    return found


def evidence():
    """Return the records of all trials on the invented tables, to be changed at will."""
    return Evidence({}, None, deepcopy(_records()))
