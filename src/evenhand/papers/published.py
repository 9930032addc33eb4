"""Runs that the authors of a paper published, where their table is on this machine."""

from __future__ import annotations

import gzip
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.datasets.download.files import places
from evenhand.datasets.download.parsing import parse_csv
from evenhand.measure import MEASURES
from evenhand.study.results.results import Results
from evenhand.study.store.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evenhand.papers.trials import Values
    from evenhand.study.plan.cells import Setting
    from evenhand.study.plan.facts import Facts
    from evenhand.study.plan.plan import Plan

_RUNS = 20


@dataclass(frozen=True, eq=False)
class Published:
    """Published values by study, setting's id and measure, one per seed.

    `same_seeds` tells whether our repeat r has the split and the model of the value at place r.
    """

    runs_of: Mapping[tuple[str, str, str], Values] = field(repr=False)
    same_seeds: bool

    def has(self, study: str) -> bool:
        """Return whether runs of a study are among them."""
        return any(name == study for name, _, _ in self.runs_of)

    def runs(self, study: str, setting: Setting, measure: str) -> Values | None:
        """Return the published values, or None if there are none."""
        return self.runs_of.get((study, setting.id, measure))

    def mean(self, study: str, setting: Setting, measure: str) -> float | None:
        """Return the mean of the published values, or None if there are none."""
        found = self.runs(study, setting, measure)
        return None if found is None or not np.isfinite(found).any() else float(np.nanmean(found))

    def spread(self, study: str, setting: Setting, measure: str) -> float | None:
        """Return the standard deviation of the published values, or None without two of them."""
        found = self.runs(study, setting, measure)
        known = np.array([]) if found is None else found[np.isfinite(found)]
        return float(known.std(ddof=1)) if len(known) > 1 else None


def read_published_columns(stem: str, *, numbers: tuple[str, ...]) -> dict[str, Any] | None:
    """Return a table that the authors published as columns, or None if it is not on this machine.

    `stem` is the name of the file without ``.csv`` or ``.csv.gz``; it is looked for where data sets are.
    Columns in `numbers` hold numbers, blanks as NaN, the others texts.
    """
    for place in places(None):
        packed, plain = (place.folder / f"{stem}.csv{end}" for end in (".gz", ""))
        if packed.is_file():
            return parse_csv(gzip.decompress(packed.read_bytes()), numbers=numbers)
        if plain.is_file():
            return parse_csv(plain.read_bytes(), numbers=numbers)
    return None


def load_runs(
    stem: str,
    keys: Sequence[str],
    measures: Mapping[str, str],
    place: Callable[..., tuple[str, Setting]],
    *,
    texts: Sequence[str],
    same_seeds: bool,
) -> Published | None:
    """Return the runs of a table that the authors published, or None if it is not on this machine.

    `keys` are the columns that tell what a run is of, its seed last, and `texts` those of them that are no
    numbers; `measures` has our measures with the published columns. `place` makes of the cells of a run,
    without the seed, its study and setting.
    """
    numbers = (*(key for key in keys if key not in texts), *measures.values())
    columns = read_published_columns(stem, numbers=numbers)
    if columns is None:
        return None
    runs: dict[tuple[str, str, str], Any] = {}
    for row, (*cells, seed) in enumerate(zip(*(columns[key].tolist() for key in keys), strict=True)):
        study, setting = place(*cells)
        for measure, column in measures.items():
            known = runs.setdefault((study, setting.id, measure), np.full(_RUNS, np.nan))
            known[int(seed)] = columns[column][row]
    return Published(runs, same_seeds=same_seeds)


def results_of(published: Published, study: str, plan: Plan, facts: Facts) -> Results:
    """Return the published runs of a study as results, so that findings can be judged by them too.

    `plan` has the settings and as many repeats as were published; what was not is left out. `facts` are those
    of our own study of the same data.
    """
    measures = {measure for name, _, measure in published.runs_of if name == study}
    outcomes = []
    for cell in plan.cells():
        known = {measure: published.runs(study, cell.setting, measure) for measure in measures}
        values = {
            measure: float(runs[cell.repeat])
            for measure, runs in known.items()
            if runs is not None and cell.repeat < len(runs)
        }
        if any(math.isfinite(value) for value in values.values()):
            outcomes.append(Outcome(cell, measures=dict.fromkeys(MEASURES, math.nan) | values))
    return Results(plan, facts, outcomes)
