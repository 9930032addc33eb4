"""A survey under local privacy: from a CSV file to private reports to estimates with intervals.

Run it with `python examples/survey.py`. It makes 20,000 synthetic people whose answers add up to known
shares, so that the estimates can be compared with the truth. Without `--seed` the reports are drawn from
the operating system's secure source, as in a real collection, and differ from run to run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import textwrap
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console

from evenhand import Schema, Table
from evenhand.collect import PROTOCOLS, strategy_for
from evenhand.errors import EvenhandError
from evenhand.schema import Column, Domain
from evenhand.table import read_csv, write_csv
from evenhand.table.frames import make_frame

if TYPE_CHECKING:
    import numpy.typing as npt

    from evenhand.collect import Frequencies

# What is public: the questionnaire. A missing or unknown answer counts as one more value.
ANSWERS = {
    "travel": {"car": 45, "bus": 28, "bike": 14, "walk": 9, "taxi": 4},
    "income": {"under 1,000": 12, "1,000 to 2,000": 31, "2,000 to 4,000": 38, "over 4,000": 19},
    "behind with rent": {"no": 89, "yes": 11},
}
SCHEMA = Schema(
    [
        Column(name, Domain.categorical(list(shares)), outside="other", nulls="other")
        for name, shares in ANSWERS.items()
    ],
    sensitive=list(ANSWERS),
)
STRIDES = (1, 7, 31)  # the columns run through their answers at these paces

console = Console(highlight=False, soft_wrap=True)


def make_survey(path: Path, people: int) -> None:
    """Write the answers of synthetic people, whose shares are those of ANSWERS as nearly as may be."""
    columns = {}
    for stride, (name, shares) in zip(STRIDES, ANSWERS.items(), strict=True):
        place = np.arange(people) * stride % people * 100 // people
        bounds = list(accumulate(shares.values()))
        columns[name] = np.array(list(shares))[np.searchsorted(bounds, place, side="right")].tolist()
    write_csv(make_frame(columns, backend="pyarrow"), path)


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("csv", nargs="?", type=Path, help="your own file with the columns of the survey")
    parser.add_argument("--people", type=int, default=20_000, help="how many people to make (20000)")
    parser.add_argument("--epsilon", default="2", help="privacy of one person's whole report (2)")
    parser.add_argument("--protocol", default="ss", help=f"one of {', '.join(PROTOCOLS)} (ss)")
    parser.add_argument("--split", default="optimal", help="uniform, k-based, optimal or sample (optimal)")
    parser.add_argument("--level", type=float, default=0.95, help="level of the intervals (0.95)")
    parser.add_argument("--seed", type=int, help="simulate with this seed instead of collecting")
    chosen = parser.parse_args()
    if not 100 <= chosen.people <= 10_000_000:
        parser.error("--people must be from 100 to 10000000")
    return chosen


def show(name: str, found: Frequencies, truth: npt.NDArray[np.float64], chosen: argparse.Namespace) -> int:
    """Print the estimates of one column beside the truth; return how many intervals hold it."""
    # Where each person answers one question, those who were asked it are a sample of all.
    level, of = chosen.level, "population" if chosen.split == "sample" else "people"
    low, high = found.interval(level, of=of)
    labels = [*SCHEMA[name].domain.labels, "no answer"]
    width = max(map(len, [name, *labels]))
    console.print(f"\n[bold]{name:{width}}   truth  estimate  {100 * level:g}% interval[/bold]")
    for value, label in enumerate(labels):
        console.print(
            f"{label:{width}}  {100 * truth[value]:5.1f}%  {100 * found.values[value]:7.1f}%  "
            f"[dim]{100 * low[value]:.1f} to {100 * high[value]:.1f}[/dim]"
        )
    return int(((low <= truth) & (truth <= high)).sum())


def run(chosen: argparse.Namespace, path: Path) -> None:
    """Plan, read, privatize, estimate, print."""
    strategy = strategy_for(
        SCHEMA.sizes, epsilon=chosen.epsilon, protocol=chosen.protocol, split=chosen.split
    )
    table = Table.encode(read_csv(path, schema=SCHEMA), SCHEMA)
    console.print(f"[dim]Read[/dim]     {len(table):,} people, {len(SCHEMA.names)} answers each")

    # Each person's side. In a real survey this runs on their own device, and the table above does not exist.
    reports = strategy.privatize({name: table[name] for name in SCHEMA.names}, rng=chosen.seed)
    how = (
        f"simulated with seed {chosen.seed}, for study only"
        if reports.simulated
        else "from the secure source"
    )
    console.print(f"[dim]Reports[/dim]  {len(reports):,}, {how}")

    # The server's side.
    held, shown = 0, 0
    for name, found in strategy.estimate(reports).items():
        truth = np.bincount(table[name], minlength=SCHEMA[name].size) / len(table)
        held += show(name, found, truth, chosen)
        shown += truth.size
    console.print(f"\n{held} of {shown} intervals hold the truth; about {100 * chosen.level:g}% should.")
    console.print("\n[dim]Promise[/dim]")
    console.print(textwrap.fill(str(strategy.guarantee), 78), markup=False)


def main() -> None:
    """Run on the file given, or on people made for the purpose."""
    chosen = options()
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = chosen.csv or Path(folder, "survey.csv")
            if chosen.csv is None:
                make_survey(path, chosen.people)
            run(chosen, path)
    except EvenhandError as error:
        sys.exit(f"Error: {error}")


if __name__ == "__main__":
    main()
