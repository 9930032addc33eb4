"""The rows of a collection, and what it asks of a schema, a task and the rows; refusals say what to do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand._notes import Note
from evenhand.collect.joint.strategy import refuse_dropping
from evenhand.collect.protocols.registry import AUTO
from evenhand.errors import EvenhandError, InvalidParameterError
from evenhand.learn.encoding.reports import layout
from evenhand.learn.models import check_model
from evenhand.report.language import language_now
from evenhand.report.words import epsilon_words
from evenhand.schema.text import brief
from evenhand.study.page.words import words_in
from evenhand.study.profile.leakage import leak_of
from evenhand.study.tasks.base import refuse_field
from evenhand.study.tasks.collect.task import OWN
from evenhand.study.tasks.shared.protection import strategy_of
from evenhand.study.tasks.shared.report_settings import (
    NAME,
    check_encoder,
    check_optimal,
    has_long_outcome,
    why_not_optimal,
)
from evenhand.study.tasks.shared.rows import (
    add_target_leaks,
    check_parts,
    check_roles,
    encode_rows,
    load_rows,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.schema import Schema
    from evenhand.study.plan.facts import Leak
    from evenhand.study.plan.plan import Plan
    from evenhand.study.tasks.base import Prepared
    from evenhand.study.tasks.collect.task import CollectTask

_MOST_NUMBERS = 500_000_000  # 4 GB in double precision
_MOST_SECRETS = 10


def prepare(task: CollectTask, plan: Plan, *, frame: Any = None) -> Prepared:
    """Load and encode the rows of a plan and check that a model can be trained on reports of them."""
    rows = load_rows(plan, frame)
    check_schema(rows.schema, task)
    check_task(task)
    is_told = rows.schema.target in rows.schema.sensitive
    prepared = add_target_leaks(encode_rows(plan, rows, keep_target=is_told))
    facts = prepared.facts
    check_size(task, facts.schema, people=facts.rows)
    check_parts(prepared.target, facts.schema, sizes=facts.sizes, test=task.test, folds=task.folds)
    leaks = _leaks_of_secrets(prepared)
    notes = (*facts.notes, *map(_note_on, leaks), *_notes_on_truth(task, facts.schema))
    return replace(prepared, facts=replace(facts, notes=notes, leaks=leaks))


def _leaks_of_secrets(prepared: Prepared) -> tuple[Leak, ...]:
    """Return what the columns in the clear, the target often among them, give away of the randomised ones."""
    schema, codes = prepared.facts.schema, prepared.codes
    clear: dict[str, Any] = {name: codes[name] for name in codes if name not in schema.sensitive}
    if schema.target not in schema.sensitive:
        clear[str(schema.target)] = prepared.target
    if prepared.survey_weights is not None:
        clear[str(schema.weight)] = prepared.survey_weights
    secrets = sorted(schema.sensitive, key=lambda name: name not in schema.protected_columns)
    found = [leak_of(name, codes[name], clear) for name in secrets[:_MOST_SECRETS]]
    return tuple(leak for leak in found if leak is not None)


def _note_on(leak: Leak) -> Note:
    """Return what a reader should know of a leak, with the names and without a number."""
    names = [f"'{brief(name)}'" for name in leak.by]
    slots = {"column": f"'{brief(leak.column)}'", "by": names, "n": len(names)}
    key = "collect.leak_full" if leak.is_full else "collect.leak"
    text = words_in(language_now()).say(key, **slots)
    return Note("privacy", text)


def telling_columns(leaks: Iterable[Leak], schema: Schema) -> tuple[str, ...]:
    """Return the columns in the clear that can be left out or randomised, so that they tell nothing more."""
    names = dict.fromkeys(name for leak in leaks for name in leak.by)
    return tuple(
        name for name in names if name not in {schema.target, schema.weight, *schema.protected_columns}
    )


def _notes_on_truth(task: CollectTask, schema: Schema) -> tuple[Note, ...]:
    """Say of which column, and in which setting, reports are true the least often, if that is rarely."""
    found = []
    for setting in task.settings():
        if setting.mechanism != NAME:
            strategy = strategy_of(setting, schema)
            kinds = sorted({protocol.name.upper() for protocol in strategy.protocols.values()})
            where = f"{', '.join(kinds)}, {epsilon_words(setting.epsilon)}"
            found += [(share, name, where) for name, share in strategy.rarely_true.items()]
    if not found:
        return ()
    share, name, where = min(found)
    slots = {"column": f"'{brief(name)}'", "share": share, "where": where}
    return (Note("limit", words_in(language_now()).say("collect.rarely_true", **slots)),)


def check_schema(schema: Schema, task: CollectTask) -> None:
    """Refuse a schema that lacks a role, or in which roles are in each other's way."""
    check_roles(schema)
    if not schema.sensitive:
        why = "is missing: nothing would be protected. Hint: name the columns that people randomise."
        refuse_field("schema.roles.sensitive", why)
    if (schema.rows_per_person or 1) > 1:
        why = "must be 1 for a collection, where each report is promised by itself."
        refuse_field("schema.roles.rows_per_person", f"{why} Hint: keep one row of each person.")
    if has_long_outcome(schema):
        _check_long_outcome(schema, task)
    if "single" in task.strategies and schema.crossing is not None:
        why = "holds 'single', which reports one protected column alone, and several are crossed."
        refuse_field("task.strategies", f"{why} Hint: use the strategy 'independent' or 'combined'.")
    if "single" in task.strategies and schema.protected not in schema.sensitive:
        refuse_field(
            "task.strategies",
            f"holds 'single', which reports the protected column alone, but '{brief(str(schema.protected))}' "
            "is not sensitive. Hint: make it sensitive, or use the strategy 'independent'.",
        )
    for name in schema.sensitive:
        if schema[name].size < 2:
            why = f"holds '{brief(name)}', which has one value only. Hint: take it out, it tells nothing."
            refuse_field("schema.roles.sensitive", why)
    refuse_dropping(schema[name] for name in schema.sensitive)
    check_optimal(schema, task.settings())


