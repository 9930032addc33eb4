"""One cell of a release: count the table, publish it, compare it with the truth, learn from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from evenhand.learn.encoding.reports import feature_matrix, layout
from evenhand.learn.models import classifier, predict_codes
from evenhand.measure import MEASURES, RATES
from evenhand.privacy.randomness import SeededSource
from evenhand.privacy.rational import float_above
from evenhand.release.mechanisms.registry import MECHANISMS
from evenhand.release.postprocess.registry import steps_of
from evenhand.release.table.histogram import Histogram
from evenhand.study.plan.draw_text import draw_text
from evenhand.study.store.outcome import Outcome
from evenhand.study.tasks.groups import report_groups
from evenhand.study.tasks.release.measures import errors_by_group, errors_by_size, errors_of_a_table
from evenhand.study.tasks.release.task import STATED
from evenhand.study.tasks.shared.parts import parts, timed
from evenhand.study.tasks.shared.table_mechanisms import build_mechanism

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.study.plan.cells import Cell, Setting
    from evenhand.study.tasks.base import Prepared
    from evenhand.study.tasks.release.task import ReleaseTask

_STEPS = ("count", "release", "bias", "train", "measure")  # what is timed, in order
_MODEL, _ENCODER = "logistic", "one-hot"  # what learns from a table, and from which features
_STRAIGHT = ("nonnegative", "integral")


@dataclass(frozen=True)
class _Table:
    """Hold what one cell publishes: counts, which are suppressed, bias and error, and what is promised."""

    published: NDArray[Any]
    suppressed: NDArray[np.bool_] | None
    blank: NDArray[Any] | None  # the chance of each cell to be suppressed, or which are; None if none
    bias: NDArray[np.float64]
    error: NDArray[np.float64] | None  # expected in each cell; None where no formula is known
    variance: NDArray[np.float64] | None  # likewise, of cells that are drawn independently
    claim: dict[str, float]


def execute(task: ReleaseTask, cell: Cell, *, seed: int, prepared: Prepared) -> Outcome:
    """Run one cell. The same cell gives the same outcome, whatever ran before it and wherever.

    ``measures`` of the outcome hold the error, bias, alpha and delta of the table, and those of the model if
    one is trained; ``groups`` the people whom the table loses or gains of each group, and errors per cell and
    per person; ``data`` the means of each class of cells by size, such as ``error_1_2``. Errors are the
    expected ones where they are known exactly (``error_exact``), else those of the published table.
    """
    seconds = dict.fromkeys(_STEPS, 0.0)
    source = SeededSource(seed).for_cell(draw_text(cell))
    with threadpool_limits(1):
        with timed(seconds, "count"):
            counted: Any = slice(None)
            tested = None
            if task.classify:
                [(counted, tested)] = parts(prepared.target, test=task.test, seed=seed + cell.repeat)
            true = table_counts(prepared, counted)
        table = _published(cell.setting, task, true, prepared=prepared, source=source, seconds=seconds)
        with timed(seconds, "measure"):
            error = table.error
            numbers = true, table.published, table.bias
            measures = errors_of_a_table(*numbers, error=error, suppressed=table.suppressed) | table.claim
            groups: dict[str, dict[str, float]] = {}
            for cells, labels in _groups_of_cells(prepared):
                groups |= errors_by_group(
                    *numbers,
                    groups=cells,
                    labels=labels,
                    error=error,
                    variance=table.variance,
                    blank=table.blank,
                )
            data = errors_by_size(*numbers, error=error)
        if tested is not None:
            with timed(seconds, "train"):
                learnt, rates = learnt_from(table.published, prepared, tested, seed=seed + cell.repeat)
            measures |= learnt
            groups = {label: own | rates[label] for label, own in groups.items()}
    return Outcome(cell, measures, groups, data, seconds)


def table_counts(prepared: Prepared, rows: Any = slice(None)) -> NDArray[np.int64]:
    """Return the true counts of every declared cell, from the rows that are counted."""
    shape = tuple(prepared.facts.schema.sizes.values())
    codes = [prepared.codes[name][rows].astype(np.int64) for name in prepared.facts.schema.names]
    numbers = np.ravel_multi_index(codes, shape)
    return np.bincount(numbers, minlength=math.prod(shape)).reshape(shape).astype(np.int64)


def _published(
    setting: Setting,
    task: ReleaseTask,
    true: NDArray[np.int64],
    *,
    prepared: Prepared,
    source: SeededSource,
    seconds: dict[str, float],
) -> _Table:
    if not setting.is_protected:  # the true table, as it is
        claim = {"delta": 1.0, "claimed_epsilon": math.nan, "delta_tight": 1.0, "bias_exact": 1.0}
        claim["error_exact"] = 1.0
        zeros = np.zeros(true.shape)
        return _Table(true, None, None, zeros, zeros, zeros, claim)
    mechanism, post = build_mechanism(setting, unit=task.unit), steps_of(task.post_of(setting))
    histogram = Histogram.of(true, prepared.facts.schema, bound=task.bound)
    weighing = [mechanism.weighted()] if hasattr(mechanism, "weighted") else []  # a sample stands for all
    with timed(seconds, "release"):
        made = mechanism.release(histogram, rng=source.for_cell("release"), post=[*weighing, *post])
    with timed(seconds, "bias"):
        lasting = [*weighing, *steps_of(_lasting(setting, task))]
        bias = mechanism.bias(histogram, post=lasting, draws=task.draws, rng=source.for_cell("bias"))
        error = mechanism.exact_absolute_error(histogram, post=lasting)
        independent = mechanism.law is not None and not lasting
        variance = mechanism.variance(histogram).values if independent else None
    claim = _claimed(
        mechanism.guarantee_for(histogram, epsilon=STATED if setting.epsilon is None else setting.epsilon)
    )
    claim |= {"bias_exact": float(bias.exact), "error_exact": float(error is not None)}
    if error is None and any(getattr(step, "keeps_sums", False) for step in lasting):
        error = bias.absolute_error  # of as many tables as the bias, where one would tell little
    clamped = np.asarray(histogram.counts) - true  # zero unless a count is above the public bound
    if clamped.any():
        error, claim["error_exact"] = None, 0.0  # which is that of the lowered counts
    blank = mechanism.blank_chances(histogram) if bias.exact else None
    return _Table(
        np.asarray(made.values),
        made.suppressed,
        made.suppressed if blank is None else blank,
        np.asarray(bias.values) + clamped,
        error,
        variance,
        claim,
    )


def _lasting(setting: Setting, task: ReleaseTask) -> tuple[str, ...]:
    """Return the steps that change what is expected of a count.

    To round up or down by chance does not, unless a step that bends follows, and to set negative counts to
    zero does not where none is published; without such steps the bias has a formula more often.
    """
    post = task.post_of(setting)
    straight = all(step in _STRAIGHT or step.startswith("sum_to=") for step in post)
    steps = tuple(step for step in post if step != "integral" or not straight)
    if not MECHANISMS[setting.mechanism].may_be_negative and set(steps) <= {"nonnegative"}:
        return ()
    return steps


def _claimed(guarantee: Guarantee) -> dict[str, float]:
    """Return epsilon and delta of a claim; delta is 1 where nothing is promised to anybody."""
    nothing = str(guarantee.trust) == "none" or guarantee.epsilon is None
    delta = 1.0 if nothing else float_above(guarantee.delta)
    epsilon = math.nan if nothing else float(guarantee.epsilon or 0)
    return {"delta": delta, "claimed_epsilon": epsilon, "delta_tight": float(guarantee.tight)}


def _groups_of_cells(prepared: Prepared) -> Iterator[tuple[NDArray[np.int64], tuple[str, ...]]]:
    """Yield the group of every cell of the table of all columns, with the labels; then those of each margin.

    A cell whose place is beyond the labels is of no group: who is in it does not state all columns, or
    nobody is.
    """
    facts, schema = prepared.facts, prepared.facts.schema
    shape = tuple(schema.sizes.values())
    codes = dict(zip(schema.names, np.unravel_index(np.arange(math.prod(shape)), shape), strict=True))
    own = schema.group_codes(codes)
    yield np.array(prepared.places)[own], facts.groups
    for column, labels in facts.margins.items():
        yield np.where(own == schema.not_stated, len(labels), codes[column]), labels


# --- a model that learns from the table -----------------------------------------------------------


def learnt_from(
    published: NDArray[Any], prepared: Prepared, tested: NDArray[np.intp], *, seed: int
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Train on the people that published counts stand for; return measures and rates of groups of true rows.

    A cell of n people is one row of weight n, which is the same to a logistic regression as n equal rows.
    Everything is NaN if the table holds nobody, and everybody has the one answer if it holds people of one
    outcome only. None of the tested rows is in the table.
    """
    facts = prepared.facts
    tested = prepared.stated(tested)
    labels, scores = _predictions(published, prepared, tested, seed)
    if labels is None:
        names = (*facts.groups, *(label for margin in facts.margins.values() for label in margin))
        nothing = dict.fromkeys((*RATES, "people"), math.nan)
        return dict.fromkeys(MEASURES, math.nan), {name: dict(nothing) for name in names}
    report, groups = report_groups(prepared, tested, labels, scores)
    return {name: float(report.value(name)) for name in MEASURES}, groups


