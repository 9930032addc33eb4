"""One cell: split, protect the training rows, train, predict for clean rows, compare the groups."""

from __future__ import annotations

import math
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.measure import MEASURES, RATES, group_report
from evenhand.privacy.randomness import SeededSource
from evenhand.study.store.outcome import Outcome
from evenhand.study.tasks.collect.features import check_encoder, feature_matrix, layout
from evenhand.study.tasks.collect.models import classifier, number_type
from evenhand.study.tasks.collect.parts import parts
from evenhand.study.tasks.collect.predict import distinct_rows, predicted
from evenhand.study.tasks.collect.reported import label_disparities, reported_columns
from evenhand.study.tasks.collect.reported_optimal import People
from evenhand.study.tasks.decide.task import DecideTask
from evenhand.study.tasks.learn.task import LearnTask
from evenhand.study.tasks.release.task import ReleaseTask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    import numpy as np
    from numpy.typing import NDArray

    from evenhand.measure import GroupReport
    from evenhand.study.plan.cells import Cell
    from evenhand.study.plan.plan import Plan
    from evenhand.study.run.prepare import Prepared
    from evenhand.study.tasks.collect.task import Classify

    Rows = NDArray[np.intp]
    Predictions = tuple[NDArray[Any], NDArray[np.float64] | None]
    Clock = Callable[[str], AbstractContextManager[None]]

__all__ = ["STEPS", "execute"]

STEPS = ("split", "protect", "encode", "train", "predict", "measure")
"""What is timed, in order."""


@dataclass(frozen=True)
class _Found:
    """What came of one part: the report on its test rows and the disparities of its training labels."""

    report: GroupReport
    data: dict[str, float]


def execute(cell: Cell, *, plan: Plan, prepared: Prepared) -> Outcome:
    """Run one cell. The same cell gives the same outcome, whatever ran before it and wherever.

    Parameters
    ----------
    cell : Cell
    plan : Plan
    prepared : Prepared
        The plan's rows.

    Returns
    -------
    Outcome
        With folds, measures, rates and data disparities are means over the folds in which they are defined,
        NaN if there is no such fold; ``people`` is the sum over the folds.

    Examples
    --------
    >>> from evenhand.study import DataSource, Plan
    >>> from evenhand.study.run.prepare import prepare
    >>> plan = Plan(data=DataSource(dataset="causal", options={"n": 2000}))
    >>> outcome = execute(plan.cells()[0], plan=plan, prepared=prepare(plan))
    >>> sorted(outcome.groups), outcome.failure
    (['0', '1'], None)
    """
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - only a cell that runs needs it

    task = plan.task
    if isinstance(task, ReleaseTask):
        from evenhand.study.tasks.release.execute import execute_release  # noqa: PLC0415 - only where it is the task

        return execute_release(cell, plan=plan, prepared=prepared)
    if isinstance(task, DecideTask):
        from evenhand.study.tasks.decide.execute import execute_decision  # noqa: PLC0415 - only where it is the task

        return execute_decision(cell, plan=plan, prepared=prepared)
    if isinstance(task, LearnTask):
        from evenhand.study.tasks.learn.execute import execute_learning  # noqa: PLC0415 - only where it is the task

        return execute_learning(cell, plan=plan, prepared=prepared)
    check_encoder(task.encoder, cell.setting)
    seed = plan.seed + cell.repeat
    seconds = dict.fromkeys(STEPS, 0.0)
    clock = _clock(seconds)
    model = classifier(task, seed=seed)  # also loads the libraries whose threads are limited
    source = SeededSource(plan.seed).for_cell(cell.id)
    found = []
    with threadpool_limits(1):
        with clock("split"):
            split = parts(task, prepared.target, seed=seed)
        for number, rows in enumerate(split):
            own = source if task.folds is None else source.for_cell(f"fold {number}")
            fresh = classifier(task, seed=seed) if number else model
            found.append(_part(cell, task, prepared, rows=rows, model=fresh, source=own, clock=clock))
    return _outcome(cell, prepared, found, seconds)


def _part(
    cell: Cell,
    task: Classify,
    prepared: Prepared,
    *,
    rows: tuple[Rows, Rows],
    model: Any,
    source: SeededSource,
    clock: Clock,
) -> _Found:
    """Train on what people report and predict for rows as they are."""
    train, test = rows
    facts, target = prepared.facts, prepared.target[train]
    with clock("protect"):
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
    with clock("encode"):
        blocks, dtype = layout(facts.schema, task.encoder), number_type(task)
        learnt = feature_matrix(true, blocks=blocks, reported=reported, dtype=dtype)
    with clock("train"):
        model.fit(learnt, target)
    with clock("predict"):
        labels, scores = _predictions(model, task, prepared, test)
    with clock("measure"):
        report = group_report(
            prepared.target[test],
            labels,
            prepared.group[test],
            privileged=facts.privileged,
            groups=range(len(facts.groups)),
            scores=scores,
        )
        data = label_disparities(
            target,
            prepared.group[train],
            privileged=facts.privileged,
            reported=reported.get(str(facts.schema.protected)),
        )
    return _Found(report, data)


def _predictions(model: Any, task: Classify, prepared: Prepared, test: Rows) -> Predictions:
    """Return labels and scores of the test rows, from their true codes alone."""
    codes = {name: column[test] for name, column in prepared.codes.items()}
    schema = prepared.facts.schema
    distinct = distinct_rows(codes, sizes=schema.sizes) if isinstance(task.model, str) else None
    if distinct is not None:
        codes = {name: column[distinct[0]] for name, column in codes.items()}
    clean = feature_matrix(codes, blocks=layout(schema, task.encoder), dtype=number_type(task))
    labels, scores = predicted(model, clean, task=task)
    if distinct is None:
        return labels, scores
    return labels[distinct[1]], None if scores is None else scores[distinct[1]]


def _outcome(cell: Cell, prepared: Prepared, found: list[_Found], seconds: dict[str, float]) -> Outcome:
    with _clock(seconds)("measure"):
        measures = {name: _mean(part.report.value(name) for part in found) for name in MEASURES}
        groups = {}
        for place, label in enumerate(prepared.facts.groups):
            rates = [part.report.rates[place] for part in found]
            groups[label] = {name: _mean(getattr(each, name) for each in rates) for name in RATES}
            groups[label]["people"] = float(sum(each.size for each in rates))
        data = {kind: _mean(part.data[kind] for part in found) for kind in ("true", "reported")}
    return Outcome(cell, measures, groups, data, seconds)


def _mean(values: Iterable[float]) -> float:
    """Return the mean of the values that are defined, NaN if none is."""
    defined = [float(value) for value in values if not math.isnan(value)]
    return math.fsum(defined) / len(defined) if defined else math.nan


def _clock(seconds: dict[str, float]) -> Clock:
    """Return something that adds the CPU time of a block to a step's."""

    @contextmanager
    def step(name: str) -> Iterator[None]:
        start = time.process_time()
        try:
            yield
        finally:
            seconds[name] += time.process_time() - start

    return step
