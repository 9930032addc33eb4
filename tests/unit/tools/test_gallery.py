"""The gallery shows what its scripts make, and each script is short."""

import runpy
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

TOOL = Path(__file__).resolve().parents[3] / "tools" / "gallery.py"
SCRIPTS = runpy.run_path(str(TOOL))["ORDER"]


@pytest.fixture
def folder(root):
    return root / "examples" / "gallery"


def test_every_script_is_in_the_gallery(folder, root):
    page = (root / "docs" / "gallery" / "index.md").read_text("utf-8")

    assert sorted(path.stem for path in folder.glob("*.py")) == sorted(SCRIPTS)
    assert sorted(path.stem for path in folder.glob("*.ipynb")) == sorted(SCRIPTS)
    assert [page.count(f"({name}.svg)") for name in SCRIPTS] == [1] * 8


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_short_and_its_notebook_has_the_same_cells(name, folder):
    text = (folder / f"{name}.py").read_text("utf-8")
    notebook = nbformat.read(folder / f"{name}.ipynb", as_version=4)
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"][:-1]

    nbformat.validate(notebook)
    assert len(text.splitlines()) <= 60
    assert all(cell in text for cell in cells)
    assert sum(len(cell.splitlines()) for cell in cells) > 20


@pytest.mark.figures
def test_pages_pictures_and_notebooks_are_what_the_scripts_make(root):
    """An answer that is no longer true would be read as one."""
    done = subprocess.run(
        [sys.executable, "-P", str(root / "tools" / "gallery.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
