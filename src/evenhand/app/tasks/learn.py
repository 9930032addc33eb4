"""The form of learning: classifiers are trained with privacy and parity."""

from __future__ import annotations

from fractions import Fraction
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

from evenhand.app.tasks.answers import (
    choice_words,
    few_names,
    in_order,
    list_answer,
    number_answer,
    text_answers,
    type_epsilons,
    type_number,
    type_options,
)
from evenhand.app.tasks.base import READING, UNPROTECTED, Applying, Choice, Field, TaskForm, read_reading
from evenhand.errors import MissingExtraError
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.study.tasks.learn.methods import METHODS
from evenhand.study.tasks.learn.task import LearnTask
from evenhand.study.tasks.shared.fields import typed_list
from evenhand.study.tasks.shared.table_mechanisms import UNITS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.schema import Schema
    from evenhand.study.plan.cells import Setting
    from evenhand.study.plan.plan import Plan
    from evenhand.study.tasks.base import Task

_OWNER = "LearnTask"
_SCHEMA = "schema.toml"
_ROLES = ("target", "positive", "protected", "privileged")
_REAL = (
    (
        "A classifier is trained for real where it is used, by a person who runs Python: the trained "
        "classifier is then what is published, and each training on these people spends epsilon."
    ),
    (
        "The study trained many classifiers to compare them. None of those may be published: their setting "
        "was chosen by looking at the true rows."
    ),
)


