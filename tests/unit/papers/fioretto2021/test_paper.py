"""fioretto2021: the numbers are the paper's, and every claim sees what is planted in the records."""

from collections import Counter
from functools import lru_cache

import numpy as np
import pytest

from evenhand.papers.claims import Evidence, judge_claims
from evenhand.papers.fioretto2021 import PAPER
from evenhand.papers.fioretto2021.allotment import AS_PRINTED, BEST, EVENEST, OUTPUT, STRENGTHS
from evenhand.papers.fioretto2021.data import (
    AVERAGE,
    BOUNDS,
    CLAMP,
    COUNTIES,
    EPSILONS,
    PLAIN,
    PROXY,
    by_truth,
    check_amount,
    check_number,
    margins,
)
from evenhand.papers.fioretto2021.trials import INDEPENDENT, WHOLE
from evenhand.papers.paper import DESIGNS
from unit.papers._made_up_decisions import UNION, evidence

CLAIMS = {claim.id: claim for claim in PAPER.claims if claim.needs}


@lru_cache(maxsize=1)
def as_found():
    """Return the records as they are; nothing may be changed in them."""
    return evidence()


def verdict(name, found):
    """Return what comes of one claim."""
    return CLAIMS[name].judge(found).verdict


def planted(change):
    """Return records with something changed in them."""
    found = evidence()
    change(found.trials)
    return found


def everywhere(way, measure, values):
    """Return the change that gives a way to allot these numbers, one for each epsilon."""

    def change(trials):
        for record in trials["allotment"].values():
            for text, value in zip(EPSILONS, values, strict=True):
                record["epsilons"][text]["summary"][way][measure] = value

    return change


def in_rule(part, values):
    """Return the change that gives a part of the rule these errors, from a record and a place."""

    def change(trials):
        for record in trials["language"].values():
            for touches in record["errors"].values():
                for errors in touches.values():
                    errors[part] = [values(record, place) for place in range(len(record["s"]))]

    return change


# --- numbers --------------------------------------------------------------------------------------


@pytest.mark.figures
def test_the_printed_numbers_are_those_of_the_paper():
    """A slip of the pen here would make every verdict on it wrong."""
    assert BOUNDS == {"0.001": "0.003", "0.01": "0.00003", "0.1": "0.0000012"}
    assert [float(each) for each in BOUNDS.values()] == [3e-3, 3e-5, 1.2e-6]
    assert [float(each) for each in AVERAGE.values()] == [43_281, 4_328, 865.6]
    assert [(each.sp, each.s) for each in COUNTIES] == [(4, 80), (30, 600), (160, 3305)]
    assert verdict("most-lost", as_found()) == "method unknown"
    assert "$42,000" in CLAIMS["most-lost"].judge(as_found()).paper


def test_a_number_agrees_if_it_rounds_to_the_printed_one():
    """And an amount of money within five per cent; a bound that prints as 0 is that of no noise too."""
    bounds = [check_number(each, "0.0000012").verdict for each in (1.249e-6, 1.251e-6)]
    amounts = [check_amount(each, 1_000).verdict for each in (951, 1_049, 1_051)]

    assert bounds == ["agrees", "contradicted"]
    assert amounts == ["agrees", "agrees", "contradicted"]
    assert check_number(1e-4, "0.000").verdict == "cannot tell apart"
    assert check_amount(500, 865.6).paper == "$865.6"
    assert check_amount(500, 1_000).why.startswith(
        "Ours is $500, off by \N{MINUS SIGN}50.0 %, allowed 5 %; without noise it is $0."
    )


