"""Steps of post-processing by name, as plans write them: ``nonnegative``, ``sum_to=5000``, ``shrink=0.8``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand._registry import Registry
from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.release.postprocess.steps import Step

STEPS: Registry[type[Step]] = Registry(
    {
        "nonnegative": "evenhand.release.postprocess.steps:Nonnegative",
        "integral": "evenhand.release.postprocess.steps:Integral",
        "sum_to": "evenhand.release.postprocess.steps:SumTo",
        "nonnegative_sum_to": "evenhand.release.postprocess.steps:SumTo",
        "keep_sums": "evenhand.release.postprocess.sums:KeepSums",
        "cut": "evenhand.release.postprocess.steps:Cut",
        "shrink": "evenhand.release.postprocess.steps:Shrink",
    }
)
"""The class of each step by the name that plans write; a total is public, never one read from the rows."""


def step_forms() -> tuple[str, ...]:
    """Return how each step is written.

    >>> step_forms()  # doctest: +NORMALIZE_WHITESPACE
    ('nonnegative', 'integral', 'sum_to=TOTAL', 'nonnegative_sum_to=TOTAL', 'keep_sums=COLUMNS', 'cut=MOST',
     'shrink=T')
    """
    return tuple(f"{name}={step.amount}" if step.amount else name for name, step in STEPS.items())


def checked_step(step: object, *, owner: str = "ReleaseTask") -> str:
    """Return a step as a plan writes it, or refuse it.

    >>> checked_step(" sum_to = 5000 ")
    'sum_to=5000'
    """
    name, equals, amount = step.partition("=") if isinstance(step, str) else ("", "", "")
    name = name.strip().replace("-", "_")
    if name in STEPS and bool(equals) == bool(STEPS[name].amount):
        if not equals:
            return name
        text = STEPS[name].checked_text(amount.strip(), owner=owner)
        if text is not None:
            return f"{name}={text}"
    must_be = f"steps of {', '.join(step_forms())}"
    raise InvalidParameterError("post", owner=owner, must_be=must_be, got=step)


def steps_of(names: Sequence[str]) -> list[Step]:
    """Return the steps themselves, in order, from checked texts."""
    return [
        STEPS[name].from_text(name, amount) for name, _, amount in (text.partition("=") for text in names)
    ]
