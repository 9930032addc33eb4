"""What is done to a published table afterwards: clamping, rounding, making it add up, shrinking."""

from evenhand.release.postprocess.steps import (
    Integral,
    Nonnegative,
    Shrink,
    Step,
    SumTo,
    bias_after,
    carried_bias,
    clamp_bias,
    integral,
    nonnegative,
    optimal_temperature,
    shrink,
    shrink_bias,
    sum_to,
)

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
