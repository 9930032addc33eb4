"""Tables 5.1 to 5.4 of ghoukasian2024: rows, splits, matched points, and what is claimed of them."""

from types import SimpleNamespace

import numpy as np
import pytest

from evenhand.measure.repeat_means import Estimated
from evenhand.papers.claims import Checked, Evidence
from evenhand.papers.ghoukasian2024_local import PAPER, checks, projection
from evenhand.papers.ghoukasian2024_local.checks import ahead, ratios
from evenhand.papers.ghoukasian2024_local.plans import MECHANISMS
from evenhand.papers.ghoukasian2024_local.projection import (
    DIVERGENCES,
    EPSILONS,
    KINDS,
    SETS,
    Rows,
    run_trial,
)
from evenhand.papers.ghoukasian2024_local.tables import TABLES, Printed, Row, compare_table
from evenhand.papers.trials import estimate_mean
from unit.papers._made_up_local import PRINTED, WRONG, printed_records, projection_records

AGAINST = [claim for claim in PAPER.claims if set(claim.needs) & set(SETS)]

COMPAS, ADULT = SETS


def evidence(*, make=projection_records, **options):
    """Return made-up trials of both data sets."""
    plain = {epsilon: {"test": {"sp": 0.22}} for epsilon in EPSILONS}
    records = {name: make(name, **options) for name in SETS}
    return Evidence({}, None, {**records, projection.GRR_TRIALS: {0: plain}})


def judged(**options):
    """Return the verdict of every claim."""
    given = evidence(**options)
    return {claim.id: claim.judge(given).verdict for claim in AGAINST}


# --- tables ---------------------------------------------------------------------------------------


def test_the_printed_numbers_are_the_thesis_s():
    """A number that was typed wrong would be blamed on the thesis."""
    sums = {
        table: (round(sum(each.acc for each in lines), 4), round(sum(each.gap for each in lines), 4))
        for table, (_, _, lines) in TABLES.items()
    }

    assert [len(lines) for _, _, lines in TABLES.values()] == [10, 10, 8, 8]
    assert sums == {
        "table-5.1": (6.7975, 2.3638), "table-5.2": (6.7959, 1.8278),
        "table-5.3": (6.8875, 0.8829), "table-5.4": (6.8876, 0.4716),
    }  # fmt: skip


def test_a_printed_zero_counts_among_the_numbers_that_are_off(monkeypatch):
    """If this is false, the number that is furthest off may not be told."""
    off = Checked("contradicted", ours=Estimated(0.3), paper_value=0.0)
    row = Row(Printed("opt", "1", 0.5, 0.0), "sp", off)
    monkeypatch.setattr(checks, "compare_table", lambda *_: [row])
    found = checks.numbers(Evidence({}, trials={COMPAS: {}}), "table-5.1", COMPAS, ["opt"])

    assert found.values["worst"] == 0.3


def test_every_number_is_set_beside_ours():
    """A projection's gap is what it was matched by, so only its accuracy is judged."""
    rows = compare_table("table-5.1", printed_records(COMPAS))

    assert len(rows) == 2 * 4 + 6
    assert all(row.checked.verdict == "agrees" for row in rows)
    assert all(row.checked.paper_value is not None for row in rows)
    assert [row.measure for row in rows if row.printed.method == "kl"] == ["acc"] * 3


def test_a_single_split_leaves_numbers_open_but_shows_them():
    """Without a standard error there is no verdict."""
    rows = compare_table("table-5.3", projection_records(ADULT, splits=1))

    assert {row.checked.verdict for row in rows} == {"cannot be checked"}
    assert all(row.checked.paper_value is not None for row in rows)


