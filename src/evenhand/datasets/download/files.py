"""Find a file of a data set, check it against its checksum, and read it.

A file is looked for in the folder given, in the folder named by ``EVENHAND_DATA``, in the cache,
and is then downloaded if its source is public and online; pooch checks it and keeps it in the cache. Its
content is checked before any of it is parsed, and parsed from the very bytes that were checked.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import logging
import os
import pathlib
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import platformdirs

from evenhand._lazy import lazy
from evenhand.datasets.download.parsing import parse_csv
from evenhand.errors import ChecksumError, DataSetNotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from evenhand.datasets.download.fetch import Fetcher, Progress

pooch = lazy("pooch")  # loads an HTTP client, which a file on this machine does not need

CACHE: dict[str, Any] = {"appname": "evenhand", "appauthor": False, "opinion": False}
"""What platformdirs is told about the folder for caches."""


@dataclass(frozen=True, kw_only=True)
class SearchPlace:
    """A folder to look in, in words and as a path. Messages hold the words only."""

    words: str
    folder: pathlib.Path
    is_cache: bool = False


def places(given: str | os.PathLike[str] | None) -> Iterator[SearchPlace]:
    """Yield the folders to look in, first one first.

    Parameters
    ----------
    given : path, optional
        The folder that the caller named.
    """
    if given is not None:
        yield SearchPlace(words="the folder given", folder=_expand_home(given))
    named = os.environ.get("EVENHAND_DATA")
    if named:
        yield SearchPlace(words="the folder named by EVENHAND_DATA", folder=_expand_home(named))
    cache = cache_folder()
    if cache is not None:
        yield SearchPlace(words=name_cache(), folder=cache, is_cache=True)


def name_cache() -> str:
    """Say where the cache is, without a path of this machine."""
    if os.environ.get("EVENHAND_CACHE"):
        return "the cache (the folder named by EVENHAND_CACHE)"
    return "the cache ('evenhand' in the usual folder for caches)"


def cache_folder() -> pathlib.Path | None:
    """Return the folder where downloads are kept, whether or not it exists.

    None where it would be in a home folder and there is none, as in some containers: then no file
    is kept.
    """
    named = os.environ.get("EVENHAND_CACHE")
    try:
        folder = _expand_home(named) if named else platformdirs.user_cache_path(**CACHE)
    except RuntimeError:  # no home folder
        return None
    return None if str(folder).startswith("~") else folder


def _expand_home(path: str | os.PathLike[str]) -> pathlib.Path:
    """Put the home folder for a leading ``~``; without a home folder the path stays as it is."""
    return pathlib.Path(os.path.expanduser(path))  # noqa: PTH111 - Path.expanduser raises without a home


@dataclass(frozen=True, kw_only=True)
class Download:
    """Where a file is downloaded from: addresses, and the function that makes our file of their content."""

    urls: tuple[str, ...]
    convert: Callable[..., bytes] = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """A file on record.

    Attributes
    ----------
    stem : str
        It is looked for as ``<stem>.csv.gz`` and ``<stem>.csv``.
    sha256 : str
        Of the uncompressed content.
    size : int
        Bytes of the uncompressed content. No more than that is unpacked.
    source, licence, page : str
        Who published it, under which terms, and the public page where a person finds it.
    by_hand : str
        What a person can do who does not have it.
    download : Download, optional
        Absent where the source is not online or cannot be turned into our file by itself.
    """

    stem: str
    sha256: str
    size: int
    source: str
    licence: str
    page: str
    by_hand: str = (
        "load it once on a machine that is online and copy it from the cache there, which is the folder "
        "named by EVENHAND_CACHE, or else 'evenhand' in the usual folder for caches."
    )
    download: Download | None = None

    def __str__(self) -> str:
        how = "downloaded when missing" if self.download else "to be fetched by hand"
        named = f"{self.stem}.csv ({self.size:,} bytes, {how}): {self.source}"
        return f"{named}; licence: {self.licence}; {self.page}"


@dataclass(kw_only=True)
class Reader:
    """Read the files of one data set and remember which were used."""

    dataset: str = field(kw_only=False)
    folder: str | os.PathLike[str] | None = None
    download: bool = True
    progress: Progress | None = None
    fetcher: Fetcher | None = None
    used: tuple[SourceFile, ...] = ()
    _damaged: str = ""

    def columns(
        self, file: SourceFile, *, integers: Iterable[str] = (), numbers: Iterable[str] = ()
    ) -> dict[str, Any]:
        """Return the columns of a file as arrays: whole numbers, numbers, and all others as text.

        A blank is an empty text, or not-a-number in a column of numbers.
        """
        return parse_csv(self.content(file), integers=integers, numbers=numbers)

    def content(self, file: SourceFile) -> bytes:
        """Return the checked, uncompressed content of a file."""
        self._damaged = ""
        content = self._find(file)
        if content is None:
            content = self._fetch(file)
        self.used = (*self.used, file)
        return content

    def _find(self, file: SourceFile) -> bytes | None:
        for place in places(self.folder):
            for name in (f"{file.stem}.csv.gz", f"{file.stem}.csv"):
                content = _read(place, name, file.size)
                if content is None:
                    continue
                if _matches(content, file):
                    return content
                if not (place.is_cache and self.download and file.download):
                    raise _wrong_file(name, place.words)
                self._damaged = f"The file '{name}' in {place.words} is damaged and was not used. "
        return None

    def _fetch(self, file: SourceFile) -> bytes:
        """Download a file, keep it in the cache, and return its checked content."""
        if file.download is None:
            raise self._missing(file, "It cannot be downloaded by itself.")
        if not self.download:
            raise self._missing(file, "Downloads are switched off (download=False).")
        downloader = _Downloader(file, file.download, self.fetcher, self.progress)
        try:
            _keep_in_cache(file, downloader)
            content = downloader.content()
        except DataSetNotFoundError as error:
            raise self._missing(file, str(error)) from error
        if not _matches(content, file):
            raise ChecksumError(
                f"What was downloaded for '{file.stem}.csv' is not the file on record: its source has "
                f"changed. {self._damaged}Hint: use a copy of the file from before, or look at {file.page}."
            )
        return content

    def _missing(self, file: SourceFile, why: str) -> DataSetNotFoundError:
        looked = [place.words for place in places(self.folder) if not (place.is_cache and self._damaged)]
        if not os.environ.get("EVENHAND_DATA"):
            looked.insert(self.folder is not None, "the folder named by EVENHAND_DATA, which is not set")
        return DataSetNotFoundError(
            f"The file '{file.stem}.csv' of data set '{self.dataset}' is not in {', nor in '.join(looked)}. "
            f"{self._damaged}{why} Hint: it comes from {file.page} ({file.source}); {file.by_hand} "
            f"Save it as '{file.stem}.csv' or '{file.stem}.csv.gz' and name its folder in EVENHAND_DATA."
        )


def _read(place: SearchPlace, name: str, size: int) -> bytes | None:
    """Return the content of a file in a place, or None if it is not there.

    A cache that cannot be read is no failure; a folder that a person named is.
    """
    path = place.folder / name
    try:
        return _unpack(path, size) if path.is_file() else None
    except OSError as error:
        if place.is_cache:
            return None
        # Not chained: the message of the system holds the path.
        raise DataSetNotFoundError(
            f"The file '{name}' in {place.words} cannot be read ({type(error).__name__}). "
            "Hint: look at the permissions of the folder and of the file."
        ) from None


def _unpack(path: pathlib.Path, size: int) -> bytes:
    """Return the content of a file, or as much of it as shows that it is the wrong one.

    Empty where it cannot be unpacked; an error of the system where it cannot be read.
    """
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            return stream.read(size + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        return b""


def _matches(content: bytes, file: SourceFile) -> bool:
    return len(content) == file.size and hashlib.sha256(content).hexdigest() == file.sha256


def _wrong_file(name: str, words: str) -> ChecksumError:
    return ChecksumError(
        f"The file '{name}' in {words} is not the one on record: "
        "its SHA-256 differs or it cannot be unpacked. Hint: remove it and load again, "
        "or put the right file in its place; `describe` says where it comes from."
    )


class _NotOnRecordError(Exception):
    """What was downloaded is not the file on record; a further attempt would not change that."""


@dataclass
class _Downloader:
    """What pooch calls to download a file: it reads every address once and writes what they make."""

    file: SourceFile
    download: Download
    fetcher: Fetcher | None
    progress: Progress | None
    _content: bytes | None = None

    def __call__(self, _url: str, output_file: str, _keeper: object) -> None:
        if not _matches(self.content(), self.file):
            raise _NotOnRecordError
        pathlib.Path(output_file).write_bytes(self.content())

    def content(self) -> bytes:
        """Return what the addresses hold, as our file; it is not checked yet."""
        if self._content is None:
            from evenhand.datasets.download.fetch import (  # noqa: PLC0415 - brings the whole of HTTP and TLS
                Fetcher,
                show_progress,
            )

            fetcher, raw = self.fetcher or Fetcher(), []
            for url in self.download.urls:
                with show_progress(f"{self.file.stem}.csv", self.progress) as progress:
                    raw.append(fetcher.fetch(url, progress=progress))
            try:
                self._content = self.download.convert(*raw)
            except (ValueError, IndexError, KeyError, TypeError, csv.Error):  # what a changed source may hold
                self._content = b""
        return self._content


def _keep_in_cache(file: SourceFile, downloader: _Downloader) -> None:
    """Download a file into the cache if it is the one on record.

    A cache that cannot be written is no failure, nor is a wrong file here: the caller checks it too.
    """
    cache = cache_folder()
    if cache is None:
        return
    name, logger = f"{file.stem}.csv", pooch.get_logger()
    keeper = pooch.create(
        path=cache,
        base_url="",
        registry={name: f"sha256:{file.sha256}"},
        urls={name: file.page},
        retry_if_failed=1,
    )
    level = logger.level
    logger.setLevel(logging.WARNING)  # else it prints paths of this machine
    try:
        kept = pathlib.Path(keeper.fetch(name, downloader=downloader))
        kept.chmod(0o644)  # public data, which others may read where they share the cache
    except DataSetNotFoundError:
        raise
    except (OSError, _NotOnRecordError):
        pass
    finally:
        logger.setLevel(level)
