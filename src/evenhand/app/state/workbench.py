"""What the pages and the routes of one server share."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from evenhand._shared_folders import remove_left_folders
from evenhand.app.state.desk import Desk
from evenhand.app.state.jobs import Jobs
from evenhand.app.state.workspace import Workspace
from evenhand.errors import WorkbenchError

_DESK_MODULES = tuple(f"evenhand.app.flow.{name}" for name in ("describe", "question", "result"))
"""What every call at the desk needs sooner or later, and takes seconds to import."""


@dataclass(frozen=True)
class Workbench:
    """The studies, the queue of their runs, the desk, and a finished study that is only shown.

    Parameters
    ----------
    workspace : Workspace
        Empty, and in a folder for temporary files, where a finished study is shown.
    jobs : Jobs
    desk : Desk
    read_only : path, optional
        The folder of a finished study, which ``evenhand audit`` wrote; nothing is written there.
    """

    workspace: Workspace
    jobs: Jobs
    desk: Desk
    read_only: Path | None = None

    @classmethod
    def open(cls, folder: Path | None = None) -> Self:
        """Open the folder of studies, remove what a crash left, and start nothing yet.

        Raises
        ------
        WorkbenchError
            If another process has the folder, or if it cannot be written.
        """
        workspace = Workspace(folder)
        workspace.remove_strays()
        remove_left_folders()
        return cls(workspace, Jobs(workspace), Desk(modules=_DESK_MODULES))

    @classmethod
    def show(cls, folder: Path) -> Self:
        """Open the folder of a finished study, to show it and nothing else.

        Raises
        ------
        WorkbenchError
            If there is no study in it.
        """
        if not (folder / "study.db").is_file():
            raise WorkbenchError(
                f"There is no study in '{folder.name}': its file 'study.db' is not there. Hint: name the "
                "folder that evenhand audit wrote, its --out."
            )
        workspace = Workspace(Path(tempfile.mkdtemp(prefix="evenhand-show-")))
        return cls(workspace, Jobs(workspace), Desk(modules=_DESK_MODULES), read_only=folder.resolve())

    def close(self) -> None:
        """End every process, and give the folder back; finished runs stay."""
        self.jobs.close()
        self.desk.close()
        self.workspace.close()
        if self.read_only is not None:
            shutil.rmtree(self.workspace.path, ignore_errors=True)
