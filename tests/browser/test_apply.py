"""Doing it for real: two ticks, one charge, no overspending, and no private number on the page."""

import re

import pytest

from browser._files import people, write_csv
from browser._harness import Visit, run_command
from browser._steps import (
    ask,
    download,
    go_to,
    open_file,
    set_role,
    start_run,
    start_study,
    study_of,
    wait_for_step,
    wait_until_finished,
    wait_until_whole,
)

ROWS = 1_237
SENTINELS = ("Zebulonia", "Quuxland", "98765.4321")
"""Values that are in the rows and in no list that a person declared."""
_COUNT = re.compile(r"(?<![0-9a-f])1,?237(?![0-9a-f])")


def private_people():
    """Return people with sentinels in columns that are left out, and a number of rows that stands out."""
    columns = people(ROWS)
    country = [("Zebulonia", "Quuxland")[place % 2] for place in range(ROWS)]
    pay = [98765.4321] * ROWS
    return {name: columns[name] for name in ("sex", "region", "hired")} | {"country": country, "pay": pay}


@pytest.fixture(scope="module")
def workbench(serving, cookies):
    """Return the workbench and its cookies."""
    return serving, cookies


def finish_study(page, path, kind="collect", **answers):
    """Take a file to its answer, with every list declared as public."""
    start_study(page)
    open_file(page, path)
    page.click("a#continue")
    wait_for_step(page, "schema")
    page.wait_for_selector("#right")
    roles = {"sex": "protected, sensitive", "region": "sensitive", "hired": "target"}
    for column in ("country", "pay"):
        set_role(page, column, "left out")
    for column, role in roles.items():
        set_role(page, column, role)
    declare_public(page)
    page.wait_for_selector("#right:not([disabled])")
    page.click("#right")
    wait_for_step(page, "question")
    ask(page, kind, **answers)
    start_run(page)
    wait_until_finished(page)
    return study_of(page)


def declare_public(page):
    """Say of every column that its list is public."""
    for place in range(page.locator("tbody tr").count()):
        wait_until_whole(page)
        box = page.locator(f"#public-{place}")
        if box.count() and not box.is_checked():
            page.click(f"#edit-{place} > summary")
            box.check()


@pytest.fixture(scope="module")
def study(browser, workbench, tmp_path_factory):
    serving, cookies = workbench
    visit = Visit(browser, cookies, serving.home)
    path = write_csv(tmp_path_factory.mktemp("file") / "people.csv", private_people())
    answers = {"protocols": ["grr"], "epsilons": "1", "repeats": "2"}
    made = finish_study(visit.open(), path, **answers)
    visit.close()
    return made


def tick_both(page):
    page.check("#tick-spends")
    page.check("#tick-public")


def choose_new_ledger(page, name, limit):
    """Choose to make a ledger."""
    page.select_option("#apply-ledger", "new")
    page.wait_for_selector("#ledger-name")
    for key, text in {"name": name, "limit": limit}.items():
        page.fill(f"#ledger-{key}", text)
        page.locator(f"#ledger-{key}").blur()
        page.wait_for_selector(f"#ledger-{key}[value='{text}']")  # as the server has drawn it


def test_private_numbers_never_reach_the_apply_page(workbench, study, visit_with):
    """A person may show this page to anybody: no value of a row, and not how many rows there are."""
    serving, cookies = workbench
    visit = visit_with(cookies, serving.home)
    received = []
    visit.page.on("response", lambda answer: received.append(answer))  # noqa: PLW0108 - Playwright marks it
    visit.page.on(
        "websocket",
        lambda socket: socket.on("framereceived", lambda frame: received.append(str(frame))),
    )
    visit.open(f"#/study/{study}/apply")
    visit.page.wait_for_selector("#apply-now")
    tick_both(visit.page)
    visit.page.select_option("#apply-ledger", "new")
    visit.page.wait_for_selector("#ledger-name")
    texts = [answer if isinstance(answer, str) else text_of(answer) for answer in received]

    assert sum(map(len, texts)) > 10_000
    assert any("Do it for real" in text for text in texts)
    assert [word for word in SENTINELS for text in texts if word in text] == []
    assert [text[:200] for text in texts if _COUNT.search(text)] == []


