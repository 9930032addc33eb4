"""What is found before a study runs: right figures, within two seconds, and nowhere but with the holder."""

import logging
import re
import time

import numpy as np
import pyarrow as pa
import pytest

from evenhand.answer.effects import FEWEST_PEOPLE, Observation
from evenhand.answer.status import judge
from evenhand.app.flow.timing import look_first
from evenhand.schema import Column, Domain, Schema
from evenhand.study import CollectTask, DataSource, LearnTask, Plan, ReleaseTask
from evenhand.study.preflight import MOST_ROWS, people_to_judge, preflight, share_seen
from evenhand.study.run.prepare import prepare
from evenhand.study.run.whole import run
from evenhand.study.store.canonical import facts_from, facts_text
from evenhand.study.tasks.shared.parts import parts

DRAWS = np.random.default_rng(7)
LEARN = LearnTask("dp", [1])
NOTHING = np.array([])


def frame_of(race, hired, **more):
    return pa.table({"race": race, "town": DRAWS.integers(0, 3, len(race)), "hired": hired, **more})


def plan_for(frame, task=LEARN, repeats=10, **roles):
    columns = [
        Column(name, Domain.categorical(sorted(set(frame[name].to_pylist())))) for name in frame.column_names
    ]
    schema = Schema(
        columns, protected="race", privileged="a", target="hired", positive=1, sensitive=["race"], **roles
    )
    return Plan(data=DataSource(path="people.csv"), schema=schema, task=task, repeats=repeats)


def look(frame, task=LEARN, **options):
    plan = plan_for(frame, task, **options)
    return preflight(plan, frame, prepare(plan, frame=frame))


def named(found):
    return [each.name for each in found]


# --- how many people a group takes -----------------------------------------------------------------


def is_judged(people, base, *, repeats, seed):
    """Run a study with a group of so many people, and return whether every harm of it was judged."""
    draws = np.random.default_rng(seed)
    race = np.array(["a"] * 400 + ["b"] * people)
    hired = np.where(race == "b", np.arange(len(race)) % round(1 / base) == 0, draws.random(len(race)) < 0.5)
    frame = frame_of(race, hired.astype(int))
    plan = plan_for(frame, LEARN.with_(methods=("dp",)), repeats=repeats)
    results = run(plan, frame=frame, workers=1, progress=False)
    table = plan.task.effects(results)
    rows = [row for row in judge(table) if row.group == "b" and row.harm in ("less", "more")]
    return all(row.status != "unjudged" for row in rows)


@pytest.mark.figures
def test_a_study_judges_a_group_of_so_many_people_and_none_of_a_fifth_fewer():
    """If not, somebody collects people and still learns nothing of them. The twin forgets who qualifies."""
    needed = people_to_judge(1 / 2, seen=1 - (1 - LEARN.test) ** 2)

    assert is_judged(round(1.2 * needed), 1 / 2, repeats=2, seed=1)
    assert not is_judged(round(needed / 1.2), 1 / 2, repeats=2, seed=2)
    assert not is_judged(round(1.2 * needed / 2), 1 / 2, repeats=2, seed=3)


@pytest.mark.parametrize("base", [0.5, 0.2, 0.05])
@pytest.mark.parametrize("repeats", [2, 5, 10])
def test_the_number_is_right_within_a_fifth_by_the_rule_of_a_study(base, repeats):
    """If not, the number is no help. The rule takes the mean share that qualifies over the test parts."""
    seen, draws = 1 - (1 - LEARN.test) ** repeats, np.random.default_rng(13)
    needed = people_to_judge(base, seen=seen)

    def share_judged(people):
        tested = draws.binomial(round(people), LEARN.test, (4_000, repeats))
        rate = (draws.binomial(tested, base) / np.maximum(tested, 1)).mean(axis=1)
        behind = rate * round(people)
        judged = [
            Observation("s", "b", "wrongly_refused", NOTHING, NOTHING, each, tested=each * seen).is_judged
            for each in behind
        ]
        return np.mean(judged)

    even = 6.1 * np.sqrt(0.25 / 4_000)  # 1e-9 by chance
    assert share_judged(1.2 * needed) > 1 / 2 + even
    assert share_judged(needed / 1.2) < 1 / 2 - even
    assert share_judged(1.2 * FEWEST_PEOPLE / seen) < 1 / 2 - even  # the twin: as if everybody qualified


