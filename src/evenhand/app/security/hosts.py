"""The names under which a browser on this machine reaches the workbench."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import Scope

ADDRESS = "127.0.0.1"
"""The only address that the workbench listens on."""

_NAMES = (ADDRESS, "localhost", "[::1]")
_WEB_PORT = 80
_READING = frozenset({"GET", "HEAD"})


def header_values(scope: Scope, name: str) -> list[str]:
    """Return every value of one header of a request, in the order in which they were sent."""
    wanted = name.lower().encode("ascii")
    headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
    return [value.decode("latin-1") for key, value in headers if key.lower() == wanted]


class LocalHosts:
    """The values of `Host` that are ours, and whether a request comes from our own page.

    A page of another web site can make a browser send requests to this machine. Its name stands in `Host`
    after DNS rebinding, and in `Sec-Fetch-Site` and `Origin` otherwise; a page cannot change these headers.

    Parameters
    ----------
    port : int
        The port that the workbench listens on.

    Examples
    --------
    >>> LocalHosts(8421).has("127.0.0.1:8421"), LocalHosts(8421).has("example.org:8421")
    (True, False)
    """

    def __init__(self, port: int) -> None:
        with_port = {f"{name}:{port}" for name in _NAMES}
        self._known = frozenset(with_port | set(_NAMES) if port == _WEB_PORT else with_port)

    def has(self, host: str) -> bool:
        """Whether a value of `Host` is one of ours, letter by letter."""
        return host in self._known

    def is_host_ours(self, scope: Scope) -> bool:
        """Whether a request has exactly one `Host`, and it is ours."""
        hosts = header_values(scope, "host")
        return len(hosts) == 1 and self.has(hosts[0])

    def is_page_ours(self, scope: Scope) -> bool:
        """Whether our own page sent a request, as far as that matters for what it does.

        To write and to open a WebSocket, a request must say that it comes from our page. To read, it must not
        say that it comes from another page, unless a person follows a link.
        """
        sites, origins = header_values(scope, "sec-fetch-site"), header_values(scope, "origin")
        own = [f"http://{host}" for host in header_values(scope, "host")]
        if scope["type"] == "websocket":
            return sites in ([], ["same-origin"]) and origins == own
        if scope["method"] in _READING:
            return _may_read(scope, sites) and origins in ([], own)
        return sites in ([], ["same-origin"]) and (origins == own or (not origins and bool(sites)))


def _may_read(scope: Scope, sites: list[str]) -> bool:
    """Whether a page that reads is ours, a person's own, or left by a link."""
    if sites in ([], ["same-origin"], ["none"]):
        return True
    followed = (header_values(scope, "sec-fetch-mode"), header_values(scope, "sec-fetch-dest"))
    return len(sites) == 1 and followed == (["navigate"], ["document"])
