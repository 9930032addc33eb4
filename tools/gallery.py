"""Run the scripts of the gallery; write their pictures, notebooks and pages.

    python tools/gallery.py [--check]

A script is cells that begin with ``# %%``, as editors know them. It prints its answer and leaves behind a
picture of its own name. With --check nothing is written, and the exit code is 1 if a page, a picture or a
notebook is not what its script makes.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "examples" / "gallery"
PAGES = ROOT / "docs" / "gallery"
ORDER = (
    "survey_at_epsilon_1",
    "protocol_for_51_states",
    "small_and_crossed_groups",
    "noise_or_suppression",
    "money_from_noisy_counts",
    "parity_under_privacy",
    "eighty_percent_rule",
    "one_budget_three_releases",
)
SHOW = "from IPython.display import SVG\n\nSVG(svg_file(chart))"
HEAD = """\
# Gallery

Eight questions that people ask, each answered by a short script that needs no download: on data
that comes with evenhand, or on counts that stand in the script.
Run one with `python examples/gallery/NAME.py`, or open the notebook beside it; each takes seconds.
They are among the [example files](../start/install.md#the-example-files).
"""


def split_cells(text: str) -> list[tuple[str, str]]:
    """Return the cells of a script: what each is, "markdown" or "code", and its text."""
    cells = []
    for part in text.split("# %%")[1:]:
        head, _, body = part.partition("\n")
        kind = "markdown" if "[markdown]" in head else "code"
        lines = body.strip().splitlines()
        if kind == "markdown":
            lines = [line.removeprefix("#").removeprefix(" ") for line in lines]
        cells.append((kind, "\n".join(lines)))
    return cells


def make_notebook(cells: list[tuple[str, str]]) -> str:
    """Return a notebook of the cells, with one more that shows the picture."""
    made: list[dict[str, Any]] = []
    for place, (kind, text) in enumerate([*cells, ("code", SHOW)]):
        cell = {"cell_type": kind, "id": f"cell-{place}", "metadata": {}}
        cell |= {"execution_count": None, "outputs": []} if kind == "code" else {}
        made.append({**cell, "source": text.splitlines(keepends=True)})
    names = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {"cells": made, "metadata": {"kernelspec": names}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def run_script(name: str) -> tuple[str, str, float]:
    """Return what a script prints, its picture, and how many seconds it took."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-P", str(SCRIPTS / f"{name}.py")]
        done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, encoding="utf-8", check=True)  # noqa: S603
        picture = pathlib.Path(folder, f"{name}.svg").read_text(encoding="utf-8")
    return done.stdout.strip(), picture, time.monotonic() - began


def make_files() -> dict[pathlib.Path, str]:
    """Run every script and return the files of the gallery with their texts."""
    files, page = {}, [HEAD]
    for name in ORDER:
        cells = split_cells((SCRIPTS / f"{name}.py").read_text(encoding="utf-8"))
        answer, picture, seconds = run_script(name)
        print(f"{name}: {seconds:.1f} s. {answer}", flush=True)
        title, _, lead = cells[0][1].removeprefix("# ").partition("\n")
        files[SCRIPTS / f"{name}.ipynb"] = make_notebook(cells)
        files[PAGES / f"{name}.svg"] = picture
        lines = " ".join(lead.split())
        page += [f"## {title}\n", f"{lines}\n", f"**{answer}**\n", f"![{title}]({name}.svg)\n"]
        page += [f"```{{literalinclude}} ../../examples/gallery/{name}.py\n:language: python\n```\n"]
    files[PAGES / "index.md"] = "\n".join(page)
    return files


def main() -> None:
    """Write the files, or compare them with those that are there."""
    files = make_files()
    if "--check" in sys.argv[1:]:
        old = [path for path, text in files.items() if not path.is_file() or path.read_text("utf-8") != text]
        print("\n".join(f"Not as its script makes it: {path.relative_to(ROOT)}" for path in old))
        sys.exit(bool(old))
    PAGES.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