def text_of(answer):
    return answer.text() if answer.ok and answer.status != 204 else ""


def test_only_two_ticks_enable_the_button(workbench, study, visit_with):
    """What cannot be undone must not happen by one careless press."""
    serving, cookies = workbench
    page = visit_with(cookies, serving.home).open(f"#/study/{study}/apply")
    page.wait_for_selector("#apply-now")

    assert page.is_disabled("#apply-now")
    page.check("#tick-spends")
    assert page.is_disabled("#apply-now")
    page.check("#tick-public")
    assert page.is_enabled("#apply-now")
    page.uncheck("#tick-spends")
    assert page.is_disabled("#apply-now")
    assert "ε = 1" in page.inner_text("#apply-now")


def test_a_ledger_without_room_refuses(workbench, study, visit_with):
    """A button that could be pressed would promise what the ledger forbids."""
    serving, cookies = workbench
    page = visit_with(cookies, serving.home).open(f"#/study/{study}/apply")
    page.wait_for_selector("#apply-now")
    choose_new_ledger(page, "small", "1/2")
    page.wait_for_selector("#apply-problem")
    tick_both(page)

    assert "0.5" in page.inner_text("#apply-problem")
    assert page.is_disabled("#apply-now")
    assert list((serving.folder / study / "applied").glob("*")) == []


def test_one_press_charges_the_ledger_once_and_gives_the_files(workbench, study, visit_with, tmp_path):
    """A double press, a second tab or a refresh must not spend twice."""
    serving, cookies = workbench
    visit = visit_with(cookies, serving.home)
    page = visit.open(f"#/study/{study}/apply")
    page.wait_for_selector("#apply-now")
    choose_new_ledger(page, "people 2025", "3")
    page.wait_for_selector("#ledger-words:text('left after it 2')")
    tick_both(page)
    page.dblclick("#apply-now")
    page.wait_for_selector("h1:text('It is done'), h1:text('It was not done')")
    said = page.inner_text("#page")
    reports = download(page, "reports.csv")
    page.reload()
    wait_for_step(page, "apply")
    page.wait_for_selector("h1:text('It is done')")
    ledger = serving.folder / "ledgers" / "people 2025.db"
    spent = run_command("ledger", "show", ledger, "--json", folder=tmp_path).stdout

    assert "It is done" in said
    assert reports.count(b"\n") == ROWS + 1
    assert not any(word in said for word in SENTINELS)
    assert re.findall(r'"spent"[^}]*?"epsilon": "?1"?', spent), spent
    assert page.locator("#apply-now").count() == 0


def test_a_list_that_was_read_from_the_rows_cannot_be_called_public(workbench, visit_with, tmp_path):
    """The second tick would be a lie; the page says what to do instead."""
    serving, cookies = workbench
    page = visit_with(cookies, serving.home).open()
    start_study(page)
    open_file(page, write_csv(tmp_path / "people.csv", people(300)))
    page.click("a#continue")
    wait_for_step(page, "schema")
    page.wait_for_selector("#right")
    for column, role in {"sex": "protected, sensitive", "hired": "target"}.items():
        set_role(page, column, role)
    page.wait_for_selector("#right:not([disabled])")
    page.click("#right")
    wait_for_step(page, "question")
    ask(page, "collect", protocols=["grr"], epsilons="1", repeats="2")
    start_run(page)
    wait_until_finished(page)
    go_to(page, study_of(page), "apply")
    page.wait_for_selector("#apply-now")

    assert page.is_disabled("#tick-public")
    assert page.is_disabled("#apply-now")
    assert "sex" in page.inner_text("#page")
