"""Who pays and what to do where columns in the clear give away what people randomise.

Then the guarantee is empty whatever it costs, and that comes first; what was measured follows it.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from evenhand.report.page import Answer
from evenhand.report.words import plain
from evenhand.study.tasks.collect.choice import COMMAND, choice_answer
from evenhand.study.tasks.shared import classifier_answers
from evenhand.study.tasks.shared.fields import typed_list

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.schema import Schema
    from evenhand.study.plan.facts import Leak
    from evenhand.study.tasks.collect.reading import CollectReading


def cost_answer(reading: CollectReading) -> Answer:
    """Return who pays; first of all which column is protected in name only."""
    said = classifier_answers.cost_answer(reading)
    leaks = reading.full_leaks
    if not leaks:
        return said
    first, *others = leaks
    more = [plain(leak.column) for leak in others]
    return reading.sentences.answer(
        f"cost.leak_{'one' if len(first.by) == 1 else 'many'}",
        column=plain(first.column),
        by=[plain(name) for name in first.by],
        guessed=first.guessed,
        base=first.base,
        others=reading.sentences.say("cost.parts.leaks", columns=more) if more else "",
        cost=f"{said.finding} {said.evidence}".strip(),
    )


def what_to_do(reading: CollectReading) -> Answer:
    """Return what to do; first of all which columns in the clear to protect or to leave out."""
    said = choice_answer(reading)
    names = telling_columns(reading.full_leaks, reading.results.facts.schema)
    if not names:
        return said
    columns = list(dict.fromkeys(plain(leak.column) for leak in reading.full_leaks))
    answer = reading.sentences.answer(
        f"choice.leak_{'one' if len(names) == 1 else 'many'}",
        by=[plain(name) for name in names],
        columns=columns,
        choice=f"{said.finding} {said.evidence}".strip(),
    )
    listed = typed_list(names)
    return Answer(answer.finding, answer.evidence, f"{COMMAND} --drop {shlex.quote(listed)}")


def telling_columns(leaks: Iterable[Leak], schema: Schema) -> tuple[str, ...]:
    """Return the columns in the clear that can be left out or randomised, so that they tell nothing more."""
    names = dict.fromkeys(name for leak in leaks for name in leak.by)
    return tuple(name for name in names if name not in {schema.target, *schema.protected_columns})
