"""ghoukasian2024, chapter 3: bounds, their simulation, and the exact privacy of Algorithm 2's rates."""

import math

import numpy as np
import pytest

from evenhand.learn.parity.bounds import printed_bounds
from evenhand.papers.claims import Evidence, judge_claims
from evenhand.papers.ghoukasian2024_central import PAPER, theory_checks
from evenhand.papers.ghoukasian2024_central.checks import build_tables
from evenhand.papers.ghoukasian2024_central.theory_checks import Case, every_case, secret_sizes
from evenhand.privacy.randomness import SeededSource

THEORY = PAPER.claims[:16]  # those of sections 3.2 to 3.4

CASE = Case(300, 700, 0.5, 0.6, 0.3)


@pytest.fixture(name="few")
def _few(monkeypatch):
    monkeypatch.setattr(theory_checks, "SIMULATIONS", 400)


# --- bounds ---------------------------------------------------------------------------------------


def test_bounds_are_those_of_the_formula_sheet_and_of_the_product():
    """A bound of our own that differs from the one shown to users would be a second truth."""
    found = printed_bounds([300, 700], [0.5, 0.5], confidence=1 - theory_checks.ETA)

    assert theory_checks.expected_bound(300, 700, 0.5) == pytest.approx(0.057289546634, abs=1e-12)
    assert theory_checks.bound(300, 700, 0.5) == pytest.approx(0.193913363592, abs=1e-12)
    assert found.expected == pytest.approx(theory_checks.expected_bound(300, 700, 0.5), rel=1e-12)
    assert found.likely == pytest.approx(theory_checks.bound(300, 700, 0.5), rel=1e-12)


def test_the_printed_bound_has_the_size_of_group_0_everywhere():
    """It is too small where group 0 is the larger one, and too large where it is the smaller."""
    assert theory_checks.printed_bound(950, 0.5) < theory_checks.bound(950, 50, 0.5)
    assert theory_checks.printed_bound(50, 0.5) > theory_checks.bound(50, 950, 0.5)
    assert theory_checks.printed_bound(500, 0.5) == theory_checks.bound(500, 500, 0.5)


# --- Algorithm 2 ----------------------------------------------------------------------------------


def slowly(case, first, second):
    """Return gap and changes as Algorithm 2 is written, branch by branch."""
    alpha, beta = case.alpha, case.beta
    if first >= second:
        keep = (first + second) / (2 * first) if first > 0 else 1.0
        promote = (first - second) / (2 * (1 - second)) if second < 1 else 0.0
        new = alpha * keep, beta + (1 - beta) * promote
        changed = alpha * (1 - keep) + (1 - beta) * promote
    else:
        keep = (first + second) / (2 * second) if second > 0 else 1.0
        promote = (second - first) / (2 * (1 - first)) if first < 1 else 0.0
        new = alpha + (1 - alpha) * promote, beta * keep
        changed = beta * (1 - keep) + (1 - alpha) * promote
    return abs(new[0] - new[1]), changed


@pytest.mark.parametrize("case", [CASE, Case(5, 5, 1.0, 0.0, 1.0), Case(5, 5, 1.0, 0.2, 0.9)])
def test_flips_are_those_of_algorithm_2(case):
    """All branches and guards: rates of 0 and 1, ties, either group ahead."""
    every = np.array([0.0, 0.1, 0.5, 0.9, 1.0])
    first, second = (each.ravel() for each in np.meshgrid(every, every))
    gap, changed = theory_checks.flip_decisions(case, first, second)
    expected = [slowly(case, *pair) for pair in zip(first, second, strict=True)]

    assert np.allclose(gap, [each[0] for each in expected], atol=1e-12)
    assert np.allclose(changed, [each[1] for each in expected], atol=1e-12)


def test_noisy_rates_are_near_the_rates_unless_divided_by_the_other_size():
    """What Algorithm 2 prints in line 1 is no rate of the group."""
    right = theory_checks.noisy_rates(CASE, 2_000, SeededSource(1))
    wrong = theory_checks.noisy_rates(CASE, 2_000, SeededSource(1), as_printed=True)

    assert [each.mean() for each in right] == pytest.approx([0.6, 0.3], abs=0.01)
    assert wrong[0].mean() == pytest.approx(0.6 * 3 / 7, abs=0.01)
    assert wrong[1].mean() == pytest.approx(0.3 * 7 / 3, abs=0.01)
    assert all(((each >= 0) & (each <= 1)).all() for each in (*right, *wrong))


@pytest.mark.parametrize(("noise", "holds"), [(1.0, True), (60.0, False)])
def test_the_bound_holds_in_simulations_and_fails_with_more_noise(few, noise, holds):
    """A bound that no simulation could break would say nothing."""
    found = theory_checks.simulate_bounds(CASE, SeededSource(3), noise=noise)

    assert (found["above"] <= theory_checks.ETA) == holds
    assert (found["mean gap"] <= found["expected bound"]) == holds


def test_trials_have_every_size_and_those_of_the_tables(few):
    """The same number gives the same record, so that a stopped run goes on."""
    trials = theory_checks.bound_trials()
    last = trials.compute(trials.number - 1)["cases"]

    assert trials.number == len(theory_checks.PEOPLE) + 1
    assert {case.first + case.second for case in theory_checks.cases(1)} == {1_000}
    assert {(case["first"], case["second"]) for case in last} == {
        sizes[:2] for sizes in theory_checks.OWN.values()
    }
    assert last == trials.compute(trials.number - 1)["cases"]


# --- claims ---------------------------------------------------------------------------------------


