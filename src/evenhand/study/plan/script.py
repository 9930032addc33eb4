"""A plan as a Python script, or as a notebook, that runs as it is."""

from __future__ import annotations

import json
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

ScriptCell = tuple[str, str]
"""A cell: words (``"markdown"``) or ``"code"``, and its text."""

ENDINGS = (".py", ".ipynb")
_CELLS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["cells"]


def script_cells(plan: str, *, title: str, name: str, language: str = "en") -> tuple[ScriptCell, ...]:
    """Return the cells that run a plan, given as TOML; the files that they write begin with `name`."""
    filled = {
        "title": " ".join(title.split()),
        "version": import_module("evenhand").__version__,  # it stands above all layers
        "plan": _literal(plan),
        "cells": repr(f"{name}-cells.csv"),
        "report": repr(f"{name}-report.html"),
        "language": "" if language == "en" else f", language={language!r}",
    }
    return tuple((cell["kind"], cell["text"].strip().format_map(filled)) for cell in _CELLS)


def _literal(text: str) -> str:
    """Return a text as Python has it, over several lines where that is safe.

    >>> print(_literal("a = 1" + chr(10)))
    r'''
    a = 1
    '''
    """
    readable = text.isascii() or text.replace("\n", "").isprintable()
    if readable and "'''" not in text and "\r" not in text and text.endswith("\n"):
        return f"r'''\n{text}'''"
    return repr(text)


def as_script(cells: tuple[ScriptCell, ...]) -> str:
    """Return the cells as a script, with marks by which editors know cells."""
    parts = []
    for kind, text in cells:
        if kind == "code":
            parts.append(f"# %%\n{text}")
        else:
            words = "\n".join(f"# {line}".rstrip() for line in text.splitlines())
            parts.append(f"# %% [markdown]\n{words}")
    return "\n\n".join(parts) + "\n"


def as_notebook(cells: tuple[ScriptCell, ...]) -> str:
    """Return the cells as a notebook of the format 4.5."""
    listed: list[dict[str, Any]] = []
    for number, (kind, text) in enumerate(cells):
        own: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
        lines = text.splitlines(keepends=True)
        listed.append({"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": lines, **own})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {
        "cells": listed,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def write_script(path: Path, cells: tuple[ScriptCell, ...], *, replace: bool = False) -> Path:
    """Write cells as a script or as a notebook, by the ending of the file.

    A file that is there is replaced only if that is asked for; else FileExistsError is raised.
    """
    text = as_script(cells) if path.suffix.lower() == ENDINGS[0] else as_notebook(cells)
    with path.open("w" if replace else "x", encoding="utf-8") as file:
        file.write(text)
    return path
