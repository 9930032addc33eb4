"""The page: what stands on it, in which order, and that text from data stays text."""

import re

import pytest

from evenhand._notes import Note
from evenhand.report.html import render
from evenhand.study.page.page import answers, page_of
from evenhand.study.page.parts import shown_groups
from evenhand.study.tasks.collect.page import frontier as page_frontier
from evenhand.study.tasks.collect.page import settings as page_table
from evenhand.study.tasks.collect.reading import CollectReading
from evenhand.study.tasks.collect.task import CollectTask
from evenhand.study.tasks.measure import CLASSIFIER_MEASURES
from unit.study._page_studies import (
    BEFORE,
    FULL,
    NEVER,
    NOTHING,
    against,
    by_setting,
    interval,
    made,
    measured,
    section,
    setting,
    sweep,
    two,
)


def texts(page):
    """Yield everything that a page says."""
    yield from (page.question, page.kicker, page.meta, page.command, *page.answers)
    yield from (*page.method, *page.limits, *page.sources, *(note.text for note in page.notes))
    for number in page.numbers:
        yield from (number.label, number.value, number.before, number.detail)
    for each in page.sections:
        yield from (each.heading, each.lead, *(note.text for note in each.notes))
        yield from (text for fact in each.facts for text in (fact.term, fact.text))
        yield from (text for chart in each.charts for text in (chart.alt, chart.caption))
        for table in each.tables:
            yield from (table.caption, *table.header, *(cell for row in table.rows for cell in row))


# --- the whole ------------------------------------------------------------------------------------


def test_the_page_follows_the_order_of_a_reader_s_questions(full):
    page = page_of(full)

    assert [each.anchor for each in page.sections] == [
        "guarantee", "frontier", "measures", "moved", "baselines", "protocols", "fairer", "data", "numbers"
    ]  # fmt: skip
    assert page.answers == answers(full)
    assert page.question == "If people randomise sex and region before we train a model of hired, who pays?"
    assert page.meta == "Study: people.csv. 95 runs, 0 failed"
    assert page.command == ""
    assert page_of(full, command="evenhand demo").command == "evenhand demo"


def test_the_first_note_says_that_the_page_is_not_private(full):
    """Whoever passes the page on must have read this."""
    assert page_of(full).notes[0].text.startswith("**Not private, not for publication.**")
    assert page_of(full).notes[0].tone == "warn"


def test_notes_say_what_would_be_misjudged(drawn):
    leak = "The domain of 'region' was read from the rows, and that is a leak."
    results = made(
        against(BEFORE, BEFORE),
        repeats=1,
        collect=CollectTask("grr", [1, 16], splits="uniform"),
        failed={(setting(epsilon=16), 0)},
        notes=(Note("privacy", leak), "The study uses 500 of the rows."),
    )
    page = page_of(results)
    found = [note.text for note in page.notes]

    assert found[1] == leak
    assert found[2].startswith("**ε above 10 is for comparison only.** ε = 16 was tested;")
    assert "by a factor of 8,886,111" in found[2]
    assert found[3].startswith("**1 of 3 runs failed.** ")
    assert found[3].endswith("Kinds of error: InvalidParameterError.")
    assert found[4].startswith("**A single repeat has no intervals.**")
    assert "The study uses 500 of the rows." in page.method
    assert leak not in page.method


def test_cells_that_were_not_run_are_noted_without_a_kind_of_error(drawn):
    page = page_of(made(against(BEFORE, BEFORE), missing={(setting(), 0)}))

    assert page.notes[1].text == "**1 of 10 runs was not run.** It is missing from every number."
    assert page.meta == "Study: people.csv. 10 runs, 0 failed, 1 not run"


