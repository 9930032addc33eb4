"""G2: a web page cannot drive the workbench, whatever it makes the browser send."""

import pytest

from attacks.app._gate import HANDSHAKE, open_gate

STUDY = "0123456789abcdef"
HOSTS = [
    "example.org", "example.org:{port}", "evil.example:{port}", "127.0.0.1.example.org:{port}",
    "localhost.example.org:{port}", "localhost.:{port}", "LOCALHOST:{port}", "localhost", "127.0.0.1",
    "[::1]", "127.0.0.1:1", "localhost:1", "[::1]:1", "127.0.0.1:{port}0", "127.0.0.1:0{port}",
    "0.0.0.0:{port}", "127.1:{port}", "127.0.0.2:{port}", "2130706433:{port}", "0x7f000001:{port}",
    "0177.0.0.1:{port}", "127.0.0.1.:{port}", "[::]:{port}", "[::ffff:127.0.0.1]:{port}",
    "[0:0:0:0:0:0:0:1]:{port}", "::1:{port}", "user@127.0.0.1:{port}", "127.0.0.1:{port}@example.org",
    "127.0.0.1:{port},example.org", "example.org,127.0.0.1:{port}", "127.0.0.1:{port}/", "http://127.0.0.1:{port}",
    "127.0.0.1:{port}#", "127.0.0.1:{port}?", "127.0.0.1:{port}\\", "localhost:{port}.example.org",
    "a.localhost:{port}", "192.168.0.1:{port}", "10.0.0.1:{port}", "evenhand.local:{port}",
]  # fmt: skip
"""What a page may make stand in `Host` by DNS rebinding, and what a lazy comparison would take for ours."""

OWN = {"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:{port}"}
WRITES = [
    {"Sec-Fetch-Site": "cross-site", "Origin": "https://example.org"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "http://127.0.0.1:{port}"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:3000"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "none"},
    {"Sec-Fetch-Site": ""},
    {"Sec-Fetch-Site": "SAME-ORIGIN, cross-site", "Origin": "http://127.0.0.1:{port}"},
    {"Sec-Fetch-Site": "same-origin", "Origin": "https://example.org"},
    {"Sec-Fetch-Site": "same-origin", "Origin": "null"},
    {"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost:{port}"},
    {"Origin": "https://example.org"},
    {"Origin": "null"},
    {"Origin": ""},
    {"Origin": "http://127.0.0.1"},
    {"Origin": "https://127.0.0.1:{port}"},
    {"Origin": "http://127.0.0.1:{port}.example.org"},
    {"Origin": "http://127.0.0.1:{port} http://example.org"},
    {},
    {"Referer": "http://127.0.0.1:{port}/"},
]
SOCKETS = [
    {"Origin": "https://example.org"},
    {"Origin": "null"},
    {"Origin": ""},
    {},
    {"Origin": "http://localhost:{port}"},
    {"Origin": "http://127.0.0.1:3000"},
    {"Origin": "https://127.0.0.1:{port}"},
    {"Origin": "http://127.0.0.1:{port}", "Sec-Fetch-Site": "cross-site"},
    {"Origin": "http://127.0.0.1:{port}", "Sec-Fetch-Site": "same-site"},
    {"Origin": "http://127.0.0.1:{port}.example.org"},
]


@pytest.fixture(scope="module", name="gate")
def _gate(tmp_path_factory):
    with open_gate(tmp_path_factory.mktemp("studies") / "workbench") as gate:
        yield gate


@pytest.fixture(scope="module", name="twin")
def _twin(tmp_path_factory):
    with open_gate(tmp_path_factory.mktemp("twin") / "workbench", guarded=False) as gate:
        yield gate


def send_all(gate):
    """Send the 70 forged requests, each with the right cookie; return the statuses."""
    filled = [
        {name: text.format(port=gate.port) for name, text in each.items()} for each in [*WRITES, *SOCKETS]
    ]
    own = {"Host": gate.host, "Cookie": gate.cookie}
    hosts = [host.format(port=gate.port) for host in HOSTS]
    asked = [("GET", "/alive", {**own, "Host": host}) for host in hosts]
    asked += [("POST", f"/studies/{STUDY}/data", {**own, **each}) for each in filled[: len(WRITES)]]
    asked += [("GET", "/websocket/", {**own, **HANDSHAKE, **each}) for each in filled[len(WRITES) :]]
    return [gate.ask(*each).status for each in asked]


def test_seventy_forged_requests_are_refused_and_none_reaches_a_handler(gate):
    """Otherwise a page in another tab could read studies, change them, or release data."""
    before = gate.counter.reached

    statuses = send_all(gate)

    assert len(set(HOSTS)) == 40
    assert len(WRITES) + len(SOCKETS) == 30
    assert statuses == [403] * 70
    assert gate.counter.reached - before == 0


def test_without_the_guard_the_same_requests_get_through(twin):
    """The twin: what is refused above is refused by the guard, and not because it is malformed."""
    statuses = send_all(twin)

    assert twin.counter.reached == 70
    assert set(statuses[:40]) == {204}
    assert set(statuses[40:60]) == {404}  # the handler looked for the study
    assert set(statuses[60:]) == {101}


def test_our_own_page_is_let_through(gate):
    """A guard that refuses everything would pass the test above."""
    before = gate.counter.reached
    localhost = f"localhost:{gate.port}"

    assert gate.get("/alive").status == 204
    assert gate.get("/alive", Host=localhost, Origin=f"http://{localhost}").status == 204
    assert gate.ask("GET", "/websocket/", {**gate.own_headers(), **HANDSHAKE}).status == 101
    assert gate.post(f"/studies/{STUDY}/data").status == 404
    assert gate.counter.reached - before == 4


@pytest.mark.parametrize(
    "site",
    [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "http://example.org"}],
)
def test_another_page_cannot_even_read(gate, site):
    """A script tag or a picture of another page sends the cookie where that page is on this machine, too."""
    before = gate.counter.reached
    headers = {
        "Host": gate.host,
        "Cookie": gate.cookie,
        "Sec-Fetch-Mode": "no-cors",
        "Sec-Fetch-Dest": "script",
    }

    assert gate.ask("GET", "/", {**headers, **site}).status == 403
    assert gate.counter.reached == before


def test_a_header_that_is_there_twice_is_refused(gate):
    """Whoever reads the first and whoever reads the last would see two different requests."""
    own = [*gate.own_headers().items()]

    assert gate.ask("POST", "/x", [*own, ("Origin", "https://example.org")]).status == 403
    assert gate.ask("POST", "/x", [*own, ("Sec-Fetch-Site", "cross-site")]).status == 403
    assert gate.ask("GET", "/alive", [*own, ("Host", "example.org")]).status in {400, 403}


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "QUERY"])
def test_only_three_methods_are_taken(gate, method):
    before = gate.counter.reached

    assert gate.ask(method, "/", gate.own_headers()).status in {400, 405}
    assert gate.counter.reached == before


def test_what_a_proxy_would_say_is_not_believed(gate):
    """A page cannot be let in by saying that somebody else forwarded it."""
    headers = {
        **gate.own_headers(),
        "Host": "example.org",
        "X-Forwarded-Host": gate.host,
        "Forwarded": f"host={gate.host}",
    }

    assert gate.ask("GET", "/alive", headers).status == 403


def test_a_websocket_has_one_path(gate):
    before = gate.counter.reached

    assert gate.ask("GET", "/start", {**gate.own_headers(), **HANDSHAKE}).status == 403
    assert gate.counter.reached == before
