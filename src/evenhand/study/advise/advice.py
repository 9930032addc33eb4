"""Advice: what to expect of protection, whether it came true, and which setting to use under limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.errors import InvalidParameterError
from evenhand.measure.intervals import check_level
from evenhand.study.advise.caveats import caveats
from evenhand.study.advise.predictions import predict
from evenhand.study.advise.reasons import has_no_gap, reasons
from evenhand.study.advise.recommend import Limits, choose
from evenhand.study.advise.trial_plan import advice_plan
from evenhand.study.advise.verdicts import checked, full_settings
from evenhand.study.advise.view import as_dict, as_html, as_text
from evenhand.study.profile.profiling import Profile, profile_of_results
from evenhand.study.results.results import Results

if TYPE_CHECKING:
    from evenhand.schema import Schema
    from evenhand.study.advise.recommend import Choice
    from evenhand.study.advise.verdicts import Checked
    from evenhand.study.plan.cells import Setting

__all__ = ["Advice", "advice_plan", "advise"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Advice:
    """What to expect, what came true, and what to use.

    Parameters
    ----------
    recommendation : Setting or None
        The setting to use; None where the study does not single one out.
    outcome : str
        ``"chosen"``, ``"alike"``, ``"none"`` (nothing meets the limits), ``"no-gap"`` (there is none to
        reduce), ``"no-candidates"`` or ``"no-intervals"``.
    reasons : tuple of str
        Why, in sentences with their figures.
    alternatives : tuple of Setting
        Without a recommendation, the settings to choose from by another criterion.
    predictions : tuple of Checked
        What was expected of these data, with what the study says of it.
    caveats : tuple of str
        What to keep in mind. The first is the same in every advice.
    limits : Limits
    profile : Profile or None
        What the predictions rest on.
    schema : Schema
    level : float
        At which all that is said of the candidates holds together.
    """

    recommendation: Setting | None
    outcome: str
    reasons: tuple[str, ...]
    alternatives: tuple[Setting, ...]
    predictions: tuple[Checked, ...]
    caveats: tuple[str, ...]
    limits: Limits
    profile: Profile | None
    schema: Schema
    level: float

    def to_dict(self) -> dict[str, Any]:
        """Return the advice in JSON's types."""
        return as_dict(self)

    def __str__(self) -> str:
        return as_text(self)

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


def advise(
    results: Results,
    *,
    max_gap: float | None = None,
    max_accuracy_loss: float | None = None,
    epsilon: Any = None,
    profile: Profile | None = None,
    level: float = 0.95,
) -> Advice:
    """Return what a study says of which setting to use.

    Parameters
    ----------
    results : Results
        Of a study with several repeats, such as that of :func:`advice_plan`.
    max_gap : float, optional
        The widest gap in selection rates that is accepted, such as 0.1.
    max_accuracy_loss : float, optional
        How much accuracy may be lost against the unprotected runs, such as 0.02.
    epsilon : number, optional
        The largest epsilon that is accepted.
    profile : Profile, optional
        What the rows are like, see :func:`evenhand.study.profile.profile`. Without one, shares of labels come
        from the test rows and how columns depend on each other is not known.
    level : float
        At which all that is said of the candidates holds together, and so do the verdicts on predictions.

    Returns
    -------
    Advice

    Notes
    -----
    The rule by which a setting is recommended is in :mod:`evenhand.study.advise.recommend`, what is predicted
    in :mod:`evenhand.study.advise.predictions`, and how predictions are checked in
    :mod:`evenhand.study.advise.verdicts`.

    Examples
    --------
    >>> from evenhand.study import CollectTask, DataSource, Plan
    >>> from evenhand.study.run.whole import run
    >>> data = DataSource(dataset="causal", options={"n": 300})
    >>> plan = Plan(data=data, task=CollectTask("grr", [1, 4], model="logistic"), repeats=1)
    >>> advice = advise(run(plan, workers=1, progress=False), max_gap=0.1)
    >>> advice.recommendation is None, advice.outcome
    (True, 'no-intervals')
    """
    kinds: dict[str, tuple[object, Any]] = {
        "results": (results, Results),
        "profile": (profile, Profile | None),
    }
    for parameter, (given, kind) in kinds.items():
        if not isinstance(given, kind):
            must_be = "Results" if parameter == "results" else "a Profile"
            got = f"a value of type {type(given).__name__}"
            raise InvalidParameterError(parameter, owner="advise", must_be=must_be, got=got)
    results.plan.task.advised(owner="advise", parameter="results")
    level = check_level(level, owner="advise")
    limits = Limits(max_gap=max_gap, max_accuracy_loss=max_accuracy_loss, epsilon=epsilon)
    rows = _profile(results, profile)
    checks = (
        () if rows is None or not full_settings(results) else checked(predict(rows), results, level=level)
    )
    choice = choose(results, limits, level=level)
    no_gap = bool(choice.candidates) and has_no_gap(results, limits, level=level)
    chosen = None if no_gap or choice.chosen is None else choice.chosen.setting
    alternatives = _alternatives(choice, no_gap=no_gap)
    told = caveats(results, limits, chosen, alternatives=alternatives, profile=rows, checks=checks)
    return Advice(
        recommendation=chosen,
        outcome="no-gap" if no_gap else choice.outcome,
        reasons=reasons(results, limits, choice, no_gap=no_gap),
        alternatives=alternatives,
        predictions=checks,
        caveats=told,
        limits=limits,
        profile=rows,
        schema=results.facts.schema,
        level=level,
    )


def _profile(results: Results, given: Profile | None) -> Profile | None:
    """Return the profile that was given, or what the results tell; None if they tell nothing."""
    if given is not None or not results.arrays.done[0].any():
        return given
    return profile_of_results(results)


def _alternatives(choice: Choice, *, no_gap: bool) -> tuple[Setting, ...]:
    if no_gap and choice.chosen is not None:
        return (choice.chosen.setting,)
    return tuple(each.setting for each in choice.alike)
