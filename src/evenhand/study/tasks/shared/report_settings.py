"""Settings of reports that people randomise: a protocol, a split of the budget, a strategy for columns.

The protocol "optimal" is told besides where the shares and rates of the groups come from.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from evenhand.collect.fairest.group_outcomes import GroupOutcomes, checked_budget
from evenhand.collect.fairest.optimum import error_range
from evenhand.collect.joint.build import epsilons_for
from evenhand.collect.joint.combined import MOST_PRODUCT_CELLS
from evenhand.collect.protocols.grr import GRR, Naming
from evenhand.collect.protocols.optimal import MOST_EPSILON, Optimal
from evenhand.collect.protocols.registry import AUTO, protocol_named
from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import as_text, exact
from evenhand.report.words import epsilon_of
from evenhand.schema.text import brief
from evenhand.study.plan.cells import UNPROTECTED, Setting
from evenhand.study.tasks.base import refuse_field

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.schema import Schema

NAME = "optimal"
"""The name of the mechanism "optimal"."""

MOST_GROUPS = 30
"""From more on, the linear programs of the optimal channel take seconds."""

_WORDS = ("pilot", "noisy", "exact")
_FIELDS = ("outcomes", "pilot", "budget", "error", "kind", "as_printed", "target")
_PILOT = 0.1
_ROUNDING = 1e-9  # by which a solver may miss the least error
_TABLE = "the plan"
_AFTERWARDS = "post"


def report_setting(
    protocol: str,
    epsilon: Fraction | None = None,
    split: str = UNPROTECTED,
    strategy: str = UNPROTECTED,
    parameters: Mapping[str, Any] | None = None,
) -> Setting:
    """Return the setting of a protocol with its further `parameters`; epsilon is of a person's whole report.

    There is no budget to split with the strategies ``"single"`` and ``"combined"``.

    >>> from fractions import Fraction
    >>> str(report_setting("olh", Fraction(1, 2), "uniform", "independent", {"as_printed": True}))
    'OLH, as_printed, uniform split, ε = 0.5'
    """
    own = dict(parameters or {})
    asked = {"strategy": strategy, "split": split}
    options = {name: value for name, value in asked.items() if value != UNPROTECTED}
    words = [protocol.upper()]
    words += [name if value is True else f"{name}={value}" for name, value in sorted(own.items())]
    words += [strategy] if strategy not in {UNPROTECTED, "independent"} else []
    words += [f"{split} split"] if split != UNPROTECTED else []
    return Setting(protocol, epsilon, {**options, **own}, label=", ".join(words))


def protocol_parameters(setting: Setting) -> dict[str, Any]:
    """Return the parameters of a setting's protocol.

    >>> protocol_parameters(report_setting("olh", None, "uniform", "independent", {"as_printed": True}))
    {'as_printed': True}
    """
    besides = ("strategy", "split", _AFTERWARDS)
    return {name: value for name, value in setting.options.items() if name not in besides}


def add_parity(setting: Setting) -> Setting:
    """Return a setting whose decisions are evened out afterwards, by everybody's true group.

    >>> str(add_parity(report_setting("grr", Fraction(1), "uniform", "independent")))
    'GRR, uniform split, parity, ε = 1'
    """
    options = {**setting.options, _AFTERWARDS: "parity"}
    return replace(setting, options=options, label=f"{setting.label}, parity")


def drop_parity(setting: Setting) -> Setting:
    """Return the setting that makes the same reports and leaves decisions as they are."""
    options = {name: value for name, value in setting.options.items() if name != _AFTERWARDS}
    return replace(setting, options=options, label=setting.label.removesuffix(", parity"))


def has_parity(setting: Setting) -> bool:
    """Return whether decisions are evened out afterwards."""
    return _AFTERWARDS in setting.options


def protocol_names(setting: Setting, schema: Schema) -> dict[str, str]:
    """Return by which protocol each sensitive column is reported where columns report independently.

    An outcome of two values is reported by GRR, so that a false "yes" is as likely as a false "no": whatever
    the columns beside it, the outcome is then likelier than not where its report is. "auto" does so itself.
    """
    names = dict.fromkeys(schema.sensitive, setting.mechanism)
    if setting.mechanism != AUTO and schema.target in names and not has_long_outcome(schema):
        names[str(schema.target)] = "grr"
    return names


def has_long_outcome(schema: Schema) -> bool:
    """Return whether people randomise an outcome of more than two values."""
    return schema.target in schema.sensitive and schema[str(schema.target)].size > 2


def check_encoder(encoder: str, setting: Setting) -> None:
    """Refuse ``"codes"`` for reports that do not name one value of each column."""
    if encoder != "codes" or not setting.is_protected:
        return
    if setting.option("split") == "sample":
        must_be = "'narrow' or 'one-hot' where people report one column each, for the others have no code"
    elif setting.mechanism == AUTO or not issubclass(protocol_named(setting.mechanism), Naming):
        name = setting.mechanism.upper()
        must_be = f"'narrow' or 'one-hot' for {name}: only GRR's reports are codes, besides those of optimal"
    else:
        return
    hint = "use the encoder 'narrow' or 'one-hot'."
    raise InvalidParameterError("encoder", owner="CollectTask", must_be=must_be, got=encoder, hint=hint)


# --- the mechanism "optimal" ------------------------------------------------------------------------


@dataclass(frozen=True)
class OptimalWay:
    """Hold what a plan says about the mechanism "optimal".

    ===========  ===========================================================================================
    outcomes     where weights and rates come from
    ===========  ===========================================================================================
    ``pilot``    a share `pilot` of the training rows reports by GRR with the same epsilon; their reports
                 serve for the estimate and for training, and everybody reports once
    ``noisy``    counts of the training rows with noise, for `budget`, on top of the reports' epsilon
    ``exact``    counts of all rows, test rows included: for reproductions
    a table      ``weights`` and ``rates`` that are public, and ``source``, who published them
    ===========  ===========================================================================================

    `error`, `kind` and `as_printed` are as :class:`evenhand.collect.Optimal` has them. `target` is the most
    of the unfairness that reports may keep; with a table only, since epsilons are fixed before anything is
    learnt.

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
        budget, target = parameters.get("budget"), parameters.get("target")
        if "budget" in parameters:
            budget = checked_budget(budget, name="protocols.optimal.budget", owner="CollectTask")
        if (budget is not None) != (outcomes == "noisy"):
            must_be = "an epsilon > 0 where outcomes are 'noisy', and left out elsewhere"
            _refuse("budget", must_be, "none" if budget is None else parameters["budget"])
        if "target" in parameters:
            target = exact(target, name="protocols.optimal.target", owner="CollectTask", above=0)
            if target >= 1 or isinstance(outcomes, str):
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
    def known_outcomes(self) -> GroupOutcomes | None:
        """The weights and rates of a table; None where they are found in the rows."""
        return self.outcomes if isinstance(self.outcomes, GroupOutcomes) else None

    @property
    def options(self) -> dict[str, Any]:
        """Return what :class:`evenhand.collect.Optimal` is told besides weights, rates and epsilon."""
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

    def epsilons(self, setting: Setting, schema: Schema) -> dict[str, Fraction]:
        """Return each column's part of a setting's epsilon, where columns report independently."""
        return epsilons_for(
            {name: schema[name].size for name in schema.sensitive},
            Fraction(setting.epsilon or 0),
            outcomes=self.known_outcomes,
            protected=schema.protected_name,
            split=setting.option("split"),
            target=self.target,
            kind=self.kind,
        )


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


