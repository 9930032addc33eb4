"""Headings where the model does no better than one answer for everyone: nothing of it is praised."""

from evenhand.study.tasks.collect.page.frontier import frontier_heading, table_heading
from evenhand.study.tasks.collect.page.groups import data_heading
from evenhand.study.tasks.collect.reading import CollectReading
from evenhand.study.tasks.collect.task import CollectTask
from unit.study._golden_collect import with_base_rate
from unit.study._page_studies import against, made, two

SERIES = CollectTask(["grr", "oue"], [0.5, 1, 4, 16], splits=["uniform", "k-based"])


def useless_below(epsilon):
    """Return a study whose gap shrinks everywhere, below an epsilon because all get one answer."""

    def rates(where):
        if not where.is_protected:
            return two(0.30, 0.60, accuracy=(0.8, 0.8))
        works = where.epsilon >= epsilon
        return two(0.35, 0.55, accuracy=(0.8, 0.8)) if works else two(0.99, 0.995, accuracy=(0.6, 0.6))

    return with_base_rate(made(rates, collect=SERIES, repeats=10), 0.6)


def test_a_gap_is_not_called_narrowed_where_the_model_says_one_thing_to_all():
    """A gap that is gone because everyone gets the same answer is no merit of a setting."""
    none, some, all_of_them = (CollectReading.of(useless_below(each)) for each in (99, 4, 0))

    assert table_heading(none) == "All numbers: no setting is clearly better than one answer for everyone"
    assert table_heading(some) == (
        "All numbers: of 8 settings better than one answer for everyone, 8 clearly narrow the gap"
    )
    assert table_heading(all_of_them) == "All numbers: every setting narrows the gap"
    assert data_heading(none).endswith(
        "; with protection it is not clearly better than one answer for everyone"
    )
    assert "narrow" not in data_heading(none).partition("; ")[2]


def test_a_model_without_use_has_no_accuracy_to_lose():
    """At 97 % of one class a dead model is as accurate as before, which is no praise."""
    alike = two(0.99, 0.995, accuracy=(0.97, 0.97))
    results = with_base_rate(made(against(two(0.9, 0.97, accuracy=(0.97, 0.97)), alike), repeats=10), 0.969)

    assert frontier_heading(CollectReading.of(results)) == (
        "The setting tested does no better than one answer for everyone"
    )
