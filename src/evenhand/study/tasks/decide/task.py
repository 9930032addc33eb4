"""The task of a decision: which right or which money follows from counts, and how these are protected."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from importlib import import_module
from itertools import pairwise
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from evenhand._validate import integer, one_of, refuse
from evenhand.decide.exact.noise import share_noise
from evenhand.decide.language.parse import parse, parse_weight
from evenhand.decide.language.weights import Sum
from evenhand.decide.mitigate.registry import MITIGATIONS, NamedMitigation
from evenhand.errors import RuleError
from evenhand.privacy.rational import as_text
from evenhand.release.mechanisms.registry import TableMechanism
from evenhand.release.postprocess.registry import checked_step, steps_of
from evenhand.report.language import money_in_language
from evenhand.report.words import MINUS, number
from evenhand.study.plan.cells import Setting
from evenhand.study.tasks.base import Task
from evenhand.study.tasks.measure import count_of, share_of
from evenhand.study.tasks.shared.fields import distinct, epsilons_of, several
from evenhand.study.tasks.shared.sizes import Size
from evenhand.study.tasks.shared.table_mechanisms import JOIN, UNITS, parameter_words, table_setting
from evenhand.study.tasks.shared.wording import mechanism_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from fractions import Fraction
    from pathlib import Path

    from evenhand.decide.language.rule import Rule
    from evenhand.decide.mitigate.registry import Problem
    from evenhand.study.tasks.measure import Measure

NOISES = ("laplace", "discrete-gaussian")
"""The mechanisms whose noise decisions are studied under."""

TOUCHES = ("every input", "one input")
"""How many of the counts that a rule looks at one person may be in."""

_OWNER = "DecideTask"
_LONGEST_CURRENCY = 8
_WHOLE = 100  # from this amount on no cents are told
_LARGEST_BUDGET = 1e18


@dataclass(frozen=True, init=False)
class DecideTask(Task):
    """Decide from noisy counts instead of true ones, and compare entity by entity.

    The data has one row for each entity, such as a county, and a column for each count. Either `rule` or
    `count` is given.

    Parameters
    ----------
    rule : str, optional
        A formula over counts, see :func:`evenhand.decide.parse`, that says which entities have a right.
    count : str, optional
        The column of counts by which money is allotted.
    weight : str, optional
        A public column by which the count is weighted, or several with numbers, + - * / and brackets, such
        as ``"index * (cost + 20) / 100"``. By default all weigh the same.
    budget : number, optional
        The money that is allotted. Without it the shares are compared.
    name : str, optional
        The column with the names of the entities; by default they are numbered.
    groups : name or list of names, default ()
        Columns with how many people of each group live in each entity. They are public.
    mechanisms : name, TableMechanism, mapping, or list of them
        ``"laplace"`` or ``"discrete-gaussian"``.
    epsilons : number or list of numbers
        What is promised to one person in all.
    touches : {"every input", "one input"}
        How many counts of a rule one person may be in. With ``"every input"``, as for nested counts, they
        share epsilon; with ``"one input"`` each is protected with the whole of it.
    unit : {"replace one", "add or remove one"}
    post : name or list of names, default ()
        Steps of post-processing in order, which are then studied beside the plain release.
    mitigations : name, mapping, or list of them, default ()
        Of :data:`evenhand.decide.mitigate.registry.MITIGATIONS`, each studied beside the plain release.
    draws : int, default 20,000
        How many releases are drawn where no exact method applies.
    currency : str, default "$"
    smallest : number, default 0.01
        The smallest amount that anybody can be paid. What is below is told as nobody's gain or loss.

    Raises
    ------
    RuleError
        If the rule cannot be read; the message points at the place.
    InvalidParameterError
        If another part is not what it must be.

    Examples
    --------
    >>> task = DecideTask(count="students", weight="cost", epsilons=[0.1, 1], post="nonnegative")
    >>> for setting in task.settings():
    ...     print(setting)
    Laplace noise, ε = 0.1
    Laplace noise, ε = 1
    Laplace noise, nonnegative, ε = 0.1
    Laplace noise, nonnegative, ε = 1
    """

    rule: str | None
    count: str | None
    weight: str | None
    budget: float | None
    name: str | None
    groups: tuple[str, ...]
    mechanisms: tuple[TableMechanism, ...]
    epsilons: tuple[Fraction, ...]
    touches: str
    unit: str
    post: tuple[str, ...]
    mitigations: tuple[NamedMitigation, ...]
    draws: int
    currency: str
    smallest: float

    kind: ClassVar[str] = "decide"
    audit_epsilons: ClassVar[tuple[str, ...]] = ("0.1", "1")
    default_repeats: ClassVar[int] = 1
    is_exact: ClassVar[bool] = True
    effect_names: ClassVar[tuple[str, ...]] = ("refused", "granted", "wrong", "short", "billed")
    checks: ClassVar[tuple[str, ...]] = ("counts",)
    key_measures: ClassVar[tuple[str, ...]] = (
        "alpha", "largest_flip", "expected_wrong", "largest_misallocation", "cost_of_privacy",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913 - one keyword for each part of a decision
        self,
        *,
        rule: str | None = None,
        count: str | None = None,
        weight: str | None = None,
        budget: float | None = None,
        name: str | None = None,
        groups: Any = (),
        mechanisms: Any = ("laplace",),
        epsilons: Any = (1,),
        touches: str = "every input",
        unit: str = "replace one",
        post: Any = (),
        mitigations: Any = (),
        draws: int = 20_000,
        currency: str = "$",
        smallest: float = 0.01,
    ) -> None:
        if (rule is None) == (count is None):
            must_be = "given, or 'count', but not both"
            refuse("rule", _OWNER, must_be, "neither" if rule is None else "both")
        wanted = [TableMechanism.of(each) for each in several(mechanisms, "mechanisms", owner=_OWNER)]
        remedies = [NamedMitigation.of(each) for each in _listed(mitigations)]
        made = {
            "rule": None if rule is None else _written_rule(rule),
            "count": None if count is None else _column("count", count),
            "weight": None if weight is None else parse_weight(weight, parameter="weight", owner=_OWNER).text,
            "budget": None if budget is None else _money("budget", budget),
            "name": None if name is None else _column("name", name),
            "groups": distinct("groups", [_column("groups", each) for each in _listed(groups)], owner=_OWNER),
            "mechanisms": distinct("mechanisms", wanted, owner=_OWNER),
            "epsilons": epsilons_of(epsilons, owner=_OWNER),
            "touches": one_of("touches", touches, TOUCHES, owner=_OWNER),
            "unit": one_of("unit", unit, UNITS, owner=_OWNER),
            "post": tuple(checked_step(each, owner=_OWNER) for each in _listed(post)),
            "mitigations": distinct("mitigations", remedies, owner=_OWNER),
            "draws": integer("draws", draws, owner=_OWNER, low=100, high=10_000_000),
            "currency": _currency(currency),
            "smallest": _money("smallest", smallest),
        }
        for key, value in made.items():
            object.__setattr__(self, key, value)
        self._check()

    def _check(self) -> None:
        """Refuse parts that do not go together."""
        for each in self.mechanisms:
            if each.name not in NOISES:
                refuse("mechanisms", _OWNER, f"one of {', '.join(NOISES)}, whose noise has a law", each.name)
            each.check(epsilon=min(self.epsilons), unit=self.unit)
        for field in ("weight", "budget"):
            if self.rule is not None and getattr(self, field) is not None:
                refuse(field, _OWNER, "left out where a rule decides, which divides no money", "one")
        for mitigation in self.mitigations:
            mitigation.check(self.problem, [each.name for each in self.mechanisms])

    # --- what is asked ----------------------------------------------------------------------------

    @property
    def is_rule(self) -> bool:
        """Return whether a right follows, and not money."""
        return self.rule is not None

    @property
    def problem(self) -> Problem:
        """Return what is decided, as decisions call it."""
        return "rule" if self.is_rule else "allotment"

    def parsed(self) -> Rule:
        """Return the rule itself."""
        return parse(str(self.rule))

    @property
    def inputs(self) -> tuple[str, ...]:
        """The columns of counts, which are private."""
        return (str(self.count),) if self.rule is None else self.parsed().inputs

    @property
    def counts_touched(self) -> int:
        """Return how many noisy counts of an entity tell about one person."""
        return len(self.inputs) if self.touches == "every input" else 1

    def noise_of_a_count(self, setting: Setting) -> Any:
        """Return the mechanism by which one count is published, with its part of the whole promise."""
        mechanism = noise_mechanism(setting)
        return share_noise(mechanism, epsilon=setting.epsilon, inputs=self.counts_touched, unit=self.unit)

    @property
    def formula(self) -> str:
        """The rule, or the share, as one reads it."""
        if self.rule is not None:
            return self.rule
        if self.weight is None:
            return str(self.count)
        added = isinstance(parse_weight(self.weight, parameter="weight", owner=_OWNER), Sum)
        return f"{self.count} * ({self.weight})" if added else f"{self.count} * {self.weight}"

    def name_setting(self, setting: Setting) -> str:
        """Return a setting with what is done besides the noise, as the report has it."""
        return setting_words(setting) if setting.is_protected else str(setting)

    def is_first_step(self, setting: Setting) -> bool:
        """Return whether a setting has the steps that were typed, and no mitigation."""
        return method_of(setting)[1] is None and ("post" in setting.options) == bool(self.post)

    def settings(self) -> Iterator[Setting]:
        """Yield every setting once: the plain release, post-processing, then mitigations."""
        methods: list[Sequence[str] | NamedMitigation] = [(), *([self.post] if self.post else [])]
        for method in (*methods, *self.mitigations):
            for mechanism in self.mechanisms:
                for epsilon in self.epsilons if mechanism.takes_epsilon else (None,):
                    yield decide_setting(mechanism, epsilon, method)

    @property
    def used_packages(self) -> tuple[str, ...]:
        """Other packages whose mitigations are used."""
        return MITIGATIONS.packages(mitigation.name for mitigation in self.mitigations)

    @property
    def measures(self) -> Mapping[str, Measure]:
        """Return what every cell measures."""
        return _RULE_MEASURES if self.is_rule else _ALLOTMENT_MEASURES

    @property
    def group_numbers(self) -> Mapping[str, Measure]:
        """Return what every cell tells of each group of people."""
        return _RULE_GROUP_NUMBERS if self.is_rule else _ALLOTMENT_GROUP_NUMBERS

    def amount_text(self, value: float) -> str:
        """Return money, or a share of the budget where there is none."""
        if self.budget is None:
            return f"{number(100 * value, 3)}%"
        before, shown = MINUS if value < 0 else "", number(abs(value), 0 if abs(value) >= _WHOLE else 2)
        is_word = self.currency[:2].isalpha() and len(self.currency) > 1
        return (
            f"{before}{shown} {self.currency}"
            if is_word
            else f"{before}{money_in_language(shown, self.currency)}"
        )

    @property
    def data_numbers(self) -> tuple[str, ...]:
        """Numbers of each class of entities by size, such as ``gain_100_299``."""
        return tuple(f"{part}_{size.key}" for part in _SIZE_PARTS for size in ENTITY_SIZES)

    # --- running and reading ----------------------------------------------------------------------

    def write_more(self, results: Any, folder: Path, *, frame: Any = None) -> dict[str, Path]:
        """Write every entity under the setting of the report; return the path of the table by its word."""
        execute = import_module("evenhand.study.tasks.decide.execute")
        written: dict[str, Path] = execute.write_entities(results, folder, frame=frame)
        return written

    # --- files ------------------------------------------------------------------------------------

    @property
    def fixed(self) -> dict[str, Any]:
        """Return what all cells share, in JSON's types: everything but the grid, and how money is written."""
        table = self.to_toml()
        kept = ("kind", "rule", "count", "weight", "budget", "name", "groups", "touches", "unit", "draws")
        budget = None if self.budget is None else {"float": self.budget.hex()}
        return {**{name: table.get(name) for name in kept}, "budget": budget}

    def to_toml(self) -> dict[str, Any]:
        """Return the task as the ``[task]`` table of a plan file."""
        lists = {
            "groups": list(self.groups),
            "mechanisms": [each.plain for each in self.mechanisms],
            "epsilons": [as_text(each) for each in self.epsilons],
            "post": list(self.post),
            "mitigations": [each.plain for each in self.mitigations],
        }
        table = {each.name: lists.get(each.name, getattr(self, each.name)) for each in fields(self)}
        return {"kind": self.kind, **{key: value for key, value in table.items() if value is not None}}

    @classmethod
    def field_of(cls, error: Exception) -> str:
        """Return the field that an error of the constructor is about."""
        return getattr(error, "parameter", "rule" if isinstance(error, RuleError) else "mechanisms")


