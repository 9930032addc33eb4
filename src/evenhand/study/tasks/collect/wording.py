"""How a page on collection words settings: protocols with their parameters, splits and strategies."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evenhand.collect.protocols.registry import AUTO
from evenhand.report.language import language_now
from evenhand.report.words import LONGEST, epsilon_words, plain
from evenhand.study.page.catalogue import catalogue
from evenhand.study.plan.cells import UNPROTECTED
from evenhand.study.tasks.shared.protection import strategy_of
from evenhand.study.tasks.shared.report_settings import protocol_parameters

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.schema import Schema
    from evenhand.study.plan.cells import Setting

_NAME_DIGITS = 12
_PACKAGE = "evenhand.study.tasks.collect"
_SAMPLE = "sample"


def say_now(key: str, **slots: Any) -> str:
    """Return a sentence in the language that is being written."""
    return catalogue(_PACKAGE, language_now()).say(key, **slots)


def _say(key: str, **slots: Any) -> str:
    return say_now(f"setting.{key}", **slots)


def protocol_name(setting: Setting, *, auto: str = "") -> str:
    """Return the protocol, with its further parameters if it has any.

    Settings of one protocol have one name. People read `auto` in the place of ``"auto"``: what
    :func:`auto_name` says of the columns at hand.

    >>> from evenhand.study.tasks.shared.report_settings import report_setting
    >>> protocol_name(report_setting("olh", parameters={"as_printed": True}))
    'OLH (as printed)'
    """
    if not setting.is_protected:
        return _say("unprotected")
    if auto and setting.mechanism == AUTO:
        return auto
    switches = [
        name.replace("_", " ") if value is True else f"{name.replace('_', ' ')} {_value(value)}"
        for name, value in sorted(protocol_parameters(setting).items())
    ]
    if not switches:
        return setting.mechanism.upper()
    said = ", ".join(switches)
    shown = plain(said)
    if len(said) > LONGEST:  # settings that differ never read the same
        shown = f"{plain(said, longest=LONGEST - _NAME_DIGITS - 1)} {_digest(protocol_parameters(setting))}"
    return f"{setting.mechanism.upper()} ({shown})"


def auto_name(settings: Iterable[Setting], schema: Schema) -> str:
    """Return "auto" with the protocols that it is in these settings, for the columns of a schema.

    >>> from fractions import Fraction
    >>> import evenhand as eh
    >>> from evenhand.study.tasks.shared.report_settings import report_setting
    >>> schema = eh.datasets.load("causal", n=10).schema
    >>> auto_name([report_setting("auto", Fraction(1), "optimal", "independent")], schema)
    'AUTO (here GRR)'
    """
    chosen = {
        protocol.name.upper()
        for setting in settings
        if setting.mechanism == AUTO
        for protocol in strategy_of(setting, schema).protocols.values()
    }
    return _say("auto", here=sorted(chosen)) if chosen else ""


def _value(value: object) -> str:
    """Return a parameter in a few words; a table is known by digits of its hash, so many that none share."""
    return _say("given", digits=_digest(value)) if isinstance(value, Mapping) else str(value)


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=dict)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:_NAME_DIGITS]


def way_name(setting: Setting, *, word: bool = True) -> str:
    """Return how a setting reports several columns: its split, or its strategy.

    >>> from evenhand.study.tasks.shared.report_settings import report_setting
    >>> way_name(report_setting("grr", split="uniform", strategy="independent"))
    'uniform split'
    >>> way_name(report_setting("grr", strategy="combined"))
    'combined'
    """
    split = str(setting.option("split"))
    if split == UNPROTECTED:
        return str(setting.option("strategy"))
    if split == _SAMPLE:
        return _say("sample")
    return _say("split", split=split) if word else split


def setting_name(setting: Setting, *, epsilon: bool = True, auto: str = "") -> str:
    """Return a setting in words.

    >>> from fractions import Fraction
    >>> from evenhand.study.tasks.shared.report_settings import report_setting
    >>> setting_name(report_setting("grr", Fraction(1, 2), "uniform", "independent"))
    'GRR, uniform split, ε = 0.5'
    """
    if not setting.is_protected or setting.epsilon is None:
        return _say("unprotected")
    words = [protocol_name(setting, auto=auto), way_name(setting)]
    return ", ".join([*words, f"{epsilon_words(setting.epsilon)}"] if epsilon else words)


def the_way(setting: Setting) -> str:
    """Return how a setting reports several columns, as inside a sentence.

    >>> from evenhand.study.tasks.shared.report_settings import report_setting
    >>> the_way(report_setting("grr", split="uniform")), the_way(report_setting("grr", strategy="combined"))
    ('the uniform split', "'combined'")
    """
    named, split = way_name(setting), setting.option("split")
    return _say("the_other" if split in {UNPROTECTED, _SAMPLE} else "the_split", way=named)


def way_words(settings: Iterable[Setting]) -> str:
    """Return in what settings differ beside protocol and epsilon, as a noun; an empty text if in none."""
    ways = {(setting.option("split") == UNPROTECTED, way_name(setting)) for setting in settings}
    if len(ways) < 2:
        return ""
    kinds = {is_strategy for is_strategy, _ in ways}
    return _say(f"differ_{'both' if len(kinds) > 1 else 'strategy' if True in kinds else 'split'}")
