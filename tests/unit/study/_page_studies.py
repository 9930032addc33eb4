"""Studies with any rates one likes, without any model: what a page says of them is known beforehand."""

import functools
import hashlib
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np

from evenhand.measure import MEASURES, RATES
from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.cells import Setting
from evenhand.study.plan.facts import Facts
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.results.results import Results
from evenhand.study.store.outcome import Failure, Outcome
from evenhand.study.tasks.collect.task import CollectTask
from evenhand.study.tasks.shared.report_settings import report_setting

NOTHING = Setting()
WOMEN, MEN = "women", "men"


def wobble(*parts):
    """Return a number between -1 and 1 that depends on the words given, and on nothing else."""
    digest = hashlib.sha256("|".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**47 - 1


def setting(protocol="grr", epsilon=1, split="uniform", strategy="independent", **parameters):
    """Return a protected setting."""
    return report_setting(protocol, Fraction(epsilon), split, strategy, parameters)


def two(women, men, *, tpr=(0.6, 0.7), accuracy=(0.8, 0.82)):
    """Return the rates of two groups: selection, then true positives and accuracy."""
    return {WOMEN: (women, tpr[0], accuracy[0]), MEN: (men, tpr[1], accuracy[1])}


def schema_of(
    groups=(WOMEN, MEN),
    *,
    privileged=None,
    sensitive=("sex", "region"),
    names=None,
    target="hired",
    positive="yes",
):
    """Return a schema of a protected column, another sensitive one, one in the clear and a target."""
    sex, region, job = names or ("sex", "region", "job")
    return Schema(
        columns=(
            Column(sex, Domain.categorical(list(groups))),
            Column(region, Domain.categorical(["north", "south", "west"])),
            Column(job, Domain.categorical(["a", "b"])),
            Column(target, Domain.categorical(["no", positive])),
        ),
        sensitive=[sex if name == "sex" else region for name in sensitive],
        protected=sex,
        privileged=groups[-1] if privileged is None else privileged,
        target=target,
        positive=positive,
    )


def facts_of(schema, groups, **fields):
    return Facts(
        **{
            "label": "people.csv",
            "schema": schema,
            "rows": 1000 * len(groups),
            "dropped": 0,
            "groups": tuple(groups),
            "privileged": None if schema.privileged is None else list(groups).index(schema.privileged),
            "sizes": (1000,) * len(groups),
            "fingerprint": "0123456789abcdef" * 4,
            "versions": {"python": "3.11.7"},
            **fields,
        }
    )


def remedies_of(task, schema, page=None, groups=None):
    """Return the remedies of a page's setting, by default of the rule's."""
    facts = facts_of(schema, groups or tuple(schema.group_column.labels))
    return task.remedies(page or task.find_page(task.settings()), facts)


def crossed_schema(*, privileged=None):
    """Return a schema whose groups are sex by race."""
    columns = (
        Column("sex", Domain.categorical([WOMEN, MEN])),
        Column("race", Domain.categorical(["black", "white"])),
        Column("job", Domain.categorical(["a", "b"])),
        Column("hired", Domain.categorical(["no", "yes"])),
    )
    roles = {"sensitive": ["sex", "race"], "target": "hired", "positive": "yes"}
    return Schema(columns, protected=["sex", "race"], privileged=privileged, **roles)


def crossed(before, after, people=(200.0, 200.0, 200.0, 200.0), **options):
    """Return a study of four crossed groups that are selected so often: women first, black first."""
    schema = crossed_schema()
    groups = tuple(schema.group_column.labels)
    tables = [
        {group: (share, 0.5, 0.8) for group, share in zip(groups, shares, strict=True)}
        for shares in (before, after)
    ]
    results = made(against(*tables), groups=groups, schema=schema, **options)
    for outcome in results.outcomes:
        for group, size in zip(groups, people, strict=True):
            outcome.groups[group]["people"] = size
        outcome.groups.update(_margins(results.facts, outcome.groups))
    return Results(results.plan, results.facts, results.outcomes)


def _margins(facts, groups):
    """Return the rates of each crossed column by itself, from those of the combinations."""
    crossing, rates = facts.schema.crossing, {}
    if crossing is None:
        return {}
    for place, (column, values) in enumerate(zip(crossing.columns, crossing.values, strict=True)):
        for value in values:
            mine = [groups[label] for label in facts.groups if label.split(", ")[place] == value]
            people = sum(each["people"] for each in mine)
            rates[f"{column.name} = {value}"] = {
                "people": people,
                **{name: sum(each[name] * each["people"] for each in mine) / people for name in RATES},
            }
    return rates


def made(
    rates,
    *,
    collect=None,
    repeats=5,
    noise=0.002,
    groups=(WOMEN, MEN),
    schema=None,
    truth=0.2,
    failed=(),
    missing=(),
    undefined=(),
    plan=None,
    **facts,
):
    """Return results whose rates are ``rates(setting) -> {group: (selection, tpr, accuracy)}`` with noise.

    The noise depends on setting, repeat and rate alone, so that exchanging two groups exchanges their noise.
    `failed` and `missing` are (setting, repeat), `undefined` names of measures.
    """
    schema = schema or schema_of(groups)
    made_plan = Plan(
        **{
            "data": DataSource(path="people.csv"),
            "task": replace(collect or CollectTask("grr", 1, splits="uniform"), model="logistic"),
            "repeats": repeats,
            **(plan or {}),
        }
    )
    about = facts_of(schema, groups, **facts)
    outcomes = []
    for cell in made_plan.cells():
        key = (cell.setting, cell.repeat)
        if key in missing:
            continue
        if key in failed:
            outcomes.append(Outcome(cell, failure=Failure("InvalidParameterError", "The 'x' must be y.")))
            continue
        outcomes.append(_outcome(cell, rates(cell.setting), about, noise, truth, undefined))
    return Results(made_plan, about, outcomes)


def _outcome(cell, rates, facts, noise, truth, undefined):
    shared = 3 * noise * wobble("rows", cell.repeat)
    found = {}
    for group, bases in rates.items():
        moved = [
            base + shared + noise * wobble(cell.setting, cell.repeat, place, base)
            for place, base in enumerate(bases)
        ]
        found[group] = dict(zip(("selection", "tpr", "accuracy"), moved, strict=True))
    privileged = None if facts.privileged is None else facts.groups[facts.privileged]
    measures = dict.fromkeys(MEASURES, 0.5)
    measures["acc"] = float(np.mean([each["accuracy"] for each in found.values()]))
    selected = [each["selection"] for each in found.values()]
    measures["sp_gap"] = max(selected) - min(selected)
    for name, rate in (("spd", "selection"), ("eod", "tpr"), ("oad", "accuracy")):
        others = [each[rate] for group, each in found.items() if group != privileged]
        measures[name] = (
            float("nan") if privileged is None else found[privileged][rate] - float(np.mean(others))
        )
    for name in undefined:
        measures[name] = float("nan")
    groups = {group: {**dict.fromkeys(RATES, 0.5), **found[group], "people": 200.0} for group in facts.groups}
    groups |= _margins(facts, groups)
    wobbling = truth + noise * wobble("truth", cell.repeat)
    data = {"true": -wobbling, "reported": 0.1 * wobbling if cell.setting.is_protected else float("nan")}
    data["tested"] = wobbling  # far from the training labels, with which no prediction is to be compared
    return Outcome(cell, measures=measures, groups=groups, data=data, seconds={"train": 0.1})


def against(before, after):
    """Return rates that are `before` without protection and `after` with any."""
    return lambda each: after if each.is_protected else before


# --- what tests of findings and pages share ---------------------------------------------------------

NEVER = re.compile(r"\b(?:[Ss]afe|[Aa]nonym\w*|[Ss]ignifican\w*|[Uu]nbiased|nan|inf|None)\b|!|±|-\d")
"""What no page says; and no minus that is a hyphen."""

BEFORE = two(0.30, 0.60)
FULL = CollectTask(["grr", "oue", "ss"], [0.5, 1, 4], splits=["uniform", "k-based"])


FACTORS = {
    2: {"even": (1.15, 0, 0), "tailed": (1.5, 0, 0), "group": (1.5, 0, 0)},
    5: {"even": (1.07, 0.3, 0), "tailed": (1.45, 4.0, 1.2), "group": (1.5, 4.0, 1.0)},
    7: {
        "even": (1.07 - 0.02 * 4 / 7, 0.3, 0),
        "tailed": (1.1, 3.0, 0.6),
        "selection, change": (1.0, 4.0, 0.3),
        "accuracy, change": (1.3, 1.0, 0.6),
    },
    12: {
        "even": (3.13 / 3, 0.3, 0),
        "tailed": (1.02, 5 / 3, 0.2),
        "group": (3.5 / 3, 1.0, 0.4 / 3),
        "accuracy, change": (1.32 - 0.17 / 3, 0.5 / 3, 0.4 / 3),
    },
}


def interval(values, level=0.95, *, spread="even"):
    """Return mean and limits, written out."""
    from scipy import stats  # takes a second, and few tests need it

    n = len(values)
    usual, width = stats.t.ppf(0.975, n - 1), stats.t.ppf(0.5 + level / 2, n - 1)
    reach = width * np.std(values, ddof=1) / np.sqrt(n)
    lean = stats.skew(values) * np.sqrt(n - 1) / (n - 2) if n > 2 and np.ptp(values) else 0.0
    wide, tail, other = FACTORS[n][spread]
    growth = width / usual
    below, above = (
        max(wide + tail * growth * max(side, 0) - other / max(growth, 1) * max(-side, 0), 0.2 * wide)
        for side in (-lean, lean)
    )
    return np.mean(values), np.mean(values) - below * reach, np.mean(values) + above * reach


def measured(results, where, measure):
    place = results.arrays.measures.index(measure)
    return results.arrays.of_measures[results.place(where), :, place]


def headline(sentence):
    return re.match(r"\*\*(.+?)\*\*", sentence)[1]


def by_setting(table, otherwise=None):
    """Return rates from ``{(protocol, split, epsilon): (gap, accuracy)}``."""

    def rates(where):
        if not where.is_protected:
            return two(0.30, 0.60, accuracy=(0.82, 0.82))
        known = {
            key: value
            for key, value in table.items()
            if all(
                part in {None, has}
                for part, has in zip(
                    key, (where.mechanism, where.option("split"), where.epsilon), strict=True
                )
            )
        }
        gap, accuracy = next(iter(known.values()), otherwise or (0.28, 0.80))
        return two(0.45 - gap / 2, 0.45 + gap / 2, accuracy=(accuracy, accuracy))

    return rates


@functools.cache
def sweep():
    """Return studies over effects large and small, in both directions, with much and little noise."""
    studies = []
    for number in range(36):
        effects = [wobble("effect", number, part) for part in range(4)]
        scale = (0.2, 0.02, 0.002)[number % 3]
        before = two(0.4 + 0.1 * effects[0], 0.5, accuracy=(0.8, 0.8))
        after = two(
            0.4 + 0.1 * effects[0] + scale * effects[1],
            0.5 + scale * effects[2],
            accuracy=(0.8 + scale * effects[3], 0.8 + scale * effects[0]),
        )
        repeats = (1, 2, 5, 12)[number % 4]
        collect = (
            CollectTask("grr", [1, 2], splits="uniform"),
            CollectTask(["grr", "oue"], [1, 8], splits=["uniform", "k-based"]),
        )[number % 2]
        noise = (0.001, 0.01)[number % 5 == 0]
        studies.append(made(against(before, after), collect=collect, repeats=repeats, noise=noise))
    return tuple(studies)


def section(page, anchor):
    """Return the section of a page by its anchor."""
    return next(each for each in page.sections if each.anchor == anchor)
