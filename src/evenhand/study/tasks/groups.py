"""The groups of a study: who is in which, which are pooled, and what they are by each protected column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._notes import Note
from evenhand.measure import RATES, group_report
from evenhand.report.language import language_now
from evenhand.schema.crossing import OTHER_GROUPS, compared_labels
from evenhand.schema.levels import code_dtype, unused_label
from evenhand.schema.text import brief
from evenhand.study.page.words import words_in
from evenhand.study.tasks.base import refuse_field

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from evenhand.measure import GroupReport
    from evenhand.schema import Schema
    from evenhand.study.tasks.base import Codes, Prepared


@dataclass(frozen=True, eq=False)
class GroupedRows:
    """Rows by group: each row's as a place among the labels, beyond them where people do not state theirs.

    `places` has the place of each code of the schema's group column. Notes say who does not state a group,
    which combinations nobody has, and which groups are pooled.
    """

    codes: Codes
    labels: tuple[str, ...]
    sizes: tuple[int, ...]
    privileged: int | None
    places: tuple[int, ...]
    notes: tuple[Note, ...] = ()


def group_rows(schema: Schema, codes: Mapping[str, Codes]) -> GroupedRows:
    """Return the group of each row, from sizes alone: no outcome is looked at.

    Combinations that nobody has are no groups. Groups of fewer people than the schema's `pool_below` are one,
    but for the privileged one.
    """
    column, own = schema.group_column, schema.group_codes(codes)
    counts = np.bincount(own, minlength=column.size)
    labels = _labels(schema, counts)
    sizes = counts[: len(labels)]
    privileged = schema.privileged_code
    kept = [place for place in range(len(labels)) if schema.crossing is None or sizes[place]]
    if privileged is not None and privileged not in kept:
        why = "names a combination that nobody has. Hint: name another one, or leave it out."
        refuse_field("schema.roles.privileged", why)
    most = schema.pool_below or 0
    pooled = [place for place in kept if sizes[place] < most and place != privileged]
    alone = [place for place in kept if place not in pooled] if len(pooled) > 1 else kept
    shown = [labels[place] for place in alone]
    notes = [*_not_stated(schema, counts), *_empty(schema, len(kept))]
    if len(alone) < len(kept):
        shown.append(unused_label(shown, OTHER_GROUPS))
        names = [f"'{brief(labels[place])}'" for place in pooled]
        say = words_in(language_now()).say
        notes.append(Note("method", say("method.pooled", groups=names, most=most, label=shown[-1])))
    elif pooled:
        say = words_in(language_now()).say
        notes.append(
            Note("method", say("method.not_pooled", group=f"'{brief(labels[pooled[0]])}'", most=most))
        )
    is_ignored = len(pooled) == 1 and all(sizes[place] < most for place in kept)
    _refuse_one_group(schema, len(kept), 1 if is_ignored else len(shown))
    places = np.full(column.size, len(shown), dtype=np.int64)  # where no group is stated
    places[kept] = len(shown) - 1
    places[alone] = np.arange(len(alone))
    moved = own if len(alone) == len(labels) else places[own].astype(code_dtype(len(shown) + 1))
    return GroupedRows(
        moved,
        tuple(shown),
        tuple(np.bincount(moved, minlength=len(shown))[: len(shown)].tolist()),
        None if privileged is None else int(places[privileged]),
        tuple(places.tolist()),
        tuple(map(Note.of, notes)),
    )


def _refuse_one_group(schema: Schema, kept: int, shown: int) -> None:
    """Refuse a crossing or a pool of which fewer than two groups are left."""
    if schema.crossing is not None and kept < 2:
        number = "one combination only" if kept else "none"
        why = f"crosses '{brief(schema.protected_name)}', of which people have {number}"
        refuse_field("schema.roles.protected", f"{why}: there is nothing to compare. Hint: name others.")
    if shown < 2 <= kept:
        why = "makes one group of all: there is nothing to compare. Hint: choose a smaller number."
        refuse_field("schema.roles.pool_below", why)


def _labels(schema: Schema, counts: NDArray[Any]) -> tuple[str, ...]:
    """Return the labels of the groups; "other" is one of them only if somebody is in it.

    People who do not state their group are in none, unless the schema says that they are one.
    """
    column = schema.group_column
    labels = compared_labels(column, missing_group=schema.missing_group and schema.crossing is None)
    if schema.not_stated is not None or (column.has_other and not counts[-1]):
        return labels[:-1]
    return labels


def _not_stated(schema: Schema, counts: NDArray[Any]) -> tuple[str, ...]:
    """Say how many people do not state their group; nothing if all do."""
    people = 0 if schema.not_stated is None else int(counts[schema.not_stated])
    if not people:
        return ()
    column = f"'{brief(schema.protected_name)}'"
    return (words_in(language_now()).say("method.unstated", people=people, column=column),)


def _empty(schema: Schema, groups: int) -> tuple[Note, ...]:
    """Say how many of all combinations nobody has; nothing if each is somebody's."""
    if schema.crossing is None or groups == schema.crossing.combinations:
        return ()
    slots = {"columns": brief(schema.protected_name), "combinations": schema.crossing.combinations}
    say = words_in(language_now()).say
    return (Note("method", say("method.empty", empty=schema.crossing.combinations - groups, **slots)),)


# --- margins --------------------------------------------------------------------------------------


def report_groups(
    prepared: Prepared,
    rows: NDArray[np.intp],
    predicted: NDArray[Any],
    scores: NDArray[np.float64] | None,
) -> tuple[GroupReport, dict[str, dict[str, float]]]:
    """Return the report on test rows whose people are in a group, and the rates of all groups and margins."""
    facts, weights = prepared.facts, prepared.weights_of(rows)
    report = group_report(
        prepared.target[rows],
        predicted,
        prepared.group[rows],
        privileged=facts.privileged,
        groups=range(len(facts.groups)),
        scores=scores,
        weights=weights,
    )
    return report, rates_by_group(report, facts.groups) | margin_rates(prepared, rows, predicted, weights)


def rates_by_group(report: GroupReport, labels: Iterable[str]) -> dict[str, dict[str, float]]:
    """Return the rates of each group of a report, and how many people of it are tested, by its label."""
    found = {}
    for place, label in enumerate(labels):
        found[label] = {name: float(getattr(report.rates[place], name)) for name in RATES}
        found[label]["people"] = float(report.table.people[place])
    return found


def margin_rates(
    prepared: Prepared,
    rows: NDArray[np.intp],
    predicted: NDArray[Any],
    weights: NDArray[np.float64] | None = None,
) -> dict[str, dict[str, float]]:
    """Return the rates of the groups of each crossed column by itself; none where nothing is crossed.

    `rows` are the test rows whose people are in a group, of whom `predicted` is predicted.
    """
    rates: dict[str, dict[str, float]] = {}
    for column, labels in prepared.facts.margins.items():
        codes = prepared.codes[column][rows]
        rates |= rates_by_group(
            group_report(prepared.target[rows], predicted, codes, groups=range(len(labels)), weights=weights),
            labels,
        )
    return rates
