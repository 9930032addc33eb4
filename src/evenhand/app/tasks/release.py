"""The form of a release: a table of counts is published."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from evenhand.app.tasks.answers import (
    choice_words,
    column_answer,
    in_order,
    list_answer,
    number_answer,
    text_answer,
    type_epsilons,
    type_options,
    whole_answer,
)
from evenhand.app.tasks.base import UNPROTECTED, Applying, Choice, Field, TaskForm, command_words
from evenhand.errors import InvalidParameterError
from evenhand.release.mechanisms.registry import MECHANISMS, TableMechanism, mechanisms_with
from evenhand.release.table.histogram import Histogram
from evenhand.study.plan.cells import Setting
from evenhand.study.tasks.release.task import PARAMETERS, ReleaseTask, default_mechanisms, trains_model
from evenhand.study.tasks.shared.fields import typed_list
from evenhand.study.tasks.shared.table_mechanisms import NO_GUARANTEE, UNITS, title_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.schema import Schema
    from evenhand.study.plan.plan import Plan
    from evenhand.study.tasks.base import Task

_OWNER = "ReleaseTask"
_READ = {"threshold": whole_answer, "k": whole_answer, "fraction": number_answer}
_WORDS = {
    "threshold": "Smallest count that is published",
    "k": "Smallest group of k-anonymity",
    "fraction": "Share of records that is swapped",
    "delta": "δ",
    "rho": "ρ, in place of ε and δ",
    "fill": "What stands for a suppressed count",
}
_MEANINGLESS = (
    "This mechanism promises nothing that means anything: with about the chance δ its table tells one "
    "person's record from another's."
)


class ReleaseForm(TaskForm):
    """What is asked of a table of counts."""

    kind: ClassVar[str] = ReleaseTask.kind
    deed: ClassVar[str] = "Publish"
    verb: ClassVar[str] = "Release"
    title: ClassVar[str] = "A table of counts is published"
    sentence: ClassVar[str] = (
        "Counts of people by a few columns are changed or left out before they are published. Which groups "
        "are lost in the table, and what is promised?"
    )
    roles: ClassVar[tuple[str, ...]] = ("protected",)

    def crossed(self, values: Mapping[str, Any], names: Sequence[str]) -> tuple[str, ...]:
        """Return the columns of the table."""
        return tuple(name for name in column_answer(values, "columns") if name in names)

    def fields(self, schema: Schema | None, names: tuple[str, ...] = ()) -> tuple[Field, ...]:
        """Return the questions."""
        known = names if schema is None else schema.names
        columns = tuple(Choice(name, name) for name in known)
        quasi = () if schema is None else schema.quasi_identifiers
        parameters = [
            Field(
                name,
                words,
                "number" if name != "fill" else "text",
                default="",
                help=_takers(name),
                advanced=True,
            )
            for name, words in _WORDS.items()
        ]
        return (
            Field("columns", "Columns of the table", "columns", columns, _usual_columns(schema), term="table",
                  help="Every combination of their values is a cell. The protected column is one of them."),
            Field("mechanisms", "Mechanisms", "chips", _mechanisms(),
                  default_mechanisms(has_quasi_identifiers=bool(quasi)), "Several are tried.", "mechanism"),
            Field("epsilons", "ε, of the whole table", "text", default=",".join(ReleaseTask.audit_epsilons),
                  help="Some mechanisms have none.", term="epsilon"),
            Field("quasi", "Columns that others may know", "columns", columns, tuple(quasi),
                  "Swapping and k-anonymity treat them apart.", "quasi-identifier", advanced=True),
            Field("unit", "What may change", "choice", tuple(Choice(unit, unit) for unit in UNITS), UNITS[0],
                  term="neighbours", advanced=True),
            *parameters,
            Field("bound", "Public bound on a count", "number", default="", advanced=True,
                  help="Never one that was read from these rows."),
            Field("post", "Steps afterwards", "text", default="", advanced=True,
                  help="Such as nonnegative, with commas between several."),
        )  # fmt: skip

    def task(self, values: Mapping[str, Any], schema: Schema | None, **known: Any) -> Task:
        """Return the release that the answers describe, with the defaults of the command line."""
        del known
        columns = column_answer(values, "columns") or list(_usual_columns(schema))
        if not columns:
            raise InvalidParameterError(
                "columns", owner=_OWNER, must_be="the columns of the table", got="none"
            )
        quasi = () if schema is None else schema.quasi_identifiers
        if schema is not None:
            _check_roles(schema, columns)
        names = in_order(list_answer(values, "mechanisms"), _mechanisms())
        names = names or list(default_mechanisms(has_quasi_identifiers=bool(quasi)))
        needing = [name for name in names if name in MECHANISMS and MECHANISMS[name].needs_quasi_identifiers]
        if needing and not quasi:
            must_be = (
                f"given for {', '.join(title_of(name) for name in needing)}: the columns that others may know"
            )
            raise InvalidParameterError("quasi", owner=_OWNER, must_be=must_be, got="none")
        post = list_answer(values, "post")
        unit = text_answer(values, "unit") or UNITS[0]
        table = None if schema is None else schema.select([name for name in schema.names if name in columns])
        return ReleaseTask(
            columns,
            [TableMechanism(name, _parameters(name, names, values)) for name in names],
            list_answer(values, "epsilons") or ReleaseTask.audit_epsilons,
            unit=unit,
            bound=whole_answer(values, "bound", owner=_OWNER),
            post=post,
            compare_post=("none" if post else "nonnegative"),
            classify=table is not None and trains_model(table),
        )

    def prepare_schema(self, schema: Schema, values: Mapping[str, Any]) -> Schema:
        """Return the schema of the table: its columns alone, with those that others may know."""
        chosen = column_answer(values, "columns") or list(_usual_columns(schema))
        table = schema.select([name for name in schema.names if name in chosen])
        quasi = [name for name in column_answer(values, "quasi") if name in table]
        return table.with_roles(quasi_identifiers=quasi) if quasi else table

    def options(self, task: Any) -> list[str]:
        """Return the task as it is typed."""
        words = ["--columns", typed_list(task.columns)]
        words += ["--mechanism", typed_list(each.name for each in task.mechanisms)]
        if any(each.takes_epsilon for each in task.mechanisms):
            words += ["--epsilon", type_epsilons(task.epsilons)]
        own: dict[str, object] = {
            name: value
            for each in task.mechanisms
            for name, value in each.parameters.items()
            if name in PARAMETERS and value != TableMechanism(each.name).parameters.get(name)
        }
        own |= {"unit": task.unit, "bound": task.bound, "post": typed_list(task.post)}
        return words + type_options(own, {"unit": UNITS[0]})

    def promise(self, task: Any, schema: Schema | None, *, epsilon: str) -> Guarantee | None:
        """Return what one person is promised by the first mechanism that has an epsilon."""
        noisy = [each for each in task.mechanisms if each.takes_epsilon]
        if not noisy or schema is None:
            return None
        return _guarantee(Setting(noisy[0].name, Fraction(epsilon), noisy[0].parameters), schema, task)

    def applying(self, setting: Setting | None, plan: Plan, *, data: str) -> Applying:
        """Return ``evenhand release`` as the setting tested it."""
        schema = plan.schema
        if setting is None or schema is None or not setting.is_protected:
            return Applying(why_not=UNPROTECTED)
        words = command_words(setting, plan, data=data)
        if not words:
            return Applying(why_not="The command line has no option for this variant of the mechanism.")
        words[words.index("--out") + 1] = "table.csv" if data != "table.csv" else "published-table.csv"
        words += _forced(setting, words)
        guarantee = _guarantee(setting, schema, plan.task)
        meaningless = str(guarantee.trust) == "none" or guarantee.delta >= NO_GUARANTEE
        sentences = (
            (
                "The people of the file are counted, the secure random source of this computer is asked, and "
                "the table is written with a note on what is promised. No other count is written or shown."
            ),
            *((_MEANINGLESS,) if meaningless else ()),
        )
        return Applying(
            command=tuple(words),
            guarantee=guarantee,
            sentences=sentences,
            in_clear=tuple(guarantee.in_clear),
        )


def _forced(setting: Setting, words: Sequence[str]) -> list[str]:
    """Return the parameters that a release, other than a study, does not take by default."""
    usual = TableMechanism(setting.mechanism).parameters
    own = {**usual, **setting.options}
    return [
        word
        for name in PARAMETERS
        if name in own and name in MECHANISMS[setting.mechanism].defaults and f"--{name}" not in words
        for word in (f"--{name}", str(own[name]))
    ]


def _guarantee(setting: Setting, schema: Schema, task: Any) -> Guarantee:
    """Return the guarantee of a setting for the table, of which only what is public is used: no row."""
    options = {name: value for name, value in setting.options.items() if name not in {"post", "fill"}}
    mechanism = TableMechanism(setting.mechanism, options).build(epsilon=setting.epsilon, unit=task.unit)
    table = schema.select([name for name in schema.names if name in task.columns])
    nobody = pa.table({name: pa.array([], _arrow_type(table, name)) for name in table.names})
    return mechanism.guarantee_for(Histogram.count(nobody, table.with_roles(person=None), bound=task.bound))


def _arrow_type(schema: Schema, name: str) -> Any:
    kinds = {int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    return kinds.get(schema[name].domain.value_type, pa.string())


def _usual_columns(schema: Schema | None) -> tuple[str, ...]:
    """Return the columns of a table unless others are chosen: those with a role, few enough for a table."""
    if schema is None:
        return ()
    target = () if schema.target is None else (schema.target,)
    named = (*schema.protected_columns, *schema.sensitive, *target)
    return tuple(dict.fromkeys(name for name in named if name in schema))


def _check_roles(schema: Schema, columns: Sequence[str]) -> None:
    unknown = [name for name in columns if name not in schema]
    if unknown:
        must_be = "columns that can be used"
        raise InvalidParameterError("columns", owner=_OWNER, must_be=must_be, got=unknown[0])
    outside = [name for name in schema.protected_columns if name not in columns]
    if outside or not schema.protected_columns:
        must_be = "columns with the protected one among them"
        raise InvalidParameterError("columns", owner=_OWNER, must_be=must_be, got=", ".join(columns))


def _parameters(name: str, names: Sequence[str], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a mechanism that were answered; refuse one that no mechanism takes."""
    given: dict[str, Any] = {}
    for parameter in PARAMETERS:
        text = text_answer(values, parameter)
        if not text:
            continue
        takers = mechanisms_with(parameter)
        if set(names).isdisjoint(takers):
            must_be = f"left empty: it belongs to {', '.join(map(title_of, takers))}"
            raise InvalidParameterError(parameter, owner=_OWNER, must_be=must_be, got=text)
        if name in takers:
            read = _READ.get(parameter)
            given[parameter] = text if read is None else read(values, parameter, owner=_OWNER)
    return given


def _mechanisms() -> tuple[Choice, ...]:
    names = dict.fromkeys((*default_mechanisms(has_quasi_identifiers=True), *MECHANISMS))
    return tuple(Choice(name, title_of(name), choice_words("mechanisms", name)[0]) for name in names)


def _takers(parameter: str) -> str:
    return f"Of {', '.join(map(title_of, mechanisms_with(parameter)))}."
