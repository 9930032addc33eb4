"""The numbers that fioretto2021 quotes, and what its tables are."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from evenhand.papers.claims import Checked, Claim, cannot_check
from evenhand.papers.fioretto2021.allotment import AS_PRINTED
from evenhand.papers.fioretto2021.checks import (
    allotment,
    as_text,
    check_amount,
    check_number,
    dollars,
    drawn_alpha,
    language,
    of_allotment,
    verdict,
)
from evenhand.papers.fioretto2021.draws import CLAMP, PLAIN
from evenhand.papers.fioretto2021.printed import (
    AVERAGE,
    BOUNDS,
    BUDGET,
    COUNTIES,
    DISTRICTS,
    EPSILONS,
    INFERRED,
    LANGUAGE_COUNTIES,
    MOST_LOST,
)
from evenhand.papers.fioretto2021.trials import ALLOTMENT, DRAWS, LANGUAGE

if TYPE_CHECKING:
    from evenhand.papers.claims import Evidence

__all__ = ["NUMBER_CLAIMS"]

_TINY = 1e-300  # a bound that comes out as 0 is only too small for a float
_UNION = "Union County, New Mexico"


# --- the tables -----------------------------------------------------------------------------------


def _districts(evidence: Evidence) -> Checked:
    found = allotment(evidence)["districts"]
    why = f"The same steps on the raw table leave {found:,}: very probably a slip of one digit."
    return verdict(found == DISTRICTS, why, paper=f"{DISTRICTS:,}", ours=float(found))


def _children(evidence: Evidence) -> Checked:
    students, poor = (allotment(evidence, name) for name in ("students", "poverty"))
    alphas = [of_allotment(evidence, "0.001", PLAIN, "alpha", name=name) for name in ("students", "poverty")]
    why = (
        f"The table of the paper counts all {students['people']:,} students; children in poverty were "
        f"{poor['people']:,} in 2015. With them the districts are {poor['districts']:,}, and alpha at "
        f"epsilon = 0.001 is {alphas[1]:.2g} in place of {alphas[0]:.2g}."
    )
    return verdict(students["people"] < 2 * poor["people"], why)


def _counties(evidence: Evidence) -> Checked:
    areas = language(evidence)["areas"]
    why = (
        f"The file with all areas is not to be had; {areas} determined counties are. The table of population "
        "estimates has 3,129 counties of the states with a Hispanic person."
    )
    return cannot_check(why, paper=f"{LANGUAGE_COUNTIES:,}")


def _ratios(_: Evidence) -> Checked:
    found = [round(each.ratio, 4) for each in COUNTIES]
    why = f"As fractions they are {as_text(found, '.4f')}."
    return verdict(found == [0.05, 0.05, 0.0484], why, paper="0.05, 0.05, 0.0484")


def _union(evidence: Evidence) -> Checked:
    record = language(evidence)
    if _UNION not in record["names"]:
        return cannot_check("The county is not in the table of determined areas.", paper="160/3305")
    place = record["names"].index(_UNION)
    sp, s, covered = (record[column][place] for column in ("sp", "s", "covered"))
    why = (
        f"The published file has {sp:,} of {s:,}. The county was determined, though on these rounded "
        f"counts the rule says {'yes' if covered else 'no'}. Loving and Terrell are not determined areas, "
        "so that their counts cannot be looked up."
    )
    return verdict((sp, s) == (160, 3305), why, paper="160/3305")


def _citizens(evidence: Evidence) -> Checked:
    record = language(evidence)
    if _UNION not in record["names"]:
        return cannot_check("The county is not in the table of determined areas.")
    s = record["s"][record["names"].index(_UNION)]
    why = (
        f"The 3,305 of Union county are all its voting-age citizens ({s:,} in the published file), as in the "
        "statute, not the speakers of a minority language."
    )
    return verdict(s != COUNTIES[2].s, why)


# --- Example 1 ------------------------------------------------------------------------------------


def _bound(epsilon: str, evidence: Evidence) -> Checked:
    ours = of_allotment(evidence, epsilon, AS_PRINTED, "alpha")
    true = of_allotment(evidence, epsilon, PLAIN, "alpha")
    why = (
        f"By (4g) with its factor n, over all districts; without that factor, and exactly, it is {true:.3g}."
    )
    if epsilon == "0.1":
        other = of_allotment(evidence, INFERRED, AS_PRINTED, "alpha")
        why += f" The printed number is that of epsilon = {INFERRED}, {other:.3g}."
    return check_number(ours, BOUNDS[epsilon], why=why)


def _exact(evidence: Evidence) -> Checked:
    pairs = [
        (of_allotment(evidence, text, AS_PRINTED, "alpha"), of_allotment(evidence, text, PLAIN, "alpha"))
        for text in BOUNDS
    ]
    lost = [of_allotment(evidence, text, PLAIN, "most lost") for text in BOUNDS]
    why = (
        f"Exactly alpha is {as_text([each[1] for each in pairs])}, {pairs[0][0] / pairs[0][1]:,.0f} times "
        "less: the factor n in (4g) takes a sum of products for a product of sums. No district of New "
        f"York loses more than ${lost[0]:,.2f} at epsilon = 0.001, and ${lost[-1]:.3f} at 0.1, by the "
        "formula's curvature."
    )
    near = all(0.5 < each[1] / float(BOUNDS[text]) < 2 for text, each in zip(BOUNDS, pairs, strict=True))
    return verdict(near, why, paper=", ".join(BOUNDS.values()))


def _expectation(evidence: Evidence) -> Checked:
    chances = [
        allotment(evidence, name)["epsilons"]["0.001"]["not positive"] for name in ("students", "new-york")
    ]
    why = (
        "The noisy sum has a density at 0, so that the mean of a share does not exist: there is a "
        "principal value. It hardly matters here: at epsilon = 0.001 the sum is 0 or less with a "
        f"probability below {max(chances[0], _TINY):.1g}, for New York alone {max(chances[1], _TINY):.1g}."
    )
    return verdict(agrees=False, why=why)


def _average(epsilon: str, evidence: Evidence) -> Checked:
    ours = of_allotment(evidence, epsilon, CLAMP, "average")
    inside = of_allotment(evidence, epsilon, CLAMP, "average, New York")
    plain = of_allotment(evidence, epsilon, PLAIN, "average")
    formula = of_allotment(evidence, epsilon, AS_PRINTED, "average")
    error = BUDGET * allotment(evidence)["epsilons"][epsilon]["error"]["one count"]["all"]
    why = (
        "That is the mean absolute bias of all districts with counts clamped at 0, as in figure 2; in New "
        f"York ${inside:,.0f}. Without clamping it is ${plain:,.4g}, by (4g) with its factor n "
        f"${formula:,.0f}. The printed amounts fall with epsilon as the mean absolute error does, which "
        f"is ${error:,.0f}."
    )
    return check_amount(ours, float(AVERAGE[epsilon]), why=why)


def _consistent(_: Evidence) -> Checked:
    amounts = [float(each) for each in AVERAGE.values()]
    bounds = [float(each) for each in BOUNDS.values()]
    steps = [amounts[0] / amounts[1], amounts[1] / amounts[2]]
    falls = [bounds[0] / bounds[1], bounds[1] / bounds[2]]
    why = (
        f"From one epsilon to the next the bounds fall by {as_text(falls)} and the dollars by "
        f"{as_text(steps)}: the first with the square of epsilon and the second with epsilon itself, so "
        "that neither amounts to the other. Both third numbers fit an epsilon of 0.05, not 0.1: a fifth "
        "of 0.01's dollars and a twenty-fifth of its bound."
    )
    return verdict(bool(np.allclose(steps, falls, rtol=0.1)), why)


def _most_lost(evidence: Evidence) -> Checked:
    ways = {
        "all districts, clamped": ("students", CLAMP),
        "all districts, not clamped": ("students", PLAIN),
        "New York alone, clamped": ("new-york", CLAMP),
        "New York alone, not clamped": ("new-york", PLAIN),
    }
    found = {
        words: [of_allotment(evidence, text, way, "most lost", name=name) for text in EPSILONS]
        for words, (name, way) in ways.items()
    }
    near = [check_amount(each, MOST_LOST).verdict == "agrees" for each in found["all districts, clamped"]]
    told = "; ".join(
        f"{words} {', '.join(f'${each:,.{0 if each >= 100 else 2}f}' for each in values)}"
        for words, values in found.items()
    )
    why = (
        f"At epsilon = {', '.join(EPSILONS)} the district of New York that loses most loses: {told}. The "
        "epsilon of the number is not given."
    )
    return verdict(any(near), why, paper=f"${MOST_LOST:,}")


def _enough(evidence: Evidence) -> Checked:
    said, near = [], 0
    repetitions = sum(each["repetitions"] for each in evidence.trials[DRAWS].values())
    for text in EPSILONS:
        ours = drawn_alpha(evidence, text, PLAIN)
        true = of_allotment(evidence, text, PLAIN, "alpha, New York")
        near += ours < 2 * true
        said.append(f"{ours:.2g} for {true:.2g}")
    why = (
        f"Without clamping, alpha of New York from {repetitions:,} draws is {', '.join(said)} at epsilon = "
        f"{', '.join(EPSILONS)}: what is seen is the noise of the average, not the bias."
    )
    return verdict(near == len(EPSILONS), why)


NUMBER_CLAIMS = (
    Claim(
        "districts",
        "Of the school districts, 16,441 have no missing value and at least one student.",
        "appendix B.2",
        _districts,
        "fact",
        (ALLOTMENT,),
    ),
    Claim(
        "children",
        "x_i counts children aged 5 to 17 who live in necessitous families.",
        "section 4",
        _children,
        "fact",
        (ALLOTMENT,),
    ),
    Claim(
        "counties",
        "There are 2,774 counties with at least one Hispanic person.",
        "appendix B.2",
        _counties,
        "fact",
        (LANGUAGE,),
    ),
    Claim(
        "county-ratios",
        "Loving has 4/80 = 0.05, Terrell 30/600 = 0.05, Union 160/3305 = 0.0484.",
        "section 6.1, figure 4",
        _ratios,
        "fact",
    ),
    Claim(
        "county-union",
        "Union county, New Mexico, has 160 people with limited English of 3,305.",
        "section 6.1, figure 4",
        _union,
        "fact",
        (LANGUAGE,),
    ),
    Claim(
        "citizens",
        "x^s is the number of people who speak the minority language.",
        "section 4",
        _citizens,
        "fact",
        (LANGUAGE,),
    ),
    *(
        Claim(
            f"example-1-bound-{text}",
            f"At epsilon = {text} the estimated fairness bound of the allotment is {printed}.",
            "Example 1",
            partial(_bound, text),
            "number",
            (ALLOTMENT,),
        )
        for text, printed in BOUNDS.items()
    ),
    Claim(
        "example-1-exact",
        "These bounds are what the curvature of the allotment does to it.",
        "Example 1, Theorem 3",
        _exact,
        "number",
        (ALLOTMENT,),
    ),
    *(
        Claim(
            f"example-1-average-{text}",
            f"At epsilon = {text} that amounts to an average misallocation of {dollars(float(printed))}.",
            "Example 1",
            partial(_average, text),
            "money",
            (ALLOTMENT,),
        )
        for text, printed in AVERAGE.items()
    ),
    Claim(
        "allotment-expectation",
        "The noisy allotment has an expected value.",
        "equation (2)",
        _expectation,
        "argument",
        (ALLOTMENT,),
    ),
    Claim(
        "example-1-consistent",
        "The bounds amount to the average misallocations.",
        "Example 1",
        _consistent,
        "fact",
    ),
    Claim(
        "most-lost",
        "Some school districts receive up to $42,000 less than warranted.",
        "section 4, figure 2",
        _most_lost,
        "money",
        (ALLOTMENT,),
    ),
    Claim(
        "enough-draws",
        "Averages over a large sample stand for expectations; 10,000 repetitions are taken.",
        "sections 5 and 7",
        _enough,
        "number",
        (ALLOTMENT, DRAWS),
    ),
)
"""Every quoted number, and what the tables hold."""
