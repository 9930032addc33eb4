r"""Synthetic counties for the minority-language rule of fioretto2021.

The voting-age citizens are log-normal, :math:`s = e^{9.98 + 1.47 z}`; the share of the language group
with limited English is log-normal too and a little larger in large counties,
:math:`\log(sp/s) = -5.1 + 0.2 z + 1.2 z'`; its share with little schooling is
:math:`\log(spe/sp) = -1.85 + 0.485 z''`. The counts :math:`sp` and :math:`spe` are binomial draws, so
that :math:`s \ge sp \ge spe`. Three small sets of counties are put next to the three thresholds of the
rule. Parameters were chosen by hand after published figures; no row of theirs is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.datasets.draws import Draws
from evenhand.datasets.entry import Cleaned, read_entry
from evenhand.schema import Column, Domain, Schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.datasets.download.files import Reader

_COUNT = Domain.integers(0, 100_000_000)


def _build(read: Reader, options: Mapping[str, Any]) -> Cleaned:  # noqa: ARG001 - no file is needed
    n = options["n"]
    draws = Draws("counties", options["seed"])
    size, share, schooling = draws.normal(n), draws.normal(n), draws.normal(n)
    s = np.maximum(np.rint(np.exp(9.98 + 1.47 * size)), 50)
    group = np.minimum(np.exp(-5.1 + 0.2 * size + 1.2 * share), 0.9)
    little = np.minimum(np.exp(-1.85 + 0.485 * schooling), 0.9)
    near = n * options["near_per_mille"] // 1000
    nearby = 0.95 + 0.1 * draws.uniform(3 * near)
    by_share, by_count, by_schooling = (slice(near * place, near * (place + 1)) for place in range(3))
    group[by_share] = 0.05 * nearby[by_share]
    s[by_count] = np.rint(250_000 * np.exp(0.5 * np.abs(size[by_count])))
    group[by_count] = 10_000 * nearby[by_count] / s[by_count]
    group[by_schooling] = np.maximum(group[by_schooling], 0.08)
    little[by_schooling] = 0.0131 * nearby[by_schooling]
    sp = draws.binomial(s.astype(np.int64), group)
    spe = draws.binomial(sp, little)
    columns = {
        "county": np.array([f"County {number:04d}" for number in range(1, n + 1)], dtype=object),
        "s": s.astype(np.int64),
        "sp": sp,
        "spe": spe,
        "covered": covered(s, sp, spe).astype(np.int64),
    }
    steps = (
        "log-normal citizens and shares, binomial counts",
        f"the first 3 x {near} counties put within 5 % of the thresholds 0.05, 10,000 and 0.0131",
    )
    note = "Synthetic: no row describes a county. covered is what the rule says of the true counts."
    return Cleaned(columns=columns, schema=rule_schema(), rows=n, cleaning=steps, note=note, synthetic=True)


ENTRY = read_entry("counties", build=_build)


def rule_schema(*more: Column) -> Schema:
    """Return the schema of the counts that the rule needs and of what it decides, and of `more` columns."""
    counts = (Column(name, _COUNT) for name in ("s", "sp", "spe"))
    columns = (*counts, Column("covered", Domain.integers(0, 1)), *more)
    return Schema(columns, target="covered", positive=1)


def covered(s: Any, sp: Any, spe: Any) -> NDArray[np.bool_]:
    """Tell where ballots must be in the language: (sp/s > 0.05 or sp > 10000) and spe/sp > 0.0131.

    The ratios are compared by multiplying out, so that no rounding decides.

    Examples
    --------
    >>> covered(np.array([1000, 1000, 1000]), np.array([60, 60, 50]), np.array([6, 0, 5])).tolist()
    [True, False, False]
    """
    many = (20 * sp > s) | (sp > 10_000)
    return np.asarray(many & (10_000 * spe > 131 * sp))