def said_for_b(text):
    """Return the number of people that a finding says group b takes."""
    return int(re.search(r"race = b [(][\d,]+ people; it takes about ([\d,]+)", text)[1].replace(",", ""))


def count_tested(people, *, base, repeats, studies=200):
    """Return how many people of group b who qualify the splits of a study test on average, with the error.

    Whoever is tested in several repeats counts once.
    """
    is_b, at = np.arange(400 + people) >= 400, np.arange(400 + people) - 400
    hired = np.where(is_b, at % round(1 / base) == 0, at % 2 == 0)
    counts = []
    for seed in range(0, studies * repeats, repeats):
        splits = [parts(hired, test=LEARN.test, seed=seed + repeat)[0][1] for repeat in range(repeats)]
        tested = np.unique(np.concatenate(splits))
        counts.append(int((is_b & hired)[tested].sum()))
    return np.mean(counts), 6.1 * np.std(counts) / np.sqrt(studies)  # 1e-9 by chance


@pytest.mark.parametrize(("base", "repeats"), [(0.5, 1), (0.5, 5), (0.25, 2), (0.1, 3)])
def test_a_study_of_so_many_people_tests_enough_who_qualify(base, repeats):
    """If not, somebody collects people and still learns nothing of them. The twin forgets who qualifies."""
    race, at = ["a"] * 400 + ["b"] * 20, np.arange(420) - 400
    hired = np.where(at >= 0, at % round(1 / base) == 0, at % 2 == 0).astype(int)
    found = look(frame_of(race, hired), repeats=repeats)
    said = said_for_b(next(each.text for each in found if each.name == "groups"))
    tested, error = count_tested(said, base=base, repeats=repeats)
    of_anybody, far = count_tested(round(said * base), base=base, repeats=repeats)

    assert tested - error >= FEWEST_PEOPLE / 1.2
    assert tested + error <= 1.2 * FEWEST_PEOPLE
    assert of_anybody + far < FEWEST_PEOPLE / 1.2


def test_each_small_group_has_its_own_number_and_a_pool_that_suffices():
    race = ["a"] * 400 + ["b"] * 40 + ["c"] * 20 + ["d"] * 60
    hired = [*np.arange(400) % 2, *np.arange(40) % 2, *(np.arange(20) % 4 == 0), *np.arange(60) % 2]
    frame = frame_of(race, [int(each) for each in hired])
    [found] = look(frame)

    assert "race = b (40 people; it takes about 64)" in found.text
    assert "race = c (20 people; it takes about 130)" in found.text
    assert "race = d (60 people; it takes about 64)" in found.text
    assert found.options == {"--pool-below": "100"}
    assert look(frame, pool_below=100) == ()


def numbers_said(text):
    return [int(each.replace(",", "")) for each in re.findall(r"[(] ?([\d,]+) people", text)]


def test_people_with_several_rows_count_once():
    """If not, twelve people with five rows each are judged as sixty."""
    who = np.repeat(np.arange(112), 5)
    race = np.where(who < 100, "a", "b").tolist()
    frame = frame_of(race, who % 2, who=who)
    plan = plan_for(frame.drop_columns(["who"]), repeats=5)
    plan = plan.with_(schema=plan.schema.with_roles(person="who", rows_per_person=5))
    prepared = prepare(plan, frame=frame)
    [found] = [each for each in preflight(plan, frame, prepared) if each.name == "groups"]

    assert numbers_said(found.text) == [12]
    assert prepared.facts.people == (100, 12)
    assert facts_from(facts_text(prepared.facts)) == prepared.facts


