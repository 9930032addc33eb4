"""Every mechanism of release goes through the same checks."""

import json
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

import evenhand.release.mechanisms.registry as registry
from contract._release_claims import (
    BOUND,
    COUNTS,
    SCHEMA,
    assert_absolute_error_is_the_mean,
    assert_bias_is_the_mean,
    assert_cells_have_noise_of_their_own,
    assert_every_cell_is_there,
    assert_variance_is_that_of_the_releases,
    neighbours,
    table,
)
from evenhand.errors import EvenhandError, GuaranteeError, InvalidParameterError, LimitExceededError
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.units import Trust, Unit
from evenhand.privacy.randomness import SecureSource, SeededSource
from evenhand.release.mechanisms.mechanism import ReleaseMechanism
from evenhand.release.mechanisms.noise import DiscreteGaussian, Laplace
from evenhand.release.mechanisms.registry import MECHANISMS, mechanism_from, mechanism_named
from evenhand.release.mechanisms.thresholded import ThresholdedLaplace
from evenhand.release.postprocess import Nonnegative
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema

NAMES = (
    "laplace",
    "discrete-gaussian",
    "suppression",
    "swapping",
    "k-anonymity",
    "noisy-suppression",
    "random-swapping",
    "sampled-k-anonymity",
    "thresholded-laplace",
    "record-swapping",
    "generalized-sampling",
    "laplace-totals",
)
INDEPENDENT = [
    Laplace(1, unit="replace one"),
    Laplace(1, unit="add or remove one"),
    DiscreteGaussian(rho="1/10", unit="replace one"),
    DiscreteGaussian(epsilon=1, delta="1e-5", unit="add or remove one"),
    ThresholdedLaplace(1, 0),
]

everyone = pytest.mark.parametrize("name", NAMES)


@pytest.fixture
def mechanism(name):
    return mechanism_named(name).example()


def test_the_registry_holds_the_twelve():
    assert tuple(MECHANISMS) == NAMES


@everyone
def test_a_mechanism_is_registered_under_its_name(name):
    assert MECHANISMS[name].name == name
    assert issubclass(MECHANISMS[name], ReleaseMechanism)
    assert MECHANISMS[name].title.strip()


@everyone
def test_the_docstring_states_the_guarantee(name):
    text = " ".join(MECHANISMS[name].__doc__.split())

    assert "**Guarantee.**" in text
    assert "Numerics:" in text
    assert "nit" in text.partition("**Guarantee.**")[2]


@everyone
def test_a_mechanism_cannot_be_changed(mechanism):
    with pytest.raises(FrozenInstanceError):
        setattr(mechanism, fields(mechanism)[0].name, 3)


@everyone
def test_repr_makes_the_same_mechanism(mechanism):
    names = {each.__name__: each for each in MECHANISMS.values()}
    again = eval(repr(mechanism), names)

    assert again == mechanism
    assert hash(again) == hash(mechanism)


@everyone
def test_a_record_makes_the_same_mechanism(mechanism):
    record = json.loads(json.dumps(mechanism.to_dict()))

    assert mechanism_from(record) == mechanism
    assert record["mechanism"] == mechanism.name


@everyone
def test_a_record_with_a_field_too_many_or_too_few_is_refused(mechanism):
    record = mechanism.to_dict()
    with pytest.raises(InvalidParameterError, match="a record of"):
        mechanism_from(record | {"nonsense": 1})
    with pytest.raises(EvenhandError):
        mechanism_from({"mechanism": mechanism.name})


@everyone
def test_a_seed_gives_the_same_release_marked_as_simulated(mechanism):
    first, again = (mechanism.release(table(), rng=7) for _ in range(2))

    assert np.array_equal(first.values, again.values)
    assert first.simulated
    assert "simulated" in repr(first)


@everyone
def test_a_simulated_release_is_never_written(mechanism, tmp_path):
    """Whoever has the seed can take the noise off."""
    with pytest.raises(GuaranteeError, match="drawn with a seed"):
        mechanism.release(table(), rng=7).write(tmp_path / "table.csv")

    assert not list(tmp_path.iterdir())


