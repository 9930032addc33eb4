"""Say what stands around the effects of a published table: names, the promise, warnings and commands."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.answer.case import Case, Command, OptionName, Promise
from evenhand.answer.harm import MEANINGLESS_DELTA
from evenhand.release.mechanisms.registry import MECHANISMS
from evenhand.release.table.counting import Cells
from evenhand.release.table.histogram import Histogram
from evenhand.report.language import in_language, written_in
from evenhand.report.page import Section, Table
from evenhand.report.words import capital, listed, number, plain
from evenhand.study.budget.page import ledger_section
from evenhand.study.page.around import say_around, warned
from evenhand.study.page.naming import name_groups
from evenhand.study.page.wording import delta_text, digits_of
from evenhand.study.page.words import words_in
from evenhand.study.tasks.effects.options import BASELINE, largest_run, mean_of, measure_runs
from evenhand.study.tasks.release.effects import effects
from evenhand.study.tasks.release.measures import SIZES
from evenhand.study.tasks.release.task import STATED
from evenhand.study.tasks.shared.table_mechanisms import build_mechanism
from evenhand.study.tasks.shared.wording import name_mechanism, say_promise, tell_apart

if TYPE_CHECKING:
    from evenhand.answer.case import Warned
    from evenhand.answer.words import Words
    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.base import ResultData
    from evenhand.study.tasks.release.task import ReleaseTask
    from evenhand.study.tasks.shared.sizes import Size

_MEASURES = ("delta", "alpha", "l1_error", "l1_bias", "largest_bias", "suppressed", "acc", "sp_gap")
"""Those of the file with the numbers of each way to publish, as far as a study has them."""

_GUARANTEED = "evenhand audit --plan plan.toml --mechanism laplace,thresholded-laplace --out with-a-guarantee"
_NOISE = ("laplace", "discrete-gaussian", "thresholded-laplace")


class _Study(NamedTuple):
    """A study with its page's setting; what the settings are called, in sentences and in the table."""

    task: ReleaseTask
    results: ResultData
    words: Words
    page: Setting
    names: dict[Setting, str]
    keys: dict[Setting, str]
    deltas: dict[Setting, float]


def case(
    task: ReleaseTask, results: ResultData, *, page: Setting | None = None, language: str = "en"
) -> Case:
    """Return the effects of a release with what its page says around them.

    The page is about the setting that the plan fixes, unless another is named.
    """
    table, words = effects(task, results, page=page), words_in(language)
    keys = {setting: str(setting) for setting in results.settings}  # which a language would change
    deltas = {setting: largest_run(results, setting, "delta") for setting in results.settings}
    exact = all(seen.basis == "exact" for seen in table.observations if seen.option == table.page)
    chosen = next(setting for setting, key in keys.items() if key == table.page)
    with written_in(language):
        was = task.post_of(chosen)
        named = {
            setting: name_mechanism(words, setting, task.post_of(setting), was=was)
            if setting.is_protected
            else words.say("release.true_table")
            for setting in results.settings
        }
        names = tell_apart(named, chosen)
        study = _Study(task, results, words, chosen, names, keys, deltas)
        how = words.say("release.noise") if chosen.mechanism in _NOISE else names[chosen]
        cells = math.prod(results.facts.schema.sizes.values())
        return Case(
            table=table,
            kind=words.say("release.kind"),
            question=words.say("release.question", columns=[plain(name) for name in task.columns], how=how),
            groups=name_groups(results.facts, language),
            options={
                keys[each]: OptionName(name, column=name, use=words.say("release.use", name=name))
                for each, name in names.items()
            },
            protection=capital(how),
            repeats=1 if exact else results.plan.repeats,
            promise=_promise(study),
            commands=_commands(study),
            evidence=_evidence(study),
            **say_around(
                results,
                warnings=_warnings(study),
                method=[words.say("release.table", cells=cells, draws=task.draws)],
                is_exact=exact,
                language=language,
            ),
        )


# --- the promise, warnings, commands, evidence ----------------------------------------------------


def _promise(study: _Study) -> Promise | None:
    """Return what is promised to one person, at the epsilon of the setting or at 1 where it has none.

    None where no run of the setting is done, and nothing is known of it.
    """
    task, words, page = study.task, study.words, study.page
    if math.isnan(study.deltas[page]):
        return None
    bound = words.say("release.bound", bound=task.bound) if task.bound else ""
    return say_promise(
        words,
        epsilon=STATED if page.epsilon is None else page.epsilon,
        delta=study.deltas[page],
        unit=task.unit,
        mechanism=study.names[page],
        assumes=words.say("release.assumes", bound=bound),
    )


