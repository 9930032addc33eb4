"""What the three sentences of a study of classifiers say, and which setting they are about."""

import math

import pytest

from evenhand.errors import InvalidParameterError
from evenhand.report.drawing import Drawing
from evenhand.study.page.page import answers, page_of
from evenhand.study.tasks.learn.methods import METHODS
from evenhand.study.tasks.learn.reading import LearnReading
from unit.study._learn_studies import JITTER, approvals, made, measures, of_group, sections, usual
from unit.study._sentence_rules import broken_rules

pytestmark = pytest.mark.figures

PICTURE = '<svg width="10" height="10"><rect width="5" height="5" fill="#000"/></svg>'


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Leave out pictures, which have tests of their own."""
    monkeypatch.setattr(Drawing, "svg", lambda _: PICTURE)
    monkeypatch.setattr(Drawing, "_add", lambda *_, **__: None)


def test_three_sentences_say_cost_gap_and_choice():
    cost, gap, choice = answers(made(usual))

    assert cost.finding == "Accuracy falls by 2.0 points, and it is not clear who pays."
    assert "Fermi + parity at ε = 1, 9 repeats" in cost.evidence
    assert gap.finding.startswith("The selection gap narrows from 20.0 to 1.2 points, because ")
    assert "(By 18.7 to 18.9 points.)" in gap.evidence
    assert "clearly above the 1.0 points that equal rates would show by chance" in gap.evidence
    assert gap.endswith("Among people like these the mean gap is proved to be at most 2.0 points.")
    assert choice.finding == "Choose DP for accuracy, Fermi + parity for a small gap."
    assert "DP: 84.0% right, gap 21.0 points; Fermi + parity: 83.0% right, gap 1.2 points." in choice
    assert "Less accurate: DP + parity." in choice
    assert "Fermi + parity needs everyone's group when a decision is made." in choice


def test_a_difference_that_is_not_clear_is_not_claimed():
    def noisy(setting, repeat):
        if not setting.is_protected:
            return measures(0.85, 0.2)
        sign = (-1) ** repeat
        return measures(0.85 + 0.02 * sign, 0.2 + 0.03 * sign, epsilon=float(setting.epsilon))

    cost, gap, choice = answers(made(noisy, methods=["dp", "fermi"], repeats=8))

    assert cost.finding == "Accuracy changes by less than 2.0 points, and it is not clear who pays."
    assert gap.finding == "The selection gap does not clearly change."
    assert "No bound on the gap is proved for other people." in gap
    assert choice.finding == "Use DP: no other private method clearly does better."
    assert "Fermi cannot be told from it." in choice


def test_privacy_that_changes_nothing_is_said_to():
    def same(setting, _):
        return measures(0.85, 0.2, epsilon=None if setting.epsilon is None else float(setting.epsilon))

    cost = answers(made(same, methods=["dp"]))[0]

    assert cost.finding == "Accuracy is the same with and without protection in every repeat."
    assert "It is 85.0% (DP at ε = 1" in cost


def test_one_repeat_claims_nothing():
    results = made(usual, repeats=1)
    cost, gap, choice = answers(results)
    page = page_of(results)

    assert cost.finding == "One repeat cannot say who pays."
    assert "DP at ε = 1" in cost
    assert gap.finding == "One repeat cannot say what happens to the gap."
    assert "Equal rates would show 1.0 points by chance." in gap
    assert choice.finding == "Run more repeats before choosing."
    assert choice.action.endswith("--repeats 10")
    assert any("A single repeat has no intervals" in note.text for note in page.notes)
    assert sections(page)["changes"].heading == "One repeat cannot say whose predictions DP at ε = 1 changes"
    assert sections(page)["epsilons"].heading == "One repeat cannot say what a larger ε buys DP"
    assert sections(page)["trade-off"].heading == "One repeat cannot say what DP at ε = 1 does to the gap"


@pytest.mark.parametrize("methods", [["dp"], ["dp", "fermi"], ["dp", "dp+parity", "fermi+parity"]])
@pytest.mark.parametrize("repeats", [2, 6])
def test_too_few_repeats_to_say_who_pays_recommend_nothing(methods, repeats):
    """A heading of the same page says that fewer than 7 repeats cannot say whose predictions change."""
    results = made(usual, methods=methods, repeats=repeats)
    cost, _, choice = answers(results)

    assert cost.finding.endswith(f"and {repeats} repeats cannot say who pays.")
    assert choice.finding == "Run more repeats before choosing."
    assert choice.evidence == f"To say who pays takes 7 repeats or more; {repeats} gave a result."
    assert choice.action == "evenhand audit learn --plan plan.toml --repeats 10"
    assert sections(page_of(results))["changes"].heading.startswith("Fewer than 7 repeats cannot say")


def test_what_protects_nobody_is_replaced_by_nothing_on_too_few_repeats():
    few, enough = (
        answers(made(usual, methods=["dp", "dp+projection"], repeats=repeats), chosen="dp+projection 1")[2]
        for repeats in (6, 7)
    )

    assert few.finding == "DP + projection protects nobody: compare private methods."
    assert enough.finding == "Use DP at ε = 1 instead: DP + projection protects nobody."


def test_a_method_of_which_most_repeats_failed_is_not_recommended():
    """Its few results may be those that look good."""

    def failing(setting, repeat):
        return None if setting.mechanism == "fermi+parity" and repeat > 2 else usual(setting, repeat)

    choice = answers(made(failing), chosen="dp+parity 1")[2]

    assert "Use Fermi" not in choice.finding


def test_a_method_that_cannot_be_told_from_another_is_not_called_the_best():
    def alike(setting, repeat):
        numbers, people = usual(setting, repeat)
        return {**numbers, "acc": 0.84 - 0.04 * (setting.mechanism == "fermi")}, people

    choice = answers(made(alike, methods=["dp", "fermi", "dp+parity"]), chosen="dp+parity 1")[2]

    assert choice.finding
    assert not ("does best" in choice.finding and "cannot be told from it" in choice.evidence)


def test_a_wider_gap_and_a_gain_are_called_so():
    def other(setting, repeat):
        if not setting.is_protected:
            return measures(0.8, 0.1)
        return measures(0.82 + JITTER[repeat % 3], 0.15 + JITTER[repeat % 3], epsilon=float(setting.epsilon))

    cost, gap, choice = answers(made(other, methods=["dp"]))

    assert cost.finding == "Nobody clearly pays: accuracy rises by 2.0 points."
    assert gap.finding == "The selection gap grows from 10.0 to 15.0 points."
    assert "clearly above the 1.0 points" in gap
    assert choice.finding == "Compare DP with other private methods before you choose."


def test_a_gap_below_that_of_equal_rates_is_said_to_be():
    def less(setting, repeat):
        return {**usual(setting, repeat)[0], "fair_gap": 0.5}

    assert "The gap is below the 50.0 points" in answers(made(less))[1]


def test_without_two_groups_in_a_test_equal_rates_are_not_spoken_of():
    def alone(setting, repeat):
        return {**usual(setting, repeat)[0], "fair_gap": math.nan}

    assert "qual rates" not in answers(made(alone))[1]


def test_better_rivals_are_named_where_another_setting_is_asked_for():
    _, _, choice = answers(made(usual), chosen="dp+parity 1")

    assert choice.finding == "Use Fermi + parity instead of DP + parity: it has 3.0 points more accuracy."
    assert "Another balance of accuracy and gap: DP." in choice
    assert "By group, without an interval" in choice
    trade = answers(made(usual), chosen="dp 1")[2]
    assert trade.finding == "Choose DP for accuracy, Fermi + parity for a small gap."
    assert "Fermi + parity: 83.0% right, gap 1.2 points; DP + parity: 80.0% right, gap 1.2 points." in trade


def test_what_promises_nothing_recommends_nothing():
    results = made(usual, methods=["plain+parity", "dp+projection"])
    cost, gap, choice = answers(results, chosen="plain+parity")

    assert cost.finding == "Plain + parity protects nobody: it is trained on the rows as they are."
    assert "Accuracy falls by 4.0 points" in cost.evidence
    assert gap.finding.startswith("The selection gap narrows from 20.0 to 1.2 points")
    assert choice.finding == "Plain + parity protects nobody: compare private methods."
    assert "--methods plain+parity,dp,dp+parity,fermi,fermi+parity,dp+projection" in choice.action


# --- who pays ---------------------------------------------------------------------------------------


def test_parity_that_approves_almost_everybody_is_said_to_be_no_better_than_approving_all():
    """It costs one group 16 points, and approving everybody would be right for 87.7 %."""
    results = approvals((0.671, 0.918), (0.976, 0.984))
    cost, gap, choice = answers(results, chosen="dp+parity 1")
    page = page_of(results, chosen="dp+parity 1")
    numbers = {number.label: number for number in page.numbers}
    parts = sections(page)

    assert "it predicts “yes” for 98.3% of people." in cost.finding
    assert cost.finding.startswith("With DP + parity at ε = 1 the model no longer tells people apart")
    assert "Saying “yes” to everyone is right for 87.7%, the model for 87.7%" in cost
    assert "black −16.2 (" in cost
    assert "white −2.5 (" in cost
    assert (numbers["Accuracy for black, %"].value, numbers["Accuracy for black, %"].before) == (
        "67.1",
        "83.3",
    )
    assert numbers["Accuracy for white, %"].value == "91.8"
    assert numbers["Balanced accuracy, %"].value
    assert gap.finding == "The gap shrinks only because almost everyone gets the same answer."
    assert choice.finding == "Use DP at ε = 1: it still tells people apart."
    assert "narrow" not in " ".join([*page.answers, *(section.heading for section in page.sections)])
    assert (
        parts["fairer"].heading == "DP at ε = 1 has the smallest gap of the settings that tell people apart"
    )
    assert parts["fairer"].tables[0].rows[1][0] == "DP + parity at ε = 1\nnot clearly better than one answer"
    assert any(
        "DP + parity at ε = 1 and DP + parity at ε = 3" in note.text for note in parts["numbers"].notes
    )


def test_parity_that_is_a_little_better_than_approving_all_is_measured_against_it():
    """The gap closes because almost everybody is approved, and that is said with it."""
    results = approvals((0.671, 0.933), (0.963, 0.976))
    cost, gap, choice = answers(results)

    assert cost.finding == "It costs black most: accuracy falls by 16.2 points, and by 1.0 for white."
    assert "Saying “yes” to everyone is right for 87.7%; the model is right 1.2 points more often." in cost
    assert gap.finding.endswith("because almost everyone now gets the answer “yes”.")
    assert choice.finding == "Choose DP for accuracy, DP + parity for a small gap."
    assert sections(page_of(results))["baselines"].heading == (
        "The model barely tells people apart: it beats one answer for everyone by 1.2 points"
    )


def test_a_model_that_gives_almost_everybody_one_answer_is_dead_though_it_is_a_hair_better():
    """Where the outcome is rare, a clear lead of a tenth of a point is one error avoided in fifty."""
    results = approvals((0.6735, 0.9195), (0.985, 0.992))
    cost, gap, _ = answers(results, chosen="dp+parity 1")
    ahead = LearnReading.of(results, chosen="dp+parity 1").ahead_of_same_answer()

    assert ahead.is_clear
    assert cost.finding.startswith("With DP + parity at ε = 1 the model no longer tells people apart")
    assert "Saying “yes” to everyone is right for 87.7%, the model for 87.9%" in cost
    assert gap.finding == "The gap shrinks only because almost everyone gets the same answer."


@pytest.mark.parametrize(("repeats", "shrinks"), [(10, True), (1, False)])
def test_a_gap_of_a_dead_model_shrinks_only_where_the_change_is_clear(repeats, shrinks):
    """One run cannot say that a gap became smaller, whatever the model answers."""
    _, gap, _ = answers(approvals((0.671, 0.918), (0.976, 0.984), repeats=repeats), chosen="dp+parity 1")

    assert gap.finding.startswith("The gap shrinks only because") == shrinks
    assert gap.finding.startswith("The gap no longer says much") != shrinks


def test_how_to_make_it_fairer_says_what_each_method_costs_whom():
    section = sections(page_of(approvals((0.671, 0.933), (0.963, 0.976))))["fairer"]
    [table] = section.tables

    assert section.lead.endswith("It is black who clearly loses most with each of them.")
    assert [row[3].partition("\n")[0] for row in table.rows] == ["**−4.0**", "**−16.2**"]
    assert [row[4].partition("\n")[0] for row in table.rows] == ["**−0.8**", "**−1.0**"]
    assert table.header[3:] == ["black\nchange, points", "white\nchange, points"]
    assert section.heading == "No other tested setting has a clearly smaller gap than DP + parity at ε = 1"
    assert "Not tried: Fermi, Fermi + parity and DP + projection." in section.notes[0].text
    command = "evenhand audit learn --plan plan.toml --methods dp,dp+parity,"
    assert f"To compare them on the same rows: {command}" in section.notes[0].text


def test_a_method_that_is_not_private_is_no_remedy():
    """Its gap may be smaller, and nobody who needs privacy can use it."""

    def even(setting, repeat):
        numbers, people = usual(setting, repeat)
        return ({**numbers, "sp_gap": 0.001} if setting.mechanism == "dp+projection" else numbers), people

    section = sections(page_of(made(even, methods=["dp", "dp+projection"])))["fairer"]

    assert section.heading == "No other tested setting has a clearly smaller gap than DP at ε = 1"


def test_labels_are_those_of_the_rows_that_are_predicted():
    def labelled(setting, repeat):
        numbers, _ = usual(setting, repeat)
        return numbers, {"f": of_group(0.3, base_rate=0.25), "m": of_group(0.31, base_rate=0.625)}

    lead = sections(page_of(made(labelled)))["changes"].lead

    assert "Labels of the same test rows have the outcome for 25.0% of sex = f and 62.5% of sex = m." in lead


def test_what_equal_rates_would_show_is_that_of_the_groups_whose_gap_is_shown():
    """With a group of six people it would be large, and that group is not judged."""

    def three(setting, repeat):
        numbers, _ = usual(setting, repeat)
        groups = {"f": of_group(0.3, 400.0), "m": of_group(0.4, 400.0), "x": of_group(0.9, 6.0)}
        return numbers | {"fair_gap": 0.3}, groups

    page = page_of(made(three, groups=("f", "m", "x")), chosen="dp 1")
    [table] = sections(page)["numbers"].tables

    assert table.rows[1][4] == "2.7"
    assert "Equal rates would show 2.7 points by chance." in page.answers[1]
    assert "Dotted: 2.7 points" in sections(page)["trade-off"].charts[0].caption


# --- bounds -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mean", "with_95", "said", "cell"),
    [
        (0.02, 0.04, "the mean gap is proved to be at most 2.0 points.", "2.0\non the mean"),
        (0.107, 0.06, "the gap is proved to be at most 6.0 points, with 95% certainty.", "6.0\nwith 95%"),
        (1.0, 0.6, "the gap is proved to be at most 60.0 points, with 95% certainty.", "60.0\nwith 95%"),
    ],
)
def test_of_two_bounds_the_smaller_is_shown_and_called_by_its_name(mean, with_95, said, cell):
    """A bound with 95 % below that on the mean looks wrong beside it, and one of the two is enough."""

    def bounded(setting, repeat):
        numbers, people = usual(setting, repeat)
        return {**numbers, "bound": mean, "bound_95": with_95}, people

    page = page_of(made(bounded))
    data = sections(page)["trade-off"].charts[0].data
    drawn = {(a, b) for a, b in zip(data["bound_on_the_mean"], data["bound_95"], strict=True)}

    assert page.answers[1].endswith(said)
    assert sections(page)["numbers"].tables[0].rows[1][5] == cell
    assert drawn == {(2.0, None) if mean < with_95 else (None, round(100 * with_95, 6))}


# --- the next command -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("methods", "epsilons", "rest"),
    [
        (["dp"], (1, 3), "--methods dp,dp+parity,fermi,fermi+parity,dp+projection"),
        (["dp", "dp+parity", "fermi", "fermi+parity"], (1, 3), "--epsilon 1,3,10"),
        (["dp", "dp+parity", "fermi", "fermi+parity"], (1, 10), "--repeats 18"),
    ],
)
def test_the_third_answer_ends_with_the_command_that_tests_what_was_not_tried(methods, epsilons, rest):
    choice = answers(made(usual, methods=methods, epsilons=epsilons))[2]

    assert choice.action == f"evenhand audit learn --plan plan.toml {rest}"


def test_where_no_method_works_a_larger_epsilon_is_tried_first():
    results = approvals((0.671, 0.918), (0.976, 0.984), dp=(0.68, 0.9))
    choice = answers(results, chosen="dp+parity 1")[2]

    assert choice.finding.startswith("No private method works here: allow a larger ε than 3")
    assert choice.action.endswith("--epsilon 1,3,10")


def test_a_smaller_epsilon_that_costs_no_more_is_recommended_and_half_of_it_tried_next():
    choice = answers(made(usual, methods=["dp"]), chosen="dp 3")[2]

    assert choice.finding == "Use DP at ε = 1: here it costs no more than ε = 3."
    assert choice.action.endswith("--epsilon 1/2,1,3")


def test_a_smaller_epsilon_whose_gap_may_be_much_wider_is_not_said_to_cost_no_more():
    """That no wider gap is clear does not rule one out that is wider by more than two points."""

    def unsure(setting, repeat):
        numbers, groups = usual(setting, repeat, acc=0.84, sp_gap=0.2)
        if setting.is_protected and setting.epsilon == 1:
            numbers["sp_gap"] += (-0.06, 0.06, 0.0)[repeat % 3]
        return numbers, groups

    choice = answers(made(unsure, methods=["dp"], repeats=12), chosen="dp 3")[2]

    assert "costs no more" not in choice


def test_where_nobody_pays_a_smaller_epsilon_is_tried_next():
    def free(setting, repeat):
        return measures(0.85, 0.2, epsilon=None if setting.epsilon is None else float(setting.epsilon))

    every = ["dp", "dp+parity", "fermi", "fermi+parity"]

    assert answers(made(free, methods=every))[2].action.endswith("--epsilon 1/2,1,3")


def test_no_sentence_of_a_study_of_classifiers_speaks_of_cells():
    """A cell is a cell of a table; people read of runs."""
    page = page_of(made(usual, methods=list(METHODS)))
    texts = [*page.answers, *page.method, *page.limits, *(note.text for note in page.notes)]
    texts += [text for section in page.sections for text in (section.heading, section.lead)]
    texts += [table.caption for section in page.sections for table in section.tables]

    assert not [text for text in texts if "cell" in text]


# --- the rule ---------------------------------------------------------------------------------------


def test_the_page_is_about_the_private_way_that_no_other_beats():
    assert str(LearnReading.of(made(usual)).chosen) == "Fermi + parity, ε = 1"
    assert str(LearnReading.of(made(usual, methods=["dp", "fermi"])).chosen) == "Fermi, ε = 1"
    assert str(LearnReading.of(made(usual, epsilons=(3, 9))).chosen) == "Fermi + parity, ε = 3"


def test_a_way_that_voids_its_promise_is_never_chosen_over_a_private_one():
    assert str(LearnReading.of(made(usual, methods=["dp+projection", "dp"])).chosen) == "DP, ε = 1"


def test_a_setting_that_is_not_there_is_refused():
    with pytest.raises(InvalidParameterError):
        page_of(made(usual), chosen="local 1")


# --- a grid of results ------------------------------------------------------------------------------

GRID = [
    (accuracy, selected, repeats)
    for accuracy in ((0.833, 0.943), (0.671, 0.918), (0.671, 0.933), (0.5, 0.6), (0.705, 0.9112))
    for selected in ((0.778, 0.932), (0.976, 0.984), (1.0, 1.0), (0.95, 0.80))
    for repeats in (1, 10)
]


@pytest.mark.parametrize(("accuracy", "selected", "repeats"), GRID)
def test_findings_are_short_and_no_heading_praises_the_gap_of_a_useless_model(accuracy, selected, repeats):
    results = approvals(accuracy, selected, methods=["dp", "dp+parity", "dp+projection"], repeats=repeats)
    for chosen in ("dp+parity 1", "dp+projection 3"):
        page = page_of(results, chosen=chosen)
        reading = LearnReading.of(results, chosen=chosen)
        findings = [answer.finding for answer in page.answers]
        headings = [section.heading for section in page.sections]

        assert {finding: broken_rules(finding) for finding in findings if broken_rules(finding)} == {}
        assert not [text for text in (*page.answers, *headings) if "undefined" in text or "nan" in text]
        assert page.answers[2].action.startswith("evenhand audit learn --plan plan.toml")
        if not reading.is_useful():
            assert not [text for text in (*findings, *headings) if "narrow" in text]
