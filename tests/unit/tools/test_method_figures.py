"""The figures behind the pictures of the ways of training are those of the study that their file names."""

import runpy
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[3] / "tools" / "method_figures.py"


@pytest.mark.figures
def test_the_figures_of_every_method_are_computed_again():
    """The pages show them as facts; training that has changed would leave them false."""
    tool = runpy.run_path(str(TOOL))
    figures = tool["write_figures"](tool["run_study"]())

    assert figures == tool["FILE"].read_text("utf-8")