@pytest.mark.parametrize(("splits", "verdict"), [(10, "contradicted"), (4, "cannot be checked")])
def test_a_printed_gap_that_our_curve_does_not_reach_is_not_compared(splits, verdict):
    """An accuracy at another gap than the printed one was compared as if it were at the same."""
    records = printed_records(COMPAS, splits=splits)
    for record in records.values():
        curve = record["projection"]["sp"]["kl"]
        curve["test_sp"] = [min(gap, 0.24) for gap in curve["test_sp"]]
    rows = [row for row in compare_table("table-5.1", records) if row.printed.method == "kl"]

    assert [row.printed.gap for row in rows] == [0.2201, 0.2345, 0.2486]
    assert [row.checked.verdict for row in rows] == ["agrees", "agrees", verdict]
    assert "does not reach" in rows[2].checked.why
    assert rows[2].checked.ours is None


# --- claims ---------------------------------------------------------------------------------------


def test_every_claim_agrees_in_a_world_as_the_thesis_tells_it():
    """A check that says "contradicted" here would blame the thesis for our mistake."""
    found = judged(make=printed_records, slow=10.0)

    assert found == dict.fromkeys(found, "agrees")
    assert len(found) == 12 + 9


def test_the_tables_cannot_be_told_from_no_intervention_with_the_spread_of_real_splits():
    """The unprotected numbers would pass, so agreeing says nothing."""
    found = judged(spread=0.01)

    for table in TABLES:
        assert found[f"{table}-projection"] == "cannot tell apart"
    assert found["table-5.4-opt"] == "cannot tell apart"


@pytest.mark.parametrize(
    ("spread", "gap", "verdict"),
    [
        (0.0, 0.22, "agrees"),
        (0.02, 0.223, "agrees"),
        (0.02, 0.2255, "not shown"),
        (0.0, 0.23, "contradicted"),
    ],
)
def test_more_than_is_judged_by_the_mean_and_by_what_is_clear(spread, gap, verdict):
    """A mean above the limit agrees; one below it is contradicted only if that is clear."""
    given = evidence()
    for number, record in given.trials[COMPAS].items():
        record["none"]["test"]["sp"] = 0.2553
        record["opt"]["0.2"]["test"]["sp"] = gap + spread * (-1) ** number
    row = next(claim for claim in AGAINST if claim.id == "improves-sp").judge(given)

    assert row.verdict == verdict
    assert f"{0.2553 - gap:.4f}" in row.why


def test_a_gap_that_does_not_grow_with_epsilon_is_seen():
    """OPT's reports hardly change with epsilon, so a gap that does is another mechanism's."""
    given = evidence(make=printed_records)
    claim = next(claim for claim in AGAINST if claim.id == "table-5.1-grows")
    before = claim.judge(given)
    for number, record in given.trials[COMPAS].items():
        for epsilon in EPSILONS:
            record["opt"][epsilon]["test"]["sp"] = 0.2246 + 0.0001 * number

    assert (before.verdict, claim.judge(given).verdict) == ("agrees", "contradicted")


def test_every_claim_differs_in_a_world_the_other_way_round():
    """A check that agrees whatever happens is no check."""
    found = judged(table=WRONG, ahead=-0.05, slow=0.01)

    assert found == dict.fromkeys(found, "contradicted")


def test_few_splits_leave_open_what_is_not_clear():
    """Two splits that show nothing refute nothing."""
    given = {COMPAS: projection_records(COMPAS, splits=2, ahead=0.0)}
    for record in given[COMPAS].values():
        for epsilon in EPSILONS:
            record["opt"][epsilon]["test"]["acc"] += 0.01 if record is given[COMPAS][0] else -0.01
    found = {claim.id: claim.judge(Evidence({}, None, given)).verdict for claim in AGAINST}

    assert found["better-sp"] == "not shown"
    assert found["runtime"] == "cannot be checked"


# --- matching -------------------------------------------------------------------------------------