# --- what a setting says --------------------------------------------------------------------------


def decide_setting(
    mechanism: TableMechanism, epsilon: Fraction | None, method: Sequence[str] | NamedMitigation = ()
) -> Setting:
    """Return the setting of a noise, with steps of post-processing or a mitigation."""
    extra: dict[str, Any] = {}
    words: list[str] = []
    if isinstance(method, NamedMitigation):
        own = dict(method.parameters)
        extra = {"mitigation": method.name, **({"mitigation_parameters": own} if own else {})}
        words = [*parameter_words(own), method.name]
    elif method:
        words = [JOIN.join(method)]
        extra = {"post": words[0]}
    label = ", ".join([table_setting(mechanism, epsilon).label, *words])
    return Setting(mechanism.name, epsilon, {**mechanism.parameters, **extra}, label=label)


def noise_mechanism(setting: Setting) -> TableMechanism:
    """Return the mechanism of a setting's noise, with its own parameters."""
    return TableMechanism(setting.mechanism, _noise_parameters(setting))


def method_of(setting: Setting) -> tuple[tuple[str, ...], NamedMitigation | None]:
    """Return the steps of post-processing of a setting, and its mitigation."""
    if "mitigation" in setting.options:
        return (), NamedMitigation(setting.option("mitigation"), setting.option("mitigation_parameters", {}))
    return tuple(setting.option("post").split(JOIN)) if "post" in setting.options else (), None


