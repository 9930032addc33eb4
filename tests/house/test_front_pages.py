"""The README, the changelog, the citation and the glossary are what a newcomer meets first."""

import re
import sys

import jsonschema
import pytest
import yaml

import evenhand

NAME = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        key: {"type": "string", "minLength": 1} for key in ("given-names", "family-names", "name")
    },
    "minProperties": 1,
}
REFERENCE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["type", "title", "authors"],
    "properties": {
        "type": {"enum": ["article", "conference-paper", "thesis"]},
        "authors": {"type": "array", "items": NAME, "minItems": 1, "uniqueItems": True},
        "year": {"type": "integer"},
        "start": {"type": "integer"},
        "end": {"type": "integer"},
        "doi": {"type": "string", "pattern": r"^10\.\d{4,9}(\.\d+)?/[A-Za-z0-9:/_;\-.()\[\]\\]+$"},
        "url": {"type": "string", "pattern": r"^https://"},
        "institution": NAME,
        **{
            key: {"type": "string"}
            for key in ("title", "notes", "journal", "collection-title", "thesis-type")
        },
    },
}
CITATION = {
    "type": "object",
    "additionalProperties": False,
    "required": ["authors", "cff-version", "message", "title"],
    "properties": {
        "cff-version": {"const": "1.2.0"},
        "type": {"enum": ["software", "dataset"]},
        "authors": {"type": "array", "items": NAME, "minItems": 1, "uniqueItems": True},
        "references": {"type": "array", "items": REFERENCE},
        "date-released": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
        **{key: {"type": "string"} for key in ("message", "title", "abstract", "version", "license")},
    },
}
"""What version 1.2.0 of the Citation File Format allows of the keys that ours uses."""


def read(root, name):
    return (root / name).read_text(encoding="utf-8")


def release_notes(root):
    """Return the version and the date of the newest release, and the lines of its notes."""
    _, version, date, notes = re.split(
        r"^## (\S+) \((\S+)\)$", read(root, "CHANGELOG.md"), maxsplit=1, flags=re.MULTILINE
    )
    return version, date, notes.split("\n## ")[0].splitlines()


def test_the_readme_fits_on_a_screen(root):
    """Whoever has to scroll for the first command has gone."""
    lines = read(root, "README.md").splitlines()
    shown = read(root, "README.md").split("```python\n")[1].split("\n\n```")[0].splitlines()

    assert len(lines) <= 50
    assert len(shown) <= 15


def test_the_readme_says_how_to_install_and_how_to_test(root):
    text = read(root, "README.md")

    assert "pip install '.[app]'" in text
    assert "evenhand serve" in text
    assert "`make test`" in text
    assert "docs/_static/workbench/" in text


def test_every_link_and_picture_of_the_first_files_leads_somewhere(root):
    for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"):
        found = re.findall(r"\]\(([^)#\s]+)", read(root, name))

        assert [link for link in found if "://" not in link and not (root / link).exists()] == [], name


def test_the_changelog_has_this_version_with_privacy_first(root):
    version, _, lines = release_notes(root)
    themes = [line.removeprefix("### ") for line in lines if line.startswith("### ")]

    assert version == evenhand.__version__
    assert themes[0] == "Privacy"
    assert len(lines) <= 150


def test_the_citation_is_valid_and_of_this_version(root):
    """A citation that tools cannot read is not made."""
    citation = yaml.load(read(root, "CITATION.cff"), Loader=yaml.BaseLoader)
    typed = yaml.safe_load(read(root, "CITATION.cff"))
    typed["date-released"] = citation["date-released"]

    jsonschema.validate(typed, CITATION)
    assert citation["version"] == evenhand.__version__
    assert citation["date-released"] == release_notes(root)[1]


def test_a_citation_with_a_slip_is_not_valid(root):
    typed = yaml.safe_load(read(root, "CITATION.cff"))

    for broken in ({"licence": "Apache-2.0"}, {"cff-version": "1.3"}, {"authors": []}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**typed, "date-released": "2026-11-17", **broken}, CITATION)


@pytest.fixture(scope="module")
def glossary(root):
    sys.path.insert(0, str(root / "docs" / "_ext"))
    try:
        import catalogue_glossary
    finally:
        sys.path.pop(0)
    return catalogue_glossary


def test_the_glossary_of_the_documentation_is_that_of_the_workbench(root, glossary):
    """Two lists of words would soon say two things."""
    text = glossary.glossary_text()
    words = glossary.read_words()

    assert glossary.FENCE in read(root, "docs/glossary.md")
    assert len(words) > 70
    for word in words.values():
        assert f"\n{word['name']}\n  {word['text']}\n" in text


def test_definitions_are_one_or_two_sentences_and_their_names_differ(glossary):
    words = glossary.read_words()
    names = [word["name"] for word in words.values()]
    ends = {key: len(re.findall(r"[.?!](?= |$)", word["text"])) for key, word in words.items()}

    assert len(set(names)) == len(names)
    assert {key: count for key, count in ends.items() if count > 3} == {}


def test_words_that_reports_cannot_do_without_are_defined(glossary):
    names = " ".join(word["name"].lower() for word in glossary.read_words().values())

    for word in (
        "epsilon",
        "delta",
        "rho",
        "bias",
        "alpha",
        "in the clear",
        "interval",
        "points",
        "unit",
        "ledger",
    ):
        assert word in names
