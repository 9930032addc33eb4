"""Files as people have them: written in another country, in a spreadsheet, broken, too large, hostile."""

import json
from collections import Counter

import pytest

from browser._files import HOSTILE, hostile_people, people, write_csv, write_excel, write_parquet
from browser._harness import settle, wait_until
from browser._steps import (
    ask,
    describe,
    open_file,
    start_run,
    start_study,
    take_all,
    wait_for_step,
    wait_until_finished,
    wait_until_whole,
)

ROLES = {"sex": "protected, sensitive", "hired": "target"}
TINY = {
    "collect": {"protocols": ["grr"], "epsilons": "1", "repeats": "2"},
    "release": {"epsilons": "1", "repeats": "2"},
    "learn": {"methods": ["dp"], "epsilons": "2", "repeats": "2"},
}


def semicolons(folder):
    return write_csv(folder / "Löhne 2025.csv", people(), separator=";", decimal=",")


def spreadsheet(folder):
    return write_excel(folder / "people.xlsx", people())


def parquet(folder):
    return write_parquet(folder / "people.parquet", people())


@pytest.mark.parametrize(
    ("kind", "write"), [("collect", semicolons), ("release", spreadsheet), ("learn", parquet)]
)
def test_an_awkward_file_is_taken_from_the_upload_to_an_answer(page, kind, write, tmp_path):
    """Semicolons with decimal commas, Excel and Parquet are what people have."""
    path = write(tmp_path)
    start_study(page)
    open_file(page, path)
    describe(page, **ROLES)
    ask(page, kind, **TINY[kind])
    start_run(page)
    wait_until_finished(page)
    files = take_all(page)

    assert path.name in page.inner_text("#page") or path.name in files["report.html"].decode()
    assert files["cells.csv"].count(b"\n") > 2


BROKEN = {
    "empty.csv": b"",
    "noise.parquet": b"PAR1 this is no parquet file",
    "picture.csv": bytes(range(256)) * 40,
    "ragged.csv": b"a,b,c\n1,2,3\n4,5\n6,7,8,9\n",
    "book.xlsx": b"PK\x03\x04 no spreadsheet",
    "letter.docx": b"PK\x03\x04",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused_with_a_sentence_and_leaves_nothing(visit, serving, name, tmp_path):
    """A page that only says that something failed leaves people alone; a path tells too much."""
    visit.expect("Failed to load resource")
    page = visit.open()
    study = start_study(page)
    path = tmp_path / name
    path.write_bytes(BROKEN[name])
    page.set_input_files("#file", path)
    said = page.locator("#upload-problem").inner_text()

    assert 20 < len(said) < 600
    assert "Traceback" not in said
    assert "/" not in said.replace("and/or", "")
    assert list((serving.folder / study / "data").glob("*")) == []
    assert page.locator("button#continue[disabled]").count() == 1


def test_a_file_over_the_limit_is_refused_before_it_is_sent(visit, tmp_path):
    """Two hundred megabytes are the limit; the page must say so at once, and the browser must not send it."""
    page = visit.open()
    start_study(page)
    path = tmp_path / "large.csv"
    with path.open("wb") as file:
        file.truncate(210_000_000)
    page.set_input_files("#file", path)
    said = page.locator("#upload-problem").inner_text()

    assert "200 MB" in said
    assert [url for url in visit.requests if url.endswith("/data")] == []


def test_a_file_can_be_chosen_before_the_data_sets_are_listed(page):
    """The dialog of the system stays open for seconds; the page behind it must keep the place of the file."""
    start_study(page)
    page.evaluate("() => { document.querySelector('#file').mine = true; }")
    page.wait_for_selector(".tile")
    settle(page)

    assert page.evaluate("() => document.querySelector('#file').mine") is True


def test_roles_that_are_changed_quickly_are_all_kept(page, serving, tmp_path):
    """The columns are read anew after each change; a change that is made meanwhile must not be taken back."""
    study = start_study(page)
    open_file(page, write_csv(tmp_path / "people.csv", people(2_000)))
    page.click("a#continue")
    wait_for_step(page, "schema")
    page.wait_for_selector("#right")
    for column in ("region", "school", "pay"):
        page.get_by_label(f"Role of {column}", exact=True).select_option("left out")
    record = serving.folder / study / "study.json"

    def left_out():
        return sorted(json.loads(record.read_text())["roles"].get("drop", ()))

    wait_until(lambda: left_out() == ["pay", "region", "school"], page)
    wait_until_whole(page)  # a description that comes late must not take one back
    assert left_out() == ["pay", "region", "school"]


def structure(page):
    """Return how many elements of each kind a page has, and every attribute that would be code."""
    wait_until_whole(page)
    tags = page.evaluate("() => Array.from(document.querySelectorAll('#main *'), (one) => one.tagName)")
    code = page.evaluate(
        "() => Array.from(document.querySelectorAll('#main *')).flatMap((one) => one.getAttributeNames()"
        ".filter((name) => name.startsWith('on') || /^\\\\s*javascript:/i.test(one.getAttribute(name))))"
    )
    return Counter(tags), code


def test_text_of_a_hostile_file_stays_text_on_every_page(visit, tmp_path):
    """Column names, categories and file names are somebody else's words: none may become an element or run.

    The twin is the same file with harmless names; the pages must have the same elements.
    """
    hostile = hostile_people()
    # in the same order, so that both files have the same codes, draws and numbers
    harmless_names = {name: f"word{place}" for place, name in enumerate(sorted(HOSTILE))}
    harmless = {
        harmless_names.get(name, name): [harmless_names.get(value, value) for value in values]
        for name, values in hostile.items()
    }
    name = "<img src=x onerror=window.ran=1>.csv"
    pages = {}
    for label, columns in {name: hostile, "harmless.csv": harmless}.items():
        page = visit.open()
        start_study(page)
        open_file(page, write_csv(tmp_path / label, columns))
        seen = [structure(page)]
        page.click("a#continue")
        wait_for_step(page, "schema")
        page.wait_for_selector("#right")
        seen.append(structure(page))
        page.locator("#page").get_by_label("Role of sex", exact=True).select_option("protected, sensitive")
        page.locator("#page").get_by_label("Role of hired", exact=True).select_option("target")
        page.wait_for_selector("#right:not([disabled])")
        page.click("#right")
        ask(page, "collect", **TINY["collect"])
        page.wait_for_selector("#runs:text('1 setting'):text('2 repeats')")
        page.wait_for_selector("#timing", state="detached")  # timed runs have notes of their own
        seen.append(structure(page))
        start_run(page)
        wait_until_finished(page)
        seen.append(structure(page))
        pages[label] = seen
        assert page.evaluate("() => window.ran") is None
        assert page.locator("#planted").count() == 0

    pairs = zip(pages[name], pages["harmless.csv"], strict=True)
    added = [(ours - theirs) + (theirs - ours) for (ours, _), (theirs, _) in pairs]
    assert added == [Counter()] * 4
    assert all(code == [] for seen in pages.values() for _, code in seen)
