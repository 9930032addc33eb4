"""Parameters of mechanisms that publish a table, as they are typed: which option each mechanism takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from evenhand.cli import options as shared
from evenhand.cli.options import protection_option
from evenhand.cli.terminal.console import wrong_use
from evenhand.release.mechanisms.registry import (
    MECHANISMS,
    TableMechanism,
    mechanisms_with,
    takes_parameter,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Mechanisms = Annotated[
    list[str] | None,
    protection_option("LIST", "Of {mechanisms}. [{default}]", "--mechanism", choices="mechanisms"),
]

PARAMETER_OPTIONS: Mapping[str, Any] = {
    "threshold": shared.Threshold,
    "fill": shared.Fill,
    "k": shared.SmallestGroup,
    "fraction": shared.Fraction,
    "delta": shared.Delta,
    "rho": shared.Rho,
}
"""The parameters of mechanisms that have an option."""

_MEANINGS = {
    "threshold": "counts below it are suppressed",
    "k": "how many people share what is published of them",
    "fraction": "the share of records that is swapped",
    "delta": "the chance that the promise may fail, such as 1e-9",
}


def _typed_parameters(name: str, typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that were typed and that a mechanism takes."""
    return {
        parameter: typed[parameter]
        for parameter in PARAMETER_OPTIONS
        if typed[parameter] is not None and takes_parameter(name, parameter)
    }


def typed_mechanisms(names: Sequence[str], typed: Mapping[str, Any]) -> list[TableMechanism]:
    """Return mechanisms with the parameters that were typed; a parameter that none of them takes is refused.

    To pass it over would run something else than meant.
    """
    for parameter in PARAMETER_OPTIONS:
        if typed[parameter] is not None and not any(takes_parameter(name, parameter) for name in names):
            message = f"None of the chosen mechanisms takes --{parameter}."
            if not names:  # those of a plan, which keep their own
                message = f"--{parameter} changes no mechanism of a plan unless --mechanism names one."
            wrong_use(f"{message} Hint: it belongs to {', '.join(mechanisms_with(parameter))}.")
    return [TableMechanism(name, _typed_parameters(name, typed)) for name in names]


def require_parameters(name: str, typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the one mechanism of a release; none is invented or passed over."""
    if name in MECHANISMS:
        for parameter in PARAMETER_OPTIONS:
            if typed[parameter] is not None and not takes_parameter(name, parameter):
                takers = ", ".join(mechanisms_with(parameter))
                wrong_use(f"--{parameter} does not go with {name}. Hint: it belongs to {takers}.")
    parameters = _typed_parameters(name, typed)
    if "rho" in parameters and "delta" in parameters:
        wrong_use("--rho and --delta contradict each other: rho says everything. Hint: leave --delta out.")
    for parameter in MECHANISMS[name].defaults if name in MECHANISMS and "rho" not in parameters else ():
        if parameter in _MEANINGS and parameter not in parameters:
            wrong_use(f"--{parameter} is missing: {_MEANINGS[parameter]}.")
    return parameters
