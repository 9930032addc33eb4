"""What is said of made-up tables, each property with a broken twin that must fail it."""

import math
from collections import deque
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.answer import effects, harm, status, telling
from evenhand.answer.case import Case, Name, OptionName
from evenhand.answer.compose import compose
from evenhand.answer.effects import EVERYBODY, Option
from property.answer._tables import PLAIN, change_observations, draw_table
from unit.answer.test_golden_sentences import broken_rules, sentences

TABLES = st.builds(
    draw_table,
    st.integers(0, 2**32 - 1),
    n_groups=st.integers(1, 5),
    n_remedies=st.integers(0, 3),
    repeats=st.sampled_from([1, 2, 5, 10]),
    basis=st.sampled_from(["exact", "repeats"]),
)
SEEDS = range(150)
LETTERS = "ABCDEFGHI"


def case_of(table, names=None, **more):
    """Return a case whose groups have names without a number; options are called by their first letters."""
    groups = {seen.group for seen in table.observations} - {EVERYBODY}
    names = names or {group: f"people of {LETTERS[int(group[-1])]}" for group in groups}
    titles = {option.name: OptionName(f"option {option.name[0]}") for option in table.options}
    called = {group: Name(words, words.capitalize()) for group, words in names.items()}
    return Case(table, "Study", "Who pays?", groups=called, options=titles, repeats=10, **more)


def told(case):
    """Return the sentences of a case, and their details in any order."""
    view = compose(case)
    details = [sorted(part.details) for part in (view.who, view.how_much, view.what_to_do)]
    return sentences(view), details, sorted(view.remedies)


def assert_fails(claim, monkeypatch, *patches):
    """Run a claim on seeded tables with a broken part, and see that it fails for some of them."""
    for owner, name, broken in patches:
        monkeypatch.setattr(owner, name, broken)
    with pytest.raises(AssertionError):
        deque(map(claim, SEEDS), maxlen=0)


# --- names and order ----------------------------------------------------------------------------


def _check_names(table, seed):
    """Keep what groups are called, and change the names and the order of groups and options in the table."""
    rng = np.random.default_rng(seed)
    groups = sorted({seen.group for seen in table.observations} - {EVERYBODY})
    new = dict(zip(groups, (f"z{9 - place}" for place in range(len(groups))), strict=True))
    words = {group: f"people of {LETTERS[int(group[-1])]}" for group in groups}
    moved = change_observations(table, lambda seen: replace(seen, group=new.get(seen.group, EVERYBODY)))
    moved = replace(
        moved,
        observations=tuple(moved.observations[at] for at in rng.permutation(len(moved.observations))),
        options=tuple(moved.options[at] for at in rng.permutation(len(moved.options))),
    )

    assert told(case_of(moved, {new[group]: words[group] for group in groups})) == told(case_of(table, words))


@settings(max_examples=40)
@given(TABLES, st.integers(0, 1_000))
def test_names_and_order_change_no_sentence(table, seed):
    """If they did, who is named would depend on the order of a file."""
    _check_names(table, seed)


def test_sentences_in_the_order_of_the_table_are_found(monkeypatch):
    broken = property(
        lambda self: tuple(
            row
            for row in self.rows
            if row.setting == self.table.page and row.group != EVERYBODY and self.table.hurts(row.effect)
        )
    )
    assert_fails(
        lambda seed: _check_names(draw_table(seed, n_groups=5, n_remedies=0), seed),
        monkeypatch,
        (telling.Telling, "harmful", broken),
    )


# --- a further option ---------------------------------------------------------------------------


def _check_further(table, *, is_remedy):
    worse = [
        replace(
            seen,
            option="worse",
            after=seen.after + 50 * (-1 if effects.EFFECTS[seen.effect].harm == "less" else 1),
        )
        for seen in table.observations
        if seen.option == table.page
    ]
    option = Option("worse", PLAIN, epsilon=0.5, is_remedy=is_remedy, simplicity=99, method="another")
    more = replace(table, options=(*table.options, option), observations=(*table.observations, *worse))
    before, after = compose(case_of(table)), compose(case_of(more))

    assert (after.who, after.how_much.text) == (before.who, before.how_much.text)
    if not is_remedy:
        assert sentences(after) == sentences(before)


@settings(max_examples=40)
@given(TABLES, st.booleans())
def test_a_worse_option_changes_no_sentence_about_the_page(table, is_remedy):
    """If it did, trying more would change what is said of what was asked."""
    _check_further(table, is_remedy=is_remedy)


def test_limits_over_all_options_are_found(monkeypatch):
    whole = status.family_level

    def count_all(table, options):
        return whole(table, [each.name for each in table.options])

    assert_fails(
        lambda seed: _check_further(draw_table(seed), is_remedy=False),
        monkeypatch,
        (status, "family_level", count_all),
        (harm, "family_level", count_all),
        (telling, "family_level", count_all),
    )


# --- every sentence -----------------------------------------------------------------------------


@settings(max_examples=40)
@given(TABLES, st.sampled_from(["en", "de"]), st.booleans())
def test_every_sentence_is_whole(table, language, is_between_groups):
    """If one were not, some file would show a reader "nan" or a sentence without an end."""
    view = compose(case_of(table, language=language, is_between_groups=is_between_groups))
    names = [f"people of {letter}" for letter in LETTERS]

    assert {each: broken for each in sentences(view) if (broken := broken_rules(each, names))} == {}
    assert language == "de" or max(len(each.split()) for each in sentences(view)) <= 20


@settings(max_examples=40)
@given(TABLES)
def test_use_is_said_of_what_passes_every_test_alone(table):
    titles = {option.name: OptionName("it", use=f"Take {option.name}") for option in table.options}
    view = compose(replace(case_of(table), options=titles))
    taken = [
        option.name for option in table.options if view.what_to_do.text.startswith(f"Take {option.name}")
    ]

    assert taken == ([view.recommended] if view.recommended else [])


@settings(max_examples=40)
@given(TABLES)
def test_nobody_is_said_with_an_amount_that_no_row_exceeds(table):
    """If a bound were rounded down, "nobody pays more than" would be false."""
    view = compose(case_of(table))
    if view.state != "nobody":
        return
    said = float(view.verdict.rsplit(" of ", 1)[0].rsplit(" ", 1)[-1]) if "more than" in view.verdict else 0.0
    harmful = [
        row
        for row in view.rows
        if row.setting == table.page
        and row.group != EVERYBODY
        and row.status == "none"
        and table.hurts(row.effect)
    ]

    assert said >= max((row.bound for row in harmful), default=0.0) - 1e-9
    assert math.isfinite(said)
