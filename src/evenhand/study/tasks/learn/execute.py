"""One cell of a study of classifiers: split, train by one method, decide on clean rows, compare groups."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from threadpoolctl import threadpool_limits

from evenhand._notes import Note
from evenhand.errors import PrivacyWarning
from evenhand.learn.parity.fair_gap import fair_gap
from evenhand.learn.training.people import PERSON, rows_left_public
from evenhand.learn.training.private_rows import FEATURES_PUBLIC
from evenhand.measure import MEASURES, group_report
from evenhand.privacy.contributions import assume_first, assumed_rows, promise_to_people
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.in_clear import state_inferred
from evenhand.privacy.guarantees.units import ONE_ROW, Trust
from evenhand.privacy.randomness import SeededSource
from evenhand.privacy.rational import float_above
from evenhand.schema.text import listed
from evenhand.study.plan.draw_text import draw_text
from evenhand.study.store.outcome import Outcome
from evenhand.study.tasks.groups import margin_rates, rates_by_group
from evenhand.study.tasks.learn.measures import changes_by_group, share_unlike
from evenhand.study.tasks.learn.methods import METHODS, PLAIN
from evenhand.study.tasks.learn.prepare import features_of, input_columns, reported_inputs
from evenhand.study.tasks.learn.train import Learnt, Rows, plain_classifier, train
from evenhand.study.tasks.shared.parts import parts, timed
from evenhand.study.tasks.shared.protection import promise_of, state_rows
from evenhand.study.tasks.shared.report_settings import report_setting
from evenhand.study.tasks.shared.reported import reported_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.study.plan.cells import Cell, Setting
    from evenhand.study.tasks.learn.prepare import PreparedLearning
    from evenhand.study.tasks.learn.task import LearnTask

    Labels = NDArray[np.uint8]

STEPS_OF_LEARNING = ("split", "protect", "train", "predict", "measure")
"""What is timed, in order."""

_ALL_ROWS_PUBLIC = "how many rows all people have is treated as public, and one person can change it"
_plain: WeakKeyDictionary[Any, tuple[int, Labels]] = WeakKeyDictionary()


def execute(task: LearnTask, cell: Cell, *, seed: int, prepared: PreparedLearning) -> Outcome:
    """Run one cell. The same cell gives the same outcome, whatever ran before it and wherever.

    The notes of the outcome say what the claim rests on.
    """
    own_seed = seed + cell.repeat
    seconds = dict.fromkeys(STEPS_OF_LEARNING, 0.0)
    source = SeededSource(seed).for_cell(draw_text(cell))
    plain_classifier(1)  # loads the libraries whose threads are limited
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # the report says it, once
        with timed(seconds, "split"):
            [parted] = parts(prepared.target, test=task.test, seed=own_seed, people=prepared.people)
            learn, test = map(prepared.stated, parted)  # every method but the plain one asks for the group
            tested = _rows(prepared, test)
        learnt = _learnt(cell.setting, task, prepared, learn, source=source, seconds=seconds)
        with timed(seconds, "predict"):
            decided = learnt.decide(tested)
            before = None if learnt.before is None else learnt.before(tested)
        with timed(seconds, "train"):
            is_plain = not cell.setting.is_protected
            plain = decided if is_plain else _plain_labels(prepared, learn, test, own_seed)
        with timed(seconds, "measure"):
            weights = prepared.weights_of(test)
            measures, groups = _measure(prepared, tested, learnt, (decided, before, plain), weights)
            groups |= margin_rates(prepared, test, decided, weights)
    promise = state_rows(_with_schema(learnt.guarantee, task, prepared), prepared.facts.notes)
    return Outcome(cell, measures, groups, {}, seconds, notes=notes_of(promise))


def _learnt(
    setting: Setting,
    task: LearnTask,
    prepared: PreparedLearning,
    learn: NDArray[np.intp],
    *,
    source: SeededSource,
    seconds: dict[str, float],
) -> Learnt:
    """Return what is trained on the training rows, or on what their people report."""
    method = METHODS[setting.mechanism if setting.is_protected else PLAIN]
    rows, promise = _rows(prepared, learn), None
    if method.base == "local":
        with timed(seconds, "protect"):
            features, promise = _reported(setting, task, prepared, learn, source=source)
            rows = rows._replace(features=features)
    with timed(seconds, "train"):
        found = train(method, rows, task=task, epsilon=setting.epsilon, source=source)
    return found if promise is None else found._replace(guarantee=promise)


def _rows(prepared: PreparedLearning, rows: NDArray[np.intp]) -> Rows:
    facts = prepared.facts
    return Rows(
        prepared.features[rows],
        prepared.target[rows],
        prepared.group[rows],
        len(facts.groups),
        people=None if prepared.people is None else prepared.people[rows],
        rows_per_person=1 if prepared.people is None else facts.schema.rows_per_person or 1,
    )


def _reported(
    setting: Setting,
    task: LearnTask,
    prepared: PreparedLearning,
    learn: NDArray[np.intp],
    *,
    source: SeededSource,
) -> tuple[NDArray[np.float64], Guarantee]:
    """Return the features of rows whose sensitive columns are as reported, and what a report promises.

    Each column is reported alone, with an equal part of epsilon.
    """
    schema = prepared.facts.schema
    asked = schema.with_roles(sensitive=reported_inputs(task, schema))
    how = report_setting("grr", setting.epsilon, split="uniform", strategy="independent")
    codes = {name: prepared.codes[name][learn] for name in input_columns(task, schema)}
    told = reported_columns(codes, setting=how, schema=asked, encoder="codes", source=source)
    return features_of(task, schema, {**codes, **told}), promise_of(how, asked)


def _plain_labels(
    prepared: PreparedLearning, learn: NDArray[np.intp], test: NDArray[np.intp], seed: int
) -> Labels:
    """Return what the plain classifier says of the test rows; the last repeat's is kept for the next cell."""
    kept = _plain.get(prepared)
    if kept is not None and kept[0] == seed:
        return kept[1]
    model = plain_classifier(prepared.features.shape[1]).fit(prepared.features[learn], prepared.target[learn])
    labels: Labels = np.asarray(model.predict(prepared.features[test])).astype(np.uint8)
    _plain[prepared] = (seed, labels)
    return labels