def test_weights_say_how_many_of_a_group_qualify():
    """If not, the number is for another share than the one by which a study judges."""
    race, hired = ["a"] * 400 + ["b"] * 60, np.arange(460) % 2
    weight = np.where(hired == 1, 1.0, 9.0)
    frame = frame_of(race, hired)
    plan = plan_for(frame).with_(schema=plan_for(frame).schema.with_roles(weight="weight"))
    frame = frame.append_column("weight", pa.array(weight))
    [found] = [each for each in preflight(plan, frame, prepare(plan, frame=frame)) if each.name == "groups"]

    assert said_for_b(found.text) == pytest.approx(FEWEST_PEOPLE / share_seen(plan) / 0.1, rel=0.05)


def test_where_to_be_selected_hurts_everybody_of_a_group_counts():
    """If not, more people are asked for than a page takes: refusals are no harm there."""
    plan = Plan(data=DataSource(dataset="compas", rows=150), task=LEARN, repeats=1)
    prepared = prepare(plan)
    [found] = [
        each for each in preflight(plan, pa.table(dict(prepared.codes)), prepared) if each.name == "groups"
    ]
    seen = FEWEST_PEOPLE / share_seen(plan)

    assert {int(each) for each in re.findall(r"it takes about (\d+)", found.text)} == {round(seen)}


@pytest.mark.parametrize(("people", "stops"), [(31, True), (32, False)])
def test_a_study_stops_only_where_no_group_can_be_judged(people, stops):
    hired = [int(at % 2) for at in range(2 * people)]
    [found] = look(frame_of(["a"] * people + ["b"] * people, hired))

    assert found.stops is stops


# --- columns that tell too much --------------------------------------------------------------------


def test_an_implication_is_found_in_either_direction_and_chance_is_not():
    """If not, a model learns who joined from who may join."""
    may = DRAWS.integers(0, 2, 600)
    joins = may * DRAWS.integers(0, 2, 600)
    race, chance = np.tile(["a", "b"], 300), DRAWS.integers(0, 20, 600)
    [one] = look(frame_of(race, may, joins=joins, chance=chance))
    [other] = look(frame_of(race, joins, may=may, chance=chance))

    assert (one.name, one.options) == ("reveal", {"--drop": "joins"})
    assert (other.name, other.options) == ("reveal", {"--drop": "may"})
    assert look(frame_of(race, may, chance=chance)) == ()


@pytest.mark.parametrize(("right", "names"), [(1.0, ["equal"]), (0.93, ["reveal"]), (0.7, [])])
def test_a_column_that_alone_tells_the_outcome_stops_or_is_warned_of(right, names):
    hired = DRAWS.integers(0, 2, 2_000)
    twin = np.where(DRAWS.random(2_000) < right, hired, 1 - hired) + 5
    found = look(frame_of(np.tile(["a", "b"], 1_000), hired, twin=twin))

    assert named(found) == names
    assert [each.stops for each in found] == [name == "equal" for name in names]


def test_a_feature_that_gives_a_protected_column_away_is_named():
    race = np.tile(["a", "b"], 300)
    frame = frame_of(race, DRAWS.integers(0, 2, 600), tribe=np.tile([4, 9], 300))

    assert named(look(frame)) == ["proxy"]
    assert named(look(frame, CollectTask("grr", [1], model="logistic"))) == ["secret"]


def test_names_of_rows_are_found():
    who = [f"n{at}" for at in range(400)]
    frame = frame_of(np.tile(["a", "b"], 200), np.tile([0, 1, 1, 0], 100), who=who)
    [found] = [each for each in look(frame) if each.name == "ids"]

    assert found.options == {"--drop": "who"}


# --- where it is said, and how long it takes --------------------------------------------------------


