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

from evenhand.datasets.download.files import Download, SourceFile
from evenhand.datasets.download.parsing import github, github_page, read_rows, write_rows
from evenhand.datasets.draws import Draws
from evenhand.datasets.entry import Cleaned, Entry, Option
from evenhand.schema import Column, Domain, Schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.datasets.download.files import Reader

__all__ = ["ENTRY", "MEDIATOR", "SWAPPED_MEDIATOR", "draw", "join_labels"]

_REPOSITORY = "KarimaMakhlouf/Impact_of_LDP_on_Fairness"
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


STORED = SourceFile(
    stem="synthetic_makhlouf2024",
    sha256="6df36c557f52494b9c4ce4faa50093c69eec78a500966a0b5f11875696cbde4e",
    size=1_200_035,
    source=f"{_REPOSITORY} on GitHub, synthetic",
    licence="not stated",
    page=github_page(_REPOSITORY),
    download=Download(
        urls=tuple(
            github(_REPOSITORY, "3f662257ad36f6fc0f0ea5a44d3dd11925140ebd", f"Datasets/S1_{quantile}.csv")
            for quantile in ("0.44", "0.52", "0.6")
        ),
        convert=join_labels,
    ),
)


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
    schema = Schema(
        (
            Column("C", Domain.integers(0, 1)),
            Column("A", Domain.integers(0, 1)),
            Column("M", Domain.integers(0, 2)),
            Column("Y", Domain.integers(0, 1)),
        ),
        sensitive=("A", "C", "M"),
        protected="A",
        privileged=privileged,
        target="Y",
        positive=1,
    )
    note = "Synthetic: no row describes a person."
    if privileged == 0:
        note += " The coefficients of this second set are evenhand's own choice, since none were published."
    return Cleaned(
        columns=columns,
        schema=schema,
        rows=options.get("n", 100_000),
        cleaning=steps,
        note=note,
        synthetic=True,
    )


ENTRY = Entry(
    about=(
        "C is a confounder, A the group, M a mediator with three values and Y the label. The outcome is "
        "0.75 A + 0.6 M + 0.5 C plus standard normal noise; privileged_group=0 turns the three "
        "coefficients around."
    ),
    citation="makhlouf2024, Figure 2, with the distribution of M given A as in its code",
    options=(
        Option(
            name="version",
            default="generated",
            choices=("generated", "stored"),
            meaning="Draw afresh, or take the sample published with the paper.",
        ),
        Option(
            name="n",
            default=100_000,
            low=10,
            high=10_000_000,
            meaning="How many people.",
            only_with=("version", ("generated",)),
        ),
        Option(name="seed", default=0, meaning="Seed of the draw.", only_with=("version", ("generated",))),
        Option(
            name="quantile",
            default=0.5,
            choices=(0.25, 0.5, 0.75),
            meaning="Quantile of the outcome above which Y is 1: skewed to 1, balanced, skewed to 0.",
        ),
        Option(
            name="privileged_group",
            default=1,
            choices=(1, 0),
            meaning="The group of A with more positive labels.",
            only_with=("version", ("generated",)),
        ),
        Option(
            name="mediator",
            default="as_in_data",
            choices=("as_in_data", "as_printed"),
            meaning="The distribution of M given A as in the paper's data, or swapped as it is printed.",
            only_with=("version", ("generated",)),
        ),
    ),
    build=_build,
    files=(STORED,),
    departures=(
        (
            "makhlouf2024 prints the distribution of M for A = 0 and A = 1 the wrong way round; its code "
            "and data are followed."
        ),
        (
            "makhlouf2024 names its thresholds 0.44, 0.52 and 0.60; they are quartiles of one sample after "
            "scaling, so quantiles are used."
        ),
        (
            "makhlouf2024 does not publish the coefficients of its second set, where group 0 is "
            "privileged; here the three are turned around, which mirrors the gap."
        ),
    ),
    built_in=True,
)
