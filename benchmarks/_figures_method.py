"""DPFermi finished by parity post-processing, and how the settings of the two are chosen."""

import functools

import numpy as np
from _figures_data import DATA, choosing_rows, cut, measures, people, split

from evenhand.learn.fermi.classifier import DPFermi
from evenhand.learn.parity.post_processor import ParityPostProcessor

DELTA, NUMBERS, HOLDOUT = "1e-5", "bins", 0.375  # the last two as chosen; DPFermi has the others as defaults
START = {"numbers": "auto", "strength": 20.0, "rate": 1.0, "epochs": 50, "clip": 1.0, "matrix_rate": 0.5}
START |= {"holdout": 0.25, "aim": "changes"}
CHOSEN = START | {"numbers": NUMBERS, "strength": 20.0, "rate": 4.0, "holdout": HOLDOUT}
STAGES = [
    (
        "features, strength and step size",
        8,
        [
            {"numbers": numbers, "strength": strength, "rate": rate}
            for numbers in ("auto", "bins")
            for strength in (5.0, 10.0, 20.0, 40.0)
            for rate in (1.0, 4.0)
        ],
    ),
    (
        "training, one at a time",
        8,
        [{}, {"epochs": 25}, {"epochs": 100}, {"clip": 0.5}, {"clip": 2.0}, {"matrix_rate": 0.25}],
    ),
    (
        "rows kept back",
        16,
        [{"holdout": share, "aim": aim} for share in (0.25, 0.375, 0.5) for aim in ("changes", "accuracy")],
    ),
]  # fmt: skip

encoded = functools.cache(people)


def finished(model, *, epsilon, rows, holdout, seed, aim="changes"):
    """Return the two together: by a coin each row trains or is counted, so both have the whole epsilon."""
    model.set_params(rows=round(rows * (1 - holdout)))
    return ParityPostProcessor(
        model, epsilon=epsilon, prefit=False, holdout=holdout, groups=[0, 1], aim=aim, rng=seed
    )


def fermi(data, *, epsilon, seed, **settings):
    """Return DPFermi with what is public about the data declared; other settings are the defaults."""
    return DPFermi(
        epsilon=epsilon, delta=DELTA, groups=[0, 1], classes=[0, 1], preprocessing=data.assumptions, rng=seed,
        **settings,
    )  # fmt: skip


def tried(name, settings, rows, seed, *, epsilon=3):
    """Train on some rows and measure on others: `rows` are both."""
    rest = dict(settings)
    data = encoded(name, rest.pop("numbers"))
    holdout, aim = rest.pop("holdout"), rest.pop("aim")
    model = fermi(data, epsilon=epsilon, seed=seed, **rest)
    whole = finished(model, epsilon=epsilon, rows=len(rows[0]), holdout=holdout, seed=seed, aim=aim)
    features, y, group = data.at(rows[0])
    whole.fit(features, y, group=group)
    features, y, group = data.at(rows[1])
    return measures(whole.predict(features, group=group), y, group)


def choose(tell=print):
    """Choose the settings stage by stage; return what was chosen and a line for every setting and data set.

    What counts is the mean over both data sets of accuracy minus gap, at epsilon 3.
    """
    best, lines = dict(START), []
    for stage, splits, options in STAGES:
        scores = []
        for option in options:
            settings, worth = best | option, []
            for name in DATA:
                inside = choosing_rows(len(encoded(name, NUMBERS)))
                runs = [tried(name, settings, cut(inside, seed), seed) for seed in range(splits)]
                table = {each: np.array([run[each] for run in runs]) for each in runs[0]}
                worth.append(float((table["acc"] - table["sp_gap"]).mean()))
                lines.append((stage, name, settings, table))
            scores.append(float(np.mean(worth)))
            tell(f"{stage}: {option or 'as it is'}: {scores[-1]:.4f}", flush=True)
        best |= options[int(np.argmax(scores))]
    return best, lines


def chosen_within(seed, cuts=2):
    """Choose features and strength inside the training part of a plain split, for both data sets at once."""
    scores = []
    for option in STAGES[0][2]:
        if option["rate"] == 1.0:
            continue
        settings, worth = CHOSEN | option, []
        for name in DATA:
            train, _ = split(len(encoded(name, NUMBERS)), seed, kind="plain")
            runs = [tried(name, settings, cut(train, 100 * seed + each), each) for each in range(cuts)]
            worth.append(np.mean([run["acc"] - run["sp_gap"] for run in runs]))
        scores.append((float(np.mean(worth)), settings))
    return max(scores, key=lambda pair: pair[0])[1]