def test_the_head_has_the_cost_of_each_group_and_how_well_people_are_told_apart(full):
    results = full
    numbers = page_of(results).numbers
    lost = interval(measured(results, setting(), "acc") - measured(results, NOTHING, "acc"), spread="tailed")
    before, after = (100 * measured(results, each, "acc").mean() for each in (NOTHING, setting()))

    assert [each.label for each in numbers] == [
        "Accuracy, %", "AUC", "Selection gap, points", "Accuracy for women, %", "Accuracy for men, %"
    ]  # fmt: skip
    assert (numbers[0].before, numbers[0].value) == (f"{before:.1f}", f"{after:.1f}")
    assert numbers[0].detail == "−{:.1f} (−{:.1f} to −{:.1f})".format(*(abs(100 * each) for each in lost))
    assert [each.group for each in numbers] == [None, None, None, 0, 1]


def test_one_repeat_has_numbers_without_intervals(drawn):
    numbers = page_of(made(against(BEFORE, two(0.35, 0.55)), repeats=1)).numbers

    assert all(each.detail.endswith(", no interval") for each in numbers)


def test_groups_beyond_five_have_no_colour(drawn):
    """A sixth hue would be one that another group has."""
    groups = tuple(f"group {place}" for place in range(6))
    results = made(
        lambda each: {group: (0.3 + 0.1 * place, 0.5, 0.8) for place, group in enumerate(groups)},
        groups=groups,
    )

    assert [each.group for each in page_of(results).numbers] == [None] * 5
    assert "widened to hold for all 6 groups at once" in section(page_of(results), "moved").charts[0].caption


def test_a_study_of_one_setting_has_no_section_on_protocols(drawn):
    page = page_of(made(against(BEFORE, BEFORE), plan={"data": None}))

    assert "protocols" not in [each.anchor for each in page.sections]
    assert page.command == ""


def test_headings_do_not_break_inside_a_number(full):
    page = page_of(full)
    heading = section(page, "protocols").heading

    assert heading == "At ε = 1, no other setting differs clearly from GRR, uniform split"
    assert heading.replace("ε = 1", "ε\u00a0=\u00a01") in render(page)


def test_nothing_on_any_page_says_what_is_never_said(drawn):
    allowed = re.compile(r"SHA-256")
    for results in sweep()[::3]:
        for text in texts(page_of(results)):
            assert not NEVER.search(allowed.sub("", text)), text


# --- charts ---------------------------------------------------------------------------------------


def test_the_frontier_shows_every_setting_and_rings_the_chosen_one(full, drawn):
    page_of(full)
    (points,), options = drawn["frontier"]

    assert len(points) == 18
    assert options["chosen"] in points
    assert (options["chosen"].label, options["chosen"].shape, options["chosen"].epsilon) == (
        "GRR",
        "uniform",
        1.0,
    )
    assert options["baseline"].epsilon is None
    assert options["chosen"].x.value == pytest.approx(measured(full, setting(), "acc").mean())


def test_the_line_of_the_best_has_no_step_that_may_be_chance():
    """A staircase through noise looks like a choice."""
    reading = CollectReading.of(made(by_setting({(None, "k-based", 4): (0.24, 0.79)}), collect=FULL))
    best = page_frontier.best_reached(reading)
    single = page_frontier.best_reached(CollectReading.of(made(by_setting({}), collect=FULL, repeats=1)))

    assert len(single) == 1
    assert len(best) == 2
    assert best[1].option("split") == "k-based"
    assert best[1].epsilon == 4
    runs = measured(reading.results, best[1], "sp_gap") - measured(reading.results, best[0], "sp_gap")
    assert interval(runs)[2] < 0


def test_the_line_of_the_best_leaves_out_what_another_beats():
    """One that is passed over for its noise may still beat a later one in both."""
    table = {
        ("grr", "uniform", 1): (0.30, 0.82),
        ("oue", "uniform", 1): (0.20, 0.81),
        ("ss", "uniform", 1): (0.24, 0.80),
    }
    results = made(by_setting(table), collect=CollectTask(["grr", "oue", "ss"], 1, splits="uniform"))
    for each in results.outcomes:
        if each.cell.setting.mechanism == "oue":
            each.measures["sp_gap"] += (0.3, -0.3, 0.2, -0.2, 0.0)[each.cell.repeat]
    reading = CollectReading.of(type(results)(results.plan, results.facts, results.outcomes), chosen="grr")

    assert page_frontier.best_reached(reading) == (setting("grr"),)


