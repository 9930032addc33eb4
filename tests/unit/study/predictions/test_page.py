"""The page of predictions: what it says around its effects, whatever labels are called."""

import numpy as np
import pandas as pd
import pytest

import evenhand as eh
from attacks._report_payloads import PAYLOADS
from evenhand.answer.compose import compose
from evenhand.answer.status import judge
from evenhand.errors import InvalidParameterError
from evenhand.report import render
from evenhand.report.charts.effects import effect_chart
from evenhand.study.predictions.case import case
from evenhand.study.predictions.effects import ALL, DECISIONS, LACKING, effects
from unit.report._parsing import Parsed
from unit.study.predictions._cases import HIDDEN, SHOWN, audit, crossed_people, people


def scored(gap=1.0, n=9_000, groups=("men", "women", "girls", "boys", "nurses", "teachers", "farmers")):
    """Return an audit with scores, which are too low for the second group."""
    rng = np.random.default_rng(3)
    group = rng.choice(groups, size=n)
    truth = (rng.random(n) < 0.5).astype(int)
    scores = rng.normal(1.5 * truth - gap * (group == groups[1]), 1)
    return audit(truth, (scores > 0.75).astype(int), list(group), scores=scores, called="hired")


def draw_scored(n=4_000):
    """Return outcomes, decisions, groups and scores of people; the scores of women are too low."""
    rng = np.random.default_rng(3)
    group = rng.choice(["men", "women"], size=n)
    truth = (rng.random(n) < 0.5).astype(int)
    scores = rng.normal(1.5 * truth - (group == "women"), 1)
    return truth, (scores > 0.75).astype(int), list(group), scores


def view_of(found, **more):
    return compose(case(found, **more))


def texts_of(view):
    return [view.verdict, *(each.text for each in (view.who, view.how_much, view.what_to_do))]


# --- the answer -------------------------------------------------------------------------------------


def test_the_answer_compares_a_group_with_others_and_speaks_of_no_privacy():
    """Nothing was protected: who reads of a protection, or of an epsilon, looks for one."""
    view = view_of(audit(*people()))

    assert view.verdict == "Women fare worse than others."
    assert view.how_much.text == "Of 1,000 qualified women, 550 were refused; of 1,000 others 200."
    said = " ".join([*texts_of(view), view.question, view.remedy_heading, view.caption])
    assert not any(word in said.lower() for word in ("protect", "ε", "privacy", "repeat"))


def test_unwanted_decisions_are_told_of_those_they_hit():
    view = view_of(audit(*people(), unwanted=True))

    assert view.verdict == "Men fare worse than others."
    assert all(part in view.how_much.text for part in ("1,000 men", "flagged", "300", "others 150"))
    assert view.panels[0].unit == "of 1,000 in each group who should not be flagged"


@pytest.mark.parametrize(
    ("language", "unwanted", "said"),
    [
        ("en", None, "Read as: being predicted offer = 1 is good for people."),
        ("en", False, "Read as: being predicted offer = 1 is good for people."),
        ("en", True, "Read as: being predicted offer = 1 hurts people, as a flag does."),
        ("de", False, "Gelesen als: Die Vorhersage offer = 1 ist gut für Menschen."),
        ("de", True, "Gelesen als: Die Vorhersage offer = 1 schadet Menschen, wie eine Meldung."),
    ],
)
def test_the_page_says_whether_a_prediction_was_read_as_good_or_bad(language, unwanted, said):
    """If it were not said, nobody would notice that an alarm was read as a gift."""
    assert said in view_of(audit(*people(), unwanted=unwanted), language=language).method


@pytest.mark.parametrize("word", ["no", 1, 0.0])
def test_a_reading_is_true_or_false(word):
    """If "no" counted as yes, a page would name the group that gains."""
    with pytest.raises(InvalidParameterError, match="unwanted"):
        audit(*people(), unwanted=word)


def test_a_reading_that_nobody_gave_comes_with_the_command_of_the_other():
    assumed, given = (
        view_of(
            audit(*people(), unwanted=unwanted), command="evenhand measure x.csv", other="again --unwanted"
        )
        for unwanted in (None, False)
    )

    hint = "Nobody said so; if it hurts them, as a flag does, add --unwanted (in Python, unwanted=True)."
    assert (hint in assumed.method, hint in given.method) == (True, False)
    assert [each.line for each in assumed.commands] == ["evenhand measure x.csv", "again --unwanted"]
    assert [each.line for each in given.commands] == ["evenhand measure x.csv"]


