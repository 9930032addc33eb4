"""The noise on each input of a decision, and what releasing all of them promises to one person."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cache, reduce
from operator import add
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from evenhand._validate import integer, one_of
from evenhand.errors import InvalidParameterError, UnknownNameError
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.units import Measure, Unit
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Law
from evenhand.privacy.rational import exact
from evenhand.privacy.zcdp import epsilon_from_zcdp
from evenhand.release.mechanisms import noise as mechanisms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.release.mechanisms.registry import TableMechanism

EVERY: Literal["every input"] = "every input"

_ASSUMPTIONS = (
    "each person is counted at most once in each input, in one entity",
    "the entities and the inputs are public",
)
_IDEALIZED = "the noise is drawn from real numbers, which no computer does: simulation only"
_PRINTED = "fioretto2021, as printed: the noise of one input alone, though a person is counted in several"
_ROUNDS = 20
_UNITS = (Unit.REPLACE_ONE, Unit.ADD_OR_REMOVE_ONE)


def noise_of(noise: Any, *, inputs: Sequence[str]) -> Mapping[str, Law]:
    """Return the law of the noise on each input.

    Parameters
    ----------
    noise : Law, mechanism, or a mapping of str to either
        One law for every input, or one for each by name. Of a mechanism, the law of its noise is taken; it
        must be one that publishes every count with noise and does nothing else.
    inputs : sequence of str
        The names of the inputs, such as those of a rule.

    Examples
    --------
    >>> laws = noise_of(DiscreteLaplace(10), inputs=("s", "sp"))
    >>> laws["sp"]
    DiscreteLaplace(scale=Fraction(10, 1))
    """
    return MappingProxyType(
        {name: _law(single_noise) for name, single_noise in _by_input(noise, inputs, "noise_of").items()}
    )


def guarantee_of(
    problem: Any,
    noise: Any,
    *,
    touches: Literal["every input"] | int = EVERY,
    unit: Unit | str | None = None,
    as_printed: bool = False,
) -> Guarantee:
    r"""Return what one person is promised when every input of a decision is released with noise.

    A person may be counted in several inputs. Under nested counts, such as citizens, those of a language
    group and those of them with little schooling, one person moves three, and the release of the three loses
    three times what the release of one does.

    **Guarantee.** That of sequential composition over the inputs one person touches. Assumes that each person
    is counted at most once in each input, in one entity, and that the entities are public.

    Parameters
    ----------
    problem : Rule, Allotment or Formula
        The decision; its inputs are what is released.
    noise : Law, mechanism, or a mapping of str to either
        As in :func:`noise_of`.
    touches : "every input" or int
        In how many inputs one person is counted at most. Fewer than all only where that is known beforehand:
        2, say, of five inputs for five age groups and a total.
    unit : {"replace one", "add or remove one"}, optional
        What may change; to be given with laws, which know no unit. A mechanism has one of its own.
    as_printed : bool
        Count one input only, the one that loses most, as the literature prints it; the proof says so.

    Examples
    --------
    >>> from evenhand.decide.language.terms import count, ratio
    >>> from evenhand.release.mechanisms.noise import Laplace
    >>> rule = ((ratio("sp", "s") > 0.05) | (count("sp") > 10_000)) & (ratio("spe", "sp") > 0.0131)
    >>> laplace = Laplace(epsilon="1/10", unit="add or remove one")
    >>> guarantee_of(rule, laplace).epsilon, guarantee_of(rule, laplace, as_printed=True).epsilon
    (Fraction(3, 10), Fraction(1, 10))
    """
    owner = "guarantee_of"
    inputs = getattr(problem, "inputs", None)
    if not isinstance(inputs, tuple) or not inputs:
        raise InvalidParameterError("problem", owner=owner, must_be="a rule or an allotment", got=problem)
    chosen = None if unit is None else one_of("unit", unit, _UNITS, owner=owner)
    parts = [
        _input_guarantee(name, single_noise, chosen)
        for name, single_noise in _by_input(noise, inputs, owner).items()
    ]
    if getattr(problem, "size", 2) == 1 and parts[0].unit is Unit.REPLACE_ONE:
        parts = [with_terms(part, tight=False) for part in parts]  # who is replaced has nowhere else to go
    most = len(parts)
    if touches != EVERY:
        most = integer("touches", touches, owner=owner, low=1, high=len(parts))
    if as_printed:
        return _printed_guarantee(parts, inputs)
    composed: Guarantee = reduce(add, _largest_losses(parts, most))
    if most == len(parts):
        return composed
    assumed = f"each person is counted in at most {most} of the {len(inputs)} inputs"
    return with_terms(composed, protects=inputs, assumptions=(*composed.assumptions, assumed))


def share_noise(mechanism: TableMechanism, *, epsilon: Fraction | None, inputs: int, unit: str) -> Any:
    """Return the noise of each of several inputs that together keep epsilon, or the mechanism's own rho.

    Laplace noise has an equal part of epsilon for each. Losses of rho add up, so Gaussian noise has an equal
    part of about the largest rho that gives epsilon at the mechanism's delta, and never more: that takes less
    noise than parts of epsilon would.

    >>> from evenhand.release.mechanisms.registry import TableMechanism
    >>> gaussian = TableMechanism("discrete-gaussian", {"delta": "1e-9"})
    >>> noise = share_noise(gaussian, epsilon=Fraction(1), inputs=3, unit="replace one")
    >>> f"{noise.law.standard_deviation:.1f}"
    '14.2'
    """
    if mechanism.name != "discrete-gaussian" or inputs == 1:
        return mechanism.build(epsilon=None if epsilon is None else epsilon / inputs, unit=unit)
    given = mechanism.parameters
    if epsilon is None:
        whole = exact(given["rho"], name="rho", owner="share_noise", above=0)
    else:
        whole = _largest_rho(
            epsilon, exact(given["delta"], name="delta", owner="share_noise", above=0, most=1)
        )
    return mechanisms.DiscreteGaussian(rho=whole / inputs, unit=unit)


@cache
def _largest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    log = -math.log(delta)
    low = (float(epsilon) / (math.sqrt(log + float(epsilon)) + math.sqrt(log))) ** 2 * (1 - 1e-9)
    high = 4 * low
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        holds = epsilon_from_zcdp(Fraction(middle), delta) <= epsilon
        low, high = (middle, high) if holds else (low, middle)
    return Fraction(low).limit_denominator(10**12)


def _by_input(noise: Any, inputs: Sequence[str], owner: str) -> dict[str, Any]:
    names = tuple(inputs)
    if not isinstance(noise, Mapping):
        return dict.fromkeys(names, noise)
    for name in names:
        if name not in noise:
            raise UnknownNameError("The noise of input", name, map(str, noise), place="given")
    strange = [name for name in noise if name not in names]
    if strange:
        must_be = f"given for the inputs alone, which are {', '.join(names)}"
        raise InvalidParameterError("noise", owner=owner, must_be=must_be, got=strange[0])
    return {name: noise[name] for name in names}


def _law(noise: Any) -> Law:
    if isinstance(noise, Law):
        return noise
    if not isinstance(noise, mechanisms.Laplace | mechanisms.DiscreteGaussian):
        hint = "where a mechanism does more than add noise to every count, simulate its releases."
        must_be = "a law of noise, or the mechanism Laplace or DiscreteGaussian"
        raise InvalidParameterError("noise", owner="noise_of", must_be=must_be, got=noise, hint=hint)
    law: Law = noise.law
    return law


def _input_guarantee(name: str, noise: Any, unit: Unit | None) -> Guarantee:
    """Return what the release of one input promises."""
    law = _law(noise)
    if law is noise:
        if unit is None:
            must_be = "given with a law: 'replace one' or 'add or remove one'"
            raise InvalidParameterError("unit", owner="guarantee_of", must_be=must_be, got=unit)
        amount, proof = _amount_of(law, unit)
    else:
        if unit not in {None, noise.unit}:
            must_be = f"left out, or that of the mechanism, '{noise.unit}'"
            raise InvalidParameterError("unit", owner="guarantee_of", must_be=must_be, got=unit)
        unit, proof = noise.unit, noise.title
        amount = _amount_of(law, noise.unit)[0]
        if getattr(noise, "delta", None) is not None:
            amount = {"epsilon": noise.epsilon, "delta": noise.exact_delta(noise.epsilon)}
    assumptions = (*_ASSUMPTIONS, _IDEALIZED) if law.idealized else _ASSUMPTIONS
    stated: dict[str, Any] = {**amount, "tight": True, "proof": proof, "assumptions": assumptions}
    return Guarantee(**stated, unit=unit, trust="central", protects=(name,))


def _amount_of(law: Law, unit: Unit) -> tuple[dict[str, Fraction], str]:
    """Return what noise of this law loses where a person moves one count by 1, or two if replaced."""
    moved = 2 if unit is Unit.REPLACE_ONE else 1
    if isinstance(law, DiscreteLaplace | Laplace):
        return {"epsilon": moved / Fraction(law.scale)}, "Laplace noise"
    if isinstance(law, DiscreteGaussian | Gaussian):
        return {"rho": moved / (2 * Fraction(law.squared_scale))}, "Gaussian noise"
    must_be = "noise of a Laplace or Gaussian law, discrete or not"
    raise InvalidParameterError("noise", owner="guarantee_of", must_be=must_be, got=law)


def _largest_losses(parts: list[Guarantee], most: int) -> list[Guarantee]:
    """Return the parts that lose most; all of them where they cannot be ranked.

    A replaced person leaves `most` counts and enters as many, perhaps of other inputs. With pure or
    concentrated losses each count costs half of its part's, so the largest parts bound the sum.
    Approximate ones rank only if all are equal.
    """
    measures = {part.measure for part in parts}
    equal = all(part.loss == parts[0].loss for part in parts)
    if len(measures) > 1 or (Measure.APPROXIMATE in measures and not equal):
        return parts
    return sorted(parts, key=lambda part: part.loss.amount, reverse=True)[:most]


def _printed_guarantee(parts: list[Guarantee], inputs: Sequence[str]) -> Guarantee:
    """Return the part that loses most, as if nobody were counted in another."""
    largest = _largest_losses(parts, 1)
    if len(largest) > 1:
        must_be = "of one kind for every input where one input is to be counted"
        raise InvalidParameterError("noise", owner="guarantee_of", must_be=must_be, got="several kinds")
    return with_terms(largest[0], protects=tuple(inputs), tight=False, proof=_PRINTED)


def with_terms(guarantee: Guarantee, **changed: Any) -> Guarantee:
    """Return a copy with other terms; it gives no warning that the first one gave."""
    record = guarantee.to_dict() | {
        name: list(term) if isinstance(term, tuple) else term for name, term in changed.items()
    }
    return Guarantee.from_dict(record)
