"""Columns drawn with one seed share every flip: they are refused where they are used together."""

import copy
import pickle

import numpy as np
import pytest

from evenhand.collect import (
    GRR,
    OUE,
    Independent,
    JointReports,
    LocalPrivatizer,
    Memo,
    Reports,
    group_rates,
    strategy_for,
)
from evenhand.engine import privatize_file
from evenhand.errors import InvalidParameterError
from evenhand.privacy.randomness import SecureSource, SeededSource
from evenhand.schema import Column, Domain, Schema
from evenhand.table import make_frame, write_csv

PEOPLE = 4_000
CODES = {"a": np.arange(PEOPLE) % 2, "b": np.arange(PEOPLE) // 2 % 2}
OUTCOME = np.random.default_rng(3).random(PEOPLE) < np.where(CODES["a"] == CODES["b"], 0.6, 0.2)
COIN = GRR(k=2, epsilon=1)


def drawn(rng_a, rng_b, protocol=COIN):
    return {"a": protocol.privatize(CODES["a"], rng=rng_a), "b": protocol.privatize(CODES["b"], rng=rng_b)}


@pytest.mark.parametrize("seed", [7, np.random.SeedSequence(7)], ids=["number", "sequence"])
@pytest.mark.parametrize("protocol", [COIN, OUE(k=2, epsilon=1)], ids=repr)
def test_columns_drawn_with_one_seed_are_not_crossed(seed, protocol):
    """If this is false, rates of -0.5 and 1.3 are given where 0.2 and 0.6 are true."""
    with pytest.raises(InvalidParameterError, match="columns drawn with one seed, which share every flip"):
        group_rates(OUTCOME, drawn(seed, seed, protocol))


@pytest.mark.parametrize(
    "change",
    [
        lambda part: part[:1000],
        lambda part: part[np.arange(PEOPLE) % 3 == 0],
        lambda part: Reports.concat([part[:1000], part[1000:]]),
        copy.deepcopy,
        lambda part: pickle.loads(pickle.dumps(part)),
    ],
    ids=["slice", "mask", "joined", "copy", "pickle"],
)
def test_parts_and_copies_of_reports_know_their_seed(change):
    first, second = (change(part) for part in drawn(7, 7).values())

    assert first.streams == second.streams != frozenset()


def test_columns_put_together_by_hand_are_refused_too():
    strategy = Independent({"a": COIN, "b": COIN})
    with pytest.raises(InvalidParameterError, match="share every flip"):
        JointReports(list(drawn(7, 7).values()), strategy=strategy)


def test_two_questions_asked_with_one_seed_are_not_crossed():
    """A memo has a stream for each batch, and the first batch of every memo has the same name."""
    answers = {name: Memo(COIN).answer(np.arange(PEOPLE), codes, rng=7) for name, codes in CODES.items()}
    with pytest.raises(InvalidParameterError, match="share every flip"):
        group_rates(OUTCOME, answers)


def test_seeds_of_their_own_are_taken():
    generator, source = np.random.default_rng(7), SeededSource(7)
    for first, second in (
        (7, 8),
        (generator, generator),
        (source, source),
        (SeededSource(7).for_cell("a"), SeededSource(7).for_cell("b")),
        (None, None),
        (SecureSource(), SecureSource()),
    ):
        assert group_rates(OUTCOME, drawn(first, second)).n == PEOPLE


def test_parts_of_one_report_are_not_crossed_as_if_they_were_drawn_apart():
    """If this is false, rates of -0.3 and 1.2 are given: the parts are true or false together."""
    joint = strategy_for({"a": 2, "b": 2}, epsilon=1, protocol="grr", strategy="combined").privatize(
        CODES, rng=7
    )
    with pytest.raises(InvalidParameterError, match="the parts of one report of all columns"):
        group_rates(OUTCOME, {"a": joint["a"], "b": joint["b"]})


def flips_agree(first, second):
    """Return how often two columns are both told rightly or both told wrongly; half of the time by chance."""
    return np.mean((first == CODES["a"]) == (second == CODES["b"]))


def test_columns_of_one_strategy_share_no_flips():
    """Each column has a stream of its own, by its name."""
    joint = strategy_for({"a": 2, "b": 2}, epsilon=1, protocol="grr").privatize(CODES, rng=7)
    shared = drawn(7, 7)

    assert flips_agree(joint["a"].values, joint["b"].values) < 0.75
    assert flips_agree(shared["a"].values, shared["b"].values) == 1


def test_privatizers_with_one_seed_share_no_flips_between_columns():
    schema = Schema([Column(name, Domain.integers(0, 1)) for name in CODES])
    frame = make_frame(CODES, backend="pandas")
    told = [
        LocalPrivatizer("grr", epsilon=1, columns=name, schema=schema, others="passthrough", rng=7)
        .set_output(transform="pandas")
        .fit_transform(frame)[f"{name}_1"]
        .to_numpy()
        for name in CODES
    ]

    assert flips_agree(*told) < 0.75


def test_files_with_one_seed_share_no_flips_between_columns(tmp_path):
    schema = Schema([Column(name, Domain.integers(0, 1)) for name in CODES]).with_roles(sensitive=[*CODES])
    write_csv(make_frame(CODES), tmp_path / "people.csv")
    told = []
    for name in CODES:
        way = {"epsilon": 1, "protocol": "grr", "columns": [name], "simulate": 7, "keep_order": True}
        privatize_file(tmp_path / "people.csv", tmp_path / f"{name}.csv", schema=schema, keep=[], **way)
        told.append(np.loadtxt(tmp_path / f"{name}.csv", skiprows=1, dtype=int))

    assert flips_agree(*told) < 0.75
