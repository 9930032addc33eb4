"""Headings: a finding where the intervals bear one, and another where they do not."""

import math
import re

import numpy as np
import pytest

from evenhand.study.tasks.collect.page.frontier import (
    frontier_heading,
    frontier_section,
    measures_heading,
    table_heading,
    trend_words,
    trends,
)
from evenhand.study.tasks.collect.page.groups import (
    data_heading,
    data_section,
    gap_sources,
    moved_heading,
    paid_apart,
)
from evenhand.study.tasks.collect.page.settings import protocols_heading, widest_rival
from evenhand.study.tasks.collect.reading import CollectReading
from evenhand.study.tasks.collect.task import CollectTask
from evenhand.study.tasks.collect.wording import way_name
from unit.study._page_studies import (
    BEFORE,
    FULL,
    MEN,
    NEVER,
    NOTHING,
    WOMEN,
    against,
    by_setting,
    interval,
    made,
    measured,
    schema_of,
    setting,
    sweep,
    two,
)

EPSILONS = [0.5, 1, 4, 16]
SERIES = CollectTask(["grr", "oue"], EPSILONS, splits=["uniform", "k-based"])


def along(accuracy=lambda where: 0.8, gap=lambda where: 0.3, **options):
    """Return a study whose accuracy and gap are functions of the setting."""

    def rates(where):
        if not where.is_protected:
            return two(0.30, 0.60, accuracy=(0.82, 0.82))
        half = gap(where) / 2
        return two(0.45 - half, 0.45 + half, accuracy=(accuracy(where),) * 2)

    return made(rates, **{"collect": SERIES, **options})


# --- the frontier ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("accuracy", "words"),
    [
        (lambda where: 0.80, "Every setting costs accuracy"),
        (lambda where: 0.825, "No setting clearly costs accuracy"),
        (
            lambda where: 0.80 if where.epsilon < 4 else 0.825,
            "Every setting below ε = 4 costs accuracy; from there on none clearly does",
        ),
        (
            lambda where: 0.825 if where.epsilon == 4 and where.mechanism == "grr" else 0.80,
            "Every setting below ε = 4 costs accuracy; from there on 6 of 8 clearly do",
        ),
        (
            lambda where: 0.80 if where.epsilon < 4 or where == setting("oue", 4) else 0.825,
            "Every setting below ε = 4 costs accuracy; from there on 1 of 8 clearly does",
        ),
        (
            lambda where: 0.80 if where.mechanism == "grr" else 0.825,
            "8 of 16 settings clearly cost accuracy",
        ),
    ],
)
def test_what_settings_cost_is_counted_by_their_intervals(accuracy, words):
    assert frontier_heading(CollectReading.of(along(accuracy))) == words


def test_trying_many_settings_does_not_by_itself_find_one_that_costs():
    """Of twenty settings that cost nothing, one has an interval below zero."""
    results = along(lambda where: 0.82)
    for each in results.outcomes:
        where = each.cell.setting
        lost = (0.008, 0.02, 0.012, 0.025, 0.012)[each.cell.repeat]
        wide = (0.02, -0.02, 0.01, -0.01, 0.0)[each.cell.repeat]
        each.measures["acc"] = 0.82 - (lost if where == setting("oue", 4) else wide * where.is_protected)
    reading = CollectReading.of(type(results)(results.plan, results.facts, results.outcomes))
    one = interval(measured(reading.results, setting("oue", 4), "acc") - 0.82, spread="tailed")

    assert one[2] < 0
    assert frontier_heading(reading) == (
        "Some of 16 settings seem to cost accuracy, but none is clear when all are compared at once"
    )


def test_a_gap_that_is_clear_alone_is_not_denied_by_the_table():
    """The answer above speaks of one setting, and the heading of all that were tried."""
    results = along(gap=lambda where: 0.3)
    for each in results.outcomes:
        moved = (
            (0.005, 0.02, 0.012, 0.03, 0.009)
            if each.cell.setting == setting("oue", 4)
            else (0.02, -0.02, 0.01, -0.01, 0)
        )
        each.measures["sp_gap"] = 0.3 - moved[each.cell.repeat] * each.cell.setting.is_protected
    reading = CollectReading.of(type(results)(results.plan, results.facts, results.outcomes))

    assert table_heading(reading) == (
        "All numbers: some of 16 settings seem to change the gap, but none is clear when all are compared "
        "at once"
    )


