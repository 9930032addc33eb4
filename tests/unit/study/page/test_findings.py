"""The three sentences: every variant, every number, and no claim that its interval does not bear."""

import re

import pytest

from evenhand.errors import InvalidParameterError
from evenhand.study.page import reading as findings_reading
from evenhand.study.page.comparing import strict
from evenhand.study.page.page import answers
from evenhand.study.results.estimates import estimate
from evenhand.study.tasks.collect.reading import CollectReading
from evenhand.study.tasks.collect.task import CollectTask
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


@pytest.mark.parametrize("repeats", [2, 3, 5])
def test_a_number_has_one_interval_on_a_page_and_only_possible_values_in_it(repeats):
    """Its figure and its table must not tell two intervals, and no rate is above 100 %."""
    after = two(0.98, 0.999, accuracy=(0.98, 0.999))
    reading = CollectReading.of(made(against(BEFORE, after), repeats=repeats, noise=0.02))
    for group in reading.groups:
        for rate in ("selection", "tpr", "accuracy", "precision"):
            pair = reading.rate_pair(group, rate)

            assert pair == tuple(reading.rate(group, rate, each) for each in (NOTHING, reading.chosen))
            assert all(0 <= each.low <= each.high <= 1 for each in pair if each.has_interval)
    assert reading.pair("acc") == tuple(
        estimate(reading.results, each, "acc") for each in (NOTHING, reading.chosen)
    )


# --- accuracy -------------------------------------------------------------------------------------

ACCURACY = [
    (
        two(0.3, 0.6, accuracy=(0.7925, 0.8025)),
        r"It costs men most: accuracy falls by 1\.\d points, and by 0\.\d for women\.",
    ),
    (
        two(0.3, 0.6, accuracy=(0.74, 0.77)),
        r"It costs women most: accuracy falls by [56]\.\d points, and by \d\.\d for men\.",
    ),
    (
        two(0.3, 0.6, accuracy=(0.77, 0.82)),
        r"One group clearly pays, women: its accuracy falls by \d\.\d points\.",
    ),
    (
        two(0.3, 0.6, accuracy=(0.75, 0.84)),
        r"One group pays, women: its accuracy falls by \d\.\d points, while that of men rises by \d\.\d\.",
    ),
    (two(0.3, 0.6, accuracy=(0.82, 0.83)), r"Nobody clearly pays: accuracy rises by 1\.\d points\."),
    (
        two(0.3, 0.6, accuracy=(0.7999, 0.8199)),
        r"Nobody clearly pays: accuracy changes by less than \d\.\d points in every group\.",
    ),
]


@pytest.mark.parametrize(("after", "words"), ACCURACY)
def test_the_first_sentence_says_who_pays(after, words):
    """ "Everyone pays" while one group gains would hide who pays, which is the question."""
    first = answers(made(against(BEFORE, after), repeats=7))[0]

    assert re.fullmatch(words, first.finding)


def test_a_loss_of_all_does_not_say_who_pays_with_few_repeats():
    """The change of one group has no interval then, so that it is neither clear nor unclear."""
    results = made(against(BEFORE, two(0.3, 0.6, accuracy=(0.74, 0.77))), repeats=6)
    first = answers(results)[0]

    assert re.fullmatch(r"Accuracy falls by 5\.\d points, and 6 repeats cannot say who pays\.", first.finding)
    assert re.search(
        r"without an interval, which takes 7 repeats or more: women −[56]\.\d and men −[45]\.\d\.$", first
    )


def test_a_loss_of_all_that_is_no_group_s_is_said_so():
    """With few people in each group the sum may be clear and no part of it."""
    swing = {0: 0.03, 1: -0.03, 2: 0.02, 3: -0.03, 4: 0.01, 5: -0.02, 6: 0.02}
    plain = made(against(BEFORE, two(0.3, 0.6, accuracy=(0.79, 0.81))), repeats=7)
    outcomes = []
    for each in plain.outcomes:
        if each.cell.setting.is_protected:
            shift = swing[each.cell.repeat]
            each.groups[WOMEN]["accuracy"] += shift
            each.groups[MEN]["accuracy"] -= shift
        outcomes.append(each)
    first = answers(type(plain)(plain.plan, plain.facts, outcomes))[0]

    assert first.finding.endswith("and it is not clear who pays.")
    assert re.search(r"By group: \w+ −\d\.\d \(−\d\.\d to \+\d\.\d\) and ", first.evidence)


