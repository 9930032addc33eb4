r"""Who gains and who loses when a decision is made from noisy counts: exact where it can be, else sampled."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenhand._notes import Note
from evenhand._validate import one_of
from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.exact.noise import noise_of
from evenhand.decide.language.formula import Formula
from evenhand.decide.language.rule import Rule
from evenhand.decide.result.decided import Decided
from evenhand.decide.result.entities import Entities
from evenhand.decide.result.wording import noise_words, total_notes
from evenhand.errors import ColumnNotFoundError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from evenhand.decide.exact.sampled import Sampled
    from evenhand.privacy.laws import Law

    Values = NDArray[np.float64]

__all__ = ["Method", "bias"]

Method = Literal["auto", "exact", "second order", "sample"]

_METHODS: tuple[Method, ...] = ("auto", "exact", "second order", "sample")
_RULE_ERROR = 1e-9  # what the exact probabilities of rules are within
_WIDEST = 1e-4  # how wide a bound may be, against what noise does at most, before draws do better
_NEGLIGIBLE = 1e-12  # part of a budget that is nothing: under a cent of six billion
_UNSURE = 0.1  # part of a variance that its bound may be


def bias(
    problem: Rule | Allotment | Formula,
    data: Any,
    noise: Any,
    *,
    post: Any = None,
    method: Method = "auto",
    draws: int | None = None,
    rng: Any = None,
    progress: Callable[[int, int], object] | None = None,
) -> Decided:
    r"""Return what noise on the counts does to a rule or an allotment, entity by entity.

    .. math:: B_i = E[P_i(\tilde x)] - P_i(x)

    where :math:`x` are the true counts and :math:`\tilde x` the published ones. For a rule :math:`|B_i|` is
    the probability that the decision flips.

    Rules are exact by closed forms, sums over whole numbers and quadrature, also where comparisons share a
    count; allotments by a series with a proved bound, or by the principal value. What none of these covers is
    sampled, and ``.method`` says so.

    Parameters
    ----------
    problem : Rule, Allotment or Formula
        What is decided.
    data : Entities, frame, mapping of str to array, or array
        The true counts; an array only where one count is read. The result is as private as they are.
    noise : Law, mechanism, or mapping of str to either
        The noise on each count; see :func:`~evenhand.decide.exact.noise.noise_of`.
    post : step or sequence of steps, or mapping of str to either, optional
        What is done to the published counts before they are used, such as
        :class:`~evenhand.release.postprocess.Nonnegative`.
    method : {"auto", "exact", "second order", "sample"}
        ``"exact"`` raises, with the reason, where no exact method applies; ``"auto"`` samples then.
        ``"second order"`` is for a formula: half the variance times its curvature, an approximation whose
        error is estimated, or certified where the formula has a bound of its fourth derivative; see
        :mod:`~evenhand.decide.exact.second_order`.
    draws : int, optional
        How many releases are drawn where it is sampled; 10,000 unless told.
    rng : int, Generator or SeededSource, optional
        What they are drawn from; seed 0 unless told. Never the secure source: this is no release.
    progress : callable, optional
        Called with the number of draws done and that of all.

    References
    ----------
    .. [1] Fioretto, Tran, Van Hentenryck (2021). Decision making with differential privacy under a fairness
           lens. IJCAI.

    Examples
    --------
    >>> from evenhand.decide.language.terms import threshold
    >>> from evenhand.privacy.laws import DiscreteLaplace
    >>> decided = bias(threshold("x", 10), {"x": [12, 9, 300]}, DiscreteLaplace(2))
    >>> decided.bias.round(6) + 0
    array([-0.138889,  0.377541,  0.      ])
    >>> decided
    <Decided: rule of 3 entities, exact. Computed from the true data: not for publication.>
    """
    chosen = one_of("method", method, _METHODS, owner="bias")
    _check_problem(problem)
    entities = _entities(problem, data)
    laws = noise_of(noise, inputs=problem.inputs)
    steps = _steps(problem, post)
    found: dict[str, Any] | str = ""
    if chosen == "second order":
        found = _second_order(problem, entities, laws, steps)
    elif chosen != "sample":
        found = _exact(problem, entities, laws, steps)
    if isinstance(found, str) and chosen in {"exact", "second order"}:
        why = "no exact method applies" if chosen == "exact" else "it cannot be told to second order"
        must_be = f"'auto' or 'sample' here, because {why}: {found}"
        raise InvalidParameterError("method", owner="bias", must_be=must_be, got=chosen)
    if isinstance(found, str):
        found = _sampled(problem, entities, laws, steps, why=found, draws=draws, rng=rng, progress=progress)
    return _decided(problem, entities, laws, steps, found)


# --- what is given -----------------------------------------------------------------------------------


def _check_problem(problem: object) -> None:
    if not isinstance(problem, Rule | Allotment | Formula):
        got = f"a value of type {type(problem).__name__}"
        hint = "parse(text) makes a Rule of a text."
        must_be = "a Rule, an Allotment or a Formula"
        raise InvalidParameterError("problem", owner="bias", must_be=must_be, got=got, hint=hint)


def _entities(problem: Rule | Allotment | Formula, data: Any) -> Entities:
    """Return the entities with the counts that the problem reads, all checked."""
    if isinstance(data, Entities):
        entities = data
    elif isinstance(data, Mapping):
        _found(problem.inputs, data)
        entities = Entities.read({name: data[name] for name in problem.inputs}, counts=problem.inputs)
    elif len(problem.inputs) == 1 and isinstance(data, list | tuple | np.ndarray):
        entities = Entities.read({problem.inputs[0]: data}, counts=problem.inputs)
    elif hasattr(data, "columns"):
        entities = Entities.read(data, counts=problem.inputs)
    else:
        got = f"a value of type {type(data).__name__}"
        hint = "Entities.read(frame, counts=[...]) reads them with names and groups."
        must_be = "Entities, a frame, or counts by the names of the inputs"
        raise InvalidParameterError("data", owner="bias", must_be=must_be, got=got, hint=hint)
    _found(problem.inputs, entities.counts)
    if isinstance(problem, Allotment) and problem.size != len(entities):
        must_be = f"as many entities as there are weights, which are {problem.size:,}"
        raise InvalidParameterError("data", owner="bias", must_be=must_be, got=f"{len(entities):,} entities")
    if isinstance(problem, Allotment) and not (problem.weights * entities.counts[problem.count]).any():
        must_be = "counts whose weighted total is above 0, for there to be shares"
        raise InvalidParameterError("data", owner="bias", must_be=must_be, got="others")
    if isinstance(problem, Formula) and not np.isfinite(problem.shares(entities.counts[problem.count])).all():
        must_be = "a formula that is finite on the true counts"
        raise InvalidParameterError("problem", owner="bias", must_be=must_be, got="another")
    return entities


def _found(inputs: tuple[str, ...], given: Mapping[str, Any]) -> None:
    for name in inputs:
        if name not in given:
            raise ColumnNotFoundError(name, map(str, given), place="among the counts")


def _steps(problem: Rule | Allotment | Formula, post: Any) -> dict[str, tuple[Any, ...]]:
    from evenhand.decide.exact.sampled import steps_of  # noqa: PLC0415 - brings the tables

    if isinstance(post, Mapping):
        strange = [name for name in post if name not in problem.inputs]
        if strange:
            must_be = f"given for the inputs alone, which are {', '.join(problem.inputs)}"
            raise InvalidParameterError("post", owner="bias", must_be=must_be, got=strange[0])
    return {name: steps_of(post, name) for name in problem.inputs}


# --- what is found -----------------------------------------------------------------------------------


def _exact(
    problem: Rule | Allotment | Formula,
    entities: Entities,
    laws: Mapping[str, Law],
    steps: Mapping[str, tuple[Any, ...]],
) -> dict[str, Any] | str:
    """Return the exact figures, or why there are none."""
    every = set(steps.values())
    if len(every) > 1:
        return "the steps differ between the inputs"
    post = next(iter(every)) or None
    if isinstance(problem, Formula):
        return _exact_formula(problem, entities, laws, steps)
    if isinstance(problem, Rule):
        return _exact_rule(problem, entities, laws, post)
    return _exact_shares(problem, entities.counts[problem.count], laws[problem.count], post)


def _exact_formula(
    problem: Formula, entities: Entities, laws: Mapping[str, Law], steps: Mapping[str, tuple[Any, ...]]
) -> dict[str, Any] | str:
    """Return the bias to second order where that is certified to be near enough, or why it is not."""
    if problem.fourth_derivative is None:
        return "a formula given as a function has no exact expectation"
    found = _second_order(problem, entities, laws, steps)
    if isinstance(found, str):
        return found
    error, largest = float(found["error_bound"].max()), float(np.abs(found["bias"]).max())
    if not error <= max(_NEGLIGIBLE, _WIDEST * largest):
        return "the bound of the fourth derivative leaves too wide an error"
    return found


def _second_order(
    problem: Rule | Allotment | Formula,
    entities: Entities,
    laws: Mapping[str, Law],
    steps: Mapping[str, tuple[Any, ...]],
) -> dict[str, Any] | str:
    from evenhand.decide.exact.second_order import second_order  # noqa: PLC0415 - seldom needed

    if not isinstance(problem, Formula):
        return "only a Formula is approximated, since rules and allotments have exact methods"
    if any(steps.values()):
        return "a step such as clamping is not smooth"
    found = second_order(problem, entities.counts[problem.count], laws[problem.count])
    if isinstance(found, str):
        return found
    doubt = "Whether the expectation exists, which it may not where a noisy total can be 0, is not looked at."
    return {
        "bias": found.bias,
        "variance": found.variance,
        "method": found.method,
        "error_bound": found.error_bound,
        "approximate": not found.certified,
        "notes": ["The variance is that of the linear part.", *([] if found.certified else [doubt])],
    }


def _exact_rule(
    rule: Rule, entities: Entities, laws: Mapping[str, Law], post: tuple[Any, ...] | None
) -> dict[str, Any] | str:
    from evenhand.decide.exact.rule_probability import exactly_solvable, rule_probability  # noqa: PLC0415 - brings the tables

    reason = exactly_solvable(rule, laws, post, entities=len(entities))
    if reason is not None:
        return reason
    truth = rule.holds(entities.counts)
    columns = {name: entities.counts[name] for name in rule.inputs}
    holds = rule_probability(rule, columns, laws, post=post)
    return {
        "bias": holds - truth,
        "variance": holds * (1 - holds),
        "method": "exact",
        "error_bound": np.full(len(entities), _RULE_ERROR),
    }


def _exact_shares(
    problem: Allotment, counts: NDArray[Any], law: Law, post: tuple[Any, ...] | None
) -> dict[str, Any] | str:
    from evenhand.decide.allotment.series import allotment_bias, total_not_positive  # noqa: PLC0415 - seldom needed

    if post is not None:
        from evenhand.decide.allotment.clamped import solvable  # noqa: PLC0415 - imports scipy

        reason = solvable(problem, counts, law, post)
        if reason is not None:
            return reason
    values, error, method = allotment_bias(problem, counts, law, post=post)
    if not float(error.max()) <= max(_NEGLIGIBLE, _WIDEST * _effect(problem, counts, law)):
        return "the series does not come near enough for noise as wide as this"
    return {
        "bias": values,
        "variance": partial(_variance, problem, counts, law, post),  # takes longer than the bias
        "method": method,
        "error_bound": error,
        "notes": [] if post else total_notes(*total_not_positive(problem, counts, law), law),
    }


def _variance(problem: Allotment, counts: NDArray[Any], law: Law, post: tuple[Any, ...] | None) -> Values:
    """Return the variance of each share; NaN where no figure can be relied on."""
    from evenhand.decide.allotment.inputs import noisy_shares  # noqa: PLC0415 - seldom needed
    from evenhand.decide.allotment.value import lattice_variance  # noqa: PLC0415 - seldom needed
    from evenhand.decide.allotment.variance import allotment_variance  # noqa: PLC0415 - seldom needed

    found = allotment_variance(problem, counts, law, post=post)
    wide = found.error_bound / np.where(found.values > 0, found.values, 1.0)
    wide[problem.weights == 0] = 0.0
    if (wide <= _WIDEST).all() or (post and Note.of(found.method, "method").kind != "uncertified"):
        return found.values
    summed = None if post else lattice_variance(noisy_shares(problem, counts, law))
    return np.where(wide > _UNSURE, np.nan, found.values) if summed is None else summed


def _effect(problem: Allotment, counts: NDArray[Any], law: Law) -> float:
    """Return the size of the two effects that a bias is the difference of, where it is largest."""
    squares = problem.weights**2
    weighed = problem.weights * counts
    total = float(weighed.sum())
    return law.variance * float((weighed / total * squares.sum() + squares).max()) / total**2


def _sampled(
    problem: Rule | Allotment | Formula,
    entities: Entities,
    laws: Mapping[str, Law],
    steps: Mapping[str, tuple[Any, ...]],
    *,
    why: str,
    **asked: Any,
) -> dict[str, Any]:
    from evenhand.decide.exact.sampled import sampled_rule, sampled_shares  # noqa: PLC0415 - brings the tables

    notes: list[str] = []
    if isinstance(problem, Rule):
        drawn = sampled_rule(problem, entities.counts, laws, post=dict(steps), **asked)
    else:
        counts, law = entities.counts[problem.count], laws[problem.count]
        drawn = sampled_shares(problem, counts, law, post=dict(steps), **asked)
        notes = _on_draws(drawn)
    return {
        "bias": drawn.bias,
        "variance": drawn.variance,
        "standard_error": drawn.standard_error,
        "draws": drawn.draws,
        "method": f"sampled, because {why}" if why else "sampled",
        "notes": notes,
    }


def _on_draws(drawn: Sampled) -> list[str]:
    """Return in how many draws there was nothing to divide by, if there were any."""
    drawn_total = f"the noisy total was 0 or less in {drawn.nonpositive:,} of {drawn.draws:,} draws"
    said = [drawn_total] if drawn.nonpositive else []
    if drawn.unpaid:
        said.append(f"there were no shares in {drawn.unpaid:,} of {drawn.draws:,} draws")
    whole = ", and ".join(said)
    sentence = f"{whole[:1].upper()}{whole[1:]}; averages over such draws are not to be relied on."
    return [Note("total" if drawn.nonpositive else "method", sentence)] if said else []


def _decided(
    problem: Rule | Allotment | Formula,
    entities: Entities,
    laws: Mapping[str, Law],
    steps: Mapping[str, tuple[Any, ...]],
    found: dict[str, Any],
) -> Decided:
    from evenhand.release.postprocess.steps import SumTo  # noqa: PLC0415 - brings the tables

    rule = isinstance(problem, Rule)
    truth = (
        problem.holds(entities.counts)
        if isinstance(problem, Rule)
        else problem.shares(entities.counts[problem.count])
    )
    budget = getattr(problem, "budget", None)
    tied = any(isinstance(step, SumTo) for each in steps.values() for step in each)
    return Decided(
        kind="rule" if rule else "allotment",
        problem=repr(problem),
        noise=noise_words(laws, steps),
        names=entities.names,
        truth=truth,
        counts={name: entities.counts[name] for name in problem.inputs},
        populations=dict(zip(entities.groups, entities.populations.T, strict=True)),
        budget=None if budget is None else float(budget),
        coupled=not rule or tied,
        **found,
    )
