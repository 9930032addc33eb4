"""How far cells are off with each way to publish, and what each promises: evidence below a page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evenhand.report.language import in_language
from evenhand.report.page import Section, Table
from evenhand.report.words import number
from evenhand.study.page.wording import delta_text, digits_of
from evenhand.study.tasks.effects.options import BASELINE, mean_of
from evenhand.study.tasks.release.names import SIZES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.answer.words import Words
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.base import ResultData
    from evenhand.study.tasks.shared.sizes import Size

_MEASURES = ("l1_error", "l1_bias", "largest_bias", "alpha", "suppressed", "acc", "sp_gap")


def cells_section(
    results: ResultData, page: Setting, names: Mapping[Setting, str], words: Words
) -> Section | None:
    """Return delta, error of small and of large cells, and alpha, of each setting beside the page's.

    None where no cell of the table has anybody in it.
    """
    filled = [size for size in SIZES[1:] if _of_size(results, BASELINE, "cells", size) > 0]
    if not filled:
        return None
    sizes = list(dict.fromkeys((filled[0], filled[-1])))
    beside = [each for each in results.settings if each.is_protected and each.epsilon in (None, page.epsilon)]
    labels = [_label(size) for size in (filled[0], filled[-1])]
    header = words.say("release.cells_header", small=labels[0], large=labels[1]).split("|")
    rows = [
        [
            f"{names[setting][:1].upper()}{names[setting][1:]}",
            delta_text(_largest_delta(results, setting)),
            *(_amount(_of_size(results, setting, "error", size)) for size in sizes),
            _amount(_mean(results, setting, "alpha")),
        ]
        for setting in beside
    ]
    table = Table(
        header=header if len(sizes) == 2 else [*header[:3], *header[4:]],
        rows=rows,
        numeric=[False, *[True] * (2 + len(sizes))],
        caption=words.say("release.cells_caption"),
        chosen=beside.index(page),
        name="ways-to-publish",
        data=_data(results, beside, names),
    )
    return Section(words.say("release.cells"), tables=(table,), anchor="cells")


def _data(
    results: ResultData, settings: list[Setting], names: Mapping[Setting, str]
) -> dict[str, list[object]]:
    measures = [name for name in _MEASURES if name in results.arrays.measures]
    return {
        "way to publish": [names[setting] for setting in settings],
        "epsilon": [None if setting.epsilon is None else float(setting.epsilon) for setting in settings],
        "delta": [_largest_delta(results, setting) for setting in settings],
        **{name: [_mean(results, setting, name) for setting in settings] for name in measures},
        **{
            f"mean_error_{size.key}": [_of_size(results, setting, "error", size) for setting in settings]
            for size in SIZES
        },
    }


def _label(size: Size) -> str:
    return in_language(f"{size.least:,}+" if size.most is None else f"{size.least:,}–{size.most:,}")


def _amount(value: float) -> str:
    return number(value, digits_of(value)) if math.isfinite(value) else "–"


def _of_size(results: ResultData, setting: Setting, part: str, size: Size) -> float:
    arrays = results.arrays
    at = arrays.data.index(f"{part}_{size.key}")
    return mean_of(arrays.of_data[results.place(setting), :, at])


def _mean(results: ResultData, setting: Setting, measure: str) -> float:
    arrays = results.arrays
    return mean_of(arrays.of_measures[results.place(setting), :, arrays.measures.index(measure)])


def _largest_delta(results: ResultData, setting: Setting) -> float:
    arrays = results.arrays
    deltas = arrays.of_measures[results.place(setting), :, arrays.measures.index("delta")]
    return float(np.nanmax(deltas)) if np.isfinite(deltas).any() else math.nan
