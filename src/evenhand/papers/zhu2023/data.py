r"""The tables of zhu2023: excerpts of the American Community Survey, counted, and what is printed and exact.

Biases without randomness, of cells with the count :math:`x`, noise of scale :math:`b = 2 / \varepsilon` and
threshold :math:`k`:

- Laplace noise, rounded and clipped: :math:`\tfrac12 e^{-(x + 1/2) / b} / (1 - e^{-1/b})`;
- integer noise, clipped: :math:`\sum_{j \ge x} \Pr[\eta > j]`;
- suppression by equation (2): :math:`(\lfloor k/2 \rfloor - x) \Pr[x + \eta < k]`;
- swapping of cells: Proposition 1, :math:`(\sum_{j \in I} x_j - n_Q x) / (e^\varepsilon + n_Q - 1)`.

The bounds on bias and alpha, Theorems 2, 4 and 7 to 9, are those of :mod:`evenhand.release.alpha_bounds`.
They hold for equation (2) with the fill :math:`k/2`, for swapping of cells, and for continuous Laplace noise
of scale :math:`2/\varepsilon` that is clipped at zero.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand import datasets
from evenhand.measure.repeat_means import Estimated
from evenhand.papers.claims import AGREES, CONTRADICTED, INDISTINCT, Checked, cannot_check
from evenhand.papers.paper import fill, read_entries, read_printed, read_toml
from evenhand.papers.trials import estimate_mean, read_path
from evenhand.privacy.laws import DiscreteGaussian, Laplace
from evenhand.release import alpha_bounds
from evenhand.release.delta.noise import exact_delta
from evenhand.release.postprocess import clamp_bias
from evenhand.release.table.histogram import Histogram

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from evenhand.papers.claims import Evidence
    from evenhand.papers.trials import Values
    from evenhand.privacy.randomness import SeededSource

_STUDY = read_toml(__package__, "paper.toml")["study"]

EPSILONS, COLUMNS, FEATURES = (tuple(_STUDY[key]) for key in ("epsilons", "columns", "features"))
QUASI, THRESHOLD, FILL, BOUND = (_STUDY[key] for key in ("quasi", "threshold", "fill", "bound"))
THRESHOLDS, SHARES = tuple(_STUDY["thresholds"]), tuple(_STUDY["shares"])
"""What the paper's tables and figures are about; ``paper.toml`` says what each is."""

MECHANISMS: dict[str, str] = _STUDY["mechanisms"]
LAPLACE, GAUSSIAN, SUPPRESSION, SWAPPING, ANONYMITY = MECHANISMS
"""The rows of each block, by our name, as the paper calls them."""

EXTRA: dict[str, str] = _STUDY["extra"]
SMALLER_NOISE, BY_THRESHOLD, AGAINST_ALL = EXTRA
"""What else is in an experiment: the noise of the text, Algorithm 2, and a sample against everybody."""

READINGS: dict[str, dict[str, Any]] = _STUDY["readings"]
CELLS = next(iter(READINGS))
"""What swapping may mean, with the options of the mechanism; claims are judged by the first."""

DATA = read_entries(__package__, "data")
"""The data sets by name."""

EXACT = "exact"  # the trials that need no draws

ASIANS, THREE_RACES = (0.22, 0.04), 0.1
"""The parts of Asians that are taken to be Chinese and Japanese, and that of people of several races that are
taken to have three or more. They have no source; the page of the paper says how much depends on them."""


class Printed(NamedTuple):
    """One row of a table: delta, the l1 norm of the bias, and alpha, as the texts that are printed."""

    delta: str
    l1: str
    alpha: str


PRINTED: dict[str, dict[tuple[str, str], Printed]] = {name: {} for name in DATA}
"""Every row of tables 1 to 3 by data set, mechanism and epsilon; delta is the same in the three tables."""

for _row in read_printed(__package__, "tables"):
    _numbers = Printed(_row["delta"], _row["l1"], _row["alpha"])
    PRINTED[_row["data"]][_row["mechanism"], _row["epsilon"]] = _numbers


@lru_cache(maxsize=3)
def load_people(name: str) -> Any:
    """Return the rows of a data set with its schema."""
    return datasets.load("nist_excerpts", part=DATA[name].part, histogram=True, age_brackets=True)


@lru_cache(maxsize=12)
def count_people(
    name: str, columns: tuple[str, ...] = COLUMNS, quasi: tuple[str, ...] = (QUASI,)
) -> Histogram:
    """Return a data set as a table of counts, empty cells too.

    For k-anonymity every column is a quasi-identifier: a row is generalised as a whole.
    """
    rows = load_people(name)
    schema = rows.schema.with_roles(quasi_identifiers=quasi, sensitive=quasi, target=None, positive=None)
    return Histogram.count(rows.frame, schema, columns, bound=BOUND)


