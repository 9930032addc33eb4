"""The catalogue has every registered entry with when to use it and when not, and its lines of code run."""

import doctest
import re
import sys
from xml.etree import ElementTree as ET

import pytest

FAMILIES = (
    "protocols", "release", "measures",
    "mitigations/collect", "mitigations/release", "mitigations/decide", "mitigations/learn",
)  # fmt: skip


@pytest.fixture(scope="module")
def catalogue(root):
    """Return the module that fills the pages, with those it rests on as its attributes."""
    sys.path.insert(0, str(root / "docs" / "_ext"))
    try:
        import catalogue
        import catalogue_entries
        import catalogue_pictures
    finally:
        sys.path.pop(0)
    catalogue.entries, catalogue.pictures = catalogue_entries, catalogue_pictures
    return catalogue


@pytest.fixture(scope="module")
def pages(root):
    folder = root / "docs" / "catalogue"
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*.md")}


def test_every_family_is_in_the_tests(catalogue):
    assert set(catalogue.entries.FAMILIES) == set(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_registered_entry_says_when_to_use_it_and_when_not(catalogue, family):
    """What is offered without saying whom it harms is chosen by whom it harms."""
    registered, _ = catalogue.entries.FAMILIES[family]
    entries = catalogue.entries.list_entries(family)

    assert [entry.name for entry in entries] == list(registered)
    for entry in entries:
        assert entry.use.endswith(".")
        assert entry.avoid.endswith(".")
        assert entry.title
        assert entry.does
        assert entry.guarantee


def test_an_entry_without_an_answer_ends_the_build(catalogue):
    whole = {"a": {"use": "Always.", "avoid": "Never."}}

    catalogue.entries.check_names("toys", ("a",), whole)
    with pytest.raises(LookupError, match=r"missing \['b \(use\)', 'b \(avoid\)'\]"):
        catalogue.entries.check_names("toys", ("a", "b"), whole)
    with pytest.raises(LookupError, match=r"missing \['a \(avoid\)'\]"):
        catalogue.entries.check_names("toys", ("a",), {"a": {"use": "Always."}})
    with pytest.raises(LookupError, match=r"registered nowhere \['a'\]"):
        catalogue.entries.check_names("toys", (), whole)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_lines_of_code_run_and_give_what_is_shown(catalogue, family):
    """A line that does not run is worse than none."""
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    parser, names = doctest.DocTestParser(), {}
    for part in (catalogue.entries.read_setup(family), *catalogue.entries.list_entries(family)):
        text = part if isinstance(part, str) else part.code
        test = parser.get_doctest(f"{text}\n", names, getattr(part, "name", "setup"), family, 0)
        told = []

        assert test.examples
        runner = doctest.DocTestRunner(optionflags=flags)
        assert runner.run(test, out=told.append, clear_globs=False).failed == 0, "".join(told)
        names.update(test.globs)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_entry_has_a_picture_that_speaks(catalogue, family):
    """Without a heading and a spoken text a picture tells nothing to those who cannot see it."""
    for entry in catalogue.entries.list_entries(family):
        drawn = catalogue.pictures.picture_html(entry)
        image = ET.fromstring(drawn).find("figure/svg")

        assert "\n\n" not in drawn  # where Markdown would end it
        assert ET.fromstring(drawn).find("figure/figcaption").text
        assert image.get("role") == "img"
        assert re.search(r"\d", image.get("aria-label"))


@pytest.mark.parametrize("family", FAMILIES)
def test_every_entry_links_to_a_public_name_and_to_a_page_that_exists(root, catalogue, pages, family):
    public = set((root / "tests" / "house" / "public_names.txt").read_text("utf-8").split())
    folder = "" if family == "protocols" else f"{family.partition('/')[0]}/"
    entries = catalogue.entries.list_entries(family)

    assert {entry.reference for entry in entries} - public == set()
    assert {
        entry.page for entry in entries if entry.page and f"{folder}{entry.page}.md" not in pages
    } == set()


def test_every_family_stands_on_a_page_with_its_table(catalogue, pages):
    shown = "\n".join(pages.values())

    for family in FAMILIES:
        assert f"```{{catalogue-table}} {family}\n```" in shown
        for entry in catalogue.entries.list_entries(family):
            fence = f"-entry}} protocols {entry.name}" if family == "protocols" else f"}} {family}"
            assert f"```{{catalogue{fence}\n```" in shown


def test_the_counts_of_the_first_page_are_those_of_the_registries(catalogue, pages):
    count = {family: len(catalogue.entries.list_entries(family)) for family in FAMILIES}
    stages = [str(count[f"mitigations/{stage}"]) for stage in ("collect", "release", "decide", "learn")]
    last = [
        line.strip("| ").rpartition("| ")[2] for line in pages["index.md"].splitlines() if line[:3] == "| ["
    ]

    assert last == [
        str(count["protocols"]),
        str(count["release"]),
        f"{', '.join(stages[:-1])} and {stages[-1]}",
        str(count["measures"]),
    ]


def test_a_page_is_filled_in_and_an_unknown_family_is_refused(catalogue):
    filled = catalogue.fill_page("# A\n\n```{catalogue-table} release\n```\n\n```{catalogue} release\n```\n")

    assert "[Laplace noise](#release-laplace)" in filled
    assert "(release-laplace)=\n### Laplace noise" in filled
    assert "```{catalogue" not in filled
    with pytest.raises(LookupError, match="no family 'toys'"):
        catalogue.fill_page("```{catalogue-table} toys\n```")


def test_a_guarantee_that_means_nothing_is_called_so(catalogue):
    """A delta of 0.88 in a column of guarantees would read as one."""
    shown = {entry.name: entry.guarantee for entry in catalogue.entries.list_entries("release")}

    assert shown["laplace"] == "ε = 1, pure"
    assert shown["suppression"] == "none"
    assert shown["random-swapping"].startswith("no meaningful one")
    assert shown["generalized-sampling"] == "ε = 1, δ = 1e-06"


def test_every_comparison_of_predictions_is_listed_with_its_words(catalogue, pages):
    """A measure that is offered and not explained cannot be chosen knowingly."""
    from evenhand.measure.disparities import COMPARISONS, OTHER_NAMES

    table = catalogue.comparisons_text()
    assert "```{catalogue-comparisons}\n```" in pages["measures.md"]
    assert {name for name in (*COMPARISONS, *OTHER_NAMES) if f"`{name}`" not in table} == set()
    assert "{" not in table
