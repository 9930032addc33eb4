"""The trials behind tables 5.1 to 5.4: OPT before training against Fair Projection after it.

A trial is a split into training and test rows. Its record has the classifier without any intervention, the
one trained and asked with OPT's reports in the place of race, and the whole trade-off curve of both forms of
Fair Projection, on training and on test rows. Which point of a curve is compared is decided when records are
read.
"""

from __future__ import annotations

import time
from functools import cache, partial
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from evenhand import datasets
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.optimal import Optimal
from evenhand.learn.projection.classifier import FairProjection
from evenhand.papers.paper import read_entries
from evenhand.papers.trials import Trials, read_path
from evenhand.privacy.randomness import SeededSource
from evenhand.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from evenhand.papers.trials import Records, Values
    from evenhand.privacy.randomness import Source

    Numbers = NDArray[Any]

EPSILONS = ("0.2", "1", "4")
# Statistical parity and mean equalised odds, and what FairProjection calls them
KINDS: dict[str, Literal["parity", "odds"]] = {"sp": "parity", "meo": "odds"}

DIVERGENCES: tuple[Literal["kl", "ce"], ...] = ("kl", "ce")
TRIALS = 10

_TEST = 0.3
_STATE = 42
_HALF = 0.5
_DENSE, _SPARSE, _FROM = 40, 5, 0.4


# The data sets by the name of their trials. At the largest tolerance a curve is back at no intervention
SETS = read_entries(__package__, "projections")

GRR_TRIALS = "compas-grr"  # the name of the trials of plain randomised response in OPT's place


def projection_trials(sizes: Mapping[str, int]) -> tuple[Trials, ...]:
    """Return the trials of a design, by how many splits there are of each."""
    kinds: dict[str, Any] = {**{name: partial(run_trial, name) for name in SETS}, GRR_TRIALS: run_grr}
    return tuple(Trials(name, sizes[name], run) for name, run in kinds.items())


# --- rows -----------------------------------------------------------------------------------------


class Rows(NamedTuple):
    """Features of people with race in the column `place`, labels and race, which is 1 for white."""

    features: Numbers
    labels: Numbers
    race: Numbers
    place: int

    def with_race(self, race: Numbers) -> Numbers:
        """Return the features with something else in the place of race."""
        changed = self.features.copy()
        changed[:, self.place] = race
        return changed


@cache
def load_rows(name: str) -> Rows:
    """Return the rows of a data set: categories of two as 0 and 1, of more one-hot, numbers as they are."""
    dataset = datasets.load(SETS[name].dataset, backend="pyarrow", **SETS[name].options)
    schema = dataset.schema
    codes = Table.encode(dataset.frame, schema).codes
    columns: list[Numbers] = []
    place = 0
    for column in schema:
        if column.name == schema.target:
            continue
        if column.name == schema.protected:
            place = len(columns)
        if column.domain.ordered or column.size == 2:
            columns.append(codes[column.name].astype(float))
        else:
            columns += [(codes[column.name] == code).astype(float) for code in range(column.size)]
    target, race = str(schema.target), str(schema.protected)
    return Rows(
        np.column_stack(columns),
        (codes[target] == schema[target].domain.code(schema.positive)).astype(np.int64),
        (codes[race] == schema[race].domain.code(schema.privileged)).astype(np.int64),
        place,
    )


# --- one split ------------------------------------------------------------------------------------


def run_trial(name: str, number: int) -> dict[str, Any]:
    """Return the record of one split."""
    data, parts = load_rows(name), _split(name, number)
    source = SeededSource(number).for_cell(f"ghoukasian2024 {name}")
    _warm()
    with threadpool_limits(1):
        model, seconds = _fit_model(data.features, data, parts[0])
        scores = _score(model, data, parts)
        none = {**_measure_model(model, data.features, data, parts), "seconds": {"train": seconds}}
        reports = {each: _with_reports(data, parts, each, source.for_cell(each)) for each in EPSILONS}
        curves = {
            kind: {each: _curve(scores, data, kind, each, SETS[name].top[kind]) for each in DIVERGENCES}
            for kind in KINDS
        }
        return {"none": none, "opt": reports, "projection": curves}


