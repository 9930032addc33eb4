"""A browser tab without a browser: it goes to pages, reads them and uses their controls."""

import asyncio
import json
import re
from html import unescape
from html.parser import HTMLParser
from types import SimpleNamespace

from shiny import reactive

from evenhand.app.pages.shell import _do_in_order, draw_page
from evenhand.app.pages.visit import Visit
from evenhand.app.state.jobs import Jobs
from evenhand.app.state.record import DataChoice
from evenhand.app.state.workbench import Workbench
from evenhand.app.state.workspace import Workspace

ROWS = "sex,region,school,hired\n" + "".join(
    f"{'fm'[row % 2]},{'nsw'[row % 3]},{'ab'[row // 2 % 2]},{'yes' if row % 5 < 2 + row % 2 else 'no'}\n"
    for row in range(240)
)


class NearDesk:
    """A desk that answers at once, in this process, or says what a test tells it to say."""

    def __init__(self):
        self.told = {}
        self.calls = []

    async def ask(self, function, *arguments, **options):
        self.calls.append((function.name, options))
        if function.name not in self.told:
            return function(*arguments, **options)
        told = self.told[function.name]
        if isinstance(told, Exception):
            raise told
        return told


class StillQueue(Jobs):
    """A queue that notes what it is asked and starts no process."""

    def __init__(self, workspace):
        super().__init__(workspace)
        self.asked = []

    def enqueue(self, study):
        self.asked.append(("run", study))

    def cancel(self, study):
        self.asked.append(("stop", study))


class Tab:
    """One tab at a workbench.

    Parameters
    ----------
    folder : path
        Of the studies.
    read_only : path, optional
        A finished study that is only shown.
    """

    def __init__(self, folder, read_only=None):
        self.workspace = Workspace(folder)
        self.jobs, self.desk = StillQueue(self.workspace), NearDesk()
        self.address, self.sent, self._ended = "#/", [], []
        self.clientdata = SimpleNamespace(url_hash=lambda: self.address)
        self.visit = Visit(Workbench(self.workspace, self.jobs, self.desk, read_only), self)

    # --- what Shiny's session has -----------------------------------------------------------------

    def on_ended(self, function):
        self._ended.append(function)

    async def send_custom_message(self, name, message):
        self.sent.append((name, message))
        if name == "go":
            self.address = message["address"]

    def close(self):
        for function in self._ended:
            function()
        self.workspace.close()

    # --- what a person does -----------------------------------------------------------------------

    def go(self, address):
        """Go to a page, and return it."""
        self.address = address
        return self.read()

    def read(self, *, at_once=False):
        """Return the page when all of it is there, or what is there at once."""
        return asyncio.run(self._read(at_once=at_once))

    def words(self):
        """Return what can be read on the page."""
        return words_of(self.read())

    def aside(self, draw):
        """Return a part of the left side."""
        with reactive.isolate():
            return str(draw(self.visit))

    def press(self, name, **more):
        """Press a button of the page, by its id; one that is not there, or is off, fails."""
        controls = Controls(self.read())
        button = controls.by_id[name]
        assert "disabled" not in button, name
        text = {"text": controls.by_id[button["data-from"]]["value"]} if "data-from" in button else {}
        self.do(**{**_data(button), **text, **more})

    def change(self, name, value, **more):
        """Choose or write a value in a control of the page, by its id."""
        control = Controls(self.read()).by_id[name]
        self.do(**_data(control), value=value, **more)

    def do(self, **event):
        """Send an event as the script of the page does."""
        asyncio.run(_do_in_order(self.visit, event, asyncio.Lock()))

    async def _read(self, *, at_once):
        while True:
            with reactive.isolate():
                html = str(draw_page(self.visit))
            inquiries = self.visit._inquiries.values()
            work = [inquiry._task for inquiry in inquiries if inquiry._task and not inquiry._task.done()]
            if at_once:
                self.visit._end()
                for inquiry in inquiries:
                    inquiry._wanted = None
                return html
            if not work:
                return html
            await asyncio.gather(*work)

    # --- studies ----------------------------------------------------------------------------------

    def add_study(self, name="Hiring", rows=ROWS, **fields):
        """Make a study of a file, and return its id."""
        record = self.workspace.create(name)
        (self.workspace.folder(record.id) / "data" / "5f3a.csv").write_text(rows)
        choice = DataChoice(source="upload", label="people.csv", file="5f3a.csv")
        self.workspace.save(record.with_(**{"data": choice, **fields}))
        return record.id

    def record(self, study):
        return self.workspace.load(study)

    def set_run(self, study, state, **known):
        """Write how the run of a study goes, as its worker does."""
        self.jobs._running = study if state == "running" else None
        self.jobs._waiting.clear()
        self.jobs._waiting.extend([study] if state == "waiting" else [])
        path = self.workspace.folder(study) / "progress.json"
        path.write_text(json.dumps({"state": state, **known}))


class Controls(HTMLParser):
    """Every element of a page that has an id, with its attributes; of a text field its text is the value."""

    def __init__(self, html):
        super().__init__()
        self.by_id, self._inside = {}, None
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        known = {name: value or "" for name, value in attributes}
        if "id" in known:
            assert known["id"] not in self.by_id, f"{known['id']} is there twice"
            self.by_id[known["id"]] = known
            self._inside = known if tag == "textarea" else None

    def handle_data(self, data):
        if self._inside is not None:
            self._inside["value"] = self._inside.get("value", "") + data

    def handle_endtag(self, tag):
        self._inside = None


def words_of(html):
    """Return the words of a page, without its elements."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def _data(control):
    """Return what an element says in its attributes, as the script of the page sends it."""
    return {name.removeprefix("data-"): value for name, value in control.items() if name.startswith("data-")}
