"""Which answer a study of releases gives follows from its numbers, and only as far as they are clear."""

import numpy as np
import pytest

from evenhand.study.page.page import answers
from evenhand.study.plan.cells import Setting
from evenhand.study.tasks.release.answers import error_answer, error_finding
from evenhand.study.tasks.release.page.tables import promise_heading, promise_section
from evenhand.study.tasks.release.reading import ReleaseReading
from unit.study._page_studies import headline
from unit.study._release_studies import ONE, PROMISES, by_name, made, study


def test_who_is_lost_is_named_only_if_it_is_clear():
    """A group that is said to lose people by chance alone is a false alarm about people."""
    unclear = answers(study(lost=(0.0, 0.0), noise=1.0, repeats=5))
    lost = answers(study(lost=(-0.2, 0.0), noise=0.05, repeats=5))
    both = answers(study(lost=(-0.2, 0.05), noise=0.05, repeats=5))
    gained = answers(study(lost=(0.2, 0.1), noise=0.05, repeats=5))
    every = answers(study(lost=(-0.2, -0.1), noise=0.05, repeats=5))

    assert headline(unclear[1]) == "No group clearly gains or loses people."
    assert headline(lost[1]) == "The count of women is 20.1% too low."
    assert headline(both[1]) == "The count of women is 20.1% too low, and that of men 4.9% too high."
    assert headline(gained[1]) == "Every group is overcounted, women most: by 19.9%."
    assert headline(every[1]) == "Every group is undercounted, women most: by 20.1%."


def test_one_repeat_names_nobody():
    said = answers(study(lost=(-0.5, 0.0), repeats=1))

    assert headline(said[1]) == "One repeat cannot say who is miscounted."


def test_of_many_groups_the_finding_names_the_worst():
    groups = tuple(f"group {place}" for place in range(9))
    lost = tuple(-0.1 - 0.01 * place for place in range(9))
    said = answers(made(by_name(PROMISES, lost=lost), groups=groups, noise=0.01, repeats=5))[1]

    assert headline(said) == "Every group is undercounted, group 8 most: by 18.0%."
    assert said.evidence.endswith("group 3 −13.0% (−13.1 to −12.9) and 3 others.")


def test_groups_beyond_the_second_are_not_said_to_be_better_off():
    """Where all lose alike, "less so" of some of them would be made up."""
    groups = tuple(f"group {place}" for place in range(4))
    empty = answers(made(by_name(PROMISES, lost=(-1.0,) * 4), groups=groups, noise=0.0))[1]
    twice = answers(made(by_name(PROMISES, lost=(1.0,) * 4), groups=groups, noise=0.0))[1]

    assert "less" not in empty
    assert "Others: group 1 −100%, group 2 −100% and group 3 −100%." in empty
    assert "Others: group 1 +100%, group 2 +100% and group 3 +100%." in twice


def test_a_table_that_is_the_true_one_leaves_no_group_furthest_off():
    said = answers(study(noise=0.0))[1]

    assert headline(said) == "No group gains or loses people."
    assert "as many people of each group as there are" in said


@pytest.mark.parametrize(
    ("growth", "noise", "key", "start"),
    [
        (0.0, 0.1, "alike", "Small and large cells are off by about as much, so small ones suffer most."),
        (0.001, 0.1, "small", "Small cells suffer most: they are off by 1"),
        (1.0, 0.1, "large", "Large cells suffer most: they are off by"),
        (0.0043, 40.0, "unclear", "These runs cannot say whether small or large cells suffer more."),
    ],
)
def test_what_is_said_of_small_cells_follows_the_numbers(growth, noise, key, start):
    results = study(growth=growth, noise=noise)

    assert error_finding(ReleaseReading.of(results)) == key
    assert answers(results)[0].startswith(f"**{start}")


def test_errors_per_person_are_compared_if_they_differ_clearly():
    """Noise of one size is a larger share of a small group."""
    said = answers(study())[0]

    assert "Per person, errors are 9.0 times as large for women as for men." in said


class _Apart(ReleaseReading):
    """Eight groups, one of which is above the others at a t value of 4 in five repeats."""

    def group_runs(self, setting, group, rate):
        if rate != "person_error":
            return super().group_runs(setting, group, rate)
        return 10 + (
            1 + 0.25 * np.array([-2, -1, 0, 1, 2]) * 2**0.5 if group == self.groups[0] else np.zeros(5)
        )


