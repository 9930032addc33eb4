"""What numbers of a page rest on: how blank cells are read, and which errors are exact."""

from evenhand.study.page.page import page_of
from evenhand.study.plan.cells import Setting
from evenhand.study.tasks.shared.wording import mechanism_name
from unit.study._release_studies import by_name, made


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
