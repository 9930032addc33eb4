"""CPU time of an audit's runs with the usual model, beside gradient boosting as scikit-learn has it.

Run ``python benchmarks/bench_models.py``; name data sets to choose (adult, lsac, compas, acs_coverage, causal),
and add ``--markdown`` for the table of the documentation. The data must be at hand (``EVENHAND_DATA`` names
their folder). Both models run the same cells one after the other, so that a slow moment falls on both alike;
times are CPU times on one thread of whole cells, the split, the reports and the measures included. One cell
of each runs before, so compilation and imports are not counted.

*apart* is the greatest difference between the models in what a group gets, people of 1,000, over the groups
and over who is selected and who is wrongly refused, each a mean over the repeats.
"""

import argparse
import statistics
import time

from evenhand.study.plan.cells import Cell
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.run.attempt import execute
from evenhand.study.run.prepare import prepare
from evenhand.study.tasks.collect.task import CollectTask

DATA = ("adult", "lsac", "compas", "acs_coverage", "causal")
USUAL, EARLIER = CollectTask().model, "gradient-boosting"
TARGET = 1 / 3


def timed_cell(cell, plan, prepared):
    """Return the CPU time of a cell and what came of it."""
    start = time.process_time()
    outcome = execute(cell, plan=plan, prepared=prepared)
    return time.process_time() - start, outcome


def rates_of(outcome):
    """Return who is selected and who is wrongly refused, of 1,000 of each group."""
    found = {}
    for group, rates in outcome.groups.items():
        refused = rates["base_rate"] * (1 - rates["tpr"])
        found |= {(group, "selected"): 1000 * rates["selection"], (group, "refused"): 1000 * refused}
    return found


def compare(setting, plans, prepared, repeats):
    """Return the median times of both models, the median of their quotients and how far apart they are."""
    times, rates = {name: [] for name in plans}, {name: [] for name in plans}
    for repeat in range(repeats):
        for name, plan in plans.items():
            spent, outcome = timed_cell(Cell(setting, repeat), plan, prepared)
            times[name].append(spent)
            rates[name].append(rates_of(outcome))
    means = {
        name: {key: statistics.fmean(each[key] for each in found) for key in found[0]}
        for name, found in rates.items()
    }
    ratio = statistics.median(ours / theirs for ours, theirs in zip(times[USUAL], times[EARLIER], strict=True))
    apart = max(abs(means[USUAL][key] - means[EARLIER][key]) for key in means[USUAL])
    return statistics.median(times[EARLIER]), statistics.median(times[USUAL]), ratio, apart


def main():
    """Measure and print; exit with 1 if the usual model takes more than a third on Adult."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", nargs="*", default=DATA, help="data sets")
    parser.add_argument("--repeats", type=int, default=5, help="cells of each setting")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    options = parser.parse_args()
    rows, ratios = [["data set", "setting", f"{EARLIER} s", f"{USUAL} s", "ratio", "apart"]], {}
    for dataset in options.data:
        tasks = {name: CollectTask(["grr", "oue"], [1], model=name) for name in (EARLIER, USUAL)}
        plans = {name: Plan(data=DataSource(dataset=dataset), task=task) for name, task in tasks.items()}
        prepared = prepare(plans[USUAL])
        settings = dict.fromkeys(cell.setting for cell in plans[USUAL].cells())
        for setting in settings:
            timed_cell(Cell(setting, 0), plans[USUAL], prepared)
            earlier, usual, ratio, apart = compare(setting, plans, prepared, options.repeats)
            ratios.setdefault(dataset, []).append(ratio)
            shown = [f"{earlier:.2f}", f"{usual:.2f}", f"{ratio:.2f}", f"{apart:.1f}"]
            rows.append([dataset, str(setting), *shown])
            print("  ".join(rows[-1]), flush=True)
    if options.markdown:
        print(*(f"| {' | '.join(row)} |" for row in (rows[0], ["---"] * len(rows[0]), *rows[1:])), sep="\n")
    for dataset, found in ratios.items():
        print(f"{dataset}: {statistics.fmean(found):.2f} of the CPU time (target on adult: {TARGET:.2f})")
    return int(statistics.fmean(ratios.get("adult", [0])) > TARGET)


if __name__ == "__main__":
    raise SystemExit(main())
