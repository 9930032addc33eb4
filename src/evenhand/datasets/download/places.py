"""The places where a file is looked for, and how a message names them."""

from __future__ import annotations

import os
import pathlib
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Place", "cache_folder", "cache_words", "places"]


@dataclass(frozen=True, kw_only=True)
class Place:
    """A folder to look in, in words and as a path. Messages hold the words only."""

    words: str
    folder: pathlib.Path
    is_cache: bool = False


def places(given: str | os.PathLike[str] | None) -> Iterator[Place]:
    """Yield the folders to look in, first one first.

    Parameters
    ----------
    given : path, optional
        The folder that the caller named.
    """
    if given is not None:
        yield Place(words="the folder given", folder=_expanded(given))
    named = os.environ.get("EVENHAND_DATA")
    if named:
        yield Place(words="the folder named by EVENHAND_DATA", folder=_expanded(named))
    cache = cache_folder()
    if cache is not None:
        yield Place(words=cache_words(), folder=cache, is_cache=True)


def cache_words() -> str:
    """Say where the cache is, without a path of this machine."""
    if os.environ.get("EVENHAND_CACHE"):
        return "the cache (the folder named by EVENHAND_CACHE)"
    return "the cache ('evenhand' in the usual folder for caches)"


def cache_folder(
    environment: Mapping[str, str] = os.environ, *, platform: str = sys.platform
) -> pathlib.Path | None:
    """Return the folder where downloads are kept, whether or not it exists.

    None where it would be in a home folder and there is none, as in some containers: then nothing
    is kept.

    Examples
    --------
    >>> cache_folder({"EVENHAND_CACHE": "kept"}).name
    'kept'
    >>> cache_folder({"XDG_CACHE_HOME": "caches"}, platform="linux").as_posix()
    'caches/evenhand'
    """
    if environment.get("EVENHAND_CACHE"):
        folder = _expanded(environment["EVENHAND_CACHE"])
    elif platform == "win32":
        folder = _expanded(environment.get("LOCALAPPDATA") or "~/AppData/Local") / "evenhand"
    elif platform == "darwin":
        folder = _expanded("~/Library/Caches") / "evenhand"
    else:
        folder = _expanded(environment.get("XDG_CACHE_HOME") or "~/.cache") / "evenhand"
    return None if str(folder).startswith("~") else folder


def _expanded(path: str | os.PathLike[str]) -> pathlib.Path:
    """Put the home folder for a leading ``~``; without a home folder the path stays as it is."""
    return pathlib.Path(os.path.expanduser(path))  # noqa: PTH111 - Path.expanduser raises without a home