def test_groups_that_the_finding_does_not_name_stand_behind_it_with_their_interval():
    first = answers(made(against(BEFORE, two(0.3, 0.6, accuracy=(0.77, 0.82))), repeats=7))[0]

    assert re.search(r"Others: men [+−]?0\.\d \(−\d\.\d to \+\d\.\d\)\.$", first.evidence)


def test_a_group_without_an_interval_is_told_without_one():
    results = made(against(BEFORE, two(0.3, 0.6, accuracy=(0.77, 0.82))), repeats=7)
    results.outcomes[0].groups[MEN]["accuracy"] = float("nan")
    first = answers(type(results)(results.plan, results.facts, results.outcomes))[0]

    assert re.search(r"without an interval, which takes 7 repeats or more: men [+−]0\.\d\.$", first)


def test_no_change_in_any_repeat_is_not_called_unclear():
    results = made(against(BEFORE, BEFORE), noise=0, repeats=7)
    for each in results.outcomes:
        for rates in each.groups.values():
            rates["base_rate"] += 1e-5 * each.cell.repeat
    first, second, _ = answers(type(results)(results.plan, results.facts, results.outcomes))

    assert first.finding == "Accuracy is the same with and without protection in every repeat."
    assert "Equal repeats do not tell how often others differ." in first.evidence
    assert second.finding == "The selection gap does not change in any repeat."
    assert "30.0 points in both" in second


def test_the_group_that_loses_is_named_among_many():
    groups = tuple(f"group {place}" for place in range(6))

    def rates(where):
        lost = 0.1 if where.is_protected else 0.0
        return {
            group: (0.3 + 0.01 * place, 0.5, 0.81 + 0.001 * place - (lost if place == 0 else 0.0))
            for place, group in enumerate(groups)
        }

    first = answers(made(rates, groups=groups, repeats=7))[0]

    assert re.fullmatch(
        r"One group clearly pays, group 0: its accuracy falls by \d+\.\d points\.", first.finding
    )
    assert first.evidence.count("group ") == 5


def test_a_loss_that_cannot_be_ruled_out_is_said():
    """ "Nobody clearly pays" beside an interval down to ten points would read as an all-clear."""
    first = answers(made(against(BEFORE, two(0.3, 0.6, accuracy=(0.79, 0.81))), noise=0.03, repeats=7))[0]
    few = answers(made(against(BEFORE, two(0.3, 0.6, accuracy=(0.79, 0.81))), noise=0.02, repeats=5))[0]

    assert re.fullmatch(
        r"No group clearly pays, but a loss of \d+\.\d points for (wo)?men cannot be ruled out\.",
        first.finding,
    )
    assert re.fullmatch(
        r"A loss of \d+\.\d points of accuracy cannot be ruled out, and 5 repeats cannot say who pays\.",
        few.finding,
    )


# --- the gap --------------------------------------------------------------------------------------

GAP = [
    (BEFORE, two(0.32, 0.58), "The selection gap narrows from 3"),
    (BEFORE, two(0.45, 0.45), "The selection gap narrows from 3"),
    (BEFORE, two(0.28, 0.62), "The selection gap grows from 3"),
    (BEFORE, two(0.30, 0.60), "The selection gap does not clearly change."),
    (BEFORE, two(0.55, 0.40), "The gap turns round: selection is now 1"),
    (two(0.45, 0.4501), two(0.4502, 0.45), "There is no clear gap between {} and {}, with or without prot"),
    (two(0.45, 0.4501), two(0.40, 0.50), "Protection opens a gap: "),
]


@pytest.mark.parametrize(("before", "after", "words"), GAP)
def test_what_happens_to_the_gap_is_said_by_its_interval(before, after, words):
    results = made(against(before, after))
    second = answers(results)[1]
    reading = CollectReading.of(results)

    assert second.finding.startswith(words.format(reading.high, reading.low))


def test_a_gap_that_closes_for_one_group_alone_says_who_moved():
    """A gap that narrows because men lose is another finding than one that narrows because women gain."""
    second = answers(made(against(BEFORE, two(0.30, 0.55)), repeats=7))[1]
    other = answers(made(against(BEFORE, two(0.35, 0.60)), repeats=7))[1]

    assert second.finding.endswith("points, because selection falls for men.")
    assert other.finding.endswith("points, because selection rises for women.")
    assert re.search(r"Selected: women 3\d\.\d% → 3\d\.\d%, men 60\.\d% → 5\d\.\d%\.$", second)