def test_settings_without_a_value_are_not_the_best(drawn):
    results = made(by_setting({}), collect=FULL, failed={(setting("oue"), repeat) for repeat in range(5)})

    assert setting("oue") not in page_frontier.best_reached(CollectReading.of(results))


def test_measures_are_drawn_by_way_and_protocol(full, drawn):
    page_of(full)
    (panels,), options = drawn["measures"]

    assert [panel.row for panel in panels] == ["uniform split"] * 4 + ["k-based split"] * 4
    assert [panel.axis.title for panel in panels[:4]] == [
        "accuracy", "selection gap", "true-positive gap", "accuracy gap"
    ]  # fmt: skip
    assert [line.label for line in panels[0].lines if line.spotlight] == ["GRR"]
    assert panels[0].lines[0].epsilons == [0.5, 1.0, 4.0]
    assert panels[2].axis.unit == "points, men − women"
    assert options["chosen_epsilon"] == 1.0


def test_groups_keep_their_place_in_the_schema(full, drawn):
    page_of(full)
    (panels,), _ = drawn["who-moved"]

    assert [(each.group, each.label) for each in panels[0][1]] == [(0, "women"), (1, "men")]
    assert [axis.title for axis, _ in panels] == [
        "predicted hired = yes", "found among true hired = yes", "predicted correctly"
    ]  # fmt: skip


def test_of_very_many_groups_the_pair_and_the_largest_are_drawn(drawn):
    groups = tuple(f"group {place}" for place in range(20))
    sizes = tuple(50 + place for place in range(20))
    results = made(
        lambda each: {group: (0.3 + 0.01 * place, 0.5, 0.8) for place, group in enumerate(groups)},
        groups=groups,
        sizes=sizes,
    )
    page, reading = page_of(results), CollectReading.of(results)
    shown = shown_groups(reading, first={reading.high, reading.low})

    assert len(shown) == 12
    assert {"group 0", "group 19"} <= {*shown}
    assert "Not drawn: 8 smaller groups." in section(page, "moved").charts[0].caption
    assert "A group has fewer than 100 people" in page.limits[-1]


def test_protocols_are_changes_against_the_unprotected(full, drawn):
    page_of(full)
    (panels,), _ = drawn["protocols"]
    first = panels[0][1][0]

    assert [(each.label, each.shape) for each in panels[0][1]][:2] == [
        ("GRR", "uniform split"),
        ("OUE", "uniform split"),
    ]
    assert first.estimate.value == pytest.approx(
        (measured(full, setting(), "acc") - measured(full, NOTHING, "acc")).mean()
    )
    assert [each.label for each in panels[0][1] if each.spotlight] == ["GRR", "GRR"]


def test_the_gap_of_the_data_has_four_bars(full, drawn):
    page_of(full)
    (_, bars), _ = drawn["where-the-gap-comes-from"]

    assert [bar.label for bar in bars] == [
        "Among the true labels",
        "As the reports tell it",
        "Predictions, unprotected",
        "Predictions, protected",
    ]
    assert bars[3].estimate.value == pytest.approx(measured(full, setting(), "spd").mean())
    assert [bar.strong for bar in bars] == [False, False, False, True]


def test_captions_begin_with_what_the_bars_are(full, drawn):
    page = page_of(full)
    one = page_of(made(by_setting({}), collect=FULL, repeats=1))

    for each in page.sections:
        for chart in each.charts:
            assert re.match(r"\*\*[^*]*(?:95% interval|Marks)", chart.caption)
    for each in one.sections:
        for chart in each.charts:
            assert re.match(r"\*\*[^*]*no intervals\.\*\*", chart.caption)


