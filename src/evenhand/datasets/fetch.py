"""Download over HTTPS, with a limit on size and on time, and no other scheme."""

from __future__ import annotations

import http.client
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


@dataclass(frozen=True, kw_only=True)
class Fetcher:
    """Fetch small public files.

    Attributes
    ----------
    limit : int
        Most bytes that are read from one address.
    timeout : float
        Seconds to wait for the server to say anything.
    deadline : float
        Seconds that one file may take in all, so that a server which drips cannot hold a person up.
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
        self._check_scheme(url)
        opener = urllib.request.build_opener(_Redirects(self._check_scheme))
        opener.addheaders = [("User-Agent", "evenhand"), ("Accept-Encoding", "identity")]
        try:
            with opener.open(url, timeout=self.timeout) as response:
                return self._body(url, response, progress)
        except DataSetNotFoundError:
            raise
        except urllib.error.HTTPError as error:
            error.close()
            raise _failure(url, f"the server answered {error.code}") from error
        except urllib.error.URLError as error:
            raise _failure(url, _reason(error.reason)) from error
        except (OSError, http.client.HTTPException) as error:
            raise _failure(url, _reason(error)) from error

    def _body(self, url: str, response: Any, progress: Progress | None) -> bytes:
        started = time.monotonic()
        total = _length(response)
        if total is not None and total > self.limit:
            raise _failure(url, f"the file is larger than the limit of {self.limit:,} bytes")
        body = bytearray()
        while chunk := response.read1(_CHUNK):
            body += chunk
            if len(body) > self.limit:
                raise _failure(url, f"the file is larger than the limit of {self.limit:,} bytes")
            if time.monotonic() - started > self.deadline:
                raise _failure(url, f"it took longer than {self.deadline:g} seconds")
            if progress is not None:
                progress(len(body), total)
        if total is not None and len(body) != total:
            raise _failure(url, "the connection ended before the file did")
        return bytes(body)

    def _check_scheme(self, url: str) -> None:
        scheme = urllib.parse.urlsplit(url).scheme
        if scheme not in self.schemes:
            raise _failure(url, f"only {' and '.join(self.schemes)} addresses are followed")


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
