"""The three sentences of a study: what protection costs, what happens to the gap, and what to choose.

Each number is computed from the results and each comparative word rests on an interval: where it leaves
room for no difference, the sentence is another one. Which setting the sentences are about, and how rivals are
compared, stands in :mod:`evenhand.study.tasks.collect.page.reading`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.study.tasks.collect.page.accuracy import accuracy_answer
from evenhand.study.tasks.collect.page.choice import choice_answer
from evenhand.study.tasks.collect.page.gap import gap_answer
from evenhand.study.tasks.collect.page.reading import read

if TYPE_CHECKING:
    from evenhand.study.results.results import Results

__all__ = ["answers"]


def answers(results: Results, *, chosen: object = None) -> tuple[str, str, str]:
    """Return the three sentences of a report and of the terminal.

    Parameters
    ----------
    results : Results
    chosen : Setting, mapping or str, optional
        The protected setting that they are about, as in :meth:`Results.setting`; by default the one that a
        rule finds (:mod:`evenhand.study.tasks.collect.page.reading`).

    Returns
    -------
    tuple of three str
        ``**bold**`` is the finding itself. There may be more than one full stop in a sentence.

    Examples
    --------
    >>> from evenhand.study import Classify, Collect, DataSource, Plan
    >>> from evenhand.study.run.whole import run
    >>> data = DataSource(dataset="causal", options={"n": 300})
    >>> plan = Plan(data=data, collect=Collect("grr", 1), task=Classify(model="logistic"), repeats=1)
    >>> answers(run(plan, workers=1, progress=False))[2]
    '**No recommendation: one setting was tested.** Try other protocols, splits or values of ε to have ...'
    """
    if results.plan.task.kind == "release":
        from evenhand.study.tasks.release.answers import release_answers  # noqa: PLC0415 - only where it is the task

        return release_answers(results, chosen=chosen)
    if results.plan.task.kind == "decide":
        from evenhand.study.tasks.decide.answers import decision_answers  # noqa: PLC0415 - only where it is the task

        return decision_answers(results, chosen=chosen)
    if results.plan.task.kind == "learn":
        from evenhand.study.tasks.learn.answers import learning_answers  # noqa: PLC0415 - only where it is the task

        return learning_answers(results, chosen=chosen)
    reading = read(results, chosen=chosen)
    return accuracy_answer(reading), gap_answer(reading), choice_answer(reading)
