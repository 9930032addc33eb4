"""A small bar on the terminal while a file is downloaded."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.datasets.download.fetch import Progress

__all__ = ["shown"]


@contextlib.contextmanager
def shown(label: str, progress: Progress | None = None) -> Iterator[Progress | None]:
    """Give the callable to tell a download's progress to.

    That is `progress` itself if there is one. Otherwise it moves a bar on standard error if that is
    a terminal, and the bar goes away in the end. Otherwise there is nobody to tell.

    Parameters
    ----------
    label : str
        What is downloaded, shown before the bar.
    progress : callable, optional
        What the caller of `load` gave.
    """
    if progress is not None or not _on_terminal():
        yield progress
        return
    from rich.console import Console  # noqa: PLC0415 - slow to import, and rarely needed
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn  # noqa: PLC0415 - as above

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)

        def tell(done: int, total: int | None) -> None:
            bar.update(task, completed=done, total=total)

        yield tell


def _on_terminal() -> bool:
    # There is no standard error at all where Python runs without a console.
    return sys.stderr is not None and not sys.stderr.closed and sys.stderr.isatty()