@pytest.mark.parametrize(
    ("gap", "words"),
    [
        (lambda where: 0.2, "All numbers: every setting narrows the gap"),
        (lambda where: 0.4, "All numbers: every setting widens the gap"),
        (lambda where: 0.3003, "All numbers: none of 16 settings clearly changes the gap"),
        (
            lambda where: {1: 0.2, 4: 0.4}.get(where.epsilon, 0.3003),
            "All numbers: of 16 settings, 4 clearly narrow the gap and 4 clearly widen the gap",
        ),
        (
            lambda where: 0.2 if where == setting("oue", 4) else 0.3003,
            "All numbers: of 16 settings, 1 clearly narrows the gap",
        ),
    ],
)
def test_the_table_is_headed_by_what_it_shows(gap, words):
    assert table_heading(CollectReading.of(along(gap=gap))) == words


@pytest.mark.parametrize(
    ("gap", "words"),
    [(0.2, "narrows the gap"), (0.4, "widens the gap"), (0.3003, "does not clearly change the gap")],
)
def test_the_table_of_one_setting_is_headed_by_it(gap, words):
    reading = CollectReading.of(along(gap=lambda where: gap, collect=CollectTask("grr", 1, splits="uniform")))

    assert table_heading(reading) == f"All numbers: the setting tested {words}"


def test_one_setting_that_costs_nothing_is_not_spoken_of_as_many():
    reading = CollectReading.of(along(lambda where: 0.825, collect=CollectTask("grr", 1, splits="uniform")))

    assert frontier_heading(reading) == "The setting tested does not clearly cost accuracy"
    assert table_heading(CollectReading.of(along(repeats=1))) == "All numbers, without intervals"


def test_a_frontier_of_one_repeat_claims_nothing():
    assert (
        frontier_heading(CollectReading.of(along(repeats=1)))
        == "What each setting gives, without intervals to tell them apart"
    )
    one = made(against(BEFORE, two(0.3, 0.6, accuracy=(0.7, 0.7))))
    assert frontier_heading(CollectReading.of(one)) == "The setting tested costs accuracy"


def test_where_no_gap_can_be_measured_no_frontier_is_drawn_and_headings_say_so():
    """With one group too small, a page showed an empty chart and blamed intervals that were there."""
    reading = CollectReading.of(along(gap=lambda where: math.nan))

    assert frontier_section(reading) is None
    assert measures_heading(reading) == "No gap can be measured, so nothing is known of how it goes with ε"
    assert table_heading(reading) == "All numbers: no gap can be measured"
    assert frontier_section(CollectReading.of(along())) is not None


# --- measures against epsilon ---------------------------------------------------------------------


def rising(where):
    return 0.25 + 0.01 * math.log2(where.epsilon)


TRENDS = [
    (lambda where: 0.3, "No clear change of the gap with ε"),
    (rising, "The gap grows as ε grows, however the columns are reported"),
    (lambda where: 0.5 - rising(where), "The gap shrinks as ε grows, however the columns are reported"),
    (
        lambda where: rising(where) if where.option("split") == "uniform" else 0.3,
        "The gap grows as ε grows under the uniform split; under the k-based split that is not clear",
    ),
    (
        lambda where: rising(where) if where.option("split") == "uniform" else 0.5 - rising(where),
        "The gap grows with ε under the uniform split and shrinks under the k-based split",
    ),
]


@pytest.mark.parametrize(("gap", "words"), TRENDS)
def test_the_gap_follows_epsilon_only_where_its_slope_is_clear(gap, words):
    assert measures_heading(CollectReading.of(along(gap=gap))) == words


