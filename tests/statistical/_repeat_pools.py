"""Many repeats of studies on fixed rows, and how often intervals from a few of them hold their mean."""

from pathlib import Path

import numpy as np

from evenhand.measure.repeat_means import FEWEST_REPEATS, means
from evenhand.study import CollectTask, DataSource, Plan
from evenhand.study.run.whole import run
from evenhand.study.tasks.measure import CLASSIFIER_MEASURES, CLASSIFIER_RATES

LEARNERS = {"logistic": {}, "gradient-boosting": {"max_iter": 20}}
SIZES = (400, 2000)
FILES = {"logistic": (11, 12), "gradient-boosting": (11,)}
REPEATS = {"logistic": 600, "gradient-boosting": 400}
ARMS = ("unprotected", "protected", "change")
STUDIES = 10_000


def run_pool(folder, learner, size, file):
    """Return measures and rates of groups in many repeats on one file of rows; run once, then read."""
    path = Path(folder) / f"{learner}-{size}-{file}.npz"
    if not path.exists():
        plan = Plan(
            data=DataSource(dataset="causal", options={"n": size, "seed": file}),
            task=CollectTask("grr", [1], model=learner, parameters=LEARNERS[learner], splits="uniform"),
            repeats=REPEATS[learner],
            seed=1000 * file,
        )
        arrays = run(plan, workers=1, progress=False).arrays
        part = path.with_suffix(".part.npz")
        np.savez(
            part,
            measures=np.array(arrays.measures),
            of_measures=arrays.of_measures,
            groups=np.array(arrays.groups),
            rates=np.array(arrays.rates),
            of_groups=arrays.of_groups,
        )
        part.rename(path)
    with np.load(path) as stored:
        return dict(stored)


def pool_values(pool):
    """Yield what is measured, its arm, how it is spread, and its values that are defined, one per repeat."""
    columns = [
        (str(name), CLASSIFIER_MEASURES[str(name)].spread, pool["of_measures"][..., at])
        for at, name in enumerate(pool["measures"])
    ]
    for at, group in enumerate(pool["groups"]):
        columns += [
            (f"{rate} of group {group}", None, pool["of_groups"][:, :, at, place])
            for place, rate in enumerate(pool["rates"])
            if rate != "people"
        ]
    for name, spread, (before, after) in columns:
        for arm, runs in zip(ARMS, (before, after, after - before), strict=True):
            rule = spread or CLASSIFIER_RATES[name.partition(" ")[0]].spread_of(arm)
            yield name, arm, rule, runs[np.isfinite(runs)]


def measure_coverage(values, *, repeats, spread, level=0.95, studies=STUDIES, seed=1):
    """Return how often intervals from a few repeats hold the mean of all of them, where there is one."""
    rng = np.random.default_rng([seed, repeats])
    drawn = values[rng.integers(0, len(values), (studies, repeats))]
    found = means(drawn, level=level, spread=spread)
    truth, slack, shown = values.mean(), 1e-12, np.isfinite(found.low)
    return float(((found.low <= truth + slack) & (truth - slack <= found.high))[shown].mean())


def cover_cells(folder, *, learners=tuple(LEARNERS), sizes=SIZES, repeats=(3, 5, 10, 20)):
    """Return coverage by learner, size, repeats, measure and arm, the mean over files: ours and Student's."""
    cells = {}
    for learner in learners:
        for size in sizes:
            for file in FILES[learner]:
                for name, arm, spread, values in pool_values(run_pool(folder, learner, size, file)):
                    if spread == "none" or len(values) < 200 or np.ptp(values) < 1e-9:
                        continue
                    for few in (each for each in repeats if each >= FEWEST_REPEATS.get(spread, 0)):
                        both = [measure_coverage(values, repeats=few, spread=each) for each in (spread, None)]
                        cells.setdefault((learner, size, few, name, arm, spread), []).append(both)
    return {key: tuple(np.mean(found, axis=0)) for key, found in cells.items()}


def write_tables(cells):
    """Return Markdown: changes measure by measure, then the least and the most of all that is shown."""
    columns = sorted({key[:3] for key in cells}, key=lambda each: (each[0] != "logistic", *each[1:]))
    shown = [each for each in columns if each[2] in (5, 10)]
    names = list(dict.fromkeys(key[3] for key in cells if " of group " not in key[3]))
    head = [f"{learner}, {size:,} rows, {few} repeats" for learner, size, few in shown]
    lines = _rows(["change of", *head])
    for name in names:
        found = [cells.get((*each, name, "change", _spread(cells, name))) for each in shown]
        texts = ["" if both is None else f"{both[0]:.3f} ({both[1]:.3f})" for both in found]
        lines.append(f"| `{name}` | {' | '.join(texts)} |")
    lines += ["", *_rows(["learner", "rows", "repeats", *_KINDS])]
    for column in columns:
        texts = []
        for is_one in _KINDS.values():
            ours, plain = zip(*(v for k, v in cells.items() if k[:3] == column and is_one(k)), strict=True)
            texts.append(f"{min(ours):.3f} to {max(ours):.3f} ({min(plain):.3f} to {max(plain):.3f})")
        lines.append(f"| {column[0]} | {column[1]:,} | {column[2]} | {' | '.join(texts)} |")
    return "\n".join(lines) + "\n"


_KINDS = {
    "accuracy and its like": lambda key: key[5] == "tailed" and " of group " not in key[3],
    "gaps and differences": lambda key: key[5] == "even" and " of group " not in key[3],
    "rates of groups": lambda key: " of group " in key[3],
}


def _rows(head):
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]


def _spread(cells, name):
    return next(key[5] for key in cells if key[3] == name)
