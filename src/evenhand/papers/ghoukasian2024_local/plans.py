"""The plans of ghoukasian2024, chapter 5: five experiments, four mechanisms, nine epsilons, twenty seeds.

And their people: which attribute is private, who has which outcome, and how unfair reports of it are.
"""

from __future__ import annotations

import time
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from evenhand import datasets
from evenhand.collect.fairest.optimum import fairest_channel
from evenhand.collect.fairest.population import printed_channel
from evenhand.collect.protocols.registry import protocol_named
from evenhand.papers.arcolezi2023.plans import DATA as MODELS
from evenhand.papers.paper import Study, read_entries, read_studies
from evenhand.papers.trials import Trials
from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.plan import Plan
from evenhand.study.tasks.collect.task import CollectTask, Mechanism

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from evenhand.study.plan.cells import Setting

DATA = read_entries(__package__, "data")  # the experiments by the name of their study
BOTH = "race-gender"  # the attribute that stands for race and gender together
# The epsilons of the figures, as exact texts
EPSILONS = ("0.05", "0.25", "0.5", "1", "2", "4", "8", "10", "20")

SEEDS = 20

# The mechanisms: three of the thesis, and our default error budget
GRR, SS, OPT, BUDGETED = "grr", "ss", "opt", "opt at GRR's error"

LABELS = {GRR: "GRR", SS: "SS", OPT: "OPT", BUDGETED: "OPT at GRR's error (ours)"}

# What the thesis shows, besides the equal-opportunity gap, which is made of the groups' rates
MEASURES = ("acc", "f1", "sp_gap")


def mechanisms(name: str) -> dict[str, Mechanism]:
    """Return what an experiment compares, by name.

    OPT is the thesis's: Theorem 14 for two groups, else the fairest matrix at the smallest error. It knows
    the exact frequencies of all rows.

    >>> mechanisms("adult-race")[OPT].parameters
    {'outcomes': 'exact', 'error': 'minimum'}
    """
    known: dict[str, Any] = {"outcomes": "exact"}
    own = {"as_printed": True} if DATA[name].is_binary else {"error": "minimum"}
    return {
        GRR: Mechanism("grr"),
        SS: Mechanism("ss", {"as_printed": True}),
        OPT: Mechanism("optimal", {**known, **own}),
        BUDGETED: Mechanism("optimal", known),
    }


def way_of(setting: Setting) -> str:
    """Return which of the mechanisms a protected setting has."""
    if setting.mechanism in (GRR, SS):
        return setting.mechanism
    return OPT if {"error", "as_printed"} & set(setting.options) else BUDGETED


def plan_for(name: str, *, epsilons: Sequence[str] = EPSILONS, seeds: int = SEEDS) -> Plan:
    """Return the plan of one experiment; its schema comes with the rows.

    >>> len(plan_for("adult-race").cells()) == (4 * 9 + 1) * 20
    True
    """
    source = DATA[name]
    return Plan(
        task=CollectTask(
            tuple(mechanisms(name).values()), epsilons, strategies="single", model="lightgbm",
            parameters=MODELS[source.dataset].parameters, encoder="one-hot", test=0.2,
        ),
        measures=MEASURES,
        repeats=seeds,
        seed=0,
        name=f"ghoukasian2024, {source.title}",
    )  # fmt: skip


def complete_plan(name: str, plan: Plan) -> tuple[Plan, Any]:
    """Return the plan with the schema of its experiment, and the rows."""
    frame, schema = load_experiment(name)
    return plan.with_(schema=schema), frame


# Hyper-parameters are those of arcolezi2023, so that there is no search
studies = read_studies(
    __package__,
    lambda name, **sizes: Study(name, plan_for(name, **sizes), completed=partial(complete_plan, name)),
)


class Population(NamedTuple):
    """How many people have each value of the private attribute, and how many of them a positive label."""

    values: tuple[str, ...]
    people: tuple[int, ...]
    positive: tuple[int, ...]

    @property
    def weights(self) -> tuple[float, ...]:
        """The share of people with each value."""
        return tuple(count / sum(self.people) for count in self.people)

    @property
    def rates(self) -> tuple[float, ...]:
        """The share of positive labels among them."""
        return tuple(good / count for good, count in zip(self.positive, self.people, strict=True))


def load_experiment(name: str) -> tuple[Any, Schema]:
    """Return the rows of an experiment as an Arrow table, and their schema with its roles.

    The code of race and gender together is that of race times two and that of gender; the two columns are
    taken away.
    """
    source = DATA[name]
    dataset = datasets.load(source.dataset, backend="pyarrow", **source.options)
    frame, schema = dataset.frame, dataset.schema
    if source.attribute == BOTH:
        frame, schema = _join_race_and_gender(frame, schema)
    return frame, schema.with_roles(
        sensitive=(source.attribute,), protected=source.attribute, privileged=source.privileged
    )


