"""How outputs become categories, and the words for them."""

import numpy as np
import pytest

from evenhand.collect.joint.build import strategy_for
from evenhand.collect.protocols.hashing import OLH
from evenhand.privacy.audit.draws import output_columns, support_columns
from evenhand.privacy.audit.events import Bins, OutputChunk, Together, Values, views_of
from evenhand.privacy.audit.measured import audit_epsilon
from evenhand.privacy.randomness import SeededSource
from evenhand.privacy.sampling import bernoulli, uniform_below


def objects(*values):
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


# -- columns -------------------------------------------------------------------------------------


def test_columns_of_numbers_rows_and_records():
    record = np.zeros(3, dtype=[("seed", "u4"), ("bits", "u1", 2)])

    assert list(output_columns([1, 2, 3])) == ["the output"]
    assert list(output_columns(np.zeros((3, 2)))) == ["coordinate 0", "coordinate 1"]
    assert list(output_columns(np.zeros((3, 2, 2)))) == [f"coordinate {j}" for j in range(4)]
    assert list(output_columns(record)) == [
        "field 'seed'",
        "coordinate 0 of field 'bits'",
        "coordinate 1 of field 'bits'",
    ]


def test_bytes_that_differ_in_a_last_zero_are_different():
    """An array of numpy would drop it."""
    columns = output_columns([b"a", b"a\0", "ü"])

    assert columns["the length"].tolist() == [1, 2, 2]
    assert columns["the output"].tolist() == [b"a", b"a\0", "ü"]
    assert columns["byte 0"].tolist() == [97, 97, 0xC3]


@pytest.mark.parametrize(
    "outputs", [[1, "refused", 2], ["a", 1, b"a"], [2**63 + 1, -1, 0], [2**60 + 1, 0.5, True], [None, 1, 2]]
)
def test_no_output_of_a_list_looks_different_for_its_neighbours(outputs):
    """An array of numpy would make texts of numbers, or floats of whole numbers."""
    assert output_columns(outputs)["the output"].tolist() == outputs
    assert output_columns([(each, 0) for each in outputs])["coordinate 0"].tolist() == outputs


def test_a_list_of_one_kind_stays_an_array_of_that_kind():
    assert output_columns([1, 0.5])["the output"].dtype == float
    assert output_columns([("a", "b"), ("c", "d")])["coordinate 1"].dtype.kind == "U"
    assert output_columns([(b"a", b"b")])["coordinate 1"].dtype.kind == "S"


@pytest.mark.parametrize(
    ("known", "given", "codes"),
    [
        (np.array([0, 1]), objects(1, None, "x", 0), [1, 2, 2, 0]),
        (np.array(["a", "b"]), objects("b", 1), [1, 2]),
        (np.array([0.5, np.nan]), objects(float("nan"), 0.5, None), [1, 0, 2]),
        (np.array([2**62, 2**62 + 1]), np.array([2**62 + 1, 2**63 + 1], dtype=np.uint64), [1, 2]),
    ],
)
def test_a_value_has_one_category_whatever_the_type_of_its_chunk(known, given, codes):
    """Otherwise one rare output would move all others of its chunk, which are then not independent."""
    assert Values("", known).of(given).tolist() == codes


def test_intervals_put_what_is_no_number_with_what_is_not_a_number():
    view = Bins("", np.array([0.0, 10.0]))

    assert view.of(objects(-1, 5, 10**400, -(10**400), None, "x", float("nan"))).tolist() == [
        0,
        1,
        2,
        0,
        3,
        3,
        3,
    ]


def test_no_empty_block_of_reports_is_asked_for():
    """A mechanism of somebody else may not know what to do with no reports."""

    sizes = []

    class Protocol:
        def indicators(self, reports):
            sizes.append(len(reports))
            return np.zeros((len(reports), 2), dtype=np.bool_)

    columns = support_columns(Protocol(), np.zeros(64), (0, 1))

    assert sizes == [64]
    assert {name: len(values) for name, values in columns.items()} == {"support of 0": 64, "support of 1": 64}


@pytest.mark.parametrize("k", [3, 50, 3_000])
def test_support_is_that_of_the_indicators(k):
    protocol = OLH(k=k, epsilon=1)
    reports = protocol.privatize(np.arange(500) % k, rng=1)
    columns = support_columns(protocol, reports, (0, k - 1))
    expected = protocol.indicators(reports)

    assert list(columns) == ["support of 0", f"support of {k - 1}"]
    assert (columns["support of 0"] == expected[:, 0]).all()
    assert (columns[f"support of {k - 1}"] == expected[:, k - 1]).all()


