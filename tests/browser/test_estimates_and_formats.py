"""What takes a moment comes by itself, and a file that was not read can be opened in another way."""

import pytest

from browser._files import people, write_csv
from browser._steps import ask, choose_dataset, describe, start_study


def test_the_estimate_becomes_a_timed_one_by_itself(page):
    """A range from seconds to minutes helps nobody to decide whether to wait."""
    start_study(page)
    choose_dataset(page, "causal")
    describe(page)
    ask(page, "collect", repeats="4")
    page.wait_for_selector("#estimate :text('from timing')", timeout=120_000)

    assert page.locator("#timing").count() == 0
    assert page.inner_text("#minutes").startswith("About ")


def test_a_workbook_of_two_sheets_is_opened_by_naming_one(visit, page, tmp_path):
    """A person at a browser has no command line to say it on."""
    visit.expect("422")
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    columns = people(60)
    for sheet in (book.active, book.create_sheet("second")):
        sheet.append(list(columns))
        for row in zip(*columns.values(), strict=True):
            sheet.append(list(row))
    book.save(tmp_path / "two.xlsx")
    start_study(page)
    page.set_input_files("#file", tmp_path / "two.xlsx")
    page.wait_for_selector("#upload-problem")
    said = page.inner_text("#upload-problem")
    page.wait_for_selector("#format[open]")
    page.fill("#format-sheet", "second")
    page.click("#again")
    page.wait_for_selector("#drop >> text=is open")

    assert "How the file is written" in said
    assert "--" not in said
    assert page.locator("#upload-problem").count() == 0
    assert page.input_value("#format-sheet") == "second"


def test_a_file_is_read_as_a_person_says_that_it_is_written(page, tmp_path):
    path = write_csv(tmp_path / "people.csv", people(60), separator="|")
    start_study(page)
    page.locator("#format > summary").click()
    page.select_option("#format-delimiter", "comma")
    page.set_input_files("#file", path)
    page.wait_for_selector("#upload-problem, #drop >> text=is open")
    page.select_option("#format-delimiter", "pipe")
    page.click("#again")
    page.wait_for_selector("#drop >> text=is open")
    page.click("a#continue")
    page.wait_for_selector("caption:has-text('5 columns, 60 rows')")
