"""Addresses of public files, and the plainest ways to turn them into ours."""

from __future__ import annotations

from urllib.parse import quote

__all__ = ["as_it_stands", "github", "github_page", "line_feeds"]


def github(repository: str, commit: str, path: str, *, large: bool = False) -> str:
    """Return the address of a file of a public repository at a fixed commit.

    Parameters
    ----------
    repository : str
        Owner and name.
    commit : str
        The commit, or a branch for files that are checked by their content alone.
    path : str
        Path in the repository.
    large : bool, default False
        Whether the repository keeps the file in Git LFS, which has another address.

    Examples
    --------
    >>> github("owner/data", "abc", "two words.csv")
    'https://raw.githubusercontent.com/owner/data/abc/two%20words.csv'
    """
    host = "https://media.githubusercontent.com/media" if large else "https://raw.githubusercontent.com"
    return f"{host}/{repository}/{commit}/{quote(path)}"


def github_page(repository: str) -> str:
    """Return the page of a public repository.

    Examples
    --------
    >>> github_page("owner/data")
    'https://github.com/owner/data'
    """
    return f"https://github.com/{repository}"


def as_it_stands(raw: bytes) -> bytes:
    """Take a file as it is published."""
    return raw


def line_feeds(raw: bytes) -> bytes:
    r"""End every line by a line feed, the last one too.

    Examples
    --------
    >>> line_feeds(b"a\r\nb")
    b'a\nb\n'
    """
    unix = raw.replace(b"\r\n", b"\n")
    return unix if unix.endswith(b"\n") else unix + b"\n"
