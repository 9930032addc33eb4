"""How a report on releases words things: delta, what it means, mechanisms with their parameters, counts."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context, Decimal
from typing import TYPE_CHECKING, Literal

from evenhand.report.words import epsilon_of, interval_of, number
from evenhand.study.page.wording import plain
from evenhand.study.tasks.shared.table_mechanisms import NO_GUARANTEE, title_of

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated

__all__ = [
    "amount_text",
    "delta_text",
    "digits_of",
    "mechanism_name",
    "promise",
    "release_name",
    "share_text",
    "tone_of",
    "way_text",
]

_HIGH = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_SHORT = {"threshold": "threshold", "fraction": "", "k": "k =", "delta": None, "noise": None, "rho": "ρ ="}


def delta_text(delta: float) -> str:
    r"""Return delta with two digits, never below what it is.

    >>> delta_text(0.0), delta_text(0.8915), delta_text(1.0), delta_text(0.99991)
    ('0', '0.892', '1.000', '1.000')
    >>> delta_text(6.04e-6).replace("\u00a0", " ")
    '6.1 × 10⁻⁶'
    """
    if not math.isfinite(delta):
        return "unknown"
    if delta <= 0:
        return "0"
    exact = Decimal(repr(float(delta)))
    if delta >= 0.001:
        return f"{exact.quantize(Decimal('0.001'), rounding=ROUND_CEILING)}"
    rounded = Context(prec=2, rounding=ROUND_CEILING).plus(exact)
    power = rounded.adjusted()
    raised = "".join(_HIGH[int(figure)] for figure in str(-power))
    return f"{rounded.scaleb(-power):.1f}\u00a0×\u00a010⁻{raised}"


def tone_of(delta: float, *, people: int) -> Literal["ok", "warn", "bad"]:
    """Return how a delta is to be taken: it holds, it may publish a random row, or it promises nothing.

    >>> tone_of(1e-9, people=1000), tone_of(0.002, people=1000), tone_of(0.5, people=1000)
    ('ok', 'warn', 'bad')
    """
    if not delta < NO_GUARANTEE:
        return "bad"
    return "warn" if people and delta >= 1 / people else "ok"


def promise(delta: float, *, people: int) -> str:
    """Return what a delta promises, in a few words."""
    words = {"ok": "holds", "warn": "weak: δ ≥ 1/people", "bad": "no meaningful guarantee"}
    return words[tone_of(delta, people=people)]


def mechanism_name(setting: Setting) -> str:
    """Return the mechanism with the parameters that tell it from others of its kind.

    >>> from evenhand.study.plan.cells import Setting
    >>> mechanism_name(Setting("suppression", options={"threshold": 6}))
    'Suppression (threshold 6)'
    >>> mechanism_name(Setting("laplace"))
    'Laplace noise'
    """
    if not setting.is_protected:
        return "True table"
    said = []
    for name, value in sorted(setting.options.items()):
        if name == "fraction":
            said.append(f"{100 * float(value):.3g}% of the records")
        elif name == "noise":
            said.append(f"noise on the {value}")
        elif name == "delta":
            said.append(f"δ = {delta_text(float(value))}")
        elif isinstance(value, bool):
            said.append(name.replace("_", " ") if value else f"no {name.replace('_', ' ')}")
        else:
            said.append(f"{_SHORT.get(name) or name.replace('_', ' ')} {value}")
    title = title_of(setting.mechanism)
    return f"{title} ({plain(', '.join(said), longest=80)})" if said else title


def release_name(setting: Setting) -> str:
    """Return a setting in words, with its epsilon if it has one."""
    name = mechanism_name(setting)
    if setting.epsilon is None:
        return name
    return f"{name} at ε = {epsilon_of(setting.epsilon)}"


def amount_text(found: Estimated, *, sign: bool = False) -> str:
    """Return a number of people with its interval, with as many digits as its size asks for.

    >>> from evenhand.study.results.estimates import Estimated
    >>> amount_text(Estimated(2.412, 2.3, 2.5)), amount_text(Estimated(1184.9))
    ('2.4 (2.3 to 2.5)', '1,185')
    """
    if not math.isfinite(found.value):
        return "undefined"
    digits = digits_of(found.value)
    shown = number(found.value, digits, sign=sign)
    if found.low is None or found.high is None:
        return shown
    return f"{shown} {interval_of(found.low, found.high, digits, sign=sign)}"


def digits_of(value: float) -> int:
    """Return how many digits a number of people is shown with: none from a hundred on, more when small."""
    size = abs(value)
    return 0 if size >= 100 else 1 if size >= 1 or size == 0 else 2 if size >= 0.01 else 4


def share_text(found: Estimated) -> str:
    """Return a share in percent with its sign and interval, as in a sentence.

    >>> from evenhand.study.results.estimates import Estimated
    >>> share_text(Estimated(-0.031, -0.034, -0.028))
    '−3.1% (−3.4 to −2.8)'
    """
    if not math.isfinite(found.value):
        return "undefined"
    digits = _share_digits(found)
    shown = f"{number(100 * found.value, digits, sign=True)}%"
    if found.low is None or found.high is None:
        return shown
    return f"{shown} {interval_of(100 * found.low, 100 * found.high, digits, sign=True)}"


def way_text(found: Estimated) -> str:
    """Return how many people are too few or too many, as a share in percent and in words.

    >>> from evenhand.study.results.estimates import Estimated
    >>> way_text(Estimated(-0.031, -0.034, -0.028)), way_text(Estimated(20.04))
    ('3.1% (2.8 to 3.4) fewer', '2,004% more')
    """
    digits = _share_digits(found)
    word = "fewer" if found.value < 0 else "more"
    shown = f"{number(100 * abs(found.value), digits)}%"
    if found.low is None or found.high is None:
        return f"{shown} {word}"
    ends = sorted((abs(found.low), abs(found.high))) if found.is_clear else (0.0, 0.0)
    return f"{shown} {interval_of(100 * ends[0], 100 * ends[1], digits)} {word}"


def _share_digits(found: Estimated) -> int:
    """Return one digit, none for large shares, or as many as keep a clear change from looking like none."""
    sizes = [abs(each) for each in (found.value, found.low, found.high) if each]
    if sizes and max(sizes) >= 1:
        return 0
    if not found.is_clear:
        return 1 if not sizes or round(100 * max(sizes), 1) else 2
    return next((each for each in (1, 2, 3) if round(100 * min(sizes), each)), 3)
