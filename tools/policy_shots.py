"""Take the two pictures of the first page of policy analysts: the question, and its answer.

Run it with `python tools/policy_shots.py` after the pages of the workbench have changed. It needs Chromium
and the extra `browser`.
"""

from __future__ import annotations

import tempfile

from playwright.sync_api import sync_playwright
from workbench_shots import DESK, PLACE, _pack  # it puts the folder of the tests on the path

from browser._harness import ARGUMENTS, Serving, Visit, cookies_of, find_browser, settle
from browser._steps import (
    ask,
    choose_dataset,
    describe,
    start_run,
    start_study,
    study_of,
    wait_until_finished,
)


def main() -> None:
    """Answer the question about a right of made-up counties, and take the pictures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        serving = Serving(folder).start()
        browser = driver.chromium.launch(executable_path=find_browser(), args=list(ARGUMENTS))
        visit = Visit(browser, cookies_of(browser, serving), serving.home, size=DESK)
        page = visit.open()
        start_study(page)
        choose_dataset(page, "counties")
        describe(page)
        ask(page, "decide", epsilons="0.1,1")
        study = study_of(page)
        start_run(page)
        wait_until_finished(page)
        for step in ("question", "result"):
            page.goto(f"{visit.home}#/study/{study}/{step}")
            page.wait_for_selector("#page h1")
            settle(page)
            page.wait_for_function("() => !document.querySelector('#page .waiting')")
            page.wait_for_timeout(300)
            picture = _pack(visit, page.screenshot(animations="disabled", caret="hide"))
            (PLACE / f"policy-{step}-light.webp").write_bytes(picture)
        browser.close()
        serving.stop()


if __name__ == "__main__":
    main()
