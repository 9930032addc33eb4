"""Guesses for studies of counts, each with its reason: the columns of a table, and what counts decide."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.datasets import describe
from evenhand.schema.crossing import as_names
from evenhand.schema.infer import open_frame
from evenhand.study.intake.guess import WORDS, Reason, guess, is_named, name_tokens, read_rows
from evenhand.study.tasks.shared.fields import typed_list

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import narwhals as nw

    from evenhand.study.intake.guess import Rows
    from evenhand.study.intake.opening import Opened
    from evenhand.study.intake.setup import RoleOptions

_MOST_CROSSED, _MOST_VALUES, _FEWEST_EACH = 4, 10, 5
_MOST_NAMES_TWICE = 0.1


def guess_table(opened: Opened, words: RoleOptions, columns: Sequence[str] = ()) -> dict[str, Reason]:
    """Return what is guessed of a table of people, by option: its columns, whose groups, and the person.

    Columns that are given are the table's.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from evenhand.study import DataSource
    >>> from evenhand.study.intake.opening import Opened
    >>> from evenhand.study.intake.setup import RoleOptions
    >>> people = pa.table({"sex": ["f", "m"] * 40, "job": ["a", "b", "c", "d"] * 20, "pay": list(range(80))})
    >>> guess_table(Opened(DataSource(path="people.csv"), people), RoleOptions())["columns"].value
    'sex,job'
    """
    table = opened if not columns else replace(opened, frame=opened.frame.select(list(columns)))
    found = guess(table, words, person=not columns)
    known, reasons = found.words, {}
    if not columns:
        crossed = _crossed(read_rows(opened, known), known)
        if len(crossed) > 1:
            why = "they have few values each, so that a cell has several people"
            reasons["columns"] = Reason("columns", typed_list(crossed), why)
    return {
        **reasons,
        **{role: found.by_role[role] for role in ("protected", "person") if role in found.by_role},
    }


def _crossed(rows: Rows, known: RoleOptions) -> tuple[str, ...]:
    """Return a few columns of few values: groups first, then what a person is, then the outcome."""
    few = [
        name
        for name, domain in rows.domains.items()
        if domain.kind == "categorical" and 2 <= domain.size <= _MOST_VALUES and name not in known.drop
    ]
    personal = [name for name in few if name in known.sensitive]
    ranked = dict.fromkeys((*as_names(known.protected), *personal, str(known.target), *few))
    chosen: list[str] = []
    cells = 1
    for name in ranked:
        if name not in few or set(rows.siblings(name)) & set(chosen) or _is_told(rows, name, chosen):
            continue
        size = rows.domains[name].size
        if len(chosen) < _MOST_CROSSED and cells * size * _FEWEST_EACH <= max(
            len(rows.frame), 2 * _FEWEST_EACH
        ):
            chosen.append(name)
            cells *= size
    return tuple(chosen)


def _is_told(rows: Rows, name: str, chosen: list[str]) -> bool:
    """Return whether columns that are chosen tell another one: it would make no cell smaller."""
    whole = rows.frame.select([*chosen, name]).unique()
    return bool(chosen) and len(whole) == len(whole.select(chosen).unique())


def guess_decision(opened: Opened, given: Mapping[str, Any]) -> tuple[dict[str, Reason], str]:
    """Return what is guessed of a file of places, by option, and what is to be done to the file before.

    A right follows where a column counts people in need, else money follows the count of all. Of what is
    `given`, nothing is guessed.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from evenhand.study import DataSource
    >>> from evenhand.study.intake.opening import Opened
    >>> places = pa.table({"town": ["a", "b", "c"], "pupils": [90, 40, 7], "cost": [1.5, 2.5, 3.5]})
    >>> found, _ = guess_decision(Opened(DataSource(path="towns.csv"), places), {})
    >>> {option: reason.value for option, reason in found.items()}
    {'count': 'pupils', 'budget': '1e5', 'name': 'town'}
    """
    frame = open_frame(opened.frame)
    counts = _whole_counts(frame)
    found: dict[str, Reason] = {}
    all_people = _count_of_people(counts)
    decided = any(given.get(option) is not None for option in ("rule", "allot", "count"))
    law = "" if opened.source.dataset is None else describe(opened.source.dataset).rule
    if law and not decided:
        found["rule"] = Reason("rule", law, "it is the rule that this data set is about")
    elif all_people and not decided:
        found |= _what_follows(frame, counts, all_people, given)
    count = given.get("count") or all_people
    parts = [name for name in _parts(counts, count) if any(stem in name.lower() for stem in WORDS["groups"])]
    if len(parts) > 1 and not given.get("groups"):
        why = f"they count people, and none has more than '{count}'"
        found["groups"] = Reason("groups", typed_list(parts), why)
    name = None if given.get("name") else _name_of_places(frame, counts)
    if name:
        found["name"] = Reason("name", name, "its values are all different, or nearly so")
    return found, "" if name or given.get("name") else _several_rows(frame)


def _what_follows(
    frame: nw.DataFrame[Any], counts: Mapping[str, Any], people: str, given: Mapping[str, Any]
) -> dict[str, Reason]:
    """Return a rule where a column counts people in need, else the count that money follows."""
    needy = [name for name in _parts(counts, people) if _starts(name, "needs")]
    money = any(given.get(option) is not None for option in ("weight", "budget"))
    if needy and not money and min(counts[people]) > 0:
        share = float(np.median(counts[needy[0]] / counts[people]))
        if share > 0:
            limit = round(share, -math.floor(math.log10(share)))
            why = "about half of the places are above; give the limit of the law"
            return {"rule": Reason("rule", f"{_spell(needy[0])} / {_spell(people)} > {limit:g}", why)}
    found = {"count": Reason("count", people, "it counts people, and no other such column has more")}
    weights = [name for name in frame.columns if name not in counts and is_named(name, "weights")]
    if len(weights) == 1 and given.get("weight") is None and frame.get_column(weights[0]).dtype.is_numeric():
        found["weight"] = Reason("weight", weights[0], "it is named like a weight")
    if given.get("budget") is None:
        digits = len(f"{counts[people].sum():.0f}")
        why = "a round sum of some hundreds a person, so that losses are money; give the true one"
        found["budget"] = Reason("budget", f"1e{digits + 2}", why)
    return found


def _whole_counts(frame: nw.DataFrame[Any]) -> dict[str, Any]:
    """Return the columns of whole numbers, none below 0 and none missing, but for those named as rates."""
    counts = {}
    for name in frame.columns:
        series = frame.get_column(name)
        is_rate = any(part in name.lower() for part in WORDS["rates"])
        if series.dtype.is_numeric() and not series.null_count() and not is_rate:
            numbers = series.to_numpy().astype(float)
            if np.isfinite(numbers).all() and (numbers >= 0).all() and (numbers == np.floor(numbers)).all():
                counts[name] = numbers
    return counts


def _count_of_people(counts: Mapping[str, Any]) -> str | None:
    """Return the column that counts all people, by its name and its sum."""
    named = [name for name in counts if _starts(name, "counts") and not is_named(name, "identifiers")]
    return max(named, key=lambda name: float(counts[name].sum()), default=None)


def _parts(counts: Mapping[str, Any], whole: str | None) -> list[str]:
    """Return the columns that are nowhere more than the whole, and less somewhere."""
    if whole is None or whole not in counts:
        return []
    return [
        name
        for name, numbers in counts.items()
        if (numbers <= counts[whole]).all() and numbers.sum() < counts[whole].sum()
    ]


def _name_of_places(frame: nw.DataFrame[Any], counts: Mapping[str, Any]) -> str | None:
    """Return the column with the names: texts of which few are twice, or numbers; codes come last."""
    apart = {name: frame.get_column(name).n_unique() / max(len(frame), 1) for name in frame.columns}
    texts = [
        name for name in frame.columns if name not in counts and not frame.get_column(name).dtype.is_numeric()
    ]
    near = [name for name in texts if apart[name] >= 1 - _MOST_NAMES_TWICE]
    numbered = [name for name in frame.columns if apart[name] == 1 and _is_code(name)]
    return max(near, key=lambda name: (not _is_code(name), apart[name]), default=None) or next(
        iter(numbered), None
    )


def _is_code(name: str) -> bool:
    return is_named(name, "identifiers") or _ends(name, "codes")


def _several_rows(frame: nw.DataFrame[Any]) -> str:
    """Return what to do where places seem to have a row for each time; empty if none is seen."""
    for name in frame.columns:
        if is_named(name, "times") and 1 < frame.get_column(name).n_unique() <= len(frame) / 2:
            return f"A place may have several rows, one for each '{name}': keep those of one."
    return ""


def _spell(name: str) -> str:
    """Return a column as a rule has it."""
    return name if name.isidentifier() and name not in {"and", "or", "xor", "not"} else f"`{name}`"


def _starts(name: str, kind: str) -> bool:
    return any(token.startswith(tuple(WORDS[kind])) for token in name_tokens(name))


def _ends(name: str, kind: str) -> bool:
    return name.lower().endswith(tuple(WORDS[kind]))
