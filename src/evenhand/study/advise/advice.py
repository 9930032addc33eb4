"""Advice: the setting with the smallest epsilon that keeps limits, told as every other answer is."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

from evenhand.answer.compose import compose
from evenhand.answer.limits import AskedLimits, find_nearest, smallest_passing, try_limits
from evenhand.answer.status import judge
from evenhand.answer.telling import Telling
from evenhand.answer.terminal import render_terminal
from evenhand.answer.view import Sentence, to_json
from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import exact
from evenhand.report.language import written_in
from evenhand.report.words import number, plain
from evenhand.study.page.words import words_in
from evenhand.study.results.base import ResultData
from evenhand.study.tasks.effects.options import page_setting
from evenhand.study.tasks.shared.protection import strategy_of

if TYPE_CHECKING:
    from fractions import Fraction

    from evenhand.answer.case import Case
    from evenhand.answer.limits import Kept
    from evenhand.answer.view import View
    from evenhand.answer.words import Words
    from evenhand.study.plan.cells import Setting


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a setting must keep to.

    Parameters
    ----------
    max_gap : float, optional
        The widest gap in selection rates, from 0 to 1.
    max_accuracy_loss : float, optional
        How much accuracy may be lost against the unprotected runs, from 0 to 1.
    epsilon : number, optional
        The largest epsilon.
    """

    max_gap: float | None = None
    max_accuracy_loss: float | None = None
    epsilon: Fraction | None = None

    def __post_init__(self) -> None:
        """Refuse limits that nobody can want."""
        for name in ("max_gap", "max_accuracy_loss"):
            given = getattr(self, name)
            if given is None:
                continue
            is_number = isinstance(given, int | float) and not isinstance(given, bool)
            if not is_number or not 0 <= given <= 1:
                must_be = "a share from 0 to 1, such as 0.05"
                raise InvalidParameterError(name, owner="advise", must_be=must_be, got=given)
            object.__setattr__(self, name, float(given))
        if self.epsilon is not None:
            amount = exact(self.epsilon, name="epsilon", owner="advise", above=0, most=1_000_000)
            object.__setattr__(self, "epsilon", amount)

    @property
    def asked(self) -> AskedLimits:
        """The limits in people of 1,000."""
        return AskedLimits(
            gap=math.inf if self.max_gap is None else 1000 * self.max_gap,
            wrong=math.inf if self.max_accuracy_loss is None else 1000 * self.max_accuracy_loss,
            epsilon=math.inf if self.epsilon is None else float(self.epsilon),
        )

    @property
    def typed(self) -> str:
        """The limits as options of a command.

        >>> Limits(max_gap=0.1, epsilon=2.1234567).typed
        ' --max-gap 0.1 --epsilon 2.1234567'
        """
        asked = {
            "max-gap": self.max_gap, "max-accuracy-loss": self.max_accuracy_loss, "epsilon": self.epsilon
        }  # fmt: skip
        return "".join(f" --{name} {float(value):.15g}" for name, value in asked.items() if value is not None)


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
        """What to use, in one or two sentences of which the first is bold."""
        return f"**{self.view.verdict}** {self.view.what_to_do.text}".rstrip()

    def to_dict(self) -> dict[str, Any]:
        """Return the advice in JSON's types."""
        asked = {"max_gap": self.limits.max_gap, "max_accuracy_loss": self.limits.max_accuracy_loss}
        chosen = self.recommendation
        return {
            "recommendation": None if chosen is None else {**chosen.key, "name": str(chosen)},
            "answer": to_json(self.view),
            "tried": [_as_dict(each) for each in self.kept],
            "limits": {
                **asked,
                "epsilon": None if self.limits.epsilon is None else float(self.limits.epsilon),
            },
            "private": False,
        }

    def __str__(self) -> str:
        return render_terminal(self.view)

    def __repr__(self) -> str:
        return render_terminal(self.view)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(render_terminal(self.view))}</pre>"


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
        got = f"a value of type {type(given).__name__}"
        raise InvalidParameterError("results", owner="advise", must_be="Results", got=got)
    task = results.plan.task.advised(owner="advise", parameter="results")
    limits = Limits(max_gap=max_gap, max_accuracy_loss=max_accuracy_loss, epsilon=epsilon)
    table = task.effects(results)
    kept = try_limits(table, judge(table), limits.asked, among=_list_whole(results))
    leaking = _list_leaking(results)
    found = None if leaking else smallest_passing(kept)
    shown = found or find_nearest(kept, limits.asked)
    by_name = {str(setting): setting for setting in results.settings}
    setting = None if shown is None else by_name[shown.option.name]
    case = _make_case(results, setting, language)
    with written_in(language):
        view = _tell(case, kept, found, shown, limits)
        if leaking:
            verdict = words_in(language).say("advise.leak", columns=leaking, n=len(leaking))
            view = replace(view, verdict=verdict, state="stop")
    return Advice(recommendation=setting if found else None, view=view, kept=kept, limits=limits)


def _list_whole(results: ResultData) -> set[str]:
    """Return the names of the settings that protect every sensitive column."""
    schema = results.facts.schema
    return {
        str(setting)
        for setting in results.settings
        if setting.is_protected and set(schema.sensitive) <= set(strategy_of(setting, schema).columns)
    }


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
    telling, view, words = Telling(case), compose(case), words_in(case.language)
    say = words.say
    usable = [each for each in kept if not {"usable", "given"} & set(each.broken)]
    told = view.what_to_do.text if usable else say("advise.untried")
    verdict = say("advise.none")
    if shown is not None:
        key = "advise.kept" if found else "advise.nearest"
        told = say(key, R=_name(telling, shown), figures=_say_figures(words, shown))
    if found is not None:
        verdict = say("advise.use", R=_name(telling, found))
    details = [
        say("advise.tried", R=_name(telling, each), figures=_say_figures(words, each)) for each in kept
    ]
    return replace(
        view,
        question=say("advise.question" if limits.asked.are_set else "advise.question_nobody"),
        verdict=verdict,
        state=view.state if found else "unsure",
        what_to_do=Sentence(told, tuple(details)),
        recommended=found.option.name if found else "",
    )


def _name(telling: Telling, kept: Kept) -> str:
    """Return how a setting is called, with its epsilon, which a page leaves out of names at its own."""
    words, epsilon = telling.option(kept.option.name).words, kept.option.epsilon
    if epsilon != telling.table.by_name[telling.table.page].epsilon:
        return words
    return words_in(telling.case.language).say("classifier.at", name=words, epsilon=epsilon)


def _say_figures(words: Words, kept: Kept) -> list[str]:
    """Return what limits are about: the widest gap and wrong decisions, where they have a number."""
    figures = []
    if math.isfinite(kept.gap):
        figures.append(words.say("advise.gap", n=number(kept.gap, 0)))
    if math.isfinite(kept.wrong):
        figures.append(words.say("advise.wrong", n=number(kept.wrong, 0, sign=True)))
    return figures or [words.say("advise.nothing")]


def _as_dict(kept: Kept) -> dict[str, Any]:
    numbers = {"gap": kept.gap, "wrong": kept.wrong}
    return {
        "setting": kept.option.name,
        "epsilon": kept.option.epsilon,
        "breaks": list(kept.broken),
        **{name: value if math.isfinite(value) else None for name, value in numbers.items()},
    }
