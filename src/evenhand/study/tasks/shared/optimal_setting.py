"""The mechanism "optimal" in a plan: where its shares and rates come from, and what else it is told."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Protocol

from evenhand.collect.fairest.group_outcomes import GroupOutcomes, checked_budget
from evenhand.collect.fairest.optimum import error_range
from evenhand.collect.joint.build import epsilons_for
from evenhand.collect.joint.combined import MOST_PRODUCT_CELLS
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.optimal import MOST_EPSILON, Optimal
from evenhand.errors import InvalidParameterError, PlanError
from evenhand.privacy.rational import as_text, exact
from evenhand.report.words import epsilon_of
from evenhand.schema.text import brief
from evenhand.study.tasks.shared.report_settings import protocol_parameters

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from evenhand.schema import Schema
    from evenhand.study.plan.cells import Setting

NAME = "optimal"
"""The name of the mechanism."""

MOST_GROUPS = 30
"""From more on, the linear programs of the optimal channel take seconds."""

_WORDS = ("pilot", "noisy", "exact")
_FIELDS = ("outcomes", "pilot", "budget", "error", "kind", "as_printed", "target")
_PILOT = 0.1
_ROUNDING = 1e-9  # by which a solver may miss the least error


@dataclass(frozen=True)
class OptimalWay:
    """What a plan says about the mechanism "optimal".

    ===========  ===========================================================================================
    outcomes     where weights and rates come from
    ===========  ===========================================================================================
    ``pilot``    a share `pilot` of the training rows reports by GRR with the same epsilon; their reports
                 serve for the estimate and for training, and everybody reports once
    ``noisy``    counts of the training rows with noise, for `budget`, on top of the reports' epsilon
    ``exact``    counts of all rows, test rows included: for reproductions
    a table      ``weights`` and ``rates`` that are public, and ``source``, who published them
    ===========  ===========================================================================================

    Parameters
    ----------
    outcomes : {"pilot", "noisy", "exact"} or GroupOutcomes
    pilot : float, default 0.1
        Between 0 and 1.
    budget : Fraction, optional
        Needed with ``"noisy"`` and with nothing else.
    error : {"grr", "minimum"} or float
    kind : {"ratio", "difference"}
    as_printed : bool
        As :class:`evenhand.collect.Optimal` has them.
    target : Fraction, optional
        The most of the unfairness that reports may keep; with a table only, since epsilons are fixed before
        anything is learnt.

    Examples
    --------
    >>> OptimalWay.read({"outcomes": "noisy", "budget": 0.1}).parameters
    {'outcomes': 'noisy', 'budget': '1/10'}
    >>> OptimalWay.read({"outcomes": "pilot", "pilot": 0.1}).parameters
    {}
    """

    outcomes: str | GroupOutcomes = "pilot"
    pilot: float = _PILOT
    budget: Fraction | None = None
    error: str | float = "grr"
    kind: str = "ratio"
    as_printed: bool = False
    target: Fraction | None = None

    @classmethod
    def read(cls, parameters: Mapping[str, Any]) -> OptimalWay:
        """Return what the parameters of a mechanism say; every fault names its field."""
        for name in parameters:
            if name not in _FIELDS:
                _refuse(name, f"left out: optimal has {', '.join(_FIELDS)}", "a value")
        outcomes = _outcomes(parameters.get("outcomes", "pilot"))
        pilot = parameters.get("pilot", _PILOT)
        if isinstance(pilot, bool) or not isinstance(pilot, int | float) or not 0 < pilot < 1:
            _refuse("pilot", "a share of the training rows, above 0 and below 1", pilot)
        if "pilot" in parameters and outcomes != "pilot":
            _refuse("pilot", "left out unless outcomes are from a pilot", pilot)
        budget = None
        if "budget" in parameters:
            budget = checked_budget(
                parameters["budget"], name="protocols.optimal.budget", owner="CollectTask"
            )
        if (budget is not None) != (outcomes == "noisy"):
            must_be = "an epsilon > 0 where outcomes are 'noisy', and left out elsewhere"
            _refuse("budget", must_be, "none" if budget is None else parameters["budget"])
        target = None if "target" not in parameters else _amount("target", parameters["target"])
        if target is not None and (target >= 1 or isinstance(outcomes, str)):
            must_be = "below 1, and left out unless outcomes are a table: epsilons are fixed before"
            _refuse("target", must_be, parameters["target"])
        options = {name: parameters[name] for name in ("error", "kind", "as_printed") if name in parameters}
        if not isinstance(options.get("as_printed", False), bool):
            _refuse("as_printed", "true or false", options["as_printed"])
        return cls(outcomes, float(pilot), budget, target=target, **_checked_options(options))

    @classmethod
    def of(cls, setting: Setting) -> OptimalWay:
        """Return what a setting says."""
        return cls.read(protocol_parameters(setting))

    @property
    def options(self) -> dict[str, Any]:
        """What :class:`evenhand.collect.Optimal` is told besides weights, rates and epsilon."""
        return {"error": self.error, "kind": self.kind, "as_printed": self.as_printed}

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters in the one form that stands in plans and names of cells: without defaults."""
        said: dict[str, Any] = {}
        if isinstance(self.outcomes, GroupOutcomes):
            said["outcomes"] = {"weights": list(self.outcomes.weights), "rates": list(self.outcomes.rates)}
            said["outcomes"] |= {} if self.outcomes.source == _TABLE else {"source": self.outcomes.source}
        elif self.outcomes != "pilot":
            said["outcomes"] = self.outcomes
        for name, value in (("budget", self.budget), ("target", self.target)):
            said |= {} if value is None else {name: as_text(value)}
        for name in ("pilot", "error", "kind", "as_printed"):
            value = getattr(self, name)
            said |= {} if value == getattr(OptimalWay, name) else {name: value}
        return said


