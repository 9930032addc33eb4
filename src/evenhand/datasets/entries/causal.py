r"""Synthetic people drawn from the causal model of makhlouf2024.

A confounder :math:`C`, a group :math:`A`, a mediator :math:`M` and an outcome :math:`Y`:

.. math::

    C \sim B(0.35), \quad A \mid C \sim B(0.55 + 0.2\,C), \quad
    M \mid A{=}0 \sim (0.5, 0.4, 0.1), \quad M \mid A{=}1 \sim (0.35, 0.4, 0.25),

.. math:: Y^* = 0.75 A + 0.6 M + 0.5 C + N(0, 1), \qquad Y = [\,Y^* > \text{a quantile of } Y^*].
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.datasets.download.parsing import read_rows, write_rows
from evenhand.datasets.draws import Draws
from evenhand.datasets.entry import Cleaned, read_entry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.datasets.download.files import Reader

_LABELS = {0.25: "Y_gt_0.44", 0.5: "Y_gt_0.52", 0.75: "Y_gt_0.6"}

MEDIATOR = ((0.5, 0.4, 0.1), (0.35, 0.4, 0.25))
"""Chances of M = 0, 1, 2 in group 0 and in group 1, as in the published code and data."""

SWAPPED_MEDIATOR = (MEDIATOR[1], MEDIATOR[0])
"""The same as printed in makhlouf2024: the wrong way round."""


def draw(
    n: int,
    *,
    seed: int,
    quantile: float,
    privileged_group: int = 1,
    mediator: tuple[tuple[float, ...], ...] = MEDIATOR,
) -> dict[str, NDArray[np.int64]]:
    """Draw people from the causal model.

    Parameters
    ----------
    n : int
        How many.
    seed : int
        The same seed gives the same people.
    quantile : float
        The quantile of the outcome above which the label is 1.
    privileged_group : {1, 0}, default 1
        The group with more positive labels. 0 turns the sign of all three coefficients around.
    mediator : tuple of two tuples
        Chances of M in group 0 and in group 1.

    Returns
    -------
    dict of arrays
        C, A, M and Y.
    """
    draws = Draws("causal", seed)
    confounder = draws.uniform(n) < 0.35
    group = draws.uniform(n) < np.where(confounder, 0.75, 0.55)
    chances = np.asarray(mediator)[group.astype(np.int64)]
    place = draws.uniform(n)
    middle = (place >= chances[:, 0]).astype(np.int64) + (place >= chances[:, 0] + chances[:, 1])
    sign = 1 if privileged_group == 1 else -1
    outcome = sign * (0.75 * group + 0.6 * middle + 0.5 * confounder) + draws.normal(n)
    label = outcome > np.quantile(outcome, quantile)
    return {
        "C": confounder.astype(np.int64),
        "A": group.astype(np.int64),
        "M": middle,
        "Y": label.astype(np.int64),
    }


def join_labels(low: bytes, middle: bytes, high: bytes) -> bytes:
    """Make one file of the three published ones, which differ in the last column only."""
    tables = [read_rows(raw)[1:] for raw in (low, middle, high)]
    header = ["C", "A", "M", *_LABELS.values()]
    rows = ([*first, second[-1], third[-1]] for first, second, third in zip(*tables, strict=True))
    return write_rows([header, *rows])


def _build(read: Reader, options: Mapping[str, Any]) -> Cleaned:
    quantile = options["quantile"]
    privileged = options.get("privileged_group", 1)
    if options["version"] == "stored":
        raw = read.columns(STORED, integers=("C", "A", "M", *_LABELS.values()))
        columns = {"C": raw["C"], "A": raw["A"], "M": raw["M"], "Y": raw[_LABELS[quantile]]}
        steps = (f"the published sample, labelled at its {quantile} quantile",)
    else:
        columns = draw(
            options["n"],
            seed=options["seed"],
            quantile=quantile,
            privileged_group=privileged,
            mediator=MEDIATOR if options["mediator"] == "as_in_data" else SWAPPED_MEDIATOR,
        )
        steps = (f"drawn from the causal model, labelled strictly above the sample's {quantile} quantile",)
    note = "Synthetic: no row describes a person."
    if privileged == 0:
        note += " The coefficients of this second set are evenhand's own choice, since none were published."
    return Cleaned(
        columns=columns,
        schema=ENTRY.schema("people", privileged=privileged),
        rows=options.get("n", 100_000),
        cleaning=steps,
        note=note,
        synthetic=True,
    )


ENTRY = read_entry("causal", build=_build, converters=(join_labels,))
(STORED,) = ENTRY.files
