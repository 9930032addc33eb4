"""Cells of a study: one setting in one repeat, known by a canonical name."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from evenhand.privacy.rational import as_text
from evenhand.report.language import LANGUAGES, written_in
from evenhand.report.words import epsilon_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

UNPROTECTED = "none"
"""The mechanism of a setting that protects nobody, and the value of an option that a setting lacks."""


@dataclass(frozen=True, order=False)
class Setting:
    """One way to protect the data, or :data:`UNPROTECTED`.

    Parameters
    ----------
    mechanism : str
        What protects: a protocol, a mechanism that publishes a table, a method of training, or ``"none"``.
    epsilon : Fraction, optional
        Privacy parameter of all that is known of one person; None where nothing is protected, and for a
        mechanism that has none.
    options : mapping
        What else tells settings of a study apart, in the names that its task has for it, such as
        ``{"strategy": "independent", "split": "uniform"}`` or ``{"threshold": 6}``. Values are plain: texts,
        numbers, true or false, lists and mappings of them.
    label : str
        How the task calls it, without epsilon. It is no part of what the setting is.

    Examples
    --------
    >>> setting = Setting("grr", Fraction(1, 2), {"split": "uniform"}, label="GRR, uniform split")
    >>> str(setting)
    'GRR, uniform split, ε = 0.5'
    >>> setting.option("split"), setting.option("strategy")
    ('uniform', 'none')
    >>> str(Setting())
    'unprotected'
    """

    mechanism: str = UNPROTECTED
    epsilon: Fraction | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""

    @property
    def is_protected(self) -> bool:
        """Return whether anything is protected."""
        return self.mechanism != UNPROTECTED

    def option(self, name: str, default: Any = UNPROTECTED) -> Any:
        """Return an option by name, or the default if the setting does not have it."""
        return self.options.get(name, default)

    @property
    def key(self) -> dict[str, Any]:
        """Return what the setting is, in JSON's types and in one order."""
        return {
            "mechanism": self.mechanism,
            "epsilon": None if self.epsilon is None else as_text(self.epsilon),
            "options": {name: self.options[name] for name in sorted(self.options)},
        }

    @cached_property
    def id(self) -> str:
        """The canonical name."""
        return canonical(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Setting) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __str__(self) -> str:
        if not self.is_protected:
            return "unprotected"
        words = [self.label or ", ".join([self.mechanism.upper(), *map(_in_words, self.options.items())])]
        if self.epsilon is not None:
            with written_in(LANGUAGES[0]):  # it is a name: the same on a page of any language
                words.append(f"ε = {epsilon_of(self.epsilon, digits=6)}")
        return ", ".join(words)


def _in_words(option: tuple[str, Any]) -> str:
    """Return an option so that settings which differ never read the same."""
    name, value = option
    if isinstance(value, str):
        return f"{value} {name}"
    return name if value is True else f"{name}={value}"


@dataclass(frozen=True)
class Cell:
    """A setting in one repeat: the smallest piece of a study, independent of all others.

    The split into training and test rows and the model's own randomness depend on the repeat alone, so that
    settings can be compared pair by pair; what is drawn to protect the data depends on the whole cell, see
    :func:`evenhand.study.plan.draw_text.draw_text`.

    Parameters
    ----------
    setting : Setting
    repeat : int
        From 0.

    Examples
    --------
    >>> Cell(Setting(), 3).id
    '{"epsilon":null,"mechanism":"none","options":{},"repeat":3}'
    """

    setting: Setting
    repeat: int

    @property
    def id(self) -> str:
        """The canonical name."""
        return canonical({**self.setting.key, "repeat": self.repeat})

    @classmethod
    def from_id(cls, text: str) -> Cell:
        """Return the cell of a canonical name; its setting has no label.

        >>> cell = Cell(Setting("grr", Fraction(1, 3), {"split": "uniform"}), 0)
        >>> Cell.from_id(cell.id) == cell
        True
        """
        key = json.loads(text)
        repeat = key.pop("repeat")
        epsilon = key.pop("epsilon")
        return cls(Setting(epsilon=None if epsilon is None else Fraction(epsilon), **key), repeat)


def page_setting(settings: Sequence[Setting]) -> Setting:
    """Return the setting that a page is about: of the epsilons nearest to 1, the first that is named.

    It is fixed before results are seen. Of two epsilons as near, it is the smaller.
    """

    def distance(setting: Setting) -> tuple[float, float]:
        epsilon = math.inf if setting.epsilon is None else float(setting.epsilon)
        return (abs(math.log(epsilon)) if 0 < epsilon < math.inf else math.inf, epsilon)

    return min(settings, key=distance)  # the first of those that are as near


def canonical(value: Any) -> str:
    """Return the one JSON text of a value: keys in order, no spaces, ASCII only, no NaN.

    >>> canonical({"b": [1, 2.5], "a": None})
    '{"a":null,"b":[1,2.5]}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
