"""The two k-anonymous mechanisms: what they promise, publish and get wrong."""

import itertools
from dataclasses import replace
from fractions import Fraction
from math import comb

import numpy as np
import pytest

from evenhand.errors import GuaranteeError, InvalidParameterError, LimitExceededError
from evenhand.privacy.guarantees.units import Trust
from evenhand.privacy.ledger import Ledger
from evenhand.privacy.randomness import SeededSource
from evenhand.privacy.rational import exp_bounds
from evenhand.release.kanonymity.generalized import generalize
from evenhand.release.kanonymity.mechanisms import GRID, KAnonymity, SampledKAnonymity
from evenhand.release.kanonymity.reconstruct import expected_counts
from evenhand.release.mechanisms.generalized_sampling import draw_sample
from evenhand.release.mechanisms.mechanism import ReleaseMechanism
from evenhand.release.mechanisms.registry import mechanism_from
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema

AGE = Column("age", Domain.integers(20, 29))
RACE = Column("race", Domain.categorical(["a", "b", "c"]))
HOME = Column("home", Domain.categorical(["own", "rent"]))
ONE = Schema([RACE])


def _table(people=60, seed=1):
    schema = Schema([AGE, HOME, RACE], quasi_identifiers=["age", "race"])
    counts = SeededSource(seed).generator().multinomial(people, np.full(60, 1 / 60))
    return Histogram.of(counts, schema)


# --- what is promised ----------------------------------------------------------------------------


def test_k_anonymity_promises_nothing():
    """Its classes are a function of the rows: calling that private would be the worst error here."""
    guarantee = KAnonymity(6).guarantee_for(_table())

    assert guarantee.trust is Trust.NONE
    assert guarantee.in_clear == ("age", "home", "race")
    assert guarantee == KAnonymity(6).guarantee_for(_table(), epsilon=1, as_printed=True)


@pytest.mark.parametrize(("epsilon", "beta"), [(0.5, 0.3935), (1, 0.6321), (2, 0.8647), (4, 0.9817)])
@pytest.mark.parametrize("at", [None, 0, 0.3, 5])
def test_delta_is_beta_at_every_epsilon(epsilon, beta, at):
    """The paper's epsilon only sets beta; stating a smaller delta at a larger epsilon would be false."""
    guarantee = SampledKAnonymity(6, epsilon=epsilon).guarantee_for(_table(), epsilon=at)

    assert round(float(guarantee.delta), 4) == beta
    assert guarantee.epsilon == Fraction(str(at or 0))
    assert guarantee.tight


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.8787), (1, 0.9061), (2, 0.9817), (4, 0.9997)])
def test_as_printed_gives_the_numbers_of_the_paper_and_says_what_is_wrong(epsilon, delta):
    """A reader must be able to find the printed numbers, and must not take them for ours."""
    mechanism = SampledKAnonymity(6, epsilon=epsilon)
    printed = mechanism.guarantee_for(_table(), as_printed=True)

    assert round(float(printed.delta), 4) == delta
    assert printed.epsilon == Fraction(str(epsilon))
    assert not printed.tight
    assert "very loose" in printed.proof
    assert printed.delta > mechanism.guarantee_for(_table()).delta


def test_as_printed_at_another_epsilon_or_with_beta_alone():
    """With beta alone, epsilon is the one that beta belongs to."""
    own = SampledKAnonymity(6, beta="0.5").guarantee_for(_table(), as_printed=True)
    other = SampledKAnonymity(6, epsilon=1).guarantee_for(_table(), epsilon=2, as_printed=True)

    assert float(own.epsilon) == pytest.approx(0.6931471805599453)
    assert other.epsilon == 2
    assert other.delta < SampledKAnonymity(6, epsilon=1).guarantee_for(_table(), as_printed=True).delta


@pytest.mark.parametrize("epsilon", ["0.001", "0.1", "1", "4", "20"])
def test_beta_is_rounded_down_to_the_grid(epsilon):
    """Rounded up, delta would be larger than the formula that users compute themselves."""
    rate = SampledKAnonymity(6, epsilon=epsilon).rate
    low, high = exp_bounds(-Fraction(epsilon))

    assert rate <= 1 - high
    assert rate + Fraction(1, GRID) > 1 - low
    assert (rate * GRID).denominator == 1
    assert SampledKAnonymity(6, beta="1/3").rate == Fraction(3002399751580330, GRID)