def test_support_of_several_attributes_is_known_by_their_names():
    strategy = strategy_for({"sex": 2, "race": 5}, epsilon=1)
    reports = strategy.privatize({"sex": np.ones(200, int), "race": np.full(200, 4)}, rng=1)
    columns = support_columns(strategy, reports, ({"race": 4, "sex": 1}, {"race": 0, "sex": 1}))
    expected = strategy.indicators(reports)

    assert set(columns) == {"support of 1 in 'sex'", "support of 4 in 'race'", "support of 0 in 'race'"}
    assert (columns["support of 4 in 'race'"] == expected["race"][:, 4]).all()


# -- values and intervals ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("known", "given", "codes"),
    [
        (np.array([1, 5], dtype=np.uint8), np.array([5, 1, 7], dtype=np.uint8), [1, 0, 2]),
        (np.array([False, True]), np.array([True, False]), [1, 0]),
        (np.array([-(2**62), 2**62]), np.array([2**62, 0, -(2**62)]), [1, 2, 0]),
        (np.array([1, 5], dtype=np.uint8), np.array([5, 300, -1]), [1, 2, 2]),
        (np.array([0.5, np.nan]), np.array([np.nan, 0.5, 1.0]), [1, 0, 2]),
        (np.array(["a", "b"]), np.array(["b", "c"]), [1, 2]),
        (objects("a", b"a", None), objects(None, "a", 3), [2, 0, 3]),
    ],
)
def test_a_value_finds_its_place(known, given, codes):
    assert Values("x", known).of(given).tolist() == codes


def test_intervals_leave_nothing_out():
    bins = Bins("x", np.array([0.0, 1.0]))

    assert bins.of(np.array([-np.inf, -1, 0, 0.5, 1, 9, np.inf, np.nan])).tolist() == [0, 0, 1, 1, 2, 2, 2, 3]


@pytest.mark.parametrize(
    ("view", "codes", "words"),
    [
        (Values("x", np.array([1, 2, 3])), [1], "x is 2"),
        (Values("x", np.array([1, 2, 3])), [2, 0], "x is 1 or 3"),
        (Values("x", np.array([1, 2, 3])), [2, 1, 0], "x is 1, 2 or 3"),
        (Values("x", np.array([1, 2, 3])), [3, 0], "x is not 2 or 3"),
        (Values("x", np.arange(9)), [9, 0], "x is 0 or some other value"),
        (Values("x", np.arange(9)), range(6), "x is 0, 1, 2, 3 or one of 2 more"),
        (Bins("x", np.array([0.0, 1.0])), [0], "x is below 0"),
        (Bins("x", np.array([0.0, 1.0])), [1], "x is at least 0 and below 1"),
        (Bins("x", np.array([0.0, 1.0])), [2, 0], "x is below 0 or at least 1"),
        (Bins("x", np.array([0.0, 1.0])), [2, 3], "x is at least 1 or not a number"),
        (Bins("x", np.array([0.0, 1.0])), [3], "x is not a number"),
        (Bins("x", np.array([0.0, 1.0])), [0, 1, 2], "x is any number"),
    ],
)
def test_an_event_has_words(view, codes, words):
    assert view.words(codes) == words


def test_a_combination_has_words():
    parts = (Values("x", np.array([0, 1])), Values("y", np.array([0, 1])))
    seen = OutputChunk({"x": np.array([0, 1, 1]), "y": np.array([1, 0, 1])})
    view = Together.of(parts, seen, seen)

    assert seen.codes(view).tolist() == [0, 1, 2]
    assert view.words([1]) == "x is 1 and y is 0"
    assert view.words([0, view.size - 1]) == "x is 0 and y is 1; or another combination"


# -- what is learnt ------------------------------------------------------------------------------


def chunks(make, *, size=20_000):
    source = SeededSource(4)
    return [OutputChunk(output_columns(make(value, size, source))) for value in (0, 1)]


def test_many_numbers_get_intervals_and_a_frequent_one_its_own():
    """Half of the outputs are zero; an interval that holds it and more would hide that."""
    first, second = chunks(
        lambda value, size, source: np.where(
            bernoulli("1/2", size=size, source=source),
            0.0,
            uniform_below(10**9, size=size, source=source) + 1.0,
        )
    )
    bins = next(view for view in views_of(first, second) if isinstance(view, Bins))
    zero = bins.of(np.array([0.0]))[0]

    assert (bins.of(np.array([-1.0, 1.0])) != zero).all()
    assert bins.size > 20


def test_columns_that_tell_are_kept_among_many():
    def make(value, size, source):
        rows = bernoulli("1/2", size=(size, 60), source=source).astype(np.uint8)
        rows[:, 41] = bernoulli("3/4" if value else "1/4", size=size, source=source)
        return rows

    views = views_of(*chunks(make))

    assert any(getattr(view, "column", "") == "coordinate 41" for view in views)
    assert len(views) < 12


