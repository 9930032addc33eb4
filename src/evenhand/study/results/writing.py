"""The files of a finished study: the same ones, to the byte, from the command line and from the workbench."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.answer.page import build_page
from evenhand.report.html import write
from evenhand.study.plan.script import ENDINGS, as_notebook, as_script

if TYPE_CHECKING:
    from pathlib import Path

    from evenhand.answer.view import View
    from evenhand.study.plan.plan import Plan
    from evenhand.study.results.results import Results


def files_in(folder: Path) -> dict[str, Path]:
    """Return the path of each file that every study has in its folder, by its word."""
    names = {
        "Report": "report.html",
        "Plan": "plan.toml",
        "Effects": "effects.csv",
        "Cells": "cells.csv",
        "Store": "study.db",
    }
    return {word: folder / name for word, name in names.items()}


def write_results(
    results: Results, folder: Path, *, view: View | None = None, language: str = "en"
) -> dict[str, Path]:
    """Write what goes beside the store, and return the path of each file by its word.

    Parameters
    ----------
    results : Results
    folder : path
        Where the study was run.
    view : View, optional
        What the report says, such as that of advice; by default the answer of the results.
    language : str
        Of the report.

    Raises
    ------
    MissingExtraError
        If a package is missing that a report needs; everything else is written then.
    """
    files = files_in(folder)
    results.to_csv(files["Cells"])
    results.to_csv(files["Effects"], table="effects")
    if view is None:
        results.report(files["Report"], language=language)
    else:
        write(build_page(view), files["Report"])
    return files


def write_script(path: Path, plan: Plan, *, language: str = "en", replace: bool = False) -> Path:
    """Write the Python that repeats a plan, as a script or a notebook by its ending.

    Parameters
    ----------
    path : path
    plan : Plan
    language : str
        Of the report that it writes.
    replace : bool
        Whether a file that is there is replaced; else FileExistsError is raised.
    """
    cells = plan.task.script(plan, name=path.stem, language=language)
    text = as_script(cells) if path.suffix.lower() == ENDINGS[0] else as_notebook(cells)
    with path.open("w" if replace else "x", encoding="utf-8") as file:
        file.write(text)
    return path