def draw_ipums_coding(
    name: str, source: SeededSource, *, asians: tuple[float, float] = ASIANS, three: float = THREE_RACES
) -> Histogram:
    """Return the table with race coded as in IPUMS, which the paper's excerpts had.

    The three codes of American Indians and Alaska Natives are one there; Asians are Chinese, Japanese or
    other, Pacific Islanders among these; several races are two, or three or more. Our excerpt does not tell
    the last two splits, so that they are drawn.
    """
    histogram = count_people(name)
    rows: Any = np.moveaxis(np.asarray(histogram.counts), COLUMNS.index(QUASI), 0)
    white, black, *native, asian, islanders, other, several = rows
    generator = source.generator()
    parts = (*asians, 1 - sum(asians))
    chinese, japanese, others = np.moveaxis(generator.multinomial(asian, parts), -1, 0)
    more = generator.binomial(several, three)
    coded = [white, black, sum(native), chinese, japanese, others + islanders, other, several - more, more]
    return histogram.with_counts(np.moveaxis(np.array(coded), 0, COLUMNS.index(QUASI)))


ALLOWED = 0.05
"""What a bias or an alpha may be off, as a share of the printed one, besides the spread of an experiment."""

_ERRORS, _CLOSE = 2.0, 1e-12


def runs(evidence: Evidence, trials: str, *path: str) -> Values:
    """Return a number of some trials, one for each experiment, by the names under which a record has it."""
    return read_path(evidence.trials[trials], *path)


def of_table(
    evidence: Evidence, name: str, mechanism: str, epsilon: str, measure: str, *, kind: str = "tables"
) -> Values:
    """Return a number of a table, one for each experiment; of the kind "ipums" with race coded so."""
    return runs(evidence, f"{kind}-{name}", "numbers", mechanism, epsilon, measure)


def exact_record(evidence: Evidence, name: str) -> Mapping[str, Any]:
    """Return what is known exactly about a data set."""
    return evidence.trials[EXACT][list(DATA).index(name)]


def printed_number(name: str, mechanism: str, epsilon: str, measure: str) -> tuple[str, float, float]:
    """Return a printed number: its text, its value, and one unit of its last digit.

    Zero has no last digit: it is printed where there is no delta at all, and has a unit of 0.

    >>> printed_number("ma", "discrete-gaussian", "4", "delta")
    ('3E-4', 0.0003, 0.0001)
    """
    text = getattr(PRINTED[name][mechanism, epsilon], measure)
    if text == "0":
        return text, 0.0, 0.0
    mantissa, _, power = text.partition("E")
    _, _, decimals = mantissa.partition(".")
    return text, float(text), 10.0 ** (int(power or 0) - len(decimals))


def number_of(
    evidence: Evidence, name: str, mechanism: str, epsilon: str, measure: str, *, kind: str = "tables"
) -> Checked:
    """Check a number of a table.

    Delta may be off by one unit of its last printed digit, as some are rounded and some are cut; where 0 is
    printed, it must be 0. Publishing the table as it is has a delta of 1: where that is in reach too, the
    number cannot tell the two apart.
    Bias and alpha come from one experiment, so they may be off by twice the spread of our experiments besides
    :data:`ALLOWED`.
    """
    text, paper, unit = printed_number(name, mechanism, epsilon, measure)
    if measure == "delta":
        value = exact_record(evidence, name)["numbers"][mechanism][epsilon]["delta"]
        off, as_it_is = abs(value - paper), abs(1 - paper)
        why = f"Off by {off:.2g}, allowed {unit:g}; doing nothing is off by {as_it_is:.2g}."
        same_as_nothing = INDISTINCT if as_it_is <= unit + _CLOSE else AGREES
        verdict = same_as_nothing if off <= unit + _CLOSE else CONTRADICTED
        return Checked(verdict, why, Estimated(value), text, paper)
    drawn = of_table(evidence, name, mechanism, epsilon, measure, kind=kind)
    ours = estimate_mean(drawn)
    off = ours.value / paper - 1
    if len(drawn) < 2:
        return cannot_check("One experiment has no spread.", ours=ours, paper=text, off=off)
    spread = float(drawn.std(ddof=1)) * math.sqrt(1 + 1 / len(drawn))
    reach = ALLOWED + _ERRORS * spread / paper
    why = fill("Off by {off:+.1%}, allowed {reach:.1%}.", off=off, reach=reach)
    same_as_nothing = INDISTINCT if reach >= 1 else AGREES
    verdict = same_as_nothing if abs(off) <= reach else CONTRADICTED
    return Checked(verdict, why, ours, text, paper, values={"off": off, "allowed": reach})


def variance(epsilon: Fraction, *, printed: bool = False) -> Fraction:
    """Return the variance of the discrete Gaussian noise: that which fits the tables, or that of the text.

    >>> variance(0.5), variance(0.5, printed=True)
    (40.0, 16.0)
    """
    return 4 / epsilon**2 if printed else 20 / epsilon


# --- biases ---------------------------------------------------------------------------------------


