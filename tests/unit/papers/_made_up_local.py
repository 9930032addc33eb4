"""Results and records of ghoukasian2024, chapter 5, made by hand: findings can be planted in them."""

import numpy as np

from evenhand.measure import MEASURES
from evenhand.papers.ghoukasian2024_local.plans import DATA, EPSILONS, plan_for, way_of
from evenhand.papers.ghoukasian2024_local.projection import DIVERGENCES, KINDS
from evenhand.papers.ghoukasian2024_local.projection import EPSILONS as THREE
from evenhand.papers.ghoukasian2024_local.tables import TABLES
from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.facts import Facts
from evenhand.study.results.results import Results
from evenhand.study.store.outcome import Outcome

FEW = ("0.5", "4", "20")


def facts(name, *, wrong=False):
    """Return facts with the thesis's number of groups, or one more."""
    source = DATA[name]
    size = source.k + wrong
    schema = Schema(
        (Column(source.attribute, Domain.integers(0, size - 1)), Column("target", Domain.integers(0, 1))),
        sensitive=(source.attribute,),
        protected=source.attribute,
        privileged=size - 1,
        target="target",
        positive=1,
    )
    return Facts(
        label=name,
        schema=schema,
        rows=1000 * size,
        dropped=0,
        groups=tuple(str(group) for group in range(size)),
        privileged=size - 1,
        sizes=(1000,) * size,
        fingerprint="0" * 64,
    )


def made(name, gap, use, *, seeds=6, epsilons=FEW, noise=0.0005, wrong=False):
    """Return results with the gaps `gap(name, way, epsilon)` and the utility `use(name, way, epsilon)`."""
    plan = plan_for(name, epsilons=epsilons, seeds=seeds)
    about = facts(name, wrong=wrong)
    draws = np.random.default_rng(5)
    shared = draws.normal(0, 0.005, seeds)
    outcomes = []
    for cell in plan.cells():
        way = way_of(cell.setting) if cell.setting.is_protected else "none"
        epsilon = float(cell.setting.epsilon or 0)
        width = gap(name, way, epsilon) + shared[cell.repeat] + draws.normal(0, noise)
        level = use(name, way, epsilon) + shared[cell.repeat] + draws.normal(0, noise)
        groups = {
            group: {"tpr": 0.5 + (width if place else 0.0), "people": 100.0}
            for place, group in enumerate(about.groups)
        }
        measures = dict.fromkeys(MEASURES, 0.5) | {
            "acc": level, "f1": level, "sp_gap": width, "eo_gap": width,
        }  # fmt: skip
        outcomes.append(Outcome(cell, measures, groups, {}))
    return Results(plan, about, outcomes)


def as_told(name, way, epsilon):
    """Return gaps as the thesis tells them."""
    base = 0.02 + 0.02 * DATA[name].k
    if way == "none":
        return base
    if DATA[name].is_binary:
        other = base - 0.005
        lead = 0.002 if epsilon <= 0.5 else (0.45 * base if name == "lsac-gender" else 0.035)
        return other - lead if way == "opt" else other
    other = base - 0.01
    return other - 0.03 if way == "opt" and epsilon >= 4 else other - 0.0005 * (way == "opt")


def same_use(_name, way, _epsilon):
    """Return a utility that nothing changes much."""
    return 0.8 - 0.001 * (way != "none")


def the_other_way(name, way, epsilon):
    """Return gaps that contradict the thesis: OPT is worse, the worse the larger epsilon is."""
    base = 0.3 - 0.02 * DATA[name].k
    if way != "opt":
        return base
    return base + 0.03 + 0.002 * epsilon


def much_use(_name, way, _epsilon):
    """Return a utility that OPT costs."""
    return 0.8 - 0.1 * (way == "opt")


def mechanism_record(name, *, worse=False):
    """Return the record of an experiment's mechanisms; OPT fairer than GRR, or worse."""
    k = DATA[name].k
    weights = [1 / k] * k
    matrix = np.full((k, k), 0.1 / (k - 1)) + np.eye(k) * (0.9 - 0.1 / (k - 1))

    def told(way, epsilon):
        ratio = 0.02 * float(epsilon) * ((1.01 if worse else 0.9) if way == "opt" else 1.0)
        return {
            "ratio": ratio, "difference": ratio / 2, "error": None if way == "ss" else 0.1,
            "marginal": weights, "matrix": matrix.tolist(),
            "seconds": (0.01 if worse else 0.001) * (20 - k if worse else k),
        }  # fmt: skip

    ways = ("grr", "ss", "opt", "opt at GRR's error")
    return {
        "name": name, "values": [str(each) for each in range(k)], "people": [100] * k, "weights": weights,
        "rates": [0.5] * k, "true": {"ratio": 0.5, "difference": 0.25},
        "ways": {way: {epsilon: told(way, epsilon) for epsilon in EPSILONS} for way in ways},
    }  # fmt: skip


