"""What every strategy has in common: checks before draws, streams of their own, and a table to read."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from evenhand.collect.joint import strategy as strategy_module
from evenhand.collect.joint.combined import Combined
from evenhand.collect.joint.independent import Independent, Sampled, Single
from evenhand.collect.joint.strategy import check_column_names, streams
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.optimal import Optimal
from evenhand.collect.protocols.subset import SS
from evenhand.collect.protocols.unary import OUE
from evenhand.errors import ColumnNotFoundError, InvalidParameterError
from evenhand.privacy.randomness import SecureSource, SeededSource, Source
from evenhand.privacy.rational import round_up

CODES = {"a": np.array([0, 1, 1, 0, 1]), "b": np.array([2, 1, 0, 0, 2]), "c": np.array([4, 3, 2, 1, 0])}
EVERY = [
    Single("a", GRR(2, 1)),
    Independent({"a": GRR(2, "1/2"), "b": OUE(3, "1/2"), "c": SS(5, 1)}),
    Combined({"a": 2, "b": 3, "c": 5}, 1),
    Sampled({"a": GRR(2, 1), "b": OUE(3, 1), "c": SS(5, 1)}),
]
names = [each.name for each in EVERY]


class NeverAsked(Source):
    """A source that must not be used."""

    kind = "seeded"

    def words(self, count):
        raise AssertionError("something was drawn")


@pytest.mark.parametrize("strategy", EVERY, ids=names)
def test_a_strategy_says_what_it_reports(strategy):
    reports = strategy.privatize(CODES, rng=7)
    estimates, indicators = strategy.estimate(reports), strategy.indicators(reports)

    assert len(reports) == 5
    assert list(estimates) == list(indicators) == list(strategy.columns)
    assert strategy.guarantee.protects == strategy.columns
    assert strategy.guarantee.epsilon == strategy.epsilon
    assert (str(strategy.guarantee.unit), str(strategy.guarantee.trust)) == ("one report", "local")
    for column, k in strategy.sizes.items():
        assert indicators[column].shape == (5, k)
        assert len(estimates[column].values) == k


@pytest.mark.parametrize("strategy", EVERY, ids=names)
def test_a_seed_repeats_and_no_seed_does_not(strategy):
    many = {column: np.tile(codes, 40) for column, codes in CODES.items()}
    first, again, other = (strategy.privatize(many, rng=seed) for seed in (7, 7, 8))
    real = strategy.privatize(many)

    assert first.simulated
    assert not real.simulated
    for column in strategy.columns:
        assert np.array_equal(strategy.indicators(first)[column], strategy.indicators(again)[column])
    assert any(
        not np.array_equal(strategy.indicators(first)[column], strategy.indicators(other)[column])
        for column in strategy.columns
    )


@pytest.mark.parametrize("strategy", EVERY, ids=names)
def test_nothing_is_drawn_for_codes_that_are_refused(strategy):
    """A draw for wrong codes would be a report that nobody may see."""
    last = strategy.columns[-1]
    wrong = [
        CODES | {last: CODES[last][:-1]} if len(strategy.columns) > 1 else None,
        CODES | {last: CODES[last] + 5},
        CODES | {last: CODES[last].astype(float)},
        [1, 2, 3],
    ]
    for codes in filter(None, wrong):
        with pytest.raises(InvalidParameterError, match="'codes' parameter"):
            strategy.privatize(codes, rng=NeverAsked())
    with pytest.raises(ColumnNotFoundError, match=f"Column '{last}' is not among the codes given"):
        strategy.privatize({column: CODES[column] for column in "abc" if column != last}, rng=NeverAsked())


@pytest.mark.parametrize("strategy", EVERY, ids=names)
def test_messages_hold_no_code(strategy):
    secret = {column: np.array([987654321] * 3) for column in CODES}
    for wrong in (secret, list(secret.values()), {"other": secret["a"]}):
        with pytest.raises((InvalidParameterError, ColumnNotFoundError)) as refusal:
            strategy.privatize(wrong)

        assert "987654321" not in str(refusal.value)


@pytest.mark.parametrize("strategy", EVERY, ids=names)
def test_no_people_is_no_error(strategy):
    empty = strategy.privatize({column: np.empty(0, dtype=int) for column in CODES}, rng=7)

    assert len(empty) == 0
    assert all(np.isnan(each.values).all() for each in strategy.estimate(empty).values())


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 100, None])
@pytest.mark.parametrize("strategy", EVERY, ids=names)
def test_blocks_of_indicators_make_up_the_whole(strategy, rows):
    reports = strategy.privatize(CODES, rng=7)
    blocks = list(strategy.indicator_chunks(reports, rows=rows))

    for column, whole in strategy.indicators(reports).items():
        assert (np.concatenate([block[column] for block in blocks]) == whole).all()
    with pytest.raises(InvalidParameterError, match="'rows' parameter"):
        strategy.indicator_chunks(reports, rows=0)


@pytest.mark.parametrize("strategy", EVERY, ids=names)
def test_frames_serve_as_codes(strategy):
    reports = strategy.privatize(pd.DataFrame(CODES), rng=7)
    same = strategy.privatize(CODES, rng=7)

    for column in strategy.columns:
        assert np.array_equal(strategy.indicators(reports)[column], strategy.indicators(same)[column])


@pytest.mark.parametrize("strategy", EVERY, ids=names)
def test_reports_of_another_strategy_are_refused(strategy):
    others = [each for each in EVERY if each != strategy]
    for other in others:
        with pytest.raises(InvalidParameterError, match="joint reports of another strategy"):
            strategy.estimate(other.privatize(CODES, rng=7))
    with pytest.raises(InvalidParameterError, match="Got a ndarray instead"):
        strategy.indicators(np.zeros(3))


@pytest.mark.parametrize("strategy", EVERY, ids=names)
def test_the_table_names_both_epsilons(strategy):
    """A reader who takes the smaller figure for a promise is misled."""
    text = str(strategy)

    assert text == strategy.describe()
    assert "epsilon within the report" in text
    assert "if only this column is seen" in text
    assert all(column in text for column in strategy.columns)
    assert Fraction(text.rpartition("whole report: epsilon ")[2]) >= strategy.epsilon
    assert repr(strategy).startswith(type(strategy).__name__)


@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(2), Fraction("1.0000001")])
@pytest.mark.parametrize("together", [False, True])
def test_no_epsilon_in_the_table_is_smaller_than_it_is(together, epsilon):
    """Rounded to the nearest, the table would promise more than the proof."""
    apart = Independent({"a": GRR(3, epsilon), "b": GRR(4, epsilon / 7)})
    strategy = Combined({"a": 3, "b": 4}, epsilon) if together else apart
    *rows, last = strategy.describe().splitlines()[1:]

    assert round_up(strategy.epsilon, digits=6) == Fraction(last.split()[-1])
    for column, row in zip(strategy.columns, rows, strict=True):
        within, alone = map(Fraction, row.split()[-2:])
        assert within == round_up(strategy.epsilon_within_report(column), digits=6)
        assert alone >= strategy.epsilon_if_seen_alone(column)
        assert alone <= within
        assert float(alone) == pytest.approx(strategy.epsilon_if_seen_alone(column), rel=1e-5)


@pytest.mark.parametrize("strategy", EVERY, ids=names)
def test_a_column_that_is_not_reported_has_no_epsilon(strategy):
    for ask in (strategy.epsilon_within_report, strategy.epsilon_if_seen_alone):
        with pytest.raises(ColumnNotFoundError, match="'income' is not among those reported"):
            ask("income")


@pytest.mark.parametrize("strategy", EVERY, ids=names)
def test_a_strategy_is_frozen(strategy):
    with pytest.raises(AttributeError):
        strategy.in_clear = ("a",)
    strategy.protocols.clear()

    assert strategy.columns
    assert strategy == strategy
    assert hash(strategy) == hash(strategy)


def test_columns_in_the_clear_are_stated():
    stated = Combined({"a": 2, "b": 3}, 1, in_clear=["income"])

    assert stated.guarantee.in_clear == ("income",)
    assert EVERY[1].guarantee_for(in_clear=["income"]).in_clear == ("income",)
    assert Single("a", GRR(2, 1), in_clear=["b"]).guarantee.in_clear == ("b",)


# --- streams ----------------------------------------------------------------------------------------


def test_a_column_draws_the_same_whatever_other_columns_there_are():
    """Adding a question to a study must not change the answers to the others."""
    two = Independent({"b": OUE(3, 1), "a": GRR(2, 1)}).privatize(CODES, rng=7)
    three = Independent({"a": GRR(2, 1), "c": SS(5, 1), "b": OUE(3, 1)}).privatize(CODES, rng=7)

    assert np.array_equal(two["a"].values, three["a"].values)
    assert np.array_equal(two["b"].values, three["b"].values)


def test_columns_do_not_share_a_stream():
    codes = np.zeros(64, dtype=int)
    reports = Independent({"a": GRR(2, 1), "b": GRR(2, 1)}).privatize({"a": codes, "b": codes}, rng=7)

    assert not np.array_equal(reports["a"].values, reports["b"].values)


@pytest.mark.parametrize("strategy", EVERY, ids=names)
def test_a_source_used_twice_gives_other_draws(strategy):
    """Two batches with one stream would tell who answered alike."""
    many = {column: np.tile(codes, 40) for column, codes in CODES.items()}
    source = SeededSource(7)
    first, second = strategy.privatize(many, rng=source), strategy.privatize(many, rng=source)

    assert any(
        not np.array_equal(strategy.indicators(first)[column], strategy.indicators(second)[column])
        for column in strategy.columns
    )


def test_the_secure_source_serves_every_column():
    source = SecureSource()

    assert streams(source, ["a", "b"]) == {"a": source, "b": source}


# --- names ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [["a", "a"], ["a", 5], [""]])
def test_names_must_be_different_texts(wrong):
    with pytest.raises(InvalidParameterError, match="'in_clear' parameter of Single must be different names"):
        Single("a", GRR(2, 1), in_clear=wrong)


def test_a_single_name_is_a_list_of_one():
    assert check_column_names("age", parameter="in_clear", owner="test") == ("age",)


@pytest.mark.parametrize("make", [Independent, Sampled])
@pytest.mark.parametrize("wrong", [{}, None, [GRR(2, 1)], {"a": "grr"}, {5: GRR(2, 1)}])
def test_protocols_must_be_protocols_by_name(make, wrong):
    with pytest.raises(InvalidParameterError, match=f"'protocols' parameter of {make.__name__}"):
        make(wrong)


def test_epsilons_are_exact():
    tenths = Independent({f"c{i}": GRR(2, 0.1) for i in range(10)})

    assert tenths.epsilon == tenths.guarantee.epsilon == Fraction(1)


@pytest.mark.parametrize("strategy", EVERY, ids=names)
def test_people_whose_indicators_pass_the_size_of_a_block_come_one_by_one(monkeypatch, strategy):
    monkeypatch.setattr(strategy_module, "_CHUNK_BYTES", 1)
    reports = strategy.privatize({name: CODES[name] for name in strategy.columns}, rng=3)

    assert [len(block["a"]) for block in strategy.indicator_chunks(reports)] == [1] * 5


def test_reports_of_a_matrix_are_true_as_often_as_those_of_its_groups():
    """Optimal has no single p, so that nothing could be said of how often its reports are true."""
    optimal = Optimal((0.5, 0.3, 0.2), (0.2, 0.4, 0.6), 1)
    strategy = Single("a", optimal)

    assert strategy.truth_within_report("a") == pytest.approx(np.diagonal(optimal.matrix()).mean())
    assert strategy.rarely_true == {}
    assert Single("a", GRR(3, 1)).truth_within_report("a") == pytest.approx(GRR(3, 1).p)
