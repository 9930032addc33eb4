"""The sections on error: against the size of cells, and how unevenly it falls against epsilon."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.charts import levels_chart, sizes_chart
from evenhand.report.marks import Axis, Level, Sized, SizePanel
from evenhand.report.page import Section
from evenhand.report.words import number
from evenhand.study.page.wording import delta_text, digits_of, mark
from evenhand.study.tasks.release.answers import error_finding
from evenhand.study.tasks.release.names import SIZES
from evenhand.study.tasks.release.wording import errors_text, promise, tone_of
from evenhand.study.tasks.shared.table_mechanisms import NO_GUARANTEE
from evenhand.study.tasks.shared.wording import mechanism_name

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.release.reading import ReleaseReading

_LEAST_ALPHA = 0.05  # a smaller one would be written as 0.0 people


def sizes_section(reading: ReleaseReading) -> Section | None:
    """Return one panel for each mechanism: error and bias of cells against their size."""
    if not reading.sizes:
        return None
    say, small = reading.sentences.say, reading.sizes[0]
    numbers = "; ".join(
        say(
            "sizes.number",
            name=mechanism_name(setting),
            error=_write_error(reading, reading.of_size("error", small, setting).value),
        )
        for setting in reading.beside
    )
    heading = say(f"sizes.heading_{error_finding(reading)}")
    chart = sizes_chart(
        [_panel(reading, setting) for setting in reading.beside],
        name="error-by-cell-size",
        alt=say("sizes.alt", heading=heading, size=small.label, numbers=numbers),
        caption=say(
            "sizes.caption",
            means=say(f"sizes.means{'_one' * (reading.repeats == 1)}", repeats=reading.repeats_words),
            where=_where(reading),
            errors=errors_text(reading),
            rows=say(f"sizes.rows_{'other' if reading.classifies else 'same'}"),
        ),
    )
    lead = say("sizes.lead", name=mechanism_name(reading.chosen))
    return Section(heading=heading, lead=lead, charts=(chart,), anchor="sizes")


def _panel(reading: ReleaseReading, setting: Setting) -> SizePanel:
    delta, say = reading.delta(setting), reading.sentences.say
    tone = tone_of(delta, people=reading.people)
    said = say("promise.tag_ok") if tone == "ok" else promise(reading, setting)
    tag = say("promise.tag", promise=said, delta=delta_text(delta))
    sizes = []
    for size in SIZES:
        found = {part: reading.of_size(part, size, setting) for part in ("cells", "size", "error", "bias")}
        if found["cells"].value > 0:
            error, bias = mark(found["error"]), mark(found["bias"])
            sizes.append(Sized(size.label, found["size"].value, error, bias, found["cells"].value))
    return SizePanel(mechanism_name(setting), tag, tone, sizes)


def _where(reading: ReleaseReading) -> str:
    epsilon = reading.epsilon
    return "" if epsilon is None else reading.sentences.say("name.where", epsilon=epsilon)


def _write_error(reading: ReleaseReading, value: float) -> str:
    return number(value, digits_of(value)) if math.isfinite(value) else reading.sentences.say("name.unknown")


# --- alpha ----------------------------------------------------------------------------------------


def alpha_section(reading: ReleaseReading) -> Section | None:
    """Return alpha against epsilon, one line for each mechanism."""
    levels = _levels(reading)
    if not levels:
        return None
    say, heading = reading.sentences.say, _alpha_heading(reading)
    numbers = "; ".join(
        say(
            "alpha.number",
            name=mechanism_name(setting),
            alpha=_write_error(reading, reading.value("alpha", setting).value),
        )
        for setting in reading.beside
    )
    chart = levels_chart(
        Axis(say("alpha.axis"), say("alpha.unit")),
        levels,
        chosen_epsilon=None if reading.epsilon is None else float(reading.epsilon),
        name="alpha",
        alt=say("alpha.alt", heading=heading, where=_where(reading), numbers=numbers),
        caption=say("alpha.caption", source=_alpha_source(reading), repeats=reading.repeats_words),
    )
    return Section(heading=heading, lead=say("alpha.lead"), charts=(chart,), anchor="alpha")


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
    say = reading.sentences.say
    alphas = {setting: reading.value("alpha", setting).value for setting in reading.beside}
    known = {setting: value for setting, value in alphas.items() if math.isfinite(value)}
    if not known:
        return say("alpha.heading_unknown")
    most = max(known, key=known.__getitem__)
    if known[most] == 0:
        return say("alpha.heading_none")
    if known[most] < _LEAST_ALPHA:
        return say("alpha.heading_least", least=number(_LEAST_ALPHA, 2))
    even = [setting for setting, value in known.items() if value < 1]
    slots = {"name": mechanism_name(most), "alpha": _write_error(reading, known[most])}
    if len(known) > 1 and even and most not in even:
        return say("alpha.heading_some", even=len(even), known=len(known), **slots)
    return say("alpha.heading", **slots)


def _alpha_source(reading: ReleaseReading) -> str:
    exact = [setting for setting in reading.beside if reading.is_exact(setting)]
    key = "sampled" if not exact else "exact" if len(exact) == len(reading.beside) else "some"
    return reading.sentences.say(f"alpha.source_{key}", exact=len(exact), all=len(reading.beside))