def run_grr(number: int) -> dict[str, Any]:
    """Return the record of one split whose classifier has seen randomised responses of race only."""
    name = next(iter(SETS))
    data, parts = load_rows(name), _split(name, number)
    source = SeededSource(number).for_cell(f"ghoukasian2024 {name} grr")
    found = {}
    with threadpool_limits(1):
        for epsilon in EPSILONS:
            reports = GRR(2, epsilon).privatize(data.race, rng=source.for_cell(epsilon)).values
            found[epsilon] = _train_on_reports(data, parts, reports)[0]
    return found


def _split(name: str, number: int) -> list[Numbers]:
    every = np.arange(len(load_rows(name).labels))
    parts: list[Numbers] = train_test_split(every, test_size=_TEST, random_state=number)
    return parts


@cache
def _warm() -> None:
    """Compile what draws reports, so that it is in nobody's time."""
    Optimal([0.6, 0.4], [0.25, 0.75], 1, as_printed=True).privatize(np.array([0, 1]), rng=SeededSource(0))


def _fit_model(features: Numbers, data: Rows, train: Numbers) -> tuple[Any, float]:
    start = time.process_time()
    model = GradientBoostingClassifier(random_state=_STATE).fit(features[train], data.labels[train])
    return model, time.process_time() - start


def _measure_model(model: Any, features: Numbers, data: Rows, parts: list[Numbers]) -> dict[str, Any]:
    return {
        part: _measure_decisions(model.predict_proba(features[where])[:, 1] > _HALF, data, where)
        for part, where in zip(("train", "test"), parts, strict=True)
    }


def _measure_decisions(decided: Numbers, data: Rows, where: Numbers) -> dict[str, float]:
    """Return accuracy and both gaps, between the true groups."""
    label, white = data.labels[where] == 1, data.race[where] == 1
    parity, *odds = (
        float(abs(decided[white & among].mean() - decided[~white & among].mean()))
        for among in (np.ones_like(label), label, ~label)
    )
    return {"acc": float((decided == label).mean()), "sp": parity, "meo": sum(odds) / 2}


def _with_reports(data: Rows, parts: list[Numbers], epsilon: str, source: Source) -> dict[str, Any]:
    """Return the classifier that has seen reports of race only, in training and when it is asked."""
    start = time.process_time()
    share, rates = data.race.mean(), [data.labels[data.race == group].mean() for group in (0, 1)]
    mechanism = Optimal([1 - share, share], rates, epsilon, as_printed=True)
    reports = mechanism.privatize(data.race, rng=source).values
    before = time.process_time() - start
    found, seconds = _train_on_reports(data, parts, reports)
    return {**found, "seconds": {"protect": before, "train": seconds}}


def _train_on_reports(data: Rows, parts: list[Numbers], reports: Any) -> tuple[dict[str, Any], float]:
    features = data.with_race(np.asarray(reports))
    model, seconds = _fit_model(features, data, parts[0])
    return _measure_model(model, features, data, parts), seconds


def _curve(
    scores: Scores, data: Rows, kind: str, divergence: Literal["kl", "ce"], top: float
) -> dict[str, Any]:
    """Return Fair Projection of the model's scores at every tolerance, with the CPU time of each.

    The time is that of what the intervention adds: the scores of the training rows, one projection of them,
    and the decisions for the test rows from their scores.
    """
    train, test = scores.parts
    found: dict[str, list[float]] = {"tolerance": _tolerances(top).tolist(), "seconds": []}
    for tolerance in found["tolerance"]:
        start = time.process_time()
        projected = FairProjection(
            _ScoresAsGiven(), kind=KINDS[kind], divergence=divergence, tolerance=tolerance, prefit=True
        )
        projected.fit(scores.of_train, data.labels[train], group=data.race[train])
        decided = projected.predict_proba(scores.of_test, group=data.race[test])[:, 1] > _HALF
        found["seconds"].append(time.process_time() - start + scores.seconds)
        also = projected.predict_proba(scores.of_train, group=data.race[train])[:, 1] > _HALF
        measured = {
            "train": _measure_decisions(also, data, train),
            "test": _measure_decisions(decided, data, test),
        }
        for part, told in measured.items():
            for key, value in told.items():
                found.setdefault(f"{part}_{key}", []).append(value)
    return found


class Scores(NamedTuple):
    """The probabilities that a model gives both parts of a split, and the time for those of training rows."""

    parts: list[Numbers]
    of_train: Numbers
    of_test: Numbers
    seconds: float


