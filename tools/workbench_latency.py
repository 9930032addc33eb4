"""Measure how soon the workbench starts, and how soon it answers while a study uses every core.

Run it with `python tools/workbench_latency.py` on a machine that does nothing else. It needs Chromium and
the extra `browser`, starts a workbench of its own, runs a long study in it, and meanwhile uses the pages of
another study as a person would. Times are taken in the browser: from the press to the page with the answer.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from playwright.sync_api import sync_playwright  # noqa: E402 - the folder of the tests comes first

from browser._harness import ARGUMENTS, Serving, Visit, cookies_of, find_browser, settle  # noqa: E402
from browser._steps import ask, choose_dataset, describe, runs_done, start_run, start_study  # noqa: E402

STARTS = 5
ROUNDS = 30
_PRESS = """
() => new Promise((resolve) => {
  const start = performance.now();
  const look = () => {
    if (%(done)s) { resolve(performance.now() - start); } else { requestAnimationFrame(look); }
  };
  document.querySelector("%(selector)s").click();
  look();
})
"""
_IDLE = """
() => new Promise((resolve) => {
  const start = performance.now();
  const answer = () => resolve(performance.now() - start);
  window.jQuery(document).one('shiny:idle', () => requestAnimationFrame(answer));
  document.querySelector("%(selector)s").click();
})
"""


def main() -> None:
    """Print the times of starting and of answering."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_browser(), args=list(ARGUMENTS))
        _print_times("start until the address is printed", _start_often(Path(folder)))
        serving = Serving(Path(folder) / "busy").start()
        visit = Visit(browser, cookies_of(browser, serving), serving.home)
        try:
            _measure(visit)
        finally:
            visit.close()
            browser.close()
            serving.stop()


def _start_often(folder: Path) -> list[float]:
    """Return the milliseconds of several starts."""
    times = []
    for number in range(STARTS):
        serving = Serving(folder / str(number)).start()
        times.append(1000 * serving.seconds)
        serving.stop()
    return times


def _measure(visit: Visit) -> None:
    """Use the pages of one study while another runs, and print the times."""
    page = visit.open()
    study = start_study(page)
    choose_dataset(page, "causal")
    describe(page)
    visit.open()
    busy = start_study(page)
    choose_dataset(page, "causal")
    describe(page)
    ask(page, "collect", repeats="400")
    start_run(page)
    while runs_done(page)[0] < 4:
        page.wait_for_timeout(200)
    before = runs_done(page)[0]
    times: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for name, milliseconds in _use(page, study, busy).items():
            times.setdefault(name, []).append(milliseconds)
    page.evaluate("address => { location.hash = address; }", f"#/study/{busy}/run")
    page.wait_for_selector("#runs-done")
    done, total = runs_done(page)
    print(
        f"{os.cpu_count()} cores, {done - before} runs of the other study meanwhile, {done} of {total} in all"
    )
    for name, values in times.items():
        _print_times(name, values)
    _print_times("all interactions", [each for values in times.values() for each in values])


def _use(page: Any, study: str, busy: str) -> dict[str, float]:
    """Return the milliseconds of one round through the pages."""
    times = {}
    route = f"#/study/{study}/"
    times["open the first page"] = _go(page, "#/", "document.querySelector('#new-study')")
    times["open 'rename'"] = _press(page, f"#rename-{study}", f"document.querySelector('#name-{study}')")
    times["close it"] = _press(page, f"#rename-not-{study}", f"!document.querySelector('#name-{study}')")
    for step, sign in {"data": "a#continue", "schema": "#right", "question": "#field-epsilons"}.items():
        times[f"open the step '{step}'"] = _go(page, f"{route}{step}", f"document.querySelector('{sign}')")
        settle(page)
    times["change an answer"] = page.evaluate(_IDLE % {"selector": "#field-protocols input"})
    settle(page)
    times["open the page of the run"] = _go(
        page, f"#/study/{busy}/run", "document.querySelector('#runs-done')"
    )
    settle(page)
    return times


def _press(page: Any, selector: str, done: str) -> float:
    """Press something, and return the milliseconds until the page shows the answer."""
    settle(page)
    return float(page.evaluate(_PRESS % {"selector": selector, "done": done}))


def _go(page: Any, route: str, sign: str) -> float:
    """Go to a page by a link, and return the milliseconds until its content is there."""
    settle(page)
    page.evaluate(
        "address => { document.querySelectorAll('#measured').forEach((one) => one.remove());"
        " const link = document.createElement('a'); link.id = 'measured'; link.href = address;"
        " document.body.append(link); }",
        route,
    )
    shown = f"document.querySelector(\"[data-address='{route}']\") && {sign}"
    return float(page.evaluate(_PRESS % {"selector": "#measured", "done": shown}))


def _print_times(name: str, milliseconds: list[float]) -> None:
    """Print the middle, the 95th percentile and the longest of some times."""
    late = statistics.quantiles(milliseconds, n=20, method="inclusive")[-1]
    figures = {"median": statistics.median(milliseconds), "p95": late, "max": max(milliseconds)}
    words = "  ".join(f"{figure} {value:6.0f} ms" for figure, value in figures.items())
    print(f"{name:36} n {len(milliseconds):4}  {words}")


if __name__ == "__main__":
    main()
