"""A first look: built-in data, its schema, what a protection promises, and who gets what.

Run it with `make demo`. It needs no download and draws the same people every time.
"""

from rich.console import Console

import evenhand as eh

console = Console(highlight=False, soft_wrap=True)


def show(step: str, finding: str) -> None:
    """Print a finding under a dim leading word, as all of evenhand does."""
    console.print(f"\n[dim]{step}[/dim]  [bold]{finding}[/bold]")


def main() -> None:
    """Load, describe, protect in words, measure."""
    people = eh.datasets.load("causal", n=20_000, backend="pyarrow")
    show("Data", "20,000 synthetic people with a group (A), two other traits (C, M) and an outcome (Y)")
    console.print(str(people), markup=False)

    show("Schema", "What is public: the columns, their values and what they are for")
    console.print(str(people.schema), markup=False)

    show("Promise", "What it would mean to collect A, C and M under local privacy")
    promise = eh.Guarantee(
        epsilon=1, unit="one report", trust="local", protects=people.schema.sensitive, in_clear=["Y"]
    )
    console.print(str(promise), markup=False)

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
    console.print(
        "\n[dim]Next[/dim]  docs/ explains each part; `make docs` builds it, `make test` checks it."
    )


if __name__ == "__main__":
    main()
