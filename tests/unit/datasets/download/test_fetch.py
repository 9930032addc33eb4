"""A download ends well or says why not, whatever the server does."""

import contextlib
import http.server
import socket
import threading
import time

import pytest
import requests

from evenhand.datasets.download import fetch
from evenhand.datasets.download.fetch import Fetcher, InterruptedDownloadError
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


def dripping_headers(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    with contextlib.suppress(OSError):
        while not handler.server.stop.wait(0.02):
            handler.wfile.write(b"x")
            handler.wfile.flush()


def slow_to_answer(handler):
    handler.server.stop.wait(0.5)
    whole(handler)


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

    def asked(route, *, progress=None, **settings):
        server.routes.setdefault("/file", route)
        fetcher = Fetcher(**{"schemes": ("http",), "timeout": 5.0, **settings})
        return fetcher.fetch(f"http://127.0.0.1:{server.server_port}/file", progress=progress)

    return asked


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


@pytest.mark.parametrize(
    ("route", "may_pass"), [(truncated, True), (failing, True), (babbling, True), (missing, False)]
)
def test_only_a_failure_that_may_pass_is_marked_for_another_attempt(route, may_pass, ask):
    with pytest.raises(DataSetNotFoundError) as caught:
        ask(route)

    assert isinstance(caught.value, InterruptedDownloadError) == may_pass


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


def test_a_server_that_drips_its_headers_is_given_up(ask):
    """No byte of the file has come yet, so counting from the first one would never end."""
    started = time.monotonic()
    with pytest.raises(DataSetNotFoundError, match=r"it took longer than 0\.3 seconds"):
        ask(dripping_headers, deadline=0.3)

    assert time.monotonic() - started < 3


def test_looking_up_the_name_counts_too(monkeypatch):
    """The system's look-up has no time limit of its own."""
    late = threading.Event()

    def look_up(*_, **__):
        late.wait(5)
        raise socket.gaierror(socket.EAI_AGAIN, "try again")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    started = time.monotonic()
    with pytest.raises(DataSetNotFoundError, match=r"it took longer than 0\.2 seconds"):
        Fetcher(deadline=0.2).fetch("https://example.org/file")
    took = time.monotonic() - started
    late.set()
    _none_left()

    assert took < 2


@pytest.fixture
def nobody(monkeypatch):
    """Give every name a hundred addresses where nobody answers; list how long each was waited for."""
    waits, stop = [], threading.Event()

    class Nobody:
        def __init__(self, *_):
            self.seconds = None

        def settimeout(self, seconds):
            self.seconds = seconds

        def setsockopt(self, *_):
            pass

        def connect(self, _):
            waits.append(self.seconds)
            stop.wait(0.05)
            raise TimeoutError

        def close(self):
            pass

    addresses = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (f"192.0.2.{each}", 443)) for each in range(100)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses)
    monkeypatch.setattr(socket, "socket", Nobody)
    yield waits
    stop.set()
    _none_left()


def _none_left():
    """Wait until no download goes on aside."""
    patience = time.monotonic() + 3
    while any(each.name == "evenhand-fetch" for each in threading.enumerate()):
        assert time.monotonic() < patience
        time.sleep(0.01)


def test_all_the_addresses_of_a_server_share_one_deadline(nobody):
    """With 30 seconds for each of a hundred addresses a person would wait for most of an hour."""
    started = time.monotonic()
    with pytest.raises(DataSetNotFoundError, match=r"it took longer than 0\.3 seconds"):
        Fetcher(deadline=0.3).fetch("https://example.org/file")

    assert time.monotonic() - started < 2
    assert len(nobody) < 50