def _join_race_and_gender(frame: Any, schema: Schema) -> tuple[Any, Schema]:
    parts, target = ("race", "gender"), str(schema.target)
    labels = [", ".join(map(str, pair)) for pair in product(*(schema[name].domain.values for name in parts))]
    values = [", ".join(pair) for pair in zip(*(frame[name].to_pylist() for name in parts), strict=True)]
    kept = [schema[name] for name in schema.names if name not in {*parts, target}]
    columns = (*kept, Column(BOTH, Domain.categorical(labels)), schema[target])
    joined = Schema(columns, target=target, positive=schema.positive)
    return frame.append_column(BOTH, pa.array(values)).select(list(joined.names)), joined


def population(name: str) -> Population:
    """Return the counts of all rows of an experiment, test rows included, as the thesis used them."""
    frame, schema = load_experiment(name)
    column = schema[str(schema.protected)]
    group = np.asarray([column.domain.code(value) for value in frame[column.name].to_pylist()])
    positive = np.asarray(frame[str(schema.target)].to_pylist()) == schema.positive
    return Population(
        tuple(column.labels),
        tuple(int(count) for count in np.bincount(group, minlength=column.size)),
        tuple(int(count) for count in np.bincount(group[positive], minlength=column.size)),
    )


MECHANISMS = "mechanisms"  # the name of the trials, and of their table


class Unfairness(NamedTuple):
    """Both measures of data unfairness: the thesis's Definition 10 and Definition 11."""

    ratio: float
    difference: float


def unfairness(matrix: ArrayLike, weights: ArrayLike, rates: ArrayLike) -> Unfairness:
    r"""Return the data unfairness of reports.

    `matrix` has the probability :math:`s_{ij}` that a report of group :math:`i` supports value :math:`j`.
    With the share :math:`p_i` of people in a group and their rate :math:`r_i` of positive labels, the rate
    among reports that support :math:`j` is :math:`\sum_i p_i r_i s_{ij} / \sum_i p_i s_{ij}`.
    Randomized response at epsilon 1:

    >>> keep = np.e / (1 + np.e)
    >>> found = unfairness([[keep, 1 - keep], [1 - keep, keep]], [0.7, 0.3], [0.2, 0.6])
    >>> round(found.difference, 10)
    0.1607644219
    """
    q, p, r = (np.asarray(each, dtype=float) for each in (matrix, weights, rates))
    total = p @ q
    seen = total > 0
    reported = (p * r) @ q[:, seen] / total[seen]
    return Unfairness(float(np.abs(reported / (p @ r) - 1).max()), float(reported.max() - reported.min()))


def support(way: str, k: int, epsilon: str) -> tuple[NDArray[np.float64], float | None]:
    """Return the matrix of GRR or SS, and how often a report is wrong; None where it is a set of values."""
    made: Any = protocol_named(way)(k, epsilon, **({"as_printed": True} if way == SS else {}))
    matrix = np.full((k, k), float(made.q))
    np.fill_diagonal(matrix, float(made.p))
    single = bool(abs(matrix.sum(axis=1) - 1).max() < 1e-9)
    return matrix, 1 - float(made.p) if single else None


def mechanism_trials() -> Trials:
    """Return the trials: one for each experiment, at all epsilons, whatever the design."""
    return Trials(MECHANISMS, len(DATA), lambda number: experiment_record(tuple(DATA)[number]))


def experiment_record(name: str) -> dict[str, Any]:
    """Return the record of one experiment: its people, and every mechanism at every epsilon."""
    people = population(name)
    weights, rates = people.weights, people.rates
    fairest_channel([0.6, 0.4], [0.25, 0.75], 1.5, error="grr")  # load the solver in nobody's time
    ways = {
        way: {epsilon: _of_mechanism(name, way, epsilon, weights, rates) for epsilon in EPSILONS}
        for way in (GRR, SS, OPT, BUDGETED)
    }
    return {
        "name": name,
        "values": list(people.values),
        "people": list(people.people),
        "weights": list(weights),
        "rates": list(rates),
        "true": unfairness(np.eye(len(weights)), weights, rates)._asdict(),
        "ways": ways,
    }


def _of_mechanism(
    name: str, way: str, epsilon: str, weights: Sequence[float], rates: Sequence[float]
) -> Mapping[str, Any]:
    start = time.process_time()
    if way in (GRR, SS):
        matrix, error = support(way, len(weights), epsilon)
    else:
        made: Any = printed_channel(weights, float(epsilon)) if way == OPT and DATA[name].is_binary else None
        if made is None:
            budget: Any = "minimum" if way == OPT else "grr"
            made = fairest_channel(weights, rates, float(epsilon), error=budget).matrix
        matrix = np.asarray(made, dtype=float)
        error = float(1 - np.asarray(weights) @ np.diag(matrix))
    seconds = time.process_time() - start
    marginal = np.asarray(weights) @ matrix
    return {
        **unfairness(matrix, weights, rates)._asdict(),
        "error": error,
        "marginal": (marginal / marginal.sum()).tolist(),
        "matrix": matrix.tolist(),
        "seconds": seconds,
    }
