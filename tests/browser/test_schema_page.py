"""The schema page while it is drawn anew: what a person is doing at that moment stays."""

import pytest

from browser._files import people, write_csv
from browser._harness import settle
from browser._steps import go_to, open_file, start_study, wait_for_step, wait_until_whole


@pytest.fixture
def study(page, tmp_path):
    """Return a study of made-up people, on the page of its columns."""
    study = start_study(page)
    open_file(page, write_csv(tmp_path / "people.csv", people()))
    page.click("a#continue")
    wait_for_step(page, "schema")
    page.wait_for_selector("#right")
    wait_until_whole(page)
    return study


def write_elsewhere(page, text):
    """Write a number into another field, by which the page is drawn anew after a moment."""
    page.evaluate(
        """text => {
          const field = document.getElementById("pool_below");
          field.value = text;
          field.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        text,
    )
    page.wait_for_timeout(1_500)
    settle(page)


def is_open(page, name):
    return page.evaluate("name => document.getElementById(name).matches(':open')", name)


def test_an_open_list_stays_open_while_the_page_is_drawn_anew(page, study):
    """A list that closes under the finger chooses what nobody meant, or nothing."""
    page.click("#role-0")
    assert is_open(page, "role-0")
    write_elsewhere(page, "5")

    assert is_open(page, "role-0")
    assert page.locator("#pool_below").get_attribute("value") == ""

    page.keyboard.press("Escape")

    page.wait_for_selector("#pool_below[value='5']")
    assert page.evaluate("document.activeElement.id") == "role-0"


def test_what_is_chosen_in_a_list_that_stayed_open_is_kept(page, study):
    page.focus("#role-0")
    page.click("#role-0")
    write_elsewhere(page, "5")
    page.keyboard.press("Escape")
    page.select_option("#role-0", "left out")
    page.wait_for_selector("#pool_below[value='5']")
    wait_until_whole(page)

    assert page.input_value("#role-0") == "left out"


def test_a_pasted_list_stays_until_it_is_declared(page, study):
    """Somebody who pastes a long code list and then ticks a box elsewhere must not paste it again."""
    page.click("#edit-0 summary")
    page.fill("#values-0", "f: women\nm: men\nx: neither")
    page.click("#edit-1 summary")
    page.check("#public-1")
    write_elsewhere(page, "5")
    assert page.input_value("#values-0").endswith("x: neither")

    page.fill("#values-0", "f\nm\nf")
    page.click("#declare-0")
    page.wait_for_selector("#problem-schema")
    assert page.input_value("#values-0") == "f\nm\nf"

    page.fill("#values-0", "f: women\nm: men\nx: neither")
    page.click("#declare-0")
    page.wait_for_selector("#undo-0")
    wait_until_whole(page)
    page.click("#undo-0")
    page.wait_for_selector("#undo-0", state="detached")
    wait_until_whole(page)

    assert "neither" not in page.input_value("#values-0")


def test_a_fold_that_was_just_opened_stays_open_when_the_page_is_drawn_anew(page, study):
    """Who opens a fold in the moment in which an answer arrives would see it close again."""
    is_open = page.evaluate(
        """async () => {
          const drawn = document.getElementById("page");
          const again = drawn.innerHTML;
          document.getElementById("edit-0").open = true;
          drawn.innerHTML = again;
          await new Promise(requestAnimationFrame);
          return document.getElementById("edit-0").open;
        }"""
    )

    assert is_open


def test_how_one_file_is_written_is_not_said_of_the_next_study(page, study):
    """The file of another study would be read with the wrong separator."""
    go_to(page, study, "data")
    page.click("#format summary")
    page.select_option("#format-delimiter", "pipe")
    page.evaluate("location.hash = '#/'")
    page.wait_for_selector("#new-study")
    start_study(page)

    assert page.input_value("#format-delimiter") == ""
