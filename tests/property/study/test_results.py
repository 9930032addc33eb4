"""What holds for the results of every study, whatever its numbers and however much of it was run."""

import itertools
import math
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evenhand.measure.gaps import NO_DISPARITY
from evenhand.study.plan.cells import Setting
from evenhand.study.plan.plan import Plan
from evenhand.study.results.estimates import estimate
from evenhand.study.results.frontier import frontier
from evenhand.study.results.results import Results
from evenhand.study.tasks.collect.task import CollectTask
from unit._study_results import facts, failed, outcome

pytestmark = pytest.mark.figures

VALUES = st.one_of(
    st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 0.8]),  # so that settings tie
    st.floats(-1, 1, allow_nan=False).map(lambda value: round(value, 6)),
    st.just(math.nan),
)
FEWER = settings(max_examples=settings().max_examples // 3)  # a study is many draws: each example has dozens
STATES = st.sampled_from(["done", "done", "done", "done", "failed", "missing"])


@st.composite
def studies(draw, measures=("acc", "sp_gap", "spd"), states=STATES, values=VALUES):
    """Return results with cells that failed, were not run or are undefined."""
    protocols = draw(st.sampled_from([["grr"], ["grr", "oue"]]))
    epsilons = draw(st.sampled_from([[1], ["1/3", 1], [2, 1]]))
    plan = Plan(task=CollectTask(protocols, epsilons), repeats=draw(st.integers(1, 5)))
    outcomes = []
    for cell in plan.cells():
        state = draw(states)
        if state == "failed":
            outcomes.append(failed(cell))
        elif state == "done":
            outcomes.append(outcome(cell, **{name: draw(values) for name in measures}))
    return Results(plan, facts(), draw(st.permutations(outcomes)))


def by_hand(results, setting, measure):
    """Return the defined values of a setting by repeat, straight from the outcomes."""
    found = {}
    for each in results.outcomes:
        value = each.measures.get(measure, math.nan)
        if each.cell.setting == setting and math.isfinite(value):
            found[each.cell.repeat] = value
    return found


def same(first, second):
    return first == pytest.approx(second, rel=1e-9, abs=1e-12, nan_ok=True)


@FEWER
@given(studies(), st.randoms())
def test_the_order_of_outcomes_does_not_matter(results, random):
    """Workers finish in any order; a table that depends on it could not be reproduced."""
    shuffled = list(results.outcomes)
    random.shuffle(shuffled)
    again = Results(results.plan, results.facts, shuffled)

    assert again.canonical() == results.canonical()
    assert again.outcomes == results.outcomes
    for table in ("frame", "groups", "summary"):
        first, second = (getattr(each, table)(backend="pyarrow") for each in (results, again))
        assert repr(first.to_pydict()) == repr(second.to_pydict())  # to the bit, NaN for NaN


@FEWER
@given(studies(), st.sampled_from([0.5, 0.95]))
def test_estimates_are_those_of_the_plain_formula_on_what_is_there(results, level):
    """Cells that failed, were not run or are undefined are left out and counted, never 0."""
    for setting in results.settings:
        runs = list(by_hand(results, setting, "spd").values())
        found = estimate(results, setting, "spd", level=level, kind="student")

        assert found.runs == len(runs)
        assert found.runs + found.left_out == results.plan.repeats
        assert bool(found.note) == (found.left_out > 0 or len(runs) < 2 or len(set(runs)) == 1)
        if not runs:
            assert math.isnan(found.value)
            continue
        assert same(found.value, statistics.fmean(runs))
        assert found.has_interval == (len(runs) > 1)
        if len(set(runs)) > 1:
            error = statistics.stdev(runs) / math.sqrt(len(runs))
            limits = stats.t.interval(level, len(runs) - 1, loc=statistics.fmean(runs), scale=error)
            assert same([found.low, found.high], [max(-1, limits[0]), min(1, limits[1])])


@FEWER
@given(studies())
def test_changes_use_the_repeats_that_both_have(results):
    """A study that was stopped half way through a repeat has runs without a partner."""
    before = by_hand(results, Setting(), "acc")
    for setting in results.settings:
        after = by_hand(results, setting, "acc")
        pairs = [after[repeat] - before[repeat] for repeat in sorted(after.keys() & before.keys())]
        found = estimate(results, setting, "acc", against=Setting())

        assert found.runs == len(pairs)
        assert same(found.value, statistics.fmean(pairs) if pairs else math.nan)


@FEWER
@given(studies(), st.data())
def test_a_comparison_turned_round_is_its_negative(results, data):
    """Which setting is named first must not decide which one wins."""
    a, b = (data.draw(st.sampled_from(results.settings)) for _ in range(2))
    one, other = results.compare(a, b, measure="acc"), results.compare(b, a, measure="acc")

    assert one.pairs == other.pairs
    assert one.is_clear == other.is_clear
    assert (one.difference == -other.difference) or one.pairs == 0
    if one.low is not None:
        assert (one.low, one.high) == (-other.high, -other.low)


def score(results, setting, measure):
    """Return how good a setting is: a mean, or minus the mean distance from no disparity."""
    runs = by_hand(results, setting, measure).values()
    if measure in NO_DISPARITY:
        runs = [-abs(value - NO_DISPARITY[measure]) for value in runs]
    return statistics.fmean(runs) if runs else math.nan


def beats(first, second):
    """Return whether the first of two (epsilon, score, score) is no worse anywhere and better somewhere."""
    no_worse = first[0] <= second[0] and first[1] >= second[1] and first[2] >= second[2]
    return no_worse and first != second


@FEWER
@given(studies(states=st.just("done"), values=st.sampled_from([0.0, 0.25, 0.5, -0.25, 0.75])))
def test_members_of_the_frontier_are_undominated_and_all_others_dominated(results):
    """Brute force over all pairs, with values whose sums are exact."""
    for y in ("sp_gap", "spd"):
        points = frontier(results, x="acc", y=y)
        stands = {
            setting: (
                math.inf if setting.epsilon is None else setting.epsilon,
                *(score(results, setting, name) for name in ("acc", y)),
            )
            for setting in results.settings
        }
        for point in points:
            better = [rival for rival, stand in stands.items() if beats(stand, stands[point.setting])]

            assert point.undominated == (not better)
            assert (point.dominated_by in better) if better else point.dominated_by is None


@FEWER
@given(studies())
def test_whoever_dominates_is_on_the_frontier_unless_a_clear_one_is_not(results):
    """The named setting is one that a reader would choose."""
    points = {point.setting: point for point in frontier(results)}

    for point in points.values():
        if point.dominated_by is not None:
            winner = points[point.dominated_by]
            assert winner.undominated or point.clearly
            assert not point.undominated
        assert not point.clearly or (point.x.has_interval and point.y.has_interval)


@FEWER
@given(studies(states=st.just("done"), values=st.floats(0, 1).map(lambda value: round(value, 3))))
def test_a_clear_verdict_follows_from_paired_intervals(results):
    """Brute force of the rule in the docs, pair by pair, from compare()."""
    points = {point.setting: point for point in frontier(results)}
    epsilon = {each: math.inf if each.epsilon is None else each.epsilon for each in results.settings}
    better = {"acc": 1, "sp_gap": -1}
    wins = {
        (a, b): any(
            (found := results.compare(a, b, measure=name)).is_clear and way * found.difference > 0
            for name, way in better.items()
        )
        for a, b in itertools.permutations(results.settings, 2)
    }
    for setting, point in points.items():
        rivals = [each for each in results.settings if each != setting and epsilon[each] <= epsilon[setting]]
        if point.undominated:
            expected = all(wins[setting, rival] for rival in rivals)
        else:
            above = {
                each: [way * points_value(points[each], name) for name, way in better.items()]
                for each in (setting, *rivals)
            }
            dominating = [
                rival
                for rival in rivals
                if all(ours <= theirs for ours, theirs in zip(above[setting], above[rival], strict=True))
            ]
            expected = any(epsilon[rival] < epsilon[setting] or wins[rival, setting] for rival in dominating)

        assert point.clearly == (expected and point.x.has_interval and point.y.has_interval)


def points_value(point, name):
    return point.x.value if name == "acc" else point.y.value