def mechanism_records(**options):
    """Return the records of all experiments."""
    return {number: mechanism_record(name, **options) for number, name in enumerate(DATA)}


def projection_record(number, table, *, ahead=0.0, slow=1.0, spread=0.0005, printed=None):
    """Return the record of one split.

    `table` has the accuracy and gaps without intervention, and for each epsilon of OPT. A projection's gap is
    its tolerance, and its accuracy that of OPT less `ahead` at every gap; or that of the printed lines, if
    `printed` has the name of the trials.
    """
    draws = np.random.default_rng(number)
    jitter = float(draws.normal(0, spread))

    def told(acc, sp, meo):
        return {"acc": acc + jitter, "sp": sp + jitter, "meo": meo + jitter}

    none, opt = table["none"], table["opt"]
    curve = {}
    for place, kind in enumerate(KINDS, start=1):
        gaps = np.linspace(0, none[place], 41)
        at = [opt[epsilon][place] for epsilon in THREE]
        level = np.interp(gaps, sorted([*at, none[place]]), sorted([*(opt[e][0] for e in THREE), none[0]]))
        curve[kind] = {}
        for divergence in DIVERGENCES:
            columns = {"tolerance": gaps.tolist(), "seconds": [0.01 * slow] * 41}
            if printed is not None:
                gaps, level = printed_curve(printed, kind, divergence)
                columns = {"tolerance": gaps.tolist(), "seconds": [0.01 * slow] * len(gaps)}
            for part in ("train", "test"):
                columns[f"{part}_acc"] = (level - ahead + jitter).tolist()
                columns[f"{part}_{kind}"] = (gaps + jitter).tolist()
            curve[kind][divergence] = columns
    return {
        "none": {"train": told(*none), "test": told(*none), "seconds": {"train": 1.0}},
        "opt": {
            epsilon: {
                "train": told(*opt[epsilon]), "test": told(*opt[epsilon]),
                "seconds": {"protect": 0.001, "train": 1.0},
            }
            for epsilon in THREE
        },
        "projection": curve,
    }  # fmt: skip


def printed_curve(trials, kind, divergence):
    """Return gaps and accuracies of a projection through its printed lines, to that without intervention."""
    lines = next(found for name, of, found in TABLES.values() if (name, of) == (trials, kind))
    points = sorted({(line.gap, line.acc) for line in lines if line.method in {divergence, "none"}})
    gaps, level = (np.array(each) for each in zip((0.0, points[0][1]), *points, strict=True))
    return gaps, level


PRINTED = {
    "compas-projection": {
        "none": (0.6807, 0.2553, 0.2106),
        "opt": {
            "0.2": (0.6798, 0.2200, 0.1670), "1": (0.6802, 0.2346, 0.1780), "4": (0.6804, 0.2482, 0.1943),
        },
    },
    "adult-projection": {
        "none": (0.8611, 0.1151, 0.0668),
        "opt": {
            "0.2": (0.8609, 0.1094, 0.0573), "1": (0.8611, 0.1099, 0.0580), "4": (0.8611, 0.1101, 0.0583),
        },
    },
}  # fmt: skip
"""The thesis's numbers."""

WRONG = {
    "compas-projection": {
        "none": (0.75, 0.20, 0.30),
        "opt": {"0.2": (0.70, 0.19, 0.28), "1": (0.70, 0.195, 0.285), "4": (0.70, 0.198, 0.29)},
    },
    "adult-projection": {
        "none": (0.80, 0.20, 0.15),
        "opt": {"0.2": (0.75, 0.15, 0.10), "1": (0.76, 0.16, 0.11), "4": (0.77, 0.17, 0.12)},
    },
}
"""Other numbers."""


def projection_records(name, *, table=PRINTED, splits=10, **options):
    """Return the records of all splits of a data set."""
    return {number: projection_record(number, table[name], **options) for number in range(splits)}


def printed_records(name, **options):
    """Return records of a data set whose means are the printed ones, with next to no noise."""
    return projection_records(name, printed=name, spread=3e-5, **options)
