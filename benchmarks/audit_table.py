"""Audit every local protocol on the whole grid and print the numbers of docs/how-to/audit-a-mechanism.md.

Run it as ``python benchmarks/audit_table.py``; it takes some minutes. With an epsilon as argument, such as
``1/2``, only its rows are printed.
"""

from __future__ import annotations

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))

from statistical._audit_grid import CELLS, audit_cell

HEADER = (
    "| protocol | k | claimed | measured at least | of the claim | measured if drawn at 1.1 times the claim "
    "| n | seconds |\n|---|---:|---:|---:|---:|---:|---:|---:|"
)


def main(only: list[str]) -> None:
    """Print one row per cell, and the three figures of the whole grid."""
    chosen = [each for each in CELLS if not only or each[1] in only]
    cells = []
    print(HEADER, flush=True)
    for each in chosen:
        cell = audit_cell(*each, seed=2026, share=len(CELLS))
        right, wrong = cell.right, cell.wrong
        seen = f"{wrong.measured_epsilon:.4f}, {'seen' if wrong.exceeds else 'not seen'}"
        print(
            f"| {cell.protocol} | {cell.k} | {float(right.claimed_epsilon or 0):.4f} "
            f"| {right.measured_epsilon:.4f} | {100 * cell.share:.1f} % | {seen} "
            f"| {right.draws:,} | {cell.seconds:.1f} |",
            flush=True,
        )
        cells.append(cell)
    print()
    print(f"Cells over their claim: {sum(cell.right.exceeds for cell in cells)} of {len(cells)}.")
    print(f"Overruns of 10 % seen: {sum(cell.wrong.exceeds for cell in cells)} of {len(cells)}.")
    tight = [cell.share for cell in cells if cell.epsilon >= 0.5]
    if tight:
        print(f"Least share of the claim measured, epsilon of 1/2 and more: {100 * min(tight):.1f} %.")
    print(f"Processor time: {sum(cell.seconds for cell in cells):.0f} s for the right protocols.")


if __name__ == "__main__":
    main(sys.argv[1:])
