"""Results as sentences and a page, by two functions of a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PageFunctions"]


@dataclass(frozen=True)
class PageFunctions:
    """A :class:`~evenhand.study.tasks.base.Reading` made of two functions.

    Parameters
    ----------
    results : Results
    chosen : Setting, mapping or str, optional
        The setting that sentences and page are about.
    write_answers : callable
        From results to three sentences.
    build_page : callable
        From results to a page.
    """

    results: Any
    chosen: object
    write_answers: Callable[..., tuple[str, str, str]]
    build_page: Callable[..., Any]

    def answers(self) -> tuple[str, str, str]:
        """Return the three sentences."""
        return self.write_answers(self.results, chosen=self.chosen)

    def page(self, *, command: str = "") -> Any:
        """Return the page."""
        return self.build_page(self.results, chosen=self.chosen, command=command)