_TABLE = "the plan"


def _outcomes(given: object) -> str | GroupOutcomes:
    if isinstance(given, str) and given in _WORDS:
        return given
    if not isinstance(given, Mapping):
        must_be = f"one of {', '.join(_WORDS)}, or a table with 'weights' and 'rates'"
        _refuse("outcomes", must_be, given if isinstance(given, str) else f"a {type(given).__name__}")
    try:
        return GroupOutcomes.from_table(given, source=_TABLE)
    except InvalidParameterError as error:
        inner = "" if error.parameter == "table" else f".{error.parameter}"
        raise error.renamed(f"protocols.optimal.outcomes{inner}", owner="CollectTask") from None


def _amount(name: str, given: object) -> Fraction:
    return exact(given, name=f"protocols.optimal.{name}", owner="CollectTask", above=0)


def _checked_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return error, kind and as_printed as the protocol takes them, tried on two groups."""
    try:
        made = Optimal((0.5, 0.5), (0.25, 0.75), 1, **options)
    except InvalidParameterError as error:
        raise error.renamed(f"protocols.optimal.{error.parameter}", owner="CollectTask") from None
    return {name: getattr(made, name) for name in options}


def _refuse(name: str, must_be: str, got: object) -> NoReturn:
    raise InvalidParameterError(f"protocols.optimal.{name}", owner="CollectTask", must_be=must_be, got=got)


def why_not_optimal(schema: Schema | None) -> Literal["", "not_reported", "too_many", "crossed"]:
    """Return what keeps a study from trying "optimal" unless asked; an empty text if nothing does."""
    if schema is None or not schema.protected_columns:
        return "not_reported"
    if not set(schema.protected_columns) <= set(schema.sensitive):
        return "not_reported"
    if schema.crossing is not None:
        return "crossed"
    return "" if schema.group_column.size <= MOST_GROUPS else "too_many"


class OptimalGrid(Protocol):
    """Protocols, epsilons and strategies that are tried together."""

    @property
    def protocols(self) -> tuple[Any, ...]:
        """Protocols with their parameters."""

    @property
    def epsilons(self) -> tuple[Fraction, ...]:
        """Each the epsilon of a whole report."""

    @property
    def strategies(self) -> tuple[str, ...]:
        """How several columns are reported."""

    def settings(self) -> Iterator[Setting]:
        """Yield every setting once."""


def check_optimal(schema: Schema, task: OptimalGrid) -> None:
    """Refuse a plan whose optimal mechanisms do not fit the columns, before anything runs."""
    ways = [OptimalWay.read(each.parameters) for each in task.protocols if each.name == NAME]
    if not ways:
        return
    _check_reported(schema, task)
    for strategy in task.strategies:
        k = schema.group_column.size
        if strategy == "combined":
            k = 1
            for name in schema.sensitive:
                k *= schema[name].size
        most = MOST_PRODUCT_CELLS if strategy == "combined" else Optimal.most_values
        if k > most:
            _refuse_plan(
                "task.protocols",
                f"holds 'optimal', which the strategy '{strategy}' would ask about {k:,} groups; {most} "
                "is the most. Hint: use another strategy, or bin the columns.",
            )
        for way in ways:
            _check_way(way, k, strategy)
    for setting in task.settings():
        if setting.mechanism == NAME and setting.epsilon == min(task.epsilons):  # larger ones allow more
            _check_error(OptimalWay.of(setting), setting, min(task.epsilons), schema)


def _check_reported(schema: Schema, task: OptimalGrid) -> None:
    """Refuse protected columns that are not reported, or several that are not reported together."""
    for name in schema.protected_columns:
        if name not in schema.sensitive:
            _refuse_plan(
                "schema.roles.sensitive",
                f"does not hold the protected column '{brief(name)}', which 'optimal' reports. "
                "Hint: make it sensitive, or leave 'optimal' out.",
            )
    if schema.crossing is not None and set(task.strategies) != {"combined"}:
        _refuse_plan(
            "task.strategies",
            "must be 'combined' alone where 'optimal' reports groups of several columns. "
            "Hint: --strategy combined, or leave 'optimal' out.",
        )


def _check_way(way: OptimalWay, k: int, strategy: str) -> None:
    if isinstance(way.outcomes, GroupOutcomes) and way.outcomes.k != k:
        _refuse_plan(
            "task.protocols.optimal.outcomes",
            f"has weights and rates of {way.outcomes.k:,} groups, but with the strategy '{strategy}' there "
            f"are {k:,}. Hint: give one for each value, in the order of the schema.",
        )
    if way.as_printed and k > 2:
        _refuse_plan(
            "task.protocols.optimal.as_printed",
            f"is for two groups, and there are {k:,}. Hint: leave it out.",
        )
    if way.target is not None and strategy != "independent":
        _refuse_plan(
            "task.protocols.optimal.target",
            f"limits the share of one column, and with the strategy '{strategy}' nothing is shared. "
            "Hint: leave it out, or use the strategy 'independent'.",
        )


def _check_error(way: OptimalWay, setting: Setting, epsilon: Fraction, schema: Schema) -> None:
    """Refuse an error that no channel has with the protected column's part of epsilon."""
    if setting.option("strategy") == "independent" and isinstance(way.outcomes, GroupOutcomes):
        protected = schema.protected_name
        parts = epsilons_for(
            {name: schema[name].size for name in schema.sensitive},
            epsilon,
            outcomes=way.outcomes,
            protected=protected,
            split=setting.option("split"),
            target=way.target,
            kind=way.kind,
        )
        epsilon = parts[protected]
    if (least := _least_error(way, epsilon)) is not None:
        _refuse_plan(
            "task.protocols.optimal.error",
            f"is {way.error:.6g}, but the protected column has epsilon {epsilon_of(epsilon, digits=6)}, with "
            f"which no channel for these weights has less than {least:.6f}. "
            "Hint: raise it, or write 'minimum'.",
        )


def check_error(parameters: Mapping[str, Any], epsilon: Fraction) -> None:
    """Refuse an error that no channel has even with the whole of epsilon, for the table in the parameters."""
    way = OptimalWay.read(parameters)
    if (least := _least_error(way, epsilon)) is not None:
        shown = epsilon_of(epsilon, digits=6)
        must_be = f"at least {least:.6f} for these weights and epsilon {shown}, or 'minimum'"
        _refuse("error", must_be, way.error)


def _least_error(way: OptimalWay, epsilon: Fraction) -> float | None:
    """Return the least error that is possible where the one asked for is not, rounded up; else None."""
    known = way.outcomes
    if isinstance(way.error, str) or way.as_printed or not isinstance(known, GroupOutcomes):
        return None
    if way.error >= 1 - GRR(known.k, epsilon).p:  # GRR is such a channel
        return None
    least = error_range(known.weights, known.rates, min(epsilon, MOST_EPSILON)).least
    return math.ceil(least * 1e6) / 1e6 if way.error < least - _ROUNDING else None


def _refuse_plan(field: str, why: str) -> NoReturn:
    raise PlanError(f"The plan field '{field}' {why}", field=field)
