"""Settings of reports that people randomise: a protocol, a split of the budget, a strategy for columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.study.plan.cells import UNPROTECTED, Setting

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

_FIELDS = ("strategy", "split")


def report_setting(
    protocol: str,
    epsilon: Fraction | None = None,
    split: str = UNPROTECTED,
    strategy: str = UNPROTECTED,
    parameters: Mapping[str, Any] | None = None,
) -> Setting:
    """Return the setting of a protocol.

    Parameters
    ----------
    protocol : str
    epsilon : Fraction
        Of a person's whole report.
    split, strategy : str
        How the budget is split and how several attributes are reported; ``"none"`` where there is no budget
        to split, as with the strategies ``"single"`` and ``"combined"``.
    parameters : mapping, optional
        Further parameters of the protocol, such as ``{"as_printed": True}``.

    Examples
    --------
    >>> from fractions import Fraction
    >>> str(report_setting("olh", Fraction(1, 2), "uniform", "independent", {"as_printed": True}))
    'OLH, as_printed, uniform split, ε = 0.5'
    """
    own = dict(parameters or {})
    asked = {"strategy": strategy, "split": split}
    options = {name: value for name, value in asked.items() if value != UNPROTECTED}
    words = [protocol.upper()]
    words += [name if value is True else f"{name}={value}" for name, value in sorted(own.items())]
    words += [strategy] if strategy not in {UNPROTECTED, "independent"} else []
    words += [f"{split} split"] if split != UNPROTECTED else []
    return Setting(protocol, epsilon, {**options, **own}, label=", ".join(words))


def protocol_parameters(setting: Setting) -> dict[str, Any]:
    """Return the parameters of a setting's protocol.

    >>> protocol_parameters(report_setting("olh", None, "uniform", "independent", {"as_printed": True}))
    {'as_printed': True}
    """
    return {name: value for name, value in setting.options.items() if name not in _FIELDS}
