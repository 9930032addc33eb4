"""One cell of a collection: protect the training rows, train, predict for clean rows, compare groups."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from evenhand.learn.encoding.reports import feature_matrix, layout
from evenhand.learn.models import classifier, number_type, predict_codes
from evenhand.learn.parity.answers import answer_chances, choose_answers
from evenhand.learn.parity.closest import closest_rates
from evenhand.learn.parity.key import BITS
from evenhand.measure import MEASURES, RATES
from evenhand.privacy.randomness import SeededSource
from evenhand.study.plan.draw_text import draw_text
from evenhand.study.store.outcome import Outcome
from evenhand.study.tasks.groups import report_groups
from evenhand.study.tasks.shared.parts import parts, timed
from evenhand.study.tasks.shared.report_settings import check_encoder, drop_parity, has_parity
from evenhand.study.tasks.shared.reported import (
    NOT_ASKED,
    People,
    fair_cut,
    label_disparities,
    reported_columns,
    reported_groups,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from evenhand.learn.models import Predictions
    from evenhand.measure import GroupReport
    from evenhand.study.plan.cells import Cell
    from evenhand.study.tasks.base import Prepared
    from evenhand.study.tasks.collect.task import CollectTask

    Rows = NDArray[np.intp]
    Labels = NDArray[Any]

STEPS = ("split", "protect", "encode", "train", "predict", "measure")
"""What is timed, in order."""


class _Found(NamedTuple):
    """Hold what came of one part: the report on its test rows, rates by group, disparities of labels."""

    report: GroupReport
    groups: dict[str, dict[str, float]]
    data: dict[str, float]


def execute(task: CollectTask, cell: Cell, *, seed: int, prepared: Prepared) -> Outcome:
    """Run one cell. The same cell gives the same outcome, whatever ran before it and wherever.

    With folds, measures, rates and data disparities are means over the folds in which they are defined, NaN
    if there is no such fold; ``people`` is the sum over the folds.
    """
    check_encoder(task.encoder, cell.setting)
    own_seed = seed + cell.repeat
    seconds = dict.fromkeys(STEPS, 0.0)
    model = classifier(
        task.model, task.parameters, seed=own_seed
    )  # also loads the libraries whose threads are limited
    reports = replace(cell, setting=drop_parity(cell.setting))  # parity decides on the same reports
    source = SeededSource(seed).for_cell(draw_text(reports))
    found = []
    with threadpool_limits(1):
        with timed(seconds, "split"):
            split = parts(prepared.target, test=task.test, folds=task.folds, seed=own_seed)
        for number, rows in enumerate(split):
            own = source if task.folds is None else source.for_cell(f"fold {number}")
            fresh = classifier(task.model, task.parameters, seed=own_seed) if number else model
            found.append(_part(cell, task, prepared, rows=rows, model=fresh, source=own, seconds=seconds))
    return _outcome(cell, found, seconds)


def _part(
    cell: Cell,
    task: CollectTask,
    prepared: Prepared,
    *,
    rows: tuple[Rows, Rows],
    model: Any,
    source: SeededSource,
    seconds: dict[str, float],
) -> _Found:
    """Train on what people report and predict for rows as they are."""
    train, test = rows[0], prepared.stated(rows[1])
    facts, target = prepared.facts, prepared.target[train]
    with timed(seconds, "protect"):
        true = {name: codes[train] for name, codes in prepared.codes.items()}
        reported = reported_columns(
            true,
            setting=cell.setting,
            schema=facts.schema,
            encoder=task.encoder,
            source=source,
            target=target,
            everybody=People(prepared.codes, prepared.target),
        )
    with timed(seconds, "encode"):
        blocks, dtype = layout(facts.schema, task.encoder), number_type(task.model)
        learnt = feature_matrix(true, blocks=blocks, reported=reported, dtype=dtype)
    with timed(seconds, "train"):
        told = reported.get(str(facts.schema.target))
        only = _fit(model, learnt, target if told is None else told)
    with timed(seconds, "predict"):
        labels, scores = _decide(cell, task, prepared, test, model=model, only=only)
        if has_parity(cell.setting):
            trained, _ = _decide(cell, task, prepared, train, model=model, only=only)
            labels = _even_out(labels, test, trained, train, prepared, source.for_cell("parity"))
    with timed(seconds, "measure"):
        report, groups = report_groups(prepared, test, labels, scores)
        data = label_disparities(
            target,
            prepared.group[train],
            privileged=facts.privileged,
            reported=reported_groups(reported, true, facts),
            groups=facts.compared,
            told=told,
        )
        of_tested = label_disparities(
            prepared.target[test], prepared.group[test], privileged=facts.privileged, reported=None
        )
    return _Found(report, groups, data | {"tested": of_tested["true"]})


def _fit(model: Any, learnt: NDArray[Any], labels: NDArray[np.uint8]) -> int | None:
    """Train on those whose label is there; return the only label where everybody's is the same."""
    asked = labels != NOT_ASKED
    if not asked.all():
        learnt, labels = learnt[asked], labels[asked]
    if np.unique(labels).size < 2:
        return int(labels.any())
    model.fit(learnt, labels)
    return None


def _decide(
    cell: Cell, task: CollectTask, prepared: Prepared, rows: Rows, *, model: Any, only: int | None
) -> Predictions:
    """Return who is selected, as their true outcome is likelier than not, and scores if there are any."""
    schema = prepared.facts.schema
    if only is not None:
        return np.full(len(rows), only, np.uint8), None
    clean = {name: codes[rows] for name, codes in prepared.codes.items() if name != schema.target}
    labels, scores = predict_codes(model, clean, model=task.model, schema=schema, encoder=task.encoder)
    cut = fair_cut(cell.setting, schema)
    return (labels, scores) if cut is None or scores is None else ((scores > cut).astype(np.uint8), scores)


def _even_out(
    labels: Labels, test: Rows, trained: Labels, train: Rows, prepared: Prepared, source: SeededSource
) -> Labels:
    """Return the labels of the test rows with as few changed, at random, as make true groups alike.

    How often a label of each group changes is found on what the model says of the training rows, `trained`.
    """
    known, groups = prepared.group[train] < len(prepared.facts.groups), len(prepared.facts.groups)
    group = prepared.group[train][known]
    sizes = np.bincount(group, minlength=groups)
    hits = np.bincount(group, weights=trained[known], minlength=groups)
    rates = np.where(sizes > 0, hits, hits.sum()) / np.where(sizes > 0, sizes, sizes.sum())
    chances = answer_chances(closest_rates(rates, weights=sizes / sizes.sum()))
    draws = source.words(len(test)) >> np.uint64(64 - BITS)
    return choose_answers(chances, prepared.group[test].astype(np.intp), labels.astype(np.intp), draws)


def _outcome(cell: Cell, found: list[_Found], seconds: dict[str, float]) -> Outcome:
    with timed(seconds, "measure"):
        measures = {name: _mean(part.report.value(name) for part in found) for name in MEASURES}
        groups = {}
        for label in found[0].groups:
            own = [part.groups[label] for part in found]
            groups[label] = {name: _mean(rates[name] for rates in own) for name in RATES}
            groups[label]["people"] = sum(rates["people"] for rates in own)
        data = {kind: _mean(part.data[kind] for part in found) for kind in found[0].data}
    return Outcome(cell, measures, groups, data, seconds)


def _mean(values: Iterable[float]) -> float:
    """Return the mean of the values that are defined, NaN if none is."""
    defined = [float(value) for value in values if not math.isnan(value)]
    return math.fsum(defined) / len(defined) if defined else math.nan
