"""What a classification asks of a schema, a task and the rows; each refusal says what to do."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from evenhand.collect.reports.dropping import refuse_dropping
from evenhand.errors import EvenhandError, PlanError
from evenhand.schema.text import brief
from evenhand.study.tasks.collect.features import check_encoder, layout
from evenhand.study.tasks.collect.models import check_model
from evenhand.study.tasks.collect.optimal_setting import check_optimal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.schema import Schema
    from evenhand.study.tasks.collect.grid import Collect
    from evenhand.study.tasks.collect.task import Classify
    from evenhand.study.tasks.learn.task import LearnTask
    from evenhand.study.tasks.release.task import ReleaseTask

__all__ = ["check_rows", "check_schema", "check_size", "check_task"]

_MOST_NUMBERS = 500_000_000  # 4 GB in double precision


def check_schema(schema: Schema, collect: Collect) -> None:
    """Refuse a schema that lacks a role, or in which roles are in each other's way."""
    for role, what in (
        ("target", "the column to predict"),
        ("positive", "the value of the target that people hope for"),
        ("protected", "the column whose groups are compared"),
        ("privileged", "the group that the others are compared with"),
    ):
        if getattr(schema, role) is None:
            _refuse(f"schema.roles.{role}", f"is missing. Hint: name {what}.")
    if not schema.sensitive:
        why = "is missing: nothing would be protected. Hint: name the columns that people randomise."
        _refuse("schema.roles.sensitive", why)
    target, protected = str(schema.target), str(schema.protected)
    if target == protected:
        _refuse("schema.roles.protected", "is the target too. Hint: compare the groups of another column.")
    if target in schema.sensitive:
        why = f"holds the target '{brief(target)}', which is in the clear here. Hint: take it out."
        _refuse("schema.roles.sensitive", why)
    if "single" in collect.strategies and protected not in schema.sensitive:
        _refuse(
            "collect.strategies",
            f"holds 'single', which reports the protected column alone, but '{brief(protected)}' is not "
            "sensitive. Hint: make it sensitive, or use the strategy 'independent'.",
        )
    for name in schema.sensitive:
        if schema[name].size < 2:
            why = f"holds '{brief(name)}', which has one value only. Hint: take it out, it tells nothing."
            _refuse("schema.roles.sensitive", why)
    refuse_dropping(schema[name] for name in schema.sensitive)
    check_optimal(schema, collect)


def check_task(task: Classify, collect: Collect) -> None:
    """Refuse a task that none of the cells, or not all of them, could do."""
    try:
        check_model(task)
        for setting in collect.settings():
            check_encoder(task.encoder, setting)
    except ImportError:
        raise
    except EvenhandError as error:
        parameter = getattr(error, "parameter", "")
        _refuse(f"task.{parameter}" if parameter else "task", f"is not valid. {error}")


def check_size(task: Classify, schema: Schema, *, people: int) -> None:
    """Refuse features that would fill the memory of a usual machine."""
    blocks = layout(schema, task.encoder)
    width = sum(block.width for block in blocks)
    if people * width > _MOST_NUMBERS:
        widest = max(blocks, key=lambda block: block.width)
        _refuse(
            "task.encoder",
            f"makes {width:,} features, more than memory holds for so many rows; column "
            f"'{brief(widest.column)}' makes {widest.width:,} of them. Hint: use fewer rows, bin the column, "
            "or use the encoder 'codes'.",
        )


def check_rows(
    task: Classify | ReleaseTask | LearnTask,
    *,
    target: NDArray[np.uint8],
    sizes: NDArray[np.intp],
    schema: Schema,
) -> None:
    """Refuse rows from which no training and test part can be made, or in which a group has nobody."""
    fewest = int(np.bincount(target, minlength=2).min())
    if not fewest:
        why = f"names '{brief(str(schema.target))}', which is the same for everybody: nothing can be learnt."
        _refuse("schema.roles.target", f"{why} Hint: check the positive value and the rows.")
    if not sizes.all():
        why = f"names '{brief(str(schema.protected))}', in which a declared group has nobody."
        _refuse("schema.roles.protected", f"{why} Hint: take values that do not occur out of its domain.")
    if task.folds is not None:
        enough, field = fewest >= task.folds, "task.folds"
    else:
        held = math.ceil(task.test * target.size)
        learnt = target.size - held  # each outcome has its share of them, rounded
        enough = fewest >= 2 and held >= 2 and learnt >= 2 and 2 * learnt * fewest > target.size
        field = "task.test"
    if not enough:
        why = "asks for parts that would not all hold both outcomes."
        _refuse(field, f"{why} Hint: use more rows, or fewer and larger parts.")


def _refuse(field: str, why: str) -> NoReturn:
    raise PlanError(f"The plan field '{field}' {why}", field=field) from None
