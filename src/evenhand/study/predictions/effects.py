"""The effects of predictions on each group, beside everybody outside the group.

Groups differ in how many of them qualify, so rates are those of the people whom an effect can reach: of those
who qualify how many are refused, of those who do not how many are selected. A group may share people with
another, as a crossing does with its margins; limits of their comparison allow for that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.answer.effects import EVERYBODY, EffectTable, Observation, Option, read_matters
from evenhand.answer.status import judge
from evenhand.learn.parity.cut_offs import Scored, decide_again, find_cut_offs
from evenhand.measure.contrasts import rate_of
from evenhand.measure.counts import PLACE, Tables, count_table
from evenhand.measure.decisions import OWNER
from evenhand.measure.disparities import COMPLEMENTS
from evenhand.measure.intervals import normal_quantile
from evenhand.measure.ranking import rank_scores
from evenhand.study.predictions.audit import RATES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from evenhand.measure.contrasts import Contrast
    from evenhand.study.predictions.audit import PredictionAudit
    from evenhand.study.predictions.columns import Predictions

DECISIONS = "decisions"
OUTSIDE = "everybody outside the group"
LACKING = "cut-offs for those who lack"
ALL = "cut-offs for every group"
_NOTHING: NDArray[np.float64] = np.array([])


def effects(audit: PredictionAudit) -> EffectTable:
    """Return what each group gets from predictions, beside everybody outside it whose group is stated.

    Where a group clearly lacks something and there are scores, cut-offs of its own are tried too.
    """
    people = _People.count(audit.rows)
    in_all = next(_observe_everybody(audit, OUTSIDE, audit.rows.predicted))
    everybody = _observe_everybody(audit, DECISIONS, audit.rows.predicted)
    table = EffectTable(
        (Option(OUTSIDE), Option(DECISIONS, OUTSIDE)),
        (in_all, *everybody, *people.observe(audit, DECISIONS, people.now)),
        DECISIONS,
        margins=people.margins,
        unwanted=bool(audit.unwanted),
        context=frozenset(["selected"] if audit.is_labelled else []),
        matters=read_matters(audit.matters, owner=OWNER),
        level=audit.level,
    )
    return _add_cut_offs(audit, people, table)


@dataclass(frozen=True, eq=False)
class _People:
    """Rows counted by group and, of crossed columns, by the value of each; nobody is in two strata."""

    codes: NDArray[np.intp]
    stated: NDArray[np.bool]
    members: dict[str, NDArray[np.bool]]
    margins: dict[str, tuple[str, ...]]
    now: Tables
    rows: Tables

    @classmethod
    def count(cls, rows: Predictions) -> _People:
        columns = [rows.group + 1, *(codes + 1 for codes, _ in rows.margins.values())]
        sizes = [len(rows.labels) + 1, *(len(labels) + 1 for _, labels in rows.margins.values())]
        found, codes = np.unique(np.ravel_multi_index(columns, sizes), return_inverse=True)
        strata = np.stack(np.unravel_index(found, sizes), axis=1) - 1
        members = {key: strata[:, 0] == place for place, key in enumerate(rows.keys)}
        for at, (column, (_, labels)) in enumerate(rows.margins.items(), start=1):
            for place, label in enumerate(labels):
                key = rows.margin_key(column, label)
                same = members.get(key, np.zeros(len(strata), bool))  # two values may be called the same
                members[key] = same | ((strata[:, at] == place) & (strata[:, 0] >= 0))
        margins = {
            key: tuple(map(rows.margin_key, rows.columns, parts))
            for key, parts in zip(rows.keys, rows.parts, strict=False)
            if rows.margins and len(parts) == len(rows.columns)
        }
        tables = (_tables(rows, codes, rows.predicted, weighted=each) for each in (True, False))
        return cls(codes, strata[:, 0] >= 0, members, margins, *tables)

    def observe(self, audit: PredictionAudit, option: str, decided: Tables) -> Iterator[Observation]:
        """Return the effects of decisions on each group; what is due is what others have now.

        A remedy is measured from the better of that and of what the group itself has now: what it takes from
        a group is a harm too.
        """
        for effect, rate in RATES.items() if audit.is_labelled else [("selected", "selection")]:
            counted = self.rows.groups.trials[:, PLACE[COMPLEMENTS.get(rate, rate)]]
            for group, chosen in self.members.items():
                others = self.stated & ~chosen
                size, rest = float(counted[chosen].sum()), float(counted[others].sum())
                enough = min(size, rest) if min(size, rest) >= audit.fewest else 0.0
                seen = Observation(option, group, effect, _NOTHING, _NOTHING, size, "rows", tested=enough)
                if not (_is_counted(self.now, rate, chosen) and _is_counted(self.now, rate, others)):
                    yield seen
                    continue
                moved = not np.array_equal(decided.cells[chosen], self.now.cells[chosen])
                after = rate_of(decided if moved else self.now, rate, chosen, 1000.0)
                due = rate_of(self.now, rate, others, 1000.0)
                if decided is not self.now:
                    better = max if effect == "selected" and not audit.unwanted else min
                    own = rate_of(self.now, rate, chosen, 1000.0)
                    due = better(due, own, key=lambda rate: rate.value)
                yield _fill(seen, after, due)


def _fill(seen: Observation, after: Contrast, due: Contrast) -> Observation:
    low, high = (after - due).limits(0.95)
    return replace(
        seen,
        after=np.array([after.value]),
        due=np.array([due.value]),
        rate=after.value,
        due_rate=due.value,
        error=(high - low) / (2 * normal_quantile(0.05)),
        contrasts=(after, due),
    )


def _is_counted(tables: Tables, rate: str, chosen: NDArray[np.bool]) -> bool:
    """Return whether anybody of some strata counts in a rate, which those of weight 0 do not."""
    return bool(tables.groups.trials[chosen, PLACE[COMPLEMENTS.get(rate, rate)]].sum() > 0)


def _tables(rows: Predictions, codes: Any, predicted: Any, *, weighted: bool = True) -> Tables:
    weights, groups = rows.weights if weighted else None, range(int(codes.max()) + 1)
    return Tables.of(count_table(rows.truth, predicted, codes, groups=groups, weights=weights), None)


def _observe_everybody(
    audit: PredictionAudit, option: str, predicted: NDArray[np.uint8]
) -> Iterator[Observation]:
    """Return what decisions come to in all, and how well they tell people apart."""
    rows = audit.rows
    everybody = _tables(rows, np.zeros(len(predicted), np.intp), predicted)
    whole = np.ones(1, bool)
    size = float(everybody.groups.trials[0, PLACE["selection"]])
    now = float(audit.overall.successes[0, PLACE["selection"]])
    given = float(everybody.groups.successes[0, PLACE["selection"]])

    def tell(effect: str, after: float, due: float, people: float = float(len(predicted))) -> Observation:
        return Observation(option, EVERYBODY, effect, np.array([after]), np.array([due]), people, "exact")

    yield tell("in_all", given, now, size)
    if not audit.is_labelled:
        if given in {0.0, size}:  # without outcomes nobody can say that almost the same for all is no use
            yield tell("selected", 1000 * given / size, 1000 * now / size)
        return
    wrong, was_wrong = (
        1000 * (1 - float(each.rate("accuracy")[0])) for each in (everybody.groups, audit.overall)
    )
    yield tell("wrong", wrong, was_wrong)
    if not all(_is_counted(everybody, rate, whole) for rate in ("tpr", "fpr")):
        return
    yield tell("selected", 1000 * given / size, 1000 * now / size)
    found, alarms = (rate_of(everybody, rate, whole, 100.0) for rate in ("tpr", "fpr"))
    apart = Observation(option, EVERYBODY, "separation", _NOTHING, _NOTHING, size, "rows")
    nothing = found - found
    yield replace(_fill(apart, found - alarms, nothing), rate=math.nan, due_rate=math.nan)
    if rows.scores is not None and rows.truth is not None and predicted is rows.predicted:
        ranking = rank_scores(rows.truth, rows.scores, rows.weights)
        low, high = (100 * limit for limit in ranking.limits(0.95))
        error = (high - low) / (2 * normal_quantile(0.05))
        area = np.array([100 * ranking.area])
        yield Observation(option, EVERYBODY, "auc", area, 0 * area, size, "rows", error=error)


def cut_offs(audit: PredictionAudit, table: EffectTable) -> dict[str, dict[int, float]]:
    """Return the score from which on each remedy selects a group, by remedy and by the group's place."""
    return {name: find_cut_offs(scored, **how) for name, scored, how in _find_lacking(audit, table)}


