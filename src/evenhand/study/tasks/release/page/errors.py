"""The sections on error: against the size of cells, and how unevenly it falls against epsilon."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.charts import levels_chart, sizes_chart
from evenhand.report.marks import Axis, Level, Sized, SizePanel
from evenhand.report.page import Section
from evenhand.report.words import epsilon_words, number
from evenhand.study.page.wording import delta_text, digits_of, mark
from evenhand.study.tasks.release.answers import error_heading
from evenhand.study.tasks.release.names import SIZES
from evenhand.study.tasks.release.wording import errors_text, promise, tone_of
from evenhand.study.tasks.shared.table_mechanisms import NO_GUARANTEE
from evenhand.study.tasks.shared.wording import mechanism_name

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.release.reading import ReleaseReading

__all__ = ["alpha_section", "sizes_section"]


def sizes_section(reading: ReleaseReading) -> Section | None:
    """Return one panel for each mechanism: error and bias of cells against their size."""
    if not reading.sizes:
        return None
    panels = [_panel(reading, setting) for setting in reading.beside]
    small = reading.sizes[0]
    numbers = "; ".join(
        f"{mechanism_name(setting)} {_shown(reading.of_size('error', small, setting).value)}"
        for setting in reading.beside
    )
    heading = error_heading(reading)
    if reading.classifies:
        table = "Each repeat counts other rows, so that cells differ a little in size."
    else:
        table = "Every repeat counts the same rows."
    chart = sizes_chart(
        panels,
        name="error-by-cell-size",
        alt=f"{heading}. Mean error of cells of {small.label} people: {numbers}.",
        caption=(
            f"**Means over cells of about one size and {reading.repeats_words}; "
            f"bars: 95% interval over repeats.** Both axes are logarithmic and the same in every panel"
            f"{_at(reading)}. {errors_text(reading)} {table} Smaller errors stand on the lowest "
            "line; empty cells are in the CSV alone."
        ),
    )
    return Section(
        heading=heading,
        lead=f"One dot for each class of cells by how many people are in them, "
        f"{mechanism_name(reading.chosen)} is what the heading is about. Above the dashed line the error is "
        "larger than the cell itself.",
        charts=(chart,),
        anchor="sizes",
    )


def _panel(reading: ReleaseReading, setting: Setting) -> SizePanel:
    delta = reading.delta(setting)
    tone = tone_of(delta, people=reading.people)
    said = promise(delta, people=reading.people)
    tag = "guarantee holds" if tone == "ok" else said
    sizes = []
    for size in SIZES:
        found = {part: reading.of_size(part, size, setting) for part in ("cells", "size", "error", "bias")}
        if found["cells"].value > 0:
            error, bias = mark(found["error"]), mark(found["bias"])
            sizes.append(Sized(size.label, found["size"].value, error, bias, found["cells"].value))
    return SizePanel(mechanism_name(setting), f"{tag}, δ = {delta_text(delta)}", tone, sizes)


def _at(reading: ReleaseReading) -> str:
    return "" if reading.epsilon is None else f"; {epsilon_words(reading.epsilon)} where there is one"


def _shown(value: float) -> str:
    return number(value, digits_of(value)) if math.isfinite(value) else "undefined"


# --- alpha ----------------------------------------------------------------------------------------


def alpha_section(reading: ReleaseReading) -> Section | None:
    """Return alpha against epsilon, one line for each mechanism."""
    levels = _levels(reading)
    if not levels:
        return None
    heading = _alpha_heading(reading)
    numbers = "; ".join(
        f"{mechanism_name(setting)} {_shown(reading.value('alpha', setting).value)}"
        for setting in reading.beside
    )
    chart = levels_chart(
        Axis("α", "people, largest minus smallest bias of a cell"),
        levels,
        chosen_epsilon=None if reading.epsilon is None else float(reading.epsilon),
        name="alpha",
        alt=f"{heading}. α{_at(reading)}: {numbers}.",
        caption=(
            f"**{_alpha_source(reading)}** Means over "
            f"{reading.repeats_words}. A mechanism without ε is a level line; both "
            "axes are logarithmic."
        ),
    )
    return Section(
        heading=heading,
        lead="α is 0 where all cells are off by the same on average, so that no cell is favoured. It says "
        "nothing of the noise itself: without post-processing, noise alone has no bias.",
        charts=(chart,),
        anchor="alpha",
    )


def _levels(reading: ReleaseReading) -> list[Level]:
    named: dict[str, list[Setting]] = {}
    for setting in reading.protected:
        named.setdefault(mechanism_name(setting), []).append(setting)
    levels = []
    for label, settings in named.items():
        found = [setting for setting in settings if math.isfinite(reading.value("alpha", setting).value)]
        strong = all(reading.delta(setting) < NO_GUARANTEE for setting in found)
        if found:
            epsilons = [float(setting.epsilon) for setting in found if setting.epsilon is not None]
            levels.append(
                Level(
                    label,
                    epsilons,
                    [mark(reading.value("alpha", setting)) for setting in found],
                    strong=strong,
                )
            )
    return levels


def _alpha_heading(reading: ReleaseReading) -> str:
    """Return whose bias is most uneven, and of those with a promise, as far as there are any."""
    alphas = {setting: reading.value("alpha", setting).value for setting in reading.beside}
    known = {setting: value for setting, value in alphas.items() if math.isfinite(value)}
    if not known:
        return "No α is known"
    most = max(known, key=known.__getitem__)
    if known[most] == 0:
        return "No mechanism favours any cell on average"
    shown = _shown(known[most])
    even = [setting for setting, value in known.items() if value < 1]
    if len(known) > 1 and even and most not in even:
        return (
            f"{mechanism_name(most)} favours some cells over others by up to {shown} people on average; "
            f"{len(even)} of {len(known)} mechanisms by less than one"
        )
    return f"The bias of cells differs by up to {shown} people, under {mechanism_name(most)}"


def _alpha_source(reading: ReleaseReading) -> str:
    exact = [setting for setting in reading.beside if reading.is_exact(setting)]
    if len(exact) == len(reading.beside):
        return "Exact from formulas for each table, no sampling."
    if not exact:
        return "Sampled: means of further releases of each table."
    return (
        f"Exact from formulas for {len(exact)} of {len(reading.beside)} mechanisms, sampled for the others."
    )
