"""The address of a page: what stands behind the hash, which every link and button uses."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, unquote

HOME = "#/"


@dataclass(frozen=True)
class Address:
    """A page: the first one, a step of a study, or a page of help.

    Parameters
    ----------
    place : {"home", "study", "help"}
    study : str
        The id of the study.
    page : str
        The step of a study, or the page of help.
    """

    place: str = "home"
    study: str = ""
    page: str = ""

    def __str__(self) -> str:
        if self.place == "study":
            return study_address(self.study, self.page)
        return help_address(self.page) if self.place == "help" else HOME


def read_address(text: str) -> Address:
    """Return the page that an address names; one that names none is the first page.

    >>> read_address("#/study/0123456789abcdef/schema").page
    'schema'
    >>> read_address("#/nowhere").place
    'home'
    """
    parts = [unquote(part) for part in text.removeprefix("#").strip("/").split("/")]
    if parts[0] == "study" and len(parts) > 1:
        return Address("study", parts[1], parts[2] if len(parts) > 2 else "data")
    if parts[0] == "help":
        return Address("help", "", "/".join(parts[1:]))
    return Address()


def study_address(study: str, step: str) -> str:
    """Return the address of a step of a study."""
    return f"#/study/{quote(study, safe='')}/{quote(step, safe='')}"


def help_address(page: str = "") -> str:
    """Return the address of a page of help."""
    return f"#/help/{quote(page)}"
