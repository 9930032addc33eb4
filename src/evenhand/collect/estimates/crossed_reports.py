"""Reports of several columns, counted by outcome: of their combinations, or of some of the columns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand._validate import kind_of
from evenhand.collect.estimates.crossed_channel import CrossedChannel
from evenhand.collect.estimates.outcome_counts import (
    MOST_GROUPS,
    OutcomeCounts,
    block_rows,
    count_outcomes,
    count_values,
    refuse_many_groups,
)
from evenhand.collect.estimates.tables import as_labels
from evenhand.collect.joint.combined import CombinedOptimal, DecodedGRR, ProductStrategy
from evenhand.collect.joint.independent import Independent, Sampled
from evenhand.collect.joint.strategy import JointReports, check_column_names
from evenhand.collect.protocols.channel import Channel, MatrixChannel
from evenhand.collect.protocols.codes import code_type
from evenhand.collect.reports.layouts import IntegerLayout
from evenhand.collect.reports.reports import Reports
from evenhand.errors import ColumnNotFoundError, InvalidParameterError, LimitExceededError
from evenhand.measure.columns import check_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from evenhand.collect.joint.strategy import Strategy
    from evenhand.collect.protocols.base import Protocol

A_LABEL = "the label of one of the groups"
_OWNER = "group_rates"


class CountedReports(NamedTuple):
    """Reports counted by outcome, and the channel that they went through."""

    counts: OutcomeCounts
    channel: Channel | MatrixChannel | CrossedChannel


def read_joint_reports(reports: Any) -> JointReports | None:
    """Return joint reports, also from a mapping of columns to the reports of each; None for others."""
    if isinstance(reports, JointReports):
        joint = reports
    elif isinstance(reports, Mapping):
        for part in reports.values():
            if not isinstance(part, Reports):
                must_be = "a mapping of columns to reports, each of its own protocol"
                raise InvalidParameterError("reports", owner=_OWNER, must_be=must_be, got=kind_of(part))
            if isinstance(part.protocol, DecodedGRR) and len(reports) > 1:
                must_be, got = "reports that were drawn apart", "the parts of one report of all columns"
                hint = "give the joint reports as they are, not column by column."
                raise InvalidParameterError("reports", owner=_OWNER, must_be=must_be, got=got, hint=hint)
        strategy = Independent({column: part.protocol for column, part in reports.items()})
        joint = JointReports(list(reports.values()), strategy=strategy)
    else:
        return None
    if isinstance(joint.strategy, Sampled):
        raise InvalidParameterError(
            "reports",
            owner=_OWNER,
            must_be="reports in which each person tells all columns that are crossed",
            got="one column of each person",
            hint="give outcomes and reports of one column, of those who were asked it.",
        )
    return joint


def read_crossed_columns(columns: Any, strategy: Any) -> tuple[str, ...]:
    """Return the columns that are crossed: all that are reported unless some are named."""
    names = (
        strategy.columns
        if columns is None
        else check_column_names(columns, parameter="columns", owner=_OWNER)
    )
    for name in names:
        if name not in strategy.columns:
            raise ColumnNotFoundError(name, strategy.columns, place="among those reported")
    if not names:
        must_be = "one or more of the columns that are reported"
        raise InvalidParameterError("columns", owner=_OWNER, must_be=must_be, got="none")
    return names


def read_crossed_labels(labels: Any, sizes: Mapping[str, int]) -> dict[str, tuple[Any, ...]]:
    """Return the labels of the values of each column; by default their codes."""
    if labels is not None and not isinstance(labels, Mapping):
        must_be = "a mapping of columns to the labels of their values"
        raise InvalidParameterError("labels", owner=_OWNER, must_be=must_be, got=kind_of(labels))
    given = labels or {}
    for name in given:
        if name not in sizes:
            raise ColumnNotFoundError(str(name), tuple(sizes), place="among those crossed")
    return {name: as_labels(given.get(name), k, owner=_OWNER) for name, k in sizes.items()}


def combine_labels(labels: Mapping[str, Sequence[Any]]) -> tuple[Any, ...]:
    """Return the combinations of labels in row-major order; the labels themselves of one column.

    >>> combine_labels({"sex": ("f", "m"), "race": (0, 1)})
    (('f', 0), ('f', 1), ('m', 0), ('m', 1))
    """
    return tuple(product(*labels.values())) if len(labels) > 1 else tuple(*labels.values())


def check_group_names(names: tuple[Any, ...], privileged: Any) -> tuple[Any, ...]:
    """Return the labels of the groups if they can be compared and the privileged one is among them."""
    if any(None in (label if isinstance(label, tuple) else (label,)) for label in names):
        must_be = "labels other than None"  # which stands for no group where groups are compared
        raise InvalidParameterError("labels", owner=_OWNER, must_be=must_be, got="None among them")
    check_label(privileged, name="privileged", owner=_OWNER, must_be=A_LABEL)
    if privileged is not None and privileged not in names:
        raise InvalidParameterError("privileged", owner=_OWNER, must_be=A_LABEL, got=privileged)
    return names


def count_columns(outcome: npt.NDArray[Any], joint: JointReports, columns: Sequence[str]) -> CountedReports:
    """Count what joint reports say of the combinations of some of their columns, by outcome."""
    strategy = joint.strategy
    cells = math.prod(strategy.sizes[column] for column in columns)
    if cells > MOST_GROUPS:
        refuse_many_groups(cells)
    if isinstance(strategy, ProductStrategy):
        return _count_combined(outcome, joint, strategy, columns)
    if len(columns) == 1:
        return count_reports(outcome, joint[columns[0]])
    return _count_independent(outcome, [joint[column] for column in columns])


def count_no_reports(strategy: Strategy, columns: Sequence[str]) -> CountedReports:
    """Return the counts of no reports, to which others are added, and the channel that those go through."""
    empty = strategy.privatize({name: np.empty(0, np.uint8) for name in strategy.columns}, rng=0)
    return count_columns(np.empty(0, np.uint8), empty, columns)


def count_reports(outcome: npt.NDArray[Any], reports: Reports) -> CountedReports:
    """Count what reports of one column say, by outcome."""
    protocol: Any = reports.protocol
    channel = Channel.of(protocol, owner=_OWNER)
    channel.require_inverse()
    return CountedReports(count_outcomes(outcome, reports, protocol), channel)


def _count_combined(
    outcome: npt.NDArray[Any], joint: JointReports, strategy: ProductStrategy, columns: Sequence[str]
) -> CountedReports:
    """Count reports that name a whole combination, by the combination of some of its columns."""
    (sent,) = joint.sent
    members = _members(strategy, columns)
    if not isinstance(strategy, CombinedOptimal):
        law = DecodedGRR(len(members), strategy.epsilon, cells=strategy.product.k)
        codes = np.argmax(members, axis=0).astype(code_type(law.k))[sent.values]
        return count_reports(outcome, Reports(codes, protocol=law, simulated=sent.simulated))
    whole = count_reports(outcome, sent)
    if len(columns) == len(strategy.columns):
        order = np.argmax(members, axis=1)  # of the columns as they are asked for
        together = whole.counts.together[:, order[:, None], order]
        matrix = strategy.product.channel.matrix[np.ix_(order, order)]
        return CountedReports(replace(whole.counts, together=together), MatrixChannel(matrix))
    channel = CrossedChannel.of_margin(strategy.product.channel, members)
    return CountedReports(replace(whole.counts, members=members), channel)


def _members(strategy: ProductStrategy, columns: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return which combinations of all columns belong to each combination of some of them."""
    parts = np.unravel_index(np.arange(strategy.product.k), strategy.shape)
    chosen = [parts[strategy.columns.index(column)] for column in columns]
    sizes = tuple(strategy.sizes[column] for column in columns)
    return np.asarray(np.ravel_multi_index(chosen, sizes) == np.arange(math.prod(sizes))[:, None])


