"""Take pictures of every page of the workbench, in both themes, on a desk and on a phone, into the docs.

Run it with `python tools/workbench_shots.py` after the pages have changed. It needs Chromium and the extra
`browser`; it starts a workbench of its own in a folder of its own and answers small studies in it.
"""

from __future__ import annotations

import base64
import sys
import tempfile
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from playwright.sync_api import sync_playwright  # noqa: E402 - the folder of the tests comes first

from browser._files import people, write_csv  # noqa: E402
from browser._harness import ARGUMENTS, PHONE, Serving, Visit, cookies_of, find_browser, settle  # noqa: E402
from browser._steps import (  # noqa: E402
    ask,
    choose_dataset,
    describe,
    go_to,
    open_file,
    runs_done,
    say_right,
    set_role,
    start_run,
    start_study,
    study_of,
    wait_for_step,
    wait_until_finished,
)
from browser.test_apply import choose_new_ledger, declare_public, tick_both  # noqa: E402

PLACE = ROOT / "docs" / "_static" / "workbench"
STEPS = ("data", "schema", "question", "run", "result", "apply")
HELP = ("", "mechanisms")
DESK = (1280, 860)
THEMES = ("light", "dark")
ENOUGH_RUNS = 60
PEOPLE = ROOT / "examples" / "people.csv"
ROLES_OF_PEOPLE = {
    "sex": "protected, sensitive",
    "origin": "sensitive",
    "job": "sensitive",
    "hired": "target",
}
ROLES = {"sex": "protected, sensitive", "region": "sensitive", "hired": "target", "pay": "left out"}
_PACK = """
async (picture) => {
  const image = new Image();
  image.src = 'data:image/png;base64,' + picture;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = image.width;
  canvas.height = image.height;
  canvas.getContext('2d').drawImage(image, 0, 0);
  return canvas.toDataURL('image/webp', 0.8);
}
"""


LEDGER, LIMIT = "household survey", "4"


@dataclass(frozen=True)
class Studies:
    """The studies of the pictures: answered, running, ready to be done for real, and done."""

    answered: str
    running: str
    ready: str
    done: str


def main() -> None:
    """Answer studies, then take the pictures."""
    PLACE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        serving = Serving(Path(folder, "studies")).start()
        browser = driver.chromium.launch(executable_path=find_browser(), args=list(ARGUMENTS))
        cookies = cookies_of(browser, serving)
        studies = _prepare(Visit(browser, cookies, serving.home), Path(folder))
        routes = _routes(studies)
        for pages in (["run"], [page for page in routes if page != "run"]):  # while it runs
            for theme, (name, size) in product(THEMES, {"": DESK, "-phone": PHONE}.items()):
                visit = Visit(browser, cookies, serving.home, size=size)
                visit.page.emulate_media(color_scheme=theme)
                for page in pages:
                    _take(visit, page, routes[page], PLACE / f"{page}{name}-{theme}.webp")
                visit.close()
        browser.close()
        serving.stop()
    pictures = list(PLACE.glob("*.webp"))
    print(f"{len(pictures)} pictures, {sum(path.stat().st_size for path in pictures) / 1e6:.1f} MB")


def _prepare(visit: Visit, folder: Path) -> Studies:
    """Return the studies, of which one still runs."""
    page = visit.page
    answered = _answer_file(visit, PEOPLE, "collect", ROLES_OF_PEOPLE, protocols=["grr", "oue"], repeats="30")
    households = write_csv(folder / "households.csv", people(2_400))
    done = _answer_file(visit, households, "collect", ROLES, protocols=["grr"], epsilons="1", repeats="3")
    go_to(page, done, "apply")
    page.wait_for_selector("#apply-now")
    choose_new_ledger(page, LEDGER, LIMIT)
    page.wait_for_selector("#ledger-words")
    settle(page)
    tick_both(page)
    page.click("#apply-now")
    page.wait_for_selector("#charged", timeout=120_000)
    ready = _answer_file(
        visit, households, "release", ROLES, mechanisms=["laplace"], epsilons="1", repeats="3"
    )
    visit.open()
    start_study(page)
    choose_dataset(page, "causal")
    describe(page)
    ask(page, "collect", protocols=["grr", "oue"], repeats="100")
    start_run(page)
    while runs_done(page)[0] < ENOUGH_RUNS:
        page.wait_for_timeout(200)
    running = study_of(page)
    visit.close()
    return Studies(answered, running, ready, done)


def _answer_file(visit: Visit, path: Path, kind: str, roles: dict[str, str], **answers: Any) -> str:
    """Take a file to its answer, with every list declared as public, and return the study."""
    page = visit.open()
    start_study(page)
    open_file(page, path)
    page.click("a#continue")
    wait_for_step(page, "schema")
    page.wait_for_selector("#right")
    for column, role in roles.items():
        set_role(page, column, role)
    declare_public(page)
    say_right(page)
    ask(page, kind, **answers)
    start_run(page)
    wait_until_finished(page)
    return str(study_of(page))


def _routes(studies: Studies) -> dict[str, str]:
    own = {"run": studies.running, "apply": studies.ready}
    steps = {step: f"#/study/{own.get(step, studies.answered)}/{step}" for step in STEPS}
    steps["apply-done"] = f"#/study/{studies.done}/apply"
    return {"home": "#/", **steps, **{f"help-{name}".rstrip("-"): f"#/help/{name}" for name in HELP}}


def _take(visit: Visit, name: str, route: str, path: Path) -> None:
    page = visit.page
    page.goto(visit.home + route)
    page.wait_for_selector("#page h1")
    settle(page)
    page.wait_for_function("() => !document.querySelector('#page .waiting')")
    if name == "question":
        page.wait_for_selector("#estimate :text('from timing')", timeout=180_000)
    if name == "apply":
        page.select_option("#apply-ledger", LEDGER)
        page.wait_for_selector("#ledger-words")
        tick_both(page)
    page.evaluate("() => { document.activeElement.blur(); }")
    page.wait_for_timeout(300)
    path.write_bytes(
        _pack(visit, page.screenshot(animations="disabled", caret="hide", full_page=name == "apply"))
    )


def _pack(visit: Visit, picture: bytes) -> bytes:
    """Return a picture in a third of its bytes; the browser packs it."""
    page = visit.context.new_page()
    packed = page.evaluate(_PACK, base64.b64encode(picture).decode())
    page.close()
    return base64.b64decode(packed.partition(",")[2])


if __name__ == "__main__":
    main()