@pytest.mark.parametrize(
    ("unwanted", "said"),
    [
        (False, "Of 1,000 qualified women, 550 were refused; of 1,000 others 200."),
        (True, "Of 1,000 men who should not be flagged, 300 were; of 1,000 others 150."),
    ],
)
def test_each_reading_names_the_group_and_the_rate_that_it_hurts(unwanted, said):
    assert view_of(audit(*people(), unwanted=unwanted)).how_much.text == said


def test_flags_are_missed_and_not_refused_and_nobody_qualifies_for_one():
    view = view_of(audit(*people(), unwanted=True))
    told = " ".join([*texts_of(view), *(f"{panel.title} {panel.unit}" for panel in view.panels)])

    assert [panel.title for panel in view.panels] == ["Wrongly flagged", "Missed"]
    assert view.panels[1].unit == "of 1,000 in each group who should be flagged"
    assert not any(word in told for word in ("qualified", "refused", "selected"))
    open_view = view_of(audit(*people(women=(155, 45, 60, 140)), unwanted=True))
    told = "To tell, about 12,000 men who should not be flagged are needed."
    assert open_view.what_to_do.text == told


@pytest.mark.parametrize(("unwanted", "effect"), [(False, "wrongly_refused"), (True, "wrongly_selected")])
def test_a_remedy_evens_out_the_rate_that_the_page_names(unwanted, effect):
    """A gap of wrong flags is not answered by equal selection, nor by equal misses."""
    truth, predicted, group, scores = draw_scored()
    found = audit(truth, predicted, group, scores=scores, unwanted=unwanted)
    table = effects(found)
    rows = {(row.setting, row.group, row.effect): row for row in judge(table)}
    worst = {False: "women", True: "men"}[unwanted]

    assert rows[DECISIONS, worst, effect].is_harm
    gaps = {
        option: abs(rows[option, "men", effect].rate - rows[option, "women", effect].rate)
        for option in (DECISIONS, LACKING, ALL)
    }
    assert max(gaps[LACKING], gaps[ALL]) < 30 < 150 < gaps[DECISIONS]
    text = {False: "an easier cut-off", True: "a higher cut-off"}[unwanted]
    assert text in view_of(found).what_to_do.text


def test_a_remedy_that_passes_is_recommended_with_its_cut_off():
    """A cut-off that nobody is told cannot be used."""
    found = scored()
    view = view_of(found)

    assert view.verdict == "Women fare worse than others, and most of it can be undone."
    assert view.what_to_do.text.startswith("Set an easier cut-off for those worse off: ")
    [row] = [line for line in view.remedies if line.tag == "recommended"]
    assert "women: ≥ " in row.price
    assert "tried on people it was not found on" in row.price
    assert view.remedy_heading == "Which remedy?"


def test_what_a_remedy_changes_is_drawn_whole_beside_its_short_name():
    """If not, a picture says "a higher cut-off for those worse off: 38 fewer w…"."""
    panel = view_of(scored()).panels[0]
    changes = [line.remedy.words for line in panel.lines]
    chart = effect_chart(panel, name="picture")

    assert all(words.startswith("easier cut-off: ") for words in changes)
    assert all(words in drawn for words in changes for drawn in (chart.wide, chart.narrow))


def test_no_remedy_is_named_for_another_gap_than_the_one_found():
    """Selection is equal; to even it out would help nobody whom the first sentence names."""
    truth, predicted, group = people(men=(100, 100, 100, 100), women=(160, 40, 40, 160))
    view = view_of(audit(truth, predicted, group))

    assert view.verdict == "Men fare worse than others."
    assert not any("parity" in text or "select" in text for text in texts_of(view))
    assert view.commands == ()


def test_a_clear_gap_in_precision_does_not_stand_beside_no_gap():
    """One measure spoke for all: below "there is no clear gap" stood a gap of 28 points."""
    uneven = audit(*people(men=(160, 40, 20, 180), women=(160, 40, 110, 90)))
    view = view_of(uneven)

    assert uneven.disparities["precision_gap"].is_clear
    assert view.state == "unsure"
    assert not any("no gap" in text.lower() or "nobody" in text.lower() for text in texts_of(view))
    assert any(row.effect == "wrongly_selected" and row.status == "clear" for row in view.rows)


def test_too_few_outside_a_large_group_are_not_called_too_few_of_it():
    view = view_of(audit(*people(women=(5, 20, 30, 170))))

    assert view.who.text == "Fewer than 30 people stand outside men: too few to compare with."