def _count_independent(outcome: npt.NDArray[Any], parts: Sequence[Reports]) -> CountedReports:
    """Count the combinations of reports that were made independently."""
    protocols: list[Any] = [part.protocol for part in parts]
    features = math.prod(_count_features(protocol) for protocol in protocols)
    if features > 2 * MOST_GROUPS:
        raise LimitExceededError(
            f"Rates of combinations of these reports need a table of {features:,} by {features:,} counts; "
            f"{2 * MOST_GROUPS:,} is the most. Hint: cross fewer columns, or report the columns by GRR.",
            limit="groups",
        )
    channel = CrossedChannel.of_protocols(protocols, owner=_OWNER)
    if all(isinstance(protocol.layout, IntegerLayout) for protocol in protocols):
        shape = tuple(protocol.k for protocol in protocols)
        codes = np.ravel_multi_index([part.values.astype(np.intp) for part in parts], shape)
        return CountedReports(count_values(outcome, codes, channel.k), channel)
    counts = OutcomeCounts.of_chunks(outcome, _feature_chunks(parts, protocols, features), features)
    return CountedReports(replace(counts, members=channel.support), channel)


def _count_features(protocol: Protocol) -> int:
    return protocol.k + (0 if isinstance(protocol.layout, IntegerLayout) else 1)


def _feature_chunks(
    parts: Sequence[Reports], protocols: Sequence[Protocol], features: int
) -> Iterator[npt.NDArray[np.uint8]]:
    """Return an iterator over the features of one block of people after the other."""
    rows = block_rows(features)
    for start in range(0, len(parts[0]), rows):
        blocks = [
            _features(protocol, part[start : start + rows])
            for part, protocol in zip(parts, protocols, strict=True)
        ]
        yield reduce(_outer_rows, blocks)


def _features(protocol: Protocol, reports: Reports) -> npt.NDArray[np.uint8]:
    supports = protocol.indicators(reports)
    if isinstance(protocol.layout, IntegerLayout):
        return supports
    return np.column_stack([supports, np.ones(len(supports), dtype=np.uint8)])


def _outer_rows(first: npt.NDArray[np.uint8], second: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return, row by row, the products of one entry of each, those of the second changing fastest."""
    return np.asarray((first[:, :, None] * second[:, None, :]).reshape(len(first), -1))
