"""How far cells are off with each way to publish, and what each promises: evidence below a page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.language import in_language
from evenhand.report.page import Section, Table
from evenhand.report.words import number
from evenhand.study.page.wording import delta_text, digits_of
from evenhand.study.tasks.effects.options import BASELINE, mean_of, measure_runs
from evenhand.study.tasks.release.effects import largest_delta
from evenhand.study.tasks.release.names import SIZES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.answer.words import Words
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.base import ResultData
    from evenhand.study.tasks.shared.sizes import Size

_MEASURES = ("delta", "alpha", "l1_error", "l1_bias", "largest_bias", "suppressed", "acc", "sp_gap")
"""Those of the file with the numbers, as far as a study has them."""


def cells_section(
    results: ResultData, page: Setting, names: Mapping[Setting, str], words: Words
) -> Section | None:
    """Return delta, error of small and of large cells, and alpha, of each setting beside the page's.

    None where no cell of the table has anybody in it.
    """
    filled = [size for size in SIZES[1:] if _of_size(results, BASELINE, "cells", size) > 0]
    if not filled:
        return None
    sizes = (filled[0], filled[-1])
    beside = [each for each in results.settings if each.is_protected and each.epsilon in (None, page.epsilon)]
    data: dict[str, list[object]] = {
        "way to publish": [names[setting] for setting in beside],
        "epsilon": [None if setting.epsilon is None else float(setting.epsilon) for setting in beside],
    }
    for name in (name for name in _MEASURES if name in results.arrays.measures):
        data[name] = [mean_of(measure_runs(results, setting, name)) for setting in beside]
    for size in SIZES:
        data[f"mean_error_{size.key}"] = [_of_size(results, setting, "error", size) for setting in beside]
    table = Table(
        header=words.say("release.cells_header", small=_label(sizes[0]), large=_label(sizes[1])).split("|"),
        rows=[
            [
                f"{names[setting][:1].upper()}{names[setting][1:]}",
                delta_text(largest_delta(results, setting)),
                *(_amount(_of_size(results, setting, "error", size)) for size in sizes),
                _amount(mean_of(measure_runs(results, setting, "alpha"))),
            ]
            for setting in beside
        ],
        numeric=[False, *[True] * 4],
        caption=words.say("release.cells_caption"),
        chosen=beside.index(page),
        name="ways-to-publish",
        data=data,
    )
    return Section(words.say("release.cells"), tables=(table,), anchor="cells")


def _label(size: Size) -> str:
    return in_language(f"{size.least:,}+" if size.most is None else f"{size.least:,}–{size.most:,}")


def _amount(value: float) -> str:
    return number(value, digits_of(value)) if math.isfinite(value) else "–"


def _of_size(results: ResultData, setting: Setting, part: str, size: Size) -> float:
    arrays = results.arrays
    return mean_of(arrays.of_data[results.place(setting), :, arrays.data.index(f"{part}_{size.key}")])