def test_what_cannot_be_said_has_both_sides_and_the_people_it_takes():
    view = view_of(audit(*people(women=(155, 45, 60, 140))))
    told = "Compared with others, 70 fewer to 120 more of 1,000 qualified women could be refused."

    assert view.how_much.text == told
    assert view.what_to_do.text == "To tell, about 2,900 qualified women are needed."


def test_what_cannot_be_said_of_flags_counts_those_who_should_not_be_flagged():
    """If it counted everybody, the numbers would be of people whom no flag can wrong."""
    told = view_of(audit(*people(women=(155, 45, 60, 140)), unwanted=True)).how_much.text

    assert told.endswith(" more of 1,000 men who should not be flagged could be wrongly flagged.")


def test_limits_of_a_rate_are_drawn_from_nobody_to_everybody():
    """If not, an axis shows less than nobody, or more than everybody."""
    rare = audit(*people(men=(190, 10, 5, 195), women=(120, 80, 90, 110)))
    panels = view_of(rare).panels
    stages = [
        stage for panel in panels for line in panel.lines for stage in (line.after, line.remedy) if stage
    ]

    assert {mark for stage in stages for mark in (stage.low, stage.high)} & {0.0, 1000.0}
    assert all(0 <= mark <= 1000 for stage in stages for mark in (stage.low, stage.high))


def test_the_same_answer_for_all_is_no_protected_model():
    truth, predicted, group = people()

    assert view_of(audit(truth, 0 * predicted, group)).verdict == "Stop: these decisions tell nobody apart."


def test_limits_of_what_is_left_are_those_of_a_lack():
    """Of limits on both sides of 0 the sizes alone would leave out what was found."""
    view = view_of(scored())
    [row] = [line for line in view.remedies if line.tag == "recommended"]

    assert row.limits.startswith("0 to ")


def test_parts_of_a_group_that_fares_worse_are_not_named_beside_it():
    hidden, shown = (view_of(audit(*crossed_people(rates))) for rates in (HIDDEN, SHOWN))

    assert hidden.verdict == "Black men and white women fare worse than others."
    assert shown.verdict == "Women fare worse than others."
    assert "women too" not in shown.who.text


@pytest.mark.parametrize("language", ["en", "de"])
def test_sentences_are_short_in_each_language(language):
    cases = [
        audit(*people()),
        scored(),
        audit(*crossed_people(SHOWN)),
        audit(*people(women=(5, 20, 30, 170))),
    ]

    for found in cases:
        for text in texts_of(view_of(found, language=language)):
            assert len(text.split()) <= 25, text


def test_german_has_no_english():
    view = view_of(scored(), language="de")

    assert view.question == "Wer steht bei diesen Entscheidungen über hired = 1 schlechter als andere?"
    assert view.verdict == "Women stehen schlechter als andere; das meiste ist abwendbar."
    assert "others" not in " ".join(panel.names[0] for panel in view.panels)


# --- around it --------------------------------------------------------------------------------------


def test_rules_that_are_not_kept_are_warnings_and_all_stand_in_the_evidence():
    view = view_of(audit(*people(), rules=["80%", "selection_gap <= 0.9", "selection_gap <= 0.25"]))

    assert [warned.head for warned in view.warnings] == [
        "Not for publication.",
        "Broken: 80%.",
        "Undecided: selection_gap <= 0.25.",
    ]
    [section] = view.evidence
    assert [row[2] for row in section.tables[0].rows] == ["broken", "kept", "undecided"]


def test_every_measure_stands_in_one_section_for_researchers():
    found = scored()
    page = eh.measure.page(
        found.rows.truth, found.rows.predicted, list(found.rows.group), scores=found.rows.scores
    )

    [section] = page.sections
    compared, by_group = section.tables
    assert [row[0] for row in compared.rows] == list(found.disparities)
    assert {"auc", "tpr", "people"} <= set(by_group.header)
    assert len(by_group.rows) == 7
    assert all(table.data for table in section.tables)


def test_without_outcomes_only_selection_is_compared():
    _, predicted, group = people()
    [section] = eh.measure.page(None, predicted, group).sections

    assert [row[0] for row in section.tables[0].rows] == ["selection_gap", "selection_ratio"]
    assert section.tables[1].header == ["group", "people", "selection"]


def test_a_rate_of_nobody_cannot_be_estimated_and_is_not_zero():
    [section] = view_of(audit(*people(women=(0, 0, 30, 170)))).evidence
    table = section.tables[1]

    assert table.rows[1][table.header.index("tpr")] == "–"


