"""What a mechanism loses between two inputs, from the definition, for laws that are written down in full.

Floats are enough where the rules are tested; rounding is tested with 200 digits elsewhere.
"""

import math

import numpy as np


def excess(first, second, epsilon):
    """Return the smallest delta for this epsilon: what P exceeds e^epsilon Q by, in the worse direction."""
    grown = math.exp(epsilon)
    return max(np.maximum(first - grown * second, 0).sum(), np.maximum(second - grown * first, 0).sum())


def together(*parts):
    """Return the law of independent draws."""
    whole = np.ones(1)
    for part in parts:
        whole = np.multiply.outer(whole, part).ravel()
    return whole


def discrete_gaussian(variance, centre, reach=200):
    steps = np.arange(-reach, reach + 1)
    weights = np.exp(-((steps - centre) ** 2) / (2 * variance))
    return weights / weights.sum()
