"""The six steps of a study as a person takes them in the browser."""

import io
import pathlib
import re
import zipfile

from browser._harness import run_command, settle

RUN_SECONDS = 600
"""What a run may take on a machine with much else to do."""


def study_of(page):
    """Return the id of the study on show."""
    return re.search(r"#/study/([0-9a-f]{16})/", page.url)[1]


def wait_for_step(page, step):
    """Wait until the page of a step is on show."""
    page.wait_for_selector(f"#page [data-address$='/{step}']")
    settle(page)
    assert page.locator("#problem").all_inner_texts() == []


def wait_until_whole(page):
    """Wait until no part of the page waits for the desk any more."""
    settle(page)
    page.wait_for_function("() => !document.querySelector('#main .waiting')")
    settle(page)


def go_to(page, study, step):
    """Go to a step of a study by its address."""
    page.evaluate("address => { location.hash = address; }", f"#/study/{study}/{step}")
    wait_for_step(page, step)


def start_study(page):
    """Begin a study on the first page, and return its id."""
    page.click("#new-study")
    wait_for_step(page, "data")
    return study_of(page)


def choose_dataset(page, name):
    """Choose a data set that is built in."""
    page.click(f"#dataset-{name}")
    page.wait_for_selector(f"#dataset-{name}[aria-pressed=true]")
    page.wait_for_selector("a#continue")
    settle(page)


def open_file(page, path):
    """Open a file, and wait until it is read."""
    page.set_input_files("#file", path)
    page.wait_for_selector("#drop >> text=is open")
    settle(page)


def describe(page, **roles):
    """Go on to the columns, give some of them other roles, and say that they are right."""
    page.click("a#continue")
    wait_for_step(page, "schema")
    page.wait_for_selector("#right")
    settle(page)
    for column, role in roles.items():
        set_role(page, column, role)
    say_right(page)


def set_role(page, column, role):
    """Give a column a role, once the roles given before have been taken in."""
    wait_until_whole(page)
    control = page.get_by_label(f"Role of {column}", exact=True)
    if control.input_value() != role:
        control.select_option(role)


def say_right(page):
    """Say that the columns are right."""
    page.wait_for_selector("#right:not([disabled])")
    page.click("#right")
    wait_for_step(page, "question")
    page.wait_for_selector("#runs, #estimate-error")


def ask(page, kind, **answers):
    """Choose a question and answer its fields."""
    page.wait_for_selector(f"#kind-{kind}")
    if not page.is_checked(f"#kind-{kind}"):
        page.locator(f"label:has(#kind-{kind})").click()
    for name, answer in answers.items():
        set_field(page, name, answer)
    page.wait_for_selector("#runs")
    settle(page)


def set_field(page, name, answer):
    """Answer one question of the form, once the answers before have been taken in.

    The form is drawn anew when they change what is asked; a press in that moment would be lost.
    """
    wait_until_whole(page)
    field = page.locator(f"#field-{name}")
    field.wait_for(state="attached")
    if not field.is_visible():
        page.locator("#more > summary").click()
    if isinstance(answer, list):
        for box_id in [box.get_attribute("id") for box in page.locator(f"#field-{name} input").all()]:
            box = page.locator(f"#{box_id}")
            if (box.get_attribute("value") in answer) != box.is_checked():
                page.locator(f"label:has(#{box_id})").click()
    elif field.evaluate("element => element.tagName") == "FIELDSET":
        page.locator(f"#field-{name} label:has(input[value='{answer}'])").click()
    elif field.evaluate("element => element.tagName") == "SELECT":
        field.select_option(answer)
    else:
        field.fill(answer)
        field.blur()


def answer_question(page, kind, dataset, **answers):
    """Take a study of a data set from the first page to its answer, and return its id."""
    start_study(page)
    choose_dataset(page, dataset)
    describe(page)
    ask(page, kind, **answers)
    start_run(page)
    wait_until_finished(page)
    return study_of(page)


def start_run(page):
    """Press Run, and wait for the page of the run."""
    page.click("#run")
    wait_for_step(page, "run")


def wait_until_finished(page):
    """Wait for the end of the run, and go to the answer."""
    page.wait_for_selector("#see:text('See the answer'), #run-problem", timeout=RUN_SECONDS * 1000)
    assert page.locator("#run-problem").all_inner_texts() == []
    page.click("#see")
    wait_for_answer(page)


def wait_for_answer(page):
    """Wait until the answer is on show."""
    wait_for_step(page, "result")
    page.wait_for_selector("#page .fragment")
    settle(page)


def download(page, name):
    """Take a file of the answer along, and return its bytes."""
    with page.expect_download() as started:
        page.click(f"[id='download-{name}']")
    return pathlib.Path(started.value.path()).read_bytes()


def take_all(page):
    """Take everything of the answer along in one file, and return what is in it."""
    with zipfile.ZipFile(io.BytesIO(download(page, "all.zip"))) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def repeat_plan(files, kind, folder):
    """Run the plan of a study on the command line in another folder, and return the folder of its results."""
    (folder / "plan.toml").write_bytes(files["plan.toml"])
    words = ("audit", kind, "--plan", "plan.toml", "--out", "again", "--yes")
    done = run_command(*words, folder=folder)
    assert done.returncode == 0, done.stderr
    return folder / "again"


def runs_done(page):
    """Return how many runs the page of a run says are finished, and of how many."""
    words = page.locator("#runs-done").inner_text()
    done, total = re.findall(r"[\d,]+", words)
    return int(done.replace(",", "")), int(total.replace(",", ""))
