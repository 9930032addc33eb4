"""Noise and steps in words, as they stand beside a result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand._notes import Note
from evenhand.privacy.laws import DiscreteLaplace, Laplace
from evenhand.privacy.rational import exact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.privacy.laws import Law

__all__ = ["law_words", "noise_words", "total_notes"]

_UNLIKELY = 1e-6  # probabilities of a total of 0 or less that are not worth a note
_TITLES = {
    "DiscreteGaussian": "discrete Gaussian",
    "DiscreteLaplace": "discrete Laplace",
    "Gaussian": "Gaussian",
    "Laplace": "Laplace",
}


def total_notes(probability: float, how: str, law: Law) -> tuple[Note, ...]:
    """Return what has to be said about a noisy total that may be 0 or less; nothing if that is unlikely.

    >>> total_notes(0.31, "by a Fourier sum", DiscreteLaplace(2))[0][:76]
    'The noisy total is 0 or less with probability 0.31 (by a Fourier sum), where'
    """
    if probability < _UNLIKELY:
        return ()
    what = "principal values" if law.support == "reals" else "means in which a total of 0 counts as no error"
    likely = f"The noisy total is 0 or less with probability {probability:.2g}{f' ({how})' if how else ''}"
    return (Note("total", f"{likely}, where shares mean nothing; the figures are {what}."),)


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