def test_no_reason_is_given_where_no_group_s_own_move_has_an_interval():
    second = answers(made(against(BEFORE, two(0.30, 0.55)), repeats=6))[1]

    assert "because" not in second
    assert second.finding.startswith("The selection gap narrows from ")


def test_selection_rates_that_do_not_move_are_said_to():
    second = answers(made(against(BEFORE, BEFORE), repeats=7))[1]

    assert second.evidence.endswith("Selection rates do not clearly change in either group.")


def test_swapped_groups_give_the_mirrored_sentence():
    """If the sentence depended on which group comes first, half of all readers would be misled."""

    def swapped(text):
        return text.replace("women", "@").replace("men", "women").replace("@", "men")

    for before, after, _ in GAP[:5]:
        rates = against(before, after)
        turned = against(*({WOMEN: each[MEN], MEN: each[WOMEN]} for each in (before, after)))
        plain = answers(made(rates, schema=schema_of(privileged=MEN)))
        mirrored = answers(made(turned, schema=schema_of(privileged=WOMEN)))

        assert mirrored[1] == swapped(plain[1])


def test_a_privileged_group_that_is_worse_off_is_said():
    second = answers(made(against(BEFORE, two(0.32, 0.58)), schema=schema_of(privileged=WOMEN)))[1]

    assert second.endswith(" Selection is lowest for women, the group declared as privileged.")


def test_means_and_their_change_are_of_the_same_repeats():
    """With runs that failed, 63.5 points could become 58.1 and that be called a change of +2.8."""
    grr, shift = setting(), (0.0, 0.0, 0.1, 0.1, 0.1)
    results = made(
        against(BEFORE, two(0.3, 0.64, accuracy=(0.78, 0.8))), failed={(grr, 3), (grr, 4), (NOTHING, 0)}
    )
    for each in results.outcomes:
        if each.failure is None:
            each.measures["sp_gap"] += shift[each.cell.repeat]
            each.measures["acc"] += shift[each.cell.repeat]
    reading = CollectReading.of(type(results)(results.plan, results.facts, results.outcomes))
    second = answers(reading.results)[1]

    for measure in ("acc", "sp_gap"):
        before, after = reading.pair(measure)
        assert before.runs == after.runs == reading.change(measure).runs == 2
        assert after.value - before.value == pytest.approx(reading.change(measure).value)
    shown = "is {:.1f} points unprotected and {:.1f} at ε = 1"
    assert shown.format(*(100 * each.value for each in reading.pair("sp_gap"))) in second


def test_a_group_that_loses_much_stands_before_a_small_loss_of_all():
    """A small group may lose ten points while everybody together loses one."""
    after = two(0.3, 0.6, accuracy=(0.7, 0.81))
    results = made(against(BEFORE, after), repeats=7)
    for each in results.outcomes:
        each.measures["acc"] = 0.8 + 0.001 * each.cell.repeat if each.cell.setting.is_protected else 0.81
    first = answers(type(results)(results.plan, results.facts, results.outcomes))[0]

    assert re.match(r"It costs women most: accuracy falls by (9|10)\.\d points, and by ", first.finding)


def test_what_is_left_of_a_gap_that_may_be_none_is_said():
    """The mean of sizes is above zero even where there is no gap at all."""
    results = made(against(BEFORE, two(0.5, 0.5001)), noise=0.02)

    assert "What is left may be none." in answers(results)[1]


# --- what is missing ------------------------------------------------------------------------------


def test_one_setting_is_named_and_said_to_be_the_only_one():
    assert answers(made(against(BEFORE, BEFORE), repeats=7))[2].finding == (
        "You can use GRR, uniform split, ε = 1; nothing else was tested."
    )


def test_a_single_repeat_claims_nothing():
    """Without an interval any difference may be chance, however large it is."""
    first, second, third = answers(
        made(against(BEFORE, two(0.5, 0.2)), repeats=1, collect=CollectTask("grr", [1, 2], splits="uniform"))
    )

    assert first.finding == "One repeat cannot say who pays."
    assert second.finding == "One repeat cannot say what happens to the gap."
    assert third.finding == "Run more repeats before choosing."


def test_cells_that_failed_or_were_not_run_are_counted():
    grr = setting()
    results = made(against(BEFORE, BEFORE), failed={(grr, 0)}, missing={(NOTHING, 1), (grr, 2)})

    assert answers(results)[0].endswith(
        " 1 of 10 runs failed and 2 of 10 runs were not run, and these are missing from every number."
    )
    one = answers(made(against(BEFORE, BEFORE), missing={(grr, 2)}))[0]
    assert one.endswith(" 1 of 10 runs was not run, and this is missing from every number.")


