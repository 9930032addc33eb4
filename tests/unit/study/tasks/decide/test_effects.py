"""Effects of decisions beside laws that are summed up by hand: bills, worst releases, sizes, older cells."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evenhand.answer.choice import choose_remedy, list_steps
from evenhand.answer.harm import find_payers
from evenhand.answer.status import judge
from evenhand.study.results.results import Results
from evenhand.study.store.canonical import outcome_from, pack, result_of, result_text, unpack
from evenhand.study.tasks.decide import effects as decide_effects
from evenhand.study.tasks.decide.task import ENTITY_SIZES, entity_size_of
from unit.study import _decide_studies as decide

ALPHA = 1e-9

SMALL = {
    "town": ["Ash", "Bay", "Cove"],
    "poor": [1, 4, 90],
    "cost": [1.0, 2.0, 1.0],
}
"""Three towns, two of which noise of scale 2 often counts as fewer than nobody."""


def _law(scale, reach):
    values = np.arange(-reach, reach + 1)
    weights = np.exp(-np.abs(values) / scale)
    return values, weights / weights.sum()


def _frame(results):
    return results.effects(backend="pandas")


def _row(frame, **where):
    for name, value in where.items():
        frame = frame[frame[name] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def _small_study(**parts):
    return decide.study(decide.money_task(groups=[], epsilons=[1], **parts), frame=SMALL)


def _many(places=700, seed=3):
    """Return a table of many places of all sizes."""
    rng = np.random.default_rng(seed)
    poor = np.exp(rng.uniform(0, 9, places)).astype(int)
    return {
        "town": [f"Place {at}" for at in range(places)],
        "poor": poor.tolist(),
        "people": (poor * rng.integers(3, 9, places)).tolist(),
        "cost": rng.choice([1.0, 1.5, 2.0], places).tolist(),
    }


def _older(results):
    """Return results as a folder of an earlier version has them."""
    outcomes = []
    for outcome in results.outcomes:
        plain = json.loads(result_text(outcome))
        for part in ("names", "columns"):
            plain.pop(part, None)
        new = ("billed_", "worst_", "gain_error_")
        plain["data"] = {name: value for name, value in plain["data"].items() if not name.startswith(new)}
        for _, numbers in plain["groups"]:
            numbers.pop("worst", None)
        outcomes.append(outcome_from(outcome.cell, result=json.dumps(plain), seconds="{}"))
    return Results(results.plan, results.facts, outcomes)


# --- bills ----------------------------------------------------------------------------------------


def test_the_chance_of_a_bill_is_that_of_the_law():
    """If not, a release that asks places for money back would pass for usable."""
    effects = _frame(_small_study())
    noise, weights = _law(2.0, 300)  # one person who is replaced changes two counts
    chances = [float(weights[count + noise < 0].sum()) for count in SMALL["poor"]]

    for town, chance in zip(SMALL["town"], chances, strict=True):
        row = _row(effects, group=town, effect="billed")
        assert row["after"] == pytest.approx(100 * chance, rel=1e-6, abs=1e-12)
        assert row["basis"] == "exact"
    anybody = _row(effects, group="", effect="billed")
    assert anybody["after"] == pytest.approx(100 * (1 - math.prod(1 - chance for chance in chances)))


def test_a_clamped_release_bills_nobody():
    """If it were said to, the usable release would be refused."""
    results = _small_study(post=["nonnegative"])
    table = results.plan.task.effects(results)
    clamped, plain = (
        next(
            option.name
            for option in table.options
            if ("nonnegative" in option.name) == is_clamped and option.reference
        )
        for is_clamped in (True, False)
    )

    assert table.by_key[clamped, "", "billed"].mean_after == 0
    assert table.by_key[clamped, "", "billed"].basis == "exact"
    assert table.by_key[plain, "", "billed"].mean_after > 1


def test_money_below_zero_stops_the_page():
    """If not, a page would recommend what nobody can pay out."""
    results = _small_study()

    assert find_payers(results.plan.task.effects(results)).trouble == ("below zero",)


def test_a_bill_that_is_drawn_has_its_error():
    """If not, a chance from few draws would pass for exact."""
    results = _small_study(mitigations=["fairness-payment"])
    row = _row(_frame(results), setting="Laplace noise, fairness-payment, ε = 1", group="", effect="billed")

    assert row["basis"].startswith("draws")
    assert row["low"] < row["after"] < row["high"]


# --- the worst of 20 releases -----------------------------------------------------------------------


def _paid_by_enumeration():
    """Return every payment of three towns and its probability, by going through all noise."""
    noise, weights = _law(2.0, 40)
    counts = np.array(np.meshgrid(*(count + noise for count in SMALL["poor"]), indexing="ij"))
    chance = np.einsum("i,j,k->ijk", weights, weights, weights)
    claims = counts * np.array(SMALL["cost"]).reshape(-1, 1, 1, 1)
    total = claims.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        paid = 1e6 * claims / total
    assert chance[total <= 0].sum() < 1e-9
    return paid, chance


@pytest.mark.parametrize("place", range(3))
def test_the_worst_of_20_releases_is_the_quantile_of_the_law(place):
    """If not, a place would be told a wrong bad year."""
    paid, chance = _paid_by_enumeration()
    worst = _row(_frame(_small_study()), group=SMALL["town"][place], effect="short")["worst"]
    near = abs(worst) * 1e-6 + 1e-6  # it is stored in four bytes
    low, high = stats.beta.ppf([ALPHA, 1 - ALPHA], 100, 1_901)  # the 100th of 2,000 draws

    assert chance[paid[place] <= worst + near].sum() > low
    assert chance[paid[place] < worst - near].sum() < high


def test_the_median_is_not_the_worst_of_20():
    """The twin that must fail."""
    paid, chance = _paid_by_enumeration()
    order = np.argsort(paid[2], axis=None)
    median = paid[2].ravel()[order][np.searchsorted(chance.ravel()[order].cumsum(), 0.5)]

    assert chance[paid[2] < median].sum() > stats.beta.ppf(1 - ALPHA, 100, 1_901)


def test_the_worst_release_of_a_group_nets_its_places():
    """If sums of the worst of each place were told, a group would seem to lose in all places at once."""
    results = decide.study(decide.money_task(epsilons=[1]))
    effects = _frame(results)
    entities = effects[effects["group"].isin(decide.PLACES["town"]) & (effects["effect"] == "short")]
    groups = [_row(effects, group=group, effect="short") for group in ("young", "old")]

    assert sum(row["worst"] for row in groups) > entities["worst"].sum()
    for row in groups:
        assert row["worst"] < row["after"]


# --- sizes, and one by one ----------------------------------------------------------------------------


@pytest.fixture(scope="module", name="many")
def _many_fixture():
    frame = _many()
    return frame, decide.study(decide.money_task(groups=[], epsilons=[1]), frame=frame)


def test_many_places_are_told_by_size_and_one_by_one(many):
    """If only the most affected were summed, classes of sizes would be made of them alone."""
    frame, results = many
    shares = pd.DataFrame(frame).assign(claim=lambda each: each["poor"] * each["cost"])
    shares["due"] = 1e6 * shares["claim"] / shares["claim"].sum()
    shares["label"] = [ENTITY_SIZES[at].label for at in entity_size_of(shares["poor"].to_numpy())]
    effects = _frame(results)

    for label, due in shares.groupby("label")["due"].sum().items():
        assert _row(effects, group=label, effect="short")["due"] == pytest.approx(due)
    own = effects[(effects["effect"] == "short") & effects["group"].isin(frame["town"])]
    assert own.set_index("group")["due"].to_dict() == pytest.approx(shares.set_index("town")["due"].to_dict())
    assert _row(effects, group="", effect="in_all")["due"] == pytest.approx(1e6)


def test_rights_of_many_places_are_told_by_size():
    """If not, a study of 3,000 counties without groups would name nobody."""
    frame = _many()
    results = decide.study(decide.rule_task(rule="poor >= 20", groups=[], epsilons=[1]), frame=frame)
    noise, weights = _law(2.0, 300)
    places = pd.DataFrame(frame)
    places["refused"] = [
        count * weights[count + noise < 20].sum() if count >= 20 else 0.0 for count in places["poor"]
    ]
    places["holding"] = places["poor"].where(places["poor"] >= 20, 0)
    places["label"] = [ENTITY_SIZES[at].label for at in entity_size_of(places["poor"].to_numpy())]
    effects = _frame(results)

    for label, part in places.groupby("label")[["refused", "holding"]].sum().iterrows():
        if part["holding"]:
            row = _row(effects, group=label, effect="refused")
            assert row["after"] == pytest.approx(1000 * part["refused"] / part["holding"], abs=1e-6)


@pytest.mark.figures
@pytest.mark.parametrize("task", [
    decide.money_task(groups=[], epsilons=[0.2, 1], mitigations=["linear-proxy"]),
    decide.money_task(groups=[], epsilons=[0.01, 0.02], post=["nonnegative"], mitigations=["linear-proxy"]),
    decide.money_task(groups=[], epsilons=[1, 8], post=["nonnegative"], mitigations=["linear-proxy"]),
    decide.rule_task(rule="poor >= 20", groups=[], epsilons=[0.2, 1], mitigations=["shrink"]),
])  # fmt: skip
def test_answers_of_very_many_places_are_those_of_all_their_rows(task, monkeypatch):
    """If not, to leave out rows of places would change who pays or what to do."""
    results = decide.study(task, frame=_many(120))
    whole = task.effects(results)
    monkeypatch.setattr(decide_effects, "_MOST_ROWS", 0)
    monkeypatch.setattr(decide_effects, "_WORST_OFF", 4)
    short = task.effects(results)
    assert len(short.observations) < len(whole.observations) / 2

    said = []
    for table in (whole, short):
        rows = judge(table)
        verdict = find_payers(table, rows)
        choice = choose_remedy(table, verdict)
        worst = verdict.worst.bound if verdict.state == "nobody" else None
        said.append(
            (
                verdict.state, verdict.trouble, [each.row.group for each in verdict.payers[:3]], worst,
                [(trial.option, trial.tag, trial.failed, trial.left) for trial in choice.trials],
                list_steps(table, rows),
            )
        )  # fmt: skip
    assert said[0] == said[1]


def test_places_of_one_name_and_of_a_group_s_name_stay_apart():
    """If not, two places would be told as one, or a table could not be made."""
    frame = {**decide.PLACES, "town": ["Ash", "Ash", "young", "Dale", "Elm"]}
    effects = _frame(decide.study(decide.money_task(epsilons=[1]), frame=frame))
    named = set(effects[effects["effect"] == "short"]["group"])

    assert named == {"young", "old", "Ash (row 1)", "Ash (row 2)", "young (row 3)", "Dale", "Elm"}


def test_sampled_decisions_carry_their_error():
    """If not, draws would pass for exact figures."""
    task = decide.rule_task(epsilons=[1], mitigations=[{"name": "sum-constraint", "total": 15_090}])
    effects = _frame(decide.study(task))
    drawn = effects[effects["setting"].str.contains("sum-constraint") & (effects["effect"] == "refused")]

    assert {"young", "old", "Ash"} <= set(drawn["group"])
    assert drawn["basis"].str.startswith("draws").all()
    assert (drawn["low"] < drawn["after"]).all()
    assert np.isfinite(drawn["low"]).all()


# --- older cells ------------------------------------------------------------------------------------


def test_older_cells_say_not_stored_and_recommend_nothing_for_money():
    """If not, a remedy would be recommended that may pay below zero."""
    task = decide.money_task(
        epsilons=[0.01], post=["nonnegative"], mitigations=["linear-proxy", "fairness-payment"]
    )
    results = decide.study(task)
    older = _older(results)
    table = task.effects(older)
    verdict = find_payers(table)
    bills = _frame(older).query("effect == 'billed'")

    assert set(bills["status"]) == {"not stored"}
    assert verdict.payers  # so that there is something to lessen
    assert verdict.state != "nobody"
    assert choose_remedy(table, verdict).trials == ()
    assert choose_remedy(task.effects(results), find_payers(task.effects(results))).trials
    assert _frame(older)["worst"].isna().all()


def test_older_sampled_sums_are_open():
    """If not, figures of unknown error would be called clear."""
    task = decide.rule_task(epsilons=[1], mitigations=[{"name": "sum-constraint", "total": 15_090}])
    results = decide.study(task)
    outcomes = [
        replace(
            outcome,
            names=(),
            columns={},
            groups={
                label: {name: value for name, value in numbers.items() if not name.endswith("_error")}
                for label, numbers in outcome.groups.items()
            },
        )
        for outcome in results.outcomes
    ]
    effects = _frame(Results(results.plan, results.facts, outcomes))
    row = _row(
        effects, setting="Laplace noise, total=15090, sum-constraint, ε = 1", group="young", effect="refused"
    )

    assert row["status"] == "open"


@pytest.mark.parametrize(("task", "unit"), [(decide.money_task, "dollars"), (decide.rule_task, "people")])
def test_what_is_given_in_all_has_the_unit_of_what_is_given(task, unit):
    """If not, a budget of a million would be read as a million people."""
    effects = _frame(decide.study(task(epsilons=[1])))

    assert set(effects.query("effect == 'in_all'")["unit"]) == {unit}


# --- packed ---------------------------------------------------------------------------------------


def test_packed_columns_come_back_to_the_last_bit():
    """If not, what is read from a folder would not be what was computed."""
    values = np.array([0.1, -1e-300, math.pi])

    assert unpack(pack(values)).tolist() == values.tolist()
    results = _small_study()
    for outcome in results.outcomes:
        again = outcome_from(outcome.cell, result=result_text(outcome), seconds="{}")
        assert (again.names, again.columns) == (outcome.names, outcome.columns)


@pytest.mark.parametrize("columns", [["bias"], {"bias": 1.0}, "bias"])
def test_columns_of_another_form_are_damage(columns):
    """If not, a damaged folder would fail somewhere else, without a word of it."""
    outcome = _small_study().outcomes[1]
    text = json.dumps({**result_of(outcome), "columns": columns})

    with pytest.raises(ValueError, match="not the result"):
        outcome_from(outcome.cell, result=text, seconds="{}")


@pytest.mark.parametrize("text", ["", "<f8 !", "<f8 AAA=", "<i8 AAAAAAAAAAA="])
def test_a_text_without_numbers_is_refused(text):
    """If not, other bytes would be read as numbers."""
    with pytest.raises(ValueError, match=r"."):
        unpack(text)
