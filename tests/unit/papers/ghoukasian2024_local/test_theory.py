"""ghoukasian2024, chapter 5: theorems, counter-examples, and the data unfairness of reports."""

from types import SimpleNamespace

import numpy as np
import pytest

from evenhand.collect.fairest.population import printed_channel
from evenhand.measure import data_unfairness
from evenhand.papers.claims import Evidence
from evenhand.papers.ghoukasian2024_local import PAPER
from evenhand.papers.ghoukasian2024_local import theory_checks as theory
from evenhand.papers.ghoukasian2024_local.plans import (
    BUDGETED,
    DATA,
    EPSILONS,
    GRR,
    MECHANISMS,
    OPT,
    SS,
    Population,
    experiment_record,
    mechanism_trials,
    support,
    unfairness,
)
from unit.papers._made_up_local import mechanism_records

CLAIMS = {claim.id: claim for claim in PAPER.claims if set(claim.needs) <= {"mechanisms"}}
ALONE = {
    "omega": "contradicted", "ss-binary": "agrees", "lemma-16": "agrees", "lemma-13": "agrees",
    "coin": "agrees", "theorem-14-truthful": "agrees", "theorem-14": "contradicted",
    "theorem-14-utility": "contradicted",
    "coin-remains": "agrees", "extends": "contradicted", "reduction": "agrees", "branch-and-bound": "agrees",
    "grr-ss-best": "cannot be checked",
}  # fmt: skip


@pytest.mark.parametrize(("claim", "verdict"), ALONE.items())
def test_what_needs_no_data_has_its_verdict(claim, verdict):
    """These are proofs and counter-examples, so they cannot change."""
    row = CLAIMS[claim].judge(Evidence({}))

    assert row.verdict == verdict
    assert row.why.endswith(".")


def test_the_counter_examples_are_those_of_the_formula_sheet():
    """0.2754 of the unfairness against 0.1651, by a mechanism whose reports tell next to nothing."""
    stated, utility = (
        CLAIMS[claim].judge(Evidence({})).why for claim in ("theorem-14", "theorem-14-utility")
    )

    assert "leaves 0.2754" in stated
    assert "leaves 0.1651 at the same epsilon of 1.0000" in stated
    assert "an epsilon of 1.0000" in utility
    assert "0.00" in utility.partition("tell ")[2][:7]


def test_the_checks_see_a_theorem_that_is_false(monkeypatch):
    """A check that agrees whatever a theorem says is none."""
    monkeypatch.setattr(theory, "printed_channel", lambda *_: theory.binary_mechanism(0.9, 0.8))
    found = {
        name: CLAIMS[name].judge(Evidence({})).verdict for name in ("theorem-14-truthful", "coin-remains")
    }
    monkeypatch.setattr(theory, "unfairness", _unfair)
    found |= {name: CLAIMS[name].judge(Evidence({})).verdict for name in ("lemma-13", "lemma-16", "coin")}

    assert set(found.values()) == {"contradicted"}


def test_the_check_of_the_reduction_sees_a_condition_that_is_too_weak_or_too_strong(monkeypatch):
    """With the wrong side of (5.5.7), or with half of epsilon, the two conditions are not the same."""
    right = theory.keeps_condition
    for wrong in (lambda q, ratio: right(q, ratio**2), lambda q, ratio: right(q, ratio**0.5)):
        monkeypatch.setattr(theory, "keeps_condition", wrong)

        assert CLAIMS["reduction"].judge(Evidence({})).verdict == "contradicted"