def test_a_point_is_matched_on_the_mean_test_gap():
    """The curve's gap is its tolerance, so the matched tolerance is the target less the splits' mean."""
    records = projection_records(COMPAS, spread=0.002)
    jitter = projection.of_none(records, "acc").mean() - PRINTED[COMPAS]["none"][0]
    point = projection.matched_on_test(records, "sp", "kl", 0.2)

    assert point.gap.mean() == pytest.approx(0.2, abs=1e-12)
    assert point.tolerance == pytest.approx(np.full(10, 0.2 - jitter), abs=1e-12)
    assert point.gap.std() > 0


@pytest.mark.parametrize(("target", "tolerance"), [(0.9, 0.2553), (-0.1, 0.0)])
def test_a_target_beyond_the_curve_takes_its_end(target, tolerance):
    """There is nothing further to extrapolate to."""
    point = projection.matched_on_test(projection_records(COMPAS), "sp", "kl", target)

    assert point.tolerance == pytest.approx(np.full(10, tolerance))


def test_the_last_crossing_counts_where_a_curve_is_not_monotone():
    """Mean equalised odds dips; the lightest intervention that has the gap is taken."""
    left, part = projection._crossing(np.array([0.0, 0.3, 0.1, 0.3]), 0.2)

    assert (left, part) == (2, pytest.approx(0.5))


def test_a_point_is_chosen_on_training_rows_without_looking_at_test_rows():
    """Other test gaps must not move it."""
    records = projection_records(COMPAS)
    before = projection.matched_on_training(records, "sp", "ce", "1")
    for record in records.values():
        curve = record["projection"]["sp"]["ce"]
        curve["test_sp"] = [9.0 for _ in curve["test_sp"]]
    after = projection.matched_on_training(records, "sp", "ce", "1")

    assert after.tolerance == pytest.approx(before.tolerance)
    assert (after.gap == 9.0).all()
    gaps = [record["opt"]["1"]["train"]["sp"] for record in records.values()]
    assert (np.array(gaps) - before.gap >= -1e-12).all()
    assert (np.array(gaps) - before.gap < 0.2553 / 40).all()


def test_no_training_gap_small_enough_takes_the_smallest():
    """Some curves end above the target."""
    records = projection_records(COMPAS)
    for record in records.values():
        record["opt"]["1"]["train"]["sp"] = -1.0

    assert projection.matched_on_training(records, "sp", "kl", "1").tolerance == pytest.approx(np.zeros(10))


def test_comparisons_are_pair_by_pair():
    """A shift of a split is in both and cancels."""
    found = ahead(projection_records(COMPAS, ahead=0.004, spread=0.02), "sp")

    assert len(found) == len(EPSILONS) * len(DIVERGENCES)
    assert all(each.value == pytest.approx(0.004, abs=6e-4) for each in found)
    assert all(each.standard_error < 2e-3 for each in found)
    assert all(np.exp(each.value) == pytest.approx(10) for each in ratios(projection_records(COMPAS)))


def test_one_split_has_no_interval():
    """One number has no spread."""
    assert estimate_mean(np.array([0.5])).low is None


# --- splits ---------------------------------------------------------------------------------------


def test_designs_have_their_splits():
    """Ten, as in the thesis, and a few for a look."""
    assert [each.number for each in PAPER.trials("quick")] == [5, 3, 1, 3]
    assert [each.number for each in PAPER.trials("full")] == [5, 10, 10, 10]
    assert [each.name for each in PAPER.trials("reduced")] == [
        MECHANISMS,
        COMPAS,
        ADULT,
        projection.GRR_TRIALS,
    ]


@pytest.fixture(name="people")
def _people(monkeypatch):
    """Return made-up rows in the place of COMPAS; the group matters for the outcome."""
    draws = np.random.default_rng(3)
    race = draws.integers(0, 2, 300)
    score = draws.normal(0, 1, 300)
    labels = (score + 0.8 * race + draws.normal(0, 0.7, 300) > 0.4).astype(np.int64)
    found = Rows(np.column_stack([score, race.astype(float)]), labels, race, 1)
    monkeypatch.setattr(projection, "load_rows", lambda _: found)
    monkeypatch.setattr(projection, "_DENSE", 4)
    monkeypatch.setattr(projection, "_SPARSE", 2)
    return found