def brute(size, other, epsilon):
    """Return the largest log-ratio of a clamped noisy rate over a fine grid and its two atoms."""
    found = -math.inf
    for ones in range(size + 1):
        for more in {0, other - size}:
            if not 0 <= ones + more <= other:
                continue
            at = np.concatenate([np.linspace(0, 1, 997), [ones / size, (ones + more) / other]])
            ratio = (
                math.log(size / other)
                - epsilon * size * np.abs(at - ones / size)
                + epsilon * other * np.abs(at - (ones + more) / other)
            )
            atoms = epsilon * more, epsilon * (other - ones - more - size + ones)
            found = max(found, ratio.max(), *atoms)
    return found


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_secret_sizes_cost_what_a_search_over_all_outputs_finds(epsilon):
    """It is called exact: at a large epsilon the atoms at 0 and 1 decide, which have a direction each."""
    sizes = [((6, 5), (14, 15)), ((5, 6), (15, 14)), ((6, 7), (14, 13)), ((7, 6), (13, 14))]
    expected = max(sum(brute(*each, epsilon) for each in pair) for pair in sizes)

    assert secret_sizes(6, 14, epsilon) == pytest.approx(expected, abs=1e-9)


def test_secret_sizes_cost_more_than_theorem_8_says():
    """Theorem 8 would cover this if it were at most epsilon 0 + epsilon 1."""
    assert secret_sizes(6, 14, 0.5) > 1
    assert secret_sizes(30, 70, 0.5) == pytest.approx(1.0172348850, abs=1e-9)
    assert secret_sizes(300, 700, 0.5) == pytest.approx(1.0016722346, abs=1e-9)


def test_what_is_proved_agrees_and_what_is_misprinted_differs(few):
    """These verdicts are facts: no run changes them."""
    records = theory_checks.bound_trials().run(None)
    evidence = Evidence({}, None, {theory_checks.BOUNDS: records})
    rows = {row.id: row for row in judge_claims(THEORY, evidence)}
    agrees = {name for name, row in rows.items() if row.verdict == "agrees"}
    differs = {name for name, row in rows.items() if row.verdict == "contradicted"}

    assert agrees == {
        "proposition-6", "theorem-7", "theorem-8-privacy", "theorem-8-fairness", "theorem-8-utility",
        "small-gap", "proposition-9-fairness", "proposition-9-utility",
    }  # fmt: skip
    assert differs == {"decoupled", "theorem-8-attribute", "guaranteed"}
    assert {name for name, row in rows.items() if row.verdict == "slip"} == {
        "algorithm-2-rates", "algorithm-2-noise", "theorem-8-printed", "theorem-8-utility-printed",
    }  # fmt: skip
    assert len(every_case(evidence)) == sum(len(theory_checks.cases(number)) for number in records)


def test_a_bound_that_fails_in_the_simulations_is_seen(few, monkeypatch):
    """The check must be able to say no."""
    monkeypatch.setattr(theory_checks, "bound", lambda *_, **__: 0.001)
    monkeypatch.setattr(theory_checks, "expected_bound", lambda *_: 0.0001)
    evidence = Evidence({}, None, {theory_checks.BOUNDS: theory_checks.bound_trials().run(None)})
    rows = {row.id: row.verdict for row in judge_claims(THEORY, evidence)}

    assert rows["theorem-8-fairness"] == rows["theorem-8-utility"] == "contradicted"
    assert rows["proposition-9-fairness"] == rows["proposition-9-utility"] == "contradicted"


def test_without_simulations_the_claims_that_need_them_say_so():
    """Nothing is claimed of what was not run."""
    rows = judge_claims(THEORY, Evidence({}))

    assert sum(row.why == "Not run: bounds." for row in rows) == 7


def test_a_stopped_run_has_no_verdict_on_the_sizes_it_did_not_reach(few):
    """The smallest tables alone say nothing about those of the thesis."""
    evidence = Evidence({}, None, {theory_checks.BOUNDS: {0: theory_checks.bound_trials().compute(0)}})
    rows = {row.id: row for row in judge_claims(THEORY, evidence)}

    assert rows["algorithm-2-rates"].why == "Not run: the sizes of the tables."
    assert rows["theorem-8-fairness"].verdict == "agrees"


def test_the_table_has_measured_beside_bound(few):
    """Five rows for each case, those that are as printed with the verdict that they deserve."""
    record = theory_checks.bound_trials().compute(1)
    found = build_tables(Evidence({}, None, {theory_checks.BOUNDS: {1: record}}))[theory_checks.BOUNDS]
    wrong = {
        note
        for note, verdict in zip(found["note"], found["verdict"], strict=True)
        if verdict == "contradicted"
    }

    assert len(found["ours"]) == 5 * len(record["cases"])
    assert wrong == {"bound: Theorem 8, as printed", "bound: rates as printed"}
    assert "sp_gap, 95 % quantile" in found["measure"]


def test_two_private_trainings_protect_the_group_and_two_exact_ones_do_not():
    """The check must be able to agree: without noise a record that changes its group is seen."""
    noisy = theory_checks.decoupled(Evidence({}), each=1.0)
    with np.errstate(all="ignore"):
        exact = theory_checks.decoupled(Evidence({}), each=1e308)

    assert (noisy.verdict, noisy.values["within"], noisy.values["across"]) == ("contradicted", 1.0, 2.0)
    assert exact.verdict == "agrees"


def test_the_rates_cost_the_larger_of_both_epsilons_where_sizes_are_public(monkeypatch):
    """And the check sees noise that is too small."""
    found = theory_checks.rates_cost(Evidence({}))
    right = theory_checks._coordinate
    monkeypatch.setattr(theory_checks, "_coordinate", lambda *given: 3 * right(*given))

    assert (found.verdict, found.values["told"][0]) == ("agrees", "Adult 0.050 instead of 0.1")
    assert theory_checks.rates_cost(Evidence({})).verdict == "contradicted"
