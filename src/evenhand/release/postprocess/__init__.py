"""What is done to a published table afterwards: clamping, rounding, making it add up, shrinking.

Names are loaded when they are first used, so that the registry of steps can be read at next to no cost.
"""

from typing import TYPE_CHECKING

from evenhand._lazy import lazy_names

if TYPE_CHECKING:
    from evenhand.release.postprocess.apply import integral, nonnegative, shrink, sum_to
    from evenhand.release.postprocess.noise_bias import clamp_bias, optimal_temperature, shrink_bias
    from evenhand.release.postprocess.steps import (
        Integral,
        Nonnegative,
        Shrink,
        Step,
        SumTo,
        bias_after,
        carried_bias,
    )
    from evenhand.release.postprocess.sums import KeepSums

__all__ = [
    "Cut",
    "Integral",
    "KeepSums",
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

_APPLIED, _OF_BIAS = (
    ("integral", "nonnegative", "shrink", "sum_to"),
    ("clamp_bias", "optimal_temperature", "shrink_bias"),
)
_HOMES = {
    "apply": _APPLIED,
    "noise_bias": _OF_BIAS,
    "steps": [name for name in __all__ if name not in (*_APPLIED, *_OF_BIAS, "KeepSums")],
    "sums": ("KeepSums",),
}

__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
