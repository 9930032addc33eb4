"""The form of a decision: a right or money follows from counts that are protected."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from evenhand.app.tasks.answers import (
    choice_words,
    column_answer,
    in_order,
    list_answer,
    number_answer,
    text_answer,
    text_answers,
    type_epsilons,
    type_options,
    whole_answer,
)
from evenhand.app.tasks.base import UNPROTECTED, Applying, Choice, Field, TaskForm
from evenhand.decide.language.parse import parse, parse_weight
from evenhand.decide.language.weights import split_count
from evenhand.decide.mitigate.registry import free_mitigations, mitigation_kinds
from evenhand.errors import ColumnNotFoundError, InvalidParameterError
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.rational import as_text
from evenhand.release.mechanisms.registry import MECHANISMS, TableMechanism
from evenhand.study.intake.guess_counts import guess_decision
from evenhand.study.tasks.decide.task import NOISES, TOUCHES, DecideTask, method_of
from evenhand.study.tasks.shared.fields import typed_list
from evenhand.study.tasks.shared.table_mechanisms import UNITS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.schema import Schema
    from evenhand.study.intake.opening import Opened
    from evenhand.study.plan.cells import Setting
    from evenhand.study.plan.plan import Plan
    from evenhand.study.tasks.base import Task

_OWNER = "DecideTask"
_DELTA_TAKER = "discrete-gaussian"
_RIGHT, _MONEY = "right", "money"
_RULE_203 = "(sp/s > 0.05 or sp > 10000) and spe/sp > 0.0131"
_REAL = (
    (
        "What is done for real is to publish the counts with the noise of this setting, once, and to "
        "decide from the published counts. The office that holds the counts does that, with the script below."
    ),
    "Each publication of the same counts spends epsilon again for everybody who was counted.",
)


class DecideForm(TaskForm):
    """What is asked of decisions from counts."""

    kind: ClassVar[str] = DecideTask.kind
    verb: ClassVar[str] = "Decide"
    title: ClassVar[str] = "Money or rights follow published counts"
    sentence: ClassVar[str] = (
        "Each row is a place with counts of people. A rule or a share of money is computed from noisy "
        "counts. Which places lose what they would have with the true ones?"
    )
    needs_people: ClassVar[bool] = False
    seconds_per_run: ClassVar[tuple[float, float]] = (0.02, 2.0)
    can_be_timed: ClassVar[bool] = False
    datasets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "counties": {"follows": _RIGHT, "rule": _RULE_203, "name": "county"},
        "section203": {"follows": _RIGHT, "rule": _RULE_203},
        "school_districts": {"follows": _MONEY, "count": "students"},
        "title1": {"follows": _MONEY},
    }

    def guess_answers(self, opened: Opened, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return what follows from the counts of the file, unless answers are there for its columns."""
        named = [str(given.get(name) or "") for name in ("count", "name")]
        if given.get("rule") or (any(named) and {*named, ""} <= {*opened.names, ""}):
            return {}
        found = {option: reason.value for option, reason in guess_decision(opened, {})[0].items()}
        if not {"rule", "count"} & set(found):
            return {}
        follows = _RIGHT if "rule" in found else _MONEY
        return {"follows": follows, **found, "groups": list_answer(found, "groups")}

    def fields(self, schema: Schema | None, names: tuple[str, ...] = ()) -> tuple[Field, ...]:
        """Return the questions: a rule or an allotment over the columns of counts."""
        del schema
        usual = DecideTask(count="count")
        columns = tuple(Choice(name, name) for name in names)
        one = (Choice("", "none"), *columns)
        money = ("follows", _MONEY)
        follows = (
            Choice(_RIGHT, "A right", "Places that a rule is true for have it."),
            Choice(_MONEY, "Money", "Each place has the share that its count has in the sum."),
        )
        return (
            Field("follows", "What follows from the counts", "choice", follows, _RIGHT,
                  "Each row is a place, and its columns hold counts: no column needs a role."),
            Field("rule", "Rule", "lines", default="", term="rule",
                  help="Comparisons of columns with and, or, xor, not: poor/people > 0.2 and poor > 100. A "
                  "name with blanks stands in `backquotes`.", when=("follows", _RIGHT)),
            Field("count", "Count that money follows", "choice", one, "", when=money),
            Field("weight", "Public weight", "choice", one, "", "Without one all weigh the same.",
                  when=money),
            Field("allot", "Or a formula of the share", "text", default="", advanced=True, when=money,
                  help="One count times a public weight, such as students * (index + 20) / 100."),
            Field("budget", "Money that is shared out", "number", default="", when=money,
                  help="Without it shares are compared."),
            Field("name", "Column with the names of the places", "choice", one, ""),
            Field("groups", "Columns with people of each group", "columns", columns, (),
                  "They are public, and tell who pays per head."),
            Field("epsilons", "ε, in all for one person", "text", default=",".join(DecideTask.audit_epsilons),
                  help="Where a person is in several counts, these share it.",
                  term="epsilon"),
            Field("mechanisms", "Noise", "chips", _noises(), (NOISES[0],), term="mechanism"),
            Field("mitigations", "Ways to lose less", "chips", _mitigations(), None,
                  "Tried beside the noise alone. Until you choose, those are tried that need no other data.",
                  "mitigation"),
            Field("delta", "δ", "number", default="", help="Of discrete Gaussian noise.", term="delta",
                  advanced=True),
            Field("touches", "Counts that one person is in", "choice",
                  tuple(Choice(each, each) for each in TOUCHES), usual.touches, advanced=True),
            Field("unit", "What may change", "choice", tuple(Choice(each, each) for each in UNITS),
                  usual.unit, term="neighbours", advanced=True),
            Field("post", "Steps afterwards", "text", default="", advanced=True, help="Such as nonnegative."),
            Field("draws", "Simulated releases where no exact method applies", "number",
                  default=str(usual.draws), advanced=True),
            Field("currency", "How money is written", "text", default=usual.currency, advanced=True),
        )  # fmt: skip

    def task(self, values: Mapping[str, Any], schema: Schema | None, **known: Any) -> Task:
        """Return the decision that the answers describe, with the defaults of the command line.

        Raises
        ------
        RuleError
            If the rule cannot be read; its ``column`` is the place.
        InvalidParameterError, ColumnNotFoundError
            If another answer does not fit.
        """
        del schema
        names: Sequence[str] = known.get("names", ())
        what = self._what(values, names)
        is_rule = "rule" in what
        if values.get("mitigations") is None:
            what["mitigations"] = free_mitigations(int(known.get("rows", 0)), is_rule=is_rule)
        else:
            chosen = in_order(list_answer(values, "mitigations"), _mitigations())
            fitting = {kind.name for kind in mitigation_kinds("rule" if is_rule else "allotment")}
            what["mitigations"] = [name for name in chosen if name in fitting]
        parts: dict[str, Any] = {
            "groups": [_column("groups", name, names) for name in column_answer(values, "groups")],
            "mechanisms": _mechanisms(values),
            "epsilons": list_answer(values, "epsilons") or DecideTask.audit_epsilons,
            "post": list_answer(values, "post"),
        }
        if text_answer(values, "name"):
            parts["name"] = _column("name", str(values["name"]), names)
        parts |= text_answers(values, "touches", "unit", "currency")
        draws = whole_answer(values, "draws", owner=_OWNER)
        if draws is not None:
            parts["draws"] = draws
        return DecideTask(**what, **parts)

    def _what(self, values: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
        """Return the rule, or the count with its weight and the money."""
        asked = text_answer(values, "follows") or (_MONEY if text_answer(values, "count") else _RIGHT)
        if asked == _RIGHT:
            rule = text_answer(values, "rule")
            if not rule:
                must_be = "a comparison of the counts of a place, such as poor/people > 0.2 and poor > 100"
                raise InvalidParameterError("rule", owner=_OWNER, must_be=must_be, got="nothing")
            for name in parse(rule).inputs:
                _column("rule", name, names)
            return {"rule": rule}
        budget = number_answer(values, "budget", owner=_OWNER)
        count, weight = text_answer(values, "count"), text_answer(values, "weight")
        formula = text_answer(values, "allot")
        if formula:
            written = parse_weight(formula, parameter="allot", owner=_OWNER)
            for name in written.names:
                _column("allot", name, names)
            count, product = split_count(written, count=count)
            if not count:
                must_be = "one column of counts times a public weight"
                raise InvalidParameterError("allot", owner=_OWNER, must_be=must_be, got=formula)
            return {"count": count, "weight": product, "budget": budget}
        if not count:
            must_be = "the column of counts that money follows"
            raise InvalidParameterError("count", owner=_OWNER, must_be=must_be, got="nothing")
        column = f"`{_column('weight', weight, names)}`" if weight else None
        return {"count": _column("count", count, names), "weight": column, "budget": budget}

    def options(self, task: Any) -> list[str]:
        """Return the task as it is typed; no question asks for a parameter of a mitigation."""
        own = {name: value for each in task.mechanisms for name, value in each.parameters.items()}
        shared = ("touches", "unit", "draws", "currency")
        options = {
            **_type_question(task),
            "name": task.name,
            "groups": typed_list(task.groups),
            "epsilon": type_epsilons(task.epsilons),
            **own,
            "mechanism": typed_list(each.name for each in task.mechanisms),
            **{field: getattr(task, field) for field in shared},
            "post": typed_list(task.post),
            "mitigate": typed_list(each.name for each in task.mitigations) or "none",
        }
        default = DecideTask(count="count")
        usual = {field: getattr(default, field) for field in shared}
        usual |= {"mechanism": NOISES[0], **TableMechanism(_DELTA_TAKER).parameters}
        return type_options(options, usual)

    def promise(self, task: Any, schema: Schema | None, *, epsilon: str) -> Guarantee | None:
        """Return what one person is promised by the noisy counts."""
        del schema
        return _guarantee(task, task.mechanisms[0], Fraction(epsilon))

    def applying(self, setting: Setting | None, plan: Plan, *, data: str) -> Applying:
        """Return the script that publishes the counts: nothing is published from here."""
        task: Any = plan.task
        if setting is None or setting.epsilon is None:
            return Applying(sentences=_REAL, why_not=UNPROTECTED)
        own = {name: value for name, value in setting.options.items() if name == "delta"}
        mechanism = TableMechanism(setting.mechanism, own)
        return Applying(
            sentences=(*_REAL, *_left_out(setting)),
            guarantee=_guarantee(task, mechanism, setting.epsilon),
            script=_script(task, task.noise_of_a_count(setting), data=data, plan=plan),
            in_clear=(task.name,) if task.name else (),
        )


def _type_question(task: Any) -> dict[str, object]:
    """Return the options that say which right or which money follows."""
    if task.is_rule:
        return {"rule": task.rule}
    budget = None if task.budget is None else f"{task.budget:.15g}"
    if task.weight is None:
        return {"count": task.count, "budget": budget}
    names = parse_weight(task.weight).names
    if len(names) == 1 and task.weight.strip("`") == names[0]:
        return {"count": task.count, "weight": names[0], "budget": budget}
    return {"allot": f"`{task.count}` * ({task.weight})", "count": task.count, "budget": budget}


def _guarantee(task: Any, mechanism: TableMechanism, epsilon: Fraction) -> Guarantee:
    """Return what all counts together promise to one person; a count is of a place, and is nobody's own."""
    delta = mechanism.parameters.get("delta", 0)
    return Guarantee(epsilon=epsilon, delta=delta, unit=task.unit, trust="central")


def _left_out(setting: Setting) -> tuple[str, ...]:
    """Return that the script does less than the setting, where that has a further step."""
    steps, method = method_of(setting)
    names = [*steps, *([] if method is None else [method.kind.title])]
    words, are = " and ".join(f"“{name}”" for name in names), "is" if len(names) == 1 else "are"
    return (f"The script publishes the noisy counts alone: {words} {are} not part of it.",) if names else ()


def _script(task: Any, noise: Any, *, data: str, plan: Plan) -> str:
    """Return Python that publishes every count once, with the secure source and the noise of the study."""
    named = plan.data is not None and plan.data.dataset is not None
    options = {} if plan.data is None else plan.data.options
    read = f"load({data!r}, backend='pyarrow', **{dict(options)!r}).frame" if named else f"read({data!r})"
    kind = type(noise).__name__
    amounts = {name: getattr(noise, name, None) for name in ("rho", "epsilon", "delta")}
    own = [f"{name}={as_text(value)!r}" for name, value in amounts.items() if value is not None]
    names = [*([task.name] if task.name else []), *task.inputs]
    lines = [
        "import pyarrow as pa",
        "from pyarrow import csv",
        "",
        "from evenhand.datasets import load" if named else "from evenhand.table import read",
        f"from evenhand.release import Histogram, {kind}",
        "from evenhand.schema import Column, Domain, Schema",
        "",
        f"rows = {read}",
        "places = Schema([Column('place', Domain.integers(1, rows.num_rows))])",
        f"noise = {kind}({', '.join(own)}, unit={task.unit!r})  # the part of one count",
        f"published = {{name: rows[name] for name in {names[: len(names) - len(task.inputs)]!r}}}",
        f"for name in {list(task.inputs)!r}:",
        "    counts = Histogram.of(rows[name].to_numpy(), places)",
        "    published[name] = pa.array(noise.release(counts).values)",
        "csv.write_csv(pa.table(published), 'published.csv')",
    ]
    return "\n".join(lines) + "\n"


def _mechanisms(values: Mapping[str, Any]) -> list[TableMechanism]:
    names = in_order(list_answer(values, "mechanisms"), _noises()) or [NOISES[0]]
    delta = text_answer(values, "delta")
    if delta and _DELTA_TAKER not in names:
        must_be = "left empty: it belongs to discrete Gaussian noise"
        raise InvalidParameterError("delta", owner=_OWNER, must_be=must_be, got=delta)
    own = {"delta": delta} if delta else {}
    return [TableMechanism(name, own if name == _DELTA_TAKER else {}) for name in names]


def _column(field: str, name: str, names: Sequence[str]) -> str:
    """Return a column of the data; refuse another one in the field where it stands."""
    if name not in names:
        error = ColumnNotFoundError(name, names, place="in the data")
        error.field = field  # type: ignore[attr-defined] # which question it is about
        raise error
    return name


def _noises() -> tuple[Choice, ...]:
    return tuple(Choice(name, MECHANISMS[name].label, choice_words("mechanisms", name)[0]) for name in NOISES)


def _mitigations() -> tuple[Choice, ...]:
    kinds = [kind for kind in mitigation_kinds() if kind.missing({}) is None]
    return tuple(Choice(kind.name, kind.title, choice_words("mitigations", kind.name)[0]) for kind in kinds)
