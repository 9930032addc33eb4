"""What a study of classifiers has not tried, and the command that tests it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from evenhand.privacy.rational import as_text
from evenhand.study.page.comparing import ENOUGH_REPEATS
from evenhand.study.tasks.learn.methods import DEFAULT_METHODS, METHODS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evenhand.study.tasks.learn.reading import LearnReading

_COMMAND = "evenhand audit learn --plan plan.toml"
_LADDER = (Fraction(1), Fraction(3), Fraction(10))
"""Values of epsilon to try next; a larger one is for comparison only."""

_USUAL_REPEATS = 10


def untried_methods(reading: LearnReading) -> tuple[str, ...]:
    """Return the methods with privacy that the study does not have, by name."""
    tried = set(reading.task.methods)
    return tuple(name for name in DEFAULT_METHODS if METHODS[name].takes_epsilon and name not in tried)


def next_step(reading: LearnReading, key: str, *, recommended: Fraction | None = None) -> tuple[str, str]:
    """Return what to try next after the answer `key`, in words and as a command; two empty texts if nothing.

    What was not tried comes first: other methods, then another epsilon, which is smaller where the smallest
    so far is `recommended` or costs nobody accuracy. Where all was tried, more repeats tell more.
    """
    if key in {"no_model", "too_few"}:
        return "", ""
    if key == "not_done":
        return "", _COMMAND
    if key in {"repeats", "unproved"}:
        return "", f"{_COMMAND} --repeats {max(_USUAL_REPEATS, 2 * reading.repeats * (key == 'unproved'))}"
    steps = (_other_methods, _larger_epsilon)
    smallest = min(reading.task.epsilons)
    if key == "nothing_works":
        steps = (_larger_epsilon, _other_methods)
    if key == "smaller" and recommended == smallest:
        steps = (_smaller_epsilon, _other_methods)
    if key in {"best", "alike"} and reading.chosen.epsilon == smallest and not reading.pays():
        steps = (_other_methods, _smaller_epsilon)
    found = (step(reading) for step in steps)
    return next((step for step in found if step is not None), _more_repeats(reading))


def _other_methods(reading: LearnReading) -> tuple[str, str] | None:
    names = untried_methods(reading)
    private, void = (
        [METHODS[name].title for name in names if METHODS[name].voids == voids] for voids in (0, 1)
    )
    if not private:
        return None
    words = reading.sentences.say(f"next.methods{'_void' * bool(void)}", methods=private, void=void)
    return words, with_methods(reading, names)


def with_methods(reading: LearnReading, names: Sequence[str]) -> str:
    """Return the command that compares more methods, those of the study among them."""
    methods = ",".join(name for name in METHODS if name in {*reading.task.methods, *names})
    return f"{_COMMAND} --methods {methods}"


def _larger_epsilon(reading: LearnReading) -> tuple[str, str] | None:
    tested = reading.task.epsilons
    larger = next((epsilon for epsilon in _LADDER if epsilon > max(tested)), None)
    if larger is None:
        return None
    return reading.sentences.say("next.larger"), _with_epsilons((*tested, larger))


def _smaller_epsilon(reading: LearnReading) -> tuple[str, str]:
    tested = reading.task.epsilons
    return reading.sentences.say("next.smaller"), _with_epsilons((min(tested) / 2, *tested))


def _with_epsilons(epsilons: Iterable[Fraction]) -> str:
    return f"{_COMMAND} --epsilon {','.join(as_text(epsilon) for epsilon in sorted(epsilons))}"


def _more_repeats(reading: LearnReading) -> tuple[str, str]:
    repeats = max(2 * reading.repeats, ENOUGH_REPEATS)
    return reading.sentences.say("next.repeats"), f"{_COMMAND} --repeats {repeats}"
