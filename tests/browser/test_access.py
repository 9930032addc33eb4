"""Every page can be read, reached and used: axe-core, the keyboard, a phone, reduced motion."""

import pytest

from browser._access import parts_that_move, parts_wider_than_the_screen, severe_findings
from browser._harness import PHONE, WIDE, Visit, settle
from browser._steps import (
    RUN_SECONDS,
    answer_question,
    choose_dataset,
    describe,
    go_to,
    start_run,
    start_study,
    study_of,
    wait_for_answer,
    wait_for_step,
    wait_until_whole,
)

STEPS = ("data", "schema", "question", "run", "result", "apply")
HELP = ("", "mechanisms", "report")
THEMES = ("light", "dark")
_FOCUS_IS_SHOWN = """
() => {
  const outlined = (element) => {
    const style = element && getComputedStyle(element);
    return Boolean(style) && style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
  };
  return outlined(document.activeElement) || outlined(document.activeElement.closest('label'));
}
"""
_OPEN_FOLDS = "() => document.querySelectorAll('details').forEach((fold) => { fold.open = true; })"


@pytest.fixture(scope="module")
def gallery(browser, serving, cookies):
    """Return a workbench with a finished study, one that was stopped and one that was just begun."""
    visit = Visit(browser, cookies, serving.home)
    page = visit.open()
    answers = {"protocols": ["grr"], "epsilons": "1,2", "repeats": "2"}
    studies = {"finished": answer_question(page, "collect", "causal", **answers)}
    visit.open()
    studies["begun"] = start_study(page)
    visit.open()
    start_study(page)
    choose_dataset(page, "causal")
    describe(page)
    start_run(page)
    page.click("#stop")
    page.wait_for_selector("#go-on")
    studies["stopped"] = study_of(page)
    visit.close()
    return serving, cookies, studies


def routes(studies):
    """Return the address of every page."""
    steps = [f"#/study/{studies[name]}/{step}" for name in ("finished", "begun") for step in STEPS]
    return ["#/", *steps, f"#/study/{studies['stopped']}/run", *(f"#/help/{name}" for name in HELP)]


def show(page, home, route):
    """Go to a page, and wait until it is whole."""
    page.goto(home + route)
    page.wait_for_selector(f"#page [data-address='{route}'] h1")
    wait_until_whole(page)


@pytest.fixture(scope="module")
def survey(browser, gallery):
    """Return what is wrong on each page, by theme: every page is loaded once, and looked at in every way."""
    serving, cookies, studies = gallery
    visit = Visit(browser, cookies, serving.home, size=PHONE)
    found = {(fault, theme): {} for fault in ("wide", "moves", "severe") for theme in THEMES}
    for route in routes(studies):
        show(visit.page, serving.home, route)
        for fault, theme, parts in look_at(visit.page):
            if parts:
                found[fault, theme][route] = parts
    faults = visit.unexpected()
    visit.close()
    assert faults == []
    return found


def look_at(page):
    """Yield what is wrong with the page on show: on a phone, with less motion, and to axe with folds open."""
    looks = {"wide": parts_wider_than_the_screen, "moves": parts_that_move, "severe": severe_findings}
    for fault, look in looks.items():
        width, height = PHONE if fault == "wide" else WIDE
        page.set_viewport_size({"width": width, "height": height})
        if fault == "severe":
            page.evaluate(_OPEN_FOLDS)
        for theme in THEMES:
            motion = "reduce" if fault == "moves" else "no-preference"
            page.emulate_media(color_scheme=theme, reduced_motion=motion)
            yield fault, theme, look(page)


@pytest.mark.parametrize("theme", THEMES)
def test_axe_finds_nothing_severe_on_any_page(survey, theme):
    """People who cannot see, or not well, must be able to use it: contrast, names, roles and headings."""
    assert survey["severe", theme] == {}


def test_what_axe_is_asked_it_can_answer(page):
    """The twin of the test above: a button without a name, and grey words on grey."""
    page.evaluate(
        "() => { document.querySelector('#main').insertAdjacentHTML('beforeend', '<button></button>"
        "<p class=planted>grey</p>'); const words = document.querySelector('.planted');"
        " words.style.color = '#888'; words.style.background = '#999'; }"
    )

    assert {finding.split(":")[0] for finding in severe_findings(page)} == {"button-name", "color-contrast"}


