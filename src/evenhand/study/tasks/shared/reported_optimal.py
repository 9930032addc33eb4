"""What people report under the mechanism "optimal": its channel follows what is known of the groups."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.collect.estimates.group_rates import group_rates
from evenhand.collect.fairest.group_outcomes import GroupOutcomes
from evenhand.collect.joint.build import optimal_strategy
from evenhand.study.tasks.shared.optimal_setting import OptimalWay
from evenhand.study.tasks.shared.protection import strategy_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.collect.joint.strategy import JointReports, Strategy
    from evenhand.privacy.randomness import SeededSource
    from evenhand.schema import Schema
    from evenhand.study.plan.cells import Setting

    Codes = Mapping[str, NDArray[Any]]

_FEWEST = 100  # people of a pilot, unless they would be more than half


class People(NamedTuple):
    """Codes of the columns, and labels, of some rows."""

    codes: Codes
    target: NDArray[np.uint8]


def pilot_size(people: int, share: float) -> int:
    """Return how many people are in a pilot: the share, at least 100, or half where these are more than half.

    >>> pilot_size(10_000, 0.1), pilot_size(500, 0.1), pilot_size(60, 0.1), pilot_size(60, 0.9)
    (1000, 100, 30, 54)
    """
    return max(math.ceil(share * people), min(_FEWEST, people // 2))


def optimal_columns(
    rows: People, *, setting: Setting, schema: Schema, encoder: str, source: SeededSource, everybody: People
) -> dict[str, NDArray[Any]]:
    """Return what the people in the rows report.

    Parameters
    ----------
    rows : People
        The training rows.
    setting : Setting
        Of the protocol ``"optimal"``.
    schema, encoder
        As for :func:`evenhand.study.tasks.shared.reported.reported_columns`.
    source : SeededSource
        Of this cell, or of this cell's fold, alone. Who is in a pilot, what they report, noise and all other
        reports have streams of their own.
    everybody : People
        All rows, test rows included; read only where outcomes are ``"exact"``.
    """
    way = OptimalWay.of(setting)
    if way.outcomes != "pilot":
        known = _find_outcomes(way, rows, everybody, setting, schema, source)
        made = _strategy(known, way, setting, schema)
        return _as_features(made, _sent(made, rows.codes, source.for_cell("reports")), encoder)
    people = len(rows.target)
    size = pilot_size(people, way.pilot)
    draws = source.for_cell("who is in the pilot").words(people)
    asked = np.zeros(people, dtype=bool)
    asked[np.argpartition(draws, size - 1)[:size]] = True
    first = strategy_of(setting, schema)
    sent = _sent(first, _taken(rows.codes, asked), source.for_cell("pilot"))
    known = GroupOutcomes.from_pilot(_estimated(sent, rows.target[asked], setting, schema))
    made = _strategy(known, way, setting, schema)
    rest = _sent(made, _taken(rows.codes, ~asked), source.for_cell("reports"))
    return _joined(asked, _as_features(first, sent, encoder), _as_features(made, rest, encoder))


def _find_outcomes(
    way: OptimalWay, rows: People, everybody: People, setting: Setting, schema: Schema, source: SeededSource
) -> GroupOutcomes:
    if isinstance(way.outcomes, GroupOutcomes):
        return way.outcomes
    counted = everybody if way.outcomes == "exact" else rows
    group, k = _groups(counted.codes, setting, schema)
    if way.outcomes == "exact":
        return GroupOutcomes.exact(counted.target, group, k=k)
    noise = source.for_cell("noise")
    return GroupOutcomes.noisy(counted.target, group, k=k, epsilon=way.budget, rng=noise)


def _groups(codes: Codes, setting: Setting, schema: Schema) -> tuple[NDArray[Any], int]:
    """Return each person's group and how many groups there are: values of a column, or combinations."""
    columns = schema.sensitive if setting.option("strategy") == "combined" else (schema.protected_name,)
    shape = tuple(schema[name].size for name in columns)
    return np.ravel_multi_index([codes[name].astype(np.int64) for name in columns], shape), math.prod(shape)


def _estimated(sent: JointReports, target: NDArray[np.uint8], setting: Setting, schema: Schema) -> Any:
    """Return the rates of the true groups, from the outcomes and reports of the pilot."""
    if setting.option("strategy") == "combined":
        return group_rates(target, sent.sent[0])
    protected = schema.protected_name
    if sent.asked is not None:
        target = target[sent.asked == sent.columns.index(protected)]
    return group_rates(target, sent.by_column[protected])


def _strategy(known: GroupOutcomes, way: OptimalWay, setting: Setting, schema: Schema) -> Strategy:
    """Return what everybody but a pilot reports by.

    Where nobody is known to have outcome 1, no distance is a share of the overall rate; differences are then
    made least, of which there are none either.
    """
    options = way.options if known.overall > 0 else way.options | {"kind": "difference"}
    return optimal_strategy(
        {name: schema[name].size for name in schema.sensitive},
        epsilon=setting.epsilon or 0,
        outcomes=known,
        protected=None if schema.crossing is not None else schema.protected_name,
        strategy=setting.option("strategy"),
        split=setting.option("split"),
        target=way.target,
        **options,
    )


def _taken(codes: Codes, rows: NDArray[np.bool_]) -> Codes:
    return {name: column[rows] for name, column in codes.items()}


def _sent(strategy: Strategy, codes: Codes, source: SeededSource) -> JointReports:
    return strategy.privatize({column: codes[column] for column in strategy.columns}, rng=source)


def _as_features(strategy: Strategy, reports: JointReports, encoder: str) -> dict[str, NDArray[Any]]:
    if encoder == "codes":
        return {column: np.asarray(part.values) for column, part in reports.by_column.items()}
    return dict(strategy.indicators(reports))


def _joined(
    asked: NDArray[np.bool_], first: Mapping[str, NDArray[Any]], rest: Mapping[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """Return what the pilot and all others reported, in the order of the rows."""
    joined = {}
    for column, part in rest.items():
        both = np.empty((asked.size, *part.shape[1:]), dtype=part.dtype)
        both[asked], both[~asked] = first[column], part
        joined[column] = both
    return joined
