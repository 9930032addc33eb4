"""Download over HTTPS, with a limit on size and on time, and no other scheme.

The downloader that comes with pooch has no limit on the size of a file nor on the time that it takes in all,
follows redirects to any scheme, and sends what a ``.netrc`` file holds. So this one takes its place.
"""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import requests
import urllib3
from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TextColumn
from rich.progress import Progress as ProgressBar

from evenhand.errors import DataSetNotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterator

Progress = Callable[[int, int | None], None]
"""Called with the bytes so far and the bytes in all, or None if the server does not say."""

_Step = tuple[int, int | None] | bytes | BaseException
"""The bytes so far and in all, or the whole file, or why there is none."""

_CHUNK = 64 * 1024
_CONNECT_SECONDS = 10.0
_MOST_REDIRECTS = 5
_MAY_PASS = (502, 503, 504)


class InterruptedDownloadError(DataSetNotFoundError, requests.RequestException):
    """A download failed in a way that may pass; being an error of requests too, pooch tries it again."""


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
        steps: queue.SimpleQueue[_Step] = queue.SimpleQueue()
        given_up = threading.Event()
        # Looking up a name cannot be given a time limit, so a thread does the work and may be left behind.
        work = threading.Thread(
            target=self._work, args=(url, steps, given_up), name="evenhand-fetch", daemon=True
        )
        work.start()
        try:
            while (left := ends - time.monotonic()) > 0:
                step = steps.get(timeout=left)
                if isinstance(step, BaseException):
                    raise step
                if isinstance(step, bytes):
                    return step
                if progress is not None:
                    progress(*step)
        except queue.Empty:
            pass
        finally:
            given_up.set()
        raise _failure(url, f"it took longer than {self.deadline:g} seconds")

    def _work(self, url: str, steps: queue.SimpleQueue[_Step], given_up: threading.Event) -> None:
        """Put each step of a download into a queue, and in the end the file or the error."""
        body = bytearray()
        try:
            for chunk, total in self.stream(url):
                self.check_size(url, len(body) + len(chunk))
                body += chunk
                if given_up.is_set():
                    return
                steps.put((len(body), total))
            steps.put(bytes(body))
        except BaseException as error:  # noqa: BLE001 - raised again where the caller is
            steps.put(error)

    def open_session(self, url: str) -> requests.Session:
        """Return a session that knows the allowed schemes alone and sends neither passwords nor cookies."""
        session = _Session()
        session.trust_env = False
        session.proxies = get_environ_proxies(url)
        session.verify = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("SSL_CERT_FILE") or True
        session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=()))
        session.adapters.clear()
        for scheme in self.schemes:
            session.mount(f"{scheme}://", HTTPAdapter())
        session.headers.clear()
        session.headers.update({"User-Agent": "evenhand", "Accept-Encoding": "identity"})
        return session

    def check_size(self, url: str, size: int) -> None:
        """Refuse a file of so many bytes if that is above the limit."""
        if size > self.limit:
            raise _failure(url, f"the file is larger than the limit of {self.limit:,} bytes")

    def check_scheme(self, url: str) -> None:
        """Refuse an address that does not begin with one of the schemes."""
        if urlsplit(url).scheme not in self.schemes:
            raise _failure(url, f"only {' and '.join(self.schemes)} addresses are followed")

    def stream(self, url: str) -> Iterator[tuple[bytes, int | None]]:
        """Yield what comes, with the bytes in all where the server says so."""
        try:
            with self.open_session(url) as session, self._open(session, url) as response:
                code = response.status_code
                if not 200 <= code < 300:
                    raise _failure(url, f"the server answered {code}", may_pass=code in _MAY_PASS)
                stated = response.headers.get("Content-Length", "")
                total = int(stated) if stated.isdecimal() else None
                self.check_size(url, total or 0)
                while chunk := response.raw.read1(_CHUNK, decode_content=False):
                    yield chunk, total
        except DataSetNotFoundError:
            raise
        except (OSError, ValueError, urllib3.exceptions.HTTPError) as error:  # requests raises OSError
            raise _interruption(url, error) from error

    def _open(self, session: requests.Session, url: str) -> requests.Response:
        """Return the answer of the server, after redirects whose bodies are not read."""
        timeout = (min(_CONNECT_SECONDS, self.timeout), self.timeout)
        for _ in range(_MOST_REDIRECTS + 1):
            self.check_scheme(url)
            response = session.get(url, stream=True, timeout=timeout)
            if not response.is_redirect:
                break
            response.close()
            url = urljoin(url, response.headers["Location"])
        return response


class _Session(requests.Session):
    """A session that leaves redirects alone: requests reads their bodies to the end, whatever comes."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        """Return that there is none."""


def _innermost(error: BaseException) -> BaseException:
    """Return what the errors of the libraries were made of."""
    while True:
        made_of = (error.__cause__, error.__context__, getattr(error, "reason", None), *error.args)
        inner = next((cause for cause in made_of if isinstance(cause, BaseException)), None)
        if inner is None:
            return error
        error = inner


def _interruption(url: str, error: BaseException) -> DataSetNotFoundError:
    """Return the failure that a broken connection is."""
    inner = _innermost(error)
    if isinstance(inner, TimeoutError):
        return _failure(url, "the server did not answer in time")
    if isinstance(inner, urllib3.exceptions.IncompleteRead):
        return _failure(url, "the connection ended before the file did", may_pass=True)
    return _failure(url, f"no connection ({type(inner).__name__})", may_pass=True)


def _failure(url: str, why: str, *, may_pass: bool = False) -> DataSetNotFoundError:
    kind = InterruptedDownloadError if may_pass else DataSetNotFoundError
    return kind(f"{url} could not be downloaded: {why}.")


@contextlib.contextmanager
def show_progress(label: str, progress: Progress | None = None) -> Iterator[Progress | None]:
    """Yield the function that is called with a download's progress, or None.

    That is `progress` itself if there is one. Otherwise it moves a bar on standard error if that is
    a terminal, and the bar is removed in the end.

    Parameters
    ----------
    label : str
        What is downloaded, shown before the bar.
    progress : callable, optional
        What the caller of `load` gave.
    """
    # There is no standard error at all where Python runs without a console.
    on_terminal = sys.stderr is not None and not sys.stderr.closed and sys.stderr.isatty()
    if progress is not None or not on_terminal:
        yield progress
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn())
    with ProgressBar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)

        def move(done: int, total: int | None) -> None:
            bar.update(task, completed=done, total=total)

        yield move