def test_too_many_combinations_are_left_to_the_score():
    """Twelve columns of 257 categories each have more combinations than fit a word."""
    views = views_of(
        *chunks(lambda value, size, source: uniform_below(256, size=(size, 12), source=source) // (1 + value))
    )

    assert max(len(view.parts) for view in views if isinstance(view, Together)) == 2


# -- from outside --------------------------------------------------------------------------------


def test_a_leak_that_is_only_in_the_combination_is_seen():
    """Each bit alone is a fair coin under both inputs."""

    def both(value, size, rng):
        coin = bernoulli("1/2", size=size, source=rng)
        return np.stack([coin, coin ^ bool(value)], axis=1)

    found = audit_epsilon(both, (0, 1), claimed=1, size=2_000, rng=1)

    assert found.exceeds
    assert "coordinate 0 is" in found.event
    assert "coordinate 1 is" in found.event


def test_many_weak_columns_add_up():
    """Forty bits of epsilon 0.51 each; the score sees what no pair of columns shows."""

    def weak(value, size, rng):
        return bernoulli("5/8" if value else "3/8", size=(size, 40), source=rng)

    found = audit_epsilon(weak, (0, 1), claimed=2, size=20_000, rng=1)

    assert found.measured_epsilon > 4
    assert found.event.startswith("the score of all columns is")


@pytest.mark.parametrize(
    ("outputs", "event"),
    [
        (lambda value, coin: np.where(coin, np.nan, value), "the output is"),
        (
            lambda value, coin: [b"%04d" % j + b"x" * int(each) * value for j, each in enumerate(coin)],
            "the length is",
        ),
        (lambda value, coin: objects(*[("yes" if each else value) for each in coin]), "the output is"),
        (lambda value, coin: np.array(["a", "b"])[coin * value], "the output is"),
    ],
    ids=["not a number", "length of bytes", "objects", "texts"],
)
def test_outputs_of_any_kind_are_read(outputs, event):
    def mechanism(value, size, rng):
        return outputs(value, bernoulli("1/2", size=size, source=rng).astype(int))

    found = audit_epsilon(mechanism, (0, 1), claimed=1, size=2_000, rng=1)

    assert found.exceeds
    assert found.event.startswith(event)


def test_an_array_of_texts_is_read_like_a_list_of_them():
    """All texts differ here, and only their length tells: an array that hides it would hide the leak."""

    def mechanism(value, size, rng):
        serial = uniform_below(10**9, size=size, source=rng).tolist()
        told = bernoulli("1/2", size=size, source=rng).tolist()
        return np.array([f"{each:09d}" + "x" * value * tell for each, tell in zip(serial, told, strict=True)])

    assert list(output_columns(np.array(["a", "bc"]))) == list(output_columns(["a", "bc"]))
    assert audit_epsilon(mechanism, (0, 1), claimed=1, size=4_000, rng=1).exceeds


def test_many_different_texts_are_told_apart_by_the_frequent_ones():
    def mechanism(value, size, rng):
        serial = uniform_below(10**9, size=size, source=rng)
        told = bernoulli("1/2", size=size, source=rng)
        return objects(
            *[f"v{value}" if each else f"s{number}" for each, number in zip(told, serial, strict=True)]
        )

    assert audit_epsilon(mechanism, (0, 1), claimed=1, size=4_000, rng=1).exceeds


def test_several_attributes_are_audited_as_one_report():
    strategy = strategy_for({"sex": 2, "race": 3}, epsilon=2)
    found = audit_epsilon(strategy, ({"sex": 0, "race": 0}, {"sex": 1, "race": 2}), size=100_000, rng=1)

    assert not found.exceeds
    assert found.measured_epsilon > 1.8
    assert "'sex'" in found.event
    assert "'race'" in found.event


def test_a_protocol_without_indicators_is_read_like_any_array():
    class Bare:
        def privatize(self, codes, rng):
            return codes ^ bernoulli("1/4", size=len(codes), source=rng)

    assert audit_epsilon(Bare(), (0, 1), claimed=1, size=20_000, rng=1).exceeds


def test_features_are_all_that_is_seen():
    def mechanism(value, size, rng):
        return np.stack([np.full(size, value), bernoulli("1/2", size=size, source=rng)], axis=1)

    hidden = audit_epsilon(mechanism, (0, 1), claimed=1, size=2_000, rng=1, features=lambda rows: rows[:, 1])
    shown = audit_epsilon(mechanism, (0, 1), claimed=1, size=2_000, rng=1)

    assert not hidden.exceeds
    assert shown.exceeds
