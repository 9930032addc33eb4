"""The fairest channel on a CSV file of one's own: a pilot, the channel, reports, and who gets what.

Run it with `python examples/optimal.py`, which makes 60,000 synthetic people, or with a file:

    python examples/optimal.py people.csv --group race --outcome hired --positive yes --epsilon 1

The first tenth of the people report their group by GRR. From their reports the shares and outcome rates of
the true groups are estimated, and from these the channel is made by which everybody else reports. Nobody
reports twice. Reported groups then differ little in their outcomes; the true groups are as they were, and
their rates are estimated beside. Without `--seed` reports are drawn from the operating system's secure
source.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from evenhand import Schema, Table
from evenhand.collect import GroupOutcomes
from evenhand.collect.estimates.group_rates import group_rates
from evenhand.collect.protocols.grr import GRR
from evenhand.errors import EvenhandError
from evenhand.schema import Column, Domain
from evenhand.table import read_csv, write_csv
from evenhand.table.frames import make_frame

PILOT = 0.1
# Of synthetic people: the share of each group, and how many of it are hired.
SHARES = {"centre": (0.60, 0.42), "east": (0.20, 0.24), "north": (0.12, 0.36), "south": (0.08, 0.20)}


def make_people(path: Path, people: int = 60_000) -> None:
    """Write synthetic people in a mixed order, whose shares and rates are those of SHARES."""
    region, hired = [], []
    for name, (share, rate) in SHARES.items():
        count = round(share * people)
        region += [name] * count
        hired += ["yes"] * round(rate * count) + ["no"] * (count - round(rate * count))
    order = np.argsort(np.arange(len(region)) * 7919 % len(region), kind="stable")
    columns = {"region": [region[each] for each in order], "hired": [hired[each] for each in order]}
    write_csv(make_frame(columns, backend="pyarrow"), path)


def read_people(path: Path, group: str, outcome: str, positive: str) -> tuple[Any, Any, tuple[str, ...]]:
    """Return each person's group and outcome, and what the groups are called.

    The groups are read from the file here, which tells that somebody has each of them; for a real collection
    declare them: `Column(group, Domain.categorical([...]))`.
    """
    frame = read_csv(path)
    names = sorted({str(each) for each in frame[group].to_pylist()})
    found = sorted({str(each) for each in frame[outcome].to_pylist()} | {positive})
    schema = Schema([Column(group, Domain.categorical(names)), Column(outcome, Domain.categorical(found))])
    table = Table.encode(frame.select([group, outcome]), schema)
    hired = table[outcome] == schema[outcome].domain.code(positive)
    return table[group], hired.astype(np.uint8), tuple(names)


def show(title: str, labels: tuple[str, ...], columns: dict[str, list[str]]) -> None:
    """Print a small table."""
    print(f"\n{title}")
    cells = zip(labels, *columns.values(), strict=True)
    rows = [["", *columns], *(list(each) for each in cells)]
    widths = [max(map(len, each)) for each in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def study(
    group: Any, hired: Any, labels: tuple[str, ...], *, epsilon: str, seed: int | None
) -> dict[str, Any]:
    """Collect a pilot, make the channel, collect the rest, and print what is known before and after."""
    first = round(PILOT * len(group))
    seeds = (None, None, None) if seed is None else (seed, seed + 1, seed + 2)
    grr = GRR(k=len(labels), epsilon=epsilon)
    pilot = group_rates(hired[:first], grr.privatize(group[:first], rng=seeds[0]), labels=labels)
    outcomes = GroupOutcomes.from_pilot(pilot)
    show(
        f"From the pilot of {first:,} people, by GRR:",
        labels,
        {
            "share": [f"{each:.1%}" for each in outcomes.weights],
            "outcome rate": [f"{each:.1%}" for each in outcomes.rates],
        },
    )
    optimal = outcomes.optimal(epsilon)
    before, after = optimal.unfairness
    print(
        f"\nThe channel is wrong about {optimal.error_probability:.1%} of the people, as GRR is. By the "
        f"pilot's figures the unfairness\nfalls from {before:.3f} of the true groups to {after:.3f} of the "
        "reports."
    )
    whole = outcomes.guarantee_with(optimal)
    print(
        f"Everybody sends one report with epsilon = {whole.epsilon} (unit: {whole.unit}, "
        f"trust: {whole.trust}); the outcome is in the clear."
    )
    reports = optimal.privatize(group[first:], rng=seeds[1])
    plain = grr.privatize(group[first:], rng=seeds[2])
    true = group_rates(hired[first:], reports, labels=labels)
    as_grr = group_rates(hired[first:], plain, labels=labels)
    intervals = [true.interval(label) for label in labels]
    show(
        "Outcome rates: among those who report a group, and of the true groups",
        labels,
        {
            "reported, optimal": [f"{true.naive[each]:.1%}" for each in labels],
            "reported, GRR": [f"{as_grr.naive[each]:.1%}" for each in labels],
            "true group, estimated": [f"{true.rates[each]:.1%}" for each in labels],
            "95 % interval": [f"{each.low:.1%} to {each.high:.1%}" for each in intervals],
        },
    )
    gaps = {
        "optimal": _gap(true.naive.values()),
        "grr": _gap(as_grr.naive.values()),
        "true": _gap(true.rates.values()),
    }
    points = {name: f"{100 * gap:.1f} points" for name, gap in gaps.items()}
    print(
        f"\nWidest gap: {points['optimal']} between reported groups ({points['grr']} with GRR), "
        f"{points['true']} between the true groups."
    )
    print("The reports tell less; what the true groups get has not changed.")
    return gaps


def _gap(rates: Any) -> float:
    listed = [float(each) for each in rates]
    return max(listed) - min(listed)


def main(given: list[str] | None = None) -> dict[str, Any]:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description="The fairest channel on a CSV file.")
    parser.add_argument("path", nargs="?", help="a CSV file; without one, synthetic people")
    parser.add_argument("--group", default="region")
    parser.add_argument("--outcome", default="hired")
    parser.add_argument("--positive", default="yes")
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--seed", type=int)
    said = parser.parse_args(given)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(said.path or f"{folder}/people.csv")
        if said.path is None:
            make_people(path)
        people = read_people(path, said.group, said.outcome, said.positive)
    return study(*people, epsilon=said.epsilon, seed=said.seed)


if __name__ == "__main__":
    try:
        main()
    except EvenhandError as error:
        sys.exit(f"Error: {error}")
