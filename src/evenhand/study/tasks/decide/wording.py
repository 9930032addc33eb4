"""How a report on decisions writes things: money, shares, chances, the entities and the settings."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from evenhand.report.marks import Axis
from evenhand.report.words import MINUS, epsilon_words, number, plain
from evenhand.study.page.catalogue import catalogue
from evenhand.study.page.wording import counted
from evenhand.study.tasks.decide.methods import method_of, method_title, noise_parameters
from evenhand.study.tasks.shared.wording import mechanism_name as mechanism_of_a_release

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.study.page.catalogue import Catalogue
    from evenhand.study.plan.cells import Setting

PACKAGE = "evenhand.study.tasks.decide"
"""Where the folder with the sentences stands."""

LEAST_CHANCE = 1e-7
"""A chance below this is only said to be less."""

_LARGE = ((1e9, "billion", 2), (1e6, "million", 1))
_LEAST_SHARE = 1e-9
_RAREST = 1e-6
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
    smallest : float
        The smallest amount that anybody can be paid; shares are told down to a billionth of the budget.
    language : str

    Examples
    --------
    >>> dollars = Amounts("$", in_money=True)
    >>> dollars.text(72_310_000), dollars.text(-4.2, sign=True), dollars.text(0.00312)
    ('$72.3 million', '−$4.20', 'less than $0.01')
    >>> Amounts("EUR", in_money=True).text(1234.6), Amounts("$", in_money=False).text(0.000012)
    ('1,235 EUR', '0.0012% of the budget')
    """

    currency: str
    in_money: bool
    smallest: float = 0.01
    language: str = "en"

    @classmethod
    def of(cls, task: Any, *, language: str = "en") -> Self:
        """Return how the amounts of a task are worded."""
        in_money = task.budget is not None
        return cls(plain(task.currency), in_money, smallest=task.smallest, language=language)

    @property
    def least(self) -> float:
        """The smallest amount that is one."""
        return self.smallest if self.in_money else _LEAST_SHARE

    def is_none(self, value: float) -> bool:
        """Return whether an amount is below the smallest that anybody can be paid."""
        return abs(value) < self.least

    def is_never_paid(self, value: float) -> bool:
        """Return whether nobody can be paid an amount; a share of a budget that is not named may be any."""
        return self.is_none(value) if self.in_money else value == 0

    def round_to_smallest(self, value: float) -> float:
        """Return an amount as a chart draws it: 0 where nobody can be paid so little."""
        return 0.0 if self.is_none(value) else value

    def text(self, value: float, *, sign: bool = False) -> str:
        """Return an amount with its unit."""
        say = catalogue(PACKAGE, self.language).say
        if not math.isfinite(value):
            return say("number.unknown")
        if value and self.is_none(value):
            return say("number.less", amount=self.text(self.least))
        if not self.in_money:
            return say("number.of_budget", share=number(100 * value, _digits(100 * value), sign=sign))
        shown = self._money(abs(value))
        before = MINUS if value < 0 else "+" if sign and value > 0 else ""
        if re.fullmatch(r"\w{2,}.*", self.currency):
            return f"{before}{shown} {self.currency}"
        return f"{before}{self.currency}{shown}"

    def at_most(self, value: float) -> str:
        """Return an amount that something is below, never less than the smallest."""
        return self.text(max(value, self.least))

    def axis(self, title: str, values: Iterable[float]) -> Axis:
        """Return the axis of a chart on which the largest of some amounts has few figures."""
        say = catalogue(PACKAGE, self.language).say
        largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
        if not self.in_money:
            return Axis(title, say("number.of_budget", share="").strip(), 100.0)
        for least, word in (*((least, word) for least, word, _ in _LARGE), (1e4, "thousand")):
            if largest >= least:
                times = 1e-3 if word == "thousand" else 1 / least
                return Axis(title, f"{self.currency} {say(f'number.{word}')}", times)
        return Axis(title, self.currency)

    def _money(self, value: float) -> str:
        for least, word, digits in _LARGE:
            if value >= least:
                return (
                    f"{value / least:,.{digits}f} {catalogue(PACKAGE, self.language).say(f'number.{word}')}"
                )
        return f"{value:,.0f}" if value >= 100 else f"{value:,.{max(2, _digits(self.smallest) - 1)}f}"


def _digits(value: float) -> int:
    """Return how many digits show at least two figures of a small number."""
    size = abs(value)
    if size >= 1 or size == 0:
        return 1 if size else 0
    return min(1 - math.floor(math.log10(size)), 12)


def chance_text(value: float, sentences: Catalogue | None = None) -> str:
    """Return a chance in percent.

    >>> chance_text(0.4216), chance_text(0.00004), chance_text(0.0)
    ('42.2%', '0.004%', '0%')
    """
    say = (sentences or catalogue(PACKAGE)).say
    if not math.isfinite(value):
        return say("number.unknown")
    if value == 0:
        return say("number.percent", share="0")
    if value < LEAST_CHANCE:
        return say("number.less", amount=say("number.percent", share="0.00001"))
    return say("number.percent", share=number(100 * value, max(1, _digits(100 * value) - 1)))


def odds_text(value: float, sentences: Catalogue | None = None, *, form: str = "of", base: int = 100) -> str:
    """Return a share below 1 as so many of a hundred, or of a thousand and so on where it is smaller.

    >>> odds_text(0.07), odds_text(0.0042), odds_text(0.0), odds_text(0.02, base=1000)
    ('7 of 100', '4 of 1,000', '0 of 100', '20 of 1,000')
    """
    say = (sentences or catalogue(PACKAGE)).say
    if 0 < value < _RAREST:
        return say(f"number.fewer_{form}", base=round(1 / _RAREST))
    base = odds_base(value, base)
    return say(f"number.{form}", count=round(value * base), base=base)


def odds_base(value: float, base: int = 100) -> int:
    """Return of how many a share is at least one: a hundred, a thousand and so on.

    >>> odds_base(0.07), odds_base(0.0042), odds_base(3.5, 1)
    (100, 1000, 1)
    """
    while value >= _RAREST and value * base < 0.95:
        base *= 10
    return base


def few_text(value: float, sentences: Catalogue | None = None) -> str:
    """Return an expected number of entities: below 1, in how many releases it is one.

    >>> few_text(5.147), few_text(1234.6), few_text(0.0042), few_text(0.0)
    ('5.1', '1,235', '4 in 1,000 releases', '0')
    """
    if not math.isfinite(value):
        return (sentences or catalogue(PACKAGE)).say("number.unknown")
    if value >= 100 or value == 0:
        return number(value, 0)
    return number(value, 1) if round(value, 2) >= 1 else odds_text(value, sentences, form="in")


def people_text(value: float, sentences: Catalogue | None = None) -> str:
    """Return an expected number of people.

    It is no share of releases where it is below 1, for all people of a place lose a right together.

    >>> people_text(5.147), people_text(0.0042), people_text(1e-9), people_text(0.0)
    ('5.1', '0.004', 'less than 0.000001', '0')
    """
    if not 0 < value < 1:
        return few_text(value, sentences)
    if value < _RAREST:
        return (sentences or catalogue(PACKAGE)).say("number.less", amount=f"{_RAREST:f}")
    return number(value, max(1, -math.floor(math.log10(value))))


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
    say, words = catalogue(PACKAGE).say, mechanism_name(setting)
    if setting.epsilon is not None:
        words = say("setting.at", mechanism=words, at=epsilon_words(setting.epsilon))
    if method_of(setting) == ((), None):
        return words
    method = method_title(setting)
    return say("setting.method", setting=words, method=f"{method[:1].lower()}{method[1:]}")
