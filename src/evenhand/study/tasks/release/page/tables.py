"""The tables of a report on releases: what each mechanism promises, delta first, and all numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.report.page import Note, Section, Table
from evenhand.report.words import epsilon_of, epsilon_words, number
from evenhand.study.page.parts import all_cells, cell_text, fold_rows, small_print
from evenhand.study.page.reading import BASELINE
from evenhand.study.page.wording import counted, delta_text, digits_of, listed, plain
from evenhand.study.tasks.release.answers import promise_heading
from evenhand.study.tasks.release.names import SIZES
from evenhand.study.tasks.release.wording import blanks_text, error_text, errors_text, promise, tone_of
from evenhand.study.tasks.shared.wording import mechanism_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.release.reading import ReleaseReading
    from evenhand.study.tasks.shared.sizes import Size

__all__ = ["numbers_section", "promise_section"]

_MOST_GROUPS = 2


def promise_section(reading: ReleaseReading) -> Section:
    """Return the mechanism table, sorted by delta."""
    small, large = _few_and_many(reading)
    header = [
        f"δ\n{_stated(reading)}", "Guarantee", "Mechanism",
        *(f"Error, cells of {size.label}\npeople" for size in (small, large) if size is not None),
        "Largest bias\npeople", "α\npeople",
    ]  # fmt: skip
    rows, tags = [], {}
    for place, setting in enumerate(reading.beside):
        delta = reading.delta(setting)
        tags[place, 1] = tone_of(delta, people=reading.people)
        rows.append(_promise_row(reading, setting, delta, [size for size in (small, large) if size]))
    chosen = reading.beside.index(reading.chosen) if reading.chosen in reading.beside else None
    table = Table(
        header=header,
        rows=rows,
        numeric=[False, False, False, *[True] * (len(header) - 3)],
        caption=_promise_caption(reading),
        chosen=chosen,
        name="mechanisms",
        data=_promise_data(reading),
        tags=tags,
    )
    return Section(
        heading=f"Read δ first: {_lower(promise_heading(reading))}",
        lead="δ is, roughly, the chance that the promise of ε fails. Near 0 there is a guarantee; near 1 "
        "there is none, however small the error looks.",
        tables=(table,),
        notes=tuple(_promise_notes(reading)),
        anchor="promise",
    )


def _lower(heading: str) -> str:
    return heading[:1].lower() + heading[1:]


def _stated(reading: ReleaseReading) -> str:
    return f"at {epsilon_words(1 if reading.epsilon is None else reading.epsilon)}"


def _few_and_many(reading: ReleaseReading) -> tuple[Size | None, Size | None]:
    """Return the smallest and the largest class of cells that occur."""
    sizes = reading.sizes
    if not sizes:
        return None, None
    return sizes[0], sizes[-1] if len(sizes) > 1 else None


def _promise_row(reading: ReleaseReading, setting: Setting, delta: float, sizes: Sequence[Size]) -> list[str]:
    return [
        f"**{delta_text(delta)}**",
        promise(delta, people=reading.people),
        mechanism_name(setting) if setting.epsilon is not None else f"{mechanism_name(setting)}\nhas no ε",
        *(error_text(reading, setting, reading.of_size("error", size, setting)) for size in sizes),
        _amount(reading.value("largest_bias", setting)),
        _amount(reading.value("alpha", setting)) + ("" if reading.is_exact(setting) else "\nsampled"),
    ]


def _amount(found: Estimated) -> str:
    return number(found.value, digits_of(found.value)) if math.isfinite(found.value) else "undefined"


def _promise_caption(reading: ReleaseReading) -> str:
    columns = " × ".join(plain(name, longest=30) for name in reading.results.facts.schema.names[:6])
    return (
        f"**Means over {reading.repeats_words}.** {columns}: {reading.cells:,} cells, {reading.people:,} "
        f"people in a table. Error: mean absolute error of a cell. {errors_text(reading)} Bias: "
        "expected published minus true. α: largest minus smallest bias of a cell."
    )


def _promise_notes(reading: ReleaseReading) -> list[Note]:
    bad = [setting for setting in reading.beside if setting not in reading.promising]
    said = []
    if bad:
        names = listed([mechanism_name(setting) for setting in bad], most=5)
        said.append(
            Note(
                "bad",
                f"**No meaningful guarantee** ({names}): with about the chance δ the table tells one "
                "person's record from another's, whatever ε says. A small error is then no merit.",
            )
        )
    if any(setting.mechanism == "record-swapping" for setting in reading.beside):
        said.append(
            Note(
                "plain",
                "**Random swapping of records can be corrected.** Its table is judged as it is published. "
                "Whoever reads it can take the bias off with RecordSwapping.estimate, at the price of more "
                "noise.",
            )
        )
    blanks = blanks_text(reading.beside)
    if blanks:
        said.append(Note("plain", f"**Suppressed cells.** {blanks}"))
    sampled = [setting for setting in reading.beside if not reading.is_exact(setting)]
    if sampled:
        names = listed([mechanism_name(setting) for setting in sampled], most=5)
        said.append(
            Note(
                "plain",
                f"**Sampled bias.** {names}: there is no formula, so bias and α are means of "
                f"{reading.task.draws:,} further releases of the same table. α is then a little too large, "
                "for it takes the extremes of noisy means.",
            )
        )
    return said


def _promise_data(reading: ReleaseReading) -> dict[str, list[object]]:
    rows = reading.beside
    return {
        "delta": [reading.delta(setting) for setting in rows],
        "guarantee": [promise(reading.delta(setting), people=reading.people) for setting in rows],
        "mechanism": [mechanism_name(setting) for setting in rows],
        "epsilon": [None if setting.epsilon is None else float(setting.epsilon) for setting in rows],
        **{
            f"{measure}{end}": [getattr(reading.value(measure, setting), part) for setting in rows]
            for measure in ("l1_error", "l1_bias", "largest_bias", "alpha")
            for end, part in (("", "value"), ("_low", "low"), ("_high", "high"))
        },
        "bias_exact": [reading.is_exact(setting) for setting in rows],
        "error_exact": [reading.is_exact(setting, "error") for setting in rows],
        **{
            f"mean_error_{size.key}": [reading.of_size("error", size, setting).value for setting in rows]
            for size in SIZES
        },
    }


# --- all numbers ----------------------------------------------------------------------------------


def numbers_section(reading: ReleaseReading) -> Section:
    """Return the table of every setting, with the CSV of every cell."""
    groups = _shown_groups(reading)
    header = ["Mechanism", "ε", "δ", "Error of a cell\npeople", "α\npeople"]
    header += ["Accuracy\n%", "Selection gap\npoints"] if reading.classifies else []
    header += [f"{plain(reading.named(group), longest=24)}\n% published" for group in groups]
    order = [
        BASELINE,
        *reading.beside,
        *(setting for setting in reading.protected if setting not in reading.beside),
    ]
    chosen = order.index(reading.chosen) if reading.chosen in order else None
    more = len(reading.groups) - len(groups)
    table = Table(
        header=header,
        rows=[_row(reading, setting, groups) for setting in order],
        numeric=[False, *[True] * (len(header) - 1)],
        caption=_caption(reading, more),
        sunk=0,
        chosen=chosen,
        fold=fold_rows(len(order)),
        name="all-cells",
        data=all_cells(reading, data=True),
    )
    return Section(
        heading=f"All {len(order):,} settings, and every cell of them",
        lead=f"One row per mechanism and ε. The CSV holds all {counted(len(reading.results), 'cell')}, with "
        "the errors of each class of cells by size.",
        tables=(table,),
        anchor="numbers",
    )


def _shown_groups(reading: ReleaseReading) -> list[str]:
    """Return the groups that the page's mechanism is furthest off for, in the schema's order."""
    found = {group: abs(loss.value) for group, loss in reading.losses().items()}
    known = [group for group in reading.groups if math.isfinite(found[group])]
    kept = sorted(known, key=lambda group: -found[group])[:_MOST_GROUPS]
    return [group for group in reading.groups if group in kept]


def _row(reading: ReleaseReading, setting: Setting, groups: Sequence[str]) -> list[str]:
    epsilon = epsilon_of(setting.epsilon) if setting.epsilon is not None else "none"
    row = [
        mechanism_name(setting),
        "∞" if not setting.is_protected else epsilon,
        delta_text(reading.delta(setting)),
        _with_interval(reading.cell_error(setting)),
        _with_interval(reading.value("alpha", setting)),
    ]
    if reading.classifies:
        for measure in ("acc", "sp_gap"):
            found, moved = reading.value(measure, setting), reading.change(measure, setting)
            row.append(_with_interval(found, times=100.0, bold=moved.is_clear))
    for group in groups:
        found = reading.lost(group, setting)
        row.append(_with_interval(found, times=100.0, bold=found.is_clear, sign=True))
    return row


def _with_interval(found: Estimated, *, times: float = 1.0, bold: bool = False, sign: bool = False) -> str:
    """Return a value with its interval below, if that is no single number."""
    digits = digits_of(found.value * times) if times == 1.0 or abs(found.value) >= 1 else 1
    shown = replace(found, low=None, high=None) if found.low == found.high else found
    return cell_text(shown, times=times, digits=digits, bold=bold, sign=sign)


def _caption(reading: ReleaseReading, more: int) -> str:
    rest = f"{counted(more, 'group')} less far off: see the dumbbells." if more > 0 else ""
    bold = (
        "% published: people published of a group minus those there are, as a share of these; its intervals "
        "hold for all groups at once. Bold: the interval of the change from the true table leaves out none."
    )
    return small_print(reading, bold, rest)
