"""The apply page: one press, one command, and what went wrong can be tried again."""

from dataclasses import replace

import pytest

from evenhand.app.flow.views import Applied, ApplyView, LedgerView, SettingChoice, Tick
from evenhand.app.pages.address import study_address
from evenhand.errors import EvenhandError
from unit.app.pages._tab import Controls, words_of

LEDGER = LedgerView("people", "3", "1", "1/2", "3/2", fits=True, sentence="3 in all.")
VIEW = ApplyView(
    settings=(SettingChoice("grr", "GRR, ε = 1"),),
    chosen="grr",
    heading="Do it for real",
    sentences=("Each person's **answer** is changed.",),
    command="evenhand privatize people.csv reports.csv",
    promise="One **promise**.",
    spends="ε = 1",
    in_clear=("job",),
    ledgers=(("", "without a ledger"), ("people", "people"), ("new", "make a new ledger")),
    ticks=(Tick("spends", "I understand."), Tick("public", "They are public.")),
    button="Privatise and spend ε = 1",
)
DONE = Applied(ok=True, files=("reports.csv", "my file.json"), promise="**Kept.**", charged="1 is spent.")


@pytest.fixture
def study(tab):
    """Return a finished study, on its last page."""
    made = tab.add_study()
    tab.set_run(made, "finished", done=9, total=9)
    tab.desk.told["prepare_applying"] = VIEW
    tab.desk.told["apply"] = DONE
    tab.address = study_address(made, "apply")
    return made


def calls(tab, name):
    return [options for called, options in tab.desk.calls if called == name]


@pytest.mark.parametrize(("state", "done"), [("none", 0), ("running", 3), ("stopped", 0), ("failed", 2)])
def test_without_results_there_is_nothing_to_choose(tab, study, state, done):
    tab.set_run(study, state, done=done, total=9)
    html = tab.read()

    assert "There is no result yet" in html
    assert Controls(html).by_id["to-run"]["href"] == study_address(study, "run")
    assert "apply-now" not in Controls(html).by_id


def test_a_press_runs_what_was_chosen_once_and_the_page_says_what_was_written(tab, study):
    """A second press, before the first has answered, must not spend again."""
    tab.change("apply-ledger", "people")
    event = {"do": "apply.now", "study": study, "ticks": ["spends", "public"]}
    tab.do(**event)
    tab.do(**event)
    html = tab.read()
    ids = Controls(html).by_id

    assert calls(tab, "apply") == [
        {"chosen": "", "ledger": "people", "options": {}, "ticks": ["spends", "public"]}
    ]
    assert "It is done Kept. 1 is spent." in words_of(html)
    assert ids["download-my file.json"]["href"] == f"studies/{study}/applied/my%20file.json"
    assert "apply-now" not in ids


def test_files_that_are_there_are_shown_after_a_restart_and_the_button_is_not(tab, study):
    """A new session must not offer to spend again what was spent."""
    place = tab.workspace.folder(study) / "applied"
    place.mkdir()
    (place / "reports.csv").write_text("x")
    ids = Controls(tab.read()).by_id

    assert "download-reports.csv" in ids
    assert "apply-now" not in ids
    assert tab.desk.calls == []


def test_what_did_not_work_is_said_and_can_be_tried_again(tab, study):
    tab.desk.told["apply"] = Applied(ok=False, said=("Column 'x' is missing.",))
    tab.read()
    tab.do(do="apply.now", study=study, ticks=["spends", "public"])
    html = tab.read()
    tab.press("try-again")

    assert "It was not done" in html
    assert "Column 'x' is missing." in html
    assert "apply-now" in Controls(tab.read()).by_id
    assert len(calls(tab, "prepare_applying")) == 2  # asked anew: the ledger may be another one now
    tab.desk.told["apply"] = Applied(ok=False)
    tab.do(do="apply.now", study=study, ticks=["spends", "public"])
    assert "The command did not finish." in tab.read()


def test_an_error_on_the_way_gives_the_button_back(tab, study):
    tab.desk.told["apply"] = EvenhandError("The process ended. Hint: try again.")
    tab.do(do="apply.now", study=study, ticks=["spends", "public"])
    html = tab.read()

    assert "The process ended." in html
    assert "Do not close the workbench" not in html
    assert "data-blocked" not in Controls(html).by_id["apply-now"]


def test_while_it_is_written_the_button_is_blocked_and_the_page_says_so(tab, study):
    tab.visit.choose({(study, "applying"): True})
    html = tab.read()

    assert "Writing. Do not close the workbench." in html
    assert "data-blocked" in Controls(html).by_id["apply-now"]


@pytest.mark.parametrize(
    "change",
    [{"error": "Too little is left."}, {"ticks": (Tick("public", "x", can_be_set=False, why_not="Read."),)}],
)
def test_what_is_forbidden_cannot_be_pressed(tab, study, change):
    tab.desk.told["prepare_applying"] = replace(VIEW, **change)
    html = tab.read()

    assert "data-blocked" in Controls(html).by_id["apply-now"]
    assert change.get("error", "Read.") in html
    assert "Tick both boxes" not in html  # which would not help
    assert "The button is off" in html


