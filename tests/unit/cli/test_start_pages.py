"""The first pages show commands that run, and what they print."""

import re
import runpy
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = sorted((ROOT / "docs" / "start").glob("*.md"))
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (evenhand (?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
NOT_TYPED = ("evenhand serve",)
"""What would wait for a browser."""


def commands_of(page):
    """Return the commands of a page in order, each with the output that stands below it."""
    shown = [pair for block in BLOCK.findall(page.read_text("utf-8")) for pair in COMMAND.findall(block)]
    return [(command.replace("\\\n", ""), output) for command, output in shown]


def shows(output, printed):
    """Return whether what was printed is what a page shows, where ``...`` stands for anything, or nothing."""
    parts = re.split(r"(?:^|\s+)\.\.\.(?=\s|$)", output.strip())
    pattern = ".*?".join(r"\s+".join(re.escape(word) for word in part.split()) for part in parts)
    return re.fullmatch(rf"\s*{pattern}\s*".replace(".*?", r"\s*.*?\s*"), printed, re.DOTALL) is not None


@pytest.fixture
def _clone(tmp_path):
    """Make the folder look like a clone, as the pages say."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")


@pytest.mark.parametrize(
    ("output", "printed", "is_shown"),
    [
        ("a b\n", "a\n  b", True),
        ("a ...\n", "a", True),
        ("a\n...\nd\n", "a\nd", True),
        ("a\n...\nd\n", "a b c\nd", True),
        ("a d\n", "a b d", False),
        ("a\n...\n", "b", False),
    ],
)
def test_dots_stand_for_anything_and_nothing_else_does(output, printed, is_shown):
    assert shows(output, printed) == is_shown


@pytest.mark.figures  # studies, half a minute of one core
@pytest.mark.usefixtures("_clone")
@pytest.mark.parametrize("page", [page for page in PAGES if commands_of(page)], ids=lambda page: page.stem)
def test_the_commands_of_a_first_page_print_what_it_shows(call, page):
    """Somebody whose first command fails does not type a second."""
    for command, output in commands_of(page):
        if command.startswith(NOT_TYPED):
            continue
        done = call(*shlex.split(command)[1:])

        assert done.exit_code == 0, f"{command}\n{done.output}"
        assert shows(output, done.stdout), f"{command}\nshows\n{output}\nbut printed\n{done.stdout}"


def test_every_reader_has_a_first_page_with_code_that_runs():
    """Five kinds of people were promised ten minutes."""
    pages = {page.stem: page.read_text("utf-8") for page in PAGES}

    assert set(pages) == {"install", "survey-team", "agency", "learning-team", "researcher", "policy-analyst"}
    for name in set(pages) - {"install"}:
        assert "you will know" in pages[name]
        assert "## Next" in pages[name]
        assert commands_of(ROOT / "docs" / "start" / f"{name}.md")


def test_the_people_of_the_examples_are_those_of_their_script(tmp_path):
    """A file that was edited by hand could not be made again."""
    script = runpy.run_path(str(ROOT / "tools" / "example_people.py"))
    script["write_people"](tmp_path / "people.csv")

    assert (tmp_path / "people.csv").read_bytes() == (ROOT / "examples" / "people.csv").read_bytes()
