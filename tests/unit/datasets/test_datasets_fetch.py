"""A download ends well or says why not, whatever the server does."""

import contextlib
import http.server
import io
import threading
import time

import pytest

from evenhand.datasets.fetch import Fetcher
from evenhand.errors import DataSetNotFoundError

BODY = b"0123456789" * 20_000


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.seen.append((self.path, dict(self.headers)))
        self.server.routes[self.path](self)

    def log_message(self, *_):
        pass


def whole(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(BODY)))
    handler.end_headers()
    handler.wfile.write(BODY)


def without_length(handler):
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(BODY)


def truncated(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(BODY)))
    handler.end_headers()
    handler.wfile.write(BODY[:1000])


def missing(handler):
    handler.send_error(404)


def failing(handler):
    handler.send_error(503)


def silent(handler):
    handler.server.stop.wait(5)


def silent_half_way(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(BODY)))
    handler.end_headers()
    handler.wfile.write(BODY[:1000])
    handler.wfile.flush()
    handler.server.stop.wait(5)


def dripping(handler):
    handler.send_response(200)
    handler.end_headers()
    with contextlib.suppress(OSError):
        while not handler.server.stop.wait(0.02):
            handler.wfile.write(b"x")
            handler.wfile.flush()


def endless(handler):
    handler.send_response(200)
    handler.end_headers()
    with contextlib.suppress(OSError):
        while not handler.server.stop.is_set():
            handler.wfile.write(BODY)


def claiming_much(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", str(10**15))
    handler.end_headers()


def claiming_nonsense(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "many")
    handler.end_headers()
    handler.wfile.write(BODY)


def babbling(handler):
    handler.wfile.write(b"this is no HTTP\r\n\r\n")


def redirect_to(address):
    def redirect(handler):
        handler.send_response(302)
        handler.send_header("Location", address)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return redirect


@pytest.fixture
def server():
    """Serve on this machine only; what each address does is looked up in `routes`."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as running:
        running.seen, running.stop, running.routes = [], threading.Event(), {}
        running.daemon_threads = True
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.stop.set()
        running.shutdown()
        thread.join()


@pytest.fixture
def ask(server):
    """Fetch from the local server, over plain HTTP, which only these tests allow."""

    def fetch(route, *, progress=None, **settings):
        server.routes.setdefault("/file", route)
        fetcher = Fetcher(**{"schemes": ("http",), "timeout": 5.0, **settings})
        return fetcher.fetch(f"http://127.0.0.1:{server.server_port}/file", progress=progress)

    return fetch


@pytest.mark.parametrize("route", [whole, without_length, claiming_nonsense])
def test_a_file_arrives_whole(route, ask):
    assert ask(route) == BODY


def test_the_progress_is_told(ask):
    told = []
    ask(whole, progress=lambda done, total: told.append((done, total)))

    assert told[-1] == (len(BODY), len(BODY))
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_an_unknown_length_is_told_as_none(ask):
    told = []
    ask(without_length, progress=lambda done, total: told.append((done, total)))

    assert told[-1] == (len(BODY), None)


@pytest.mark.parametrize(
    ("route", "why"),
    [
        (truncated, "the connection ended before the file did"),
        (missing, "the server answered 404"),
        (failing, "the server answered 503"),
        (claiming_much, "the file is larger than the limit of 67,108,864 bytes"),
        (babbling, "no connection (BadStatusLine)"),
    ],
)
def test_a_failure_says_why(route, why, ask):
    with pytest.raises(DataSetNotFoundError) as caught:
        ask(route)

    assert f"could not be downloaded: {why}." in str(caught.value)


@pytest.mark.parametrize("route", [silent, silent_half_way])
def test_a_silent_server_is_given_up(route, ask):
    started = time.monotonic()
    with pytest.raises(DataSetNotFoundError, match="the server did not answer in time"):
        ask(route, timeout=0.2)

    assert time.monotonic() - started < 3


def test_a_dripping_server_is_given_up(ask):
    """Each byte comes in time, yet the file never ends."""
    started = time.monotonic()
    with pytest.raises(DataSetNotFoundError, match=r"it took longer than 0\.3 seconds"):
        ask(dripping, deadline=0.3)

    assert time.monotonic() - started < 3


@pytest.mark.parametrize("route", [endless, without_length])
def test_no_more_than_the_limit_is_read(route, ask):
    read = []
    with pytest.raises(DataSetNotFoundError, match="larger than the limit of 100,000 bytes"):
        ask(route, limit=100_000, progress=lambda done, _: read.append(done))

    assert max(read, default=0) <= 100_000


def test_no_server_is_no_connection(server):
    port = server.server_port
    server.shutdown()
    server.server_close()
    with pytest.raises(DataSetNotFoundError, match="no connection"):
        Fetcher(schemes=("http",), timeout=1).fetch(f"http://127.0.0.1:{port}/file")


def test_a_redirect_is_followed(server, ask):
    server.routes["/there"] = whole

    assert ask(redirect_to("/there")) == BODY
    assert [path for path, _ in server.seen] == ["/file", "/there"]


def test_redirects_in_a_circle_are_given_up(server, ask):
    with pytest.raises(DataSetNotFoundError, match="the server answered 302"):
        ask(redirect_to("/file"))

    assert len(server.seen) <= 7


@pytest.mark.parametrize(
    "address", ["file:///etc/hostname", "ftp://127.0.0.1/x", "https://127.0.0.1/x", "data:,x"]
)
def test_a_redirect_to_another_scheme_is_refused(address, server, ask):
    """A server must not be able to point us at a file of this machine."""
    with pytest.raises(DataSetNotFoundError) as caught:
        ask(redirect_to(address))

    refused = (
        "only http addresses are followed",
        "the server answered 302",
    )  # urllib knows no file: or data:

    assert any(words in str(caught.value) for words in refused)
    assert [path for path, _ in server.seen] == ["/file"]


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1/x", "file:///etc/hostname", "ftp://x", "data:,x", "", "x.csv"]
)
def test_only_https_is_asked_at_all(address):
    with pytest.raises(DataSetNotFoundError, match="only https addresses are followed"):
        Fetcher().fetch(address)


def test_a_redirect_from_https_to_http_is_refused():
    """Else whoever sits on the line could choose what is downloaded."""
    from evenhand.datasets.fetch import _Redirects

    handler, connection = _Redirects(Fetcher()._check_scheme), io.BytesIO()
    with pytest.raises(DataSetNotFoundError, match="only https addresses are followed"):
        handler.redirect_request(None, connection, 302, "Found", None, "http://example.org/x")

    assert connection.closed


def test_a_request_says_little(server, ask):
    ask(whole)
    _, headers = server.seen[0]

    assert headers["User-Agent"] == "evenhand"
    assert headers["Accept-Encoding"] == "identity"
    assert not {"Cookie", "Authorization", "Referer"} & set(headers)