def test_measures_without_a_value_are_said_to_have_none():
    first, second, _ = answers(made(against(BEFORE, BEFORE), undefined=("acc", "sp_gap")))

    assert first.finding == "These runs cannot say who pays."
    assert first.endswith(" Accuracy is undefined unprotected and undefined at ε = 1.")
    assert second.finding == "These runs cannot say what happens to the gap."
    assert "undefined unprotected and undefined at ε = 1." in second


def test_a_study_in_which_everything_failed_still_has_three_sentences():
    results = made(
        against(BEFORE, BEFORE),
        failed={(each, repeat) for each in (NOTHING, setting()) for repeat in range(5)},
    )
    found = answers(results)

    assert len(found) == 3
    assert "10 of 10 runs failed" in found[0]
    assert not any(NEVER.search(each) for each in found)


def test_too_few_results_beside_the_chosen_one_are_nothing_to_compare_with():
    collect = CollectTask("grr", [1, 2], splits="uniform")
    results = made(
        against(BEFORE, BEFORE), collect=collect, failed={(setting(epsilon=2), place) for place in range(5)}
    )

    assert answers(results)[2].finding == "Run more repeats before choosing."


# --- numbers --------------------------------------------------------------------------------------


def test_numbers_in_sentences_are_those_of_the_cells():
    """A sentence that says another number than the table is worse than none."""
    results = made(against(BEFORE, two(0.33, 0.57, accuracy=(0.79, 0.80))), repeats=7)
    grr = CollectReading.of(results).chosen
    first, second, _ = answers(results)
    gaps = [measured(results, each, "sp_gap") for each in (NOTHING, grr)]
    lost = []
    for group in (MEN, WOMEN):
        at = results.arrays.groups.index(group), results.arrays.rates.index("accuracy")
        runs = [results.arrays.of_groups[results.place(each), :, at[0], at[1]] for each in (NOTHING, grr)]
        lost.append([100 * each for each in interval(runs[0] - runs[1], 0.975, spread="accuracy, change")])
    moved = [100 * each for each in interval(gaps[1] - gaps[0])]

    assert first.finding == (
        f"It costs men most: accuracy falls by {lost[0][0]:.1f} points, and by {lost[1][0]:.1f} for women."
    )
    assert "({:.1f} to {:.1f} and {:.1f} to {:.1f}; GRR".format(*lost[0][1:], *lost[1][1:]) in first.evidence
    assert f"from {100 * gaps[0].mean():.1f} to {100 * gaps[1].mean():.1f} points" in second.finding
    shown = "(By {:.1f} to {:.1f} points.)".format(*sorted(abs(limit) for limit in moved[1:]))
    assert shown in second.evidence


def test_numbers_in_sentences_follow_the_cells():
    """The twin of the test above: other cells, other numbers."""
    low = answers(made(against(BEFORE, two(0.33, 0.57, accuracy=(0.79, 0.81)))))
    high = answers(made(against(BEFORE, two(0.34, 0.56, accuracy=(0.78, 0.80)))))

    assert low[0] != high[0]
    assert low[1] != high[1]


def test_small_but_clear_changes_do_not_look_like_none():
    """0.0 (0.0 to 0.0) beside the word "falls" reads as a mistake."""
    results = made(against(BEFORE, two(0.3, 0.6, accuracy=(0.7998, 0.8198))), noise=0.00002, repeats=7)
    first = answers(results)[0]

    assert re.search(r"accuracy falls by 0\.0\d+ points", first)
    assert not re.search(r"\(0\.0 to|\(0\.00 to", first)


# --- which setting --------------------------------------------------------------------------------


def test_the_page_is_about_the_epsilon_nearest_to_one():
    epsilons = {(0.25, 0.5, 8): "0.5", (0.5, 2): "0.5", (0.1, 3): "3", (16, 4): "4"}
    for tested, expected in epsilons.items():
        results = made(against(BEFORE, BEFORE), collect=CollectTask("grr", list(tested), splits="uniform"))

        assert f"{float(CollectReading.of(results).chosen.epsilon):g}" == expected


def test_an_epsilon_without_results_is_passed_over():
    grr = setting()
    results = made(
        against(BEFORE, BEFORE),
        collect=CollectTask("grr", [1, 4], splits="uniform"),
        failed={(grr, place) for place in range(5)},
    )

    assert float(CollectReading.of(results).chosen.epsilon) == 4


