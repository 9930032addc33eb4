"""Twelve school districts: who gains and who loses when money and teachers follow noisy counts.

Run it with `python examples/policy.py`. It reads a CSV file of counts, says what publishing noisy counts
promises, what each way of repairing counts below 0 would cost whom, which districts would wrongly lose or get
a language teacher, and shares out the money in whole cents on one simulated release. What it prints is
computed from the true counts: it is for whoever chooses the formula, and not for publication.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from pyarrow import csv
from rich.console import Console

from evenhand.decide import Allotment, Entities, award_cents, bias, guarantee_of, parse
from evenhand.errors import EvenhandError
from evenhand.privacy.randomness import SeededSource
from evenhand.release import Laplace
from evenhand.release.postprocess.noise_bias import optimal_temperature
from evenhand.release.postprocess.steps import Nonnegative, Shrink

if TYPE_CHECKING:
    from evenhand.decide import Decided
    from evenhand.release.postprocess.steps import Step

HERE = Path(__file__).parent
TEACHER = "learners/pupils > 0.05 or learners >= 200"

console = Console(highlight=False, soft_wrap=True)


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "csv", nargs="?", type=Path, default=HERE / "policy.csv", help="your own file of counts"
    )
    parser.add_argument("--epsilon", default="0.1", help="privacy of each published count (0.1)")
    parser.add_argument("--budget", default="2000000", help="the money to share out (2000000)")
    parser.add_argument("--rule", default=TEACHER, help=f"who gets a language teacher ({TEACHER})")
    parser.add_argument("--seed", type=int, default=7, help="seed of the simulated release (7)")
    return parser.parse_args()


def show_money(money: Allotment, districts: Entities, noise: Laplace) -> Step:
    """Print what each repair costs, by group; return the one after which average losses are least."""
    steps = {"none below 0": Nonnegative(), "shrunken": Shrink(optimal_temperature(noise.law))}
    found = {
        "as drawn": bias(money, districts, noise)
    }  # for comparison: nobody can be paid less than nothing
    found |= {name: bias(money, districts, noise, post=step) for name, step in steps.items()}
    console.print("\n[bold]Money: which repair?[/bold]")
    for name, decided in found.items():
        heads = ", ".join(f"{each.group} {each.gain_per_head:+.4f}" for each in decided.by("group").groups)
        console.print(f"{name:13} average losses {decided.cost():9,.2f}   gain per head: {heads}")
    best = min(steps, key=lambda name: found[name].cost())
    console.print(f"Chosen: {best}.")
    return steps[best]


def show_teachers(decided: Decided) -> None:
    """Print which districts may be decided wrongly, and how many people that touches."""
    console.print("\n[bold]Teachers: who is decided wrongly, and how often?[/bold]")
    for each in decided.most_affected(4):
        wrong = "wrongly refused" if each.truth else "wrongly granted"
        console.print(f"{each.name:10} {abs(each.bias):6.1%} {wrong}")
    for group in decided.by("group").groups:
        console.print(
            f"{group.group}: {group.refused:,.0f} people refused, {group.granted:,.0f} granted, on average"
        )


def show_awards(money: Allotment, districts: Entities, noise: Laplace, step: Step, seed: int) -> None:
    """Simulate one release and share the money out in whole cents."""
    true = districts.counts[money.count]
    drawn = step.apply(true + noise.law.draw(size=true.size, source=SeededSource(seed)))
    cents = award_cents(money.weights * drawn, money.budget, names=districts.names)
    due = award_cents(money.weights * true, money.budget, names=districts.names)
    console.print(f"\n[bold]Awards on one release, simulated with seed {seed}[/bold]")
    for name, got, fair in zip(districts.names, cents, due, strict=True):
        console.print(f"{name:10} {got / 100:14,.2f}  {(got - fair) / 100:+12,.2f}")
    console.print(f"{'together':10} {cents.sum() / 100:14,.2f}")


def run(chosen: argparse.Namespace) -> None:
    """Read, promise, compare, decide."""
    districts = Entities.read(
        csv.read_csv(chosen.csv),
        name="district",
        counts=["poor", "pupils", "learners"],
        weights="weight",
        groups=["settled", "newcomers"],
    )
    money = Allotment(districts.weights, budget=chosen.budget, count="poor")
    teacher = parse(chosen.rule)
    noise = Laplace(epsilon=chosen.epsilon, unit="add or remove one")
    console.print(f"[dim]Read[/dim]     {len(districts)} districts from {chosen.csv.name}")
    promise = guarantee_of(money, noise) + guarantee_of(teacher, noise)
    console.print(textwrap.fill(str(promise), 78), markup=False)

    step = show_money(money, districts, noise)
    teachers = bias(teacher, districts, noise)
    show_teachers(teachers)
    show_awards(money, districts, noise, step, chosen.seed)
    console.print(f"\n{teachers.banner}")


def main() -> None:
    """Run on the file given, or on the one beside this script."""
    chosen = options()
    try:
        run(chosen)
    except (EvenhandError, OSError, ValueError) as error:
        sys.exit(f"Error: {error}")


if __name__ == "__main__":
    main()