def _checked_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return error, kind and as_printed as the protocol takes them, tried on two groups."""
    try:
        made = Optimal((0.5, 0.5), (0.25, 0.75), 1, **options)
    except InvalidParameterError as error:
        raise error.renamed(f"protocols.optimal.{error.parameter}", owner="CollectTask") from None
    return {name: getattr(made, name) for name in options}


def _refuse(name: str, must_be: str, got: object) -> NoReturn:
    raise InvalidParameterError(f"protocols.optimal.{name}", owner="CollectTask", must_be=must_be, got=got)


# --- whether it fits --------------------------------------------------------------------------------


def why_not_optimal(schema: Schema | None) -> Literal["", "not_reported", "too_many", "crossed", "outcome"]:
    """Return what keeps a study from trying "optimal" unless asked; an empty text if nothing does."""
    if schema is None or not schema.protected_columns:
        return "not_reported"
    if schema.target in schema.sensitive:
        return "outcome"
    if not set(schema.protected_columns) <= set(schema.sensitive):
        return "not_reported"
    if schema.crossing is not None:
        return "crossed"
    return "" if schema.group_column.size <= MOST_GROUPS else "too_many"


def check_optimal(schema: Schema, settings: Iterable[Setting]) -> None:
    """Refuse settings of "optimal" that do not fit the columns, before anything runs."""
    asked = [setting for setting in settings if setting.mechanism == NAME]
    for name in schema.protected_columns if asked else ():
        if name not in schema.sensitive:
            refuse_field(
                "schema.roles.sensitive",
                f"does not hold the protected column '{brief(name)}', which 'optimal' reports. "
                "Hint: make it sensitive, or leave 'optimal' out.",
            )
    if schema.target in schema.sensitive and not all(map(_is_public, asked)):
        refuse_field(
            "task.protocols",
            f"holds 'optimal', which counts the outcome '{brief(str(schema.target))}' by group, and people "
            "randomise it. Hint: leave 'optimal' out, or give it public 'outcomes' with the strategy "
            "'independent'.",
        )
    if schema.crossing is not None and any(each.option("strategy") != "combined" for each in asked):
        refuse_field(
            "task.strategies",
            "must be 'combined' alone where 'optimal' reports groups of several columns. "
            "Hint: --strategy combined, or leave 'optimal' out.",
        )
    least = min((each.epsilon or 0 for each in asked), default=0)
    for setting in asked:
        if setting.epsilon == least:  # larger ones allow more
            _check_setting(setting, schema)


def _is_public(setting: Setting) -> bool:
    """Return whether the optimal channel is made from what is public, and leaves the outcome to GRR."""
    return OptimalWay.of(setting).known_outcomes is not None and setting.option("strategy") != "combined"


def _check_setting(setting: Setting, schema: Schema) -> None:
    """Refuse too many groups, a table or an option for other groups, and an error that no channel has."""
    way, strategy, epsilon = OptimalWay.of(setting), setting.option("strategy"), setting.epsilon or 0
    k, most = schema.group_column.size, Optimal.most_values
    if strategy == "combined":
        k, most = math.prod(schema[name].size for name in schema.sensitive), MOST_PRODUCT_CELLS
    if k > most:
        refuse_field(
            "task.protocols",
            f"holds 'optimal', which the strategy '{strategy}' would ask about {k:,} groups; {most} "
            "is the most. Hint: use another strategy, or bin the columns.",
        )
    if way.known_outcomes is not None and way.known_outcomes.k != k:
        refuse_field(
            "task.protocols.optimal.outcomes",
            f"has weights and rates of {way.known_outcomes.k:,} groups, but with the strategy '{strategy}' "
            f"there are {k:,}. Hint: give one for each value, in the order of the schema.",
        )
    if way.as_printed and k > 2:
        refuse_field(
            "task.protocols.optimal.as_printed",
            f"is for two groups, and there are {k:,}. Hint: leave it out.",
        )
    if way.target is not None and strategy != "independent":
        refuse_field(
            "task.protocols.optimal.target",
            f"limits the share of one column, and with the strategy '{strategy}' nothing is shared. "
            "Hint: leave it out, or use the strategy 'independent'.",
        )
    if strategy == "independent" and way.known_outcomes is not None:
        epsilon = way.epsilons(setting, schema)[schema.protected_name]
    if (least := _least_error(way, epsilon)) is not None:
        refuse_field(
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


def _least_error(way: OptimalWay, epsilon: Fraction | int) -> float | None:
    """Return the least error that is possible where the one asked for is not, rounded up; else None."""
    known = way.known_outcomes
    if isinstance(way.error, str) or way.as_printed or known is None:
        return None
    if way.error >= 1 - GRR(known.k, epsilon).p:  # GRR is such a channel
        return None
    least = error_range(known.weights, known.rates, min(epsilon, MOST_EPSILON)).least
    return math.ceil(least * 1e6) / 1e6 if way.error < least - _ROUNDING else None