def test_bounds_and_averages_agree_if_they_are_the_printed_ones():
    """Those of (4g) for the bounds; the exact ones would have to be near them too."""
    for text, printed in BOUNDS.items():
        wanted = [float(printed) if each == text else 1.0 for each in EPSILONS]

        assert (
            verdict(f"example-1-bound-{text}", planted(everywhere(AS_PRINTED, "alpha", wanted))) == "agrees"
        )
        assert verdict(f"example-1-bound-{text}", as_found()) == "contradicted"
    for text, printed in AVERAGE.items():
        wanted = [float(printed) if each == text else 1.0 for each in EPSILONS]

        assert verdict(f"example-1-average-{text}", planted(everywhere(CLAMP, "average", wanted))) == "agrees"
        assert verdict(f"example-1-average-{text}", as_found()) == "method unknown"
    exact = everywhere(PLAIN, "alpha", [3e-3, 3e-5, 1.0, 1.2e-6])
    both = [verdict("example-1-exact", each) for each in (as_found(), planted(exact))]
    assert both == ["contradicted", "agrees"]


def test_a_bound_that_fits_another_epsilon_is_a_slip():
    """The third one is that of 0.05; a number that fits none is contradicted."""
    slipped = everywhere(AS_PRINTED, "alpha", [1.0, 1.0, 1.22e-6, 3e-7])
    wrong = everywhere(AS_PRINTED, "alpha", [1.0, 1.0, 1.0, 3e-7])
    row = CLAIMS["example-1-bound-0.1"].judge(planted(slipped))

    assert (row.verdict, verdict("example-1-bound-0.1", planted(wrong))) == ("slip", "contradicted")
    assert "that of epsilon = 0.05, 1.22e-06" in row.why


def test_the_epsilon_of_the_largest_loss_is_told():
    """Between two epsilons every amount is reached, so that a number without one tells nothing."""
    row = CLAIMS["most-lost"].judge(planted(everywhere(CLAMP, "most lost", [1e6, 42_000, 5.0, 1.0])))

    assert "$42,000 at an epsilon of about 0.01, by interpolation" in row.why


def test_the_third_numbers_of_example_1_do_not_fit_their_epsilon():
    """A reader must see that 0.1 is printed where the numbers are those of 0.05."""
    claims = {claim.id: claim for claim in PAPER.claims}
    row = claims["example-1-consistent"].judge(Evidence({}))

    assert claims["county-ratios"].judge(Evidence({})).verdict == "agrees"
    assert row.verdict == "slip"
    assert "100, 25" in row.why
    assert "10, 5" in row.why


# --- tables ---------------------------------------------------------------------------------------


def test_what_the_tables_are_is_compared_with_the_text():
    """Rows, what they count, and the county whose counts can be looked up."""

    def as_told(trials):
        trials["allotment"][0]["districts"] = 16_441
        trials["allotment"][0]["people"] = trials["allotment"][2]["people"]
        record = trials["language"][0]
        record["sp"][record["names"].index(UNION)] = 165

    def nowhere(trials):
        trials["language"][0]["names"] = []

    told, absent = planted(as_told), planted(nowhere)

    assert [verdict(each, told) for each in ("districts", "children")] == ["agrees", "agrees"]
    assert {verdict(each, as_found()) for each in ("districts", "children", "citizens")} == {"slip"}
    assert (verdict("county-union", as_found()), verdict("county-union", told)) == ("agrees", "slip")
    assert {verdict(each, absent) for each in ("county-union", "citizens")} == {"cannot be checked"}
    assert verdict("counties", as_found()) == verdict("sensitivity", as_found()) == "cannot be checked"


# --- designs --------------------------------------------------------------------------------------


def test_each_design_contains_the_one_before():
    """A larger design in the same folder runs only what is new."""
    sizes = [{each.name: each.number for each in PAPER.trials(design)} for design in DESIGNS]

    for small, large in ((0, 1), (1, 2)):
        assert all(sizes[large].get(name, 0) >= many for name, many in sizes[small].items())
    assert all(not PAPER.studies(design) for design in DESIGNS)
    for design, numbers in zip(DESIGNS, sizes, strict=True):
        assert f"{sum(numbers.values())} trials" in PAPER.designs[design]


def test_claims_have_names_of_their_own_and_need_what_can_be_run():
    """A claim that needs something unknown would never be checked."""
    known = {each.name for each in PAPER.trials("full")}

    assert max(Counter(claim.id for claim in PAPER.claims).values()) == 1
    assert all(set(claim.needs) <= known for claim in PAPER.claims)
    assert {row.verdict for row in judge_claims(CLAIMS.values(), Evidence({}))} == {"cannot be checked"}


