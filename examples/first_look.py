"""A first look: built-in data, its schema, who gets what, and what a protection promises and costs.

Run it with `make demo`. It needs no download and draws the same people every time.
"""

from rich.console import Console

import evenhand as eh

console = Console(highlight=False, soft_wrap=True)


def show(step: str, finding: str) -> None:
    """Print a finding under a dim leading word, as all of evenhand does."""
    console.print(f"\n[dim]{step}[/dim]  [bold]{finding}[/bold]")


def main() -> None:
    """Load, describe, measure, protect, measure again."""
    people = eh.datasets.load("causal", n=20_000, backend="pyarrow")
    show("Data", "20,000 synthetic people with a group (A), two other traits (C, M) and an outcome (Y)")
    console.print(str(people), markup=False)

    show("Schema", "What is public: the columns, their values and what they are for")
    console.print(str(people.schema), markup=False)

    table = eh.Table.encode(people.frame, people.schema)
    outcome, group = table["Y"], table["A"]
    # A rule that never looks at the group: select everybody whose mediator M is at least 1.
    selected = table["M"] >= 1
    report = eh.measure.group_report(outcome, selected, group, privileged=1)
    low, high = report.interval("sp_gap")
    show(
        "Gap",
        f"A rule that never sees the group still selects the groups {100 * report.sp_gap:.1f} points apart "
        f"({100 * low:.1f} to {100 * high:.1f}, 95% interval)",
    )
    console.print(str(report), markup=False)

    protocol = eh.collect.GRR(k=2, epsilon=1)
    show("Promise", "Let each person randomise A before it is sent, so that nobody knows the groups")
    console.print(str(protocol.guarantee_for(protects=["A"], in_clear=["C", "M", "Y"])), markup=False)

    # A seed makes a simulation that prints the same every time; leave it out when the people are real.
    reports = protocol.privatize(group, rng=7)
    rates = eh.collect.group_rates(selected, reports, privileged=1)
    low, high = rates.interval(1, against=0)
    show(
        "Collect",
        f"From the reports alone the gap is estimated at {100 * rates.gap(1, 0):.1f} points "
        f"({100 * low:.1f} to {100 * high:.1f})",
    )
    console.print(str(rates), markup=False)
    console.print(
        "\n[dim]Next[/dim]  docs/ explains each part; `make docs` builds it, `make test` checks it."
    )


if __name__ == "__main__":
    main()
