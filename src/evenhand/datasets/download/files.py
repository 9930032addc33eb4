"""Find a file of a data set, check it against its checksum, and read it.

A file is looked for in the folder given, in the folder named by ``EVENHAND_DATA``, in the cache,
and is then downloaded if its source is public and online. Its content is checked before any of it
is parsed, and parsed from the very bytes that were checked.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import hashlib
import os
import pathlib
import tempfile
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evenhand.datasets.download.parsing import parse
from evenhand.datasets.download.places import cache_folder, places
from evenhand.datasets.download.progress import shown
from evenhand.errors import ChecksumError, DataSetNotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from evenhand.datasets.download.fetch import Fetcher, Progress
    from evenhand.datasets.download.places import Place

__all__ = ["Download", "Reader", "SourceFile"]


@dataclass(frozen=True, kw_only=True)
class Download:
    """Where a file is had from: addresses, and how what stands there becomes our file."""

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
        way = "downloaded when missing" if self.download else "to be fetched by hand"
        told = f"{self.stem}.csv ({self.size:,} bytes, {way}): {self.source}"
        return f"{told}; licence: {self.licence}; {self.page}"


class Reader:
    """Read the files of one data set and remember which were used."""

    def __init__(
        self,
        dataset: str,
        *,
        folder: str | os.PathLike[str] | None = None,
        download: bool = True,
        progress: Progress | None = None,
        fetcher: Fetcher | None = None,
    ) -> None:
        self._dataset = dataset
        self._folder = folder
        self._download = download
        self._progress = progress
        self._fetcher = fetcher
        self._damaged = ""
        self.used: tuple[SourceFile, ...] = ()

    def columns(
        self, file: SourceFile, *, integers: Iterable[str] = (), numbers: Iterable[str] = ()
    ) -> dict[str, Any]:
        """Return the columns of a file as arrays: whole numbers, numbers, and all others as text.

        A blank is an empty text, or not-a-number in a column of numbers.
        """
        content = self.content(file)
        return parse(content, integers=integers, numbers=numbers)

    def content(self, file: SourceFile) -> bytes:
        """Return the checked, uncompressed content of a file."""
        self._damaged = ""
        found = self._local(file)
        if found is None:
            found = self._fetched(file)
        self.used = (*self.used, file)
        return found

    def _local(self, file: SourceFile) -> bytes | None:
        for place in places(self._folder):
            for name in (f"{file.stem}.csv.gz", f"{file.stem}.csv"):
                content = _stored(place, name, file.size)
                if content is None:
                    continue
                if _matches(content, file):
                    return content
                if not (place.is_cache and self._download and file.download):
                    raise _wrong_file(name, place.words)
                self._damaged = f"The file '{name}' in {place.words} is damaged and was not used. "
        return None

    def _fetched(self, file: SourceFile) -> bytes:
        download = file.download
        if download is None:
            raise self._missing(file, "It cannot be downloaded by itself.")
        if not self._download:
            raise self._missing(file, "Downloads are switched off (download=False).")
        from evenhand.datasets.download.fetch import Fetcher  # noqa: PLC0415 - brings the whole of HTTP and TLS

        fetcher = self._fetcher or Fetcher()
        raw = []
        try:
            for url in download.urls:
                with shown(f"{file.stem}.csv", self._progress) as progress:
                    raw.append(fetcher.fetch(url, progress=progress))
        except DataSetNotFoundError as error:
            raise self._missing(file, str(error)) from error
        content = _converted(file, download, raw, self._damaged)
        _keep(content, f"{file.stem}.csv.gz")
        return content

    def _missing(self, file: SourceFile, why: str) -> DataSetNotFoundError:
        looked = [place.words for place in places(self._folder) if not (place.is_cache and self._damaged)]
        if not os.environ.get("EVENHAND_DATA"):
            looked.insert(self._folder is not None, "the folder named by EVENHAND_DATA, which is not set")
        return DataSetNotFoundError(
            f"The file '{file.stem}.csv' of data set '{self._dataset}' is not in {', nor in '.join(looked)}. "
            f"{self._damaged}{why} Hint: it comes from {file.page} ({file.source}); {file.by_hand} "
            f"Save it as '{file.stem}.csv' or '{file.stem}.csv.gz' and name its folder in EVENHAND_DATA."
        )


def _stored(place: Place, name: str, size: int) -> bytes | None:
    """Return the content of a file in a place, or None if it is not there.

    A cache that cannot be read is no failure; a folder that a person named is.
    """
    path = place.folder / name
    try:
        return _unpacked(path, size) if path.is_file() else None
    except OSError as error:
        if place.is_cache:
            return None
        # Not chained: the message of the system holds the path.
        raise DataSetNotFoundError(
            f"The file '{name}' in {place.words} cannot be read ({type(error).__name__}). "
            "Hint: look at the permissions of the folder and of the file."
        ) from None


def _unpacked(path: pathlib.Path, size: int) -> bytes:
    """Return the content of a file, or as much of it as shows that it is the wrong one.

    Nothing where it cannot be unpacked; an error of the system where it cannot be read.
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


def _converted(file: SourceFile, download: Download, raw: list[bytes], damaged: str) -> bytes:
    """Turn what was downloaded into our file, which must be the one on record."""
    try:
        content = download.convert(*raw)
    except (ValueError, IndexError, KeyError, TypeError, csv.Error):  # whatever a changed source may hold
        content = b""
    if not _matches(content, file):
        raise ChecksumError(
            f"What was downloaded for '{file.stem}.csv' is not the file on record: its source has changed. "
            f"{damaged}Hint: use a copy of the file from before, or look at {file.page}."
        )
    return content


def _keep(content: bytes, name: str) -> None:
    """Put a checked file into the cache in one step; a cache that cannot be written is no failure."""
    cache = cache_folder()
    if cache is None:
        return
    with contextlib.suppress(OSError):
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix=".unfinished-") as folder:
            unfinished = pathlib.Path(folder) / name
            unfinished.write_bytes(gzip.compress(content, mtime=0))
            unfinished.replace(cache / name)