def _warnings(study: _Study) -> list[Warned]:
    """Return which tables promise nothing, that a promise is weak, and that counts may be negative."""
    found, language, page = [], study.words.language, study.page
    bad = {
        study.names[setting]: delta
        for setting, delta in study.deltas.items()
        if delta >= MEANINGLESS_DELTA and setting.is_protected and setting.epsilon in (None, page.epsilon)
    }
    if bad:
        slots = {"names": listed(list(bad), most=3), "delta": delta_text(min(bad.values()))}
        found.append(warned(language, "release.suppression", **slots))
    people, delta = study.results.facts.rows, study.deltas[page]
    if people and 1 / people <= delta < MEANINGLESS_DELTA:
        found.append(warned(language, "release.weak", delta=delta_text(delta), people=people))
    is_clamped = any(step.startswith("nonnegative") for step in study.task.post_of(page))
    if MECHANISMS[page.mechanism].may_be_negative and not is_clamped:
        found.append(warned(language, "release.negative"))
    return found


def _commands(study: _Study) -> tuple[Command, ...]:
    """Return the command that tests other ways where the page's promises nothing.

    Else the one that publishes with each setting, of a data set that has a name.
    """
    task, words, results = study.task, study.words, study.results
    commands = []
    if study.deltas[study.page] >= MEANINGLESS_DELTA:
        return (Command(words.say("release.others"), "", _GUARANTEED),) if results.plan.data else ()
    for setting, name in study.names.items():
        if not setting.is_protected:
            continue
        line = task.data_set_command(setting, results.facts.schema, data=results.plan.data)
        if line:
            spends = "" if setting.epsilon is None else words.say("release.spends", epsilon=setting.epsilon)
            label = words.say("release.use", name=name)
            commands.append(Command(label, spends, line, option=study.keys[setting]))
    return tuple(commands)


def _evidence(study: _Study) -> tuple[Section, ...]:
    """Return how far cells are off, and what publishing would spend of a ledger."""
    results, page, names = study.results, study.page, study.names

    def promise() -> Guarantee:
        nobody = np.empty(0, dtype=np.int64)  # what is promised depends on no count
        bound = study.task.bound or None
        empty = Histogram.of_stored(Cells(nobody, nobody), results.facts.schema, bound=bound)
        return build_mechanism(page, unit=study.task.unit).promise_of(empty)

    path = None if results.plan.data is None else results.plan.data.path
    sections = (_cells_section(study), ledger_section(path, promise, setting=names[page]))
    return tuple(section for section in sections if section is not None)


def _cells_section(study: _Study) -> Section | None:
    """Return delta, error of small and of large cells, and alpha, of each setting beside the page's.

    None where no cell of the table has anybody in it.
    """
    results, page, names, words = study.results, study.page, study.names, study.words

    def part_of(setting: Setting, part: str, size: Size) -> float:
        numbers = results.arrays.data.index(f"{part}_{size.key}")
        return mean_of(results.arrays.of_data[results.place(setting), :, numbers])

    filled = [size for size in SIZES[1:] if part_of(BASELINE, "cells", size) > 0]
    if not filled:
        return None
    beside = [each for each in results.settings if each.is_protected and each.epsilon in (None, page.epsilon)]
    data: dict[str, list[object]] = {
        "way to publish": [names[setting] for setting in beside],
        "epsilon": [None if setting.epsilon is None else float(setting.epsilon) for setting in beside],
    }
    for name in (name for name in _MEASURES if name in results.arrays.measures):
        data[name] = [mean_of(measure_runs(results, setting, name)) for setting in beside]
    for size in SIZES:
        data[f"mean_error_{size.key}"] = [part_of(setting, "error", size) for setting in beside]
    small, large = filled[0], filled[-1]
    table = Table(
        header=words.say("release.cells_header", small=_bounds(small), large=_bounds(large)).split("|"),
        rows=[
            [
                capital(names[setting]),
                delta_text(study.deltas[setting]),
                *(_amount(part_of(setting, "error", size)) for size in (small, large)),
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


def _bounds(size: Size) -> str:
    return in_language(f"{size.least:,}+" if size.most is None else f"{size.least:,}–{size.most:,}")


def _amount(value: float) -> str:
    return number(value, digits_of(value)) if math.isfinite(value) else "–"