# --- the delta by enumeration ----------------------------------------------------------------------


def _sample_law(counts, rate):
    """Return the probability of every sample of a table, person by person."""
    people = [cell for cell, count in enumerate(counts) for _ in range(count)]
    law = {}
    for taken in itertools.product([False, True], repeat=len(people)):
        sample = tuple(
            sum(here and cell == person for here, person in zip(taken, people, strict=True))
            for cell in range(len(counts))
        )
        size = sum(taken)
        law[sample] = law.get(sample, 0) + rate**size * (1 - rate) ** (len(people) - size)
    return law


def _hockey_stick(one, other, factor):
    return sum(max(Fraction(0), p - factor * other.get(out, Fraction(0))) for out, p in one.items())


def _neighbours(cells, people, unit):
    tables = [each for each in itertools.product(range(people + 1), repeat=cells) if sum(each) == people]
    fewer = [each for each in itertools.product(range(people), repeat=cells) if sum(each) == people - 1]
    for one, other in itertools.product(tables, tables if unit == "replace one" else fewer):
        if sum(abs(a - b) for a, b in zip(one, other, strict=True)) == (2 if unit == "replace one" else 1):
            yield one, other
            yield other, one


@pytest.mark.parametrize("unit", ["replace one", "add or remove one"])
@pytest.mark.parametrize("factor", [Fraction(1), Fraction(27, 10), Fraction(55)])
def test_delta_of_the_sample_is_beta_by_enumeration(unit, factor):
    """All neighbouring tables of three cells and up to three people, both ways: never above, and attained."""
    rate, worst = Fraction(5, 8), Fraction(0)
    for people in (1, 2, 3):
        for one, other in _neighbours(3, people, unit):
            found = _hockey_stick(_sample_law(one, rate), _sample_law(other, rate), factor)
            assert found <= rate
            worst = max(worst, found)
    mechanism = SampledKAnonymity(2, beta=rate, unit=unit)

    assert worst == rate == mechanism.guarantee_for(Histogram.of([1, 0, 0], ONE)).delta


@pytest.mark.parametrize("k", [2, 3])
def test_classes_alone_come_as_near_to_beta_as_one_likes(k):
    """k-anonymity does not hide the sample: with many people, a rare label shows with nearly beta."""
    rate, deltas = Fraction(1, 2), []
    for people in (k, k + 2, k + 7):
        laws = []
        for counts in ((people - 1, 1, 0), (people, 0, 0)):  # the third value only fills the schema
            law = {}
            for sample, chance in _binomial_law(counts, rate).items():
                rows = generalize(Histogram.of(sample, ONE), k).to_frame("pyarrow").to_pylist()
                out = tuple((row["race"], row["count"]) for row in rows)
                law[out] = law.get(out, 0) + chance
            laws.append(law)
        deltas.append(_hockey_stick(laws[0], laws[1], Fraction(1000)))

    assert deltas == sorted(deltas)
    assert max(deltas) <= rate
    assert deltas[-1] > Fraction(9, 10) * rate


def _binomial_law(counts, rate):
    laws = [
        [comb(count, j) * rate**j * (1 - rate) ** (count - j) for j in range(count + 1)] for count in counts
    ]
    return {
        sample: laws[0][sample[0]] * laws[1][sample[1]] * laws[2][sample[2]]
        for sample in itertools.product(*[range(count + 1) for count in counts])
    }


# --- what is published -----------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", [KAnonymity(5), SampledKAnonymity(5, epsilon=2)])
def test_a_release_has_classes_of_k_and_counts_drawn_from_them(mechanism):
    """The counts must be explained by the classes: the same people, the same other columns."""
    release = mechanism.release(_table())
    homes = release.classes.to_frame("pyarrow").group_by("home").aggregate([("count", "sum")])

    assert (release.classes.people >= 5).all()
    assert release.histogram.people == release.classes.people.sum()
    assert {row["home"]: row["count_sum"] for row in homes.to_pylist()} == dict(
        zip(("own", "rent"), release.histogram.margin(["home"]).counts.tolist(), strict=True)
    )
    assert not release.suppressed.any()
    assert not release.simulated


