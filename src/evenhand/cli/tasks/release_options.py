"""Parameters of mechanisms that publish a table, as they are typed: which go with which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.cli.terminal.console import wrong_use
from evenhand.release.mechanisms.registry import MECHANISMS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.release.mechanisms.named import TableMechanism

__all__ = ["PARAMETERS", "parameters_of", "refuse_unused", "typed_parameters"]

PARAMETERS = {
    "threshold": ("suppression", "noisy-suppression", "thresholded-laplace"),
    "k": ("k-anonymity", "sampled-k-anonymity", "generalized-sampling"),
    "fraction": ("swapping",),
    "delta": ("discrete-gaussian", "generalized-sampling"),
    "rho": ("discrete-gaussian",),
}
"""Each option of a mechanism's parameter, and which mechanisms have it."""

_WHAT = {
    "threshold": "counts below it are suppressed",
    "k": "how many people share what is published of them",
    "fraction": "the share of records that is swapped",
    "delta": "the chance that the promise may fail, such as 1e-9",
}


def typed_parameters(name: str, typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that were typed and that a mechanism has."""
    return {
        option: typed[option]
        for option, names in PARAMETERS.items()
        if typed[option] is not None and name in names
    }


def refuse_unused(mechanisms: Sequence[TableMechanism], typed: Mapping[str, Any]) -> None:
    """Refuse a parameter that none of several mechanisms has; to pass it over would run something else."""
    names = {each.name for each in mechanisms}
    which = "that is tried" if names else "that --mechanism names"
    for option, takers in PARAMETERS.items():
        if typed[option] is not None and names.isdisjoint(takers):
            hint = f"it belongs to {', '.join(takers)}."
            wrong_use(f"--{option} goes with no mechanism {which}. Hint: {hint}")
    if typed["epsilon"] and mechanisms and not any(each.takes_epsilon for each in mechanisms):
        wrong_use(f"--epsilon goes with no mechanism {which}. Hint: leave it out, or try one that has it.")


def parameters_of(name: str, typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the one mechanism of a release; nothing is invented or passed over."""
    if name in MECHANISMS:
        for option, names in PARAMETERS.items():
            if typed[option] is not None and name not in names:
                wrong_use(f"--{option} does not go with {name}. Hint: it belongs to {', '.join(names)}.")
    found = typed_parameters(name, typed)
    if "rho" in found and "delta" in found:
        wrong_use("--rho and --delta contradict each other: rho says everything.")
    for option in MECHANISMS[name].defaults if name in MECHANISMS and "rho" not in found else ():
        if option in _WHAT and option not in found:
            wrong_use(f"--{option} is missing: {_WHAT[option]}.")
    return found
