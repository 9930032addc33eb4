"""Say what stands around the table of a page on classifiers; the evidence is every setting that was tried."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evenhand.answer.case import Case
from evenhand.errors import MissingExtraError
from evenhand.report.charts import frontier_chart
from evenhand.report.language import fixed_word, written_in
from evenhand.report.marks import Axis, Point
from evenhand.report.page import LateCharts, Section, Table
from evenhand.report.words import epsilon_of, number
from evenhand.study.page.around import say_around
from evenhand.study.page.naming import name_groups
from evenhand.study.page.wording import cell_text, fold_rows, mark, outcome_name
from evenhand.study.page.words import words_in
from evenhand.study.results.frames import cell_columns
from evenhand.study.results.frontier import frontier
from evenhand.study.tasks.effects.options import mean_of, measure_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evenhand.answer.case import Warned
    from evenhand.answer.effects import EffectTable
    from evenhand.report.page import Chart
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.base import ResultData
    from evenhand.study.results.frontier import FrontierPoint

_LEVEL = 0.95


def classifier_case(
    results: ResultData,
    table: EffectTable,
    names: Mapping[Setting, str],
    page: Setting,
    *,
    own: Sequence[Warned],
    method: Sequence[str],
    language: str,
    **told: Any,
) -> Case:
    """Return a case with what its kind says, `told`, and what every page on classifiers says.

    `names` are the settings of the evidence, as they are called without their epsilon and in the order of the
    table; the page is about `page`. `own` are the warnings of the kind, `method` is how it was done. It is
    called where numbers are written in the language.
    """
    say = words_in(language).say
    reading = say(
        f"study.{'unwanted' if table.unwanted else 'wanted'}", outcome=outcome_name(results.facts.schema)
    )
    return Case(
        table,
        groups=name_groups(results.facts, language),
        called=results.plan.task.called,  # type: ignore[attr-defined] # a classifier's task
        repeats=results.plan.repeats,
        evidence=(_settings_section(results, names, page, language),),
        **say_around(
            results,
            warnings=own,
            method=[*method, reading],
            limits=[say("classifier.labels")],
            language=language,
        ),
        **told,
    )


def _settings_section(
    results: ResultData, names: Mapping[Setting, str], page: Setting, language: str
) -> Section:
    """Return every setting of `names` as a mark in the plane and as a row of a table."""
    say = words_in(language).say
    points = {point.setting: point for point in frontier(results, level=_LEVEL) if point.setting in names}

    def draw() -> tuple[Chart, ...]:
        with written_in(language):
            return _draw(points, names, page, results.plan.repeats, say)

    return Section(
        heading=say("classifier.tried"),
        charts=LateCharts(draw),
        tables=(_table(results, points, names, page, say),),
        anchor="evidence",
    )


def _draw(
    points: Mapping[Setting, FrontierPoint],
    names: Mapping[Setting, str],
    page: Setting,
    repeats: int,
    say: Callable[..., str],
) -> tuple[Chart, ...]:
    """Return the frontier; nothing where the extra that draws is not installed."""
    marks = {setting: _point(points[setting], names[setting]) for setting in names}
    try:
        chart = frontier_chart(
            [point for setting, point in marks.items() if setting.is_protected],
            baseline=next((point for setting, point in marks.items() if not setting.is_protected), None),
            chosen=marks.get(page) if page.is_protected else None,
            x=Axis(say("classifier.accuracy"), "%", 100.0),
            y=Axis(say("classifier.gap"), fixed_word("form.points"), 100.0),
            name="frontier",
            alt=say("classifier.tried"),
            caption=say("classifier.caption", repeats=repeats, level=_LEVEL),
        )
    except MissingExtraError:
        return ()
    return (chart,)


def _point(found: FrontierPoint, name: str) -> Point:
    epsilon = found.setting.epsilon
    return Point(
        label=name,
        epsilon=None if epsilon is None else float(epsilon),
        shape="",
        x=mark(found.x),
        y=mark(found.y),
        undominated=found.undominated and found.setting.is_protected,
    )


def _table(
    results: ResultData,
    points: Mapping[Setting, FrontierPoint],
    names: Mapping[Setting, str],
    page: Setting,
    say: Callable[..., str],
) -> Table:
    order = list(names)
    titles = [f"{say('classifier.accuracy')}\n%", f"{say('classifier.gap')}\n{fixed_word('form.points')}"]
    bounds = {setting: _bound(results, setting) for setting in order}
    has_bound = any(math.isfinite(bound) for bound in bounds.values())
    titles += [f"{say('classifier.bound')}\n{fixed_word('form.points')}"] if has_bound else []
    rows = []
    for setting in order:
        epsilon = "" if setting.epsilon is None else epsilon_of(setting.epsilon)
        cells = [names[setting], epsilon, cell_text(points[setting].x), cell_text(points[setting].y)]
        bound = number(100 * bounds[setting]) if math.isfinite(bounds[setting]) else ""
        rows.append([*cells, bound] if has_bound else cells)
    return Table(
        header=["", "ε", *(title[:1].upper() + title[1:] for title in titles)],
        rows=rows,
        numeric=[False, *[True] * (len(titles) + 1)],
        sunk=next((place for place, setting in enumerate(order) if not setting.is_protected), None),
        chosen=order.index(page) if page.is_protected and page in order else None,
        fold=fold_rows(len(order)),
        name="all-cells",
        data={name: list(values) for name, values in cell_columns(results).items()},
    )


def _bound(results: ResultData, setting: Setting) -> float:
    """Return the smaller proved bound on the gap, a mean over repeats; NaN if there is none below 1."""
    stored = [name for name in ("bound", "bound_95") if name in results.arrays.measures]
    means = [mean_of(measure_runs(results, setting, name)) for name in stored]
    return min((mean for mean in means if mean < 1), default=math.nan)
