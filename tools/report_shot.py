"""Take the picture of a report in the manual: the head of the page that `evenhand demo` writes.

Run it with `python tools/report_shot.py` after the demo or the look of reports has changed. It needs Chromium
and the extra `browser`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from playwright.sync_api import sync_playwright  # noqa: E402 - the folder of the tests comes first

from browser._harness import ARGUMENTS, find_browser  # noqa: E402

PICTURE = ROOT / "docs" / "_static" / "report.png"
SIZE = {"width": 1120, "height": 1540}
DEMO = "from evenhand.cli import main; main()"


def main() -> None:
    """Run the demo in a folder of its own, and take the picture of its report."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        command = [sys.executable, "-c", DEMO, "demo", "--no-open", "--out", folder]
        subprocess.run(command, check=True)  # noqa: S603 - our own command
        browser = driver.chromium.launch(executable_path=find_browser(), args=list(ARGUMENTS))
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto((Path(folder) / "report.html").as_uri())
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
