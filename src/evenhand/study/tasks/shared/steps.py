"""Post-processing as a plan names it: ``nonnegative``, ``integral``, ``sum_to=5000``, ``shrink=0.8``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import exact
from evenhand.release import postprocess

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["STEPS", "checked_step", "steps_of"]

STEPS = ("nonnegative", "integral", "sum_to=TOTAL", "nonnegative_sum_to=TOTAL", "shrink=T")
"""The steps by name; a total is public, never one that was read from the rows."""

_WHOLE = ("sum_to", "nonnegative_sum_to")
_PLAIN = ("nonnegative", "integral")
_LARGEST_TOTAL = 2**53  # larger ones are not all numbers of a computer
_LARGEST_SHRINK = 10**9


def checked_step(step: object) -> str:
    """Return a step as a plan writes it, or refuse it.

    >>> checked_step(" sum_to = 5000 ")
    'sum_to=5000'
    """
    name, equals, amount = step.partition("=") if isinstance(step, str) else ("", "", "")
    name, amount = name.strip().replace("-", "_"), amount.strip()
    if name in _PLAIN and not equals:
        return name
    if name in _WHOLE and amount.isascii() and amount.isdigit():
        total = exact(amount, name="post", owner="ReleaseTask", least=0, most=_LARGEST_TOTAL)
        return f"{name}={int(total)}"
    if name == "shrink" and equals:
        exact(amount, name="post", owner="ReleaseTask", above=0, most=_LARGEST_SHRINK)
        return f"{name}={amount}"
    must_be = f"steps of {', '.join(STEPS)}"
    raise InvalidParameterError("post", owner="ReleaseTask", must_be=must_be, got=step)


def steps_of(names: Sequence[str]) -> list[Any]:
    """Return the steps themselves, in order."""
    makers: dict[str, Callable[[str], Any]] = {
        "nonnegative": lambda _: postprocess.Nonnegative(),
        "integral": lambda _: postprocess.Integral(),
        "sum_to": lambda amount: postprocess.SumTo(int(amount)),
        "nonnegative_sum_to": lambda amount: postprocess.SumTo(int(amount), nonnegative=True),
        "shrink": lambda amount: postprocess.Shrink(float(exact(amount, name="post", owner="ReleaseTask"))),
    }
    return [makers[name](amount) for name, _, amount in (each.partition("=") for each in names)]
