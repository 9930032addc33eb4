"""The page on classifiers: what it says follows from the numbers, and no more than they carry."""

from dataclasses import replace

import pytest

from evenhand._notes import Note
from evenhand.report.drawing import Drawing
from evenhand.report.html import render
from evenhand.study.page.page import answers, page_of
from evenhand.study.page.wording import delta_text
from evenhand.study.results.results import Results
from evenhand.study.tasks.learn.page.tradeoff import epsilon_heading
from evenhand.study.tasks.learn.reading import LearnReading
from unit.study._learn_studies import JITTER, made, measures, of_group, sections, small_study, usual

CLAIM = (Note("unit", "add or remove one"), Note("trust", "central"))
PICTURE = '<svg width="10" height="10"><rect width="5" height="5" fill="#000"/></svg>'


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Leave out pictures, which have tests of their own."""
    monkeypatch.setattr(Drawing, "svg", lambda _: PICTURE)
    monkeypatch.setattr(Drawing, "_add", lambda *_, **__: None)


# --- sections ---------------------------------------------------------------------------------------


def test_the_promise_names_neighbours_rows_and_what_it_rests_on():
    notes = (
        *CLAIM,
        Note("assumption", "each person is one row"),
        Note("assumption", "the classes are public"),
    )
    page = page_of(made(usual, notes=notes))
    section = sections(page)["promise"]
    facts = {fact.term: fact.text for fact in section.facts}

    assert section.heading == f"Fermi + parity promises one person ε = 1 and δ = {delta_text(1e-5)}"
    assert facts["Neighbouring data"].startswith("add or remove one: one row is added or removed")
    assert facts["Rows in the accounting"] == "900, taken as public, with a noise multiplier of 1.500"
    assert "each person is one row; the classes are public" in facts["Rests on"]
    assert "each of the two has the whole ε" in facts["Rates for parity"]
    assert facts["At decision time"].startswith("everybody's group must be known")
    assert "simulation" in facts["Noise"]


def test_the_promise_is_said_for_the_neighbours_it_is_about():
    removed, replaced = (
        sections(page_of(made(usual, methods=["dp"], unit=unit)))["promise"].lead
        for unit in ("add or remove one", "replace one")
    )
    local = sections(page_of(made(usual, methods=["local"], epsilons=(30,))))["promise"].lead

    assert removed.startswith("Whether one person's row is among the rows changes the chance")
    assert "by at most a factor of 2.72 plus" in removed
    assert replaced.startswith("Another row in the place of one person's changes the chance")
    assert local.startswith("Another answer in one person's report")
    assert "by a factor too large to be a promise." in local


@pytest.mark.parametrize(
    ("unit", "stated", "lead", "fact"),
    [
        (
            "add or remove one",
            "add or remove one",
            "Whether one person's rows are among the rows changes",
            "add or remove one: the rows of one person are added or removed; at most 3 rows per person",
        ),
        (
            "replace one",
            "one person",
            "Putting other rows in the place of one person's changes",
            "one person; at most 3 rows per person",
        ),
    ],
)
def test_a_promise_to_people_of_several_rows_is_about_all_of_them(unit, stated, lead, fact):
    results = made(usual, methods=["dp"], unit=unit, notes=(Note("unit", stated), CLAIM[1]))
    schema = results.facts.schema.with_roles(person="id", rows_per_person=3)
    several = Results(results.plan, replace(results.facts, schema=schema), results.outcomes)
    section = sections(page_of(several))["promise"]

    assert section.lead.startswith(lead)
    assert {fact.term: fact.text for fact in section.facts}["Neighbouring data"] == fact


@pytest.mark.parametrize(("epsilon", "factor"), [(0.2, "1.23"), (8, "2,981")])
def test_the_factor_of_the_promise_is_never_rounded_down(epsilon, factor):
    section = sections(page_of(made(usual, methods=["dp"], epsilons=(epsilon,))))["promise"]

    assert f"by at most a factor of {factor} plus" in section.lead


def test_a_domain_that_was_read_from_the_rows_is_not_covered():
    leak = "The domains of the columns were read from the rows, and that is a leak."
    page = page_of(made(usual, facts_notes=[Note("privacy", leak), "The study uses 500 of the rows."]))

    assert any(
        "does not cover how the columns were declared" in n.text for n in sections(page)["promise"].notes
    )
    assert any(leak in note.text for note in page.notes)
    assert "The study uses 500 of the rows." in page.method


def test_a_delta_of_one_person_is_warned_of():
    page = page_of(made(lambda s, r: usual(s, r, delta=0.005) if s.is_protected else usual(s, r)))

    assert any("δ is at least one in the 800 rows" in note.text for note in sections(page)["promise"].notes)


@pytest.mark.parametrize(
    ("chosen", "heading", "decided"),
    [
        (
            "dp+projection 1",
            "DP + projection promises nothing to anybody",
            "everybody's group must be known.",
        ),
        (
            "plain+parity",
            "Plain + parity promises nothing to anybody",
            "everybody's group must be known. Parity",
        ),
        ("local 1", "Local promises one person ε = 1", "nobody's group need be known"),
        ("unprotected", "Plain promises nothing to anybody", "nobody's group need be known"),
    ],
)
def test_other_ways_say_what_they_promise(chosen, heading, decided):
    ways = ["plain+parity", "dp", "dp+projection", "local"]
    page = page_of(made(usual, methods=ways, notes=("unit: one report", "trust: local")), chosen=chosen)
    section = sections(page)["promise"]

    assert section.heading == heading
    assert {fact.term: fact.text for fact in section.facts}["At decision time"].startswith(decided)
    assert render(page)


def test_a_group_that_is_a_feature_must_be_known():
    page = page_of(made(usual, methods=["dp"], group_as_input=True))
    facts = {fact.term: fact.text for fact in sections(page)["promise"].facts}

    assert facts["At decision time"] == "everybody's group must be known, as it is a feature"
    assert [row[-1] for row in sections(page)["numbers"].tables[0].rows] == ["yes"] * 3


def test_what_is_not_private_is_tagged_and_explained():
    page = page_of(made(usual, methods=["dp", "dp+projection"]))
    section = sections(page)["numbers"]
    [table] = section.tables

    assert section.heading == "Of 5 settings, 2 are private"
    assert [table.rows[row][1].partition("\n")[0] for row, _ in table.tags] == ["not private"] * 2
    assert "DP + projection is not private" in section.notes[0].text


def test_the_table_has_what_equal_rates_show_beside_the_gap_and_the_bounds():
    [table] = sections(page_of(made(usual)))["numbers"].tables
    rows = {(row[0], row[1]): row for row in table.rows}
    row = rows["DP + parity", f"ε = 1\nδ\u00a0=\u00a0{delta_text(1e-5)}"]

    assert row[3].startswith("**1.2**\n")
    assert row[4:6] == ["1.0", "2.0\non the mean"]
    assert (table.data["bound"][2 * 3], table.data["bound_95"][2 * 3]) == (0.02, 0.04)
    assert table.data["method"][0] == "plain"
    assert table.sunk == 0


def test_who_moves_is_told_by_group_and_in_every_way():
    section = sections(page_of(made(usual, repeats=7)))["changes"]
    [table] = section.tables

    assert (
        section.heading == "With Fermi + parity at ε = 1, selection rises for sex = f and falls for sex = m"
    )
    assert [row[0] for row in table.rows] == ["DP", "DP + parity", "Fermi + parity"]
    assert table.rows[0][-1] == "none"
    assert table.rows[1][-1].startswith("5.0")
    assert table.chosen == 2


def test_groups_that_do_not_move_are_not_said_to():
    def still(setting, repeat):
        wiggle = 0.0001 * (3 * repeat % 7 - 3) * setting.is_protected
        people = {"f": of_group(0.3 + wiggle, 20.0), "m": of_group(0.3 + 0.0001 * repeat + wiggle)}
        return usual(setting, repeat)[0], people

    section = sections(page_of(made(still, repeats=7)))["changes"]

    assert section.heading == "No group's selection rate clearly changes with DP at ε = 1"
    assert "Few people: on average a test has 20 of sex = f" in section.notes[0].text


@pytest.mark.parametrize(("repeats", "few"), [(1, "One repeat"), (2, "Fewer than 7 repeats")])
def test_few_repeats_do_not_tell_whose_predictions_change(repeats, few):
    """The change of one group has no interval then, and what gives one is said."""
    section = sections(page_of(made(usual, repeats=repeats), chosen="fermi+parity 1"))["changes"]

    assert section.heading == f"{few} cannot say whose predictions Fermi + parity at ε = 1 changes"
    assert ("has no interval: run 7 repeats or more." in section.charts[0].caption) == (repeats > 1)


def test_repeats_that_failed_do_not_count_among_those_of_a_change():
    """A plan of seven repeats of which five are done is not a study of one repeat, and has no interval."""

    def some(setting, repeat):
        return usual(setting, repeat) if repeat < 5 else None

    page = page_of(made(some, repeats=7), chosen="fermi+parity 1")

    assert sections(page)["changes"].heading.startswith("Fewer than 7 repeats cannot say whose predictions")
    assert any("has no interval: run 7 repeats or more." in line for line in page.limits)


def test_many_groups_are_cut_to_the_largest():
    groups = tuple(f"group {place}" for place in range(14))
    results = made(lambda s, r: usual(s, r)[0], groups=groups, sizes=range(10, 24), methods=["dp"])
    section = sections(page_of(results))["changes"]

    assert len(section.charts[0].data["group"]) == 36
    assert "Not drawn: 2 smaller groups." in section.charts[0].caption
    assert "10 smaller groups in the CSV" in section.tables[0].caption


def test_what_a_larger_epsilon_buys_is_said_of_the_chosen_way():
    def better(setting, repeat):
        numbers, people = usual(setting, repeat)
        rise = 0.03 if setting.epsilon == 3 else 0.0
        return {**numbers, "acc": numbers["acc"] + rise + JITTER[repeat % 3] * bool(rise)}, people

    assert epsilon_heading(LearnReading.of(made(better))).startswith("Fermi + parity gains 3.0 points")
    assert "not clearly more accurate from ε = 1 to 3" in epsilon_heading(LearnReading.of(made(usual)))
    assert epsilon_heading(LearnReading.of(made(usual), chosen="unprotected")) == "What each ε buys"
    assert "epsilons" not in sections(page_of(made(usual, epsilons=(1,))))


def test_a_large_epsilon_is_for_comparison_only():
    page = page_of(made(usual, epsilons=(1, 20)))

    assert any("ε above 10 is for comparison only" in note.text for note in page.notes)


def test_the_page_says_first_that_it_is_not_private():
    page = page_of(made(usual))

    assert page.notes[0].text.startswith("**Not private, not for publication.**")
    assert next(number.label for number in page.numbers) == "Promised to one person"
    assert [number.label for number in page.numbers] == [
        "Promised to one person",
        "Accuracy, %",
        "Balanced accuracy, %",
        "Selection gap, points",
        "Accuracy for sex = f, %",
        "Accuracy for sex = m, %",
    ]
    assert page.numbers[3].value == "1.2"


def test_a_study_that_was_run_makes_a_page():
    page = page_of(small_study())
    html = str(render(page))

    assert "simulation with a seed" in html
    assert list(sections(page)) == ["promise", "trade-off", "changes", "baselines", "fairer", "numbers"]
    for word in ("anonymous", "unbiased", "fair model"):
        assert word not in html


def test_method_tells_of_the_ways_that_were_tried_and_of_no_others():
    every = " ".join(
        page_of(made(usual, methods=["dp", "fermi", "dp+projection", "local"], strength=5)).method
    )
    plain = " ".join(page_of(made(usual, methods=["plain+parity"])).method)

    assert "of strength 5" in every
    assert "Projection moves scores" in every
    assert "randomized response" in every
    assert "Private training" not in plain
    assert "Parity flips" in plain


def test_what_a_way_is_ahead_in_is_said_of_each_rival():
    def ahead(setting, repeat):
        numbers, people = usual(setting, repeat)
        changes = {"dp": {"acc": 0.8 + JITTER[repeat % 3]}, "fermi": {"acc": 0.83 - JITTER[repeat % 3]}}
        return {**numbers, **changes.get(setting.mechanism, {})}, people

    choice = answers(made(ahead, methods=["dp", "fermi", "fermi+parity"], epsilons=(1,)))[2]

    assert choice.finding == (
        "Fermi + parity does best here, but it needs everyone's group at decision time."
    )
    assert choice.evidence.startswith("Less accurate and with a wider gap: DP. With a wider gap: Fermi.")


def test_a_mark_above_its_bound_is_explained():
    def above(setting, repeat):
        numbers, people = usual(setting, repeat)
        return {**numbers, "bound": 0.001, "bound_95": 0.0005}, people

    assert "A mark may lie above its bound" in sections(page_of(made(above)))["trade-off"].lead
    assert "A mark may lie above its bound" not in sections(page_of(made(usual)))["trade-off"].lead


def test_what_voids_its_promise_is_called_so_in_every_part():
    page = page_of(made(usual, methods=["dp", "dp+projection"]), chosen="dp+projection 1")
    parts = sections(page)
    name = "DP + projection (not private, trained with ε = 1)"

    assert page.answers[0].startswith("**DP + projection protects nobody: projection reads the private rows")
    assert page.answers[1].endswith("DP + projection is not private.")
    assert page.answers[2].startswith("**Use DP at ε = 1 instead: DP + projection protects nobody.**")
    assert parts["trade-off"].heading.startswith(f"{name} narrows the gap by 17.0 points")
    assert parts["changes"].tables[0].rows[1][0] == "DP + projection\nnot private"
    assert parts["trade-off"].charts[0].data["private"] == [True, True, False, False, False]
    assert name in parts["trade-off"].charts[0].alt
    assert "DP + projection is private at no ε" in parts["epsilons"].lead


def test_a_bound_that_says_nothing_is_not_called_one():
    """Of a group with a few rows only that its rate is between 0 and 1 can be proved."""

    def loose(setting, repeat):
        numbers, people = usual(setting, repeat)
        return {**numbers, "bound": 1.0, "bound_95": 0.6 if setting.epsilon == 3 else 1.0}, people

    page = page_of(made(loose))
    later = answers(made(loose), chosen="fermi+parity 3")[1]
    [table] = sections(page)["numbers"].tables

    assert page.answers[1].endswith(
        " No useful bound on the gap is proved for other people: a group has too few rows."
    )
    assert later.endswith("the gap is proved to be at most 60.0 points, with 95% certainty.")
    assert table.rows[1][5] == "none"
    assert set(sections(page)["trade-off"].charts[0].data["bound_on_the_mean"]) == {None}


def test_intervals_of_changes_hold_what_is_possible_only():
    def jumping(setting, repeat):
        numbers, people = usual(setting, repeat)
        wild = (0.0, 1.0, 0.1)[repeat % 3] if setting.is_protected else 0.5
        turned = (repeat % 2 == setting.is_protected) * (1 - 0.01 * repeat)
        return {**numbers, "acc": wild}, {**people, "f": of_group(turned)}

    change = LearnReading.of(made(jumping, repeats=3)).change("acc")
    moved = LearnReading.of(made(jumping, repeats=7)).moved("f", "selection")

    assert (change.low, change.high) == (-1.0, 1.0)
    assert (moved.low, moved.high) == (-1.0, 1.0)


@pytest.mark.parametrize(("rate", "whom"), [(0.0, "nobody"), (1.0, "everybody")])
def test_the_same_answer_for_all_is_not_praised_for_its_gap(rate, whom):
    """It has no gap whatever the groups are like, and would win against every classifier."""

    def constant(setting, repeat):
        numbers, people = usual(setting, repeat)
        if setting.mechanism != "fermi+parity":
            return numbers, people
        return {**numbers, "sp_gap": 0.0}, {"f": of_group(rate), "m": of_group(rate)}

    page = page_of(made(constant), chosen="fermi+parity 1")

    assert page.answers[0].startswith("**With Fermi + parity at ε = 1 the model no longer tells people apart")
    assert page.answers[1].startswith(
        f"**With Fermi + parity at ε = 1 {whom} is selected, so that a gap of 0 says nothing.**"
    )
    assert "narrows" not in page.answers[1]
    assert sections(page)["trade-off"].heading.endswith("so that its gap of 0 says nothing")
    notes = [note.text for note in sections(page)["numbers"].notes]
    assert any(f"Fermi + parity: {whom} is selected" in note for note in notes)
    assert LearnReading.of(made(constant)).chosen.mechanism == "dp+parity"
    assert "Fermi + parity" not in page_of(made(constant)).answers[2].finding
    assert "Not clearly better than one answer for everyone: Fermi + parity." in answers(made(constant))[2]
    assert "Fermi + parity at ε = 1 gives everyone the same answer" in page.answers[2]
    two = made(constant, methods=["dp", "fermi+parity"])
    assert answers(two)[2].finding == "Use DP: no other private method tells people apart at this ε."


def test_what_a_local_report_protects_is_said_wherever_it_is_compared():
    """An epsilon of a report is of another kind: the label and other columns are in the clear."""
    local = page_of(made(usual, methods=["local", "dp"], notes=("unit: one report", "trust: local")))
    facts = {fact.term: fact.text for fact in sections(local)["promise"].facts}
    [table] = sections(local)["numbers"].tables

    assert table.rows[1][1] == "ε = 1\nreported columns only"
    assert local.numbers[0].detail == "for one report, Local"
    assert (
        "Local protects something else: it hides the reported columns from whoever trains" in local.answers[2]
    )
    assert "Local protects something else" not in page_of(made(usual)).answers[2]
    assert facts["At decision time"].endswith("true features are needed of whoever is decided on")


def test_what_is_taken_as_public_is_said():
    page = page_of(made(usual, notes=CLAIM))
    facts = {fact.term: fact.text for fact in sections(page)["promise"].facts}
    local = page_of(made(usual, methods=["local"], notes=("unit: one report", "trust: local")))

    assert facts["Taken as public"] == (
        "the columns with their lists of values and ranges, the two classes, the 2 groups and how many rows "
        "are expected to train"
    )
    assert "Taken as public" not in {fact.term for fact in sections(local)["promise"].facts}


def test_a_difference_that_has_a_sign_is_not_called_a_gap():
    [table] = sections(page_of(made(usual)))["numbers"].tables

    assert table.header[6] == "True-positive difference\npoints"
    assert "privileged group less the others" in table.caption


def test_a_few_repeats_that_agree_do_not_prove_a_change_of_one_row():
    """Tests of 64 rows that all change by one would otherwise have an interval without width."""

    def one_row(setting, repeat):
        row = 1 / 64 + repeat * 1e-15 if setting.is_protected else 0.0
        base = 0.5 + 0.001 * repeat
        groups = {group: of_group(0.4 + row, 32.0, base_rate=base) for group in "fm"}
        return measures(0.8 + row, row, epsilon=setting.epsilon), groups

    def another_row(setting, repeat):
        numbers, people = one_row(setting, repeat)
        off = 0.002 * repeat * setting.is_protected
        return numbers | {"acc": numbers["acc"] + off, "sp_gap": numbers["sp_gap"] + off}, people

    equal, apart = (answers(made(each, repeats=7, methods=["dp"])) for each in (one_row, another_row))

    assert equal[0].finding == "Most repeats agree, and cannot say who pays in rare ones."
    assert "80.0%" in equal[0].evidence
    assert "81.6%" in equal[0].evidence
    assert equal[1].finding == "Most repeats agree, and cannot say what happens to the gap in rare ones."
    assert equal[1].evidence.startswith("0.0 points become 1.6. It changes by the same in most repeats")
    assert "ccuracy rises by 2.2 points" in apart[0].finding
    assert "gap grows from 0.0 to 2.2 points" in apart[1].finding


def test_the_plain_way_alone_is_a_page_too():
    page = page_of(made(usual, methods=["plain"]))

    assert page.answers[0].startswith(
        "**The plain classifier protects nobody, and is right for 85.0% of people.**"
    )
    assert page.answers[1].startswith("**The plain classifier has a selection gap of 20.0 points.**")
    assert page.answers[2].startswith("**The plain classifier protects nobody: compare private methods.**")
    assert set(sections(page)) == {"promise", "baselines", "fairer", "numbers"}
    assert render(page)


def test_cells_that_failed_are_said_and_their_way_is_unknown():
    def some(setting, repeat):
        return None if setting.mechanism == "fermi+parity" else usual(setting, repeat)

    results = made(some, failures=["DP + parity, ε = 1"], repeats=3)
    page = page_of(results, chosen="dp+parity 1")

    assert any("**3 of 21 runs failed and 6 of 21 runs were not run.**" in note.text for note in page.notes)
    undone = "No run of DP + parity at ε = 1 is done, so these runs cannot say"
    assert [answer.finding for answer in page.answers] == [
        f"{undone} who pays.",
        f"{undone} what happens to the gap.",
        "Finish the runs of DP + parity at ε = 1 before you choose.",
    ]
    rows = {row[0]: row for row in sections(page)["numbers"].tables[0].rows}
    assert rows["Fermi + parity"][1] == "unknown"
    assert render(page)


def test_weights_stand_in_the_clear_beside_the_promise():
    results = made(usual)
    schema = results.facts.schema.with_roles(weight="wgt")
    weighted = Results(results.plan, replace(results.facts, schema=schema), results.outcomes)
    facts, before = (
        {fact.term: fact.text for fact in sections(page_of(study))["promise"].facts}
        for study in (weighted, results)
    )

    assert facts["In the clear"].startswith("wgt, the survey weights")
    assert "In the clear" not in before


def test_method_and_limits_are_whole_sentences():
    """A key of the kind that hides one of all pages once left half a sentence of each."""
    page = page_of(made(usual))

    assert any(line.startswith("9 repeats, with seeds 0 to 8 for which rows train;") for line in page.method)
    assert any(
        line.startswith("One data set, one family of classifiers, ε of 1 and 3.") for line in page.limits
    )