# --- planted findings about the allotment ---------------------------------------------------------

PLANTED = {
    "figure-2-clamp": (CLAMP, "alpha", [1.0] * 4, [0.0] * 4),
    "figure-6-alpha": (PROXY, "alpha", [1e-15] * 4, [1.0] * 4),
    "figure-6-perfect": (PROXY, "alpha", [0.0] * 4, [1e-30] * 4),
    "figure-6-output": (OUTPUT, "alpha", [0.0] * 4, [1e-30] * 4),
    "figure-8-large": (f"T = {STRENGTHS[-1]:g} b^2", "alpha", [1.0] * 4, [0.0] * 4),
    "figure-9-some": (EVENEST, "alpha", [0.0] * 4, None),
    "figure-9-optimal": (BEST, "alpha", [0.0] * 4, [1.0] * 4),
    "figure-10-order": (CLAMP, "cost, New York", [1e12] * 4, [0.0] * 4),
}


@pytest.mark.parametrize("name", list(PLANTED))
def test_a_finding_about_the_allotment_is_seen_and_so_is_its_opposite(name):
    """A check that cannot come out both ways checks nothing."""
    way, measure, for_it, against = PLANTED[name]

    assert verdict(name, planted(everywhere(way, measure, for_it))) == "agrees"
    if against is None:
        assert verdict(name, as_found()) == "contradicted"
    else:
        assert verdict(name, planted(everywhere(way, measure, against))) == "contradicted"


@pytest.mark.parametrize(("name", "way"), [("figure-2-small", CLAMP), ("figure-2-curvature", PLAIN)])
def test_who_gains_is_read_from_the_smallest_and_the_largest_tenth(name, way):
    """That small districts gain is the main finding of figure 2."""

    def favour(sign):
        def change(trials):
            record = trials["allotment"][0]
            middle = np.median(record["sizes"])
            for text in EPSILONS:
                record["epsilons"][text]["bias"][way] = [
                    sign * float(middle - each) for each in record["sizes"]
                ]

        return change

    assert verdict(name, planted(favour(1))) == "agrees"
    assert verdict(name, planted(favour(-1))) == "contradicted"


def test_small_temperatures_must_help_a_little():
    """Neither nothing at all nor much."""

    def scaled(factor):
        def change(trials):
            for text in EPSILONS:
                summary = trials["allotment"][0]["epsilons"][text]["summary"]
                summary[f"T = {STRENGTHS[0]:g} b^2"]["alpha"] = factor * summary[CLAMP]["alpha"]

        return change

    found = [verdict("figure-8-small", planted(scaled(each))) for each in (0.95, 0.5, 1.01)]
    assert found == ["agrees", "contradicted", "contradicted"]


def test_errors_that_are_drawn_are_compared_part_by_part():
    """Similar is within a tenth, no perceptible impact within a twentieth."""

    def alike(way, other, factor):
        def change(trials):
            for record in trials["draws"].values():
                for found in record["epsilons"].values():
                    found[way]["error"] = factor * found[other]["error"]

        return change

    found = [verdict("figure-6-similar", planted(alike(PROXY, PLAIN, each))) for each in (1.05, 1.5)]
    assert found == ["agrees", "contradicted"]
    both = planted(alike(BEST, CLAMP, 1.4))
    assert verdict("figure-9-error", planted(alike(BEST, CLAMP, 1.01))) == "agrees"
    alike(EVENEST, CLAMP, 1.4)(both.trials)
    assert verdict("figure-9-error", both) == "contradicted"


def test_errors_of_output_perturbation_are_compared_with_those_of_noisy_counts():
    """Twice as large is significant, in all districts and in New York."""

    def times(factor):
        def change(trials):
            error = trials["allotment"][0]["epsilons"][EPSILONS[0]]["error"]
            error[OUTPUT] = {place: factor * value for place, value in error["one count"].items()}

        return change

    found = [verdict("figure-6-errors", planted(times(each))) for each in (2.1, 1.9)]
    assert found == ["agrees", "contradicted"]