def _check_long_outcome(schema: Schema, task: CollectTask) -> None:
    """Refuse what would hide from which score on a randomised outcome of several values is likely."""
    why = f"does not go with '{brief(str(schema.target))}', a randomised outcome of more than two values"
    hint = "declare the outcome with two values."
    if "combined" in task.strategies:
        why = f"holds 'combined', which {why}."
        refuse_field("task.strategies", f"{why} Hint: use the strategy 'independent', or {hint}")
    if not isinstance(task.model, str) and not hasattr(task.model, "predict_proba"):
        refuse_field("task.model", f"gives no probabilities, which {why}. Hint: {hint}")


def fit_protocols(task: CollectTask, schema: Schema) -> CollectTask:
    """Return the task with the protocols to compare by default for a schema.

    Those by which ``"auto"`` reports every column at every epsilon already are left out, and ``"optimal"``,
    which keeps the gap small, is one of them where it can report the protected column in a short time.
    """
    asked = {
        mechanism.name: {
            setting.epsilon: {
                name: kind.name for name, kind in strategy_of(setting, schema).protocols.items()
            }
            for setting in task.with_(protocols=[mechanism], strategies=("independent",)).settings()
        }
        for mechanism in task.protocols
        if mechanism.name == AUTO or not mechanism.parameters
    }
    twins = [name for name, ways in asked.items() if name != AUTO and ways == asked.get(AUTO)]
    kept = [mechanism for mechanism in task.protocols if mechanism.name not in twins]
    return task.with_(protocols=[*kept, *([] if why_not_optimal(schema) else [NAME])])


def check_task(task: CollectTask) -> None:
    """Refuse a task that none of the cells, or not all of them, could do."""
    if isinstance(task.model, str) and task.model.startswith(OWN):
        why = "has only the name of a classifier with which this study was made from Python."
        hint = f"run it from Python, with CollectTask(model={task.model_name}(...))."
        refuse_field("task.model", f"{why} Hint: {hint}")
    try:
        check_model(task.model, task.parameters)
        for setting in task.settings():
            check_encoder(task.encoder, setting)
    except ImportError:
        raise
    except EvenhandError as error:
        parameter = getattr(error, "parameter", "")
        told = error
        if isinstance(error, InvalidParameterError):
            told = error.renamed(parameter, owner="CollectTask")
        refuse_field(f"task.{parameter}" if parameter else "task", f"is not valid. {told}")


def check_size(task: CollectTask, schema: Schema, *, people: int) -> None:
    """Refuse features that would fill the memory of a usual machine."""
    blocks = layout(schema, task.encoder)
    width = sum(block.width for block in blocks)
    if people * width > _MOST_NUMBERS:
        widest = max(blocks, key=lambda block: block.width)
        refuse_field(
            "task.encoder",
            f"makes {width:,} features, more than memory holds for so many rows; column "
            f"'{brief(widest.column)}' makes {widest.width:,} of them. Hint: use fewer rows, bin the column, "
            "or use the encoder 'codes'.",
        )
