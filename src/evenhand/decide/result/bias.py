r"""Who gains and who loses when a decision is made from noisy counts: exact where it can be, else sampled."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenhand._notes import Note
from evenhand._validate import one_of
from evenhand.decide.allotment.allotment import Allotment, Formula
from evenhand.decide.allotment.moments import (
    allotment_bias,
    allotment_variance,
    sampling_reason,
    total_not_positive,
)
from evenhand.decide.allotment.noisy_total import build_noisy_shares
from evenhand.decide.allotment.principal_values import lattice_variance
from evenhand.decide.exact.noise import noise_of
from evenhand.decide.exact.rule_probability import exactly_solvable, rule_probability
from evenhand.decide.exact.sampled import SampledFigures, sampled_rule, sampled_shares, steps_for_input
from evenhand.decide.exact.second_order import second_order
from evenhand.decide.language.rule import Rule
from evenhand.decide.result.decided import Decided
from evenhand.decide.result.entities import Entities
from evenhand.decide.result.payments import payments_of
from evenhand.errors import ColumnNotFoundError, InvalidParameterError
from evenhand.privacy.laws import DiscreteLaplace, Laplace, Law
from evenhand.release.postprocess.steps import SumTo

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Values = NDArray[np.float64]
    Laws = Mapping[str, Law]
    Post = tuple[Any, ...] | None
    Steps = Mapping[str, tuple[Any, ...]]
    Figures = dict[str, Any] | str  # the fields of a result, or why they are not known

Method = Literal["auto", "exact", "second order", "sample"]
Problem = Rule | Allotment | Formula

_METHODS: tuple[Method, ...] = ("auto", "exact", "second order", "sample")
_RULE_ERROR = 1e-9  # what the exact probabilities of rules are within
_WIDEST = 1e-4  # how wide a bound may be, against what noise does at most, before draws do better
_NEGLIGIBLE = 1e-12  # part of a budget that does not count: under a cent of six billion
_UNSURE = 0.1  # part of a variance that its bound may be
_UNLIKELY = 1e-6  # probabilities of a total of 0 or less that are not worth a note
_TITLES = {
    "DiscreteGaussian": "discrete Gaussian",
    "DiscreteLaplace": "discrete Laplace",
    "Gaussian": "Gaussian",
    "Laplace": "Laplace",
}


def bias(
    problem: Problem,
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
        How many releases are drawn where it is sampled; 10,000 by default.
    rng : int, Generator or SeededSource, optional
        What they are drawn from; seed 0 by default. Never the secure source: this is no release.
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
    steps = _steps_by_input(problem, post)
    figures: Figures = ""
    if chosen == "second order":
        figures = _second_order(problem, entities, laws, steps)
    elif chosen != "sample":
        figures = _decide_exactly(problem, entities, laws, steps)
    if isinstance(figures, str) and chosen in {"exact", "second order"}:
        why = "no exact method applies" if chosen == "exact" else "it cannot be computed to second order"
        must_be = f"'auto' or 'sample' here, because {why}: {figures}"
        raise InvalidParameterError("method", owner="bias", must_be=must_be, got=chosen)
    if isinstance(figures, str):
        figures = _decide_by_draws(
            problem, entities, laws, steps, why=figures, draws=draws, rng=rng, progress=progress
        )
    payments = None
    if isinstance(problem, Allotment):
        count = problem.count
        payments = payments_of(problem, entities.counts[count], laws[count], steps[count])
    tied = any(isinstance(step, SumTo) for input_steps in steps.values() for step in input_steps)
    coupled = tied or not isinstance(problem, Rule)
    words = noise_words(laws, steps)
    return _build_result(problem, entities, noise=words, coupled=coupled, payments=payments, **figures)


# --- what is given -----------------------------------------------------------------------------------


def _check_problem(problem: object) -> None:
    if not isinstance(problem, Rule | Allotment | Formula):
        got = f"a value of type {type(problem).__name__}"
        hint = "parse(text) makes a Rule of a text."
        must_be = "a Rule, an Allotment or a Formula"
        raise InvalidParameterError("problem", owner="bias", must_be=must_be, got=got, hint=hint)


def _entities(problem: Problem, data: Any) -> Entities:
    """Return the entities with the counts that the problem reads, all checked."""
    if isinstance(data, Entities):
        entities = data
    elif isinstance(data, Mapping):
        _check_columns(problem.inputs, data)
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
    _check_columns(problem.inputs, entities.counts)
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


def _check_columns(inputs: tuple[str, ...], columns: Mapping[str, Any]) -> None:
    for name in inputs:
        if name not in columns:
            raise ColumnNotFoundError(name, map(str, columns), place="among the counts")


def _steps_by_input(problem: Problem, post: Any) -> Steps:
    if isinstance(post, Mapping):
        strange = [name for name in post if name not in problem.inputs]
        if strange:
            must_be = f"given for the inputs alone, which are {', '.join(problem.inputs)}"
            raise InvalidParameterError("post", owner="bias", must_be=must_be, got=strange[0])
    return {name: steps_for_input(post, name) for name in problem.inputs}


# --- what is found -----------------------------------------------------------------------------------


def _decide_exactly(problem: Problem, entities: Entities, laws: Laws, steps: Steps) -> Figures:
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


def _exact_formula(problem: Formula, entities: Entities, laws: Laws, steps: Steps) -> Figures:
    """Return the bias to second order where that is certified to be near enough, or why it is not."""
    if problem.fourth_derivative is None:
        return "a formula given as a function has no exact expectation"
    figures = _second_order(problem, entities, laws, steps)
    if isinstance(figures, str):
        return figures
    error, largest = float(figures["error_bound"].max()), float(np.abs(figures["bias"]).max())
    if not error <= max(_NEGLIGIBLE, _WIDEST * largest):
        return "the bound of the fourth derivative leaves too wide an error"
    return figures


def _second_order(problem: Problem, entities: Entities, laws: Laws, steps: Steps) -> Figures:
    if not isinstance(problem, Formula):
        return "only a Formula is approximated, since rules and allotments have exact methods"
    if any(steps.values()):
        return "a step such as clamping is not smooth"
    approximation = second_order(problem, entities.counts[problem.count], laws[problem.count])
    if isinstance(approximation, str):
        return approximation
    doubt = "Whether the expectation exists, which it may not where a noisy total can be 0, is not looked at."
    return {
        "bias": approximation.bias,
        "variance": approximation.variance,
        "method": approximation.method,
        "error_bound": approximation.error_bound,
        "approximate": not approximation.certified,
        "notes": ["The variance is that of the linear part.", *([] if approximation.certified else [doubt])],
    }


def _exact_rule(rule: Rule, entities: Entities, laws: Laws, post: Post) -> Figures:
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


def _exact_shares(problem: Allotment, counts: NDArray[Any], law: Law, post: Post) -> Figures:
    if post is not None:
        reason = sampling_reason(problem, counts, law, post)
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


def _variance(problem: Allotment, counts: NDArray[Any], law: Law, post: Post) -> Values:
    """Return the variance of each share; NaN where no figure can be relied on."""
    variance = allotment_variance(problem, counts, law, post=post)
    wide = variance.error_bound / np.where(variance.values > 0, variance.values, 1.0)
    wide[problem.weights == 0] = 0.0
    if (wide <= _WIDEST).all() or (post and Note.of(variance.method, "method").kind != "uncertified"):
        return variance.values
    summed = None if post else lattice_variance(build_noisy_shares(problem, counts, law))
    return np.where(wide > _UNSURE, np.nan, variance.values) if summed is None else summed


def _effect(problem: Allotment, counts: NDArray[Any], law: Law) -> float:
    """Return the size of the two effects that a bias is the difference of, where it is largest."""
    squares = problem.weights**2
    weighed = problem.weights * counts
    total = float(weighed.sum())
    return law.variance * float((weighed / total * squares.sum() + squares).max()) / total**2


def _decide_by_draws(
    problem: Problem,
    entities: Entities,
    laws: Laws,
    steps: Steps,
    *,
    why: str,
    **options: Any,
) -> dict[str, Any]:
    notes: list[str] = []
    if isinstance(problem, Rule):
        drawn = sampled_rule(problem, entities.counts, laws, post=dict(steps), **options)
    else:
        counts, law = entities.counts[problem.count], laws[problem.count]
        drawn = sampled_shares(problem, counts, law, post=dict(steps), **options)
        notes = _draw_notes(drawn)
    return {
        "bias": drawn.bias,
        "variance": drawn.variance,
        "standard_error": drawn.standard_error,
        "draws": drawn.draws,
        "method": f"sampled, because {why}" if why else "sampled",
        "notes": notes,
    }


def _draw_notes(drawn: SampledFigures) -> list[str]:
    """Return in how many draws the total was 0 or less, or had no shares, if there were any."""
    drawn_total = f"the noisy total was 0 or less in {drawn.nonpositive:,} of {drawn.draws:,} draws"
    parts = [drawn_total] if drawn.nonpositive else []
    if drawn.unpaid:
        parts.append(f"there were no shares in {drawn.unpaid:,} of {drawn.draws:,} draws")
    whole = ", and ".join(parts)
    sentence = f"{whole[:1].upper()}{whole[1:]}; averages over such draws are not to be relied on."
    return [Note("total" if drawn.nonpositive else "method", sentence)] if parts else []


def decide_truly(problem: Problem, entities: Entities) -> Decided:
    """Return the decision from the true counts, as a result that is off by nothing."""
    nothing = np.zeros(len(entities))
    figures = {"bias": nothing, "variance": nothing, "error_bound": nothing}
    return _build_result(problem, entities, noise="none", method="the true counts", **figures)


def _build_result(problem: Problem, entities: Entities, **figures: Any) -> Decided:
    rule = isinstance(problem, Rule)
    truth = (
        problem.holds(entities.counts)
        if isinstance(problem, Rule)
        else problem.shares(entities.counts[problem.count])
    )
    budget = getattr(problem, "budget", None)
    return Decided(
        kind="rule" if rule else "allotment",
        problem=repr(problem),
        names=entities.names,
        truth=truth,
        counts={name: entities.counts[name] for name in problem.inputs},
        populations=dict(zip(entities.groups, entities.populations.T, strict=True)),
        budget=None if budget is None else float(budget),
        **figures,
    )


# --- in words ----------------------------------------------------------------------------------------


def total_notes(probability: float, how: str, law: Law) -> tuple[Note, ...]:
    """Return a note on a noisy total that may be 0 or less; none if that is unlikely.

    >>> total_notes(0.31, "by a Fourier sum", DiscreteLaplace(2))[0][:76]
    'The noisy total is 0 or less with probability 0.31 (by a Fourier sum), where'
    """
    if probability < _UNLIKELY:
        return ()
    meaning = (
        "principal values" if law.support == "reals" else "means in which a total of 0 counts as no error"
    )
    likely = f"The noisy total is 0 or less with probability {probability:.2g}{f' ({how})' if how else ''}"
    return (Note("total", f"{likely}, where shares have no meaning; the figures are {meaning}."),)


def law_words(law: Law) -> str:
    """Return a law in words.

    >>> law_words(DiscreteLaplace("5/2"))
    'discrete Laplace, scale 2.5'
    """
    title = _TITLES.get(type(law).__name__, type(law).__name__)
    if isinstance(law, DiscreteLaplace | Laplace):
        return f"{title}, scale {float(law.scale):.6g}"
    return f"{title}, standard deviation {law.standard_deviation:.6g}"


def noise_words(laws: Mapping[str, Law], steps: Mapping[str, tuple[Any, ...]]) -> str:
    """Return the noise on every input and what is done to it then, in one line.

    >>> noise_words({"s": Laplace(2), "sp": Laplace(2)}, {"s": (), "sp": ()})
    'Laplace, scale 2'
    >>> noise_words({"s": Laplace(2), "sp": Laplace(3)}, {"s": (), "sp": ()})
    's: Laplace, scale 2; sp: Laplace, scale 3'
    """
    words_by_input = {}
    for name, law in laws.items():
        done = "".join(f", then {step.words}" for step in steps[name])
        words_by_input[name] = f"{law_words(law)}{done}"
    if len(set(words_by_input.values())) == 1:
        return next(iter(words_by_input.values()))
    return "; ".join(f"{name}: {words}" for name, words in words_by_input.items())
