"""What is done to a published table afterwards: clamping, rounding, making it add up, shrinking.

Names are loaded when they are first used, since the formulas of biases need scipy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.release.postprocess.apply import integral, nonnegative, shrink, sum_to
    from evenhand.release.postprocess.noise_bias import clamp_bias, shrink_bias
    from evenhand.release.postprocess.steps import (
        Integral,
        Nonnegative,
        Shrink,
        Step,
        SumTo,
        bias_after,
        carried_bias,
    )
    from evenhand.release.postprocess.temperature import optimal_temperature

__all__ = [
    "Integral",
    "Nonnegative",
    "Shrink",
    "Step",
    "SumTo",
    "bias_after",
    "carried_bias",
    "clamp_bias",
    "integral",
    "nonnegative",
    "optimal_temperature",
    "shrink",
    "shrink_bias",
    "sum_to",
]

_HOMES = {
    "clamp_bias": "noise_bias",
    "integral": "apply",
    "nonnegative": "apply",
    "optimal_temperature": "temperature",
    "shrink": "apply",
    "shrink_bias": "noise_bias",
    "sum_to": "apply",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        message = f"module 'evenhand.release.postprocess' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(f"evenhand.release.postprocess.{_HOMES.get(name, 'steps')}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
