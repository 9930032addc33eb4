"""Moved thresholds: a right is granted from a little below its threshold on, so that few lose it by noise."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.decide.exact.noise import noise_of
from evenhand.decide.exact.rule_probability import rule_probability
from evenhand.decide.language.rule import Predicate, Rule
from evenhand.decide.language.terms import Term, compare_sides, half_space_rule
from evenhand.decide.mitigate.mitigation import Mitigation, build_mitigation, require_problem, start_release
from evenhand.decide.mitigate.registry import MitigationKind, MitigationParameter
from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evenhand.privacy.guarantees.units import Unit
    from evenhand.privacy.laws import Law

CHANCE = 0.01
"""The chance by which whoever has a right may be refused it, unless told."""

_OWNER = "margin"


def margin(
    problem: Rule,
    data: Any,
    noise: Any,
    *,
    chance: float = CHANCE,
    unit: Unit | str | None = None,
    draws: int | None = None,
    rng: Any = None,
    progress: Callable[[int, int], object] | None = None,
) -> Mitigation:
    """Decide by the rule of :func:`move_thresholds`, which refuses nobody a right more often than `chance`.

    Whoever is just below a threshold gains the right by error more often.

    **Guarantee.** That of the plain release: the noisy counts alone are looked at, and how far thresholds
    move depends on the rule and the noise.

    Parameters
    ----------
    problem : Rule
        The rule.
    data : Entities or mapping
        The true counts.
    noise : Law, mechanism, or mapping of str to either
        The noise on every count.
    chance : float, default 0.01
        How often an entity with the right may be refused it, above 0 and below 1/2.
    unit : {"replace one", "add or remove one"}, optional
        To be given with a law.
    draws, rng, progress
        For what has to be sampled.

    Examples
    --------
    >>> from evenhand.decide.language.terms import threshold
    >>> from evenhand.privacy.laws import DiscreteLaplace
    >>> at_risk = {"x": [10_000, 10_014, 9_990]}
    >>> moved = margin(threshold("x", 10_000), at_risk, DiscreteLaplace(10), unit="add or remove one")
    >>> moved.bias.round(4)
    array([-0.0096, -0.0024,  0.9739])
    """
    rule = require_problem(problem, Rule, owner=_OWNER)
    moved = move_thresholds(rule, noise_of(noise, inputs=rule.inputs), chance)
    how: dict[str, Any] = {"draws": draws, "rng": rng, "progress": progress}
    _, guarantee, decided = start_release(moved, data, noise, unit, owner=_OWNER, **how)
    truth = rule.holds(decided.counts)
    bias = decided.truth + decided.bias - truth
    words = f"Decided by {moved!r}: whoever has the right is refused with a chance of at most {chance:.6g}."
    error = float(np.abs(bias).mean()), 0.0
    as_asked = replace(decided, problem=repr(rule), truth=truth)
    return build_mitigation("margin", words, guarantee, as_asked, error, bias=bias)


def move_thresholds(rule: Rule, laws: Mapping[str, Law], chance: float = CHANCE) -> Rule:
    """Return the rule with thresholds so low that whoever has the right loses it with at most this chance.

    That holds for any counts. Every comparison gives way by what its noise falls below that seldom; where
    several must hold together for the right, they share the chance.

    >>> from evenhand.decide.language.parse import parse
    >>> from evenhand.privacy.laws import DiscreteLaplace
    >>> move_thresholds(parse("x >= 10000"), {"x": DiscreteLaplace(10)})
    x >= 9961
    >>> move_thresholds(parse("a > 5 and not b > 3"), {"a": DiscreteLaplace(1), "b": DiscreteLaplace(1)})
    a > 1 and -b >= -7
    """
    if not 0 < chance < 1 / 2:
        raise InvalidParameterError(
            "chance", owner=_OWNER, must_be="a number above 0 and below 0.5", got=chance
        )
    without_not = _push_not(rule)
    return _lower(without_not, {name: laws[name] for name in rule.inputs}, chance / _most_needed(without_not))


def _push_not(rule: Rule, *, turned: bool = False) -> Rule:
    """Return the same decision by half-spaces with "and" and "or" alone; the opposite one where turned.

    That a denominator is above 0 is left out where a ratio must be large: noise alone can break it.
    """
    if rule.comparison is not None:
        predicate, *others = rule.predicates
        if turned and predicate.needs_positive is None:
            opposite = {name: -factor for name, factor in predicate.terms}
            predicate = Predicate.of(opposite, -predicate.bound, strict=not predicate.strict)
        elif turned or others:
            return _push_not(rule.linear(), turned=turned)
        return half_space_rule(predicate.half_space)
    if rule.operation == "not":
        return _push_not(rule.parts[0], turned=not turned)
    if rule.operation == "xor":
        first, *later = rule.parts
        rest = reduce(lambda whole, part: whole ^ part, later)
        one, other = (~first & rest, first & ~rest)
        return _push_not(~one & ~other if turned else one | other)
    parts = [_push_not(part, turned=turned) for part in rule.parts]
    if (rule.operation == "and") != turned:
        return reduce(lambda whole, part: whole & part, parts)
    return reduce(lambda whole, part: whole | part, parts)


def _most_needed(rule: Rule) -> int:
    """Return how many comparisons must hold together, at most, for somebody to have the right."""
    if rule.comparison is not None:
        return 1
    needed = [_most_needed(part) for part in rule.parts]
    return sum(needed) if rule.operation == "and" else max(needed)


def _lower(rule: Rule, laws: Mapping[str, Law], chance: float) -> Rule:
    if rule.comparison is not None:
        [predicate] = rule.predicates
        noise = tuple((name, laws[name]) for name, _ in predicate.terms)
        fall = _fall(predicate.terms, noise, chance)
        return half_space_rule(replace(predicate, bound=predicate.bound - fall))
    return replace(rule, parts=tuple(_lower(part, laws, chance) for part in rule.parts))


@lru_cache(maxsize=256)
def _fall(terms: tuple[tuple[str, Any], ...], laws: tuple[tuple[str, Law], ...], chance: float) -> int:
    """Return the least whole number by which noise lowers a weighted sum more seldom than this."""
    noise, nothing = dict(laws), {name: [0] for name, _ in terms}

    def holds_with(fall: int) -> bool:
        kept = compare_sides(Term.of(dict(terms)), ">=", Term.of({}, -fall))
        return bool(1 - rule_probability(kept, nothing, noise)[0] <= chance)

    low, high = -1, 1  # noise is as likely above 0 as below
    while not holds_with(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds_with(middle) else (middle, high)
    return high


MITIGATION = MitigationKind(
    name="margin",
    title="Lower thresholds",
    decide=margin,
    problems=("rule",),
    does="lowers thresholds, so that few lose a right by noise",
    guarantee="the same",
    cost="rights granted by error",
    parameters=(MitigationParameter("chance", "how often a right may be refused by error", example="0.01"),),
)
