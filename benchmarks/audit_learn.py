"""Audit the trained classifiers with canaries and print the tables of docs/background/cost-of-training.md.

Run it as ``python benchmarks/audit_learn.py``; it takes a minute or two. With a folder as argument the
numbers are also written there, as ``claimed-and-measured.csv`` and ``broken.csv``.
"""

from __future__ import annotations

import csv
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))

from statistical._canaries import BROKEN_CELLS, CELLS, audit_setting

SEED = 2026
COLUMNS = (
    "model", "classes", "rows in a step", "unit", "looked at", "noise multiplier", "steps", "canaries",
    "guesses", "right guesses", "claimed epsilon", "measured epsilon, at least", "delta", "over the claim",
)  # fmt: skip


def row_of(cell) -> list[object]:
    """Return what is known of a cell, in the order of COLUMNS."""
    setting, found = cell.setting, cell.found
    model = f"DPFermi, {setting.kind}" if setting.model == "fermi" else "DPLogisticRegression"
    return [
        model, setting.classes,
        f"1 in {setting.part}" if setting.part > 1 else "all", setting.unit, setting.see,
        f"{cell.noise:.2f}", cell.steps, found.canaries, found.guesses, found.correct,
        f"{float(found.claimed_epsilon):g}", f"{int(found.measured_epsilon * 1000) / 1000:.3f}",
        f"{float(found.delta):g}", "yes" if found.exceeds else "no",
    ]  # fmt: skip


def printed(columns: tuple[str, ...], rows: list[list[object]]) -> None:
    """Print a table in Markdown."""
    print("| " + " | ".join(columns) + " |")
    print("|---" * len(columns) + "|")
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    print(flush=True)


def main(folder: str | None) -> None:
    """Audit all settings as they are, then those that are broken."""
    cells = [audit_setting(*each, seed=SEED, share=len(CELLS)) for each in CELLS]
    right = [row_of(cell) for cell in cells]
    printed(COLUMNS, right)
    wrong = []
    for setting, broken in BROKEN_CELLS:
        cell = audit_setting(setting, "1/2", seed=SEED, share=len(CELLS), broken=broken)
        wrong.append([broken, *row_of(cell)])
        cells.append(cell)
    printed(("broken by", *COLUMNS), wrong)
    print(f"Over their claim: {sum(row[-1] == 'yes' for row in right)} of {len(right)}.")
    print(f"Processor time: {sum(cell.seconds for cell in cells):.0f} s.")
    if folder:
        for name, columns, rows in (
            ("claimed-and-measured.csv", COLUMNS, right),
            ("broken.csv", ("broken by", *COLUMNS), wrong),
        ):
            with (pathlib.Path(folder) / name).open("w", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerows([columns, *rows])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