def test_the_subset_size_agrees_if_the_best_one_is_rounded_down(monkeypatch):
    """The thesis rounds down; the size of least variance is larger in three places."""
    row = CLAIMS["omega"].judge(Evidence({}))
    rounded = lambda k, epsilon: SimpleNamespace(size=max(1, int(k // (np.exp(float(epsilon)) + 1))))  # noqa: E731
    monkeypatch.setattr(theory, "protocol_named", lambda _: rounded)

    assert row.why.count("instead of") == 3
    assert "k = 10, epsilon 0.5: 3 instead of 4" in row.why
    assert CLAIMS["omega"].judge(Evidence({})).verdict == "agrees"


@pytest.mark.parametrize("error", ["minimum", 0.35])
def test_a_theorem_that_is_an_optimum_of_the_program_would_be_extended(error, monkeypatch):
    """With the smallest error, or with its own; with Theorem 14's own error the optimum is fairer."""
    weights, rates, epsilon = theory._EXAMPLE
    own = 1 - float(np.diag(printed_channel(weights, epsilon)) @ weights)
    fairest = theory.fairest_channel(weights, rates, epsilon, error=own).matrix
    row = CLAIMS["extends"].judge(Evidence({}))
    optimum = theory.fairest_channel(weights, rates, epsilon, error=error).matrix
    monkeypatch.setattr(theory, "printed_channel", lambda *_: optimum)

    assert unfairness(fairest, weights, rates).ratio == pytest.approx(0.0878, abs=5e-5)
    assert "leaves a data unfairness of 0.2048, and 0.4052 of its reports are wrong" in row.why
    assert "with as many wrong reports as the theorem has 0.0878" in row.why
    assert CLAIMS["extends"].judge(Evidence({})).verdict == "agrees"


def _unfair(matrix, weights, rates):
    """Return a data unfairness that grows with every mechanism."""
    found = unfairness(matrix, weights, rates)
    same = np.array_equal(matrix, np.eye(len(weights)))
    return type(found)(9 + found.ratio, found.difference + (0 if same else 1))


def test_theorem_14_is_tight():
    """Its largest ratio of probabilities is e^epsilon, for either group being the smaller one."""
    for weights in ((0.7, 0.3), (0.3, 0.7), (0.5, 0.5)):
        for epsilon in (0.05, 1.0, 4.0):
            matrix = printed_channel(weights, epsilon)
            ratio = max(matrix[0, z] / matrix[1, z] for z in (0, 1))
            other = max(matrix[1, z] / matrix[0, z] for z in (0, 1))

            assert max(ratio, other) == pytest.approx(np.exp(epsilon))


def test_theorem_14_on_the_formula_sheet_s_example():
    """Δ' falls from 0.4 to 0.1101577326 at epsilon 1."""
    found = unfairness(printed_channel((0.7, 0.3), 1.0), (0.7, 0.3), (0.2, 0.6))

    assert found.difference == pytest.approx(0.1101577326127, abs=1e-12)


# --- data unfairness ------------------------------------------------------------------------------


def test_data_unfairness_is_that_of_people():
    """A slow copy: everybody is written down, and the package's own measure is asked."""
    people, positive = [40, 25, 35], [30, 10, 7]
    group = np.repeat([0, 1, 2], people)
    label = np.concatenate([np.arange(n) < good for n, good in zip(people, positive, strict=True)])
    counts = Population(("a", "b", "c"), tuple(people), tuple(positive))
    found = unfairness(np.eye(3), counts.weights, counts.rates)

    assert found.ratio == pytest.approx(data_unfairness(label.astype(int), group))
    assert found.difference == pytest.approx(data_unfairness(label.astype(int), group, kind="difference"))
    assert np.dot(counts.weights, counts.rates) == pytest.approx(0.47)


def test_a_value_that_nobody_reports_is_no_group():
    """A column of zeros has no rate, and must not make the unfairness undefined."""
    matrix = [[1.0, 0.0], [1.0, 0.0]]

    assert unfairness(matrix, (0.4, 0.6), (0.2, 0.5)).difference == 0


def test_supports_of_grr_and_ss():
    """GRR errs as often as its formula says; an SS report of several values is neither right nor wrong."""
    matrix, error = support(GRR, 5, "1")
    assert error == pytest.approx(4 / (np.e + 4))
    assert matrix.sum(axis=1) == pytest.approx(np.ones(5))
    assert support(SS, 5, "0.05")[1] is None
    assert support(SS, 2, "0.05")[0] == pytest.approx(support(GRR, 2, "0.05")[0])


@pytest.fixture(name="made", scope="module")
def _made():
    """Return the record of five made-up groups."""
    from evenhand.papers.ghoukasian2024_local import plans as module

    people = Population(tuple("abcde"), (855, 96, 31, 10, 8), (222, 12, 8, 1, 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "population", lambda _: people)
        patch.setattr(module, "EPSILONS", ("0.5", "20"))
        yield experiment_record("adult-race")


def test_a_record_has_every_mechanism(made):
    """The error is that of the matrix, and our default errs no more often than GRR and is fairer."""
    few = {way: found["0.5"] for way, found in made["ways"].items()}

    assert set(few) == {GRR, SS, OPT, BUDGETED}
    assert few[OPT]["error"] < few[GRR]["error"]
    assert few[BUDGETED]["error"] <= few[GRR]["error"] + 1e-9
    assert few[BUDGETED]["ratio"] < few[GRR]["ratio"] / 5
    assert sum(few[OPT]["marginal"]) == pytest.approx(1)
    assert made["true"]["ratio"] == pytest.approx(unfairness(np.eye(5), made["weights"], made["rates"]).ratio)
    assert np.allclose(made["ways"][OPT]["20"]["matrix"], made["ways"][GRR]["20"]["matrix"], atol=1e-6)


def test_two_groups_have_theorem_14(monkeypatch):
    """The thesis's OPT for two groups is the printed one, not the smallest error."""
    from evenhand.papers.ghoukasian2024_local import plans as module

    monkeypatch.setattr(module, "population", lambda _: Population(("a", "b"), (30, 70), (10, 40)))
    monkeypatch.setattr(module, "EPSILONS", ("1",))
    found = experiment_record("lsac-gender")["ways"][OPT]["1"]

    assert np.allclose(found["matrix"], printed_channel((0.3, 0.7), 1.0))


def test_claims_that_read_mechanisms():
    """Fairer than GRR or not, slower or not, and why Theorem 15 says nothing."""
    good, bad = ({MECHANISMS: mechanism_records(worse=worse)} for worse in (False, True))
    names = ("smallest-error", "slower", "theorem-15")

    assert [CLAIMS[name].judge(Evidence({}, None, good)).verdict for name in names] == [
        "agrees", "agrees", "cannot be checked",
    ]  # fmt: skip
    found = {name: CLAIMS[name].judge(Evidence({}, None, bad)) for name in names}
    assert [found[name].verdict for name in names] == ["contradicted", "contradicted", "cannot be checked"]
    assert "0 have more than 1 % less and 27 have more" in found["smallest-error"].why
    assert "does not apply" in found["theorem-15"].why


def test_fairer_beyond_an_epsilon_is_fairer_at_the_largest_ones():
    """A lead at small epsilons alone is no threshold, and a lead at large ones needs none at small ones."""

    def records(led):
        found = mechanism_records(worse=False)
        for record in found.values():
            for epsilon in EPSILONS:
                times = 0.5 if epsilon in led else 1.0
                record["ways"][OPT][epsilon]["ratio"] = times * record["ways"][GRR][epsilon]["ratio"]
        return Evidence({}, None, {MECHANISMS: found})

    small, large, last = (
        CLAIMS["smallest-error"].judge(records(led)) for led in (EPSILONS[:7], EPSILONS[-2:], EPSILONS[-1:])
    )
    assert [row.verdict for row in (small, large, last)] == ["contradicted", "agrees", "contradicted"]


def test_there_is_a_trial_for_each_experiment(monkeypatch):
    """Records are known by their number, so the order is part of the format."""
    from evenhand.papers.ghoukasian2024_local import plans as module

    monkeypatch.setattr(module, "experiment_record", lambda name: {"name": name})
    found = mechanism_trials().run(None)

    assert [record["name"] for record in found.values()] == list(DATA)
    assert len(EPSILONS) == 9