def test_names_and_labels_are_those_that_people_read():
    truth, predicted, group = people()
    frame = pd.DataFrame(
        {"repaid": truth, "approved": predicted, "sex": [1 if g == "men" else 2 for g in group]}
    )
    columns = (frame["repaid"], frame["approved"], frame["sex"])
    page = eh.measure.page(*columns, labels={1: "Men", 2: "Women"}, privileged=1, called="approved")
    bare = eh.measure.page(*columns)

    assert page.head.verdict == "Women fare worse than others."
    assert page.question == "Who fares worse with these decisions on repaid = 1?"
    assert bare.head.verdict.replace("\u00a0", " ") == "People with sex = 2 fare worse than others."


def test_people_of_unknown_group_are_told_and_can_be_a_group():
    truth, predicted, group = people()
    group[:60] = [None] * 60
    apart = eh.measure.page(truth, predicted, group)
    together = eh.measure.page(truth, predicted, group, missing_group=True)

    assert "(Men: 340, Women: 400 and not stated: 60)" in apart.method[0]
    assert len(apart.sections[0].tables[1].rows) == 2
    assert len(together.sections[0].tables[1].rows) == 3


def test_small_groups_are_pooled_by_a_declared_rule():
    truth, predicted, columns = crossed_people(HIDDEN)
    columns["race"][:20] = ["asian"] * 20
    columns["race"][-20:] = ["asian"] * 20
    found = audit(truth, predicted, columns, pool_below=30)
    view = view_of(found)

    assert "other groups" in found.rows.labels
    assert any("fewer than 30 people" in line for line in view.method)
    assert any(line.label == "People of other groups" for panel in view.panels for line in panel.lines)
    for too_much in (0, 10_000):
        with pytest.raises(InvalidParameterError, match="pool_below"):
            eh.measure.page(truth, predicted, columns, pool_below=too_much)


def test_a_privileged_combination_is_given_as_a_tuple():
    truth, predicted, columns = crossed_people(HIDDEN)

    assert eh.measure.page(truth, predicted, columns, privileged=("men", "white"))
    with pytest.raises(InvalidParameterError, match="privileged"):
        eh.measure.page(truth, predicted, columns, privileged=("men", "green"))


def test_a_crossing_of_ten_thousand_combinations_is_refused():
    rows = [str(place) for place in range(101)]
    with pytest.raises(InvalidParameterError, match="at most 1,000 combinations"):
        eh.measure.page(None, [0, 1] * 50 + [1], {"a": rows, "b": rows})


def test_margins_of_an_audit_are_those_of_the_report():
    truth, predicted, columns = crossed_people(SHOWN)
    margins = audit(truth, predicted, columns).to_dict()["margins"]
    report = eh.measure.group_report(truth, predicted, columns)

    for name, margin in report.margins.items():
        rates = [group["selection"]["value"] for group in margins[name].values()]
        assert max(rates) - min(rates) == pytest.approx(float(margin.sp_gap))


# --- the page itself --------------------------------------------------------------------------------


@pytest.mark.figures
@pytest.mark.parametrize("start", range(0, len(PAYLOADS), 40))
def test_labels_that_look_like_markup_stay_text(start):
    """A page of three groups is made once with plain labels: hostile ones may add no element to it."""
    hostile = [payload for payload in PAYLOADS[start : start + 40] if payload.strip()][:3]
    truth, predicted, _ = people()
    pages = []
    for labels in (["one label", "two label", "three label"], hostile):
        group = [labels[place % len(labels)] for place in range(800)]
        page = eh.measure.page(truth, predicted, group, scores=np.linspace(0, 1, 800), outcome=labels[0])
        pages.append(Parsed(render(page)))

    assert pages[1].faults == []
    assert pages[1].kinds <= pages[0].kinds


def test_the_same_predictions_give_the_same_page():
    rows = people()
    scores = np.linspace(0.01, 0.99, 800)

    assert render(eh.measure.page(*rows, scores=scores)) == render(eh.measure.page(*rows, scores=scores))


@pytest.mark.parametrize("language", ["fr", "", None, "../en"])
def test_a_language_without_words_is_refused_by_name(language):
    """If not, the message would be that of a missing file, with the path of the library."""
    with pytest.raises(InvalidParameterError, match=r"'language' parameter of measure\.page") as error:
        eh.measure.page(None, [1, 0] * 40, ["a", "b"] * 40, language=language)

    assert ".toml" not in str(error.value)