def test_the_first_setting_of_the_plan_is_kept_unless_another_is_clearly_better():
    """A page about whichever setting came out best would be about chance."""
    noisy = made(by_setting({}), collect=FULL, noise=0.02)
    better = made(by_setting({("ss", "k-based", 1): (0.20, 0.80)}), collect=FULL)
    trade = made(by_setting({("ss", "k-based", 1): (0.20, 0.78)}), collect=FULL)

    assert str(CollectReading.of(noisy).chosen) == "GRR, uniform split, ε = 1"
    assert str(CollectReading.of(better).chosen) == "SS, k-based split, ε = 1"
    assert str(CollectReading.of(trade).chosen) == "GRR, uniform split, ε = 1"


def switched():
    """Return in how many of 12 studies without any difference the rule leaves the first of 21 settings."""
    protocols = ["grr", "oue", "ss", "olh", "blh", "rappor", "the"]
    collect = CollectTask(protocols, 1, splits=["uniform", "k-based", "optimal"])
    count = 0
    for seed in range(12):
        rates = two(0.3 + 1e-9 * seed, 0.6 + 1e-9 * seed, accuracy=(0.8 + 1e-9 * seed, 0.82 + 1e-9 * seed))
        results = made(lambda _each, rates=rates: rates, collect=collect, noise=0.02)
        count += str(CollectReading.of(results).chosen) != "GRR, uniform split, ε = 1"
    return count


def test_trying_many_settings_does_not_by_itself_name_a_winner(monkeypatch):
    """At five in a hundred, one of twenty often looks better by chance; the level is raised for it."""
    raised = switched()
    monkeypatch.setattr(findings_reading, "strict", lambda _comparisons: 0.95)
    as_they_come = switched()

    assert strict(40) == pytest.approx(1 - 0.05 / 40)
    assert raised <= 1
    assert as_they_come > 1  # so the test can see: 16 of 40 such studies, and none with the level raised


def test_a_setting_may_be_asked_for():
    results = made(by_setting({}), collect=FULL)

    assert "OUE, k-based split, ε = 4" in answers(results, chosen="oue k-based 4")[0]
    with pytest.raises(InvalidParameterError, match="must be a protected setting"):
        answers(results, chosen="unprotected")


# --- every sentence -------------------------------------------------------------------------------


def test_no_word_claims_more_than_its_interval():
    """Each comparative word of a finding is checked against limits that are computed here."""
    claims = {"narrows": -1, "grows": 1, "opens a gap": 1, "does not clearly change": 0}
    seen = set()
    for results in sweep():
        reading = CollectReading.of(results)
        finding = answers(results)[1].finding
        runs = measured(results, reading.chosen, "sp_gap") - measured(results, NOTHING, "sp_gap")
        for word, sign in claims.items():
            if word not in finding:
                continue
            seen.add(word)
            low, high = interval(runs)[1:]

            assert (low > 0, high < 0) == (sign > 0, sign < 0), finding
        seen.update(_checked_payers(results, reading))
    assert {"narrows", "grows", "does not clearly change", "pays", "rises"} <= seen


def _checked_payers(results, reading):
    """Return which words of the first finding were compared with the change of the group they name."""
    finding, seen = answers(results)[0].finding, set()
    for group in (WOMEN, MEN):
        place = results.arrays.groups.index(group), results.arrays.rates.index("accuracy")
        after, before = (
            results.arrays.of_groups[results.place(each), :, place[0], place[1]]
            for each in (reading.chosen, NOTHING)
        )
        for pattern, word, sign in (
            (rf"^(It costs {group} most|One group (clearly )?pays, {group}):", "pays", -1),
            (rf"while that of {group} rises ", "rises", 1),
        ):
            if re.search(pattern, finding):
                seen.add(word)

                assert interval(sign * (after - before), 0.975, spread="accuracy, change")[1] > 0, finding
    if "accuracy rises" in finding and " for " not in finding:
        seen.add("rises")
        runs = measured(results, reading.chosen, "acc") - measured(results, NOTHING, "acc")

        assert interval(runs, spread="tailed")[1] > 0, finding
    return seen


def test_no_sentence_says_what_is_never_said():
    for results in sweep():
        for sentence in answers(results):
            assert not NEVER.search(sentence), sentence
            assert sentence.count("**") == 2
            assert sentence.startswith("**")
            assert sentence.endswith((".", ".**", ".)"))
