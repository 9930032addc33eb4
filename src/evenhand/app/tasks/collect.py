"""The form of a collection: people randomise their answers, and a model learns from what they report."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from evenhand.app.tasks.answers import (
    choice_words,
    few_names,
    in_order,
    list_answer,
    number_answer,
    text_answer,
    text_answers,
    type_epsilons,
    type_options,
)
from evenhand.app.tasks.base import (
    READING,
    UNPROTECTED,
    Applying,
    Choice,
    Field,
    TaskForm,
    command_words,
    read_reading,
)
from evenhand.collect import PROTOCOLS
from evenhand.collect.joint.build import STRATEGIES
from evenhand.collect.protocols.registry import AUTO
from evenhand.learn.models import MODELS
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.study.tasks.collect.prepare import fit_protocols
from evenhand.study.tasks.collect.task import ENCODERS, SPLITS, CollectTask
from evenhand.study.tasks.shared.fields import typed_list
from evenhand.study.tasks.shared.protection import promise_of
from evenhand.study.tasks.shared.report_settings import has_parity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evenhand.schema import Schema
    from evenhand.study.plan.cells import Setting
    from evenhand.study.plan.plan import Plan
    from evenhand.study.tasks.base import Task

_OWNER = "CollectTask"
_LIMITS = {"max_gap": "Largest gap you accept", "max_accuracy_loss": "Largest loss of accuracy you accept"}
_GRID = ("protocols", "splits", "strategies")
_SPLITS = {
    "uniform": "Every answer has the same part of epsilon.",
    "k-based": "Answers with more values have a larger part.",
    "optimal": "The parts by which the estimates of all answers are best together.",
    "sample": "Each person reports one answer, chosen at random, with all of epsilon.",
}
_STRATEGIES = {
    "independent": "Each answer is randomised by itself.",
    "combined": "All answers of a person are randomised as one value.",
    "single": "Only the protected column is reported.",
}
_MODELS = {
    "quick-boosting": "Boosted trees of scikit-learn, a quarter as many, in larger steps.",
    "gradient-boosting": "Boosted trees of scikit-learn, a hundred at most: slower, and hardly different.",
    "lightgbm": "Boosted trees of LightGBM, which has to be installed.",
    "random-forest": "Many trees that vote.",
    "logistic": "Logistic regression.",
}
_ENCODERS = {
    "narrow": "Few features: numbers in the clear stay numbers.",
    "one-hot": "One feature for each value.",
    "codes": "One feature for each column, which GRR alone has.",
}
_OPTIMAL = (
    "The optimal protocol needs public shares and rates of the groups, which no study may read from rows."
)
_PARITY = "Parity needs everybody's true group, which whoever collects reports does not hold."
_PRINTED = "The command line has no option for this variant of the protocol."


class CollectForm(TaskForm):
    """What is asked of a collection."""

    kind: ClassVar[str] = CollectTask.kind
    deed: ClassVar[str] = "Privatise"
    verb: ClassVar[str] = "Collect"
    title: ClassVar[str] = "People randomise their answers, then a model learns from them"
    sentence: ClassVar[str] = (
        "Each person changes their sensitive answers at random before anybody sees them. Who is predicted "
        "worse by a model that learns from such reports?"
    )
    roles: ClassVar[tuple[str, ...]] = ("target", "positive", "protected", "privileged", "sensitive")

    def needs_bins(self, values: Mapping[str, Any]) -> bool:
        """Whether each value would become a feature."""
        return text_answer(values, "encoder") == "one-hot" or text_answer(values, "model") == "logistic"

    def fields(self, schema: Schema | None, names: tuple[str, ...] = ()) -> tuple[Field, ...]:
        """Return the questions."""
        del names
        task = CollectTask(CollectTask.audit_mechanisms, CollectTask.audit_epsilons)
        usual = task if schema is None or not _is_complete(schema) else fit_protocols(task, schema)
        return (
            Field(
                "protocols",
                "Protocols",
                "chips",
                _protocols(),
                tuple(each.name for each in usual.protocols),
                "How an answer is changed at random. Several are compared.",
                "protocol",
            ),
            Field(
                "epsilons",
                "ε, in all for one person",
                "text",
                default=",".join(CollectTask.audit_epsilons),
                help="All sensitive answers of a person share it.",
                term="epsilon",
            ),
            Field(
                "splits",
                "How the answers share ε",
                "chips",
                _choices(SPLITS, _SPLITS),
                tuple(task.splits),
                term="split",
            ),
            Field(
                "strategies",
                "How several answers are reported",
                "chips",
                _choices(STRATEGIES, _STRATEGIES),
                tuple(task.strategies),
                term="strategy",
                advanced=True,
            ),
            *_limits(),
            *READING,
            Field("model", "Model", "choice", _choices(MODELS, _MODELS), task.model, advanced=True),
            Field(
                "encoder",
                "Features of the model",
                "choice",
                _choices(ENCODERS, _ENCODERS),
                task.encoder,
                advanced=True,
            ),
        )

    def advise(self, results: Any, values: Mapping[str, Any]) -> str:
        """Return which setting keeps the limits, if limits were answered."""
        given = _given_limits(values)
        return str(results.advise(**given).sentence) if given else ""

    def task(self, values: Mapping[str, Any], schema: Schema | None, **known: Any) -> Task:
        """Return the collection that the answers describe, with the defaults of the command line."""
        del known
        _given_limits(values)  # what cannot be read is refused before anything runs
        choices = {"protocols": _protocols(), "splits": _choices(SPLITS, _SPLITS)}
        grid: dict[str, Any] = {
            "protocols": CollectTask.audit_mechanisms,
            "epsilons": list_answer(values, "epsilons") or CollectTask.audit_epsilons,
        }
        for name in _GRID:
            given = list_answer(values, name)
            if given:
                grid[name] = in_order(given, choices.get(name, ()))
        grid |= text_answers(values, "model", "encoder") | read_reading(values)
        task = CollectTask(**grid)
        if not list_answer(values, "protocols") and schema is not None and _is_complete(schema):
            task = fit_protocols(task, schema)
        return task

    def options(self, task: Any) -> list[str]:
        """Return the task as it is typed."""
        usual = CollectTask()
        words = ["--protocol", typed_list(each.name for each in task.protocols)]
        words += ["--epsilon", type_epsilons(task.epsilons)]
        own = {"split": typed_list(task.splits), "strategy": typed_list(task.strategies)}
        own |= {"model": task.model, "encoder": task.encoder}
        own |= {"called": task.called, "unwanted": task.unwanted}
        plain = {"split": typed_list(usual.splits), "strategy": typed_list(usual.strategies)}
        return words + type_options(own, {**plain, "model": usual.model, "encoder": usual.encoder})

    def promise(self, task: Any, schema: Schema | None, *, epsilon: str) -> Guarantee | None:
        """Return what one person is promised by their report."""
        if schema is None:
            return None
        amount = Fraction(epsilon)
        setting = next((each for each in task.settings() if each.epsilon == amount), None)
        return None if setting is None else _promise(setting, schema)

    def applying(self, setting: Setting | None, plan: Plan, *, data: str) -> Applying:
        """Return ``evenhand privatize`` as the setting tested it."""
        schema = plan.schema
        if setting is None or schema is None or setting.epsilon is None:
            return Applying(why_not=UNPROTECTED)
        if setting.mechanism == "optimal":
            return Applying(why_not=_OPTIMAL)
        words = command_words(setting, plan, data=data)
        if not words:
            return Applying(why_not=_PARITY if has_parity(setting) else _PRINTED)
        single = setting.option("strategy") == "single"
        columns = schema.protected_columns if single else schema.sensitive
        hidden = {*columns, *schema.sensitive}
        return Applying(
            command=tuple(words),
            guarantee=_promise(setting, schema, in_clear=()),
            sentences=(
                (
                    "Every person's sensitive answers are drawn anew from the secure random source of this "
                    "computer, and the file with the reports is written."
                ),
            ),
            keepable=tuple(name for name in schema.names if name not in hidden),
        )


def _given_limits(values: Mapping[str, Any]) -> dict[str, float]:
    """Return the largest gap and loss that were answered, as shares."""
    limits = {name: number_answer(values, name, owner=_OWNER) for name in _LIMITS}
    return {name: value / 100 for name, value in limits.items() if value is not None}


def _limits() -> tuple[Field, ...]:
    return tuple(
        Field(name, label, "number", default="", help="In points. Leave it empty if there is no limit.")
        for name, label in _LIMITS.items()
    )


def _promise(setting: Setting, schema: Schema, *, in_clear: Sequence[str] | None = None) -> Guarantee:
    """Return what is promised, with the columns that stay as they are: by default all others."""
    promise = promise_of(setting, schema)
    if in_clear is None:
        in_clear = [name for name in schema.names if name not in promise.protects]
    besides = [word for word in promise.in_clear if word not in schema.names]
    return Guarantee.from_dict(promise.to_dict() | {"in_clear": [*besides, *few_names(in_clear)]})


def _is_complete(schema: Schema) -> bool:
    return bool(schema.sensitive and schema.protected_columns and schema.target)


def _protocols() -> tuple[Choice, ...]:
    names = {AUTO: "Auto", **{name: name.upper() for name in PROTOCOLS}, "optimal": "Optimal"}
    return tuple(Choice(name, label, choice_words("protocols", name)[0]) for name, label in names.items())


def _choices(names: Iterable[str], sentences: Mapping[str, str]) -> tuple[Choice, ...]:
    return tuple(Choice(name, name, sentences.get(name, "")) for name in names)
