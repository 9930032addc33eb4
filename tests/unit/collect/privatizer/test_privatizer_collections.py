"""The scikit-learn transformer: its randomness, its guarantee, and which columns are reported."""

import threading
import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone

from evenhand.collect import GRR, OUE
from evenhand.collect.privatizer.transformer import LocalPrivatizer
from evenhand.errors import (
    DomainInferredWarning,
    OutsideDomainError,
    PrivacyWarning,
)
from unit.collect._privatized_people import NAMES, SCHEMA, Broken, N, by_hand, made, people_frame


@pytest.fixture
def frame():
    return people_frame()


def test_each_collection_has_a_stream_of_its_own(frame):
    """With the same draws twice, the outputs would differ where the people do."""
    privatizer = made().fit(frame)
    first = privatizer.transform(frame)
    with pytest.warns(PrivacyWarning, match="collects a second time"):
        second = privatizer.transform(frame)
    third = privatizer.fit(frame).transform(frame)  # fitting again does not set it back

    assert (first != second).any()
    assert (second != third).any()
    assert (first != third).any()
    assert (clone(privatizer).fit_transform(frame) == first).all()  # the streams of a clone begin again


def test_a_generator_moves_on(frame):
    privatizer = made(rng=np.random.default_rng(3)).fit(frame)
    first = privatizer.transform(frame)
    with pytest.warns(PrivacyWarning):
        second = privatizer.transform(frame)

    assert (first != second).any()


def test_threads_get_different_streams(frame):
    privatizer, found = made().fit(frame), []
    with warnings.catch_warnings(action="ignore"):
        threads = [
            threading.Thread(target=lambda: found.append(privatizer.transform(frame).tobytes()))
            for _ in range(6)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()

    assert len(set(found)) == 6
    assert privatizer.collections_ == 6


def test_fitting_spends_nothing_and_each_transform_adds(frame):
    privatizer = made(epsilon="1/2").fit(frame)

    assert (privatizer.guarantee_.epsilon, privatizer.collections_) == (0, 0)
    assert privatizer.guarantee_.protects == ("gender", "race")
    assert privatizer.guarantee_per_collection_.epsilon <= Fraction(1, 2)
    with warnings.catch_warnings(action="ignore"):
        for _ in range(3):
            privatizer.transform(frame)
    total = privatizer.guarantee_
    assert total.epsilon == 3 * privatizer.strategy_.epsilon
    assert (total.unit, total.trust) == ("one person", "local")
    assert total.protects == ("gender", "race")
    assert total.in_clear == ("county", "age", "income", "row order")
    assert "each person sends at most 3 reports" in total.assumptions


def test_what_was_collected_before_fitting_again_counts(frame):
    privatizer = made(epsilon=1, split="uniform").fit(frame)
    privatizer.transform(frame)
    privatizer.set_params(epsilon=2, columns="race").fit(frame)
    with pytest.warns(PrivacyWarning, match=r"has spent epsilon = 3 by now"):
        privatizer.transform(frame)

    assert privatizer.guarantee_.epsilon == 3
    assert "gender" in privatizer.guarantee_.in_clear  # the second time it was sent as it is


def test_only_the_second_collection_warns(frame):
    privatizer = made().fit(frame)
    privatizer.transform(frame)
    with pytest.warns(PrivacyWarning):
        privatizer.transform(frame)

    privatizer.transform(frame)  # a warning would be an error here


def test_a_collection_counts_before_it_is_drawn(frame):
    """A crash may waste budget; it may not hide it."""
    privatizer = made(rng=Broken()).fit(frame)
    with pytest.raises(RuntimeError, match="no words"):
        privatizer.transform(frame)

    assert privatizer.collections_ == 1


def test_refused_rows_are_no_collection(frame):
    privatizer = made().fit(frame)
    with pytest.raises(OutsideDomainError):
        privatizer.transform(frame.assign(race="unheard of"))

    assert privatizer.collections_ == 0


def test_simulations_are_marked(frame):
    earnest, simulated = made(rng=None).fit(frame), made().fit(frame)
    earnest.transform(frame)
    simulated.transform(frame)

    assert (earnest.simulated_, simulated.simulated_) == (False, True)


# -- which columns and how -----------------------------------------------------------------------------------


def test_single_reports_the_protected_column_alone(frame):
    privatizer = made(strategy="single").fit(frame)
    out = privatizer.transform(frame)

    assert privatizer.private_columns_ == ("gender",)
    assert (out[:, 3:] == by_hand(frame)[:, 3:]).all()
    assert privatizer.guarantee_.in_clear == ("race", "county", "age", "income", "row order")
    assert made(strategy="single", columns="race").fit(frame).private_columns_ == ("race",)


def test_combined_reports_whole_combinations(frame):
    privatizer = made(strategy="combined").fit(frame)
    out = privatizer.transform(frame)

    assert (out[:, :3].sum(axis=1) == 1).all()
    assert privatizer.guarantee_.epsilon == 2


@pytest.mark.parametrize("split", ["uniform", "k-based", "optimal", "sample", {"gender": 0.5, "race": 1.5}])
def test_every_split_stays_within_epsilon(frame, split):
    privatizer = made(split=split).fit(frame)

    assert 0 < privatizer.strategy_.epsilon <= 2
    assert privatizer.transform(frame).shape == (N, len(NAMES))


def test_protocols_can_be_made_before(frame):
    protocols = {"gender": GRR(k=3, epsilon=1), "race": OUE(k=3, epsilon=1)}
    privatizer = made(protocol=protocols).fit(frame)

    assert dict(privatizer.strategy_.protocols) == protocols
    assert made(protocol={"gender": "grr", "race": OUE}).fit(frame).strategy_.epsilon <= 2
    assert made(protocol="auto", columns="race").fit(frame).strategy_.epsilon == 2


def test_a_sensitive_target_is_not_looked_for_among_the_features(frame):
    schema = SCHEMA.with_roles(sensitive=["race", "income"])
    privatizer = made(schema=schema).fit(frame)

    assert privatizer.private_columns_ == ("race",)
    assert "income" in privatizer.guarantee_per_collection_.in_clear
    whole = made(schema=schema).fit(frame.assign(income="<=50K"))
    assert whole.private_columns_ == ("race", "income")
    assert whole.guarantee_per_collection_.in_clear == ("gender", "county", "age", "row order")


def test_missing_values_follow_the_rule(frame):
    holes = frame.assign(gender=[None] * N)

    assert (made().fit(frame).encode(holes)[:, 2] == 1).all()


def test_the_schema_may_be_read_from_the_rows_with_a_warning(frame):
    with pytest.warns(DomainInferredWarning):
        privatizer = LocalPrivatizer(columns="race", rng=1).fit(frame)
    names = privatizer.get_feature_names_out().tolist()

    assert privatizer.private_columns_ == ("race",)
    assert names[-5:-1] == ["race_other", "county_north", "county_south", "county_other"]
    assert names[-1] == "age"  # numbers in the clear pass
    assert (privatizer.encode(frame.assign(race="new"))[:, 6] == 1).all()  # no content makes it fail
    with pytest.warns(DomainInferredWarning):
        assert LocalPrivatizer().fit(frame).private_columns_ == ("gender", "race", "county", "age")
    with pytest.warns(DomainInferredWarning):
        only = LocalPrivatizer(columns="race", others="passthrough").fit(frame)
    assert only.schema_.names == ("race",)
