"""What some columns tell of another one is measured on people who were held out."""

import time

import numpy as np
import pandas as pd
import pytest

from evenhand.schema import Column, Domain, Schema
from evenhand.study import CollectTask, LearnTask, Plan
from evenhand.study.plan.facts import Leak
from evenhand.study.profile.leakage import leak_of, target_leaks
from evenhand.study.run.prepare import prepare
from evenhand.study.store.canonical import facts_from, facts_text

DRAWS = np.random.default_rng(3)
RACE = DRAWS.choice(3, size=2_000, p=[0.8, 0.12, 0.08])
WHITE, BLACK, HISPANIC = (group == RACE for group in range(3))
NOISE = DRAWS.integers(10, size=(2_000, 8))


def beside(**more):
    return {**{f"noise {at}": NOISE[:, at] for at in range(8)}, **more}


def test_columns_that_determine_the_secret_are_named_with_how_often_they_tell_it():
    """An audit that does not say this lets people think that randomising the column hides it."""
    found = leak_of("white", WHITE, beside(black=BLACK, hispan=HISPANIC))

    assert set(found.by) == {"black", "hispan"}
    assert found.guessed == 1.0
    assert found.base == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize(
    "clear",
    [
        beside(),
        beside(person=np.arange(2_000)),
        {f"wide {at}": DRAWS.integers(1_000, size=2_000) for at in range(40)},
    ],
    ids=["noise", "identifier", "unique combinations"],
)
def test_combinations_that_one_person_has_are_no_leakage(clear):
    """Nearly everybody is unique in many columns; that tells nothing about somebody who was not seen."""
    assert leak_of("white", WHITE, clear) is None


def test_the_share_is_that_of_people_who_were_held_out():
    """On the rows it learnt from, a tree is right more often than it will ever be again."""
    half = np.where(DRAWS.random(2_000) < 0.5, WHITE, DRAWS.random(2_000) < 0.8)
    found = leak_of("white", WHITE, beside(hint=half))

    assert found is None or found.guessed < 0.95


def test_a_value_among_many_can_leak_too():
    towns = DRAWS.integers(60, size=2_000)
    found = leak_of("town", towns, {"area": towns // 2})

    assert found.by == ("area",)
    assert 0.05 < found.guessed < 0.5


def test_few_people_tell_nothing():
    assert leak_of("white", WHITE[:90], {"white too": WHITE[:90]}) is None


def test_a_wide_file_costs_little():
    rows = 5_000
    clear = {f"column {at}": DRAWS.integers(5, size=rows) for at in range(1_000)}
    began = time.perf_counter()
    leak_of("secret", DRAWS.integers(4, size=rows), clear)

    assert time.perf_counter() - began < 20


@pytest.mark.parametrize(
    ("guessed", "base", "is_full"),
    [(1.0, 0.8, True), (0.96, 0.5, True), (0.94, 0.5, False), (0.97, 0.9, False), (0.99, 0.97, False)],
)
def test_a_leak_is_full_if_next_to_no_error_is_left(guessed, base, is_full):
    """Of a value that 97 % share, 99 % right still leaves a third of the others hidden."""
    assert Leak("white", ("black",), guessed, base).is_full is is_full


# --- the target -----------------------------------------------------------------------------------

HIRED = DRAWS.integers(2, size=2_000)
SEX = DRAWS.integers(2, size=2_000)


def prepare_with(task=None, **columns):
    """Return the rows of people with a sex, an outcome and further columns of whole numbers."""
    names = ("sex", *columns, "hired")
    schema = Schema(
        [Column(name, Domain.integers(0, 99)) for name in names[1:-1]]
        + [Column(name, Domain.integers(0, 1)) for name in ("sex", "hired")],
        sensitive="sex", protected="sex", privileged=1, target="hired", positive=1,
    )  # fmt: skip
    frame = pd.DataFrame({"sex": SEX, **columns, "hired": HIRED}).astype(int)
    plan = Plan(schema=schema, task=task or CollectTask("grr", 1, model="logistic"), repeats=2)
    return prepare(plan, frame=frame)


def test_every_column_that_alone_tells_the_target_is_found():
    """Of two columns that tell the same a tree uses one; the other would stay and tell it as well."""
    scattered = (
        2 * DRAWS.integers(50, size=2_000) + HIRED
    )  # an even code is one outcome, an odd one the other
    points = np.where(HIRED, DRAWS.integers(50, 99, size=2_000), DRAWS.integers(0, 50, size=2_000))
    prepared = prepare_with(letter=HIRED, points=points, scattered=scattered, noise=NOISE[:, 0])

    assert {leak.by for leak in target_leaks(prepared)} >= {("letter",), ("points",)}
    assert ("noise",) not in {leak.by for leak in target_leaks(prepared)}


@pytest.mark.parametrize("share", [0.5, 0.8, 0.9])
def test_a_column_that_is_only_correlated_is_none_of_them(share):
    """A warning at every good predictor would be read by nobody."""
    hint = np.where(DRAWS.random(2_000) < share, HIRED, 1 - HIRED)

    assert target_leaks(prepare_with(hint=hint, noise=NOISE[:, 0])) == ()


def test_columns_that_tell_the_target_only_together_are_none_of_them():
    first = DRAWS.integers(2, size=2_000)

    assert target_leaks(prepare_with(first=first, second=first ^ HIRED)) == ()


@pytest.mark.parametrize("task", [CollectTask("grr", 1, model="logistic"), LearnTask(methods=["plain"])])
def test_a_study_warns_of_it_without_a_value_of_the_rows(task):
    facts = prepare_with(task, letter=HIRED, job=NOISE[:, 1]).facts
    [note] = [note for note in facts.notes if note.kind == "target"]

    assert note.startswith("'letter' alone tells 'hired' for nearly everybody")
    assert facts.leaks == ()
    assert facts_from(facts_text(facts)) == facts
