"""Settings of mechanisms that publish a table, for the tasks that try them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.release.mechanisms.registry import MECHANISMS, TableMechanism
from evenhand.study.plan.cells import Setting

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from evenhand.privacy.laws import Law
    from evenhand.release.mechanisms.mechanism import ReleaseMechanism

UNITS = ("replace one", "add or remove one")
"""What may change between two tables that nobody can tell apart."""

NO_GUARANTEE = 0.01
"""From this delta on a release has no meaningful guarantee, whatever its epsilon."""

JOIN, NO_STEPS = "+", "none"
"""Between steps of post-processing in a setting, and where a setting has none."""

BLANKS_READ_AS = "half-threshold"
"""The fill with which a study reads suppressed cells of a mechanism that can fill them, unless a plan names
one: a study needs numbers where a release has none."""


def title_of(name: str) -> str:
    """Return how a mechanism is called in a sentence.

    >>> title_of("k-anonymity"), title_of("grr")
    ('k-anonymity', 'GRR')
    """
    return MECHANISMS[name].label if name in MECHANISMS else name.upper()


def table_setting(
    mechanism: TableMechanism, epsilon: Fraction | None = None, *, post: str | None = None
) -> Setting:
    """Return the setting of a mechanism, with post-processing of its own if there is any.

    >>> str(table_setting(TableMechanism("suppression")))
    'Suppression, threshold=6'
    """
    options = {**mechanism.parameters, **({} if post is None else {"post": post})}
    words = [title_of(mechanism.name), *parameter_words(options)]
    return Setting(mechanism.name, epsilon, options, label=", ".join(words))


def parameter_words(parameters: Mapping[str, Any]) -> list[str]:
    """Return parameters in words, so that settings which differ never read the same."""
    return [name if value is True else f"{name}={value}" for name, value in sorted(parameters.items())]


def reads_blanks(setting: Setting) -> bool:
    """Return whether a study puts numbers of its own into suppressed cells, which a release leaves blank.

    >>> reads_blanks(Setting("suppression")), reads_blanks(Setting("suppression", options={"fill": "zero"}))
    (True, False)
    """
    return "fill" in MECHANISMS[setting.mechanism].parameter_names() and "fill" not in setting.options


def build_mechanism(setting: Setting, *, unit: str) -> ReleaseMechanism:
    """Return the mechanism of a setting, with numbers in its suppressed cells where it can fill them."""
    options = {name: value for name, value in setting.options.items() if name != "post"}
    if reads_blanks(setting):
        options["fill"] = BLANKS_READ_AS
    return TableMechanism(setting.mechanism, options).build(epsilon=setting.epsilon, unit=unit)


def noise_exceeds(law: Law, chance: float = 0.05) -> int:
    """Return the least whole number that noise of a law exceeds with at most this chance.

    >>> from evenhand.privacy.laws import DiscreteLaplace
    >>> noise_exceeds(DiscreteLaplace(2))
    5
    """
    places = np.arange(math.ceil(law.standard_deviation / math.sqrt(chance)) + 2)  # by Chebyshev it is there
    return int(np.argmax(law.sf(places) <= chance))
