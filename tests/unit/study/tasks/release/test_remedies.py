"""What a study of a table tries beside what was asked: sums that stay, no clamp, cuts, sums apart."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from evenhand.answer.choice import choose_remedy
from evenhand.answer.harm import find_payers
from evenhand.answer.status import judge
from evenhand.privacy.ledger import Ledger
from evenhand.release import Histogram, LaplaceTotals
from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.cells import Cell
from evenhand.study.plan.plan import Plan
from evenhand.study.run.whole import run
from evenhand.study.tasks.release.task import ReleaseTask

SIZES = {"few": 3, "some": 60, "many": 900}
PLACES, AGES = 9, 3


@pytest.fixture(scope="module")
def people():
    """Three groups over 27 cells; of the first, all are in one cell and all others are empty."""
    rng = np.random.default_rng(5)
    group = np.repeat(list(SIZES), list(SIZES.values()))
    place, age = rng.integers(PLACES, size=len(group)), rng.integers(AGES, size=len(group))
    place[group == "few"] = age[group == "few"] = 0
    return pd.DataFrame({"group": group, "place": place.astype(str), "age": age.astype(str)})


@pytest.fixture(scope="module")
def schema():
    columns = {"group": list(SIZES), "place": map(str, range(PLACES)), "age": map(str, range(AGES))}
    return Schema([Column(n, Domain.categorical(list(v))) for n, v in columns.items()], protected="group")


def release_task(mechanisms=("laplace",), columns=("group", "place", "age"), **parts):
    parts = {"classify": False, "post": "nonnegative", **parts}
    return ReleaseTask(list(columns), list(mechanisms), parts.pop("epsilons", [1]), **parts)


def remedies_of(task, schema, people):
    facts = task.prepare(Plan(task=task, schema=schema), frame=people).facts
    return task.remedies(next(task.settings()), facts)


def names(task, schema, people):
    return [str(each).removesuffix(", ε = 1") for each in remedies_of(task, schema, people)]


# --- which apply when -----------------------------------------------------------------------------

SUMS, KEPT, CUT = (f"Laplace noise, post={step}" for step in ("keep_sums=1", "none", "cut=5"))
APART = "Noise on cells and sums, by=[1], part=1/5, post=keep_sums=1"


def test_a_clamped_table_gets_sums_that_stay_first(schema, people):
    assert names(release_task(), schema, people) == [SUMS, KEPT, CUT, APART]


def test_counts_below_zero_are_not_kept_twice(schema, people):
    """Without a clamp there is none to leave out."""
    assert names(release_task(post=()), schema, people) == [SUMS, CUT, APART]


def test_sums_over_few_cells_are_not_measured_apart(schema, people):
    """Nine noisy cells add up to less noise than a fifth of epsilon leaves."""
    assert APART not in names(release_task(columns=["group", "place"]), schema, people)


def test_groups_of_one_cell_have_no_sums(schema, people):
    assert names(release_task(columns=["group"]), schema, people) == [KEPT, CUT]


def test_blanks_get_noise_of_the_same_epsilon(schema, people):
    found = names(release_task(["thresholded-laplace"], post=()), schema, people)

    assert found == [SUMS, CUT, APART]


def test_what_was_asked_for_is_no_remedy_again(schema, people):
    task = release_task(compare_post=["none", "keep_sums=1"])

    assert names(task, schema, people) == [CUT, APART]


@pytest.mark.parametrize("parts", [{"post": "sum_to=963"}, {"mechanisms": ["suppression"]}])
def test_a_known_total_or_no_promise_gets_none(parts, schema, people):
    """A remedy must promise at least what the page does, at its epsilon."""
    assert names(release_task(**parts), schema, people) == []


def test_gaussian_noise_keeps_its_delta(schema, people):
    task = release_task([{"name": "discrete-gaussian", "delta": "1e-6"}])
    found = remedies_of(task, schema, people)

    assert {each.mechanism for each in found} == {"discrete-gaussian"}
    assert {each.option("delta") for each in found} == {"1e-6"}


# --- what they promise ----------------------------------------------------------------------------


def test_every_remedy_states_the_epsilon_of_the_page(schema, people):
    task = release_task(draws=2)
    plan = Plan(task=task, schema=schema)
    prepared = task.prepare(plan, frame=people)
    for each in (next(task.settings()), *remedies_of(task, schema, people)):
        measures = task.execute(Cell(each, 0), plan=plan, prepared=prepared).measures

        assert measures["claimed_epsilon"] == 1
        assert measures["delta"] == 0


@pytest.mark.parametrize("unit", ["replace one", "add or remove one"])
def test_cells_and_sums_take_epsilon_together_and_a_ledger_is_charged_with_it(unit, tmp_path):
    """Two measurements of one person add up; a ledger that saw one of them would let out twice as much."""
    schema = Schema([Column(name, Domain.categorical(["x", "y"])) for name in "ab"])
    table = Histogram.of([[5, 0], [9, 2]], schema)
    mechanism = LaplaceTotals(Fraction(2), part="1/4", unit=unit)
    cells, sums = mechanism.noises
    moved = 2 if unit == "replace one" else 1
    ledger = Ledger(tmp_path / "people.ledger", epsilon=3, unit=unit)
    made = mechanism.release(table, ledger=ledger)

    assert moved / cells.scale + moved / sums.scale == pytest.approx(2)
    assert made.guarantee.epsilon == cells.epsilon + sums.epsilon == 2
    assert ledger.total().spent.epsilon == 2


def test_no_two_tables_can_be_told_apart_by_more_than_epsilon():
    """The exact loss of noisy cells and noisy sums, over a grid of outcomes, of one person who moves."""
    mechanism = LaplaceTotals(1, unit="replace one")
    scales = [float(each.scale) for each in mechanism.noises]
    outcomes = np.stack(np.meshgrid(*[np.arange(-6, 7)] * 4), axis=-1).reshape(-1, 4)

    def log_chance(cells):
        both = np.concatenate([cells, [cells.sum()]])  # cells of a group, and its sum; others cancel
        return (
            -np.abs(outcomes[:, : len(cells)] - cells) @ np.full(len(cells), 1 / scales[0])
            - np.abs(outcomes[:, 3] - both[-1]) / scales[1]
        )

    one_leaves, one_comes = np.array([1, 0, 2]), np.array([0, 0, 2])
    loss = np.abs(log_chance(one_leaves) - log_chance(one_comes)).max()

    assert 2 * loss == pytest.approx(1)  # the group that is left, and the one that is entered


# --- what they do ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tried(schema, people):
    """Return the task with its remedies, and what it found."""
    base = release_task()
    remedies = remedies_of(base, schema, people)
    plan = Plan(task=base, schema=schema, repeats=10, remedies=remedies)
    return base, run(plan, frame=people, workers=1, progress=False)


def test_the_clamp_invents_people_and_sums_that_stay_take_most_of_them_away(tried):
    """Three people in one of 27 cells: 26 empty cells gain about one person each by the clamp."""
    task, results = tried
    table = task.effects(results)

    def seen(name, effect):
        return table.by_key[f"{name}, ε = 1", "few", effect].mean_after

    assert seen("Laplace noise", "invented") == pytest.approx(26 * 0.9595, abs=0.01)
    assert seen(KEPT, "invented") == 0
    assert seen(KEPT, "counted") == pytest.approx(3)
    assert seen(SUMS, "counted") < 12
    assert seen(APART, "counted") < seen(SUMS, "counted")
    assert seen(SUMS, "off") < seen("Laplace noise", "off")


def test_sums_that_stay_are_recommended_and_a_group_of_three_is_judged(tried):
    """Nobody was drawn but noise, so that three people are enough to say it."""
    task, results = tried
    table = task.effects(results)
    verdict = find_payers(table, judge(table))
    choice = choose_remedy(table, verdict)
    tags = {trial.option.name.removesuffix(", ε = 1"): trial.tag for trial in choice.trials}

    assert verdict.payers[0].row.group == "few"
    assert tags[SUMS] == "recommended"
    assert tags[KEPT] == "trade-off"
    assert {table.by_key[f"{SUMS}, ε = 1", "few", name].basis for name in ("counted", "off")} == {"draws"}


def test_counts_of_sums_that_stay_are_those_of_releases_drawn_here(tried, people):
    """Compared with noise drawn by numpy and a projection found by halving."""
    task, results = tried
    table = task.effects(results)
    rng, ratio = np.random.default_rng(8), np.exp(-1 / 2)
    true = people[people.group == "few"].groupby(["place", "age"]).size().to_numpy()
    cells = np.zeros(PLACES * AGES)
    cells[: len(true)] = true
    runs = 4_000
    noise = rng.geometric(1 - ratio, (runs, cells.size)) - rng.geometric(1 - ratio, (runs, cells.size))
    sums = np.maximum((cells + noise).sum(axis=1), 0)
    row = table.by_key[f"{SUMS}, ε = 1", "few", "counted"]
    error = np.hypot(row.error, sums.std() / np.sqrt(runs))

    assert abs(row.mean_after - sums.mean()) < 6.2 * error


@pytest.mark.parametrize(
    ("language", "wanted"),
    [("en", "none below 0, group sums kept"), ("de", "nichts unter 0, Gruppensummen behalten")],
)
def test_a_page_names_them_in_its_language(tried, language, wanted):
    """Codes of steps, such as keep_sums=1, are for plans."""
    task, results = tried
    said = [name.words for name in task.case(results, language=language).options.values()]

    assert sum(wanted in each for each in said) == 2
    assert not [each for each in said if "=" in each]


def test_asked_cells_are_the_same_to_the_byte_beside_remedies(schema, people, tried):
    task, results = tried
    alone = run(Plan(task=task, schema=schema, repeats=2), frame=people, workers=1, progress=False)
    known = {each.cell.id: each for each in results.outcomes}

    for outcome in alone.outcomes:
        other = known[outcome.cell.id]
        assert (outcome.measures, outcome.groups, outcome.data) == (other.measures, other.groups, other.data)
