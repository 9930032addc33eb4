"""Run a study to its end."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from evenhand.study.results.results import Results
from evenhand.study.run.events import Cancelled
from evenhand.study.run.progress import listening
from evenhand.study.run.steps import Runner

if TYPE_CHECKING:
    from os import PathLike

    from evenhand.study.plan.plan import Plan
    from evenhand.study.run.events import Cancel

__all__ = ["run"]


def run(
    plan: Plan,
    *,
    frame: Any = None,
    out: str | PathLike[str] | None = None,
    workers: int | None = None,
    resume: bool = False,
    retry_failed: bool = False,
    progress: Any = None,
    cancel: Cancel | None = None,
) -> Results:
    """Run every cell of a plan and return the results.

    The same plan on the same data gives the same table, to the byte, for any number of workers and however
    often the study was stopped and resumed.

    Parameters
    ----------
    plan : Plan
    frame : pandas, Polars or Arrow frame, optional
        The data, instead of what the plan names.
    out : str or path, optional
        A folder for the store ``study.db`` and the plan ``plan.toml``; made if it is not there. Without it
        the results are in memory only.
    workers : int, optional
        How many processes; by default as many as there are cores to use. 1 computes in this process.
    resume : bool, default False
        Go on with the study that is in the folder: finished cells are not run again.
    retry_failed : bool, default False
        With `resume`, run the cells again that failed.
    progress : bool or callable, optional
        True shows a bar, False nothing; a function is called with every event. By default a bar is shown if
        there is a terminal or a notebook to show it in.
    cancel : Cancel, optional
        Stops the study from another thread; the results are then those of the cells that are finished.

    Returns
    -------
    Results

    Raises
    ------
    StudyStoreError
        If the folder holds another study, or finished cells and `resume` is False, or if another process
        writes there.
    PlanError
        If the plan does not fit the data.
    KeyboardInterrupt
        After Ctrl-C: workers are ended and what is finished is stored. Its text says how to go on.

    Examples
    --------
    >>> from evenhand.study import CollectTask, DataSource, Plan
    >>> data = DataSource(dataset="causal", options={"n": 300})
    >>> results = run(Plan(data=data, task=CollectTask("grr", [1, 4]), repeats=2), workers=1)
    >>> len(results)
    6
    """
    runner = Runner(
        plan,
        frame=frame,
        out=out,
        workers=workers,
        resume=resume,
        retry_failed=retry_failed,
        cancel=cancel,
    )
    with listening(progress) as tell, closing(runner.events()) as events:
        try:
            for event in events:
                tell(event)
        except KeyboardInterrupt:
            events.close()
            tell(runner.event(Cancelled))
            raise KeyboardInterrupt(_stopped(runner, kept=out is not None)) from None
    return Results(plan, runner.facts, runner.outcomes.values())


def _stopped(runner: Runner, *, kept: bool) -> str:
    counts = f"{len(runner.outcomes)} of {runner.total} cells are finished"
    if not kept:
        return f"Stopped: {counts}, and none is kept, for the study has no folder."
    return f"Stopped: {counts} and stored. Go on with resume=True (--resume on the command line)."