@pytest.mark.parametrize(
    ("language", "start"),
    [("en", "**One repeat, so there are no intervals"), ("de", "**Eine Wiederholung, also keine Intervalle")],
)
def test_a_table_of_one_repeat_speaks_of_no_interval(language, start, drawn):
    page = page_of(made(by_setting({}), collect=FULL, repeats=1), language=language)
    captions = [section(page, anchor).tables[0].caption for anchor in ("baselines", "fairer", "numbers")]

    assert all(caption.startswith(start) for caption in captions)
    assert not any("95" in caption or "  " in caption for caption in captions)


# --- table ----------------------------------------------------------------------------------------


def test_the_table_begins_with_the_baseline_and_the_chosen_setting(full):
    table = section(page_of(full, chosen="oue k-based 4"), "numbers").tables[0]

    assert (table.sunk, table.chosen, table.fold) == (0, 1, 12)
    assert table.rows[0][:3] == ["Unprotected", "none", "∞"]
    assert table.rows[1][:3] == ["OUE", "k-based", "4"]
    assert [row[2] for row in table.rows[1:7]] == ["4"] * 6
    assert len(table.rows) == 19
    assert len(table.data["acc"]) == 95


def test_bold_is_where_the_paired_interval_leaves_out_no_change(full):
    """Bold for the best value would crown noise."""
    table = section(page_of(full), "numbers").tables[0]
    rows = {(row[0].lower(), row[1], row[2]): row for row in table.rows[1:]}
    for each in CollectReading.of(full).protected:
        row = rows[each.mechanism, each.option("split"), f"{float(each.epsilon):g}"]
        for column, measure in ((3, "acc"), (4, "sp_gap")):
            runs = measured(full, each, measure) - measured(full, NOTHING, measure)
            low, high = interval(runs, spread=CLASSIFIER_MEASURES[measure].spread)[1:]

            assert row[column].startswith("**") == (not low <= 0 <= high)
    assert not any(cell.startswith("**") for cell in table.rows[0])


def test_values_without_a_number_say_so(drawn):
    table = section(page_of(made(against(BEFORE, BEFORE), undefined=("eod",))), "numbers").tables[0]
    single = section(page_of(made(against(BEFORE, BEFORE), repeats=1)), "numbers").tables[0]

    assert table.fold is None
    assert table.rows[1][5] == "undefined"
    assert single.rows[1][3] == f"{float(single.rows[1][3]):.1f}"
    assert single.caption == "**One repeat, so there are no intervals** and nothing is bold."


# --- foot -----------------------------------------------------------------------------------------


def test_the_foot_says_how_it_was_done_and_what_it_does_not_cover(drawn):
    results = made(
        against(BEFORE, BEFORE),
        dropped=3,
        plan={"seed": 7, "name": "pilot"},
        failed={(setting(), 0)},
        versions={},
    )
    page = page_of(results)

    assert (
        page.method[0]
        == "people.csv: 2,000 people (women: 1,000 and men: 1,000). 3 rows left out by the schema's rules."
    )
    assert any("with seeds 7 to 11 for rows and model" in line for line in page.method)
    assert any(line.startswith("Some repeats of the setting have no value") for line in page.limits)
    assert page.sources[0] == "Rows: SHA-256 0123456789abcdef… of the encoded columns."
    assert len(page.sources) == 2
    assert page.meta.startswith("Study: pilot.")


def test_a_single_repeat_has_no_words_on_intervals_it_does_not_have(drawn):
    page = page_of(made(against(BEFORE, BEFORE), repeats=1))

    assert page.limits[0] == "There is one repeat, so nothing is known of how much the numbers vary."
    assert not any("t-interval" in line for line in page.limits)


