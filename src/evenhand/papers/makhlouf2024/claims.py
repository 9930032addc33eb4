"""Every number and finding that makhlouf2024 states, in the order of the paper."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand.errors import DataSetNotFoundError
from evenhand.papers.claims import AGREES, DIFFERS, Checked, Claim, cannot_check
from evenhand.papers.makhlouf2024 import checks
from evenhand.papers.makhlouf2024.checks import DISPARITIES, FALLING, STRICT, STRONG, WEAK, chosen
from evenhand.papers.makhlouf2024.facts import FACTS
from evenhand.papers.makhlouf2024.plans import ADULT, COMPAS, DATA, STRATEGIES, SYNTHETIC
from evenhand.papers.makhlouf2024.published import published_checks
from evenhand.papers.rules import MARGIN, alike, mostly, number_text, quoted, share
from evenhand.study.plan.cells import Setting
from evenhand.study.profile.profiling import profile
from evenhand.study.results.estimates import estimate
from evenhand.study.run.prepare import prepare

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.papers.claims import Evidence
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results

__all__ = ["CLAIMS", "FIGURE_3", "FIGURE_4"]

FIGURE_3 = (SYNTHETIC[0], COMPAS[0], ADULT[0])
"""Figures 3a and 3b have the first threshold, as their quoted numbers tell; 3c by its axes."""

FIGURE_4 = (SYNTHETIC[1], COMPAS[1], ADULT[1])
"""Figures 4b and 4c have the second threshold, as their quoted numbers tell; 4a by analogy."""

ALL = tuple(DATA)
_SKEWED_TO_0 = (SYNTHETIC[2], COMPAS[2], ADULT[2])
_BALANCED = (SYNTHETIC[1], COMPAS[1], ADULT[1])
_ONE_AND_ALL = ("single", "combined")
_SHOWN = ("selection", "tpr", "fpr")
_RATES = (*_SHOWN, "accuracy", "precision")
_NAMES = {"single": "sLDP", "combined": "combLDP", "independent": "indLDP"}


# --- numbers --------------------------------------------------------------------------------------


def _number(
    claim_id: str,
    text: str,
    where: str,
    *,
    study: str,
    setting: Setting,
    measure: str,
    paper: float,
    signed: bool = True,
) -> Claim:
    """Return the claim of one number, printed with two decimals; some are printed without their sign."""

    def check(evidence: Evidence) -> Checked:
        results = evidence.studies[study]
        if setting not in results.settings:
            return cannot_check(f"This design has no epsilon of {float(setting.epsilon or 0):g}.")
        ours = (
            estimate(results, setting, measure, kind="student")
            if signed
            else checks.amount(results, setting, measure)
        )
        known = evidence.published
        spread = None if known is None else known.spread(study, setting, measure)
        return quoted(ours, paper, decimals=2, spread=spread)

    return Claim(claim_id, text, where, check, "quoted", (study,))


def _gone(strategy: str, epsilon: str) -> Claim:
    study = SYNTHETIC[0]

    def check(evidence: Evidence) -> Checked:
        results = evidence.studies[study]
        setting = checks.setting_of(strategy, epsilon)
        if setting not in results.settings:
            return cannot_check(f"This design has no epsilon of {epsilon}.")
        return alike(
            [estimate(results, setting, measure, kind="student") for measure in FALLING], what="disparities"
        )

    text = (
        f"On {DATA[study].title} the disparity disappears at epsilon {epsilon} under {_NAMES[strategy]} "
        "(SD, EOD, PED)."
    )
    return Claim(f"obs2-gone-{strategy}", text, "5.1, Obs2; Fig. 3a", check, "alike", (study,))


# --- findings -------------------------------------------------------------------------------------


def _finding(
    claim_id: str,
    text: str,
    where: str,
    study: str | tuple[str, ...],
    compare: Callable[[str, Results], Sequence[Estimated]],
    rule: Callable[..., Checked] = mostly,
    **options: Any,
) -> Claim:
    """Return the claim whose comparisons are made in each study and judged together."""
    needs = (study,) if isinstance(study, str) else study

    def check(evidence: Evidence) -> Checked:
        return rule([each for name in needs for each in compare(name, evidence.studies[name])], **options)

    return Claim(claim_id, text, where, check, rule.__name__, needs)


def _strong(results: Results, strategies: Sequence[str] = STRATEGIES) -> list[Setting]:
    return chosen(results, strategies, most=STRONG)


def _less(study: str, strategy: str) -> Claim:
    return _finding(
        f"obs1-{strategy}-{study}",
        f"On {DATA[study].title} more privacy under {_NAMES[strategy]} leads to less disparity (SD, EOD, "
        f"PED; epsilon up to {STRONG:g} against none).",
        "5.1, Obs1",
        study,
        lambda _, results: checks.reductions(results, _strong(results, [strategy]), FALLING),
    )


def _more(study: str) -> Claim:
    return _finding(
        f"obs1-accuracy-{study}",
        f"On {DATA[study].title} disparities in accuracy and precision (OAD, PRD) increase under sLDP and "
        "combLDP.",
        "5.1, Obs1",
        study,
        lambda _, results: checks.growth(results, _strong(results, _ONE_AND_ALL), ("oad", "prd")),
    )


def _unaffected(_: str, results: Results) -> list[Estimated]:
    return checks.growth(results, _strong(results, _ONE_AND_ALL), ("oad", "prd"))


def _better(study: str) -> Claim:
    return _finding(
        f"obs2-{study}",
        f"On {DATA[study].title} combLDP reduces disparity more than sLDP (epsilon up to {STRONG:g}).",
        "5.1, Obs2",
        study,
        lambda _, results: checks.reductions(
            results, _strong(results, ["combined"]), FALLING, other="single"
        ),
    )


def _proxies(_: str, results: Results) -> list[Estimated]:
    """Return what is left of each disparity beyond the margin, with the protected attribute hidden."""
    smallest = chosen(results, ["single"])[-1]
    return [
        replace(each, value=each.value - MARGIN, low=_minus(each.low), high=_minus(each.high))
        for each in (checks.amount(results, smallest, measure) for measure in FALLING)
    ]


def _minus(limit: float | None) -> float | None:
    return None if limit is None else limit - MARGIN


def _one_group(study: str) -> Claim:
    return _finding(
        f"obs3-{study}",
        f"On {DATA[study].title} one group is affected much more than the other (more than twice, all five "
        "rates).",
        "5.1, Obs3",
        study,
        lambda _, results: checks.one_sided(results, _strong(results, _ONE_AND_ALL), _RATES),
    )


# --- independent or combined ----------------------------------------------------------------------


def _weak(claim_id: str, text: str, study: str | tuple[str, ...], better: str, *, where: str) -> Claim:
    worse = "combined" if better == "independent" else "independent"
    return _finding(
        claim_id,
        text,
        where,
        study,
        lambda _, results: checks.reductions(
            results, chosen(results, [better], least=WEAK), FALLING, other=worse
        ),
    )


def _alike_when_strict(claim_id: str, text: str, studies: tuple[str, ...], *, where: str) -> Claim:
    return _finding(
        claim_id, text, where, studies,
        lambda _, results: checks.apart(results, DISPARITIES, most=STRICT), alike,
    )  # fmt: skip


def _matters(evidence: Evidence) -> Checked:
    found = [each for name in ALL for each in checks.apart(evidence.studies[name], FALLING, least=WEAK)]
    return mostly([_upright(each) for each in found])


def _upright(each: Estimated) -> Estimated:
    """Return a difference in the direction in which it is positive."""
    if each.value >= 0 or each.low is None or each.high is None:
        return replace(each, value=abs(each.value))
    return replace(each, value=-each.value, low=-each.high, high=-each.low)


def _dependence(evidence: Evidence) -> Checked:
    means = {}
    for name in (COMPAS[1], ADULT[1]):
        try:
            pairs = profile(prepare(evidence.studies[name].plan)).among_sensitive
        except DataSetNotFoundError:
            return cannot_check("The rows are not on this machine any more.")
        means[name] = sum(pair.v.value for pair in pairs) / len(pairs)
    low, high = means[COMPAS[1]], means[ADULT[1]]
    why = f"The mean of Cramér's V over pairs is {low:.3f} on Compas and {high:.3f} on Adult."
    return Checked(AGREES if high > low else DIFFERS, why)


# --- the outcome's distribution -------------------------------------------------------------------


def _expected(name: str, results: Results) -> int:
    """Return the group that the paper expects to be affected more: see its statements."""
    favoured = checks.favoured(results)
    return favoured if name in _SKEWED_TO_0 else 1 - favoured


def _accuracy_drops(name: str, results: Results) -> list[Estimated]:
    return checks.drops(results, _strong(results), group=_expected(name, results))


def _only_accuracy_drops(name: str, results: Results) -> list[Estimated]:
    group = _expected(name, results)
    return checks.drops(results, _strong(results), group=group, rates=("accuracy",))


def _rates_move(name: str, results: Results, rates: Sequence[str] = _SHOWN) -> list[Estimated]:
    group = _expected(name, results)
    rises = name not in _SKEWED_TO_0
    return checks.rises_or_falls(results, _strong(results), rates, group=group, rises=rises)


def _expected_moves(name: str, results: Results) -> list[Estimated]:
    return checks.first_moves_more(results, _strong(results), _RATES, group=_expected(name, results))


def _who(study: str) -> str:
    return "privileged" if study in _SKEWED_TO_0 else "unprivileged"


def _observation_6(study: str) -> Claim:
    text = f"On {DATA[study].title} accuracy and precision drop more for the {_who(study)} group."
    return _finding(f"obs6-{study}", text, "5.3, Obs6; footnotes 10, 11", study, _accuracy_drops)


def _observation_7(study: str) -> Claim:
    way = "decrease" if study in _SKEWED_TO_0 else "increase"
    text = f"On {DATA[study].title} predicted rates {way} more for the {_who(study)} group."
    return _finding(f"obs7-{study}", text, "5.3, Obs7; footnote 12", study, _rates_move)


def _fair_before(study: str, measure: str, title: str) -> tuple[Claim, Claim]:
    """Return that a disparity is small at first, and that protection makes it larger."""
    small = _finding(
        f"obs8-small-{measure}",
        f"On {DATA[study].title} the unprotected {title} is relatively small (smaller than SD).",
        "5.3, Obs8", study, lambda _, results: [checks.larger_than(results, "spd", measure)],
    )  # fmt: skip
    grows = _finding(
        f"obs8-grows-{measure}", f"On {DATA[study].title} obfuscation amplifies {title}.",
        "5.3, Obs8", study, lambda _, results: checks.growth(results, _strong(results), (measure,)),
    )  # fmt: skip
    return small, grows


# --- published table ------------------------------------------------------------------------------


def _published(name: str, *, precision: bool) -> Claim:
    def check(evidence: Evidence) -> Checked:
        if evidence.published is None:
            return cannot_check("The published table is not on this machine.")
        found = published_checks(evidence.studies[name], name, evidence.published, precision=precision)
        return share(found, what="means")

    what = "precision of the groups and PRD" if precision else "accuracy, disparities and group rates"
    text = f"On {DATA[name].title} the means of every setting ({what}) are the published ones."
    return Claim(
        f"published-{'precision-' if precision else ''}{name}", text, "Figs. 3, 4, 8; published runs",
        check, "published mean; share", (name,),
    )  # fmt: skip


_MINUS = number_text(-0.001)[0]
_OBS4 = "5.2, Obs4"

CLAIMS: tuple[Claim, ...] = (
    *FACTS,
    *(_published(name, precision=precision) for precision in (False, True) for name in COMPAS),
    _number(
        "obs1-sd", "On Compas above 1 the unprotected SD is 0.23.", "5.1, Obs1; Fig. 3b",
        study=COMPAS[0], setting=Setting(), measure="spd", paper=0.23, signed=False,
    ),
    _number(
        "obs1-sd-single", "On Compas above 1 SD falls to 0.15 under sLDP (checked at epsilon 0.1).",
        "5.1, Obs1; Fig. 3b", study=COMPAS[0], setting=checks.setting_of("single", "0.1"), measure="spd",
        paper=0.15, signed=False,
    ),
    _number(
        "obs1-sd-combined", "On Compas above 1 SD falls to 0 under combLDP (checked at epsilon 0.1).",
        "5.1, Obs1; Fig. 3b", study=COMPAS[0], setting=checks.setting_of("combined", "0.1"), measure="spd",
        paper=0.0, signed=False,
    ),
    *(_less(study, strategy) for study in FIGURE_3 for strategy in _ONE_AND_ALL),
    *(_more(study) for study in FIGURE_3[:2]),
    _finding(
        f"obs1-accuracy-{ADULT[0]}",
        f"On {DATA[ADULT[0]].title} disparities in accuracy and precision (OAD, PRD) stay unaffected.",
        "5.1, Obs1; Fig. 3c", ADULT[0], _unaffected, alike,
    ),
    _finding(
        "obs1-drop", "Accuracy and precision drop for one or both groups.", "5.1, Obs1", FIGURE_3,
        lambda _, results: checks.worst_drops(results, _strong(results, _ONE_AND_ALL)),
    ),
    *(_better(study) for study in FIGURE_3),
    _gone("single", "0.1"),
    _gone("combined", "2"),
    _finding(
        "obs2-proxies",
        f"Hiding the protected attribute alone leaves disparity (above {MARGIN:g} at the smallest epsilon).",
        "5.1, Obs2", FIGURE_3, _proxies,
    ),
    *(_one_group(study) for study in FIGURE_3),
    _finding(
        "obs3-unprivileged",
        f"On {DATA[SYNTHETIC[0]].title} SD, EOD and PED change because of the unprivileged group alone.",
        "5.1, Obs3; Fig. 3a", SYNTHETIC[0],
        lambda _, results: checks.one_sided(results, _strong(results, _ONE_AND_ALL), _SHOWN, group=0),
    ),
    _number(
        "obs4-compas-ind", f"On Compas above 3 EOD is {_MINUS}0.09 under indLDP at epsilon 4.",
        f"{_OBS4}; Fig. 4b", study=COMPAS[1], setting=checks.setting_of("independent", 4), measure="eod",
        paper=-0.09,
    ),
    _number(
        "obs4-compas-comb", f"On Compas above 3 EOD is {_MINUS}0.27 under combLDP at epsilon 4.",
        f"{_OBS4}; Fig. 4b", study=COMPAS[1], setting=checks.setting_of("combined", 4), measure="eod",
        paper=-0.27,
    ),
    _number(
        "obs4-adult-ind", "On Adult above 27,260 EOD is 0.43 under indLDP at epsilon 8.",
        f"{_OBS4}; Fig. 4c", study=ADULT[1], setting=checks.setting_of("independent", 8), measure="eod",
        paper=0.43,
    ),
    _number(
        "obs4-adult-comb", "On Adult above 27,260 EOD is 0.38 under combLDP at epsilon 8.",
        f"{_OBS4}; Fig. 4c", study=ADULT[1], setting=checks.setting_of("combined", 8), measure="eod",
        paper=0.38,
    ),
    _weak(
        "obs4-compas", f"On Compas indLDP reduces disparity more than combLDP at epsilon {WEAK:g} or more.",
        COMPAS[1], "independent", where=_OBS4,
    ),
    _weak(
        "obs4-adult", f"On Adult combLDP reduces disparity more than indLDP at epsilon {WEAK:g} or more.",
        ADULT[1], "combined", where=_OBS4,
    ),
    Claim(
        "obs4-dependence", "Sensitive attributes depend on each other more on Adult than on Compas.", _OBS4,
        _dependence, "fact", (COMPAS[1], ADULT[1]),
    ),
    *(
        _alike_when_strict(
            f"obs5-{study}",
            f"On {DATA[study].title} indLDP and combLDP have equal disparities at epsilon up to {STRICT:g}.",
            (study,), where="5.2, Obs5",
        )
        for study in FIGURE_4
    ),
    *(_observation_6(study) for study in ALL),
    *(_observation_7(study) for study in ALL),
    *_fair_before(ADULT[0], "ped", "PED"),
    *_fair_before(ADULT[1], "oad", "OAD"),
    _finding(
        "statement-1",
        "Noise affects the accuracy of the unprivileged group more where Y is skewed to 1, else that of the "
        "privileged one.",
        "5.3, Statement 1", tuple(name for name in ALL if name not in _BALANCED), _only_accuracy_drops,
    ),
    _finding(
        "statement-2",
        "Noise raises predicted rates of the unprivileged group more where Y is skewed to 1, else it lowers "
        "those of the privileged one more.",
        "5.3, Statement 2", tuple(name for name in ALL if name not in _BALANCED), _rates_move,
    ),
    _finding(
        "recommendation-a", f"LDP reduces disparity (SD, EOD, PED; epsilon up to {STRONG:g}).",
        "5.4, A; key finding 1", ALL,
        lambda _, results: checks.reductions(results, _strong(results), FALLING),
    ),
    _finding(
        "recommendation-b", "Obfuscating several attributes reduces disparity more than a single one.",
        "5.4, B; key finding 2", ALL,
        lambda _, results: checks.reductions(
            results, _strong(results, ["combined", "independent"]), FALLING, other="single"
        ),
    ),
    Claim(
        "recommendation-c-weak",
        f"indLDP and combLDP differ with weak privacy (SD, EOD, PED; epsilon from {WEAK:g}).",
        "5.4, C; key finding 3", _matters, "mostly", ALL,
    ),
    _alike_when_strict(
        "recommendation-c-strict",
        f"indLDP and combLDP have a similar effect at strict privacy (epsilon up to {STRICT:g}).", ALL,
        where="5.4, C; key finding 3",
    ),
    _finding(
        "recommendation-d-one", "Only one group is significantly affected (more than twice as much).",
        "5.4, D; key finding 4", ALL,
        lambda _, results: checks.one_sided(results, _strong(results), _RATES),
    ),
    _finding(
        "recommendation-d-which",
        "It is the unprivileged group unless Y is skewed to 0, then the privileged one (all five rates).",
        "5.4, D; key finding 4", ALL, _expected_moves,
    ),
    _weak(
        "conclusion", f"combLDP reduces disparity more than indLDP with low privacy (epsilon from {WEAK:g}).",
        FIGURE_4, "combined", where="6",
    ),
)  # fmt: skip
"""The claims, those about data first, then in the order in which the paper makes them."""