class LearnForm(TaskForm):
    """What is asked of classifiers that are trained with privacy."""

    kind: ClassVar[str] = LearnTask.kind
    verb: ClassVar[str] = "Learn"
    title: ClassVar[str] = "A model is trained with privacy, and has to treat groups alike"
    sentence: ClassVar[str] = (
        "The model itself is published, so its training adds noise. What does it cost to have privacy and "
        "equal rates for the groups together?"
    )
    roles: ClassVar[tuple[str, ...]] = _ROLES

    def fields(self, schema: Schema | None, names: tuple[str, ...] = ()) -> tuple[Field, ...]:
        """Return the questions."""
        del schema, names
        usual = LearnTask()
        units = tuple(Choice(unit, unit) for unit in UNITS)
        return (
            Field(
                "methods",
                "Methods",
                "chips",
                _methods(),
                usual.methods,
                "Plain logistic regression is always part of the study.",
                "method",
            ),
            Field(
                "epsilons",
                "ε, in all for one person",
                "text",
                default=type_epsilons(usual.epsilons),
                help="Write any other values into the line, with commas between them.",
                term="epsilon",
            ),
            Field(
                "gap",
                "Difference of rates that parity leaves",
                "number",
                default=f"{usual.gap:g}",
                help="0 for equal rates; 0.1 leaves 10 points.",
                term="parity",
            ),
            *READING,
            Field("delta", "δ", "number", default="1e-05", term="delta", advanced=True),
            Field("unit", "What may change", "choice", units, usual.unit, term="neighbours", advanced=True),
            Field("strength", "Strength of DP-FERMI's penalty", "number", default="", advanced=True),
            Field(
                "group_as_input",
                "The protected column is a feature too",
                "switch",
                default=False,
                advanced=True,
            ),
        )

    def task(self, values: Mapping[str, Any], schema: Schema | None, **known: Any) -> Task:
        """Return the study of classifiers that the answers describe."""
        del schema, known
        parts: dict[str, Any] = {}
        if methods := list_answer(values, "methods"):
            parts["methods"] = in_order(methods, _methods())
        if epsilons := list_answer(values, "epsilons"):
            parts["epsilons"] = epsilons
        parts |= text_answers(values, "delta", "unit") | read_reading(values)
        for name in ("gap", "strength"):
            number = number_answer(values, name, owner=_OWNER)
            if number is not None:
                parts[name] = number
        if values.get("group_as_input"):
            parts["group_as_input"] = True
        task = LearnTask(**parts)
        if task.needs_accounting and find_spec("dp_accounting") is None:
            raise MissingExtraError("dp-accounting", feature="Training with differential privacy", extra="dp")
        return task

    def needed_roles(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the roles that are needed; reports need to know what is reported."""
        return (*_ROLES, "sensitive") if "local" in list_answer(values, "methods") else _ROLES

    def options(self, task: Any) -> list[str]:
        """Return the task as it is typed."""
        usual = LearnTask()
        words = ["--methods", typed_list(task.methods), "--epsilon", type_epsilons(task.epsilons)]
        own = {
            "delta": type_number(task.delta),
            "unit": task.unit,
            "gap": f"{task.gap:.17g}",
            "strength": None if task.strength is None else f"{task.strength:.17g}",
            "group-as-input": task.group_as_input,
            "called": task.called,
            "unwanted": task.unwanted,
        }
        return words + type_options(own, {"delta": type_number(usual.delta), "unit": usual.unit, "gap": "0"})

    def promise(self, task: Any, schema: Schema | None, *, epsilon: str) -> Guarantee | None:
        """Return what one person is promised by a private method."""
        private = [
            name for name in task.methods if METHODS[name].takes_epsilon and METHODS[name].base != "local"
        ]
        if not private or schema is None:
            return None
        return _guarantee(task, few_names(schema.names), Fraction(epsilon))

    def applying(self, setting: Setting | None, plan: Plan, *, data: str) -> Applying:
        """Return the script that trains one classifier: nothing is published from here."""
        task: Any = plan.task
        if setting is None or plan.schema is None or setting.epsilon is None:
            return Applying(why_not=UNPROTECTED)
        if METHODS[setting.mechanism].voids or METHODS[setting.mechanism].base == "local":
            words = METHODS[setting.mechanism].words
            return Applying(
                sentences=_REAL, why_not=f"There is no script for {words}: see the guide to learning."
            )
        return Applying(
            sentences=_REAL,
            guarantee=_guarantee(task, few_names(plan.schema.names), setting.epsilon),
            script=_script(setting, setting.epsilon, plan.schema, task, data=data),
        )


def _guarantee(task: Any, protects: Sequence[str], epsilon: Fraction) -> Guarantee:
    return Guarantee(epsilon=epsilon, delta=task.delta, unit=task.unit, trust="central", protects=protects)


def _methods() -> tuple[Choice, ...]:
    return tuple(
        Choice(name, method.title, choice_words("methods", name)[0]) for name, method in METHODS.items()
    )


def _script(setting: Setting, epsilon: Fraction, schema: Schema, task: Any, *, data: str) -> str:
    """Return Python that trains the classifier of a setting once, with the secure source."""
    method = METHODS[setting.mechanism]
    target = str(schema.target)
    code = list(schema[target].domain.labels).index(schema.positive_label)
    amounts = f"epsilon={type_number(epsilon)!r}, unit={task.unit!r}"
    kind = "DPFermi" if method.base == "fermi" else "DPLogisticRegression"
    groups = f", groups={list(range(schema.group_column.size))}" if method.base == "fermi" else ""
    grouped = ", group=group" if groups or method.then else ""
    lines = [
        f"from evenhand.learn import {kind}, ParityPostProcessor, PublicEncoder",
        "from evenhand.schema import Schema",
        "from evenhand.table import Table, read",
        "",
        f"schema = Schema.load({_SCHEMA!r})",
        f"rows = read({data!r}, schema=schema)",
        "codes = Table.encode(rows, schema)",
        f"target = (codes[{target!r}] == {code}).astype(int)",
        f"group = codes[{str(schema.protected_columns[0])!r}]",
        f"without = {[] if task.group_as_input else list(schema.protected_columns)!r}",
        "features = PublicEncoder(schema, without=without).transform(rows)",
        "",
        "# Give rows=N if the number of people is not public: without it, it has to be.",
        f"model = {kind}({amounts}, delta={type_number(task.delta)!r}, classes=[0, 1]{groups})",
    ]
    if method.then:
        own = f"gap={task.gap!r}, {amounts}, prefit=False, holdout={task.holdout!r}"
        lines.append(
            f"model = ParityPostProcessor(model, {own}, groups={list(range(schema.group_column.size))})"
        )
    lines += [f"model.fit(features, target{grouped})", "print(model.guarantee_)"]
    return "\n".join(lines) + "\n"
