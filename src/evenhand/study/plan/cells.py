"""Cells of a study: one mechanism, epsilon, split and strategy in one repeat, known by a canonical name."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from evenhand.privacy.rational import as_text
from evenhand.report.words import epsilon_of
from evenhand.study.tasks.learn.methods import WAYS
from evenhand.study.tasks.shared.table_mechanisms import title_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["UNPROTECTED", "Cell", "Setting"]

UNPROTECTED = "none"
"""The protocol, split and strategy of a cell that nothing protects."""


@dataclass(frozen=True, order=False)
class Setting:
    """One way to protect the data, or :data:`UNPROTECTED`.

    Parameters
    ----------
    protocol : str
        Name of a protocol, of a mechanism that publishes a table, of a way to train a classifier, or
        ``"none"``.
    epsilon : Fraction, optional
        Privacy parameter of a person's whole report, or of a published table; None where nothing is
        protected, and for a mechanism that has none.
    split, strategy : str
        How the budget is split and how several attributes are reported; ``"none"`` where there is nothing to
        split, as with the strategies ``"single"`` and ``"combined"``.
    parameters : mapping
        Further parameters of the protocol, such as ``{"as_printed": True}``.

    Examples
    --------
    >>> setting = Setting("grr", Fraction(1, 2), split="uniform", strategy="independent")
    >>> str(setting)
    'GRR, uniform split, ε = 0.5'
    >>> str(Setting())
    'unprotected'
    """

    protocol: str = UNPROTECTED
    epsilon: Fraction | None = None
    split: str = UNPROTECTED
    strategy: str = UNPROTECTED
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_protected(self) -> bool:
        """Whether anything is protected."""
        return self.protocol != UNPROTECTED

    @property
    def key(self) -> dict[str, Any]:
        """What the setting is, in JSON's types and in one order."""
        return {
            "protocol": self.protocol,
            "parameters": {name: self.parameters[name] for name in sorted(self.parameters)},
            "strategy": self.strategy,
            "split": self.split,
            "epsilon": None if self.epsilon is None else as_text(self.epsilon),
        }

    @property
    def id(self) -> str:
        """The canonical name."""
        return _canonical(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Setting) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __str__(self) -> str:
        if not self.is_protected:
            return "unprotected"
        words = [WAYS[self.protocol].title if self.protocol in WAYS else title_of(self.protocol)]
        for name, value in sorted(self.parameters.items()):  # settings that differ never read the same
            words.append(name if value is True else f"{name}={value}")
        words += [self.strategy] if self.strategy not in {UNPROTECTED, "independent"} else []
        words += [f"{self.split} split"] if self.split != UNPROTECTED else []
        words += [f"ε = {epsilon_of(self.epsilon, digits=6)}"] if self.epsilon is not None else []
        return ", ".join(words)


@dataclass(frozen=True)
class Cell:
    """A setting in one repeat: the smallest piece of a study, independent of all others.

    The split into training and test rows and the model's own randomness depend on the repeat alone, so that
    settings can be compared pair by pair; what is drawn to protect the data depends on the whole cell.

    Parameters
    ----------
    setting : Setting
    repeat : int
        From 0.

    Examples
    --------
    >>> Cell(Setting(), 3).id
    '{"epsilon":null,"parameters":{},"protocol":"none","repeat":3,"split":"none","strategy":"none"}'
    """

    setting: Setting
    repeat: int

    @property
    def id(self) -> str:
        """The canonical name, from which the seed of what is drawn derives."""
        return _canonical({**self.setting.key, "repeat": self.repeat})

    @classmethod
    def from_id(cls, text: str) -> Cell:
        """Return the cell of a canonical name.

        >>> cell = Cell(Setting("grr", Fraction(1, 3), "uniform", "independent"), 0)
        >>> Cell.from_id(cell.id) == cell
        True
        """
        key = json.loads(text)
        repeat = key.pop("repeat")
        epsilon = key.pop("epsilon")
        return cls(Setting(epsilon=None if epsilon is None else Fraction(epsilon), **key), repeat)


def _canonical(key: Mapping[str, Any]) -> str:
    return json.dumps(key, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
