"""Write the pages of a reproduction from a folder in which it is run, also while it runs.

`python -P tools/reproduction_pages.py arcolezi2023 FOLDER` takes the finished cells of FOLDER, the `--out` of
`evenhand reproduce`, over into `docs/reproductions/arcolezi2023/cells`, judges every claim by what is there
and writes claims, tables and figures beside. Tables and figures of studies without cells are removed.

A study counts seed by seed: only seeds that every setting of the design has are taken over, none if there is
only one, and none if the pages have more seeds already. What is left out is printed, and told in `claims.md`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.papers import DESIGNS, PAPERS, examine, packed, paper_named
from evenhand.papers.reproduction import cells_path
from evenhand.study.plan.cells import Cell

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.papers import Study
    from evenhand.papers.packed import FinishedPart

    Parts = Mapping[int, FinishedPart]

PAGES = Path(__file__).parents[1] / "docs" / "reproductions"
WRITTEN = (".csv", ".svg")
FEWEST = 2  # a single seed has no interval


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the pages and print what came of every study."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("paper", choices=PAPERS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--design", choices=DESIGNS, default="reduced")
    parser.add_argument("--pages", type=Path, default=PAGES)
    chosen = parser.parse_args(arguments)
    pages = chosen.pages / chosen.paper
    for study in paper_named(chosen.paper).studies(chosen.design):
        print(f"{study.name}: {take_over(study, chosen.folder, pages)}", flush=True)
    reproduction = examine(chosen.paper, pages, design=chosen.design)
    for path in pages.iterdir():
        if path.suffix in WRITTEN:
            path.unlink()
    reproduction.write(pages)
    print(reproduction)


def take_over(study: Study, folder: Path, pages: Path) -> str:
    """Pack the finished seeds of a study into the pages; return what was done in a few words."""
    kept_file = cells_path(pages, study.name)
    kept = packed.load_cells(kept_file)
    found = load_folder(study, folder)
    seeds = whole_seeds(study, found)
    before = fewest_seeds(study, kept)
    if len(seeds) < max(before, FEWEST):
        whole = f"{len(seeds)} of {study.plan.repeats} seeds are finished"
        return f"left out: {whole}, and the pages have {before}"
    taken = {number: keep_seeds(study, number, part, seeds) for number, part in found.items()}
    for number, part in kept.items():
        own = taken.setdefault(number, part)
        if not own.spec.differences(part.spec):
            taken[number] = replace(own, cells={**part.cells, **own.cells})
    packed.write_cells(kept_file, {number: part for number, part in taken.items() if part.cells})
    return f"{len(seeds)} of {study.plan.repeats} seeds"


def load_folder(study: Study, folder: Path) -> Parts:
    """Return the finished cells of a study in a folder: those of its stores, and those that are packed."""
    stores = {0: folder / study.name}
    if study.parts is not None:
        stores = {number: folder / study.name / f"{number:02d}" for number in range(study.plan.repeats)}
    file = cells_path(folder, study.name)
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / file.name
        if file.is_file():
            copy.write_bytes(file.read_bytes())
        packed.pack_cells(copy, stores)
        return packed.load_cells(copy)


def whole_seeds(study: Study, parts: Parts) -> list[int]:
    """Return the seeds that every setting of a study has."""
    return [
        seed
        for seed in range(study.plan.repeats)
        if all(has_cell(study, parts, Cell(setting, seed)) for setting in study.plan.settings())
    ]


def fewest_seeds(study: Study, parts: Parts) -> int:
    """Return the fewest seeds of a setting that has any."""
    numbers = [
        sum(has_cell(study, parts, Cell(setting, seed)) for seed in range(study.plan.repeats))
        for setting in study.plan.settings()
    ]
    return min(filter(None, numbers), default=0)


def has_cell(study: Study, parts: Parts, cell: Cell) -> bool:
    """Return whether a cell of a study is finished; each seed of a study of parts is a part of its own."""
    number, own = (0, cell) if study.parts is None else (cell.repeat, Cell(cell.setting, 0))
    return number in parts and own.id in parts[number].cells


def keep_seeds(study: Study, number: int, part: FinishedPart, seeds: Sequence[int]) -> FinishedPart:
    """Return the cells of a part that are of some seeds."""
    cells = {
        name: pair
        for name, pair in part.cells.items()
        if (pair[0].cell.repeat if study.parts is None else number) in seeds
    }
    return replace(part, cells=cells)


if __name__ == "__main__":
    sys.exit(main())
