"""The hyper-parameter search of arcolezi2023, scored on validation rows instead of test rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from evenhand._validate import integer, one_of
from evenhand.papers.arcolezi2023.plans import DATA, plan_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.study.tasks.collect.task import CollectTask

__all__ = ["SPACE", "Searched", "draw", "searched"]

SPACE = {"max_depth": (3, 50, 1), "n_estimators": (50, 2000, 50), "learning_rate": (0.01, 0.25, 0.0)}
"""Least, most and step of each hyper-parameter, as the paper prints them; a step of 0 is none."""

_SEED = 42
_VALIDATION = 0.2


@dataclass(frozen=True)
class Searched:
    """What a search found.

    Parameters
    ----------
    parameters : mapping
        Of LightGBM.
    score : float
        Balanced accuracy on the validation rows.
    evaluations : int
        How many were tried.
    """

    parameters: Mapping[str, Any]
    score: float
    evaluations: int


@cache
def searched(name: str, *, evaluations: int = 100) -> Searched:
    """Return the best of so many hyper-parameters, drawn uniformly from :data:`SPACE`.

    The test rows of the paper's split (random state 42) are set aside. A fifth of the training rows is for
    validation; models are trained on the others and scored by balanced accuracy, which is what the paper's
    code maximises. The first of equal scores wins.

    Parameters
    ----------
    name : {"lsac", "adult", "acs_coverage"}
    evaluations : int, default 100
    """
    from sklearn.metrics import balanced_accuracy_score  # noqa: PLC0415 - slow to import

    owner = "searched"
    one_of("name", name, tuple(DATA), owner=owner)
    evaluations = integer("evaluations", evaluations, owner=owner, low=1, high=10_000)
    learnt, target, held, truth = _rows(name)
    best: Searched | None = None
    for number in range(evaluations):
        parameters = draw(name, number)
        model = _model(name, parameters).fit(learnt, target)
        score = float(balanced_accuracy_score(truth, model.predict(held)))
        if best is None or score > best.score:
            best = Searched(parameters, score, evaluations)
    return best or Searched({}, 0.0, 0)


def draw(name: str, number: int) -> dict[str, Any]:
    """Return the hyper-parameters of one trial; they depend on the data set and the trial's number alone.

    >>> sorted(draw("lsac", 0)), draw("lsac", 0) == draw("lsac", 0), draw("lsac", 0) == draw("lsac", 1)
    (['learning_rate', 'max_depth', 'n_estimators'], True, False)
    """
    from evenhand.privacy.randomness import SeededSource  # noqa: PLC0415 - starts numpy

    words = SeededSource(_SEED).for_cell(f"arcolezi2023 search {name} {number}").words(len(SPACE))
    drawn: dict[str, Any] = {}
    for word, (parameter, (low, high, step)) in zip(words.tolist(), SPACE.items(), strict=True):
        if step:
            drawn[parameter] = int(low + step * (word * int((high - low) / step + 1) >> 64))
        else:
            drawn[parameter] = low + (high - low) * (word / 2.0**64)
    return drawn


def _rows(name: str) -> tuple[Any, Any, Any, Any]:
    """Return features and target of the rows to learn from and of those to validate on."""
    from sklearn.model_selection import train_test_split  # noqa: PLC0415 - slow to import

    from evenhand.study.run.prepare import prepare  # noqa: PLC0415
    from evenhand.study.tasks.shared.features import feature_matrix, layout  # noqa: PLC0415 - as above
    from evenhand.study.tasks.shared.models import number_type  # noqa: PLC0415
    from evenhand.study.tasks.shared.parts import parts  # noqa: PLC0415

    plan = plan_for(name, seeds=1)
    task = cast("CollectTask", plan.task)
    prepared = prepare(plan)
    ((train, _test),) = parts(prepared.target, test=task.test, seed=_SEED)
    kept, held = train_test_split(
        train, test_size=_VALIDATION, stratify=prepared.target[train], random_state=_SEED
    )
    blocks = layout(prepared.facts.schema, task.encoder)

    def features(rows: Any) -> Any:
        codes = {column: values[rows] for column, values in prepared.codes.items()}
        return feature_matrix(codes, blocks=blocks, dtype=number_type(task))

    return features(kept), prepared.target[kept], features(held), prepared.target[held]


def _model(name: str, parameters: Mapping[str, Any]) -> Any:
    from evenhand.study.tasks.shared.models import classifier  # noqa: PLC0415 - slow to import

    return classifier(cast("CollectTask", plan_for(name, seeds=1, parameters=parameters).task), seed=_SEED)