def test_draws_that_show_the_bias_would_be_enough():
    """The average of few draws has a spread that is far larger than the bias of an allotment."""

    def exact(trials):
        for record in trials["draws"].values():
            for text in EPSILONS:
                record["epsilons"][text][PLAIN]["bias"] = trials["allotment"][0]["epsilons"][text]["bias"][
                    PLAIN
                ]

    found = [verdict("enough-draws", each) for each in (as_found(), planted(exact))]
    assert found == ["contradicted", "agrees"]


# --- planted findings about the rule --------------------------------------------------------------


def test_margins_are_those_of_the_threshold_that_decides():
    """Either ground suffices, and schooling is needed besides."""
    record = {"s": [1000, 1_000_000, 1000, 100], "sp": [60, 12_000, 60, 0], "spe": [6, 2_000, 1, 0]}

    assert margins(record).round(4).tolist() == [0.2, 0.2, 0.2, -1.0]
    record["spe"] = [0, 2_000, 1, 0]
    assert margins(record)[0] == -1.0


def test_errors_that_follow_the_distance_are_seen():
    """Figure 3 is about that."""

    def near(record, place):
        s, sp, spe = (record[column][place] for column in ("s", "sp", "spe"))
        people = min(max(sp - 0.05 * s, sp - 10_000), spe - 0.0131 * sp)
        return float(np.exp(-people / 1e6) / 50)

    def nearer(record, place):
        return float(np.exp(-margins(record)[place]) / 50)

    for name, errors in (("figure-3-distance", near), ("figure-3-near", nearer)):
        planted_errors = (errors, lambda record, i, errors=errors: 0.5 - errors(record, i))
        found = [verdict(name, planted(in_rule(WHOLE, each))) for each in planted_errors]
        assert found == ["agrees", "contradicted"]
    assert verdict("figure-3-disparities", planted(in_rule(WHOLE, lambda *_: 0.3))) == "contradicted"
    assert verdict("figure-3-disparities", planted(in_rule(WHOLE, lambda _, i: 0.4 * (i % 2)))) == "agrees"


@pytest.mark.parametrize(
    ("name", "part", "pair", "most"),
    [
        ("figure-5-left", "share or number", ("share", "number"), True),
        ("figure-5-right", "share and schooling", ("share", "schooling"), False),
    ],
)
def test_who_errs_most_is_read_by_the_true_answers(name, part, pair, most):
    """Theorems 7 and 8 speak of equal errors, which counties do not have; the reason tells who errs most."""

    def neither(record, place):
        return 1.0 if not any(record["truth"][each][place] for each in pair) else 0.0

    found = [planted(in_rule(part, each)) for each in (neither, lambda record, i: 1 - neither(record, i))]
    rows = [CLAIMS[name].judge(each) for each in (found if most else found[::-1])]

    assert [row.verdict for row in rows] == ["cannot be checked"] * 2
    assert [row.why.partition(" of ")[0] for row in rows] == ["So it is in 6", "So it is in 0"]


def test_groups_of_a_single_county_are_not_compared():
    """Of 187 counties one has neither ground."""

    def alone(trials):
        for record in trials["language"].values():
            record["truth"]["share"] = [True] * (len(record["s"]) - 1) + [False]
            record["truth"]["number"] = [False] * len(record["s"])

    assert verdict("figure-5-left", planted(alone)) == "cannot be checked"
    record = planted(alone).trials["language"][0]
    assert by_truth(record, np.zeros(len(record["s"])), "share", "number")[False, False] == (0.0, 1)


def test_a_disjunction_that_errs_more_is_seen():
    """Figure 4, right, is said to show one."""

    def change(both):
        def apply(trials):
            for part, value in (("number", 0.05), ("schooling", 0.04), ("number or schooling", both)):
                in_rule(part, lambda *_, value=value: value)(trials)

        return apply

    found = [verdict("figure-4-disjunction", planted(change(each))) for each in (0.088, 0.05)]
    assert found == ["agrees", "method unknown"]