def rounded_bias(counts: Any, epsilon: Fraction) -> Values:
    """Return the bias of rounded Laplace noise, clipped at zero.

    >>> float(rounded_bias(np.array([0]), 4).round(4)[0])
    0.2127
    """
    rate = float(epsilon) / 2
    found: Values = 0.5 * np.exp(-(np.asarray(counts) + 0.5) * rate) / -math.expm1(-rate)
    return found


def suppression_bias(counts: Any, epsilon: Fraction, threshold: int, *, fill: float | None = None) -> Values:
    """Return the bias of equation (2), with half of the threshold rounded down as the fill unless told.

    >>> float(suppression_bias(np.array([4]), 1, 6).round(6)[0])
    -0.81606
    """
    flat = np.asarray(counts)
    below = np.asarray(Laplace(2 / epsilon).cdf(threshold - flat))
    found: Values = ((threshold // 2 if fill is None else fill) - flat) * below
    return found


def biases(histogram: Histogram, epsilon: Fraction, threshold: int) -> dict[str, Values]:
    """Return the exact bias of every mechanism that has a formula, as the paper drew it."""
    counts: Any = np.asarray(histogram.counts).ravel()
    return {
        LAPLACE: rounded_bias(counts, epsilon),
        GAUSSIAN: clamp_bias(counts, DiscreteGaussian(variance(epsilon))),
        SUPPRESSION: suppression_bias(counts, epsilon, threshold),
        SWAPPING: alpha_bounds.swapping_bias(histogram.as_matrix(), epsilon=float(epsilon)).ravel(),
    }


def compare_bounds(matrix: Any, epsilon: Fraction, threshold: int) -> dict[str, tuple[float, float]]:
    """Return what each theorem is about, and what it says that is at most; Theorem 4 is an equation.

    The matrix of counts has a row for each combination of the other columns.
    """
    counts, level = np.ravel(matrix), float(epsilon)
    suppressed = suppression_bias(counts, epsilon, threshold, fill=threshold / 2)
    swapped = alpha_bounds.swapping_bias(matrix, epsilon=level)
    at: Any = {"threshold": threshold, "epsilon": level}
    return {
        "theorem 2": (float(np.abs(suppressed).sum()), alpha_bounds.suppression_l1_bound(counts, **at)),
        "theorem 4": (float(np.abs(swapped).sum()), alpha_bounds.swapping_l1(matrix, epsilon=level)),
        "theorem 7": (float(np.ptp(suppressed)), alpha_bounds.suppression_alpha_bound(counts, **at)),
        "theorem 8": (float(np.ptp(swapped)), alpha_bounds.swapping_alpha_bound(matrix, epsilon=level)),
        "theorem 9": (
            alpha_bounds.laplace_alpha(counts, epsilon=level),
            alpha_bounds.laplace_alpha_bound(counts, epsilon=level),
        ),
    }


# --- delta ----------------------------------------------------------------------------------------


def printed_gaussian(epsilon: Fraction) -> float:
    """Return delta as in the tables: that of zero-concentrated privacy with rho = epsilon / 10."""
    rho = float(epsilon) / 10
    return math.exp(-((float(epsilon) - rho) ** 2) / (4 * rho))


def gaussian_delta(noise: Fraction, epsilon: Fraction | float) -> float:
    """Return the exact delta of the discrete Gaussian of this variance when one person is replaced."""
    return float(exact_delta(noise, epsilon, cells=2))


def suppression_theorem(epsilon: Fraction, threshold: int, bound: int) -> float:
    """Return the delta of Theorem 1."""
    return 1 - math.exp(-float(epsilon) * (bound - threshold)) / 4


def suppression_delta(epsilon: Fraction, threshold: int, bound: int) -> float:
    """Return the exact delta of equation (2), at every epsilon from half of its own on."""
    below = Laplace(2 / epsilon).cdf(np.array([threshold - bound, threshold - bound + 1]))
    return float(1 - np.prod(below))


def keep_probability(epsilon: Fraction, size: int) -> float:
    """Return gamma, the probability that a cell stays."""
    return 1 / (1 + (size - 1) * math.exp(-float(epsilon)))


def swapping_theorem(epsilon: Fraction, size: int) -> float:
    """Return the delta of Theorem 3 as printed."""
    stay = keep_probability(epsilon, size)
    return 1 - (1 - stay**2) / (size - 1) - ((1 - stay) / (size - 1)) ** 2


def swapping_delta(epsilon: Fraction, size: int) -> float:
    """Return delta with the sign put right: exact where only quasi-identifiers may change, at any epsilon."""
    stay = keep_probability(epsilon, size)
    return 1 - (1 - stay**2) / (size - 1) + ((1 - stay) / (size - 1)) ** 2


def anonymity_delta(epsilon: Fraction) -> float:
    """Return the exact delta of publishing a sample with the share 1 - exp(-epsilon), at any epsilon."""
    return -math.expm1(-float(epsilon))