def method_title(setting: Setting) -> str:
    """Return what is done besides adding noise, in a few words."""
    steps, mitigation = method_of(setting)
    if mitigation is not None:
        return mitigation.kind.title
    said = ", ".join(step.label for step in steps_of(steps)) or "plain release"
    return said[:1].upper() + said[1:]


def setting_words(setting: Setting) -> str:
    """Return a setting as a list of them says it: Laplace noise (negatives set to 0), ε = 0.1."""
    method = method_title(setting)
    noise = mechanism_name(replace(setting, options=_noise_parameters(setting)))
    beside = "" if method_of(setting) == ((), None) else f" ({method[:1].lower()}{method[1:]})"
    return str(replace(setting, label=f"{noise}{beside}"))


def _noise_parameters(setting: Setting) -> dict[str, Any]:
    besides = ("post", "mitigation", "mitigation_parameters")
    return {name: value for name, value in setting.options.items() if name not in besides}


# --- what is given --------------------------------------------------------------------------------


def _written_rule(given: object) -> str:
    if not isinstance(given, str):
        refuse("rule", _OWNER, "a formula over counts, such as 'sp/s > 0.05'", given)
    return repr(parse(given))


def _listed(given: Any) -> list[Any]:
    return list(given) if isinstance(given, list | tuple) else [given]