def test_one_way_needs_no_name():
    grows = along(gap=rising, collect=CollectTask("grr", EPSILONS, splits="uniform"))
    combined = along(
        gap=rising, collect=CollectTask("grr", EPSILONS, strategies=["combined", "single"], splits="uniform")
    )

    assert measures_heading(CollectReading.of(grows)) == "The gap grows as ε grows"
    assert measures_heading(CollectReading.of(combined)).startswith("The gap grows as ε grows, however")


def test_strategies_are_named_in_quotes():
    results = along(
        gap=lambda where: rising(where) if where.option("strategy") == "combined" else 0.3,
        collect=CollectTask("grr", EPSILONS, strategies=["combined", "single"], splits="uniform"),
    )

    assert (
        measures_heading(CollectReading.of(results))
        == "The gap grows as ε grows under 'combined'; under 'single' that is not clear"
    )


def test_one_epsilon_or_one_repeat_has_no_trend():
    one = CollectReading.of(along(collect=CollectTask(["grr", "oue"], 1, splits="uniform")))

    assert measures_heading(one) == "One ε was tested, so nothing is known of another"
    assert trend_words(one) == ""
    assert (
        measures_heading(CollectReading.of(along(repeats=1)))
        == "No trend with ε can be told without intervals"
    )


def test_slopes_are_those_of_straight_lines_through_each_repeat():
    """The heading rests on this number, so it is computed again with a library's line."""
    results = along(gap=rising)
    found = {way_name(each.setting): each.slope for each in trends(CollectReading.of(results))}
    for split in ("uniform", "k-based"):
        slopes = []
        for repeat in range(5):
            means = [
                np.mean(
                    [
                        measured(results, setting(name, epsilon, split), "sp_gap")[repeat]
                        for name in ("grr", "oue")
                    ]
                )
                for epsilon in ("1/2", 1, 4, 16)
            ]
            slopes.append(np.polyfit(np.log2(EPSILONS), means, 1)[0])
        expected = interval(np.array(slopes), level=1 - 0.05 / 2)

        slope = found[f"{split} split"]
        assert (slope.value, slope.low, slope.high) == pytest.approx(expected, abs=1e-12)
        assert f"{split} split +{100 * expected[0]:.1f} (" in trend_words(CollectReading.of(results))


# --- who moved ------------------------------------------------------------------------------------

MOVES = [
    (two(0.33, 0.57, accuracy=(0.78, 0.80)), "Who moved: women up, men down, and both lose accuracy"),
    (
        two(0.33, 0.63, accuracy=(0.7996, 0.8198)),
        "Who moved: both up, and no group's accuracy clearly changes",
    ),
    (
        two(0.301, 0.601, accuracy=(0.76, 0.8199)),
        "Who moved: no group clearly moves, and women clearly loses accuracy",
    ),
    (two(0.33, 0.601, accuracy=(0.84, 0.8199)), "Who moved: women up, and women clearly gains accuracy"),
    (
        two(0.33, 0.601, accuracy=(0.84, 0.80)),
        "Who moved: women up, and men loses accuracy and women gains accuracy",
    ),
]


@pytest.mark.parametrize(("after", "words"), MOVES)
def test_who_moved_is_named_by_the_interval_of_each_group(after, words):
    assert moved_heading(CollectReading.of(made(against(BEFORE, after), repeats=7))) == words


@pytest.mark.parametrize("repeats", [2, 6])
def test_who_moved_cannot_be_told_by_few_repeats(repeats):
    results = made(against(BEFORE, two(0.33, 0.57, accuracy=(0.78, 0.80))), repeats=repeats)

    assert moved_heading(CollectReading.of(results)) == "Fewer than 7 repeats cannot tell who moved"


def many(lost, count=6):
    """Return a study of many groups, of which those before `lost` lose and are selected more."""
    groups = tuple(f"group {place}" for place in range(count))

    def rates(where):
        moved = 0.05 if where.is_protected else 0.0
        return {
            group: (
                0.3 + 0.02 * place + moved * (place < lost),
                0.5,
                0.8 + 0.001 * place - moved * (place < lost),
            )
            for place, group in enumerate(groups)
        }

    return made(rates, groups=groups, repeats=7)


