"""From what a person types to the setting that is meant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from evenhand.errors import EvenhandError, InvalidParameterError
from evenhand.privacy.rational import exact
from evenhand.report.words import epsilon_of
from evenhand.study.plan.cells import Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["setting_of"]

_FIELDS = ("protocol", "epsilon", "split", "strategy", "parameters")
_PLAIN_WORDS = frozenset({"split", "strategy", "protocol", "with"})
_EPSILON = frozenset({"ε", "eps", "epsilon"})
_SHOWN = 5


def setting_of(
    given: object, settings: Sequence[Setting], *, owner: str, parameter: str = "setting"
) -> Setting:
    """Return the one setting that fits.

    Parameters
    ----------
    given : Setting, mapping or str
        The setting itself; some of its fields; or words that name them in any order, as in
        ``"grr uniform 1"``. ``"unprotected"`` is the setting without protection. Where several settings
        differ in the parameters of the protocol only and none are named, the one without any is meant.

    Examples
    --------
    >>> settings = [Setting(), Setting("grr", Fraction(1, 2), "uniform", "independent")]
    >>> str(setting_of("GRR, uniform split, ε = 0.5", settings, owner="example"))
    'GRR, uniform split, ε = 0.5'
    >>> str(setting_of({"protocol": "none"}, settings, owner="example"))
    'unprotected'
    """
    if isinstance(given, Setting):
        fitting = [each for each in settings if each == given]
        shown: object = str(given)
    elif isinstance(given, Mapping):
        unknown = [key for key in given if key not in _FIELDS]
        if unknown:
            must_be = f"a mapping with keys of {', '.join(_FIELDS)}"
            raise InvalidParameterError(parameter, owner=owner, must_be=must_be, got=unknown[0])
        fitting = [each for each in settings if _fits(each, given)]
        shown = dict(given)
    elif isinstance(given, str):
        words = _words(given)
        fitting = [each for each in settings if words and all(_has(each, word) for word in words)]
        shown = repr(given)
    else:
        must_be = "a Setting, a mapping of some of its fields, or words such as 'grr uniform 1'"
        got = f"a value of type {type(given).__name__}"
        raise InvalidParameterError(parameter, owner=owner, must_be=must_be, got=got)
    return _only(fitting, settings, parameter=parameter, owner=owner, shown=shown)


def _only(
    fitting: list[Setting], settings: Sequence[Setting], *, parameter: str, owner: str, shown: object
) -> Setting:
    if len(fitting) > 1:
        plain = [each for each in fitting if not each.parameters]
        one = plain[0] if plain else None
        if one is not None and all({**each.key, "parameters": {}} == one.key for each in fitting):
            return one
        must_be = "one setting, not several"
        hint = f"these fit: {_listed(fitting)}."
        raise InvalidParameterError(parameter, owner=owner, must_be=must_be, got=shown, hint=hint)
    if not fitting:
        hint = f"there are: {_listed(settings)}."
        raise InvalidParameterError(
            parameter, owner=owner, must_be="a setting of the study", got=shown, hint=hint
        )
    return fitting[0]


def _listed(settings: Sequence[Setting]) -> str:
    named = [f"'{setting}'" for setting in settings[:_SHOWN]]
    more = [f"{len(settings) - _SHOWN} more"] if len(settings) > _SHOWN else []
    return "; ".join(named + more)


def _fits(setting: Setting, fields: Mapping[str, Any]) -> bool:
    return all(_equal(getattr(setting, key), value) for key, value in fields.items())


def _equal(held: Any, wanted: Any) -> bool:
    if isinstance(held, Fraction):  # a float may come from a frame, where 1/3 is one
        return held == _amount(wanted) or float(held) == wanted
    if isinstance(held, str) and isinstance(wanted, str):
        return held.casefold() == wanted.casefold()
    if isinstance(held, Mapping) and isinstance(wanted, Mapping):
        return dict(held) == dict(wanted)
    return held is None and wanted is None


def _amount(wanted: object) -> Fraction | None:
    try:
        return exact(wanted, name="epsilon", owner="setting_of")
    except EvenhandError:
        return None


def _words(text: str) -> list[str]:
    joined = re.sub(r"\s*([=+])\s*", r"\1", text.casefold())
    return [word for word in re.split(r"[,\s]+", joined) if word and word not in _PLAIN_WORDS]


def _has(setting: Setting, word: str) -> bool:
    if word in {"unprotected", "none"}:
        return not setting.is_protected
    name, equals, value = word.rpartition("=")
    if equals and name not in _EPSILON:
        if name in _FIELDS:
            return _equal(getattr(setting, name), value)
        held = {key.casefold(): str(each).casefold() for key, each in setting.parameters.items()}
        return held.get(name) == value
    amount = _amount(value)
    if amount is not None:  # the number itself, or as a setting is shown
        return setting.epsilon is not None and (
            setting.epsilon == amount
            or value in {f"{float(setting.epsilon):g}", epsilon_of(setting.epsilon, digits=6)}
        )
    switched_on = {key.casefold() for key, each in setting.parameters.items() if each is True}
    return value in {setting.protocol, setting.split, setting.strategy, *switched_on}