def _measure(
    prepared: PreparedLearning,
    tested: Rows,
    learnt: Learnt,
    labels: tuple[Labels, Labels | None, Labels],
    weights: NDArray[np.float64] | None,
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Return measures and numbers of groups; `labels` are after and before post-processing, and the plain."""
    decided, before, plain = labels
    facts = prepared.facts
    report = group_report(
        tested.target,
        decided,
        tested.group,
        privileged=facts.privileged,
        groups=range(len(facts.groups)),
        weights=weights,
        scores=None if learnt.score is None else learnt.score(tested),
    )
    measures = {name: float(report.value(name)) for name in MEASURES}
    measures |= {
        "fair_gap": fair_gap(report.table.people, float(decided.mean())),
        "bound": learnt.bound,
        "bound_95": learnt.bound_95,
        "changed": share_unlike(decided, plain),
        "flipped": share_unlike(decided, before),
        **_claimed(learnt.guarantee),
        "noise": learnt.noise,
        "trained_on": float(learnt.trained_on),
    }
    shares = changes_by_group(decided, plain=plain, before=before, group=tested.group, labels=facts.groups)
    groups = rates_by_group(report, facts.groups)
    return measures, {label: rates | shares[label] for label, rates in groups.items()}


def _claimed(guarantee: Guarantee) -> dict[str, float]:
    """Return epsilon and delta of a claim; NaN and 1 where nothing is promised to anybody."""
    if str(guarantee.trust) == "none" or guarantee.epsilon is None:
        return {"claimed_epsilon": math.nan, "delta": 1.0}
    return {"claimed_epsilon": float_above(guarantee.epsilon), "delta": float_above(guarantee.delta)}


def _with_schema(guarantee: Guarantee, task: LearnTask, prepared: PreparedLearning) -> Guarantee:
    """Return a promise of training with what its schema does to it; reports state theirs themselves."""
    if guarantee.trust is not Trust.CENTRAL:
        return guarantee
    schema = prepared.facts.schema
    read = [name for name in input_columns(task, schema) if schema[name].inferred]
    stated = state_inferred(guarantee, read, instead_of=FEATURES_PUBLIC)
    most = schema.rows_per_person
    stated = promise_to_people(stated, schema.person, most, instead_of=(ONE_ROW, assumed_rows(PERSON, most)))
    if schema.person is not None:
        stated = assume_first(stated, rows_left_public(1) if (most or 1) == 1 else _ALL_ROWS_PUBLIC)
    leaving_out = [*schema.may_drop, *(schema.protected_columns if schema.not_stated is not None else ())]
    assumed = []
    if leaving_out:
        names = listed(list(dict.fromkeys(leaving_out)))
        assumed.append(f"how many rows the rules of {names} leave in is public")
    if schema.crossing is not None:
        assumed.append(f"which combinations of {listed(list(schema.protected_columns))} occur is public")
    if schema.pool_below is not None:
        assumed.append(f"which groups have fewer than {schema.pool_below:,} people is public")
    if not assumed:
        return stated
    return Guarantee.from_dict(stated.to_dict() | {"assumptions": [*stated.assumptions, *assumed]})


def notes_of(guarantee: Guarantee) -> tuple[Note, ...]:
    """Return unit, trust and assumptions of a claim; no notes where there is no guarantee."""
    if str(guarantee.trust) == "none":
        return ()
    assumed = (Note("assumption", each) for each in guarantee.assumptions)
    return Note("unit", str(guarantee.unit)), Note("trust", str(guarantee.trust)), *assumed