def test_no_figure_leaves_the_findings(caplog):
    """If not, a figure of private rows stands in a note, a record, a log or an exception."""
    canary = 4321  # rows of each of the values that tell
    hired = np.repeat([0, 1], canary)
    frame = frame_of(np.tile(["a", "b"], canary), hired, twin=hired + 5)
    frame = frame.append_column("nr", pa.array(np.repeat(np.arange(canary), 2)))
    caplog.set_level(logging.DEBUG)
    plan = plan_for(frame.drop_columns(["nr"]), CollectTask("grr", [1], model="logistic"))
    prepared = prepare(plan, frame=frame)
    found = preflight(plan, frame, prepared)

    assert "equal" in named(found)
    assert "100.0%" in found[0].text or "100.0%" in found[-1].text
    kept = [repr(found), caplog.text, *map(str, prepared.facts.notes), plan.to_toml()]
    assert not [text for text in kept if "100.0" in text or str(canary) in text or "4,321" in text]
    assert all("100" not in note for note in map(str, prepared.facts.notes))
    assert "nr" not in facts_text(prepared.facts)


def test_the_workbench_shows_what_the_command_line_says():
    """If not, somebody runs in the browser what the terminal would have stopped."""
    hired = DRAWS.integers(0, 2, 400)
    frame = frame_of(np.tile(["a", "b"], 200), hired, twin=hired + 5)
    plan = plan_for(frame)
    prepared = prepare(plan, frame=frame)
    found, looks = preflight(plan, frame, prepared), look_first(plan, frame, prepared)

    assert [(each.text, each.todo) for each in found] == [(look.text, look.detail) for look in looks]
    assert [look.tone for look in looks] == ["bad"]


def test_built_in_data_never_stops():
    plan = Plan(data=DataSource(dataset="causal", options={"n": 60}), task=LEARN, repeats=1)
    prepared = prepare(plan)
    frame = pa.table(dict(prepared.codes))
    found = preflight(plan, frame, prepared)

    assert "groups" in named(found)
    assert not any(each.stops for each in found)


@pytest.mark.figures
@pytest.mark.parametrize("wide", [20, 200])
@pytest.mark.parametrize("is_numbered", [False, True])
def test_a_look_at_many_rows_takes_two_seconds_at_most(wide, is_numbered):
    rows = MOST_ROWS + 50_000
    each = np.arange(rows) // 3 % 300 if is_numbered else DRAWS.integers(0, 40, rows)  # as numbers of people
    more = {f"c{at}": np.roll(each, at) for at in range(wide)}
    frame = frame_of(np.tile(["a", "b"], rows // 2), DRAWS.integers(0, 2, rows), **more)
    task = CollectTask("grr", [1], model="lightgbm", encoder="codes")
    plan = plan_for(frame, task)
    prepared = prepare(plan, frame=frame)
    began = time.process_time()
    preflight(plan, frame, prepared)

    assert time.process_time() - began < 2


# --- rows that are no people ------------------------------------------------------------------------


def table_of(frame, *columns):
    """Look at a release of some columns."""
    schema = Schema(
        [Column(name, Domain.categorical(sorted(set(frame[name].to_pylist())))) for name in columns],
        protected=columns[-1],
    )
    return preflight(Plan(data=DataSource(path="p.csv"), schema=schema, task=ReleaseTask(columns)), frame)


CELLS = {"hair": list("abcd") * 4, "eye": [*"wwww", *"xxxx"] * 2, "sex": [*"f" * 8, *"m" * 8]}


@pytest.mark.parametrize("count", ["Freq", "n", "num_people"])
def test_rows_that_are_counts_of_people_stop(count):
    """Else 592 people in 16 cells are taken for 16 people, and a remedy is recommended for them."""
    [found] = table_of(pa.table({**CELLS, count: list(range(3, 19))}), "hair", "eye", "sex")

    assert found.stops
    assert f"'{count}'" in found.text


def test_frequencies_of_a_finer_table_stop_too():
    frame = pa.table({**CELLS, "Freq": list(range(3, 19))})

    assert named(table_of(frame, "hair", "sex")) == ["counted"]


@pytest.mark.parametrize(
    "change",
    [{"n": list(range(3, 19)), "eye": ["w"] * 16}, {"n": [1] * 16}, {"wage": list(range(16))}],
    ids=["several rows for a combination", "one person each", "no count"],
)
def test_people_are_not_taken_for_counts(change):
    assert table_of(pa.table({**CELLS, **change}), "hair", "eye", "sex") == ()