def _add_cut_offs(audit: PredictionAudit, people: _People, table: EffectTable) -> EffectTable:
    """Return the table with cut-offs by group against what groups clearly lack, if they lack anything."""
    options, seen = list(table.options), list(table.observations)
    for name, scored, how in _find_lacking(audit, table):
        predicted = decide_again(scored, **how)
        options.append(Option(name, DECISIONS, is_remedy=True, simplicity=int(name == ALL)))
        seen += people.observe(audit, name, _tables(audit.rows, people.codes, predicted))
        seen += _observe_everybody(audit, name, predicted)
    return replace(table, options=tuple(options), observations=tuple(seen))


def _find_lacking(audit: PredictionAudit, table: EffectTable) -> Iterator[tuple[str, Scored, dict[str, Any]]]:
    """Yield each remedy where groups clearly lack something: whom it reaches, and who gets a cut-off.

    None is tried without scores, and with weights. A group of crossed columns lacks it too if it is on the
    side that hurts of a column that does.
    """
    rows = audit.rows
    page = [row for row in judge(table) if row.setting == DECISIONS and row.group != EVERYBODY]
    hurt = {row.group: row for row in page if table.hurts(row.effect) and row.status != "unjudged"}
    harmed = {group for group, row in hurt.items() if row.is_harm}
    if not harmed or rows.scores is None or rows.weights is not None:
        return
    judged = {place: key for place, key in enumerate(rows.keys) if key in hurt}
    lacking = [
        place
        for place, key in judged.items()
        if hurt[key].lack_by(hurt[key].change) > 0 and harmed & {key, *table.margins.get(key, ())}
    ]
    reached = np.ones(len(rows.predicted), bool)
    effect = next(iter(hurt.values())).effect  # one effect alone hurts
    if rows.truth is not None and effect != "selected":
        reached = rows.truth == (effect == "wrongly_refused")
    scored = Scored(rows.scores, rows.predicted, rows.group, reached)
    for name, places in ((LACKING, lacking), (ALL, list(judged))):
        if places:
            yield name, scored, {"places": places, "of_others": name == LACKING}
