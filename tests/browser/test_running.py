"""A run can be stopped, gone on with, watched twice and survived: no finished run is lost."""

import json
import os
import signal
import time

import pytest

from browser._harness import Serving, cookies_of, is_worker, settle, wait_until
from browser._steps import (
    RUN_SECONDS,
    ask,
    choose_dataset,
    describe,
    repeat_plan,
    runs_done,
    set_field,
    start_run,
    start_study,
    study_of,
    take_all,
    wait_for_answer,
    wait_for_step,
    wait_until_finished,
)

LONG = {"protocols": ["grr", "oue"], "epsilons": "1,2", "repeats": "10"}
"""Fifty runs: long enough to be stopped in the middle."""

_NOTE_THE_PRESS = (
    "() => { document.addEventListener('click', () => { window.pressed = Date.now(); }, {capture: true}); }"
)


def start_long_study(page, **changes):
    """Start a study of many short runs, and wait until some of them are finished."""
    start_study(page)
    choose_dataset(page, "causal")
    describe(page)
    ask(page, "collect", **{**LONG, **changes})
    start_run(page)
    wait_for_some(page)
    return study_of(page)


def wait_for_some(page, more_than=0):
    page.wait_for_function(
        "least => Number((document.querySelector('#runs-done b') || {textContent: '0'}).textContent"
        ".replace(/,/g, '')) > least",
        arg=more_than,
    )


@pytest.fixture(scope="module")
def runner(browser, tmp_path_factory):
    """Return a workbench of this file's own, which runs studies on all cores, and its cookies."""
    serving = Serving(tmp_path_factory.mktemp("running")).start()
    yield serving, cookies_of(browser, serving)
    serving.stop()


@pytest.fixture
def own(runner, visit_with):
    """Return a workbench where nothing else runs, and a visit to it."""
    serving, cookies = runner
    visit = visit_with(cookies, serving.home)
    visit.open()
    yield serving, visit
    for process in serving.workers():
        os.kill(process, signal.SIGKILL)
    wait_until(lambda: not serving.workers())


def test_stop_ends_the_process_within_two_seconds_and_go_on_gives_the_same_numbers(own, tmp_path):
    """People stop a run to have their computer back, and must not lose or change what is finished."""
    serving, visit = own
    page = visit.page
    start_long_study(page)
    page.evaluate(_NOTE_THE_PRESS)
    page.click("#stop")
    wait_until(lambda: not serving.workers())
    seconds = time.time() - page.evaluate("() => window.pressed") / 1000
    page.wait_for_selector("#go-on")
    done, total = runs_done(page)

    assert seconds <= 2
    assert 0 < done < total

    page.click("#go-on")
    wait_for_some(page, more_than=done)
    assert_same_as_on_the_command_line(page, tmp_path)


def assert_same_as_on_the_command_line(page, folder):
    """Wait for the end, and compare the numbers with those of the plan on the command line."""
    wait_until_finished(page)
    files = take_all(page)
    again = repeat_plan(files, "collect", folder)

    assert files["cells.csv"] == (again / "cells.csv").read_bytes()


def test_a_page_that_is_loaded_again_shows_the_same_run(own):
    """A refresh must neither start a run anew nor end it."""
    serving, visit = own
    page = visit.page
    start_long_study(page)
    before, total = runs_done(page)
    workers = serving.workers()
    page.reload()
    wait_for_step(page, "run")
    page.wait_for_selector("#runs-done")

    assert runs_done(page)[0] >= before
    assert runs_done(page)[1] == total
    assert serving.workers() == workers


def test_two_tabs_show_one_run_and_what_one_stops_is_stopped_in_the_other(own):
    serving, visit = own
    page = visit.page
    study = start_long_study(page)
    other = visit.open(f"#/study/{study}/run", page=visit.new_tab())
    other.wait_for_selector("#runs-done")
    wait_for_some(other, more_than=runs_done(page)[0] - 1)
    other.click("#stop")
    page.wait_for_selector("#go-on")

    assert serving.workers() == []
    assert runs_done(page) == runs_done(other)


def test_two_tabs_change_different_answers_and_neither_is_lost(page, visit, serving):
    """A tab that was opened before must not write old answers over new ones."""
    study = start_study(page)
    choose_dataset(page, "causal")
    describe(page)
    other = visit.open(f"#/study/{study}/question", page=visit.new_tab())
    other.wait_for_selector("#field-epsilons")
    set_field(page, "epsilons", "3")
    set_field(other, "protocols", ["oue"])
    wait_for_form(serving.folder / study / "study.json", {"epsilons": "3", "protocols": ["oue"]})

    other.reload()
    other.wait_for_selector("#field-epsilons")
    assert other.input_value("#field-epsilons") == "3"


def wait_for_form(record, answers):
    """Wait until the record of a study has these answers."""
    wait_until(lambda: json.loads(record.read_text())["form"].get("collect") == answers)


def test_a_killed_workbench_loses_no_finished_run(browser, own_serving, visit_with):
    """After a power cut the page that was open goes on by itself, with what was finished."""
    serving = own_serving()
    visit = visit_with(cookies_of(browser, serving), serving.home)
    visit.open()
    visit.expect("Failed to load resource|WebSocket connection|ERR_CONNECTION_REFUSED")
    page = visit.page
    start_long_study(page)
    before, _ = runs_done(page)
    workers = serving.workers()
    serving.kill()
    wait_until(lambda: not any(map(is_worker, workers)))
    again = own_serving("--port", serving.port)
    page.wait_for_selector("#go-on")
    settle(page)
    done, _ = runs_done(page)

    assert again.port == serving.port
    assert done >= before

    page.click("#go-on")
    wait_until_finished(page)


def test_the_answer_so_far_is_on_show_while_the_study_runs_and_then_the_whole(own):
    """Who pays is known after the first stage; nobody should wait for the last run to read it."""
    _, visit = own
    page = visit.page
    start_long_study(page, repeats="20")
    page.wait_for_selector("#answer-so-far")
    assert page.locator("#answer-so-far").inner_text()
    page.click("#see-so-far")
    wait_for_answer(page)

    assert "A first look" in page.locator("#page").inner_text()
    assert page.locator("#to-run").count() == 1
    assert page.locator("#apply, #take-along").count() == 0

    page.wait_for_selector("#take-along", timeout=RUN_SECONDS * 1000)  # by itself, as the last run is in
    settle(page)
    assert "A first look" not in page.locator("#page").inner_text()
    assert page.locator("#apply").count() == 1