@pytest.mark.parametrize("theme", THEMES)
def test_no_page_scrolls_sideways_on_a_phone(survey, theme):
    assert survey["wide", theme] == {}


@pytest.mark.parametrize("theme", THEMES)
def test_nothing_moves_where_reduced_motion_is_asked_for(survey, theme):
    """Motion makes some people ill."""
    assert survey["moves", theme] == {}


def test_what_moves_or_is_too_wide_is_found(page):
    """The twin of the two tests above."""
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    wait_until_whole(page)
    assert (parts_that_move(page), parts_wider_than_the_screen(page)) == ([], [])
    page.evaluate(
        "() => { document.querySelector('#main').insertAdjacentHTML('beforeend', '<p class=waiting>x</p>"
        "<p class=planted>x</p>'); document.querySelector('.planted').style.width = '2000px'; }"
    )
    moving, wide = parts_that_move(page), parts_wider_than_the_screen(page)
    page.emulate_media(reduced_motion="reduce")

    assert moving == ["turn"]
    assert any("planted" in part for part in wide)
    assert parts_that_move(page) == []


class Keyboard:
    """A person without a mouse."""

    def __init__(self, page):
        self.page = page

    def go_to(self, selector, most=150):
        """Press Tab until an element has the focus, which must then be visible."""
        for _ in range(most):
            if self.page.evaluate("selector => document.activeElement.matches(selector)", selector):
                break
            self.page.keyboard.press("Tab")
        assert self.page.evaluate("selector => document.activeElement.matches(selector)", selector), selector
        assert self.page.evaluate(_FOCUS_IS_SHOWN), selector

    def press(self, selector, key="Enter"):
        """Go to an element and press a key on it."""
        self.go_to(selector)
        self.page.keyboard.press(key)
        self.page.wait_for_timeout(50)


def test_the_demo_is_done_from_the_first_page_to_the_answer_without_a_mouse(page):
    """Every control is reachable, in order, and shows that it has the focus."""
    keyboard = Keyboard(page)
    keyboard.press("#demo")
    wait_for_step(page, "data")
    keyboard.press("a#continue")
    wait_for_step(page, "schema")
    page.wait_for_selector("#right:not([disabled])")
    keyboard.press("#right")
    wait_for_step(page, "question")
    page.wait_for_selector("#runs")
    keyboard.go_to("#field-epsilons")
    page.keyboard.press("Control+A")
    page.keyboard.type("1")
    chosen = page.locator("#field-protocols input:checked").evaluate_all(
        "boxes => boxes.map((box) => box.id)"
    )
    for name in chosen[1:]:
        keyboard.press(f"#{name}", "Space")
    settle(page)
    keyboard.press("#run")
    wait_for_step(page, "run")
    page.wait_for_selector("#see", timeout=RUN_SECONDS * 1000)
    keyboard.press("#see")
    wait_for_answer(page)

    assert page.evaluate("() => document.activeElement.tagName") == "H1"


def test_a_definition_opens_and_closes_with_the_keyboard_and_gives_the_focus_back(gallery, visit_with):
    serving, cookies, studies = gallery
    page = visit_with(cookies, serving.home).page
    show(page, serving.home, f"#/study/{studies['begun']}/schema")
    keyboard = Keyboard(page)
    keyboard.press("button.term")
    opened = page.locator("#definition").inner_text()
    page.keyboard.press("Escape")

    assert "public" in opened.lower() or "description" in opened.lower()
    assert page.locator("#definition").count() == 0
    assert page.evaluate("() => document.activeElement.matches('button.term')")


def test_a_page_that_is_gone_to_is_read_from_its_heading(gallery, visit_with):
    """Otherwise a screen reader stays at the link, and says nothing of the new page."""
    serving, cookies, studies = gallery
    page = visit_with(cookies, serving.home).page
    show(page, serving.home, f"#/study/{studies['finished']}/data")
    go_to(page, studies["finished"], "schema")
    page.wait_for_function("() => document.activeElement.tagName === 'H1'")

    assert page.title().startswith(page.inner_text("h1").strip())