@everyone
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_secure_release_is_written_and_reads_back(mechanism, ending, tmp_path):
    path = tmp_path / f"table.{ending}"
    release = mechanism.release(table())
    release.write(path)
    found = arrow_csv.read_csv(path) if ending == "csv" else pq.read_table(path)
    note = json.loads((tmp_path / f"table.{ending}.json").read_text())

    assert not release.simulated
    assert found["count"].cast(pa.float64()).to_pylist() == release.to_frame("pyarrow")["count"].to_pylist()
    assert Guarantee.from_dict(note["guarantee"]) == release.guarantee
    assert mechanism_from(note["mechanism"]) == mechanism
    assert note["schema_sha256"] == release.histogram.schema.fingerprint
    assert (note["rng"], note["postprocessing"]) == ("secure", [])
    assert not [name for name in note if "time" in name or "date" in name or "second" in name]


@everyone
def test_every_declared_cell_is_published(mechanism):
    """A cell that is missing because nobody is in it says that nobody is in it."""
    assert_every_cell_is_there(mechanism, seed=5)


@everyone
def test_a_suppressed_cell_without_a_fill_has_no_count(mechanism):
    release = mechanism.release(table(), rng=3)
    nulls = release.to_frame("pyarrow")["count"].is_null().to_numpy()
    hidden = np.zeros(6, bool) if release.unpublished is None else release.unpublished.ravel()

    assert np.array_equal(nulls, hidden)
    assert (release.values.ravel()[hidden] == 0).all()


@everyone
@pytest.mark.statistical
def test_the_stated_bias_is_that_of_the_releases(mechanism):
    """If it is wrong, so are alpha and every figure that is made of it."""
    assert_bias_is_the_mean(mechanism, draws=200, seed=11)


@everyone
@pytest.mark.statistical
def test_the_stated_variance_is_that_of_the_releases(mechanism):
    assert_variance_is_that_of_the_releases(mechanism, draws=200, seed=13)


@everyone
@pytest.mark.statistical
def test_an_exact_absolute_error_is_that_of_the_releases(mechanism):
    """Reports show it in place of what a few draws happened to err by."""
    known = assert_absolute_error_is_the_mean(mechanism, draws=2_000, seed=17)
    with_steps = assert_absolute_error_is_the_mean(mechanism, draws=2_000, seed=19, post=[Nonnegative()])

    exact = {"laplace", "discrete-gaussian", "suppression", "noisy-suppression", "thresholded-laplace"}
    assert known == (mechanism.name in exact)
    assert with_steps == (mechanism.name in {"laplace", "discrete-gaussian"})


@pytest.mark.statistical
def test_an_absolute_error_that_is_off_is_found(monkeypatch):
    monkeypatch.setattr(Laplace, "_absolute_error", lambda *_: np.full((2, 3), 2.4))

    with pytest.raises(AssertionError, match="another absolute error"):
        assert_absolute_error_is_the_mean(Laplace(1, unit="replace one"), draws=2_000, seed=17)


@everyone
def test_the_guarantee_states_its_unit_and_the_columns(mechanism):
    guarantee = mechanism.guarantee_for(table())

    assert guarantee.unit in {Unit.REPLACE_ONE, Unit.ADD_OR_REMOVE_ONE}
    assert guarantee.unit == getattr(mechanism, "unit", Unit.REPLACE_ONE)
    assert guarantee.trust in {Trust.CENTRAL, Trust.NONE}
    assert guarantee.proof or guarantee.trust is Trust.NONE
    assert set(guarantee.protects) | set(guarantee.in_clear) == {"sex", "age"}
    assert mechanism.release(table(), rng=1).guarantee == guarantee


@everyone
def test_the_guarantee_does_not_depend_on_a_count(mechanism):
    """A guarantee that is computed from private counts tells something about them, and holds for none."""
    others = [table(), table(np.zeros((2, 3), int)), table(np.full((2, 3), BOUND))]

    assert len({mechanism.guarantee_for(each) for each in others}) == 1


@everyone
def test_as_printed_gives_a_guarantee_too(mechanism):
    assert isinstance(mechanism.guarantee_for(table(), as_printed=True), Guarantee)


