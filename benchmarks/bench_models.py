"""CPU time of an audit with the usual model, and what it says, beside gradient boosting of scikit-learn.

Run ``python benchmarks/bench_models.py``; name data sets to choose (adult, lsac, compas, acs_coverage,
causal), and add ``--markdown`` for the tables of the documentation. The data must be at hand
(``EVENHAND_DATA`` names their folder). Each is audited by GRR at epsilon 1, once with each model: the same
cells one after the other, so that a slow moment falls on both alike. Times are CPU times on one thread of
whole cells, the split, the reports and the measures included. One cell of each setting runs before, so
compilation and imports are not counted.

*apart* is the greatest difference between the models in what a group gets, people of 1,000, over the groups
and over who is selected and who is wrongly refused, each a mean over the repeats. The verdicts are alike if
their states are, if a group is named first by both, and if it lacks as much in both, within a factor of 1.5.
"""

import argparse
import statistics
import time

from evenhand.answer.telling import Telling
from evenhand.study.plan.cells import Cell
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.results.results import Results
from evenhand.study.run.attempt import execute
from evenhand.study.run.prepare import prepare
from evenhand.study.tasks.collect.task import CollectTask

DATA = ("adult", "lsac", "compas", "acs_coverage", "causal")
USUAL, EARLIER = CollectTask().model, "gradient-boosting"
MODELS = (EARLIER, USUAL)
TARGET, FACTOR = 1 / 3, 1.5
HEADS = (
    ["data set", "setting", f"{EARLIER} s", f"{USUAL} s", "ratio", "apart"],
    ["data set", "model", "state", "who pays", "how much", "alike"],
)


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


def run_setting(setting, plans, prepared):
    """Return the CPU times of both models in each repeat, and what came of their cells."""
    times, outcomes = ({name: [] for name in plans} for _ in range(2))
    timed_cell(Cell(setting, 0), plans[USUAL], prepared)
    for repeat in range(plans[USUAL].repeats):
        for name, plan in plans.items():
            spent, outcome = timed_cell(Cell(setting, repeat), plan, prepared)
            times[name].append(spent)
            outcomes[name].append(outcome)
    return times, outcomes


def compare_times(times, outcomes):
    """Return the median times of both models, the median of their quotients and how far apart they are."""
    rates = {name: [rates_of(outcome) for outcome in found] for name, found in outcomes.items()}
    means = {
        name: {key: statistics.fmean(each[key] for each in found) for key in found[0]}
        for name, found in rates.items()
    }
    ratio = statistics.median(
        ours / theirs for ours, theirs in zip(times[USUAL], times[EARLIER], strict=True)
    )
    apart = max(abs(means[USUAL][key] - means[EARLIER][key]) for key in means[USUAL])
    return statistics.median(times[EARLIER]), statistics.median(times[USUAL]), ratio, apart


def compare_verdicts(plans, prepared, outcomes):
    """Return the state, who pays and how much with each model, in words, and whether they are alike."""
    said, verdicts = {}, {}
    for name, plan in plans.items():
        results = Results(plan, prepared.facts, outcomes[name])
        view = results.view()
        verdicts[name] = Telling(plan.task.case(results)).verdict
        said[name] = (view.state, view.verdict, view.how_much.text)
    return said, are_alike(*verdicts.values())


def are_alike(first, second):
    """Whether two verdicts have one state, and name first the same harm of about the same size.

    Where several groups are named, that the other names first is among them: their order may be chance.
    """
    if first.state != second.state or bool(first.payers) != bool(second.payers):
        return False
    if not first.payers:
        return True
    for one, other in ((first, second), (second, first)):
        key, amount = (one.payers[0].row.group, one.payers[0].row.effect), one.payers[0].amount
        same = {(payer.row.group, payer.row.effect): payer.amount for payer in other.payers}.get(key)
        if same is None or not amount / FACTOR <= same <= amount * FACTOR:
            return False
    return True


def audit(dataset, repeats):
    """Return the rows of both tables for a data set, the ratio of its times, and whether both say alike."""
    tasks = {name: CollectTask(["grr"], [1], model=name) for name in MODELS}
    plans = {
        name: Plan(data=DataSource(dataset=dataset), task=task, repeats=repeats)
        for name, task in tasks.items()
    }
    prepared = prepare(plans[USUAL])
    rows, ratios, outcomes = [], [], {name: [] for name in plans}
    for setting in dict.fromkeys(cell.setting for cell in plans[USUAL].cells()):
        times, found = run_setting(setting, plans, prepared)
        earlier, usual, ratio, apart = compare_times(times, found)
        ratios.append(ratio)
        rows.append([dataset, str(setting), f"{earlier:.2f}", f"{usual:.2f}", f"{ratio:.2f}", f"{apart:.1f}"])
        print("  ".join(rows[-1]), flush=True)
        for name in plans:
            outcomes[name] += found[name]
    said, alike = compare_verdicts(plans, prepared, outcomes)
    verdicts = [[dataset, name, *said[name], "yes" if alike else "no"] for name in MODELS]
    print(*("  ".join(row) for row in verdicts), sep="\n", flush=True)
    return rows, verdicts, statistics.fmean(ratios), alike


def print_table(head, rows):
    """Print a Markdown table."""
    print(*(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)), sep="\n", end="\n\n")


def main():
    """Measure and print; exit with 1 if the usual model takes too long on Adult or says anything else."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", nargs="*", default=DATA, help="data sets")
    parser.add_argument("--repeats", type=int, default=10, help="cells of each setting")
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables")
    options = parser.parse_args()
    tables, ratios, alike = ([], []), {}, {}
    for dataset in options.data:
        *found, ratios[dataset], alike[dataset] = audit(dataset, options.repeats)
        for table, rows in zip(tables, found, strict=True):
            table.extend(rows)
    if options.markdown:
        for head, rows in zip(HEADS, tables, strict=True):
            print_table(head, rows)
    for dataset, ratio in ratios.items():
        print(f"{dataset}: {ratio:.2f} of the CPU time (target on adult: {TARGET:.2f})")
    return int(ratios.get("adult", 0) > TARGET or not all(alike.values()))


if __name__ == "__main__":
    raise SystemExit(main())
