"""The guard: every request and every WebSocket passes it before anything else of the workbench runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evenhand.app.security.answers import answer_error, answer_refusal
from evenhand.app.security.headers import add_headers
from evenhand.app.security.limits import limit_body

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from evenhand.app.security.hosts import LocalHosts
    from evenhand.app.security.token import SessionCookie

START = "/start"
"""The one path that needs no cookie: there the token is exchanged for it."""

WEBSOCKET = "/websocket/"
"""The one path of WebSockets, which is Shiny's."""

_METHODS = frozenset({"GET", "HEAD", "POST"})
_CONNECTIONS = frozenset({"http", "websocket"})


class Refusal(NamedTuple):
    """Why a request is refused: the status and the sentence of the answer."""

    status: int
    sentence: str


_OTHER_HOST = Refusal(403, "The workbench answers only under its own address on this machine.")
_OTHER_PAGE = Refusal(403, "The workbench does nothing for pages of other web sites.")
_NOTHING_THERE = Refusal(404, "There is nothing at this address.")
_OTHER_METHOD = Refusal(405, "The workbench does not take such a request.")
_NO_COOKIE = Refusal(
    401,
    "This browser was not let in. Hint: open the start address that `evenhand serve` printed; it works once, "
    "so stop the workbench and start it again if it was used.",
)


class Guard:
    """Let through what a browser on this machine was let in for and asks from our own page; refuse the rest.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    hosts : LocalHosts
        The hosts that are ours.
    cookie : SessionCookie
        The cookie of browsers that were let in.
    """

    def __init__(self, app: ASGIApp, *, hosts: LocalHosts, cookie: SessionCookie) -> None:
        self._app = app
        self._hosts = hosts
        self._cookie = cookie

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a connection, then pass it on or refuse it."""
        if scope["type"] not in _CONNECTIONS:
            await self._app(scope, receive, send)
            return
        refusal = self.find_refusal(scope)
        guarded = add_headers(send)
        if scope["type"] == "websocket":
            await (_close(send) if refusal else self._app(scope, receive, guarded))
        elif refusal:
            await answer_refusal(scope, *refusal)(scope, receive, guarded)
        else:
            await _answer(self._app, scope, receive, guarded)

    def find_refusal(self, scope: Scope) -> Refusal | None:
        """Return why a request is refused, or None."""
        if not self._hosts.is_host_ours(scope):
            return _OTHER_HOST
        if not self._hosts.is_page_ours(scope):
            return _OTHER_PAGE
        if scope["type"] == "websocket" and scope["path"] != WEBSOCKET:
            return _NOTHING_THERE
        if scope["type"] == "http" and scope["method"] not in _METHODS:
            return _OTHER_METHOD
        is_start = scope["type"] == "http" and scope["path"] == START
        return None if is_start or self._cookie.is_in(scope) else _NO_COOKIE


async def _answer(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Pass a request on within its limit; whatever goes wrong is told in one sentence."""
    has_started = False

    async def note_start(message: Message) -> None:
        nonlocal has_started
        has_started = has_started or message["type"] == "http.response.start"
        await send(message)

    try:
        await app(scope, limit_body(scope, receive), note_start)
    except Exception as error:
        if has_started:
            raise
        await answer_error(scope, error)(scope, receive, send)


async def _close(send: Send) -> None:
    await send({"type": "websocket.close", "code": 1008, "reason": ""})
