"""From a setting to what it decides for every entity: the one place where a study calls the decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.result.bias import bias
from evenhand.decide.result.decided import Decided
from evenhand.release.postprocess.registry import steps_of
from evenhand.study.tasks.decide.methods import method_of
from evenhand.study.tasks.decide.noise import claim_of, noise_for
from evenhand.study.tasks.decide.prepare import entities_of

if TYPE_CHECKING:
    from evenhand.privacy.randomness import SeededSource
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.decide.prepare import PreparedEntities
    from evenhand.study.tasks.decide.task import DecideTask


@dataclass(frozen=True)
class Computed:
    """What a setting decides, and what it promises.

    Parameters
    ----------
    decided : Decided
    epsilon, delta : float
        What is claimed for one person.
    """

    decided: Decided
    epsilon: float
    delta: float


def problem_of(task: DecideTask, prepared: PreparedEntities) -> Any:
    """Return the rule, or the allotment with the weights of the entities."""
    if task.rule is not None:
        return task.parsed()
    weights = np.ones(len(prepared.names)) if prepared.weights is None else prepared.weights
    return Allotment(np.asarray(weights), budget=task.budget, count=str(task.count))


def computed(
    setting: Setting,
    *,
    task: DecideTask,
    prepared: PreparedEntities,
    source: SeededSource,
) -> Computed:
    """Decide for every entity, exactly where a method applies, and otherwise from draws of the source."""
    problem = problem_of(task, prepared)
    if not setting.is_protected:
        return Computed(_true(problem, prepared, task), float("nan"), 1.0)
    promised = noise_for(task, setting, problem)
    steps, mitigation = method_of(setting)
    options: dict[str, Any] = {"draws": task.draws, "rng": source}
    entities = entities_of(prepared)
    if mitigation is not None:
        if mitigation.kind.takes_post:
            options["post"] = steps_of(task.post) or None
        columns = {name: prepared.public[column] for name, column in mitigation.columns.items()}
        given = {**mitigation.parameters, **columns}
        made = mitigation.kind.decide(problem, entities, promised.mechanism, **given, **options)
        return Computed(made.decided, *claim_of(made.guarantee))
    post = steps_of(steps) or None
    decided = bias(problem, entities, promised.mechanism, post=post, **options)
    return Computed(decided, promised.epsilon, promised.delta)


def _true(problem: Any, prepared: PreparedEntities, task: DecideTask) -> Decided:
    """Return the decision from the true counts, as a result that is off by nothing."""
    counts: dict[str, Any] = dict(prepared.codes)
    nothing = np.zeros(len(prepared.names))
    truth = problem.holds(counts) if task.is_rule else problem.shares(counts[str(task.count)])
    return Decided(
        kind="rule" if task.is_rule else "allotment",
        problem=task.formula,
        noise="none",
        names=[str(each) for each in prepared.names],
        truth=truth,
        bias=nothing,
        variance=nothing,
        method="the true counts",
        error_bound=nothing,
        counts=counts,
        populations=prepared.populations,
        budget=task.budget,
    )
