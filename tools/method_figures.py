"""Write the figures behind the workbench's pictures of the ways of training.

Run it with `python -P tools/method_figures.py` after a way of training was changed or added; without `-P`,
`coverage.py` here hides the package of that name. It takes half a minute, and gives the same figures again.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.study import DataSource, LearnTask, Plan, run
from evenhand.study.tasks.learn.methods import METHODS, PLAIN

if TYPE_CHECKING:
    from evenhand.study import Results

FILE = Path(__file__).resolve().parents[1] / "src" / "evenhand" / "app" / "pages" / "words" / "methods.csv"
ROWS, REPEATS, EPSILONS = 8000, 20, ("0.1", "1")
MEASURES = {"accuracy": "acc", "gap": "sp_gap"}
HEAD = f"""\
# Written by `python -P tools/method_figures.py`. The same study on the command line:
# evenhand audit learn causal --rows {ROWS} --repeats {REPEATS} --epsilon {",".join(EPSILONS)} \\
#   --methods {",".join(METHODS)}
# Means of {" and ".join(MEASURES.values())}, and how far their 95% t-intervals reach to either side.
"""


def main() -> None:
    """Run the study, and write the file."""
    FILE.write_text(write_figures(run_study()), encoding="utf-8")


def run_study() -> Results:
    """Train in every way on the made-up people of the data set `causal`."""
    data = DataSource(dataset="causal", rows=ROWS)
    return run(Plan(data=data, task=LearnTask(list(METHODS), EPSILONS), repeats=REPEATS), workers=1)


def write_figures(results: Results) -> str:
    """Return the file: a row for every way of training and epsilon, the larger epsilon first."""
    figures = results.summary(list(MEASURES.values()), kind="student", backend="pyarrow").to_pylist()
    rows = [_row(figure) for figure in figures]
    rows.sort(key=lambda row: (list(METHODS).index(row["method"]), -float(row["epsilon"] or 0)))
    text = io.StringIO()
    text.write(HEAD)
    table = csv.DictWriter(text, rows[0], lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


def _row(figure: dict[str, Any]) -> dict[str, str]:
    """Return a row of the file from one of the summary; the unprotected setting is plain training."""
    method = METHODS.get(figure["mechanism"], METHODS[PLAIN])
    row = {"method": method.name, "epsilon": f"{figure['epsilon']:g}" if method.takes_epsilon else ""}
    row["runs"] = str(figure["acc_runs"])
    for name, measure in MEASURES.items():
        row[name] = f"{figure[measure]:.6f}"  # six digits hold a mean of shares of 2,000 people exactly
        row[f"{name}_reach"] = f"{figure[measure] - figure[f'{measure}_low']:.6f}"
    return row


if __name__ == "__main__":
    main()
