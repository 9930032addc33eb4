"""How much of a study's time is not training, on the sweep of arcolezi2023.

Run ``python benchmarks/bench_study.py``; add ``--quick`` for a tenth of the trees, ``--adult`` or ``--lsac``
for one of the data sets, and ``--markdown`` for the table of the documentation. Both data sets must be at
hand (``EVENHAND_DATA`` names their folder). Every time is CPU time on one thread, the median over the
repeats; a cell of each kind runs once before, so compilation and imports are not counted.

*Not training* is everything between the prepared rows and the stored outcome but ``fit``: the split, the
reports, the features, the predictions and the measures. The target is less than a tenth of a cell, over the
whole sweep. *Asked naively* is the model's own ``predict_proba`` and ``predict`` on every test row.
"""

import argparse
import statistics
import time
from fractions import Fraction

import numpy as np

from evenhand.learn.encoding.reports import feature_matrix, layout
from evenhand.learn.models import classifier, number_type
from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.run.attempt import execute
from evenhand.study.run.prepare import prepare
from evenhand.study.tasks.collect.execute import STEPS
from evenhand.study.tasks.collect.task import CollectTask
from evenhand.study.tasks.shared.parts import parts
from evenhand.study.tasks.shared.report_settings import report_setting

MODELS = {
    "lsac": {"max_depth": 9, "learning_rate": 0.18177994587365698, "n_estimators": 1100},
    "adult": {"max_depth": 38, "learning_rate": 0.02255696731716368, "n_estimators": 1100},
}
SETTINGS = (
    Setting(),
    *(
        report_setting(protocol, Fraction(epsilon), "uniform", "independent")
        for protocol in ("grr", "oue")
        for epsilon in ("1/4", "1", "10")
    ),
)
COLUMNS = (*STEPS, "other")
TARGET = 0.1


def study_of(dataset, trees):
    """Return the plan of one data set and its rows."""
    parameters = {**MODELS[dataset], "n_estimators": max(1, round(trees * MODELS[dataset]["n_estimators"]))}
    task = CollectTask(model="lightgbm", encoder="one-hot", parameters=parameters)
    plan = Plan(data=DataSource(dataset=dataset), task=task)
    return plan, prepare(plan)


def times_of(setting, plan, prepared, repeats):
    """Return the median CPU time of each step, and of what belongs to no step."""
    found = []
    for repeat in range(repeats):
        start = time.process_time()
        steps = execute(Cell(setting, repeat), plan=plan, prepared=prepared).seconds
        found.append({**steps, "other": time.process_time() - start - sum(steps.values())})
    return {column: statistics.median(each[column] for each in found) for column in COLUMNS}


def naive_time(plan, prepared):
    """Return the CPU time that the model's own predictions take, on every test row."""
    [(train, test)] = parts(prepared.target, test=plan.task.test, seed=plan.seed)
    blocks, dtype = layout(prepared.facts.schema, plan.task.encoder), number_type(plan.task.model)
    learnt, clean = (
        feature_matrix(
            {name: codes[rows] for name, codes in prepared.codes.items()}, blocks=blocks, dtype=dtype
        )
        for rows in (train, test)
    )
    model = classifier(plan.task.model, plan.task.parameters, seed=plan.seed).fit(
        learnt, prepared.target[train]
    )
    start = time.process_time()
    labels, scores = model.predict(clean), model.predict_proba(clean)
    return time.process_time() - start + 0 * (np.size(labels) + np.size(scores))


def line(dataset, setting, times):
    """Return one row of the table as texts."""
    rest = sum(times.values()) - times["train"]
    share = rest / sum(times.values())
    shown = [f"{1000 * times[column]:.1f}" for column in COLUMNS]
    return [dataset, str(setting), *shown, f"{share:.1%}"]


def table(rows, *, markdown):
    """Return the rows as an aligned or a Markdown table."""
    if markdown:
        ruled = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
        return "\n".join(f"| {' | '.join(row)} |" for row in ruled)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def main():
    """Measure and print; exit with 1 if the sweep misses the target."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the trees")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    parser.add_argument("--repeats", type=int, default=3, help="cells of each setting")
    for dataset in MODELS:
        parser.add_argument(f"--{dataset}", action="store_true", help=f"only {dataset}")
    options = parser.parse_args()
    chosen = [each for each in MODELS if getattr(options, each)] or list(MODELS)
    rows = [["data set", "setting", *(f"{column} ms" for column in COLUMNS), "not training"]]
    trained, spent, notes = 0.0, 0.0, []
    for dataset in chosen:
        plan, prepared = study_of(dataset, 0.1 if options.quick else 1)
        short = plan.with_(
            task=CollectTask(model="lightgbm", encoder="one-hot", parameters={"n_estimators": 1})
        )
        for setting in SETTINGS:
            execute(Cell(setting, 0), plan=short, prepared=prepared)
            times = times_of(setting, plan, prepared, options.repeats)
            trained, spent = trained + times["train"], spent + sum(times.values())
            rows.append(line(dataset, setting, times))
            if not setting.is_protected:
                naive = naive_time(plan, prepared)
                ratio = naive / times["predict"]
                asked = f"{dataset}: asked naively, predictions take {1000 * naive:.0f} ms"
                notes.append(f"{asked}, {ratio:.1f} times as long")
    share = 1 - trained / spent
    print(table(rows, markdown=options.markdown))
    print(*notes, sep="\n")
    print(f"whole sweep: {share:.1%} is not training (target: less than {TARGET:.0%})")
    return int(share >= TARGET)


if __name__ == "__main__":
    raise SystemExit(main())
