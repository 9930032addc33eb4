"""From what a person types to the setting or the measure that is meant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from evenhand._validate import kind_of, one_of, refuse
from evenhand.errors import EvenhandError, InvalidParameterError
from evenhand.privacy.rational import exact
from evenhand.report.words import epsilon_of
from evenhand.study.plan.cells import Setting

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_ALIASES = {"accuracy": "acc", "gap": "sp_gap"}
"""Other names by which a measure may be asked for."""

_FIELDS = ("mechanism", "epsilon")
_PLAIN_WORDS = frozenset({"mechanism", "protocol", "strategy", "split", "with"})
_EPSILON = frozenset({"ε", "eps", "epsilon"})
_SHOWN = 5


def setting_of(
    given: object,
    settings: Sequence[Setting],
    *,
    owner: str,
    parameter: str = "setting",
    remedies: Collection[Setting] = (),
) -> Setting:
    """Return the one setting that fits.

    Parameters
    ----------
    given : Setting, mapping or str
        The setting itself; its mechanism, epsilon and options, or some of them; or words that name them in
        any order, as in ``"grr uniform 1"``. ``"unprotected"`` is the setting without protection. Where
        several fit and all have the options of one of them and further ones, this one is meant.
    remedies : collection of Setting
        Those of the settings that nobody asked for: they are meant only if no other fits.

    Examples
    --------
    >>> settings = [Setting(), Setting("grr", Fraction(1, 2), {"split": "uniform"})]
    >>> str(setting_of("GRR, uniform split, ε = 0.5", settings, owner="example"))
    'GRR, uniform split, ε = 0.5'
    >>> str(setting_of({"mechanism": "none"}, settings, owner="example"))
    'unprotected'
    """
    if isinstance(given, Setting):
        fitting = [setting for setting in settings if setting == given]
        shown: object = str(given)
    elif isinstance(given, Mapping):
        known = dict.fromkeys((*_FIELDS, *(name for setting in settings for name in setting.options)))
        unknown = [key for key in given if key not in known]
        if unknown:
            refuse(parameter, owner, f"a mapping with keys of {', '.join(known)}", unknown[0])
        fitting = [setting for setting in settings if _fits(setting, given)]
        shown = dict(given)
    elif isinstance(given, str):
        words = _words(given)
        fitting = [setting for setting in settings if words and all(_has(setting, word) for word in words)]
        shown = repr(given)
    else:
        must_be = "a Setting, a mapping of some of its fields, or words such as 'grr uniform 1'"
        refuse(parameter, owner, must_be, kind_of(given))
    fitting = [setting for setting in fitting if setting not in remedies] or fitting
    return _only(fitting, settings, parameter=parameter, owner=owner, shown=shown)


def _only(
    fitting: list[Setting], settings: Sequence[Setting], *, parameter: str, owner: str, shown: object
) -> Setting:
    least = min(fitting, key=lambda setting: len(setting.options), default=None)
    if least is not None and all(_extends(setting, least) for setting in fitting if setting is not least):
        return least
    must_be, hint = "one setting, not several", f"these fit: {_listed(fitting)}."
    if not fitting:
        must_be, hint = "a setting of the study", f"there are: {_listed(settings)}."
    raise InvalidParameterError(parameter, owner=owner, must_be=must_be, got=shown, hint=hint)


def _listed(settings: Sequence[Setting]) -> str:
    named = [f"'{setting}'" for setting in settings[:_SHOWN]]
    more = [f"{len(settings) - _SHOWN} more"] if len(settings) > _SHOWN else []
    return "; ".join(named + more)


def _extends(setting: Setting, other: Setting) -> bool:
    """Return whether a setting is another one with further options."""
    same = (setting.mechanism, setting.epsilon) == (other.mechanism, other.epsilon)
    more = len(setting.options) > len(other.options)
    return same and more and all(setting.option(name) == value for name, value in other.options.items())


def _fits(setting: Setting, fields: Mapping[str, Any]) -> bool:
    held = {"mechanism": setting.mechanism, "epsilon": setting.epsilon}
    return all(_equal(held.get(key, setting.option(key)), value) for key, value in fields.items())


def _equal(held: Any, wanted: Any) -> bool:
    if isinstance(held, Fraction):  # a float may come from a frame, where 1/3 is one
        return held == _amount(wanted) or float(held) == wanted
    if isinstance(held, str) and isinstance(wanted, str):
        return held.casefold() == wanted.casefold()
    if isinstance(held, Mapping) and isinstance(wanted, Mapping):
        return dict(held) == dict(wanted)
    if isinstance(held, bool) or isinstance(wanted, bool):
        return held is wanted
    return bool(held == wanted)


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
        held = {"mechanism": setting.mechanism, **_flat(setting.options)}
        return any(key.casefold() == name and str(option).casefold() == value for key, option in held.items())
    amount = _amount(value)
    if amount is not None:  # the number itself, or as a setting is shown
        return setting.epsilon is not None and (
            setting.epsilon == amount
            or value in {f"{float(setting.epsilon):g}", epsilon_of(setting.epsilon, digits=6)}
        )
    options = _flat(setting.options)
    switched_on = {key.casefold() for key, option in options.items() if option is True}
    texts = {option.casefold() for option in options.values() if isinstance(option, str)}
    return value in {setting.mechanism, *texts, *switched_on}


def _flat(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options by name, with those inside of a mapping."""
    inner = {
        key: part for value in options.values() if isinstance(value, Mapping) for key, part in value.items()
    }
    return {**inner, **options}


def measure_named(name: object, known: Collection[str], *, parameter: str, owner: str) -> str:
    """Return the measure that a name or another name stands for.

    >>> measure_named("accuracy", ["acc", "sp_gap"], parameter="x", owner="frontier")
    'acc'
    """
    asked = _ALIASES.get(name, name) if isinstance(name, str) else name
    if asked in known:
        return str(asked)
    spelled = [*(alias for alias, meant in _ALIASES.items() if meant in known), *known]
    return one_of(parameter, name, spelled, owner=owner)