def test_the_two_groups_that_differ_most_are_chosen_and_so_must_differ_very_clearly():
    """Of many pairs that differ by chance alone, one in twenty seems to differ."""
    pair = made(by_name(PROMISES), groups=("a", "b"))
    many = made(by_name(PROMISES, lost=(0.0,) * 8), groups=tuple("abcdefgh"))
    said = [error_answer(_Apart(each, Setting("laplace", ONE))) for each in (pair, many)]

    assert said[0].endswith("Per person, errors are 1.1 times as large for sex = a as for sex = b.")
    assert said[1].endswith("Per person, errors do not clearly differ between groups.")


def test_the_promise_counts_mechanisms_and_names_those_without_one():
    reading, said = ReleaseReading.of(study()), answers(study())[2]

    assert promise_heading(reading) == "2 of 3 mechanisms promise nothing that matters at ε = 1"
    assert headline(said) == (
        "Publish with Laplace noise at ε = 1; Noisy suppression and Suppression give no meaningful guarantee."
    )
    assert "Suppression with δ = 1.000" in said.evidence


def test_several_promises_are_compared_by_their_error():
    every = {"suppression": {"delta": 0.0, "error": 2.0}, "laplace": {"error": 2.0}}
    same = study({**every, "noisy-suppression": {"delta": 1e-9, "error": 2.0}}, noise=0.0)
    best = study({"noisy-suppression": {"delta": 1e-9, "error": 9.0}, "laplace": {"error": 2.0}}, noise=0.0)
    said = answers(best)[2]

    assert headline(answers(same)[2]) == (
        "Publish with Laplace noise at ε = 1; Suppression and Noisy suppression are not clearly worse."
    )
    assert headline(said) == "Publish with Laplace noise at ε = 1; Suppression gives no meaningful guarantee."
    assert "by 9.0 with Noisy suppression." in said.evidence
    assert promise_heading(ReleaseReading.of(best)) == (
        "1 of 3 mechanisms promises nothing that matters at ε = 1"
    )


def test_nothing_is_called_the_rest_where_nothing_was_left_out():
    exact = {"error_exact": True}
    off = {"delta": 0.0, "error": 9.0, **exact}
    good = {"laplace": exact, "suppression": off, "noisy-suppression": off}
    every = answers(study(good, noise=0.0))[2]
    alone = answers(study(good, grid=["laplace"], noise=0.0))[2]

    assert headline(every) == "Publish with Laplace noise at ε = 1: its errors are the smallest."
    assert "no meaningful guarantee" not in every
    assert "Without a guarantee" not in every
    assert headline(alone) == "You can publish with Laplace noise at ε = 1; nothing else was tested."
    assert alone.evidence == "A cell is off by 2.00 people on average."


def test_all_mechanisms_may_promise_something():
    good = {"suppression": {"delta": 0.0}, "noisy-suppression": {"delta": 0.0}}
    several, single = (ReleaseReading.of(study(good, **grid)) for grid in ({}, {"grid": ["laplace"]}))
    alone = study({"laplace": {"delta": 1.0}}, grid=["laplace"])

    assert promise_heading(several) == "all 3 mechanisms keep a promise at ε = 1"
    assert promise_heading(single) == "the mechanism keeps a promise at ε = 1"
    assert promise_heading(ReleaseReading.of(alone)) == "the mechanism promises nothing that matters at ε = 1"
    assert headline(answers(alone)[0]) == (
        "Do not publish this table: Laplace noise gives no meaningful guarantee."
    )


def test_a_grid_without_any_epsilon_has_a_page():
    results = study(grid=["suppression"])

    assert "ε = 1" not in answers(results)[2]
    assert promise_section(ReleaseReading.of(results)).tables[0].header[0].startswith("δ")


@pytest.mark.parametrize("repeats", [1, 2, 6])
def test_drawn_errors_of_too_few_repeats_recommend_nothing(repeats):
    """One repeat cannot say who is miscounted, so that it cannot say what to publish with either."""
    third = answers(study(lost=(-0.1, 0.0), repeats=repeats))[2]

    assert headline(third) == "Run more repeats before choosing."
    assert f"takes 7 repeats or more; {repeats} gave a result" in third
    assert third.action == "evenhand audit --plan plan.toml --repeats 10"
    assert headline(answers(study(lost=(-0.1, 0.0), repeats=7))[2]).startswith("You can publish")


def test_exact_errors_need_no_repeats_to_be_chosen_by():
    exact = study({"laplace": {"error_exact": True}}, noise=0.0, repeats=1, classify=False)

    assert headline(answers(exact)[2]).startswith("Publish with Laplace noise")
