"""Piecewise linear proxy: entities are grouped by a noisy count, and a linear model decides in each group."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenhand._validate import integer, one_of
from evenhand.decide.exact.noise import noise_of
from evenhand.decide.language.rule import Rule
from evenhand.decide.mitigate.mitigation import (
    Mitigation,
    build_mitigation,
    require_problem,
    start_release,
    withdraw_guarantee,
)
from evenhand.decide.mitigate.registry import MitigationKind, MitigationParameter
from evenhand.errors import InvalidParameterError
from evenhand.measure.alpha import alpha_fairness

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from evenhand.privacy.guarantees.units import Unit
    from evenhand.privacy.laws import Law
    from evenhand.privacy.randomness import SeededSource

    Values = NDArray[np.float64]

_MODELS: tuple[Literal["regression"], Literal["svm"]] = ("regression", "svm")
_MOST_FITS = {"regression": 400, "svm": 40}
_GROUPS = 9
_FIXED = 2_000


def piecewise_proxy(  # noqa: PLR0913 - each is a choice of its own
    problem: Rule,
    data: Any,
    noise: Any,
    *,
    groups: int = _GROUPS,
    model: Literal["regression", "svm"] = "svm",
    by: str | None = None,
    as_printed: bool = False,
    unit: Unit | str | None = None,
    draws: int | None = None,
    rng: Any = None,
    progress: Callable[[int, int], object] | None = None,
) -> Mitigation:
    """Replace a rule by linear models of its inputs, one for each of several groups of similar entities.

    Entities are cut into groups of about the same number by a noisy count. In each group a linear model is
    fitted to the noisy counts and to what the rule says of them, and decides from the noisy counts. Since all
    of it is made from the release, the guarantee of the release covers it.

    **Guarantee.** That of the plain release: post-processing. With `as_printed` the models see the true
    counts, and there is none.

    Parameters
    ----------
    problem : Rule
        The rule; its inputs are the features.
    data : Entities or mapping
        The true counts.
    noise : Law, mechanism, or mapping of str to either
        The noise on every count.
    groups : int
        How many groups.
    model : {"svm", "regression"}
        A linear support vector machine, or linear regression of the decision, which says yes above one half.
    by : str, optional
        The input that entities are grouped by; the one that most comparisons of the rule read, by default.
    as_printed : bool
        Fit once to the true counts, grouped by one noisy draw, and take the number of the regression for the
        decision, as [1]_ does.
    unit : {"replace one", "add or remove one"}, optional
        To be given with a law.
    draws : int, optional
        How many releases are drawn. Models are fitted anew to each, so at most 40 (svm) or 400 (regression)
        are; with `as_printed` at most 2,000.
    rng : int, Generator or SeededSource, optional
        What they are drawn from; seed 0 by default.
    progress : callable, optional
        Called with the number of draws done and that of all.

    References
    ----------
    .. [1] Fioretto, Tran, Van Hentenryck (2021). Decision making with differential privacy under a fairness
           lens. IJCAI. Section 7.2, Figure 7.
    """
    owner = "piecewise_proxy"
    rule, kind = require_problem(problem, Rule, owner=owner), one_of("model", model, _MODELS, owner=owner)
    chosen, how = _grouping_input(rule, by), {"draws": draws, "rng": rng}
    source, guarantee, plain = start_release(problem, data, noise, unit, owner=owner, **how)
    parts = integer("groups", groups, owner=owner, low=1, high=max(1, len(plain)))
    counts = {name: plain.counts[name].astype(np.float64) for name in rule.inputs}
    most = _FIXED if as_printed else _MOST_FITS[kind]
    number = min(most, most if draws is None else integer("draws", draws, owner=owner, low=2))
    drawn = _Releases(rule, counts, noise_of(noise, inputs=rule.inputs), chosen, parts, kind)
    values = drawn.decide(number, source, progress, fit_once=as_printed)
    mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(number)
    truth = plain.truth.astype(np.float64)
    if as_printed:
        guarantee = withdraw_guarantee(guarantee)
    return build_mitigation(
        f"piecewise proxy ({kind})",
        _words(parts, chosen, kind, as_printed=as_printed),
        guarantee,
        plain,
        (
            float(np.abs(values - truth).mean()),
            float(np.abs(values - truth).mean(axis=1).std(ddof=1) / np.sqrt(number)),
        ),
        bias=mean - truth,
        variance=values.var(axis=0, ddof=1),
        standard_error=np.maximum(error, 1 / number),
        coupled=True,  # all entities share the models
        draws=number,
        error_bound=None,
        method=f"sampled, because the models depend on the noise: {number} draws",
    )


def alpha_by_group(bias: Values, counts: Values, *, groups: int = _GROUPS) -> tuple[float, ...]:
    """Return alpha within each of several groups of about the same number of entities, by size.

    Parameters
    ----------
    bias : array
        Expected minus true, by entity.
    counts : array
        What entities are grouped by.
    groups : int
        How many groups.

    Examples
    --------
    >>> alpha_by_group(np.array([0.5, -0.25, 0.0, 0.125]), np.array([1, 2, 30, 40]), groups=2)
    (0.75, 0.125)
    """
    which = _cut_into_groups(np.asarray(counts, dtype=np.float64), groups)
    return tuple(alpha_fairness(bias[which == group]) for group in range(groups))


@dataclass(frozen=True)
class _Releases:
    """Releases of the counts, and what the models make of them."""

    rule: Rule
    counts: Mapping[str, Values]
    laws: Mapping[str, Law]
    by: str
    groups: int
    kind: str

    def release(self, source: SeededSource) -> dict[str, Values]:
        """Return noisy counts."""
        return {
            name: count + self.laws[name].draw(size=count.size, source=source)
            for name, count in self.counts.items()
        }

    def decide(self, number: int, source: SeededSource, progress: Any, *, fit_once: bool) -> Values:
        """Return decisions of models fitted to each release, or what those say that saw the true counts."""
        if fit_once:
            model = self._models(self.counts, self.release(source))
        decisions = np.empty((number, len(self.counts[self.by])))
        for draw in range(number):
            noisy = self.release(source)
            if not fit_once:
                model = self._models(noisy, noisy)
            values = model(_features(noisy))
            decisions[draw] = values / 2 + 0.5 if fit_once and self.kind == "regression" else values > 0
            if progress is not None:
                progress(draw + 1, number)
        return decisions

    def _models(self, seen: Mapping[str, Values], noisy: Mapping[str, Values]) -> Callable[[Values], Values]:
        """Fit one linear model to each group by a noisy count; what is above 0 says yes."""
        features, holds = _features(seen), self.rule.holds(seen)
        which = _cut_into_groups(noisy[self.by], self.groups)
        weights, constants = np.zeros((self.groups, features.shape[1])), np.zeros(self.groups)
        fit = _fit_svm if self.kind == "svm" else _fit_line
        for group in range(self.groups):
            here = which == group
            weights[group], constants[group] = fit(features[here], np.where(holds[here], 1.0, -1.0))
        return lambda values: (values * weights[which]).sum(axis=1) + constants[which]


def _features(columns: Mapping[str, Values]) -> Values:
    return np.stack(list(columns.values()), axis=1)


def _cut_into_groups(values: Values, groups: int) -> NDArray[np.int64]:
    """Return the group of each entity: ranks in parts of about the same size."""
    ranks = np.empty(values.size, dtype=np.int64)
    ranks[np.argsort(values, kind="stable")] = np.arange(values.size)
    return ranks * groups // values.size


def _standardize(features: Values) -> tuple[Values, Values, Values]:
    centre, spread = features.mean(axis=0), features.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    return (features - centre) / spread, centre, spread


def _fit_line(features: Values, sides: Values) -> tuple[Values, float]:
    scaled, centre, spread = _standardize(features)
    solution, *_ = np.linalg.lstsq(np.column_stack([scaled, np.ones(len(sides))]), sides, rcond=None)
    weights = solution[:-1] / spread
    return weights, float(solution[-1] - weights @ centre)


def _fit_svm(features: Values, sides: Values) -> tuple[Values, float]:
    from sklearn.svm import LinearSVC  # noqa: PLC0415 - slow to import

    if np.ptp(sides) == 0:  # all alike: the model says what all say
        return np.zeros(features.shape[1]), float(sides[0])
    scaled, centre, spread = _standardize(features)
    model = LinearSVC(dual=False)
    with warnings.catch_warnings():  # it did not converge: it is a proxy, not a proof
        warnings.simplefilter("ignore", category=UserWarning)
        model.fit(scaled, sides)
    weights = model.coef_[0] / spread
    return weights, float(model.intercept_[0] - weights @ centre)


def _grouping_input(rule: Rule, by: str | None) -> str:
    if by is None:
        inputs_by_predicate = [set(inputs.inputs) for inputs in rule.predicates]
        return max(rule.inputs, key=lambda name: sum(name in inputs for inputs in inputs_by_predicate))
    if by not in rule.inputs:
        must_be = f"one of the inputs: {', '.join(rule.inputs)}"
        raise InvalidParameterError("by", owner="piecewise_proxy", must_be=must_be, got=by)
    return by


def _words(groups: int, by: str, kind: str, *, as_printed: bool) -> str:
    models = "linear regression" if kind == "regression" else "linear support vector machines"
    seen = "the true counts, so there is no guarantee" if as_printed else "the release alone"
    return f"{groups} groups of entities by noisy {by}, each decided by {models} fitted to {seen}."


MITIGATION = MitigationKind(
    name="piecewise-proxy",
    title="Piecewise linear proxy",
    decide=piecewise_proxy,
    problems=("rule",),
    does="replaces a rule by linear models, group by group",
    guarantee="the same",
    cost="other mistakes",
    parameters=(
        MitigationParameter("groups", "how many groups", value="whole number"),
        MitigationParameter("model", "'svm' or 'regression'", value="word"),
        MitigationParameter("by", "the input that entities are grouped by", value="word"),
    ),
    fewest_entities=_GROUPS,
    variants=tuple({"model": model} for model in _MODELS),
)
