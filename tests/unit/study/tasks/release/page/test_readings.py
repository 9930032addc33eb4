"""What numbers of a page rest on: how blank cells are read, and which errors are exact."""

import pytest

from evenhand.study.page.page import answers, page_of
from evenhand.study.plan.cells import Setting
from evenhand.study.tasks.release.answers import error_finding
from evenhand.study.tasks.release.page.groups import _moved
from evenhand.study.tasks.release.reading import ReleaseReading
from evenhand.study.tasks.release.wording import errors_text
from evenhand.study.tasks.shared.wording import mechanism_name
from unit.study._page_studies import section
from unit.study._release_studies import by_name, made

pytestmark = pytest.mark.figures


def test_the_page_says_how_suppressed_cells_are_read():
    """A release leaves them blank, so that every number of them rests on a reading."""
    grid = ["laplace", "thresholded-laplace", "suppression", {"name": "suppression", "fill": "zero"}]
    page = page_of(made(by_name({}), grid=grid))
    words = (
        "they are read as 0 (Threshold after noise, Suppression) and as half of the threshold (Suppression)"
    )
    plain = page_of(made(by_name({}), grid=["laplace"]))

    assert words in page.sections[0].notes[-1].text
    assert words in page.sections[-3].charts[0].caption
    assert any(words in line for line in page.method)
    assert not any("suppressed" in line for line in plain.method)
    assert mechanism_name(Setting("suppression", options={"threshold": 6, "fill": "zero"})) == (
        "Suppression (blanks read as 0, threshold 6)"
    )


def test_the_page_says_which_errors_are_exact():
    """A mean of ten draws beside an exact number must not pass for one."""
    exact = {"laplace": {"error_exact": True}}
    page = page_of(made(by_name(exact), noise=0.0))
    words = "Errors are exact for Laplace noise, and means over 10 repeats for the others."
    alone = ReleaseReading.of(made(by_name(exact), grid=["laplace"], noise=0.0))

    assert page.numbers[1].detail == "exact"
    assert words in page.sections[0].tables[0].caption
    assert words in section(page, "sizes").charts[0].caption
    assert "(Laplace noise at ε = 1, exact)" in page.answers[0]
    assert errors_text(alone) == "Errors are exact."
    assert errors_text(ReleaseReading.of(made(by_name({})))) == "Errors are means over 10 repeats."
    assert "xact" not in answers(made(by_name({})))[0]


def test_exact_numbers_need_one_repeat_where_every_repeat_has_the_same_table():
    exact = {"laplace": {"error_exact": True}}
    once = ReleaseReading.of(made(by_name(exact), repeats=1, classify=False))
    model = ReleaseReading.of(made(by_name(exact), repeats=1))

    assert once.cell_error().low == once.cell_error().value == once.cell_error().high
    assert once.of_size("error", once.sizes[0]).low is not None
    assert model.cell_error().low is None


def test_who_is_lost_is_what_is_expected_where_that_is_exact():
    """A group that one draw happened to lose is not lost on average."""
    drawn = made(by_name({}, lost=(-0.2, 0.1), expected=0.0), noise=0.0)
    sampled = made(by_name({}, lost=(-0.2, 0.1), expected=0.0), noise=0.0, exact=False)
    said = answers(drawn)[1]

    assert said.startswith(
        "**No group gains or loses people on average; in one release the count of women varies by 2.0%"
    )
    assert said.evidence == "(One standard deviation; Laplace noise at ε = 1, exact.)"
    reading = ReleaseReading.of(drawn)
    assert [moved.change.low for moved in _moved(reading, reading.chosen, reading.groups)] == [None, None]
    assert "women" in answers(sampled)[1]
    assert "on average" not in answers(sampled)[1]


def test_exact_errors_that_are_equal_do_not_differ_by_what_a_computer_rounds():
    """Sums of equal numbers differ in their sixteenth digit, and nothing else would hide that."""
    same = {
        "laplace": {"error_exact": True, "error": 2.0 + 1e-15},
        "thresholded-laplace": {"error_exact": True},
    }
    reading = ReleaseReading.of(made(by_name(same), grid=["laplace", "thresholded-laplace"], noise=0.0))

    assert not reading.less_error(*reading.beside, comparisons=1).is_clear
    assert error_finding(reading) == "same"


def test_less_than_half_a_person_is_nobody():
    """Noise that is set to 0 adds a billionth of a person to large cells."""
    tiny = answers(made(by_name({}, lost=(0.01, 0.01), expected=1e-4), noise=0.0))[1]
    some = answers(made(by_name({}, lost=(0.01, 0.01), expected=0.01), noise=0.0))[1]

    assert tiny.startswith("**No group gains or loses people on average; ")
    assert some.startswith("**Every group is overcounted, ")