def test_a_disjunction_without_a_county_of_small_errors_is_not_judged():
    """With no county to look at, nothing speaks against the paper."""

    def apply(trials):
        for part in ("number", "schooling", "number or schooling"):
            in_rule(part, lambda *_: 0.4)(trials)

    assert verdict("figure-4-disjunction", planted(apply)) == "cannot be checked"


def test_what_is_assumed_of_the_rule_is_checked_on_it():
    """Independence, which the paper only assumes and then illustrates, and no error above one half."""
    small = planted(in_rule(WHOLE, lambda *_: 0.2))
    in_rule(INDEPENDENT, lambda *_: 0.2004)(small.trials)

    assert [verdict(each, small) for each in ("independence", "non-trivial")] == ["agrees", "agrees"]
    assert [verdict(each, as_found()) for each in ("independence", "non-trivial")] == ["slip", "contradicted"]


def test_frequencies_that_are_not_the_probabilities_are_seen():
    """The exact numbers and the draws share no program."""

    def other(trials):
        for record in trials["language-draws"].values():
            record["wrong"] = {
                text: [record["repetitions"]] * len(each) for text, each in record["wrong"].items()
            }

    assert verdict("rule-draws", as_found()) == "agrees"
    assert verdict("rule-draws", planted(other)) == "contradicted"


def test_ratios_are_compared_county_by_county():
    """Loving has by far the largest variance of the draws; the mean of a ratio does not exist."""

    def variances(*values):
        def change(trials):
            for record in trials["counties"].values():
                for found in record["epsilons"].values():
                    found["variance"] = list(values)

        return planted(change)

    assert verdict("figure-4-bias", as_found()) == "agrees"
    assert verdict("figure-4-expectation", as_found()) == "contradicted"
    assert verdict("figure-4-variance", as_found()) == "agrees"
    assert verdict("figure-4-variance", variances(4.0, 2.0, 1.0)) == "agrees"
    for values in ((1.0, 2.0, 3.0), (1.0, 1.0, 1.0), (3.9, 2.0, 1.0)):
        assert verdict("figure-4-variance", variances(*values)) == "contradicted"


def test_proxies_are_compared_group_by_group():
    """Lower, lower still, more accurate, and falling with size.

    A simulated table shows nothing and contradicts nothing: an agreement that could not be lost is none.
    """

    def levels(rule, regression, svm, *, svm_right=0.9, fall=1.0):
        def change(trials):
            for trial, record in trials["proxies"].items():
                for rows in record["epsilons"].values():
                    for place, row in enumerate(rows):
                        wobble = 0.001 * (trial % 3) + 0.01 * place
                        row["original"]["alpha"] = rule - fall * wobble
                        row["regression"] |= {"alpha": regression - 1.1 * wobble, "right": 0.8 + wobble}
                        row["svm"] |= {"alpha": svm - 1.2 * wobble, "right": svm_right + 1.1 * wobble}

        return change

    names = ("figure-7-lower", "figure-7-svm", "figure-7-accuracy", "figure-7-size")
    as_told = planted(levels(0.9, 0.5, 0.4))
    worse = planted(levels(0.1, 0.5, 0.9, svm_right=0.6, fall=-1.0))

    rows = [[CLAIMS[each].judge(found) for each in names] for found in (as_told, worse)]

    assert {row.verdict for both in rows for row in both} == {"cannot be checked"}
    assert all("The table is simulated." in row.why for both in rows for row in both)
    assert all(" 0 clearly against it." in row.why for row in rows[0])
    assert all(", 0 clearly for it and " in row.why for row in rows[1])


def test_what_is_public_and_what_needs_data_is_computed():
    """A bound that does not move with the sum would be public; T* may be the best one for these counts."""

    def fixed(trials):
        trials["allotment"][0]["sensitivity"]["theorem 11"] = 0.0

    best = planted(everywhere(BEST, "alpha", [0.0] * 4))
    assert [verdict("output-public", each) for each in (as_found(), planted(fixed))] == [
        "contradicted", "agrees",
    ]  # fmt: skip
    assert [verdict("temperature-data", each) for each in (as_found(), best)] == ["agrees", "contradicted"]