@pytest.mark.parametrize(("timeout", "expected"), [(30.0, 10.0), (2.0, 2.0)])
@pytest.mark.parametrize("scheme", ["http", pytest.param("https", marks=pytest.mark.figures)])
def test_a_connection_is_waited_for_ten_seconds_at_most(scheme, timeout, expected, nobody):
    with pytest.raises(DataSetNotFoundError):  # a busy machine takes a while to load its certificates
        Fetcher(timeout=timeout, deadline=1, schemes=(scheme,)).fetch(f"{scheme}://example.org/file")

    assert set(nobody) == {expected}


def test_the_longer_wait_holds_again_once_there_is_a_connection(ask, monkeypatch):
    monkeypatch.setattr(fetch, "_CONNECT_SECONDS", 0.2)

    assert ask(slow_to_answer) == BODY


def test_a_step_that_the_caller_refuses_ends_the_download(ask):
    """A person who stops the bar stops the download; nothing goes on behind their back."""

    def refuse(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(dripping, progress=refuse)
    _none_left()


def test_a_caller_who_takes_too_long_over_a_step_is_stopped(ask):
    with pytest.raises(DataSetNotFoundError, match=r"it took longer than 0\.1 seconds"):
        ask(whole, progress=lambda *_: time.sleep(0.2), deadline=0.1)


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


def test_the_body_of_a_redirect_is_not_read(server, ask):
    """It may have no end, and it is thrown away."""

    def endless_redirect(handler):
        handler.send_response(302)
        handler.send_header("Location", "/there")
        handler.end_headers()
        endless(handler)

    server.routes["/there"] = whole

    assert ask(endless_redirect, deadline=3) == BODY


def test_redirects_in_a_circle_are_given_up(server, ask):
    with pytest.raises(DataSetNotFoundError, match="the server answered 302"):
        ask(redirect_to("/file"))

    assert len(server.seen) <= 7


def test_a_redirect_to_no_address_is_a_failure(ask):
    with pytest.raises(DataSetNotFoundError, match="could not be downloaded"):
        ask(redirect_to("http://[::1"))


@pytest.mark.parametrize(
    "address", ["file:///etc/hostname", "ftp://127.0.0.1/x", "https://127.0.0.1/x", "data:,x"]
)
def test_a_redirect_to_another_scheme_is_refused(address, server, ask):
    """A server must not be able to point us at a file of this machine."""
    with pytest.raises(DataSetNotFoundError) as caught:
        ask(redirect_to(address))

    assert "only http addresses are followed" in str(caught.value)
    assert [path for path, _ in server.seen] == ["/file"]


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1/x", "file:///etc/hostname", "ftp://x", "data:,x", "", "x.csv"]
)
def test_only_https_is_asked_at_all(address):
    with pytest.raises(DataSetNotFoundError, match="only https addresses are followed"):
        Fetcher().fetch(address)


def test_a_redirect_from_https_to_http_is_refused():
    """Else whoever sits on the line could choose what is downloaded."""
    session = Fetcher().open_session("https://example.org/x")

    assert session.get_adapter("https://example.org/x")
    for address in ("http://example.org/x", "HTTP://example.org/x", "file:///x", "ftp://example.org/x"):
        with pytest.raises(requests.exceptions.InvalidSchema):
            session.get_adapter(address)


def test_a_cookie_is_not_sent_back(server, ask):
    def redirect_with_cookie(handler):
        handler.send_response(302)
        handler.send_header("Location", "/there")
        handler.send_header("Set-Cookie", "who=ann")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    server.routes["/there"] = whole
    ask(redirect_with_cookie)

    assert [headers.get("Cookie") for _, headers in server.seen] == [None, None]


def test_a_request_says_little(server, ask, tmp_path, monkeypatch):
    secrets = tmp_path / "netrc"
    secrets.write_text("machine 127.0.0.1 login ann password secret\n")
    secrets.chmod(0o600)
    monkeypatch.setenv("NETRC", str(secrets))
    ask(whole)
    _, headers = server.seen[0]

    assert headers["User-Agent"] == "evenhand"
    assert headers["Accept-Encoding"] == "identity"
    assert not {"Cookie", "Authorization", "Referer"} & set(headers)
