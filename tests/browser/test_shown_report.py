"""`evenhand serve --report` shows a finished study, and offers no way to change it."""

import hashlib

import pytest

from browser._harness import ONE_CORE, Serving, cookies_of, run_command, settle
from browser._steps import download, take_all, wait_until_whole


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of a study that the command line made."""
    place = tmp_path_factory.mktemp("shown")
    words = ("audit", "collect", "causal", "--rows", "2000", "--protocol", "grr,oue", "--epsilon", "1")
    done = run_command(
        *words, "--repeats", "3", "--model", "logistic", "--out", "study", "--yes", folder=place
    )
    assert done.returncode == 0, done.stderr
    return place / "study"


@pytest.fixture(scope="module")
def shown(browser, folder):
    serving = Serving(None, "--report", folder, environment=ONE_CORE).start()
    yield serving, cookies_of(browser, serving)
    serving.stop()


def digest(folder):
    """Return what stands in a folder: each file with a digest of its bytes."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_a_finished_study_is_shown_with_its_filters_and_nothing_else(folder, shown, visit_with):
    """Whoever is shown a study can look at it from all sides, and can neither run nor apply nor delete."""
    serving, cookies = shown
    before = digest(folder)
    page = visit_with(cookies, serving.home).open()
    page.wait_for_selector("#findings")
    first = page.inner_text("#answer-part")
    settings = page.locator("#chosen option").evaluate_all("options => options.map((one) => one.value)")
    choose(page, settings[-1])
    controls = page.locator("button[data-do]").evaluate_all("buttons => buttons.map((one) => one.dataset.do)")

    assert len(first) > 200
    assert len(settings) >= 2
    assert page.inner_text("#answer-part") != ""
    assert controls == []
    assert page.locator("#apply, #new-study, #demo, #run, input[type=file]").count() == 0
    assert digest(folder) == before


def choose(page, setting):
    """Choose a setting, and wait until the page is about it."""
    page.select_option("#chosen", setting)
    page.wait_for_selector(f"#chosen option[value='{setting}'][selected]", state="attached")
    wait_until_whole(page)


def test_the_answer_is_printed_without_controls_and_in_light(shown, visit_with):
    """On paper nothing can be pressed, and a dark page is a sheet full of ink."""
    serving, cookies = shown
    page = visit_with(cookies, serving.home).open()
    page.wait_for_selector("#findings")
    page.select_option("#theme", "dark")
    page.emulate_media(media="print", color_scheme="dark")
    controls = page.locator("button, select, input, #page h2, #page summary")
    seen = [control.inner_text() for control in controls.all() if control.is_visible()]
    paper, ink = page.evaluate(
        "() => { const style = getComputedStyle(document.querySelector('#page h1'));"
        " return [getComputedStyle(document.body).backgroundColor, style.color]; }"
    )

    assert seen
    assert "What do you want to take along?" not in seen
    assert page.locator("button:visible, select:visible, input:visible").count() == 0
    assert (paper, ink) == ("rgb(255, 255, 255)", "rgb(74, 80, 89)")  # of the question


@pytest.mark.parametrize(
    "route", ["#/", "#/study/0123456789abcdef/apply", "#/study/0123456789abcdef/question"]
)
def test_other_addresses_show_the_same_study(shown, visit_with, route):
    serving, cookies = shown
    page = visit_with(cookies, serving.home).open(route)
    page.wait_for_selector("#findings")

    assert page.locator("#run, #apply-now, #new-study, #demo").count() == 0


def test_actions_of_other_pages_do_nothing(folder, shown, visit_with):
    """A page that was made by hand must not start what the page on show does not offer."""
    serving, cookies = shown
    before = digest(folder)
    page = visit_with(cookies, serving.home).open()
    page.wait_for_selector("#findings")
    for action in ("home.new", "home.demo", "question.run", "run.go", "apply.now", "home.delete"):
        page.evaluate(
            "([action, count]) => Shiny.setInputValue('act', {do: action, study: '', count: count},"
            " {priority: 'event'})",
            [action, 1000],
        )
    settings = page.locator("#chosen option").evaluate_all("options => options.map((one) => one.value)")
    choose(page, settings[-1])  # which is done after all the others
    settle(page)

    assert digest(folder) == before
    assert page.locator("h1").count() >= 1


def test_what_is_shown_can_be_taken_along_as_it_is(folder, shown, visit_with):
    """A download that differs from the folder would be another study than the one on show."""
    serving, cookies = shown
    page = visit_with(cookies, serving.home).open()
    page.wait_for_selector("#findings")
    packed = take_all(page)
    alone = {name: download(page, name) for name in packed}

    assert {"report.html", "cells.csv", "plan.toml"} <= set(packed)
    assert packed == alone == {name: (folder / name).read_bytes() for name in packed}
