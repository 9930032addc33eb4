"""The groups of a study against counting by hand: who is in which, empty combinations, pools and margins."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from evenhand.errors import PlanError
from evenhand.schema import Column, Domain, Schema
from evenhand.study import CollectTask, LearnTask, Plan, ReleaseTask
from evenhand.study.run.prepare import prepare
from evenhand.study.run.whole import run
from evenhand.study.tasks.groups import group_rows

SEX = Column("sex", Domain.categorical(["women", "men"]))
RACE = Column("race", Domain.categorical(["black", "white", "asian"]), nulls="other")
JOB = Column("job", Domain.categorical(["clerk", "cook"]))
PAY = Column("pay", Domain.integers(0, 1))


def people(rows=600, seed=3, races=("black", "white", "asian")):
    draws = np.random.default_rng(seed)
    shares = np.array([0.3, 0.65, 0.05])[: len(races)]
    return pa.table(
        {
            "sex": draws.choice(["women", "men"], rows),
            "race": draws.choice(races, rows, p=shares / shares.sum()),
            "job": draws.choice(["clerk", "cook"], rows),
            "pay": draws.integers(0, 2, rows),
        }
    )


def schema(**roles):
    given = {"protected": ["sex", "race"], "sensitive": ["sex", "race"], "target": "pay", "positive": 1}
    return Schema((SEX, RACE, JOB, PAY), **{**given, **roles})


def plan(task=None, repeats=1, **roles):
    return Plan(schema=schema(**roles), task=task or CollectTask("grr", 1, model="logistic"), repeats=repeats)


def counted(frame):
    pairs = zip(frame["sex"].to_pylist(), frame["race"].to_pylist(), strict=True)
    return Counter(f"{sex}, {race}" for sex, race in pairs if race is not None)


def test_sizes_are_those_counted_by_hand():
    frame = people()
    facts = prepare(plan(), frame=frame).facts

    assert dict(zip(facts.groups, facts.sizes, strict=True)) == counted(frame)
    assert facts.privileged is None


def test_who_states_not_all_columns_is_in_no_group():
    frame = people()
    race = [None if place % 10 == 0 else value for place, value in enumerate(frame["race"].to_pylist())]
    frame = frame.set_column(1, "race", pa.array(race))
    prepared = prepare(plan(), frame=frame)

    assert prepared.facts.not_stated == 60
    assert dict(zip(prepared.facts.groups, prepared.facts.sizes, strict=True)) == counted(frame)
    assert (prepared.group >= len(prepared.facts.groups)).sum() == 60


def test_combinations_that_nobody_has_are_no_groups_and_are_told():
    facts = prepare(plan(), frame=people(races=("black", "white"))).facts

    assert facts.groups == ("women, black", "women, white", "men, black", "men, white")
    assert any("2 combinations of sex × race, of 6 in all" in note for note in facts.notes)


def test_small_groups_are_pooled_by_size_alone_and_named():
    """The twin has other outcomes and the same groups."""
    frame = people()
    other = frame.set_column(3, "pay", pa.array(1 - np.array(frame["pay"])))
    pooled, again = (prepare(plan(pool_below=40), frame=each).facts for each in (frame, other))
    sizes = counted(frame)
    small = [group for group, size in sizes.items() if size < 40]

    assert len(small) == 2
    assert pooled.groups[-1] == "other groups"
    assert pooled.sizes[-1] == sum(sizes[group] for group in small)
    assert (again.groups, again.sizes) == (pooled.groups, pooled.sizes)
    assert any("fewer than 40 people" in note and small[0] in note for note in pooled.notes)


def test_one_small_group_and_a_privileged_one_are_never_pooled():
    codes = {"sex": np.array([0] * 50 + [1] * 50), "race": np.array([0] * 45 + [1] * 5 + [0] * 50)}
    alone = group_rows(schema(pool_below=10), codes)
    codes["race"][-5:] = 2
    kept = group_rows(schema(pool_below=10, privileged=("women", "white")), codes)

    assert "women, white" in alone.labels
    assert kept.labels[kept.privileged] == "women, white"
    assert "other groups" not in kept.labels


def test_a_limit_that_joins_nothing_is_told_or_refused():
    """If not, somebody believes that small groups were joined, and reads them one by one."""
    codes = {"sex": np.array([0] * 50 + [1] * 50), "race": np.array([0] * 45 + [1] * 5 + [0] * 50)}
    told = group_rows(schema(pool_below=10), codes).notes
    two = schema(protected="sex", privileged="women", pool_below=60)

    assert any("alone has fewer than 10 people" in note for note in told)
    assert not any("alone" in note for note in group_rows(schema(), codes).notes)
    with pytest.raises(PlanError, match="makes one group of all"):
        group_rows(two, codes)


def test_groups_of_one_column_may_be_pooled_too():
    facts = prepare(plan(protected="race", privileged="white", pool_below=250), frame=people()).facts

    assert facts.groups == ("white", "other groups")
    assert facts.privileged == 0


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("protocol", ["grr", "oue"])
def test_reports_of_pooled_groups_are_compared_by_value_and_not_by_place(protocol, missing):
    """Places of pooled groups are not codes of reports: the reported gap was that of another group."""
    frame = people(3_000, seed=5, races=("asian", "black", "white"))
    race, draws = np.array(frame["race"], dtype=object), np.random.default_rng(1)
    race[:300] = None if missing else "white"
    pay = (draws.random(3_000) < np.where(race == "white", 0.7, 0.3)).astype(int)
    frame = frame.set_column(1, "race", pa.array(race)).set_column(3, "pay", pa.array(pay))
    roles = {"protected": "race", "sensitive": "race", "privileged": "white"}
    task = CollectTask(protocol, 20, model="logistic")
    plain, pooled = (
        run(plan(task, pool_below=below, **roles), frame=frame, workers=1) for below in (None, 2_900)
    )

    assert pooled.facts.groups == ("white", "other groups")
    for one, other in zip(plain.outcomes, pooled.outcomes, strict=True):
        assert other.data == pytest.approx(one.data, nan_ok=True)
        if other.cell.setting.mechanism == "grr":  # at this epsilon all reports are true
            assert other.data["reported"] == pytest.approx(other.data["true"], abs=0.02)


def test_a_privileged_combination_that_nobody_has_is_refused():
    with pytest.raises(PlanError, match="names a combination that nobody has"):
        prepare(plan(privileged=("men", "asian")), frame=people(races=("black", "white")))


@pytest.mark.parametrize(
    ("race", "roles", "words"),
    [
        ([None] * 600, {}, "people have none"),
        (["white"] * 600, {"protected": ["race", "job"]}, "people have one combination only"),
        (["white"] * 600, {"pool_below": 1000}, "makes one group of all"),
    ],
)
def test_fewer_than_two_groups_are_nothing_to_compare(race, roles, words):
    frame = people().set_column(1, "race", pa.array(race, pa.string()))
    frame = frame.set_column(2, "job", pa.array(["clerk"] * 600))
    with pytest.raises(PlanError, match=words):
        prepare(plan(**roles), frame=frame)


@pytest.mark.parametrize("task", [CollectTask("grr", 1), LearnTask("plain")])
def test_a_column_both_protected_and_target_is_refused(task):
    with pytest.raises(PlanError, match="is the target too"):
        prepare(plan(task, protected=["sex", "pay"]), frame=people())


def test_the_strategy_single_does_not_report_several_columns():
    with pytest.raises(PlanError, match="several are crossed"):
        prepare(plan(CollectTask("grr", 1, strategies="single")), frame=people())


def test_optimal_reports_combinations_together_or_not_at_all():
    with pytest.raises(PlanError, match="must be 'combined'"):
        prepare(plan(CollectTask("optimal", 1)), frame=people())
    together = CollectTask("optimal", 1, strategies="combined", model="logistic")
    found = run(plan(together), frame=people(), workers=1)

    assert not found.failures


TASKS = {
    "collect": CollectTask("grr", 1, model="logistic"),
    "learn": LearnTask(["plain", "plain+parity"]),
    "release": ReleaseTask(["sex", "race", "pay"], "laplace", 1),
}


@pytest.mark.parametrize("kind", TASKS)
@pytest.mark.parametrize("pool_below", [None, 40])
def test_margins_are_the_means_of_their_groups_and_the_gap_is_that_of_the_groups(kind, pool_below):
    results = run(plan(TASKS[kind], repeats=2, pool_below=pool_below), frame=people(1200), workers=1)
    assert not results.failures
    facts = results.facts
    for outcome in results.outcomes:
        groups = {group: outcome.groups[group] for group in facts.groups}
        rates = [group["selection"] for group in groups.values()]
        assert outcome.measures["sp_gap"] == pytest.approx(max(rates) - min(rates))
        everybody = sum(group["people"] for group in groups.values())
        for column, labels in facts.margins.items():
            margin = [outcome.groups[label] for label in labels]
            assert sum(each["people"] for each in margin) == everybody
            mean = sum(each["people"] * each["selection"] for each in margin) / everybody
            whole = sum(each["people"] * each["selection"] for each in groups.values()) / everybody
            assert mean == pytest.approx(whole), column
        if pool_below is None:
            women = [group for label, group in groups.items() if label.startswith("women")]
            people_of = sum(group["people"] for group in women)
            share = sum(group["people"] * group["selection"] for group in women) / people_of
            assert outcome.groups["sex = women"]["selection"] == pytest.approx(share)
            if kind == "release":
                lost = sum(group["net"] for group in women)
                assert outcome.groups["sex = women"]["net"] == pytest.approx(lost)


def test_a_plan_and_its_results_go_through_their_files(tmp_path):
    study = plan(privileged=("men", "white"), pool_below=5, repeats=2)
    results = run(study, frame=people(), out=tmp_path / "s", workers=1)
    again = type(results).load(tmp_path / "s")

    assert Plan.from_toml(study.to_toml()) == study
    assert again.facts == results.facts
    assert again.facts.privileged == again.facts.groups.index("men, white")
    assert again.digest == results.digest
