"""Advice: the setting with the smallest epsilon that keeps limits, told as every other answer is."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

from evenhand._validate import refuse
from evenhand.answer.compose import compose
from evenhand.answer.limits import AskedLimits, find_nearest, smallest_passing, try_limits
from evenhand.answer.status import judge
from evenhand.answer.telling import Telling
from evenhand.answer.terminal import render_terminal
from evenhand.answer.view import Sentence, to_json
from evenhand.privacy.rational import exact
from evenhand.report.language import written_in
from evenhand.report.words import number, plain
from evenhand.study.page.words import words_in
from evenhand.study.plan.cells import page_setting
from evenhand.study.results.base import ResultData
from evenhand.study.tasks.shared.protection import strategy_of

if TYPE_CHECKING:
    from fractions import Fraction

    from evenhand.answer.case import Case
    from evenhand.answer.limits import Kept
    from evenhand.answer.view import View
    from evenhand.study.plan.cells import Setting


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Hold what a setting must keep to: the parameters of :func:`advise`."""

    max_gap: float | None = None
    max_accuracy_loss: float | None = None
    epsilon: Fraction | None = None

    def __post_init__(self) -> None:
        """Refuse limits that nobody can want."""
        for name in ("max_gap", "max_accuracy_loss"):
            given = getattr(self, name)
            is_number = isinstance(given, int | float) and not isinstance(given, bool)
            if given is not None and not (is_number and 0 <= given <= 1):
                refuse(name, "advise", "a share from 0 to 1, such as 0.05", given)
        if self.epsilon is not None:
            amount = exact(self.epsilon, name="epsilon", owner="advise", above=0, most=1_000_000)
            object.__setattr__(self, "epsilon", amount)

    @property
    def numbers(self) -> dict[str, float | None]:
        """The limits by their names; None is no limit."""
        return {name: None if limit is None else float(limit) for name, limit in vars(self).items()}

    @property
    def in_people(self) -> AskedLimits:
        """The limits in people of 1,000."""
        gap, wrong, epsilon = (math.inf if limit is None else limit for limit in self.numbers.values())
        return AskedLimits(gap=1000 * gap, wrong=1000 * wrong, epsilon=epsilon)


@dataclass(frozen=True, kw_only=True, repr=False)
class Advice:
    """The setting with the smallest epsilon that keeps the limits, if there is one.

    Parameters
    ----------
    recommendation : Setting or None
    view : View
        The answer: what to use, who pays with it and how much. It is about the recommended setting, or about
        the one that comes nearest.
    kept : tuple of Kept
        Every setting that was a candidate and which limits it breaks, the smallest epsilon first.
    limits : Limits
    """

    recommendation: Setting | None
    view: View
    kept: tuple[Kept, ...]
    limits: Limits

    @property
    def sentence(self) -> str:
        """Return what to use, in one or two sentences of which the first is bold."""
        return f"**{self.view.verdict}** {self.view.what_to_do.text}".rstrip()

    def to_dict(self) -> dict[str, Any]:
        """Return the advice in JSON's types."""
        chosen = self.recommendation
        return {
            "recommendation": None if chosen is None else {**chosen.key, "name": str(chosen)},
            "answer": to_json(self.view),
            "tried": [
                {
                    "setting": each.option.name,
                    "epsilon": each.option.epsilon,
                    "breaks": list(each.broken),
                    "gap": each.gap if math.isfinite(each.gap) else None,
                    "wrong": each.wrong if math.isfinite(each.wrong) else None,
                }
                for each in self.kept
            ],
            "limits": self.limits.numbers,
            "private": False,
        }

    def __repr__(self) -> str:
        return render_terminal(self.view)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