def _column(parameter: str, name: object) -> str:
    if not isinstance(name, str) or not name:
        refuse(parameter, _OWNER, "the name of a column", name)
    return name


def _money(parameter: str, given: object) -> float:
    amount = math.nan if isinstance(given, bool) or not isinstance(given, Real) else float(given)
    if not 0 < amount <= _LARGEST_BUDGET:
        refuse(parameter, _OWNER, "a number > 0 and <= 1e18", given)
    return amount


def _currency(given: object) -> str:
    if not isinstance(given, str) or not given.strip() or len(given) > _LONGEST_CURRENCY:
        refuse(
            "currency", _OWNER, f"a sign such as '$', or a word of at most {_LONGEST_CURRENCY} letters", given
        )
    return given.strip()


# --- what cells measure ---------------------------------------------------------------------------

_CLAIMS = {
    "exact": share_of("whether the results are exact", form="number"),
    "error_bound": count_of("bound on the error of the computation"),
    "claimed_epsilon": count_of("epsilon of the claim"),
    "delta": share_of("delta", form="delta"),
}

_RULE_MEASURES: Mapping[str, Measure] = {
    "alpha": count_of("largest minus smallest bias of an entity", form="points"),
    "mean_error": count_of("mean error of an entity", form="points"),
    "largest_flip": share_of("largest chance of a wrong decision"),
    "expected_wrong": count_of("expected number of wrong decisions"),
    "expected_refused": count_of("expected number of rights refused"),
    "expected_granted": count_of("expected number of rights granted without cause"),
    "at_risk": count_of("entities with a chance of 5 % or more of a wrong decision"),
    "at_risk_of_loss": count_of("those of them that have the right"),
    **_CLAIMS,
}
"""What every cell measures where a right follows from a rule."""