def test_many_groups_are_counted():
    assert moved_heading(CollectReading.of(many(6))) == "Who moved: all up, and all lose accuracy"
    assert (
        moved_heading(CollectReading.of(many(4)))
        == "Who moved: 4 of 6 groups up, and 4 of 6 groups clearly lose accuracy"
    )
    assert (
        moved_heading(CollectReading.of(many(1)))
        == "Who moved: group 0 up, and group 0 clearly loses accuracy"
    )


def test_with_many_groups_a_name_needs_more_than_five_in_a_hundred():
    """Of twenty groups one moves by chance; naming it would accuse it of something."""
    two_groups, six_groups = (CollectReading.of(each) for each in (made(against(BEFORE, BEFORE)), many(1)))

    assert two_groups.moved(WOMEN, "selection").level == pytest.approx(0.975)
    assert six_groups.moved(six_groups.low, "selection").level == pytest.approx(1 - 0.05 / 6)


def test_without_intervals_nobody_is_said_to_have_moved():
    one = CollectReading.of(made(against(BEFORE, two(0.5, 0.5)), repeats=1))

    assert moved_heading(one) == "Who moved cannot be told without intervals"
    assert paid_apart(one) == ""


def test_whether_groups_lose_different_amounts_is_tested_on_the_difference():
    """One clear and one unclear loss do not make a clear difference between them."""
    same = CollectReading.of(made(against(BEFORE, two(0.3, 0.6, accuracy=(0.79, 0.81)))))
    worse = CollectReading.of(made(against(BEFORE, two(0.3, 0.6, accuracy=(0.75, 0.81)))))
    better = CollectReading.of(made(against(BEFORE, two(0.3, 0.6, accuracy=(0.80, 0.75)))))

    assert paid_apart(same).startswith("In the change of accuracy women and men do not differ clearly: ")
    assert paid_apart(worse).startswith("The change of accuracy is worse for women than for men, by 3.9 ")
    assert paid_apart(better).startswith("The change of accuracy is better for women than for men, by ")


# --- protocols ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({}, "At ε = 1, no other setting differs clearly from GRR, uniform split"),
        (
            {("oue", "k-based", 1): (0.28, 0.7)},
            "At ε = 1, 1 of 5 other settings differs clearly from GRR, uniform split",
        ),
        (
            {("oue", None, 1): (0.28, 0.7)},
            "At ε = 1, 2 of 5 other settings differ clearly from GRR, uniform split",
        ),
        (
            {("grr", "uniform", 1): (0.28, 0.8), (None, None, 1): (0.28, 0.7)},
            "At ε = 1, every other setting differs from GRR, uniform split",
        ),
    ],
)
def test_protocols_differ_only_by_their_paired_intervals(table, words):
    assert protocols_heading(CollectReading.of(made(by_setting(table), collect=FULL))) == words


def test_the_furthest_protocol_is_named_with_what_its_interval_says():
    near = CollectReading.of(made(by_setting({}), collect=FULL))
    far = CollectReading.of(made(by_setting({("oue", "k-based", 1): (0.35, 0.8)}), collect=FULL))
    two_only = CollectReading.of(
        made(
            by_setting({("oue", None, 1): (0.35, 0.8)}),
            collect=CollectTask(["grr", "oue"], 1, splits="uniform"),
        )
    )

    assert widest_rival(near).endswith(", which includes no difference.")
    assert re.match(
        r"Furthest away in the gap is OUE, k-based split: \+[67]\.\d points \(", widest_rival(far)
    )
    assert widest_rival(far).endswith(", which leaves out no difference.")
    assert protocols_heading(two_only) == "At ε = 1, the other setting differs from GRR, uniform split"


def test_protocols_of_one_repeat_cannot_be_told_apart():
    one = CollectReading.of(made(by_setting({("oue", None, 1): (0.1, 0.3)}), collect=FULL, repeats=1))

    assert protocols_heading(one) == "At ε = 1, settings cannot be told apart without intervals"
    assert widest_rival(one) == ""


# --- where the gap comes from ---------------------------------------------------------------------

