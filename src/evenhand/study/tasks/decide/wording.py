"""How a report on decisions words things: money, shares, chances, the entities and the settings."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evenhand.report.marks import Axis
from evenhand.report.words import MINUS, epsilon_words, number
from evenhand.study.page.wording import counted, plain
from evenhand.study.tasks.decide.methods import noise_parameters, way_of, way_title
from evenhand.study.tasks.shared.wording import mechanism_name as mechanism_of_a_release

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.study.plan.cells import Setting

__all__ = ["Amounts", "Noun", "chance_text", "few_text", "mechanism_name", "noun_of", "setting_words"]

_LARGE = ((1e9, "billion", 2), (1e6, "million", 1))
_LEAST = 1e-6
_UNFIT = frozenset({"name", "names", "id", "label", "title", "geoid", "fips", "code", "place", "region"})


@dataclass(frozen=True)
class Noun:
    """What the entities are called.

    >>> noun_of("county").count(3), noun_of("Agency Name").many
    ('3 counties', 'entities')
    """

    one: str = "entity"
    many: str = "entities"

    def count(self, number: int) -> str:
        """Return how many there are."""
        return counted(number, self.one, self.many)


def noun_of(column: str | None) -> Noun:
    """Return the name of the column with names as a noun, where it is one plain word."""
    word = (column or "").strip()
    if not re.fullmatch(r"[a-z]{3,20}", word) or word in _UNFIT:
        return Noun()
    if re.search(r"[^aeiou]y$", word):
        return Noun(word, f"{word[:-1]}ies")
    return Noun(word, f"{word}es" if re.search(r"(?:s|x|z|ch|sh)$", word) else f"{word}s")


@dataclass(frozen=True)
class Amounts:
    """Amounts of an allotment in words: money, or shares of the budget where there is none.

    Parameters
    ----------
    currency : str
        A sign that stands before an amount, or a word that follows it.
    in_money : bool
        Whether there is a budget.

    Examples
    --------
    >>> dollars = Amounts("$", in_money=True)
    >>> dollars.text(72_310_000), dollars.text(-4.2, sign=True), dollars.text(0.00312)
    ('$72.3 million', '−$4.20', '$0.0031')
    >>> Amounts("EUR", in_money=True).text(1234.6), Amounts("$", in_money=False).text(0.000012)
    ('1,235 EUR', '0.0012% of the budget')
    """

    currency: str
    in_money: bool

    def text(self, value: float, *, sign: bool = False) -> str:
        """Return an amount."""
        if not math.isfinite(value):
            return "unknown"
        if not self.in_money:
            digits = _digits(100 * value)
            return f"{number(100 * value, digits, sign=sign)}% of the budget"
        if 0 < abs(value) < _LEAST:
            return f"less than {self.text(math.copysign(_LEAST, value), sign=sign)}"
        shown = _money(abs(value))
        before = MINUS if value < 0 and _shows(shown) else "+" if sign and value > 0 and _shows(shown) else ""
        if re.fullmatch(r"\w{2,}.*", self.currency):
            return f"{before}{shown} {self.currency}"
        return f"{before}{self.currency}{shown}"

    def at_most(self, value: float) -> str:
        """Return an amount that something is below; tiny ones are raised to the smallest that is shown."""
        return self.text(max(value, _LEAST) if self.in_money and value > 0 else value)

    def axis(self, title: str, values: Iterable[float]) -> Axis:
        """Return the axis of a chart on which the largest of some amounts has few figures."""
        largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
        if not self.in_money:
            return Axis(title, "% of the budget", 100.0)
        for least, word, _ in (*_LARGE, (1e4, "thousand", 1)):
            if largest >= least:
                return Axis(
                    title, f"{self.currency} {word}", 1000.0 / 1e6 if word == "thousand" else 1 / least
                )
        return Axis(title, self.currency)

    @classmethod
    def of(cls, currency: str, budget: float | None) -> Amounts:
        """Return how the amounts of a budget are worded, or of shares where there is none."""
        return cls(plain(currency), in_money=budget is not None)


def _money(value: float) -> str:
    for least, word, digits in _LARGE:
        if value >= least:
            return f"{value / least:,.{digits}f} {word}"
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:,.2f}" if value >= 0.1 or value == 0 else f"{value:,.{_digits(value)}f}"


def _digits(value: float) -> int:
    """Return how many digits show at least two figures of a small number."""
    size = abs(value)
    if size >= 1 or size == 0:
        return 1 if size else 0
    return min(1 - math.floor(math.log10(size)), 12)


def _shows(text: str) -> bool:
    return any(figure in text for figure in "123456789")


def chance_text(value: float) -> str:
    """Return a chance in percent.

    >>> chance_text(0.4216), chance_text(0.00004), chance_text(0.0)
    ('42.2%', '0.004%', '0%')
    """
    if not math.isfinite(value):
        return "unknown"
    if value == 0:
        return "0%"
    if value < 1e-7:
        return "less than 0.00001%"
    return f"{number(100 * value, max(1, _digits(100 * value) - 1))}%"


def few_text(value: float) -> str:
    """Return an expected number of entities or people: whole from a hundred on, else with one or two figures.

    What is smaller than chances are computed to is not spelled out.

    >>> few_text(5.147), few_text(1234.6), few_text(0.0042), few_text(0.0), few_text(9e-12)
    ('5.1', '1,235', '0.0042', '0', 'less than 0.000001')
    """
    if not math.isfinite(value):
        return "unknown"
    if value >= 100 or value == 0:
        return number(value, 0)
    return number(value, _digits(value)) if abs(value) >= _LEAST else f"less than {_LEAST:f}"


# --- settings -------------------------------------------------------------------------------------


def mechanism_name(setting: Setting) -> str:
    """Return the mechanism with its own parameters."""
    return mechanism_of_a_release(replace(setting, options=noise_parameters(setting)))


def setting_words(setting: Setting) -> str:
    """Return a setting as in a sentence.

    >>> from fractions import Fraction
    >>> from evenhand.study.plan.cells import Setting
    >>> setting_words(Setting("laplace", Fraction(1, 10), options={"post": "nonnegative"}))
    'Laplace noise at ε = 0.1, negatives set to 0'
    """
    words = mechanism_name(setting)
    if setting.epsilon is not None:
        words = f"{words} at {epsilon_words(setting.epsilon)}"
    if way_of(setting) == ((), None):
        return words
    way = way_title(setting)
    return f"{words}, {way[:1].lower()}{way[1:]}"