def _score(model: Any, data: Rows, parts: list[Numbers]) -> Scores:
    """Ask the model once for all tolerances."""
    start = time.process_time()
    of_train = model.predict_proba(data.features[parts[0]])
    seconds = time.process_time() - start
    return Scores(parts, of_train, model.predict_proba(data.features[parts[1]]), seconds)


class _ScoresAsGiven(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose features are probabilities, which it returns."""

    classes_ = np.array([0, 1])

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, *_: Any) -> _ScoresAsGiven:
        """Return the classifier: it has no parameters to learn."""
        return self

    def predict_proba(self, scores: Numbers) -> Numbers:
        """Return the features."""
        return scores


def _tolerances(top: float) -> Numbers:
    """Return tolerances from zero to the top, most of them where gaps of a light intervention are."""
    return np.concatenate(
        [np.linspace(0, _FROM * top, _SPARSE, endpoint=False), np.linspace(_FROM * top, top, _DENSE)]
    )


# --- reading: OPT beside the point of a curve that has the same gap -------------------------------


class Matched(NamedTuple):
    """A point of Fair Projection's curve in every split, a value per split.

    Accuracy and gap are on the test rows. The tolerance is the same in all splits if it was chosen for all
    together. The CPU time is that of a projection there, with the decisions of all rows.
    """

    acc: Values
    gap: Values
    tolerance: Values
    seconds: Values


def of_none(records: Records, measure: str) -> Values:
    """Return a measure on the test rows without any intervention, a value per split."""
    return read_path(records, "none", "test", measure)


def of_opt(records: Records, epsilon: str, measure: str, *, part: str = "test") -> Values:
    """Return a measure of OPT, a value per split."""
    return read_path(records, "opt", epsilon, part, measure)


def _curves(records: Records, kind: str, divergence: str) -> list[Values]:
    """Return accuracy and gap on the test rows, tolerance and seconds of the curves, splits x tolerances."""
    names = ("test_acc", f"test_{kind}", "tolerance", "seconds")
    return [read_path(records, "projection", kind, divergence, name) for name in names]


def matched_on_test(records: Records, kind: str, divergence: str, target: float) -> Matched:
    """Return the point at which the mean gap of the test rows is the target: the thesis's way.

    One tolerance serves all splits: the largest at which the mean gap is the target, between two tolerances
    that were computed in proportion. Where the target is beyond the curve, its end is taken.
    """
    curves = _curves(records, kind, divergence)
    left, share = _crossing(curves[1].mean(axis=0), target)
    right = min(left + 1, curves[1].shape[1] - 1)
    return Matched(*((1 - share) * each[:, left] + share * each[:, right] for each in curves))


def _crossing(curve: Values, target: float) -> tuple[int, float]:
    """Return the last place where a curve crosses a target, and how far it is to the next place."""
    above = curve >= target
    crossings = np.flatnonzero(above[1:] != above[:-1])
    if not len(crossings):
        return (0, 0.0) if above.all() else (len(curve) - 1, 0.0)
    left = int(crossings[-1])
    rise = curve[left + 1] - curve[left]
    return left, float((target - curve[left]) / rise)


def matched_on_training(records: Records, kind: str, divergence: str, epsilon: str) -> Matched:
    """Return the point that each split's own training rows choose: no test row is looked at.

    It is the largest tolerance at which the gap of the training rows is not above that of OPT there; the
    smallest gap where there is none.
    """
    targets = of_opt(records, epsilon, kind, part="train")
    places = []
    for gaps, target in zip(
        read_path(records, "projection", kind, divergence, f"train_{kind}"), targets, strict=True
    ):
        fit = np.flatnonzero(gaps <= target)
        places.append(int(fit[-1]) if len(fit) else int(gaps.argmin()))
    return Matched(*(each[np.arange(len(places)), places] for each in _curves(records, kind, divergence)))


ON_TEST, ON_TRAINING = "mean test gap", "training rows"  # what a point is matched on


def at_gaps(records: Records, kind: str) -> Iterator[tuple[str, str, dict[str, Matched]]]:
    """Yield each epsilon and divergence with the points that have OPT's gap there."""
    for epsilon, divergence in product(EPSILONS, DIVERGENCES):
        target = float(of_opt(records, epsilon, kind).mean())
        yield (
            epsilon,
            divergence,
            {
                ON_TEST: matched_on_test(records, kind, divergence, target),
                ON_TRAINING: matched_on_training(records, kind, divergence, epsilon),
            },
        )