def test_a_new_ledger_without_a_name_keeps_the_button_off(tab, study):
    tab.desk.told["prepare_applying"] = replace(VIEW, ledger=None, needs="Write the name.")
    tab.change("apply-ledger", "new")
    html = tab.read()

    assert "data-blocked" in Controls(html).by_id["apply-now"]
    assert "Write the name." in html
    assert "Without a ledger" not in html


def test_every_file_that_was_written_is_explained(tab, study):
    tab.desk.told["apply"] = replace(DONE, files=("table.csv", "table.csv.json"))
    tab.do(do="apply.now", study=study, ticks=["spends", "public"])

    assert "table.csv.json What is promised and how the table was made" in words_of(tab.read())


@pytest.mark.parametrize(
    ("ledger", "spent", "this"),
    [
        (LEDGER, "100.00", "50.00"),
        (replace(LEDGER, spent="3", this="2", fits=False, sentence="Not enough."), "180.00", "120.00"),
        (replace(LEDGER, this="unbounded", limit="1/0"), "300.00", "0.00"),
    ],
)
def test_the_bar_of_a_ledger_has_the_shares_that_the_amounts_have(tab, study, ledger, spent, this):
    """A bar that shows room where there is none makes people spend what they do not have."""
    tab.desk.told["prepare_applying"] = replace(VIEW, ledger=ledger)
    html = tab.read()

    assert f'<rect class="spent" width="{spent}"' in html
    assert f'<rect class="this" x="{spent}" width="{this}"' in html
    assert f"spent {ledger.spent}, this {ledger.this}, left after it {ledger.left}" in html
    assert (ledger.sentence in html) == (not ledger.fits)


def test_a_new_ledger_is_asked_for_its_name_and_its_limit(tab, study):
    tab.change("apply-ledger", "new")
    tab.change("ledger-name", "people 2026")
    tab.change("ledger-limit", "3")
    tab.read()

    assert calls(tab, "prepare_applying")[-1] == {
        "chosen": "", "ledger": "new", "options": {"name": "people 2026", "limit": "3"},
    }  # fmt: skip


def test_a_built_in_data_set_is_no_fault_and_nobody_is_sent_to_a_button_that_is_not_there(tab, study):
    """The tutorial ends on this page, and must not end with an error."""
    tab.desk.told["prepare_applying"] = replace(
        VIEW, button="", error="It is built in.", ledgers=(), ticks=()
    )
    html = tab.read()
    words = words_of(html)

    assert Controls(html).by_id["apply-problem"]["class"] == "note plain"
    assert "The button runs exactly this" not in words
    assert "With a file of your own the button would run this" in words
    assert "There is no button for this setting" not in words
    assert "lock away the original" not in words


def test_where_there_is_a_script_there_is_no_button(tab, study):
    tab.desk.told["prepare_applying"] = replace(
        VIEW, button="", command="", script="print(1)", spends="", ledgers=(), promise="", in_clear=()
    )
    html = tab.read()
    ids = Controls(html).by_id

    assert "There is no button for this setting" in html
    assert "Nothing is done on this page." in words_of(html)
    assert {"apply-now", "apply-ledger", "apply-command"}.isdisjoint(ids)
    assert "print(1)" in html
    assert "no ε" in html


def test_while_it_is_read_the_page_says_so_and_a_fault_is_said(tab, study):
    assert "Reading what this would spend." in tab.read(at_once=True)
    tab.desk.told["prepare_applying"] = EvenhandError("There are no results yet. Hint: run it first.")

    assert "There are no results yet." in tab.read()


def test_columns_are_chosen_to_be_passed_on_and_the_page_says_what_links(tab, study):
    """Nothing is passed on that nobody chose, and what links is said above the promise."""
    said = "Not for publication: 99 % of the rows are unique on job, which is in the clear."
    view = replace(VIEW, keepable=("job", "wage"), links=said, is_for_publication=False)
    tab.desk.told["prepare_applying"] = view
    html = tab.read()
    tab.do(do="apply.choose", study=study, key="keep", value=["job", "wage"])
    tab.read()

    assert "checked" in Controls(html).by_id["apply-keep-0"]
    assert "checked" not in Controls(html).by_id["apply-keep-1"]
    assert words_of(html).index(said) < words_of(html).index("What people are promised")
    assert calls(tab, "prepare_applying")[-1]["options"] == {"keep": ("job", "wage")}


@pytest.mark.parametrize(
    ("done", "said"),
    [
        ({}, "What you may give away."),
        ({"links": "Rows link.", "is_for_publication": False}, "Not for publication: its columns"),
        ({"links": None}, "An earlier evenhand wrote this, and did not measure"),
    ],
)
def test_what_was_written_is_called_safe_only_if_few_rows_link(tab, study, done, said):
    """The words beside a download decide whether somebody publishes it."""
    files = ("reports.csv", "reports.csv.guarantee.json")
    tab.desk.told["apply"] = replace(DONE, files=files, **done)
    tab.do(do="apply.now", study=study, ticks=["spends", "public"])
    shown = words_of(tab.read())

    assert said in shown
    assert ("What you may give away." in shown) == (not done)
