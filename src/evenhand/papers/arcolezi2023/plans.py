"""The plans of arcolezi2023: three data sets, seven protocols, two splits, nine epsilons, twenty seeds.

The hyper-parameters are the published ones, or those of a search that is scored on validation rows instead
of test rows.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split

from evenhand import datasets
from evenhand._validate import integer, one_of
from evenhand.learn.encoding.reports import feature_matrix, layout
from evenhand.learn.models import classifier, number_type
from evenhand.papers.paper import Study, read_entries, read_toml
from evenhand.privacy.randomness import SeededSource
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.run.prepare import prepare
from evenhand.study.tasks.collect.task import CollectTask, Mechanism
from evenhand.study.tasks.shared.parts import parts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


EPSILONS = ("0.25", "0.5", "1", "2", "4", "8", "10", "20", "50")  # the epsilons of the paper, as exact texts

SPLITS = ("uniform", "k-based")
SEEDS = 20

PROTOCOLS = tuple(
    Mechanism(name, {"as_printed": True} if name == "ss" else {})
    for name in ("grr", "blh", "olh", "rappor", "oue", "ss", "the")
)
"""The protocols. SS rounds its subset size as the authors' code does.

OLH keeps our number of buckets: it is that of the code in every setting but LSAC, k-based, epsilon 2. With
``as_printed`` it would differ in many, for the code rounds where the paper's text rounds down.
"""

# What the paper shows. Its "auc" comes from hard predictions: it is the balanced accuracy. Ours is true
MEASURES = ("acc", "f1", "recall", "balanced_accuracy", "auc", "spd", "di", "eod", "oad")


DATA = read_entries(__package__, "data")  # the data sets by the name of their study


def studies(design: str, *, search: bool | int = False) -> tuple[Study, ...]:
    """Return the studies of a design; with `search` that many hyper-parameters are tried first, 100 for True.

    >>> [(study.name, study.cells) for study in studies("quick")]
    [('lsac', 129)]
    """
    found = []
    for name, sizes in read_toml(__package__, "paper.toml")["studies"][design].items():
        base = name.removesuffix("-subsets")
        parameters = None
        if search:
            parameters = search_parameters(base, evaluations=100 if search is True else search).parameters
        plan = plan_for(base, parameters=parameters, **sizes)
        parts = partial(subset_plans, base, plan) if base != name else None
        found.append(Study(f"{name}-searched" if search else name, plan, parts))
    return tuple(found)


def plan_for(
    name: str,
    *,
    epsilons: Sequence[str] = EPSILONS,
    seeds: int = SEEDS,
    parameters: Mapping[str, Any] | None = None,
) -> Plan:
    """Return the plan of one data set.

    >>> len(plan_for("adult").cells()) == (7 * 2 * 9 + 1) * 20
    True
    """
    source = DATA[name]
    return Plan(
        data=DataSource(dataset=source.dataset, options=source.options),
        task=CollectTask(
            PROTOCOLS, epsilons, splits=SPLITS, model="lightgbm", parameters=parameters or source.parameters,
            encoder="one-hot", test=0.2,
        ),
        measures=MEASURES,
        repeats=seeds,
        seed=0,
        name=f"arcolezi2023 {name}",
    )  # fmt: skip


def draw_subset(others: Sequence[str], seed: int) -> tuple[str, ...]:
    """Return the attributes that a run of appendix A makes sensitive besides the protected one.

    How many is uniform from 1 to all, which ones are drawn without replacement. The draw depends on the seed
    of the run alone, so that all protocols, splits and epsilons share it.

    >>> draw_subset(["age", "race", "country"], 3) == draw_subset(["age", "race", "country"], 3)
    True
    """
    words = [int(word) for word in SeededSource(seed).for_cell("arcolezi2023 subset").words(len(others) + 1)]
    size = 1 + (words[0] * len(others) >> 64)
    ranked = sorted(range(len(others)), key=lambda place: words[place + 1])
    return tuple(others[place] for place in sorted(ranked[:size]))


def subset_plans(name: str, plan: Plan) -> tuple[Plan, ...]:
    """Return a plan for each seed, with the sensitive attributes that its draw names."""
    schema = datasets.load(DATA[name].dataset, backend="pyarrow", **DATA[name].options).schema
    protected = str(schema.protected)
    return tuple(
        plan.with_(
            schema=schema.with_roles(sensitive=(protected, *draw_subset(DATA[name].others, seed))),
            repeats=1,
            seed=plan.seed + seed,
            name=f"{plan.name} subsets {seed}",
        )
        for seed in range(plan.repeats)
    )


# Least, most and step of each hyper-parameter, as the paper prints them; a step of 0 is none
SPACE = {"max_depth": (3, 50, 1), "n_estimators": (50, 2000, 50), "learning_rate": (0.01, 0.25, 0.0)}

_SEED = 42
_VALIDATION = 0.2


class SearchResult(NamedTuple):
    """Parameters of LightGBM, their balanced accuracy on the validation rows, and how many were tried."""

    parameters: Mapping[str, Any]
    score: float
    evaluations: int


@cache
def search_parameters(name: str, *, evaluations: int = 100) -> SearchResult:
    """Return the best of so many hyper-parameters, drawn uniformly from :data:`SPACE`.

    The test rows of the paper's split (random state 42) are set aside. A fifth of the training rows is for
    validation; models are trained on the others and scored by balanced accuracy, which is what the paper's
    code maximises. The first of equal scores wins.
    """
    owner = "search_parameters"
    one_of("name", name, tuple(DATA), owner=owner)
    evaluations = integer("evaluations", evaluations, owner=owner, low=1, high=10_000)
    learnt, target, held, truth = _rows(name)

    def score(parameters: Mapping[str, Any]) -> float:
        model = _model(name, parameters).fit(learnt, target)
        return float(balanced_accuracy_score(truth, model.predict(held)))

    tried = ((score(each), each) for each in (draw_parameters(name, number) for number in range(evaluations)))
    best, parameters = max(tried, key=lambda pair: pair[0])
    return SearchResult(parameters, best, evaluations)


def draw_parameters(name: str, number: int) -> dict[str, Any]:
    """Return the hyper-parameters of one trial; they depend on the data set and the trial's number alone.

    >>> first = draw_parameters("lsac", 0)
    >>> sorted(first), first == draw_parameters("lsac", 0), first == draw_parameters("lsac", 1)
    (['learning_rate', 'max_depth', 'n_estimators'], True, False)
    """
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
        return feature_matrix(codes, blocks=blocks, dtype=number_type(task.model))

    return features(kept), prepared.target[kept], features(held), prepared.target[held]


def _model(name: str, parameters: Mapping[str, Any]) -> Any:
    task = cast("CollectTask", plan_for(name, seeds=1, parameters=parameters).task)
    return classifier(task.model, task.parameters, seed=_SEED)