@pytest.mark.parametrize("mechanism", [KAnonymity(61), SampledKAnonymity(61, epsilon=20), KAnonymity(2**61)])
def test_fewer_than_k_people_are_suppressed_without_an_error(mechanism):
    """Whether a release succeeds must not depend on how many people there are."""
    release = mechanism.release(_table(), rng=1)

    assert release.suppressed.all()
    assert len(release.classes) == 0
    assert set(release.to_frame("pyarrow")["count"].to_pylist()) == {None}


@pytest.mark.parametrize("counts", [[0, 0, 0], [1, 0, 0], [2**20, 3, 3], [-4, 9, 9]])
@pytest.mark.parametrize(
    "mechanism",
    [
        KAnonymity(1),
        KAnonymity(5),
        SampledKAnonymity(1, epsilon="0.001"),
        SampledKAnonymity(3, epsilon=20),
        SampledKAnonymity(3, beta="1e-9", reconstruction="as_printed"),
    ],
    ids=repr,
)
def test_hostile_tables_are_published_like_any_other(mechanism, counts):
    """Empty tables, one person, one huge cell and noise below zero: the outcome is a release."""
    release = mechanism.release(Histogram.of(counts, ONE), rng=3)

    assert 0 <= release.histogram.people <= sum(max(0, each) for each in counts)


def test_one_cell_is_one_class():
    """A table of one cell has nothing to merge."""
    table = Histogram.of([7], Schema([Column("all", Domain.categorical(["x"]))]))

    assert KAnonymity(7).release(table).histogram.counts.tolist() == [7]


def test_the_same_seed_gives_the_same_release_and_no_seed_another():
    """Studies are repeated by their seed; releases must not be repeatable."""
    mechanism, table = SampledKAnonymity(3, epsilon=1), _table(people=500)
    first, again = (mechanism.release(table, rng=9).histogram.counts for _ in range(2))

    assert (first == again).all()
    assert (mechanism.release(table).histogram.counts != mechanism.release(table).histogram.counts).any()


def test_a_simulated_release_is_not_written(tmp_path):
    """Whoever has the seed can tell who was sampled."""
    with pytest.raises(GuaranteeError):
        SampledKAnonymity(3, epsilon=1).release(_table(), rng=1).write(tmp_path / "out.csv")


def test_the_printed_reconstruction_is_for_simulations():
    """It uses floats."""
    mechanism = KAnonymity(5, reconstruction="as_printed")

    assert mechanism.release(_table(), rng=1).simulated
    with pytest.raises(InvalidParameterError, match="simulations only"):
        mechanism.release(_table())


@pytest.mark.parametrize("mechanism", [KAnonymity(5), SampledKAnonymity(5, epsilon=1)])
def test_the_printed_reconstruction_is_refused_before_a_ledger_is_charged(mechanism, tmp_path):
    """The entry would say that nothing limits what was told, of a table that nobody got."""
    ledger = Ledger(tmp_path / "ledger.db", epsilon=1)
    with pytest.raises(InvalidParameterError, match="simulations only"):
        replace(mechanism, reconstruction="as_printed").release(_table(), ledger=ledger)

    assert [entry.kind for entry in ledger.history()] == ["open"]


def test_large_counts_are_not_sampled_one_by_one():
    """More than 2**33 people would take minutes and more: refused, with the number."""
    with pytest.raises(LimitExceededError):
        SampledKAnonymity(3, epsilon=1).release(Histogram.of([2**40, 0, 0], ONE), rng=1)
    with pytest.raises(LimitExceededError):
        KAnonymity(3).release(Histogram.of([2**40, 1, 0], ONE), rng=1)

    assert KAnonymity(3).release(Histogram.of([2**40, 2**40, 0], ONE)).histogram.people == 2**41


def test_chunks_of_people_belong_to_their_cells(monkeypatch):
    """Draws come so many at a time; with everybody taken the counts must come out as they were."""
    monkeypatch.setattr("evenhand.release.mechanisms.generalized_sampling._CHUNK", 7)
    counts = np.array([[3, 0], [20, 1], [0, 0]])

    assert (draw_sample(counts, Fraction(1), source=SeededSource(1)) == counts).all()
    assert (draw_sample(counts, Fraction(0), source=SeededSource(1)) == 0).all()


