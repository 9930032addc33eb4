"""A workbench in a process of its own, and a browser that remembers what it asked for and what went wrong."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from urllib.parse import urlsplit

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDE, PHONE = (1280, 900), (390, 844)
LONGEST = 120
"""Seconds after which what a test waits for is given up; a machine with much else to do takes its time."""

ONE_CORE = {"LOKY_MAX_CPU_COUNT": "1"}
"""A run computes in its own process: where the study is tiny, starting more of them is most of the time."""

_WORKER = "evenhand.app.state.worker"
_PROGRAM = "from evenhand.cli import main; main()"
_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/start\?token=\S+")
_REPORT_VIOLATIONS = """
document.addEventListener('securitypolicyviolation', (event) => {
  console.error('Policy violated: ' + event.violatedDirective + ' ' + event.blockedURI);
});
"""


def find_browser():
    """Return the path of a browser of this machine, or None."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def run_command(*words, folder):
    """Run evenhand on the command line, and return what came of it."""
    command = [sys.executable, "-c", _PROGRAM, *map(str, words)]
    known = {**os.environ, **ONE_CORE}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=known)


def wait_until(is_true, page=None, *, seconds=LONGEST):
    """Wait until something is true; fail if it never is. What a page says is heard meanwhile."""
    end = time.monotonic() + seconds
    while not (found := is_true()):
        assert time.monotonic() < end, "it took too long"
        if page is None:
            time.sleep(0.02)
        else:
            page.wait_for_timeout(20)
    return found


class Serving:
    """`evenhand serve` as people start it, without opening a browser.

    Parameters
    ----------
    folder : Path, optional
        Where studies are kept; None if a finished study is only shown.
    *options : str
        More options of the command.
    environment : mapping, optional
        Of the process, beside its usual one.
    """

    def __init__(self, folder, *options, environment=None):
        self.environment = environment or {}
        self.folder = folder and pathlib.Path(folder)
        self.options = [*(("--folder", str(folder)) if folder else ()), *map(str, options)]
        self.lines = []
        self.address = ""
        self.seconds = 0.0
        self.process = None
        self._reader = None

    @property
    def home(self):
        """The address of the page."""
        return "http://{0.hostname}:{0.port}/".format(urlsplit(self.address))

    @property
    def port(self):
        """The port, as text."""
        return str(urlsplit(self.address).port)

    def start(self):
        """Start it, and wait for the address that it prints."""
        command = [sys.executable, "-c", _PROGRAM, "serve", "--no-browser", *self.options]
        begin = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1", **self.environment},
            start_new_session=True,
        )
        for line in self.process.stdout:
            self.lines.append(line)
            found = _ADDRESS.search(line)
            if found:
                self.address = found[0]
                break
        self.seconds = time.perf_counter() - begin
        self._reader = threading.Thread(target=self.lines.extend, args=(self.process.stdout,), daemon=True)
        self._reader.start()
        if not self.address:
            self.kill()
            raise RuntimeError("The workbench did not start: " + "".join(self.lines))
        return self

    def kill(self):
        """End it as a power cut would: it cannot tidy up."""
        self.process.kill()
        self._end()

    def stop(self):
        """End it as Ctrl-C does."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self._end()

    def _end(self):
        try:
            self.process.wait(LONGEST)
        finally:
            self.process.kill()
            self.process.wait()
            self._reader.join(5)
            self.process.stdout.close()

    def workers(self):
        """Return the processes that run a study now."""
        return [process for process in _children(self.process.pid) if is_worker(process)]


def is_worker(process):
    """Whether a process is there and runs a study."""
    try:
        return _WORKER in pathlib.Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return False


def _children(parent):
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            state, its_parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if its_parent == str(parent) and state != "Z":
            child = int(stat.parent.name)
            found += [child, *_children(child)]
    return found


class Visit:
    """A person at a browser: what it asks for, and what goes wrong, is remembered.

    Parameters
    ----------
    browser : Browser
    cookies : list of dict
        With which the workbench lets it in.
    home : str
        The address of the page.
    size : tuple of int
    """

    def __init__(self, browser, cookies, home, *, size=WIDE):
        width, height = size
        self.home = home
        self.faults, self.foreign, self.requests = [], [], []
        self.expected = []
        self.context = browser.new_context(
            viewport={"width": width, "height": height},
            accept_downloads=True,
        )
        self.context.set_default_timeout(LONGEST * 1000)
        self.context.add_cookies(cookies)
        self.context.add_init_script(_REPORT_VIOLATIONS)
        self.context.on("request", lambda request: self._note_address(request.url))
        self.context.on("console", self._note_console)
        self.context.on("weberror", lambda error: self.faults.append(f"page: {error.error}"))
        self.page = self.new_tab()

    def new_tab(self):
        """Return another tab of the same browser."""
        page = self.context.new_page()
        page.on("websocket", lambda socket: self._note_address(socket.url))
        return page

    def open(self, route="#/", page=None):
        """Go to a page of the workbench, and wait until it is there."""
        page = page or self.page
        page.goto(self.home + route)
        settle(page)
        return page

    def _note_address(self, url):
        self.requests.append(url)
        parts = urlsplit(url)
        if parts.scheme in {"data", "blob", "about"}:
            return
        if parts.netloc != urlsplit(self.home).netloc:
            self.foreign.append(url)

    def _note_console(self, message):
        if message.type == "error":
            self.faults.append(f"console: {message.text} ({message.location.get('url', '')})")

    def expect(self, pattern):
        """Say that a fault with these words is what the test is about."""
        self.expected.append(re.compile(pattern))

    def unexpected(self):
        """Return every request to another host and every fault that nobody expected."""
        faults = [fault for fault in self.faults if not any(each.search(fault) for each in self.expected)]
        return [*(f"request: {url}" for url in self.foreign), *faults]

    def close(self):
        """Close the browser's window."""
        self.context.close()


def settle(page):
    """Wait until the page is connected and nothing is being computed any more."""
    page.wait_for_function(
        "() => window.Shiny && Shiny.shinyapp && Shiny.shinyapp.isConnected()"
        " && !document.documentElement.classList.contains('shiny-busy')"
    )


def cookies_of(browser, serving):
    """Exchange the start address of a workbench for its cookies."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(serving.address)
    cookies = context.cookies()
    context.close()
    return cookies
