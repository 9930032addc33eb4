"""Tables 1 to 3 of zhu2023: the numbers as printed."""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "ANONYMITY",
    "EPSILONS",
    "GAUSSIAN",
    "LAPLACE",
    "MECHANISMS",
    "PRINTED",
    "SUPPRESSION",
    "SWAPPING",
    "Printed",
]

EPSILONS = ("0.5", "1", "2", "4")
"""The epsilons of the tables, as exact texts."""

LAPLACE, GAUSSIAN = "laplace", "discrete-gaussian"
SUPPRESSION, SWAPPING, ANONYMITY = "noisy-suppression", "random-swapping", "sampled-k-anonymity"

MECHANISMS = {
    LAPLACE: "Laplace",
    GAUSSIAN: "Discrete Gaussian",
    SUPPRESSION: "DP Suppression",
    SWAPPING: "DP Swapping",
    ANONYMITY: "DP k-anonymity",
}
"""The rows of each block, by our name, as the paper calls them."""


class Printed(NamedTuple):
    """One row of a table: delta, the l1 norm of the bias, and alpha, as the texts that are printed."""

    delta: str
    l1: str
    alpha: str


_LEVELS = """
    0 0 0 0
    0.363 0.132 0.017 3E-4
    0.999 0.999 0.999 0.999
    0.868 0.874 0.899 0.969
    0.878 0.906 0.981 0.999
"""
_BIASES = {
    "ma": """
        763.775 342.885 154.78 67.34
        980.81 659.215 436.925 290.715
        935.525 1003.035 1018.335 1014.63
        10906.79 9859.26 6841.19 1664.63
        2337.8 3297.4 4175.5 4590.7
    """,
    "tx": """
        901.21 409.03 187.59 81.63
        1156.63 777.455 523.825 353.99
        1138.62 1205.315 1219.19 1217.115
        12988.58 11624.64 8212.7 2117.62
        2963.3 4296.8 5406.7 5992.0
    """,
    "outlier": """
        2992.88 1372.36 628.335 274.36
        3798.96 2570.38 1728.1 1162
        3687.445 3911.82 3969.165 3962.755
        35385.63 32134.71 22242.12 5634.95
        10260.6 14668.5 18529.7 20456.9
    """,
}
_ALPHAS = {
    "ma": """
        3.655 1.845 0.905 0.465
        4.945 3.065 2.2 1.495
        4.345 4.5 4.72 4.92
        469.015 425.335 282.73 101.645
        22.65 32.1 37.65 40.75
    """,
    "tx": """
        3.645 1.815 0.905 0.46
        4.62 2.96 1.995 1.545
        4.53 4.47 4.71 4.91
        437.105 394.28 266.78 75.48
        24.7 35.4 43.4 48.9
    """,
    "outlier": """
        4.02 2 0.975 0.48
        4.885 3.235 2.62 1.71
        4.39 4.56 4.76 4.93
        580.015 553.66 339.09 108.565
        34.5 46.1 54.4 61.5
    """,
}


def _block(text: str) -> dict[tuple[str, str], str]:
    """Return the cells of a block, a line for each mechanism and a column for each epsilon."""
    lines = [line.split() for line in text.split("\n") if line.strip()]
    return {
        (mechanism, epsilon): cell
        for mechanism, line in zip(MECHANISMS, lines, strict=True)
        for epsilon, cell in zip(EPSILONS, line, strict=True)
    }


def _tables() -> dict[str, dict[tuple[str, str], Printed]]:
    levels = _block(_LEVELS)
    found = {}
    for name, text in _BIASES.items():
        biases, alphas = _block(text), _block(_ALPHAS[name])
        found[name] = {key: Printed(levels[key], biases[key], alphas[key]) for key in levels}
    return found


PRINTED = _tables()
"""Every row by data set, mechanism and epsilon; delta is the same in the three tables."""