def _predictions(
    published: NDArray[Any], prepared: Prepared, tested: NDArray[np.intp], seed: int
) -> tuple[NDArray[Any] | None, NDArray[np.float64] | None]:
    """Return labels and scores of the tested rows, each different row asked once."""
    schema = prepared.facts.schema
    people = rebuilt_people(published)
    filled = np.flatnonzero(people)
    if not filled.size:
        return None, None
    codes = dict(zip(schema.names, np.unravel_index(filled, people.shape), strict=True))
    column = schema[str(schema.target)]
    outcome = (codes[column.name] == column.domain.code(schema.positive)).astype(np.uint8)
    if outcome.all() or not outcome.any():
        return np.full(len(tested), outcome[0], dtype=np.uint8), None
    model: Any = classifier(_MODEL, seed=seed)
    weights = {f"{model.steps[-1][0]}__sample_weight": people.reshape(-1)[filled].astype(np.float64)}
    model.fit(feature_matrix(codes, blocks=layout(schema, _ENCODER)), outcome, **weights)
    clean = {name: prepared.codes[name][tested] for name in schema.names if name != schema.target}
    return predict_codes(model, clean, model=_MODEL, schema=schema, encoder=_ENCODER)


def rebuilt_people(published: NDArray[Any]) -> NDArray[np.int64]:
    """Return how many people a published count stands for: the nearest whole number, and none below zero."""
    whole: NDArray[np.int64] = np.maximum(np.rint(published), 0).astype(np.int64)
    return whole