def advise(
    results: ResultData,
    *,
    max_gap: float | None = None,
    max_accuracy_loss: float | None = None,
    epsilon: Any = None,
    language: str = "en",
) -> Advice:
    """Return the setting of a study with the smallest epsilon that keeps limits.

    Parameters
    ----------
    results : Results
        Of a study with several repeats, such as that of :func:`advice_plan`.
    max_gap : float, optional
        The widest gap in selection rates that is accepted, such as 0.1: the upper limit of the widest gap
        between two groups stays within it.
    max_accuracy_loss : float, optional
        How much accuracy may be lost against the unprotected runs, such as 0.02.
    epsilon : number, optional
        The largest epsilon that is accepted.
    language : str

    Returns
    -------
    Advice

    Notes
    -----
    Without a limit on gap and accuracy the answer is the smallest epsilon at which nobody pays. The rule is
    in :mod:`evenhand.answer.limits`.

    Examples
    --------
    >>> from evenhand.study import CollectTask, DataSource, Plan
    >>> from evenhand.study.run.whole import run
    >>> data = DataSource(dataset="causal", options={"n": 600})
    >>> plan = Plan(data=data, task=CollectTask("grr", [1, 4], model="logistic"), repeats=1)
    >>> advice = advise(run(plan, workers=1, progress=False), max_gap=0.1)
    >>> advice.recommendation is None, advice.view.verdict
    (True, 'None of the settings tried.')
    """
    given: object = results
    if not isinstance(given, ResultData):
        refuse("results", "advise", "Results", f"a value of type {type(given).__name__}")
    task = results.plan.task.advised(owner="advise", parameter="results")
    limits = Limits(max_gap=max_gap, max_accuracy_loss=max_accuracy_loss, epsilon=epsilon)
    table, schema = task.effects(results), results.facts.schema
    protected = {str(setting): setting for setting in results.settings if setting.is_protected}
    whole = [
        name
        for name, setting in protected.items()
        if set(schema.sensitive) <= set(strategy_of(setting, schema).columns)
    ]
    kept = try_limits(table, judge(table), limits.in_people, among=whole)
    leaking = _list_leaking(results)
    found = None if leaking else smallest_passing(kept)
    shown = found or find_nearest(kept, limits.in_people)
    setting = None if shown is None else protected[shown.option.name]
    case = _make_case(results, setting, language)
    with written_in(language):
        view = _tell(case, kept, found, shown, limits)
        if leaking:
            verdict = words_in(language).say("advise.leak", columns=leaking, n=len(leaking))
            view = replace(view, verdict=verdict, state="stop")
    return Advice(recommendation=setting if found else None, view=view, kept=kept, limits=limits)


def _list_leaking(results: ResultData) -> list[str]:
    """Return the columns in the clear that tell a randomised one whatever epsilon is, and have no role."""
    schema = results.facts.schema
    told = dict.fromkeys(name for leak in results.facts.leaks if leak.is_full for name in leak.by)
    return [plain(name) for name in told if name not in (schema.target, schema.weight)]


def _make_case(results: ResultData, setting: Setting | None, language: str) -> Case:
    """Return the case of a setting, without remedies: limits choose among all that was tried.

    Settings are called by what differs from the first at this epsilon: the page would call its own by its
    protocol alone, however it reports several columns.
    """
    task = results.plan.task
    case: Case = task.case(results, page=setting, language=language)
    alike = [each for each in results.settings if setting is not None and each.epsilon == setting.epsilon]
    if alike:
        names = task.case(results, page=page_setting(alike), language=language).options
        named = {name: own._replace(words=names[name].words) for name, own in case.options.items()}
        case = replace(case, options=named)
    options = tuple(replace(option, is_remedy=False) for option in case.table.options)
    return replace(case, table=replace(case.table, options=options))


def _tell(case: Case, kept: tuple[Kept, ...], found: Kept | None, shown: Kept | None, limits: Limits) -> View:
    """Return the view of a setting with what limits say of it in place of the verdict."""
    telling, view, say = Telling(case), compose(case), words_in(case.language).say

    def tell(key: str, each: Kept) -> str:
        """Return what a setting comes to: the widest gap and wrong decisions, where they have a number."""
        figures = [say("advise.gap", n=number(each.gap, 0))] if math.isfinite(each.gap) else []
        if math.isfinite(each.wrong):
            figures.append(say("advise.wrong", n=number(each.wrong, 0, sign=True)))
        return say(key, R=_name(telling, each), figures=figures or [say("advise.nothing")])

    usable = [each for each in kept if not {"usable", "given"} & set(each.broken)]
    told = view.what_to_do.text if usable else say("advise.untried")
    if shown is not None:
        told = tell("advise.kept" if found else "advise.nearest", shown)
    return replace(
        view,
        question=say("advise.question" if limits.in_people.are_set else "advise.question_nobody"),
        verdict=say("advise.use", R=_name(telling, found)) if found else say("advise.none"),
        state=view.state if found else "unsure",
        what_to_do=Sentence(told, tuple(tell("advise.tried", each) for each in kept)),
        recommended=found.option.name if found else "",
        commands=view.commands if found else (),  # nothing to type that breaks a limit
    )


def _name(telling: Telling, kept: Kept) -> str:
    """Return how a setting is called, with its epsilon, which a page leaves out of names at its own."""
    words, epsilon = telling.option(kept.option.name).words, kept.option.epsilon
    if epsilon != telling.table.by_name[telling.table.page].epsilon:
        return words
    return words_in(telling.case.language).say("classifier.at", name=words, epsilon=epsilon)