@everyone
def test_nothing_private_is_shown(mechanism):
    odd = Histogram.of(np.array(COUNTS) + 73_519, SCHEMA)
    release = mechanism.release(odd, rng=2)
    shown = [
        repr(mechanism),
        repr(odd),
        str(mechanism.guarantee_for(odd)),
        repr(mechanism.bias(table(), draws=2)),
    ]

    assert not [text for text in shown if "7351" in text or "73,51" in text or "7352" in text]
    assert "7351" not in repr(release)


@everyone
def test_whether_it_works_does_not_depend_on_one_person(mechanism):
    """An error for one of two neighbouring tables tells which of the two it is."""
    for pair in neighbours(mechanism.guarantee_for(table()).unit):
        first, second = (_outcome(mechanism, counts) for counts in pair)

        assert first == second


@everyone
@pytest.mark.slow
def test_whether_it_works_depends_on_nobody_in_five_hundred_pairs(mechanism):
    """Small tables, large ones, and counts at the bound, each with one person moved."""
    draws = SeededSource(7).generator()
    for _ in range(500):
        counts = draws.integers(0, draws.choice([2, 4, 20, BOUND]), size=6)
        counts[draws.integers(6)] += 1
        other = counts.copy()
        other[draws.choice(np.flatnonzero(counts))] -= 1
        if mechanism.guarantee_for(table()).unit is Unit.REPLACE_ONE:
            other[draws.integers(6)] += 1
        first, second = (_outcome(mechanism, each.reshape(2, 3)) for each in (counts, other))

        assert first == second


def _outcome(mechanism, counts):
    try:
        return type(mechanism.release(table(counts), rng=1)), mechanism.bias(table(counts), draws=2).exact
    except EvenhandError as error:
        return type(error)


@everyone
def test_a_table_of_one_cell_has_one_outcome(mechanism):
    lone = Schema([Column("only", Domain.categorical(["x"]))], quasi_identifiers=["only"])
    shapes = {_kind(mechanism, Histogram.of([count], lone, bound=BOUND)) for count in (0, 1, 2, 40)}

    assert len(shapes) == 1


def _kind(mechanism, histogram):
    try:
        return mechanism.release(histogram, rng=1).values.shape
    except EvenhandError as error:
        return type(error)


@everyone
def test_what_is_no_table_is_refused(mechanism):
    for wrong in (COUNTS, None, "table"):
        with pytest.raises(InvalidParameterError, match="must be a Histogram"):
            mechanism.release(wrong)
    with pytest.raises(InvalidParameterError, match="whole counts"):
        mechanism.release(Histogram.of(np.full((2, 3), 0.5), SCHEMA), rng=1)
    with pytest.raises(InvalidParameterError, match="post-processing steps"):
        mechanism.release(table(), rng=1, post=["clamp"])


@everyone
def test_a_table_too_large_to_hold_is_refused_with_its_size(mechanism):
    wide = Schema([Column(name, Domain.integers(0, 9_999)) for name in "abc"], quasi_identifiers=["a"])
    sparse = Histogram.of_cells([7], [3], wide)
    if mechanism.takes_sparse:
        large = ThresholdedLaplace(1, 60) if mechanism.name == "thresholded-laplace" else mechanism

        assert large.release(sparse, rng=1).histogram.size == 10**12
    else:
        with pytest.raises(LimitExceededError, match="1,000,000,000,000"):
            mechanism.release(sparse, rng=1)


@everyone
def test_a_bias_is_never_drawn_from_the_secure_source(mechanism):
    if mechanism.bias(table(), draws=2).exact:
        return
    with pytest.raises(InvalidParameterError, match="a seed or a seeded source"):
        mechanism.bias(table(), rng=SecureSource())


@pytest.mark.statistical
@pytest.mark.parametrize("mechanism", INDEPENDENT, ids=repr)
def test_no_two_cells_share_a_draw(mechanism):
    """Empty cells too: a draw that is shared by all of them can be taken off the others."""
    assert_cells_have_noise_of_their_own(mechanism, rows=20_000, seed=17)


def test_the_registry_and_the_classes_name_the_same():
    assert all(each.name == name for name, each in registry.MECHANISMS.items())
