"""Accuracy and parity of a private classifier: one method, the same settings, on Adult and on Credit.

    python benchmarks/figures_learn.py [--choose] [--out docs/reproductions/learn-figures]

The method is DPFermi finished by ParityPostProcessor. A row trains or is counted, by a coin, so both have the
whole epsilon (add or remove one person); features are made by PublicEncoder from the schemas alone.

`--choose` looks for settings inside half of the rows (`_figures_method.py`; those of DPFermi became its
defaults), and chooses features and strength anew inside the training part of each plain split.
Without it they are measured on ten splits whose test rows come from the other half only (`separate`), and on
ten plain random splits (`plain`), at epsilon 3 and 9 and delta 1e-5; on forty plain splits at epsilon 3, as
the mean gap of ten is uncertain by a fifth; all of that again with the defaults of the encoder and of the
post-processing in place of what was chosen; then what each change from the thesis's configuration is worth
(`_figures_shares.py`, three splits). Tables are written as CSV. Eight minutes of CPU for both parts.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is there

import argparse
import csv
import time
from pathlib import Path

import numpy as np
from _figures_data import DATA, fair_gap, measures, split
from _figures_method import HOLDOUT, NUMBERS, choose, chosen_within, encoded, fermi, finished, tried
from _figures_shares import configurations, judged, trained

HERE = Path(__file__).resolve().parent.parent / "docs" / "reproductions" / "learn-figures"
COLUMNS = (
    "table", "dataset", "mechanism", "split", "strategy", "epsilon", "measure", "ours", "standard_error",
    "runs", "paper", "verdict", "note",
)  # fmt: skip
METHOD = "DPFermi + ParityPostProcessor"
SPLITS, MANY_SPLITS, SHARE_SPLITS = 10, 40, 3
AIMS = {
    ("adult", 3): (0.815, 0.010), ("adult", 9): (0.815, 0.010),
    ("credit_default", 3): (0.810, 0.009), ("credit_default", 9): (0.810, 0.010),
}  # fmt: skip
THESIS = {  # accuracy and gap: Algorithm 2, then DP-FERMI at its largest strength
    ("adult", 3): ((0.7763, 0.0074), (0.7673, 0.0099)), ("adult", 9): ((0.7790, 0.0091), (0.7693, 0.0030)),
    ("credit_default", 3): ((0.7844, 0.0086), (0.7669, 0.0110)),
    ("credit_default", 9): ((0.7900, 0.0056), (0.7884, 0.0066)),
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--choose", action="store_true", help="look for settings, inside half of the rows")
    parser.add_argument("--out", type=Path, default=HERE)
    given = parser.parse_args()
    start = time.process_time()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.choose:
        write(given.out / "choosing.csv", chosen())
        write(given.out / "nested.csv", nested())
    else:
        write(given.out / "figures.csv", figures())
        write(given.out / "defaults.csv", defaults())
        write(given.out / "changes.csv", changes())
    print(f"{time.process_time() - start:.0f} CPU s")


def line(table, dataset, epsilon, measure, values, **more):
    """Return one row: the mean of the values and its standard error."""
    values = np.asarray(values, dtype=float)
    error = values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else None
    row = dict.fromkeys(COLUMNS) | {
        "table": table, "dataset": dataset, "mechanism": METHOD, "epsilon": epsilon, "measure": measure,
        "ours": round(float(values.mean()), 6), "runs": len(values),
        "standard_error": None if error is None else round(float(error), 6),
    }  # fmt: skip
    return row | more


def write(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


# --- choosing --------------------------------------------------------------------------------------------


def chosen():
    best, lines = choose()
    print("chosen:", best)
    return [
        line(
            f"choosing: {stage}",
            name,
            3,
            measure,
            table[measure],
            split="validation",
            strategy=", ".join(f"{key}={value}" for key, value in settings.items()),
            verdict="chosen" if settings == best else "",
        )
        for stage, name, settings, table in lines
        for measure in ("acc", "sp_gap")
    ]


def nested():
    """Choose anew inside the training part of each plain split, and measure on its test rows."""
    runs = {name: [] for name in DATA}
    told = []
    for seed in range(SPLITS):
        best = chosen_within(seed)
        told.append(f"{best['numbers']} {best['strength']:g}")
        for name in DATA:
            rows = split(len(encoded(name, NUMBERS)), seed, kind="plain")
            runs[name].append(tried(name, best, rows, seed))
        print(seed, told[-1], [runs[name][-1] for name in DATA], flush=True)
    note = f"features and strength chosen in each split: {'; '.join(told)}"
    return [
        line(
            "nested",
            name,
            3,
            measure,
            [run[measure] for run in runs[name]],
            split="plain",
            strategy="chosen in each training part",
            note=note,
        )
        for name in DATA
        for measure in ("acc", "sp_gap", "rate_women", "rate_men")
    ]


# --- the figures -----------------------------------------------------------------------------------------


def figures():
    rows = []
    for name in DATA:
        data = encoded(name, NUMBERS)
        for kind in ("separate", "plain"):
            for epsilon in (3, 9):
                rows += measured(data, kind, epsilon)
        rows += measured(data, "plain", 3, splits=MANY_SPLITS)
    return rows


def defaults():
    """Measure the same with nothing set at all: the encoder's and the post-processing's own defaults."""
    rows = []
    for name in DATA:
        data = encoded(name, "auto")
        for kind in ("separate", "plain"):
            for epsilon in (3, 9):
                rows += measured(data, kind, epsilon, holdout=0.25)
        rows += measured(data, "plain", 3, splits=MANY_SPLITS, holdout=0.25)
    return [row | {"table": "defaults"} for row in rows]


def measured(data, kind, epsilon, splits=SPLITS, holdout=HOLDOUT):
    after, before, floor, noise, whole = [], [], [], [], None
    for seed in range(splits):
        train, test = split(len(data), seed, kind=kind)
        model = fermi(data, epsilon=epsilon, seed=seed)
        whole = finished(model, epsilon=epsilon, rows=len(train), seed=seed, holdout=holdout)
        features, y, group = data.at(train)
        whole.fit(features, y, group=group)
        features, y, group = data.at(test)
        answers = whole.predict(features, group=group)
        after.append(measures(answers, y, group))
        before.append(measures(whole.estimator_.predict(features), y, group))
        floor.append(fair_gap(answers.mean(), np.bincount(group), draws=20_000))
        noise.append(whole.estimator_.noise_)
    told = whole.guarantee_
    note = (
        f"{len(train)} rows of which {len(train) - whole.estimator_.rows} are kept back on average, "
        f"{len(test)} test rows; {told.unit}; epsilon {float(told.epsilon):g}, delta {float(told.delta):g}; "
        f"{whole.estimator_.steps_} steps, noise multiplier {np.mean(noise):.4f}"
    )
    kind = kind if splits == SPLITS else f"{kind}, {splits} splits"
    rows = []
    for place, measure in enumerate(("acc", "sp_gap", "rate_women", "rate_men")):
        values = [each[measure] for each in after]
        paper = THESIS[data.name, epsilon][0][place] if place < 2 else None
        met = None
        if place < 2:
            aim = AIMS[data.name, epsilon][place]
            reached = np.mean(values) >= aim if place == 0 else np.mean(values) <= aim
            met = f"aim {'>=' if place == 0 else '<='} {aim}: {'met' if reached else 'missed'}"
        rows.append(
            line("figures", data.name, epsilon, measure, values, split=kind, strategy="finished", paper=paper,
                 verdict=met, note=note)
        )  # fmt: skip
    rows += [
        line("figures", data.name, epsilon, measure, [each[measure] for each in before], split=kind,
             mechanism="DPFermi", strategy="before finishing", note=note, paper=paper)
        for measure, paper in zip(("acc", "sp_gap"), THESIS[data.name, epsilon][1], strict=True)
    ]  # fmt: skip
    rows.append(
        line(
            "figures",
            data.name,
            epsilon,
            "sp_gap",
            floor,
            split=kind,
            mechanism="perfectly fair classifier",
            strategy="same positive rate and test set",
            note="mean gap by chance alone",
        )
    )
    for row in rows:
        print(data.name, kind, epsilon, row["mechanism"], row["measure"], row["ours"], row["standard_error"],
              row["verdict"] or "", flush=True)  # fmt: skip
    return rows


# --- what each change is worth ---------------------------------------------------------------------------


def changes():
    rows = []
    for name in DATA:
        data = encoded(name, NUMBERS)
        model = fermi(data, epsilon=3, seed=0)
        for told, made in configurations():
            runs = []
            for seed in range(SHARE_SPLITS):
                train, test = split(len(data), seed, kind="separate")
                runs.append(judged(trained(made, data, train, model, seed=seed), data, test))
            rows += [
                line("changes", name, 3, measure, [run[measure] for run in runs], split="separate",
                     mechanism="DPFermi", strategy=told)
                for measure in ("acc", "sp_gap", "rate_women", "rate_men")
            ]  # fmt: skip
            print(name, told, [row["ours"] for row in rows[-4:]], flush=True)
    return rows


if __name__ == "__main__":
    main()
