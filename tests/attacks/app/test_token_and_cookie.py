"""Only a browser that was given the start address gets in, and the address works once."""

import re

import pytest

from attacks.app._gate import HANDSHAKE, open_gate
from evenhand.app.security.token import SessionCookie


@pytest.fixture(name="gate")
def _gate(tmp_path):
    with open_gate(tmp_path / "workbench") as gate:
        yield gate


def start(gate, token, **headers):
    return gate.ask("GET", f"/start?token={token}", {"Host": gate.host, "Sec-Fetch-Site": "none", **headers})


def test_the_token_is_exchanged_for_a_cookie_that_opens_the_page(gate):
    answer = start(gate, gate.token.value)
    given = answer.headers["set-cookie"]

    assert (answer.status, answer.headers["location"]) == (303, "/")
    assert re.fullmatch(
        rf"evenhand-{gate.port}=[0-9a-f]{{32}}\.[0-9a-f]{{64}}; Path=/; HttpOnly; SameSite=Strict", given
    )
    page = gate.ask("GET", "/", {"Host": gate.host, "Cookie": given.partition(";")[0]})
    assert page.status == 200
    assert "evenhand" in page.text


def test_the_token_works_once(gate):
    """It stands in the history of the browser and in the list of processes."""
    first, second = start(gate, gate.token.value), start(gate, gate.token.value)

    assert (first.status, second.status) == (303, 403)
    assert "set-cookie" not in second.headers


def test_a_browser_that_is_in_may_open_the_start_address_again(gate):
    """Its history offers it; nothing new is given."""
    cookie = start(gate, gate.token.value).headers["set-cookie"].partition(";")[0]

    again = start(gate, gate.token.value, Cookie=cookie)

    assert again.status == 303
    assert "set-cookie" not in again.headers


@pytest.mark.parametrize("token", ["", "x", "%00", "%ff", "%F0%9F%98%80", "a" * 5_000])
def test_a_wrong_token_is_refused_and_uses_nothing_up(gate, token):
    assert start(gate, token).status == 403
    assert start(gate, gate.token.value).status == 303


def test_a_browser_that_loads_ahead_does_not_use_the_token_up(gate):
    """The person would then find it used."""
    assert start(gate, gate.token.value, **{"Sec-Purpose": "prefetch;prerender"}).status == 403
    assert gate.ask("HEAD", f"/start?token={gate.token.value}", {"Host": gate.host}).status == 403
    assert start(gate, gate.token.value).status == 303


def wrong_cookies(gate):
    other_secret = SessionCookie("another secret", gate.port)
    other_port = SessionCookie(gate.workbench.workspace.secret(), gate.port + 1)
    word, _, seal = gate.cookies.issue().partition(".")
    name = gate.cookies.name
    return [
        "", name, f"{name}=", f"{name}=.", f"{name}={word}", f"{name}={word}.", f"{name}=.{seal}",
        f"{name}={word}x.{seal}", f"{name}={word}.{seal[:-1]}", f"{name}={word}.{seal.upper()}x",
        f"{name}={other_secret.issue()}", f"{name}={other_port.issue()}",
        f"{other_port.name}={gate.cookies.issue()}", f"x{name}={word}.{seal}", f'{name}="{word}.{seal}"',
        f"{name}=\xff.\xff",
    ]  # fmt: skip


def test_a_wrong_cookie_opens_nothing(gate):
    """Anybody on this machine can connect to the port; only the cookie says who may."""
    own, before = gate.own_headers(), gate.counter.reached
    targets = ["/", "/alive", "/static/app.js", "/studies/0123456789abcdef/files/cells.csv", "/nothing"]
    for cookie in wrong_cookies(gate):
        headers = {**own, "Cookie": cookie}
        assert {gate.ask("GET", target, headers).status for target in targets} == {401}
        assert gate.ask("POST", "/studies/0123456789abcdef/data", headers).status == 401
        assert gate.ask("GET", "/websocket/", {**headers, **HANDSHAKE}).status == 403

    assert gate.counter.reached == before


def test_a_foreign_cookie_beside_ours_does_not_lock_out(gate):
    """Every other program on this machine that serves pages can set cookies that we are sent, too."""
    for cookie in (f"a=b=c; {{bad]; {gate.cookie}", f"{gate.cookies.name}=x; {gate.cookie}"):
        assert gate.get("/alive", Cookie=cookie).status == 204


def test_a_restart_keeps_browsers_signed_in(tmp_path, gate):
    cookie = gate.cookies.issue()
    again = SessionCookie(gate.workbench.workspace.secret(), gate.port)

    assert again.is_in({"headers": [(b"cookie", f"{again.name}={cookie}".encode())]})
