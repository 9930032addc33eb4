"""From a setting to the strategy that makes the reports, and so to the guarantee."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from evenhand._notes import Note
from evenhand.collect.joint.build import strategy_for
from evenhand.collect.joint.combined import Combined
from evenhand.collect.joint.independent import Independent, Sampled, Single
from evenhand.collect.joint.split import split_budget
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.law import VALUES_PUBLIC
from evenhand.collect.protocols.optimal import Optimal
from evenhand.collect.protocols.registry import AUTO, protocol_named
from evenhand.errors import InvalidParameterError
from evenhand.privacy.contributions import promise_to_rows
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.in_clear import state_inferred
from evenhand.privacy.guarantees.units import ONE_ROW
from evenhand.study.plan.cells import UNPROTECTED
from evenhand.study.tasks.shared.report_settings import (
    NAME,
    OptimalWay,
    protocol_names,
    protocol_parameters,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.collect.joint.strategy import Strategy
    from evenhand.schema import Schema
    from evenhand.study.plan.cells import Setting

_ORIGINS = {
    "pilot": "the shares and outcome rates are estimated from the reports of a pilot, {share:.3g} of all, "
    "who report by generalized randomized response with the same epsilon and only once",
    "noisy": "the shares and outcome rates are counted in the training rows, with noise",
    "exact": "it holds only if the exact shares and outcome rates of all rows are public",
}


def strategy_of(setting: Setting, schema: Schema) -> Strategy:
    """Return the strategy of a protected setting for the sensitive columns of the schema.

    The protocol ``"optimal"`` is made anew in each cell, from what the cell knows of the groups. What stands
    here in its place is GRR with the same columns, sizes and epsilons: what a pilot sends, and as many bits
    and as much epsilon as everybody else; :func:`promise_of` says what is promised.

    >>> from fractions import Fraction
    >>> import evenhand as eh
    >>> from evenhand.study.tasks.shared.report_settings import report_setting
    >>> schema = eh.datasets.load("causal", n=10).schema
    >>> strategy_of(report_setting("grr", Fraction(1), "k-based", "independent"), schema).epsilon
    Fraction(1, 1)
    """
    if not isinstance(setting.epsilon, Fraction):
        must_be = "a protected one"
        raise InvalidParameterError("setting", owner="strategy_of", must_be=must_be, got=str(setting))
    sizes = {name: schema[name].size for name in schema.sensitive}
    if setting.mechanism == NAME:
        return _in_place_of_optimal(setting, sizes, schema)
    strategy, split = setting.option("strategy"), setting.option("split")
    protocol: Any = setting.mechanism
    if protocol != AUTO and strategy == "combined":
        protocol = "grr"
    elif protocol != AUTO:
        names, shares = protocol_names(setting, schema), dict.fromkeys(sizes, setting.epsilon)
        if strategy == "independent" and split != "sample":
            shares = split_budget(setting.epsilon, sizes, how=split, protocol=names, exact=True)
        own = {setting.mechanism: protocol_parameters(setting)}
        protocol = {
            column: protocol_named(names[column]).of_size(k, shares[column], **own.get(names[column], {}))
            for column, k in sizes.items()
        }
    return strategy_for(
        sizes,
        epsilon=setting.epsilon,
        protocol=protocol,
        split="optimal" if split == UNPROTECTED else split,
        strategy=strategy,
        protected=None if schema.crossing is not None else schema.protected_name or None,
    )


def _in_place_of_optimal(setting: Setting, sizes: dict[str, int], schema: Schema) -> Strategy:
    protected, epsilon = schema.protected_name, setting.epsilon or 0
    if setting.option("strategy") == "combined":
        return Combined(sizes, epsilon)
    if setting.option("strategy") == "single":
        others = [each for each in sizes if each != protected]
        return Single(protected, GRR(sizes[protected], epsilon), in_clear=others)
    shares = OptimalWay.of(setting).epsilons(setting, schema)
    made = {column: GRR(k, shares[column]) for column, k in sizes.items()}
    if setting.option("split") == "sample":
        return Sampled(made, split_budget(epsilon, sizes, how="sample", exact=True))
    return Independent(made)


def promise_of(setting: Setting, schema: Schema) -> Guarantee:
    """Return what a setting promises to one person in all, with what making its protocol cost.

    >>> from fractions import Fraction
    >>> import evenhand as eh
    >>> from evenhand.study.tasks.shared.report_settings import report_setting
    >>> schema = eh.datasets.load("causal", n=10).schema
    >>> counted = {"outcomes": "noisy", "budget": "1/10"}
    >>> noisy = report_setting("optimal", Fraction(1), "none", "single", counted)
    >>> promise = promise_of(noisy, schema)
    >>> promise.epsilon, str(promise.trust)
    (Fraction(11, 10), 'central')
    """
    strategy = strategy_of(setting, schema)
    inferred = [name for name in strategy.columns if schema[name].inferred]
    report = state_inferred(strategy.guarantee, inferred, instead_of=VALUES_PUBLIC)
    report = Guarantee.from_dict(report.to_dict() | {"assumptions": [*report.assumptions, ONE_ROW]})
    if setting.mechanism != NAME:
        return report
    way = OptimalWay.of(setting)
    origin = (
        way.known_outcomes.assumptions[0]
        if way.known_outcomes
        else _ORIGINS[str(way.outcomes)].format(share=way.pilot)
    )
    proofs = [Optimal.title]
    if way.outcomes == "pilot" or (setting.option("strategy") == "independent" and len(schema.sensitive) > 1):
        proofs.append(GRR.title)
    terms = {"tight": False, "proof": " and ".join(proofs), "assumptions": [*report.assumptions, origin]}
    made = Guarantee.from_dict(report.to_dict() | terms)
    if way.budget is None:
        return made
    counted = Guarantee(
        epsilon=way.budget,
        unit="replace one",
        trust="central",
        protects=made.protects,
        in_clear=made.in_clear,
        proof="discrete Laplace noise on the counts of groups by outcomes",
        assumptions=("whoever computes the noisy table sees the rows",),
    )
    return made + counted


def asks_whose_rows(notes: Iterable[str]) -> bool:
    """Return whether notes of a plan or of its rows ask whose rows they are: one person may have several."""
    return any(Note.of(note).kind == "unit" for note in notes)


def state_rows(guarantee: Guarantee, notes: Iterable[str]) -> Guarantee:
    """Return the guarantee for rows, not people, if the notes of a plan ask whose rows they are."""
    return promise_to_rows(guarantee) if asks_whose_rows(notes) else guarantee
