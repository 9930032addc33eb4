"""Somebody at a terminal sees a download move; a program sees nothing."""

import io
import sys

import pytest

from evenhand.datasets.download.fetch import show_progress
from evenhand.datasets.download.files import Download, Reader, SourceFile


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Put a terminal in the place of standard error, from when it is called on."""

    def put():
        # Not before the test itself runs: pytest sets standard error anew after its fixtures.
        monkeypatch.setattr(sys, "stderr", Terminal())
        return sys.stderr

    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    return put


@pytest.mark.parametrize(("total", "size"), [(1_000_000, "0.8/1.0 MB"), (None, "750.0/? kB")])
def test_a_terminal_shows_a_bar(total, size, terminal):
    screen = terminal()
    with show_progress("example.csv") as progress:
        progress(250_000, total)
        progress(750_000, total)

    assert "example.csv" in screen.getvalue()
    assert size in screen.getvalue()


def test_a_file_name_is_no_markup(terminal):
    screen = terminal()
    with show_progress("[bold]x.csv") as progress:
        progress(1, 2)

    assert "[bold]x.csv" in screen.getvalue()


def _closed():
    stream = Terminal()
    stream.close()
    return stream


@pytest.mark.parametrize("stream", [io.StringIO(), None, _closed()])
def test_without_a_terminal_there_is_nobody_to_tell(stream, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream)
    with show_progress("example.csv") as progress:
        assert progress is None


def test_who_gives_a_callable_gets_no_bar(terminal):
    told, screen = [], terminal()
    with show_progress("example.csv", lambda done, total: told.append((done, total))) as progress:
        progress(1, 2)

    assert told == [(1, 2)]
    assert screen.getvalue() == ""


class Shelf:
    """Stands for the network."""

    def fetch(self, url, *, progress=None):
        if progress is not None:
            progress(5, 10)
        return b"a\n"


@pytest.mark.parametrize(("given", "bar"), [(None, True), (lambda *_: None, False)])
def test_a_download_shows_the_bar_where_nothing_else_was_asked_for(given, bar, terminal, nowhere):
    file = SourceFile(
        stem="example",
        sha256="87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7",
        size=2,
        source="Example Office",
        licence="CC0",
        page="https://example.org",
        download=Download(urls=("https://example.org/a",), convert=bytes),
    )
    screen = terminal()
    Reader("example", fetcher=Shelf(), progress=given).content(file)

    assert ("example.csv" in screen.getvalue()) == bar
