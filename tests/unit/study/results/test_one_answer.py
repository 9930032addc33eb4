"""The answer of results is worked out once, however often it is asked for."""

import pytest

from evenhand.answer import compose as composing
from evenhand.study.results import results as module
from evenhand.study.results.results import write_results
from evenhand.study.tasks.shared import side_by_side
from unit._study_results import NOTHING, grr, study


@pytest.fixture
def small():
    return study(
        {
            NOTHING: {"acc": [0.8, 0.82], "sp_gap": [0.1, 0.12]},
            grr(1): {"acc": [0.75, 0.74], "sp_gap": [0.05, 0.06]},
        }
    )


def test_charts_are_drawn_for_a_page_alone(small, monkeypatch):
    """A terminal shows none; drawn with every answer they took most of the time after a stage."""
    drawn = []
    draw = side_by_side.frontier_chart
    monkeypatch.setattr(
        side_by_side, "frontier_chart", lambda *args, **more: drawn.append(1) or draw(*args, **more)
    )
    small.view()
    small.effects()

    assert not drawn
    assert "<svg" in str(small.report())
    assert len(drawn) == 1


def test_all_that_is_written_after_a_stage_takes_one_answer(small, monkeypatch, tmp_path):
    composed = []
    monkeypatch.setattr(module, "compose", lambda case: composed.append(case) or composing.compose(case))
    small.view()
    write_results(small, tmp_path)
    small.view(data="people.csv", schema="other.toml")

    assert len(composed) == 1


def test_answers_in_two_languages_or_about_two_settings_are_not_mixed_up(small):
    english, german = small.view(), small.view(language="de")
    chosen = small.view(chosen=small.settings[1])

    assert english.question != german.question
    assert small.view().question == english.question
    assert chosen.page == str(small.settings[1])
