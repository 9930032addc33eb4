"""Figures of a reproduction: their words and looks are in the ``figures.toml`` of a paper."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evenhand.papers.paper import fill_caption, read_toml
from evenhand.papers.tables import estimate_measure
from evenhand.report.charts.curves import Curve, curves_chart
from evenhand.report.charts.plots import Look, Series, plots_chart
from evenhand.report.marks import Axis, Panel
from evenhand.report.page import Chart, LegendKey
from evenhand.study.page.wording import mark
from evenhand.study.plan.cells import Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evenhand.papers.published import Published
    from evenhand.report.charts.plots import Plot
    from evenhand.report.marks import Estimate
    from evenhand.study.results.results import Results


def measures_figure(
    results: Results,
    stored: Mapping[str, Any],
    name: str,
    *,
    study: str = "",
    published: Published | None = None,
    **values: Any,
) -> Chart:
    """Return measures against epsilon, a row for each split and a curve for each protocol.

    `stored` is an entry of ``figures.toml`` with measures and their titles, alt and caption, which `values`
    fill; `study` is the name under which runs were published.
    """
    panels = []
    for split in ("uniform", "k-based"):
        own: dict[str, list[Setting]] = {}
        for setting in results.settings:
            if setting.option("split") == split:
                own.setdefault(setting.mechanism, []).append(setting)
        for measure, title in stored["measures"].items():
            lines = [
                measure_line(protocol.upper(), results, settings, measure, study=study, published=published)
                for protocol, settings in own.items()
            ]
            panels.append(Panel(f"{split} split", Axis(title), lines, mark_unprotected(results, measure)))
    return draw_measures(stored, panels, name, **values)


def measure_line(
    label: str,
    results: Results,
    settings: Sequence[Setting],
    measure: str,
    *,
    study: str,
    published: Published | None,
) -> Curve:
    """Return a measure of settings against their epsilons, beside the published means."""
    epsilons = [float(setting.epsilon or 0) for setting in settings]
    found = [mark(estimate_measure(results, setting, measure)) for setting in settings]
    means = [None if published is None else published.mean(study, each, measure) for each in settings]
    theirs = [math.nan if mean is None else mean for mean in means]
    return Curve(label, epsilons, found, published=theirs)


def mark_unprotected(results: Results, measure: str) -> Estimate:
    """Return the unprotected mean of a measure, to be drawn."""
    return mark(estimate_measure(results, Setting(), measure))


def count_repeats(results: Results) -> str:
    """Return how many repeats are finished, of the drawn settings with the fewest and with the most."""
    done = results.arrays.done.sum(axis=1)
    fewest, most = int(done[done > 0].min()), int(done.max())
    if fewest != most:
        return f"{fewest} to {most} repeats"
    return "1 repeat" if most == 1 else f"{most} repeats"


def draw_measures(
    stored: Mapping[str, Any],
    panels: Sequence[Panel],
    name: str,
    *,
    columns: int | None = None,
    **values: Any,
) -> Chart:
    """Return panels of measures against epsilon as a chart, its stored words filled."""
    alt, caption = fill_caption(stored, **values)
    return curves_chart(panels, name, alt=alt, caption=caption, columns=columns)


class Figure:
    """What ``figures.toml`` of a package has of one figure; its name is also that of its picture."""

    def __init__(self, package: str, name: str) -> None:
        self.name = name
        self.stored = read_toml(package, "figures.toml")[name]
        self.looks = {key: Look(**look) for key, look in self.stored.get("looks", {}).items()}
        self.panels = self.stored.get("panels", [])

    @property
    def legend(self) -> tuple[LegendKey, ...]:
        """The entries of the file, or one for each look."""
        if "legend" in self.stored:
            return tuple(LegendKey(*entry) for entry in self.stored["legend"])
        return tuple(LegendKey(look.label, look.shape or "line", look.colour) for look in self.looks.values())

    def series(
        self, keys: Sequence[str], values: Callable[[str], Sequence[float]], x: Sequence[float]
    ) -> list[Series]:
        """Return a line for each of some looks at the same places."""
        return [Series(self.looks[key], x, values(key)) for key in keys]

    def chart(
        self,
        plots: Sequence[Plot],
        *,
        columns: int | None = None,
        name: str = "",
        data: dict[str, list[Any]] | None = None,
        **values: Any,
    ) -> Chart:
        """Return panels as a chart under the figure's name, unless told another; `values` fill its words."""
        alt, caption = fill_caption(self.stored, **values)
        more: Any = {"legend": self.legend, "columns": columns, "data": data}
        return plots_chart(plots, name or self.name, alt=alt, caption=caption, **more)