SOURCES = [
    (0.2, BEFORE, two(0.33, 0.57), "the model widens the gap of the labels; protection narrows it"),
    (0.4, BEFORE, two(0.27, 0.63), "the model narrows the gap of the labels; protection widens it"),
    (
        0.301,
        BEFORE,
        two(0.3002, 0.6),
        (
            "the model's gap does not differ clearly from that of the labels; "
            "protection does not clearly change it"
        ),
    ),
    (-0.1, BEFORE, two(0.6, 0.3), "the model turns the gap of the labels round; protection turns it round"),
    (0.2, two(0.45, 0.4501), two(0.40, 0.50), "the model narrows the gap of the labels; protection moves it"),
    (-0.2, two(0.6, 0.3), two(0.57, 0.33), "the model widens the gap of the labels; protection narrows it"),
]


@pytest.mark.parametrize(("truth", "before", "after", "words"), SOURCES)
def test_where_the_gap_comes_from_rests_on_pairs(truth, before, after, words):
    results = made(against(before, after), truth=truth)

    assert data_heading(CollectReading.of(results)) == f"Between men and women: {words}"


def test_the_gap_of_the_labels_has_the_same_words_whoever_is_privileged():
    turned = {WOMEN: BEFORE[MEN], MEN: BEFORE[WOMEN]}
    after = two(0.33, 0.57)
    turned_after = {WOMEN: after[MEN], MEN: after[WOMEN]}
    mirrored = made(against(turned, turned_after), schema=schema_of(privileged=WOMEN), truth=0.2)

    assert data_heading(CollectReading.of(mirrored)) == f"Between women and men: {SOURCES[0][3]}"


def test_the_section_says_that_its_gap_is_another_than_that_of_the_answers():
    """Two gaps under one name, such as 12 and 9 points, make a reader doubt both."""
    regions = ("north", "south", "west")
    rates = {group: (share, 0.5, 0.8) for group, share in zip(regions, (0.3, 0.5, 0.4), strict=True)}
    section = data_section(CollectReading.of(made(lambda _: rates, groups=regions)))

    assert "privileged" not in section.heading
    assert section.heading.startswith("Between west and everybody else: ")
    assert "another gap than the selection gap of the answers" in section.lead


def test_without_intervals_or_labels_nothing_is_said_of_where_the_gap_comes_from():
    one = CollectReading.of(made(against(BEFORE, BEFORE), repeats=1))
    blank = CollectReading.of(made(against(BEFORE, BEFORE), truth=float("nan")))

    assert data_heading(one) == "Where the gap comes from cannot be told without intervals"
    assert gap_sources(blank) is None


# --- all of them ----------------------------------------------------------------------------------

HEADINGS = (frontier_heading, measures_heading, moved_heading, protocols_heading, data_heading)


def test_every_heading_is_true_at_the_ends_of_its_interval():
    """Headings are read alone. Each word of movement is checked against limits that are computed here."""
    seen = set()
    for results in sweep():
        reading = CollectReading.of(results)
        spd = measured(results, reading.chosen, "spd") - measured(results, NOTHING, "spd")
        heading = data_heading(reading).partition("; ")[2]
        if heading in {"protection narrows it", "protection widens it"}:
            low, high = interval(spd)[1:]
            seen.add(heading)

            assert low > 0 or high < 0
        for group, place in ((WOMEN, 0), (MEN, 1)):
            heading = moved_heading(reading).partition(", and ")[0]
            rates = results.arrays.of_groups[..., place, results.arrays.rates.index("selection")]
            runs = rates[results.place(reading.chosen)] - rates[results.place(NOTHING)]
            for word, sign in (("up", 1), ("down", -1)):
                if re.search(rf"(?:\b{group}|both) {word}", heading):
                    seen.add(word)

                    assert interval(sign * runs)[1] > 0
    assert {"up", "down", "protection narrows it", "protection widens it"} <= seen


def test_no_heading_says_what_is_never_said():
    for results in sweep():
        reading = CollectReading.of(results)
        for heading in HEADINGS:
            said = heading(reading)

            assert not NEVER.search(said)
            assert said[0].isupper() or said[0].isdigit()
            assert not said.endswith(".")