_ALLOTMENT_MEASURES: Mapping[str, Measure] = {
    "alpha": count_of("largest minus smallest bias of an entity", form="amount"),
    "mean_error": count_of("mean error of an entity", form="amount"),
    "largest_misallocation": count_of("largest expected misallocation of an entity", form="amount"),
    "largest_error": count_of("largest typical error of an entity", form="amount"),
    "moved": count_of(
        "half of all expected gains and losses, which is what moves between entities if all is paid out",
        form="amount",
    ),
    "cost_of_privacy": count_of("money that makes up for every expected loss", form="amount"),
    "overspent": count_of("money that is expected to be paid beyond the budget", signed=True, form="amount"),
    **_CLAIMS,
}
"""What every cell measures where money is allotted."""

_RULE_GROUP_NUMBERS: Mapping[str, Measure] = {
    "people": count_of("people of the group"),
    "due": count_of("what they are due"),
    "refused": count_of("people expected to lose the right by error"),
    "granted": count_of("people expected to gain the right by error"),
}
"""Of each group of people: all, those with the right, and those expected to lose or gain it by error."""

_ALLOTMENT_GROUP_NUMBERS: Mapping[str, Measure] = {
    "people": count_of("people of the group"),
    "due": count_of("what they are due", form="amount"),
    "gain": count_of("what is expected to change", signed=True, form="amount"),
    "gain_per_head": count_of("what is expected to change per head", signed=True, form="amount"),
}
"""Of each group of people: all, their money, and what it is expected to change by, in all and per head."""

_STARTS = (0, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)

ENTITY_SIZES = (*(Size(least, end - 1) for least, end in pairwise(_STARTS)), Size(_STARTS[-1], None))
"""Classes of entities by how many people are counted in them, two for each power of ten."""

_SIZE_PARTS = ("entities", "size", "gain", "error", "relative", "flip")
"""Of each class: how many there are, and the means of counts, biases, typical errors, these as shares of
what is due, and chances of a wrong decision."""


def entity_size_of(counts: Any) -> Any:
    """Return the place among :data:`ENTITY_SIZES` of each count."""
    return np.searchsorted(_STARTS, counts, side="right") - 1