def test_a_split_s_record_has_all_that_tables_need(people):
    """Non-fair, OPT at three epsilons, four curves; the same number gives the same record."""
    first, again = (run_trial(COMPAS, 0) for _ in range(2))

    assert set(first["opt"]) == set(EPSILONS)
    assert {kind: set(first["projection"][kind]) for kind in first["projection"]} == {
        kind: set(DIVERGENCES) for kind in KINDS
    }
    assert _numbers(first) == _numbers(again)
    curve = first["projection"]["sp"]["kl"]
    assert len(curve["tolerance"]) == 6
    assert curve["train_sp"][0] < first["none"]["train"]["sp"] - 0.05
    assert projection.matched_on_test({0: first}, "sp", "kl", 0.1).acc.shape == (1,)
    assert people.features[:, 1].tolist() == people.race.tolist()


def _numbers(record):
    """Return a record without its times."""
    if isinstance(record, dict):
        return {key: _numbers(value) for key, value in record.items() if key != "seconds"}
    return record


def test_scores_are_returned_as_given():
    """Fair Projection asks its estimator again at every tolerance; the model need not be."""
    scores = np.array([[0.2, 0.8]])
    made = projection._ScoresAsGiven()

    assert made.fit(scores).predict_proba(scores) is scores


def test_gaps_are_between_the_true_groups(people):
    """A slow copy: each rate by a loop."""
    where = np.arange(50, 250)
    decided = people.features[where, 0] > 0.2
    rates = {}
    for among, keep in (
        ("sp", lambda _: True),
        ("tpr", lambda label: label),
        ("fpr", lambda label: not label),
    ):
        for group in (0, 1):
            chosen = [
                bool(decided[place])
                for place, row in enumerate(where)
                if people.race[row] == group and keep(people.labels[row] == 1)
            ]
            rates[among, group] = sum(chosen) / len(chosen)
    gap = {among: abs(rates[among, 1] - rates[among, 0]) for among in ("sp", "tpr", "fpr")}
    found = projection._measure_decisions(decided, people, where)

    assert found["sp"] == pytest.approx(gap["sp"])
    assert found["meo"] == pytest.approx((gap["tpr"] + gap["fpr"]) / 2)
    assert found["acc"] == pytest.approx(np.mean(decided == (people.labels[where] == 1)))


def test_rows_are_numbers_with_race_among_them(monkeypatch):
    """Two values become 0 and 1, more become indicators, ordered ones stay in order."""
    import pyarrow as pa

    from evenhand.schema import Column, Domain, Schema

    schema = Schema(
        (
            Column("age", Domain.integers(18, 30)),
            Column("job", Domain.categorical(["a", "b", "c"])),
            Column("race", Domain.categorical(["black", "white"])),
            Column("y", Domain.categorical(["no", "yes"])),
        ),
        sensitive=("race",), protected="race", privileged="white", target="y", positive="yes",
    )  # fmt: skip
    frame = pa.table({"age": [18, 30], "job": ["b", "c"], "race": ["white", "black"], "y": ["yes", "no"]})
    monkeypatch.setattr(
        "evenhand.datasets.load", lambda *_, **__: SimpleNamespace(frame=frame, schema=schema)
    )
    found = projection.load_rows.__wrapped__(COMPAS)

    assert found.features.tolist() == [[0, 0, 1, 0, 1], [12, 0, 0, 1, 0]]
    assert (found.labels.tolist(), found.race.tolist(), found.place) == ([1, 0], [1, 0], 4)
    assert found.with_race(np.array([0, 0]))[:, 4].tolist() == [0, 0]
    assert found.features[0, 4] == 1
