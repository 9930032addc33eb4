"""Noise and steps in words, as they stand beside a result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.privacy.laws import DiscreteLaplace, Laplace
from evenhand.privacy.rational import exact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.privacy.laws import Law

__all__ = ["law_words", "noise_words"]

_TITLES = {
    "DiscreteGaussian": "discrete Gaussian",
    "DiscreteLaplace": "discrete Laplace",
    "Gaussian": "Gaussian",
    "Laplace": "Laplace",
}


def law_words(law: Law) -> str:
    """Return a law in words.

    >>> law_words(DiscreteLaplace("5/2"))
    'discrete Laplace, scale 2.5'
    """
    title = _TITLES.get(type(law).__name__, type(law).__name__)
    if isinstance(law, DiscreteLaplace | Laplace):
        return f"{title}, scale {float(exact(law.scale, name='scale', owner='law_words')):.6g}"
    return f"{title}, standard deviation {law.standard_deviation:.6g}"


def noise_words(laws: Mapping[str, Law], steps: Mapping[str, tuple[Any, ...]]) -> str:
    """Return the noise on every input and what is done to it then, in one line.

    >>> noise_words({"s": Laplace(2), "sp": Laplace(2)}, {"s": (), "sp": ()})
    'Laplace, scale 2'
    >>> noise_words({"s": Laplace(2), "sp": Laplace(3)}, {"s": (), "sp": ()})
    's: Laplace, scale 2; sp: Laplace, scale 3'
    """
    told = {}
    for name, law in laws.items():
        done = "".join(f", then {step.words}" for step in steps[name])
        told[name] = f"{law_words(law)}{done}"
    if len(set(told.values())) == 1:
        return next(iter(told.values()))
    return "; ".join(f"{name}: {words}" for name, words in told.items())
