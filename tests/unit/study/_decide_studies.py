"""Small tables of places, and studies of decisions with any numbers one likes."""

from evenhand._notes import Note
from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.facts import Facts
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.results.results import Results
from evenhand.study.run.whole import run
from evenhand.study.store.outcome import Failure, Outcome
from evenhand.study.tasks.decide.task import ENTITY_SIZES, DecideTask

RULE = "(poor/people > 0.2 or poor > 400) and poor >= 20"

PLACES = {
    "town": ["Ash", "Bay", "Cove", "Dale", "Elm"],
    "people": [100, 400, 2_500, 90, 12_000],
    "poor": [21, 60, 540, 18, 2_000],
    "cost": [1.0, 2.0, 1.5, 1.0, 1.25],
    "young": [40, 100, 900, 50, 3_000],
    "old": [60, 300, 1_600, 40, 9_000],
}
"""Five towns: Ash is one person above a line, Dale two below, Cove and Elm far above, Bay far below."""


def rule_task(**parts):
    """Return the task of a right."""
    return DecideTask(
        **{"rule": RULE, "name": "town", "groups": ["young", "old"], "epsilons": [0.5, 1], **parts}
    )


def money_task(**parts):
    """Return the task of an allotment."""
    given = {"count": "poor", "weight": "cost", "budget": 1e6, "name": "town", "groups": ["young", "old"]}
    return DecideTask(**{**given, "epsilons": [0.5, 1], **parts})


def study(task, *, frame=None, **parts):
    """Run a study of the five towns."""
    frame = PLACES if frame is None else frame
    return run(Plan(task=task, **parts), frame=frame, workers=1, progress=False)


# --- made up ----------------------------------------------------------------------------------------


def entity(name, size=100.0, truth=0.2, bias=0.0, **more):
    """Return an entity with numbers."""
    numbers = {"size": size, "truth": truth, "bias": bias, "error": abs(bias), "flip": abs(bias)}
    return name, {**numbers, "distance": 5.0, "place": 0.0, **more}


def made(task, given, *, failures=(), people=5, sizes=(5_000, 9_000), notes=()):
    """Return results in which `given` says, of each protected setting, what its cell came to.

    What is said is a mapping with ``measures``, ``groups``, ``gains`` by the place of a class of sizes,
    ``entities`` and ``notes``.
    """
    plan = Plan(data=DataSource(path="towns.csv"), task=task)
    names = dict.fromkeys((*task.inputs, *task.groups))
    facts = Facts(
        label="towns.csv",
        schema=Schema([Column(name, Domain.integers(0, 10**15)) for name in names]),
        rows=people,
        dropped=0,
        groups=task.groups,
        privileged=0,
        sizes=tuple(sizes[: len(task.groups)]),
        fingerprint="0" * 64,
        notes=tuple(notes),
    )
    outcomes = []
    for place, cell in enumerate(plan.cells()):
        if place in failures:
            outcomes.append(Outcome(cell, failure=Failure("ValueError", "Raised at some.py:1.")))
            continue
        said = given(cell.setting) if cell.setting.is_protected else {}
        outcomes.append(_outcome(cell, task, said))
    return Results(plan, facts, outcomes)


def _outcome(cell, task, said):
    measures = {**dict.fromkeys(task.measures, 0.0), "exact": 1.0, "claimed_epsilon": 1.0}
    if not task.is_rule:
        biases = [abs(numbers["bias"]) for _, numbers in said.get("entities", ())]
        measures["largest_misallocation"] = max(biases, default=0.0) * (task.budget or 1.0)
    data = {}
    for place, size in enumerate(ENTITY_SIZES):
        known = place in said.get("gains", {})
        data[f"entities_{size.key}"] = 2.0 if known else 0.0
        for part, value in (
            ("size", 1.5 * size.least),
            ("gain", said.get("gains", {}).get(place)),
            ("error", 1.0),
            ("relative", 1.0 / max(size.least, 1)),
            ("flip", 0.1),
        ):
            data[f"{part}_{size.key}"] = value if known else float("nan")
    groups = {label: {} for label in task.groups} | said.get("groups", {})
    return Outcome(
        cell,
        {**measures, **said.get("measures", {})},
        groups,
        data,
        {"decide": 0.1},
        entities=tuple(said.get("entities", ())),
        notes=tuple(said.get("notes", (Note("method", "exact"),))),
    )


MONEY = {
    "measures": {"moved": 400.0, "cost_of_privacy": 400.0, "mean_error": 5_000.0, "largest_error": 90_000.0},
    "gains": {1: 50.0, 3: 10.0, 7: -60.0},
    "entities": [
        entity("Elm", 12_000, 0.6, -3e-4),
        entity("Ash", 2, 0.1, 2e-4),
        entity("Void", 0, 0.0, 1e-6),
        entity("Bay", 400, 0.3, 0.0),
    ],
    "groups": {
        "young": {"people": 1_000.0, "due": 3e5, "gain": -200.0, "gain_per_head": -0.2},
        "old": {"people": 4_000.0, "due": 7e5, "gain": 200.0, "gain_per_head": 0.05},
    },
}
RIGHTS = {
    "measures": {
        "expected_wrong": 3.5, "expected_refused": 2.5, "expected_granted": 1.0, "largest_flip": 0.42,
        "mean_error": 0.7, "alpha": 0.42, "at_risk": 2.0, "at_risk_of_loss": 1.0,
    },
    "gains": {5: 0.1},
    "entities": [
        entity("Elm", 12_000, 1.0, -0.42, distance=0.3),
        entity("Ash", 100, 0.0, 0.2, distance=12.0),
        entity("Bay", 400, 1.0, 0.0, distance=500.0),
    ],
    "groups": {
        "young": {"people": 1_000.0, "due": 500.0, "refused": 20.0, "granted": 1.0},
        "old": {"people": 4_000.0, "due": 4_000.0, "refused": 40.0, "granted": 0.0},
    },
}  # fmt: skip


def always(said, **measures):
    """Return what every setting comes to."""
    return lambda _: {**said, "measures": {**said["measures"], **measures}}


def money(said=MONEY, **parts):
    return made(money_task(**parts), always(said))


def rights(said=RIGHTS, **parts):
    return made(rule_task(**parts), always(said))


def done_besides(setting):
    """Return the mitigation or the post-processing of a setting, ``"none"`` for the plain release."""
    return setting.option("mitigation", setting.option("post"))
