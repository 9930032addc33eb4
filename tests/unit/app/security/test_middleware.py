"""The guard answers what goes wrong behind it, and leaves what it does not know alone."""

import asyncio

import pytest
from starlette.exceptions import HTTPException

from evenhand.app.security.hosts import LocalHosts
from evenhand.app.security.middleware import Guard
from evenhand.app.security.token import SessionCookie
from evenhand.errors import UnknownNameError, UnreadableFileError

COOKIE = SessionCookie("secret", 8421)


def run(app, **changes):
    headers = [(b"host", b"localhost:8421"), (b"cookie", f"{COOKIE.name}={COOKIE.issue()}".encode())]
    scope = {"type": "http", "method": "GET", "path": "/", "headers": headers, **changes}
    messages = []

    async def receive():
        return {"type": "http.request", "body": b""}

    async def send(message):
        messages.append(message)

    asyncio.run(Guard(app, hosts=LocalHosts(8421), cookie=COOKIE)(scope, receive, send))
    return messages


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (HTTPException(404), 404),
        (HTTPException(418), 418),
        (UnknownNameError("Study", "x", ()), 404),
        (UnreadableFileError("The file is empty."), 422),
        (RuntimeError("a private value"), 500),
    ],
)
def test_an_error_behind_the_guard_is_answered(error, status):
    async def fail(scope, receive, send):
        raise error

    start, body = run(fail)

    assert start["status"] == status
    assert b"private" not in body["body"]


def test_an_error_in_the_middle_of_an_answer_ends_it():
    """A second answer after the first would be read as part of it."""

    async def fail(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError

    with pytest.raises(RuntimeError):
        run(fail)


def test_the_start_and_the_end_of_the_server_pass():
    seen = []

    async def app(scope, receive, send):
        seen.append(scope["type"])

    run(app, type="lifespan")

    assert seen == ["lifespan"]


def test_a_websocket_that_is_refused_is_closed():
    async def app(scope, receive, send):
        raise AssertionError

    assert run(app, type="websocket", path="/websocket/") == [
        {"type": "websocket.close", "code": 1008, "reason": ""}
    ]
