"""Start the workbench: choose a port, listen on this machine alone, print the start address, end cleanly."""

from __future__ import annotations

import errno
import signal
import socket
import threading
import webbrowser
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import shiny
import uvicorn
from shiny import ui
from starlette.applications import Starlette
from starlette.exceptions import HTTPException

from evenhand.app.pages.shell import build_server, build_ui
from evenhand.app.routes import Files, Page, Start, build_routes
from evenhand.app.security.answers import FAULT, answer_error
from evenhand.app.security.faults import hide_messages
from evenhand.app.security.hosts import ADDRESS, LocalHosts
from evenhand.app.security.limits import OTHER_BYTES
from evenhand.app.security.middleware import START, Guard
from evenhand.app.security.token import SessionCookie, StartToken
from evenhand.errors import EvenhandError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp

    from evenhand.app.state.workbench import Workbench

PORT = 8421
"""The port where the first workbench of a machine listens."""

_PORTS_TRIED = 100
_SECONDS_TO_END = 2


def build_asgi(workbench: Workbench, port: int, token: StartToken) -> ASGIApp:
    """Return the whole workbench behind its guard."""
    cookie = SessionCookie(workbench.workspace.secret(), port)
    return Guard(build_app(workbench, Start(token, cookie)), hosts=LocalHosts(port), cookie=cookie)


def build_app(workbench: Workbench, start: Start) -> ASGIApp:
    """Return the workbench without its guard."""
    sessions = shiny.App(ui.div(), build_server(workbench))
    sessions.sanitize_errors, sessions.sanitize_error_msg = True, FAULT
    routes = build_routes(Page(build_ui), start, Files(workbench), sessions)
    handlers: dict[Any, Any] = dict.fromkeys((HTTPException, EvenhandError, Exception), _answer_error)
    return Starlette(routes=routes, exception_handlers=handlers)


async def _answer_error(request: Request, error: Exception) -> Response:
    return answer_error(request.scope, error)


def bind_port(port: int | None = None) -> socket.socket:
    """Return a socket of this machine alone: on the port that was asked for, else on the first that is free.

    Raises
    ------
    InvalidParameterError
        If the port that was asked for cannot be had.
    """
    if port is not None:
        try:
            return _listen(port)
        except OSError as error:
            got = f"{port}, which is {'in use' if error.errno == errno.EADDRINUSE else 'not allowed here'}"
            hint = "choose another one, or leave it out to take the next that is free."
            raise InvalidParameterError(
                "port", owner="serve", must_be="a free port of this machine", got=got, hint=hint
            ) from None
    for candidate in range(PORT, PORT + _PORTS_TRIED):
        with suppress(OSError):
            return _listen(candidate)
    return _listen(0)


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows, where reuse would let others share the port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((ADDRESS, port))
        listening.listen(128)
    except OSError:
        listening.close()
        raise
    return listening


class Server(uvicorn.Server):
    """A server that calls back once it answers, and that ends cleanly when its terminal is closed, too.

    Parameters
    ----------
    app : ASGI application
    when_ready : callable
        Is called once the server answers.
    """

    def __init__(self, app: ASGIApp, *, when_ready: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                ws_max_size=OTHER_BYTES,
                timeout_graceful_shutdown=_SECONDS_TO_END,
            )
        )
        self._when_ready = when_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        hang_up = getattr(signal, "SIGHUP", None)  # Windows has none
        is_main = threading.current_thread() is threading.main_thread()
        if hang_up is not None and is_main and signal.getsignal(hang_up) is signal.SIG_DFL:
            signal.signal(hang_up, self.handle_exit)
        self._when_ready()


def serve(
    workbench: Workbench,
    *,
    port: int | None = None,
    browser: bool = True,
    say: Callable[[str, str], None],
) -> None:
    """Serve the workbench until it is ended by Ctrl-C or by the system, then close it.

    Parameters
    ----------
    workbench : Workbench
        What is served.
    port : int, optional
        The port; by default 8421 or the next one that is free.
    browser : bool
        Whether to open the start address in the browser.
    say : callable
        Is told a leading word and a sentence: the start address, and what goes wrong.

    Raises
    ------
    InvalidParameterError
        If the port that was asked for cannot be had.
    """
    try:
        listening = bind_port(port)
        number, token = listening.getsockname()[1], StartToken()
        address = f"http://{ADDRESS}:{number}{START}?token={token.value}"

        def announce() -> None:
            workbench.desk.warm()
            say("Open", address)
            say("Stop", "with Ctrl-C; finished runs are kept.")
            if browser:
                threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

        with hide_messages(lambda sentence: say("Fault", sentence)), suppress(KeyboardInterrupt):
            Server(build_asgi(workbench, number, token), when_ready=announce).run([listening])
    finally:
        workbench.close()