def test_parameters_of_the_model_are_told(drawn):
    task = CollectTask("grr", model="gradient-boosting", parameters={"max_iter": 20}, splits="uniform")
    page = page_of(made(against(BEFORE, BEFORE), plan={"task": task}))

    assert any("(gradient-boosting, max_iter = 20)" in line for line in page.method)


def test_notes_are_sorted_by_their_kind_and_not_by_their_words(drawn):
    """A data set whose code list was inferred by its authors is no leak of these rows."""
    harmless = "The labels of the groups are inferred from the code book, and leak nothing."
    page = page_of(made(against(BEFORE, BEFORE), notes=(harmless,)))

    assert harmless in page.method
    assert not any(harmless in note.text for note in page.notes)


def test_groups_of_few_people_are_warned_of_where_they_are_drawn(drawn):
    """Of four people one more is 25 points."""
    groups = ("north", "south", "isle")
    results = made(
        lambda where: {group: (0.3 + 0.1 * place, 0.5, 0.8) for place, group in enumerate(groups)},
        groups=groups,
    )
    none = section(page_of(results), "moved").notes
    for each in results.outcomes:
        each.groups["isle"]["people"] = 4.0
    found = section(page_of(type(results)(results.plan, results.facts, results.outcomes)), "moved").notes

    assert none == ()
    assert [each.tone for each in found] == ["warn"]
    assert found[0].text.startswith("**Few people: on average a test has 4 of isle.**")


def test_strategies_are_not_called_splits(drawn):
    both = CollectTask("grr", 1, splits=["uniform"], strategies=["independent", "combined"])
    mixed = page_of(made(by_setting({}), collect=both))
    only = page_of(
        made(
            by_setting({}), collect=CollectTask("grr", 1, strategies=["combined", "single"], splits="uniform")
        )
    )

    assert section(mixed, "numbers").tables[0].header[1] == "Split or strategy"
    assert "one protocol, split or strategy and ε" in section(mixed, "frontier").lead
    assert section(only, "numbers").tables[0].header[1] == "Strategy"


def test_protocols_that_differ_are_not_to_be_chosen_by_message_size(drawn):
    alike = page_of(made(by_setting({}), collect=FULL))
    apart = page_of(made(by_setting({("oue", "k-based", 1): (0.28, 0.77)}), collect=FULL))

    assert "Choose by message size: GRR" in section(alike, "protocols").lead
    assert "Choose by" not in section(apart, "protocols").lead
    assert "send the shortest reports" in section(apart, "protocols").lead


def test_a_command_is_given_only_where_its_plan_lies(tmp_path):
    """A command that names a file nobody has is of no use."""
    results = made(against(BEFORE, BEFORE))
    before = results.command(tmp_path)
    results.plan.save(tmp_path / "plan.toml")
    there = results.command(tmp_path)
    results.plan.with_(seed=8).save(tmp_path / "plan.toml")
    other = results.command(tmp_path)

    assert (before, there, other) == ("", "evenhand audit --plan plan.toml", "")


# --- real pictures --------------------------------------------------------------------------------


def test_a_whole_report_is_written_with_its_pictures_and_figures(tmp_path):
    """Everything together: charts, template, files."""
    results = made(against(BEFORE, two(0.33, 0.57)), collect=CollectTask(["grr", "oue"], 1, splits="uniform"))
    path = results.report(tmp_path / "report.html")
    text = path.read_text(encoding="utf-8")

    assert path == tmp_path / "report.html"
    assert text.count("<svg") > 10
    assert "The selection gap narrows" in text
    assert set(re.findall(r'download="([^"]+)"', text)) == {
        "guarantee.csv", "frontier.csv", "measures.csv", "who-moved.csv", "protocols.csv",
        "where-the-gap-comes-from.csv", "all-cells.csv",
    }  # fmt: skip
    assert page_table.table_section(CollectReading.of(results)).tables[0].name == "all-cells"
