"""Every link of a page leads somewhere, and every page can be reached."""

import csv
import importlib
import re
import subprocess
import zipfile

import pytest

BESIDE = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "CHANGELOG.md")
FENCE = re.compile(r"^(`{3,}|:{3,}).*?^\1", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,3} +(.+?) *$", re.MULTILINE)
LINK = re.compile(r"(?<!`)\]\(([^)\s]+)\)")
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.MULTILINE | re.DOTALL)
INCLUDED = {"claims.md", "figures.md"}
"""Parts of the reproductions, which their pages include."""
LONG = {"reference.md", "reproductions/errors.md"}
"""Lists, which are searched and not read."""
MOST_PAGES = 79  # 75, and room for a few protocols, each of which has a page
MOST_LINES = 250


def pages_of(root):
    """Return every page of the documentation, and the pages beside it that link to them."""
    written = (root / "docs").rglob("*.md")
    inside = [path for path in written if not {"_build", "generated"} & set(path.parts)]
    return sorted([*inside, *(root / name for name in BESIDE)])


def prose_of(page):
    """Return the text of a page without its blocks of code and its code within lines."""
    blocks = re.compile(r"^(`{3,})(\{?).*?^\1", re.MULTILINE | re.DOTALL)
    text = blocks.sub(lambda block: block[0] if block[2] else "", page.read_text("utf-8"))
    return re.sub(r"`[^`\n]*`", lambda code: re.sub(r"[\[\]()]", " ", code[0]), text)


def anchors_of(page):
    """Return the anchors that the headings of a page have."""
    text = FENCE.sub("", page.read_text("utf-8"))
    found = []
    for title in HEADING.findall(text):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
        slug = re.sub(r"[^\w\- ]", "", plain.strip().lower().replace(" ", "-"))
        found.append(f"{slug}-{found.count(slug)}" if slug in found else slug)
    return set(found)


def links_of(page):
    """Return the relative links of a page: the file or folder, and the anchor."""
    for link in LINK.findall(prose_of(page)):
        if not re.match(r"[a-z]+:", link):
            target, _, anchor = link.partition("#")
            yield link, (page.parent / target).resolve() if target else page, anchor


def test_every_relative_link_leads_to_a_file(root):
    """A reader who follows a link must not end nowhere."""
    broken = [
        f"{page.relative_to(root)}: {link}"
        for page in pages_of(root)
        for link, target, _ in links_of(page)
        if not target.exists()
    ]

    assert broken == []


def test_every_anchor_is_a_heading_of_its_page(root):
    """A link to a part of a page that was renamed opens at its top, and nobody notices."""
    broken = [
        f"{page.relative_to(root)}: {link}"
        for page in pages_of(root)
        for link, target, anchor in links_of(page)
        if anchor and target.suffix == ".md" and anchor not in anchors_of(target)
    ]

    assert broken == []


@pytest.mark.parametrize("text", ["[a](nowhere.md)", "[a](#no-such-part)", "[a](page.md#other)"])
def test_a_broken_link_is_found(tmp_path, text):
    """The checks themselves must be able to fail."""
    page = tmp_path / "page.md"
    page.write_text(f"# A page\n\n`[b](code.md)` {text}\n", "utf-8")
    [(_, target, anchor)] = links_of(page)

    assert not target.exists() or anchor not in anchors_of(page)


def test_a_broken_link_after_a_directive_is_found(tmp_path):
    """The end of a directive is not the beginning of a block of code."""
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n```{table}\n```\n\n[a](nowhere.md)\n\n```python\n1\n```\n", "utf-8")

    assert [link for link, _, _ in links_of(page)] == ["nowhere.md"]


def test_anchors_are_those_of_the_site(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Rules: kept, or `not`\n```python\n# no heading\n```\n## A, b\n## A, b\n", "utf-8")

    assert anchors_of(page) == {"rules-kept-or-not", "a-b", "a-b-1"}


def test_every_page_is_in_the_contents(root):
    """A page that no table of contents lists cannot be found from the first page."""
    docs = root / "docs"
    pages = {page for page in pages_of(root) if docs in page.parents and page.name not in INCLUDED}
    listed = {docs / "index.md"}
    for page in pages:
        for contents in TOCTREE.findall(page.read_text("utf-8")):
            names = [line for line in contents.split() if not line.startswith(":")]
            listed |= {(page.parent / f"{name}.md").resolve() for name in names}

    assert sorted(str(page.relative_to(docs)) for page in pages - listed) == []


def test_the_manual_stays_short(root):
    """Nobody reads a page that does not end, or finds one among a hundred."""
    docs = root / "docs"
    pages = [page for page in pages_of(root) if docs in page.parents and page.name not in INCLUDED]
    lines = {page.relative_to(docs).as_posix(): len(page.read_text("utf-8").splitlines()) for page in pages}

    assert len(pages) <= MOST_PAGES
    assert {name: count for name, count in lines.items() if count > MOST_LINES and name not in LONG} == {}


def test_every_part_of_a_picture_is_found_from_its_page(root):
    """A picture that was moved without its script is a picture that does not answer."""
    docs = root / "docs"
    found = []
    for page in pages_of(root):
        for name in re.findall(r"^:file: (.+)$", page.read_text("utf-8"), re.MULTILINE):
            parts = re.findall(r'(?:src|href)="([^":#]+)"', (page.parent / name).read_text("utf-8"))
            found += [(page.parent / part).resolve() for part in parts]

    assert docs / "_static" / "frontier.js" in found
    assert [path for path in found if not path.is_file()] == []


def test_code_names_only_pages_that_exist(root):
    """A docstring or a script that sends people to a page must not outlive it."""
    command = ["git", "grep", "-hoE", r"docs/[a-z0-9/-]+\.md", "--", "*.py", "*.toml", "Makefile", "*.yml"]
    named = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split()

    assert sorted({path for path in named if not (root / path).is_file()}) == []


def test_the_measured_epsilons_of_the_page_are_those_of_its_file(root):
    """A table that was typed in would be a claim without an audit."""
    text = (root / "docs" / "reproductions" / "audit" / "claimed-and-measured.csv").read_text("utf-8")
    measured = {}
    for row in csv.DictReader(text.splitlines()):
        measured.setdefault((row["protocol"], row["k"]), []).append(row["share of the claim, percent"])
    page = (root / "docs" / "how-to" / "audit-a-mechanism.md").read_text("utf-8")
    rows = re.findall(r"^\| ([a-z]+) \| (\d+) \| (.+?) \|$", page, re.MULTILINE)

    assert {(name, k): re.findall(r"([\d.]+) %", cells) for name, k, cells in rows} == measured
    assert sum(map(len, measured.values())) == 126


def test_who_has_no_clone_finds_every_example_that_pages_name(root, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "docs" / "_ext"))
    example_files = importlib.import_module("example_files")
    for name in ("one.zip", "two.zip"):
        example_files.pack_examples(tmp_path / name)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    packed = set(zipfile.ZipFile(tmp_path / "one.zip").namelist())
    named = {
        path
        for page in pages_of(root)
        for path in re.findall(r"examples/[\w/]+\.(?:csv|ipynb|py|toml)", page.read_text("utf-8"))
    }
    assert "examples/people.csv" in named
    assert named - packed - {"examples/gallery/NAME.py"} == set()
    assert not [name for name in packed if "__pycache__" in name]
