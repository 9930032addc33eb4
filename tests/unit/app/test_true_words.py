"""What the workbench says of itself, held against what it does."""

from dataclasses import replace
from pathlib import Path

import evenhand as eh
from evenhand._notes import Note
from evenhand.app.flow.question import _promise
from evenhand.app.security.token import SessionCookie
from evenhand.app.tasks.registry import form_of_kind
from evenhand.privacy import Guarantee
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.tasks.learn.task import LearnTask
from evenhand.study.tasks.shared.protection import state_rows

DOCS = Path(__file__).parents[3] / "docs"


def test_the_cookie_ends_with_the_browser_as_the_docs_say():
    """Whoever closes the browser would wait for a page that does not come."""
    header = SessionCookie("secret", 8421).header().lower()
    said = (DOCS / "how-to" / "use-the-workbench.md").read_text("utf-8")

    assert "max-age" not in header
    assert "expires" not in header
    assert "A browser forgets the cookie when it is closed" in said
    assert "stay signed in" not in said


def test_the_help_does_not_say_that_no_other_computer_is_asked():
    """Built-in data sets that are not here are downloaded."""
    page = Path(__file__).parents[3] / "src" / "evenhand" / "app" / "pages" / "help.py"
    said = page.read_text("utf-8")

    assert "asks no other machine" not in said
    assert "is downloaded when you choose it" in said


def test_the_docs_do_not_send_tables_of_other_tools_to_a_command_that_cannot_read_them():
    """The command tries our own mechanisms; the function takes any two tables."""
    said = (DOCS / "beside-other-tools.md").read_text("utf-8")

    assert "cannot read a table that another tool made" in said


def test_the_apply_page_promises_rows_and_not_people_until_somebody_answered():
    """Where a plan asks whose rows they are, it must not assume that each person has one."""
    promise = Guarantee(
        epsilon=1, unit="one report", trust="local", assumptions=["each person is one row", "x"]
    )

    assert state_rows(promise, (Note("data", "of rows"),)) == promise
    assert state_rows(promise, (Note("unit", "Values of 'nr' repeat."),)).assumptions == (
        "one person may have several rows, and is promised this for each of them",
        "x",
    )


def test_the_question_page_promises_rows_and_not_people_until_somebody_answered():
    """The same plan must not promise a person on one page and a row on the next."""
    task = LearnTask(["dp"], [1])
    schema = eh.datasets.load("causal", n=10).schema
    plan = Plan(data=DataSource(dataset="causal"), task=task, schema=schema)
    noticed = replace(plan, notes=(Note("unit", "Values of 'nr' repeat."),))
    people, rows = (_promise(form_of_kind("learn"), each, task.epsilons) for each in (plan, noticed))

    assert "one person" in people[0]
    assert "one row" in rows[0]
    assert "one person" not in rows[0]
    assert "one person may have several rows" in rows[1]
