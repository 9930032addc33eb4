"""Download over HTTPS, with a limit on size and on time, and no other scheme."""

from __future__ import annotations

import http.client
import queue
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any

from evenhand.errors import DataSetNotFoundError

__all__ = ["Fetcher", "Progress"]

Progress = Callable[[int, int | None], None]
"""Called with the bytes so far and the bytes in all, or None if the server does not say."""

_CHUNK = 64 * 1024
_CONNECT = 10.0


@dataclass(frozen=True, kw_only=True)
class Fetcher:
    """Fetch small public files.

    Attributes
    ----------
    limit : int
        Most bytes that are read from one address.
    timeout : float
        Seconds to wait for the server to say anything; at most 10 of them for it to take up a
        connection at one of its network addresses.
    deadline : float
        Seconds that one file may take in all, from looking up the server's name to the last byte, so
        that a server which drips cannot hold a person up.
    schemes : tuple of str
        What an address, and every address it redirects to, must begin with.
    """

    limit: int = 64 * 2**20
    timeout: float = 30.0
    deadline: float = 600.0
    schemes: tuple[str, ...] = ("https",)

    def fetch(self, url: str, *, progress: Progress | None = None) -> bytes:
        """Return what stands at `url`.

        Raises
        ------
        DataSetNotFoundError
            If it cannot be had; the message says why.
        """
        self.check_scheme(url)
        ends = time.monotonic() + self.deadline
        attempt = _Attempt(self, url)
        # Looking up a name cannot be given a time limit, so the work is done aside and may be left there.
        threading.Thread(target=attempt.run, name="evenhand-fetch", daemon=True).start()
        try:
            while (step := attempt.next_step(ends - time.monotonic())) is not None:
                if progress is not None:
                    progress(*step)
        except queue.Empty:
            raise _failure(url, f"it took longer than {self.deadline:g} seconds") from None
        finally:
            attempt.given_up.set()
        return attempt.outcome()

    def check_scheme(self, url: str) -> None:
        """Refuse an address that does not begin with one of the schemes."""
        scheme = urllib.parse.urlsplit(url).scheme
        if scheme not in self.schemes:
            raise _failure(url, f"only {' and '.join(self.schemes)} addresses are followed")


class _Attempt:
    """One download, run aside from the caller, who hears of each step and may give up."""

    def __init__(self, fetcher: Fetcher, url: str) -> None:
        self.given_up = threading.Event()
        self._fetcher = fetcher
        self._url = url
        self._steps: queue.SimpleQueue[tuple[int, int | None] | None] = queue.SimpleQueue()
        self._body = bytearray()
        self._error: BaseException | None = None

    def next_step(self, seconds: float) -> tuple[int, int | None] | None:
        """Wait for the next step, or for None at the end; `queue.Empty` says that time is up."""
        if seconds <= 0:
            raise queue.Empty
        return self._steps.get(timeout=seconds)

    def outcome(self) -> bytes:
        if self._error is not None:
            raise self._error
        return bytes(self._body)

    def run(self) -> None:
        try:
            self._download()
        except BaseException as error:  # noqa: BLE001 - raised again where the caller is
            self._error = error
        self._steps.put(None)

    def _download(self) -> None:
        fetcher, url = self._fetcher, self._url
        opener = urllib.request.build_opener(_PlainHandler, _SecureHandler, _Redirects(fetcher.check_scheme))
        opener.addheaders = [("User-Agent", "evenhand"), ("Accept-Encoding", "identity")]
        try:
            with opener.open(url, timeout=fetcher.timeout) as response:
                self._read(response)
        except DataSetNotFoundError:
            raise
        except urllib.error.HTTPError as error:
            error.close()
            raise _failure(url, f"the server answered {error.code}") from error
        except urllib.error.URLError as error:
            raise _failure(url, _reason(error.reason)) from error
        except (OSError, http.client.HTTPException) as error:
            raise _failure(url, _reason(error)) from error

    def _read(self, response: Any) -> None:
        limit, total = self._fetcher.limit, _length(response)
        too_large = f"the file is larger than the limit of {limit:,} bytes"
        if total is not None and total > limit:
            raise _failure(self._url, too_large)
        while not self.given_up.is_set() and (chunk := response.read1(_CHUNK)):
            self._body += chunk
            if len(self._body) > limit:
                raise _failure(self._url, too_large)
            self._steps.put((len(self._body), total))
        if total is not None and len(self._body) != total:
            raise _failure(self._url, "the connection ended before the file did")


class _Plain(http.client.HTTPConnection):
    """A connection with a shorter time limit on being made than on what follows."""

    def connect(self) -> None:
        usual = self.timeout
        self.timeout = min(_CONNECT, usual or _CONNECT)
        super().connect()
        self.sock.settimeout(usual)


class _Secure(_Plain, http.client.HTTPSConnection):
    """The same with TLS, whose handshake falls under that limit too."""


class _PlainHandler(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Plain, req)


class _SecureHandler(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Secure, req)


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follow a redirect only to an address of a scheme that is allowed."""

    max_redirections = 5

    def __init__(self, check: Callable[[str], None]) -> None:
        self._check = check

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        try:
            self._check(newurl)
        except DataSetNotFoundError:
            fp.close()  # urllib leaves the connection open when a handler raises
            raise
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _length(response: Any) -> int | None:
    stated = response.headers.get("Content-Length", "")
    return int(stated) if stated.isdecimal() else None


def _reason(error: object) -> str:
    if isinstance(error, TimeoutError):
        return "the server did not answer in time"
    return f"no connection ({type(error).__name__})"


def _failure(url: str, why: str) -> DataSetNotFoundError:
    return DataSetNotFoundError(f"{url} could not be downloaded: {why}.")