# --- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["uniform", "as_printed"])
def test_the_bias_of_k_anonymity_is_exact(how):
    """The mean of many releases must come to it; a bias of the wrong sign would be seen at once."""
    table, mechanism = _table(), KAnonymity(5, reconstruction=how)
    bias, variance = mechanism.bias(table), mechanism.variance(table)
    source, runs = SeededSource(4), 200
    mean = sum(mechanism.release(table, rng=source).histogram.counts for _ in range(runs)) / runs
    error = np.sqrt(variance.values / runs)

    assert bias.exact
    assert variance.exact
    assert (np.abs(mean - table.counts - bias.values) <= 6.5 * error + 1e-9).all()
    assert bias.values.sum() == pytest.approx(0, abs=1e-9)


def test_the_bias_of_a_sample_has_an_interval_that_holds_the_enumerated_one():
    """It is sampled, so it must say how sure it is."""
    table, rate = Histogram.of([4, 2, 1], ONE), Fraction(1, 2)
    exact = sum(
        float(chance) * expected_counts(generalize(Histogram.of(sample, ONE), 2))[0]
        for sample, chance in _binomial_law((4, 2, 1), rate).items()
    ) - np.array([4, 2, 1])
    bias = SampledKAnonymity(2, beta=rate).bias(table, draws=600, rng=5)
    low, high = bias.interval(1 - 1e-9)

    assert not bias.exact
    assert (low <= exact).all()
    assert (exact <= high).all()
    assert (high - low < 1).all()


def test_post_processing_makes_the_bias_of_k_anonymity_sampled():
    """There is no formula then."""

    class Half:
        words = "halved"

        def apply(self, values, *, source):
            del source
            return values // 2

    bias = KAnonymity(5).bias(_table(), post=[Half()], draws=3)

    assert not bias.exact
    assert bias.draws == 3


# --- parameters ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: KAnonymity(0), "k"),
        (lambda: KAnonymity(True), "k"),  # noqa: FBT003 - that is the point
        (lambda: KAnonymity(2**61 + 1), "k"),
        (lambda: KAnonymity(5, reconstruction="normal"), "reconstruction"),
        (lambda: SampledKAnonymity(0, epsilon=1), "k"),
        (lambda: SampledKAnonymity(5), "epsilon"),
        (lambda: SampledKAnonymity(5, epsilon=1, beta=0.5), "epsilon"),
        (lambda: SampledKAnonymity(5, epsilon=0), "epsilon"),
        (lambda: SampledKAnonymity(5, epsilon="1e-30"), "epsilon"),
        (lambda: SampledKAnonymity(5, beta=0), "beta"),
        (lambda: SampledKAnonymity(5, beta=1), "beta"),
        (lambda: SampledKAnonymity(5, beta="1e-30"), "beta"),
        (lambda: SampledKAnonymity(5, epsilon=1, unit="one report"), "unit"),
        (lambda: SampledKAnonymity(5, epsilon=1, reconstruction="normal"), "reconstruction"),
        (lambda: SampledKAnonymity(5, epsilon=1).guarantee_for(_table(), epsilon=-1), "epsilon"),
    ],
)
def test_what_cannot_be_is_refused_by_name(make, name):
    """The message has to say which argument is wrong."""
    with pytest.raises(InvalidParameterError) as caught:
        make()

    assert name == caught.value.parameter


@pytest.mark.parametrize(
    "mechanism",
    [
        KAnonymity.example(),
        KAnonymity(7, reconstruction="as_printed"),
        SampledKAnonymity.example(),
        SampledKAnonymity(7, beta="1/3", unit="add or remove one"),
    ],
    ids=repr,
)
def test_a_record_brings_the_mechanism_back(mechanism):
    """Studies and files are read again by their records."""
    assert isinstance(mechanism, ReleaseMechanism)
    assert mechanism == mechanism_from(mechanism.to_dict())


def test_both_are_shown_as_they_are_made():
    """A log line must be enough to make it again."""
    assert repr(KAnonymity(6)) == "KAnonymity(k=6)"
    assert repr(SampledKAnonymity(6, beta=0.5)) == "SampledKAnonymity(k=6, beta=0.5)"
