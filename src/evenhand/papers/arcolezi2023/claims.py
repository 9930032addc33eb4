"""Every number and finding that arcolezi2023 states, in the order of the paper."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand.collect import GRR, SS
from evenhand.collect.joint.split import split_budget
from evenhand.papers.arcolezi2023 import checks
from evenhand.papers.arcolezi2023.checks import FAIRNESS, LOW_PRIVACY, UTILITY
from evenhand.papers.claims import AGREES, DIFFERS, UNCHECKED, Checked, Claim, cannot_check
from evenhand.papers.rules import MARGIN, alike, below, fact, mostly, quoted, share
from evenhand.papers.tables import checked_mean
from evenhand.study.plan.cells import Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.papers.claims import Evidence
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results

__all__ = ["CLAIMS", "PRINTED"]

ADULT, ACS, LSAC = "adult", "acs_coverage", "lsac"
ALL = (ADULT, ACS, LSAC)
TITLES = {ADULT: "Adult", ACS: "ACSCoverage", LSAC: "LSAC"}

PRINTED = ("acc", "f1", "balanced_accuracy", "recall", "spd", "di", "eod", "oad")
"""The measures of the published table."""

MINOR = 0.02
"""A loss below it is called minor; the paper gives about 0.01 for Adult as an example."""

_MOST_PRIVATE = 0.25


def _private(epsilon: float) -> bool:
    return epsilon < LOW_PRIVACY


def _low(epsilon: float) -> bool:
    return epsilon >= LOW_PRIVACY


def _first(epsilon: float) -> bool:
    return epsilon == _MOST_PRIVATE


# --- data -----------------------------------------------------------------------------------------

_TABLE_2: dict[str, tuple[int, dict[str, int]]] = {
    ADULT: (45_849, {"gender": 2, "race": 5, "native-country": 41, "age": 74}),
    ACS: (98_739, {"DIS": 2, "AGEP": 50, "SEX": 2, "SCHL": 24}),
    LSAC: (20_427, {"race1": 2, "gender": 2, "fam_inc": 5, "fulltime": 2}),
}


def _table_2(name: str) -> Claim:
    people, sizes = _TABLE_2[name]

    def check(evidence: Evidence) -> Checked:
        facts = evidence.studies[name].facts
        schema = facts.schema
        ours = (facts.rows, {column: schema[column].size for column in schema.sensitive})
        words = f"Ours: {ours[0]:,} rows; {', '.join(f'{key} {size}' for key, size in ours[1].items())}."
        return Checked(fact(ours, (people, sizes)).verdict, words, paper=f"{people:,}")

    listed = ", ".join(f"{column} {size}" for column, size in sizes.items())
    text = f"{TITLES[name]} has {people:,} rows; domain sizes {listed}."
    return Claim(f"data-{name}", text, "Table 2", check, "fact", (name,))


def _ugpa(evidence: Evidence) -> Checked:
    domain = evidence.studies[LSAC].facts.schema["ugpa"].domain
    top = max(float(value) for value in domain.values)
    return fact(top, 4.5, why=f"The data ends at {top}: there are {len(domain.values)} values, not seven.")


def _ratio(_: Evidence) -> Checked:
    raised = math.exp(0.25)
    return fact(f"{raised:.1f}", "1.3", why=f"Ours: {raised:.4f}.")


# --- numbers --------------------------------------------------------------------------------------


def _number(
    claim_id: str, text: str, where: str, *, study: str, measure: str, paper: float, protected: bool
) -> Claim:
    """Return the claim of one number: the unprotected mean, or that of all protocols at epsilon 0.25."""

    def check(evidence: Evidence) -> Checked:
        results = evidence.studies[study]
        settings = checks.chosen(results, keep=_first) if protected else [Setting()]
        if not settings:
            return cannot_check("This design has no epsilon of 0.25.")
        spread = checks.average_spread(evidence.published, study, settings, measure)
        ours = checks.average(results, settings, measure)
        return quoted(ours, paper, decimals=_decimals(paper), spread=spread, about=protected)

    return Claim(claim_id, text, where, check, "quoted", (study,))


def _decimals(paper: float) -> int:
    return len(f"{paper:g}".partition(".")[2])


def _loss(measure: str, title: str) -> Claim:
    def check(evidence: Evidence) -> Checked:
        results = evidence.studies[ADULT]
        settings = checks.chosen(results, keep=_first)
        if not settings:
            return cannot_check("This design has no epsilon of 0.25.")
        spread = checks.average_spread(evidence.published, ADULT, settings, measure, loss=True)
        ours = checks.average_loss(results, settings, measure)
        return quoted(ours, 0.01, decimals=2, spread=spread, about=True)

    text = (
        f"On Adult about 1 % of {title} is lost (checked at epsilon 0.25, mean of all protocols and splits)."
    )
    return Claim(f"loss-adult-{measure}", text, "5.2, LDP impact on utility", check, "quoted", (ADULT,))


# --- published table ------------------------------------------------------------------------------


def _baseline(evidence: Evidence) -> Checked:
    return _table(evidence, protected=False)


def _protocols(evidence: Evidence) -> Checked:
    return _table(evidence, protected=True)


def _table(evidence: Evidence, *, protected: bool) -> Checked:
    if evidence.published is None:
        return cannot_check("The published table is not on this machine.")
    results = evidence.studies[ADULT]
    parts = [
        checked_mean(results, setting, measure, study=ADULT, published=evidence.published)
        for setting in results.settings
        if setting.is_protected == protected
        for measure in PRINTED
    ]
    return share(parts, least=0.95 if protected else 1.0, what="means")


# --- findings -------------------------------------------------------------------------------------


def _finding(
    claim_id: str,
    text: str,
    where: str,
    study: str | tuple[str, ...],
    compare: Callable[[Results], Sequence[Estimated]],
    rule: Callable[..., Checked] = mostly,
    **options: Any,
) -> Claim:
    """Return the claim whose comparisons are made in each study and judged together."""
    needs = (study,) if isinstance(study, str) else study

    def check(evidence: Evidence) -> Checked:
        differences = [each for name in needs for each in compare(evidence.studies[name])]
        return rule(differences, **options)

    return Claim(claim_id, text, where, check, rule.__name__, needs)


def _improved(study: str, measures: tuple[str, ...], *, suffix: str = "", where: str = "") -> Claim:
    title = TITLES[study.removesuffix("-subsets")]
    text = f"On {title} fairness improves in general under all protocols and both splits{suffix}."
    return _finding(
        f"fairer-{study}",
        text,
        where or "5.2, LDP impact on fairness; RQ1",
        study,
        lambda results: checks.improvements(results, checks.chosen(results, keep=_private), measures),
    )


def _cheap(study: str, *, where: str = "") -> Claim:
    title = TITLES[study.removesuffix("-subsets")]
    text = f"On {title} the impact on every utility measure is minor (a loss below {MINOR:g})."
    return _finding(
        f"cheap-{study}",
        text,
        where or "5.2, LDP impact on utility; RQ1",
        study,
        lambda results: checks.losses(results, checks.chosen(results), UTILITY),
        below,
        limit=MINOR,
    )


def _returns(study: str) -> Claim:
    text = (
        f"On {TITLES[study]} with the uniform split fairness is back at its unprotected value at low privacy "
        f"(epsilon from {LOW_PRIVACY:g})."
    )
    return _finding(
        f"back-{study}",
        text,
        "5.2, LDP impact on fairness",
        study,
        lambda results: checks.against(results, checks.chosen(results, split="uniform", keep=_low), FAIRNESS),
        alike,
    )


def _not_back(evidence: Evidence) -> Checked:
    """Check that at least one fairness measure is not back at its unprotected value."""
    results = evidence.studies[ACS]
    settings = checks.chosen(results, split="k-based", keep=_low)
    found = {measure: alike(checks.against(results, settings, (measure,))) for measure in FAIRNESS}
    away = [measure for measure, each in found.items() if each.verdict == DIFFERS]
    if away:
        return Checked(AGREES, f"Not back within {MARGIN:g}: {', '.join(away)}.")
    if all(each.verdict == AGREES for each in found.values()):
        return Checked(DIFFERS, f"All four are back within {MARGIN:g}.")
    return cannot_check("None is clearly away, and the intervals are too wide to say that all are back.")


def _binary(_: Evidence) -> Checked:
    sizes = {"a": 2, "b": 2, "c": 2}
    ours, uniform = (split_budget(1, sizes, how=how, exact=True) for how in ("k-based", "uniform"))
    why = "Both splits give every binary attribute the same share, exactly."
    return fact(ours, uniform, why=why, printed="")


def _one_value(_: Evidence) -> Checked:
    ss, grr = SS(5, 4, as_printed=True), GRR(5, 4)
    ours = (ss.size, f"{ss.p:.12f}", f"{ss.q:.12f}")
    why = f"k = 5, epsilon 4: SS names {ss.size} value, p = {ss.p:.6f} as GRR's {grr.p:.6f}."
    return fact(ours, (1, f"{grr.p:.12f}", f"{grr.q:.12f}"), why=why, printed="")


def _trade_off(study: str) -> Claim:
    def check(evidence: Evidence) -> Checked:
        counts = checks.dominations(evidence.studies[study])
        words = f"Dominated so often: {checks.domination_words(counts)}."
        if not any(counts.values()):
            return Checked(UNCHECKED, "No protocol clearly dominates another.")
        others = [number for name, number in counts.items() if name not in {"grr", "ss"}]
        best = max(counts["grr"], counts["ss"]) <= min(others)
        return Checked(AGREES if best else DIFFERS, words)

    text = (
        f"On {TITLES[study]} GRR and SS have the best trade-off of privacy, utility and fairness (they are "
        "dominated least often)."
    )
    return Claim(f"rq3-best-{study}", text, "RQ3; conclusion", check, "fact", (study,))


def _worst(study: str) -> Claim:
    text = f"On {TITLES[study]} BLH has the worst utility of all protocols."
    return _finding(
        f"rq3-blh-{study}",
        text,
        "RQ3",
        study,
        lambda results: checks.ahead(results, "blh", UTILITY, sign=-1),
    )


def _not_fairer(study: str) -> Claim:
    def check(evidence: Evidence) -> Checked:
        found = mostly(checks.ahead(evidence.studies[study], "blh", FAIRNESS))
        if found.verdict == UNCHECKED:
            return found
        return Checked(DIFFERS if found.verdict == AGREES else AGREES, found.why, found.ours)

    text = f"On {TITLES[study]} BLH is not fairer than the other protocols (that is so on ACSCoverage only)."
    return Claim(f"rq3-blh-not-fairer-{study}", text, "RQ3", check, "mostly, denied", (study,))


def _searched(_: Evidence) -> Checked:
    return cannot_check(
        "The search scored on test rows and its package is not among ours; the values found are used as "
        "they are. reproduce(..., search=True) searches on validation rows."
    )


def _environment(_: Evidence) -> Checked:
    return cannot_check(
        "It concerns other papers (central DP, gradient perturbation), of which nothing is run."
    )


def _turned(each: Estimated) -> Estimated:
    """Return a difference the other way round."""
    low, high = (None if limit is None else -limit for limit in (each.high, each.low))
    return replace(each, value=-each.value, low=low, high=high)


_FAIR = "5.2, LDP impact on fairness"
_USE = "5.2, LDP impact on utility"
_SUBSETS = " (random subsets of sensitive attributes)"

CLAIMS: tuple[Claim, ...] = (
    *(_table_2(name) for name in ALL),
    Claim("data-ugpa", "LSAC's grade averages go up to 4.5.", "5.1, Datasets", _ugpa, "fact", (LSAC,)),
    Claim("ratio", "At epsilon 0.25 probabilities differ by a factor of about 1.3.", "5.1", _ratio, "fact"),
    Claim("search", "The hyper-parameters are the best of a search of 100.", "5.1", _searched),
    Claim(
        "adult-baseline",
        "The unprotected results on Adult (eight measures) are the published ones to three decimals.",
        "Figs. 2 and 5, published runs",
        _baseline,
        "same",
        (ADULT,),
    ),
    Claim(
        "adult-protocols",
        "The means of all protocols on Adult (eight measures) are the published ones.",
        "Figs. 2 and 5, published runs",
        _protocols,
        "published mean; share",
        (ADULT,),
    ),
    *(_improved(name, FAIRNESS) for name in (ADULT, LSAC)),
    _improved(ACS, ("di", "spd", "eod"), suffix=", OAD excepted"),
    _number(
        "di-adult", "On Adult the unprotected DI is 0.44.", _FAIR,
        study=ADULT, measure="di", paper=0.44, protected=False,
    ),
    _number(
        "di-adult-ldp", "On Adult DI rises to about 0.48 at epsilon 0.25.", _FAIR,
        study=ADULT, measure="di", paper=0.48, protected=True,
    ),
    _number(
        "spd-adult", "On Adult the unprotected SPD is 0.37.", _FAIR,
        study=ADULT, measure="spd", paper=0.37, protected=False,
    ),
    _number(
        "spd-adult-ldp", "On Adult SPD falls to about 0.34 (checked at epsilon 0.25).", _FAIR,
        study=ADULT, measure="spd", paper=0.34, protected=True,
    ),
    _finding(
        "eod-adult", "On Adult EOD falls as well.", _FAIR, ADULT,
        lambda results: checks.improvements(results, checks.chosen(results, keep=_private), ("eod",)),
    ),
    _number(
        "oad-acs", "On ACSCoverage the unprotected OAD is \N{MINUS SIGN}0.17.", _FAIR,
        study=ACS, measure="oad", paper=-0.17, protected=False,
    ),
    _number(
        "oad-acs-ldp", "On ACSCoverage OAD goes to \N{MINUS SIGN}0.3 (checked at epsilon 0.25).", _FAIR,
        study=ACS, measure="oad", paper=-0.3, protected=True,
    ),
    _finding(
        "oad-acs-worse", "On ACSCoverage the gap in accuracy grows under all protocols and both splits.",
        _FAIR, ACS,
        lambda results: [
            _turned(each)
            for each in checks.improvements(results, checks.chosen(results, keep=_private), ("oad",))
        ],
    ),
    *(_returns(name) for name in ALL),
    _finding(
        "kept-adult", "On Adult with the k-based split fairness stays better at low privacy.", _FAIR, ADULT,
        lambda results: checks.improvements(
            results, checks.chosen(results, split="k-based", keep=_low), FAIRNESS
        ),
    ),
    Claim(
        "kept-acs", "On ACSCoverage with the k-based split not all fairness measures return at low privacy.",
        _FAIR, _not_back, "alike, denied", (ACS,),
    ),
    _finding(
        "alike-lsac", "On LSAC fairness behaves similarly with both splits.", f"{_FAIR}; RQ2", LSAC,
        lambda results: checks.splits_apart(results, FAIRNESS), alike,
    ),
    *(_cheap(name) for name in ALL),
    *(_loss(measure, title) for measure, title in (
        ("acc", "accuracy"), ("f1", "F1"), ("balanced_accuracy", "AUC (hard labels)"), ("recall", "recall"),
    )),
    _finding(
        "robust-adult", "On Adult utility is more robust with the k-based split than with the uniform one.",
        _USE, ADULT, lambda results: checks.best_split(results, UTILITY),
    ),
    _finding(
        "robust-acs", "On ACSCoverage the uniform split preserves more utility.", _USE, ACS,
        lambda results: checks.best_split(results, UTILITY, better="uniform"),
    ),
    _finding(
        "robust-lsac", "On LSAC both splits give similar utility.", f"{_USE}; RQ2", LSAC,
        lambda results: checks.splits_apart(results, UTILITY), alike,
    ),
    *(
        _finding(
            f"rq2-{name}", f"On {TITLES[name]} the k-based split gives better fairness than the uniform one.",
            "RQ2", name, lambda results: checks.best_split(results, FAIRNESS),
        )
        for name in (ADULT, ACS)
    ),
    Claim("rq2-binary", "With binary attributes only, k-based is uniform.", "RQ2", _binary, "fact"),
    _finding(
        "rq2-utility", "With larger domains (Adult, ACSCoverage) the k-based split gives better utility.",
        "RQ2", (ADULT, ACS), lambda results: checks.best_split(results, UTILITY),
    ),
    _finding(
        "k-based-better", "The k-based split generally has the better trade-off (accuracy and parity gap).",
        "abstract; conclusion", ALL, lambda results: checks.best_split(results, ("acc", "spd")),
    ),
    *(_trade_off(name) for name in ALL),
    Claim("rq3-one", "SS with a single value is GRR.", "RQ3", _one_value, "fact"),
    *(_worst(name) for name in ALL),
    _finding(
        "rq3-blh-fairer-acs", "On ACSCoverage BLH is slightly fairer than all other protocols.", "RQ3", ACS,
        lambda results: checks.ahead(results, "blh", FAIRNESS),
    ),
    *(_not_fairer(name) for name in (ADULT, LSAC)),
    Claim("others", "DP in training worsens fairness unless models are tuned.", "2; RQ1", _environment),
    *(_improved(f"{name}-subsets", FAIRNESS, suffix=_SUBSETS, where="Appendix A") for name in ALL),
    *(_cheap(f"{name}-subsets", where="Appendix A") for name in ALL),
)  # fmt: skip
"""The claims, in the order in which the paper makes them."""
