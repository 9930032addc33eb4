"""Tell what the people in the training rows report, and how far apart their labels then seem.

The channel of the mechanism "optimal" follows what is known of the groups.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.collect.estimates.group_rates import group_rates
from evenhand.collect.fairest.group_outcomes import GroupOutcomes
from evenhand.collect.joint.build import optimal_strategy
from evenhand.study.tasks.shared.protection import strategy_of
from evenhand.study.tasks.shared.report_settings import NAME, OptimalWay

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.collect.joint.strategy import JointReports, Strategy
    from evenhand.privacy.randomness import SeededSource
    from evenhand.schema import Schema
    from evenhand.study.plan.cells import Setting
    from evenhand.study.plan.facts import Facts

    Codes = Mapping[str, NDArray[Any]]
    Sides = tuple[NDArray[np.int64], NDArray[np.int64]]

NOT_ASKED = 2
"""In the place of a label, that a person was asked another column."""

_FEWEST = 100  # people of a pilot, unless they would be more than half


class People(NamedTuple):
    """Codes of the columns, and labels, of some rows."""

    codes: Codes
    target: NDArray[np.uint8]


def reported_columns(
    codes: Codes,
    *,
    setting: Setting,
    schema: Schema,
    encoder: str,
    source: SeededSource,
    target: NDArray[np.uint8] | None = None,
    everybody: People | None = None,
) -> dict[str, NDArray[Any]]:
    """Return what is reported of the people whose codes these are; nothing where nothing is protected.

    `codes` are of the training rows, and of no others; `source` is of this cell, or of this cell's fold,
    alone. With the encoder ``"codes"`` a column's reports come as codes, else as indicators: a row per
    person, a column per value; of a target that people report, whether the report supports the positive
    outcome, or :data:`NOT_ASKED`. The protocol ``"optimal"`` reads the labels of the same rows, `target`,
    which are in the clear unless its outcomes are public, and with exact outcomes all rows, `everybody`.

    >>> from fractions import Fraction
    >>> import evenhand as eh
    >>> from evenhand.privacy.randomness import SeededSource
    >>> from evenhand.study.tasks.shared.report_settings import report_setting
    >>> schema = eh.datasets.load("causal", n=10).schema
    >>> codes = {"C": np.array([0, 1]), "A": np.array([1, 1]), "M": np.array([2, 0])}
    >>> setting = report_setting("oue", Fraction(1), "uniform", "independent")
    >>> found = reported_columns(
    ...     codes, setting=setting, schema=schema, encoder="one-hot", source=SeededSource(0)
    ... )
    >>> {column: part.shape for column, part in found.items()}
    {'C': (2, 2), 'A': (2, 2), 'M': (2, 3)}
    """
    if not setting.is_protected:
        return {}
    if setting.mechanism == NAME and target is not None:
        rows = People(codes, target)
        return optimal_columns(
            rows, setting=setting, schema=schema, encoder=encoder, source=source, everybody=everybody or rows
        )
    strategy = strategy_of(setting, schema)
    return _as_features(strategy, _send(strategy, codes, source), encoder, schema)


def fair_cut(setting: Setting, schema: Schema) -> float | None:
    r"""Return the score above which the true outcome is likelier than not, if it is not one half.

    A report supports the positive outcome with probability p if it is true and q if it is not, so that

    .. math:: P(\text{supported} \mid x) = q + (p - q) \, P(\text{true} \mid x),

    which is above :math:`(p + q) / 2` where the outcome is likelier than not.

    >>> from fractions import Fraction
    >>> from evenhand.schema import Column, Domain, Schema
    >>> from evenhand.study.tasks.shared.report_settings import report_setting
    >>> view = Column("view", Domain.categorical(["yes", "no", "unsure"]))
    >>> schema = Schema([view], sensitive="view", target="view", positive="yes")
    >>> print(f"{fair_cut(report_setting('grr', Fraction(1), 'uniform', 'independent'), schema):.4f}")
    0.3940
    """
    laws = strategy_of(setting, schema).protocols if setting.is_protected else {}
    law = laws.get(str(schema.target))
    return None if law is None or law.p_exact + law.q_exact == 1 else (law.p + law.q) / 2


def _send(strategy: Strategy, codes: Codes, source: SeededSource) -> JointReports:
    return strategy.privatize({column: codes[column] for column in strategy.columns}, rng=source)


def _as_features(
    strategy: Strategy, reports: JointReports, encoder: str, schema: Schema
) -> dict[str, NDArray[Any]]:
    if encoder == "codes":
        found = {column: np.asarray(part.values) for column, part in reports.by_column.items()}
    else:
        found = dict(strategy.indicators(reports))
    target = str(schema.target)
    if target in found:
        value = schema[target].domain.code(schema.positive)
        labels = strategy.protocols[target].indicators(reports.by_column[target])[:, value]
        found[target] = labels if reports.asked is None else np.full(len(reports), NOT_ASKED, labels.dtype)
        if reports.asked is not None:
            found[target][reports.asked == reports.columns.index(target)] = labels
    return found


# --- reports by the mechanism "optimal" -------------------------------------------------------------


def optimal_columns(
    rows: People, *, setting: Setting, schema: Schema, encoder: str, source: SeededSource, everybody: People
) -> dict[str, NDArray[Any]]:
    """Return what the people in the training rows report by the optimal channel.

    Who is in a pilot, what they report, noise and all other reports have streams of their own. Of
    `everybody`, test rows included, anything is read only where outcomes are ``"exact"``.
    """
    way = OptimalWay.of(setting)
    if way.outcomes != "pilot":
        known = way.known_outcomes or _count_outcomes(way, rows, everybody, setting, schema, source)
        made = _strategy(known, way, setting, schema)
        return _as_features(made, _send(made, rows.codes, source.for_cell("reports")), encoder, schema)
    people = len(rows.target)
    size = max(math.ceil(way.pilot * people), min(_FEWEST, people // 2))
    draws = source.for_cell("who is in the pilot").words(people)
    asked = np.zeros(people, dtype=bool)
    asked[np.argpartition(draws, size - 1)[:size]] = True
    pilot, others = ({name: column[part] for name, column in rows.codes.items()} for part in (asked, ~asked))
    first = strategy_of(setting, schema)
    sent = _send(first, pilot, source.for_cell("pilot"))
    known = GroupOutcomes.from_pilot(_estimated(sent, rows.target[asked], setting, schema))
    made = _strategy(known, way, setting, schema)
    rest = _as_features(made, _send(made, others, source.for_cell("reports")), encoder, schema)
    joined = {}
    for column, part in _as_features(first, sent, encoder, schema).items():
        joined[column] = np.empty((people, *part.shape[1:]), dtype=rest[column].dtype)
        joined[column][asked], joined[column][~asked] = part, rest[column]
    return joined


def _count_outcomes(
    way: OptimalWay, rows: People, everybody: People, setting: Setting, schema: Schema, source: SeededSource
) -> GroupOutcomes:
    """Return shares and rates of the groups, which are values of a column, or combinations."""
    columns = schema.sensitive if setting.option("strategy") == "combined" else (schema.protected_name,)
    shape = tuple(schema[name].size for name in columns)
    counted, k = everybody if way.outcomes == "exact" else rows, math.prod(shape)
    group = np.ravel_multi_index([counted.codes[name].astype(np.int64) for name in columns], shape)
    if way.outcomes == "exact":
        return GroupOutcomes.exact(counted.target, group, k=k)
    noise = source.for_cell("noise")
    return GroupOutcomes.noisy(counted.target, group, k=k, epsilon=way.budget, rng=noise)


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


# --- labels by group --------------------------------------------------------------------------------


def label_disparities(
    target: NDArray[np.uint8],
    group: NDArray[Any],
    *,
    privileged: int | None,
    reported: NDArray[Any] | Sides | None,
    groups: int | None = None,
    told: NDArray[np.uint8] | None = None,
) -> dict[str, float]:
    """Return how much more often the privileged group has the positive label than all others together.

    `reported` takes the place of the groups of `group`: indicators or codes. A row counts for a group once if
    the report supports the group's value, and for the others as many times as it supports one of their
    values. Or it is how often each row counts for the privileged group, and for any. People or reports of a
    code from `groups` on are in no group. `told` takes the place of labels that people report themselves, in
    the second number. NaN where a side has nobody or nothing is reported; without a privileged group nothing
    is compared.

    >>> target, group = np.array([1, 1, 0, 1], np.uint8), np.array([1, 1, 0, 0])
    >>> label_disparities(target, group, privileged=1, reported=np.array([[0, 1], [1, 1], [0, 0], [1, 0]]))
    {'true': 0.5, 'reported': 0.0}
    """
    found = {"true": math.nan, "reported": math.nan}
    seen = group if told is not None and reported is None else reported
    labels = target if told is None else told
    for name, part, own in zip(found, (group, seen), (target, labels), strict=True):
        if part is not None and privileged is not None:
            sides = part if isinstance(part, tuple) else _count_sides(part, privileged, groups)
            found[name] = _difference(own, *sides)
    return found


def reported_groups(reported: Mapping[str, NDArray[Any]], codes: Codes, facts: Facts) -> Sides | None:
    """Return how often reports count for the privileged group, and for any; None if nothing is reported.

    Reports are of values, also where groups of few people are pooled. `codes` are the true ones of the same
    rows, for crossed columns that are in the clear.
    """
    schema = facts.schema
    crossing, privileged = schema.crossing, schema.privileged
    if crossing is None:
        part, code = reported.get(str(schema.protected)), schema.privileged_code
        values = schema.not_stated if facts.not_stated else None
        return None if part is None or code is None else _count_sides(part, code, values)
    if not isinstance(privileged, tuple) or not any(name in reported for name in schema.protected_columns):
        return None
    parts = zip(crossing.columns, crossing.sizes, privileged, strict=True)
    first, every = zip(
        *(
            _count_sides(reported.get(column.name, codes[column.name]), column.domain.code(value), size)
            for column, size, value in parts
        ),
        strict=True,
    )
    return np.prod(first, axis=0), np.prod(every, axis=0)


def _count_sides(part: NDArray[Any], value: int, size: int | None) -> Sides:
    """Return how often each row counts for a value, and for any of the first `size` values."""
    most = sys.maxsize if size is None else size
    if part.ndim == 1:
        return (part == value).astype(np.int64), (part < most).astype(np.int64)
    return part[:, value].astype(np.int64), part[:, :most].sum(axis=1, dtype=np.int64)


def _difference(target: NDArray[np.uint8], first: NDArray[Any], every: NDArray[Any]) -> float:
    """Return the rate of the first side minus that of all others."""
    asked = target != NOT_ASKED
    sides = [(int(side[target == 1].sum()), int(side[asked].sum())) for side in (first, every - first)]
    rates = [hits / people if people else math.nan for hits, people in sides]
    return rates[0] - rates[1]
