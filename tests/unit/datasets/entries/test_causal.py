"""The causal generator, and the sample published with makhlouf2024."""

import hashlib

import numpy as np
import pytest

from evenhand.datasets import load
from evenhand.datasets.download.files import Reader
from evenhand.datasets.entries.causal import MEDIATOR, STORED, SWAPPED_MEDIATOR, draw, join_labels

RATES = {0.25: (0.5704, 0.8592), 0.5: (0.2801, 0.6337), 0.75: (0.0908, 0.3468)}


def test_the_default_rows_never_change():
    """Bytes, not only figures: a published result must be reproducible with every version of numpy."""
    columns = draw(100_000, seed=0, quantile=0.5)
    digest = hashlib.sha256(b"".join(columns[name].astype("<i8").tobytes() for name in "CAMY")).hexdigest()

    assert digest == "3ba2696fe95ed9ec594fb0a2fbd58df7a909727d4455d7e1a0c567afba3d6c20"


@pytest.mark.parametrize("quantile", [0.25, 0.5, 0.75])
def test_exactly_the_share_above_the_quantile_is_positive(quantile):
    """The label is strictly above the sample's quantile, so its share is known, not random."""
    frame = load("causal", n=10_000, quantile=quantile).frame

    assert frame["Y"].mean() == 1 - quantile


def test_the_other_group_is_privileged_when_asked_for():
    first, second = (load("causal", privileged_group=group) for group in (1, 0))
    gaps = [each.frame.groupby("A")["Y"].mean().diff().iloc[-1] for each in (first, second)]

    assert gaps[0] == pytest.approx(0.354, abs=0.02)
    assert gaps[1] == pytest.approx(-0.354, abs=0.02)
    assert (first.schema.privileged, second.schema.privileged) == (1, 0)
    assert "evenhand's own choice" in second.note


def test_the_printed_distribution_is_an_option():
    """It weakens the gap, which is how the slip was found."""
    gaps = [
        load("causal", mediator=each).frame.groupby("A")["Y"].mean().diff().iloc[-1]
        for each in ("as_in_data", "as_printed")
    ]

    assert tuple(reversed(MEDIATOR)) == SWAPPED_MEDIATOR
    assert gaps[1] < gaps[0] - 0.1


@pytest.mark.parametrize("quantile", [0.25, 0.5, 0.75])
def test_the_stored_sample_has_the_published_rates(quantile, real):
    frame = real("causal", version="stored", quantile=quantile).frame
    rates = frame.groupby("A")["Y"].mean().round(4)

    assert tuple(rates) == RATES[quantile]
    assert round(frame["A"].mean(), 4) == 0.6219


def test_the_stored_mediator_is_that_of_the_code_not_of_the_print(real):
    frame = real("causal", version="stored").frame
    shares = frame.loc[frame["A"] == 0, "M"].value_counts(normalize=True).sort_index()

    assert shares.round(3).tolist() == [0.505, 0.396, 0.099]


@pytest.mark.figures
def test_the_published_files_give_our_file(data):
    ours = Reader("causal", folder=data, download=False).content(STORED)
    rows = [line.split(",") for line in ours.decode().splitlines()]
    parts = [
        ("C,A,M,Y\n" + "".join(f"{','.join(row[:3])},{row[place]}\n" for row in rows[1:])).encode()
        for place in (3, 4, 5)
    ]

    assert {len(part) for part in parts} == {800_008}
    assert join_labels(*parts) == ours


def test_files_of_unequal_length_are_not_joined():
    """A file cut short would shift the labels of everybody after the cut."""
    with pytest.raises(ValueError, match="zip"):
        join_labels(b"C,A,M,Y\n0,0,0,1\n1,0,0,1\n", b"C,A,M,Y\n0,0,0,1\n", b"C,A,M,Y\n0,0,0,1\n1,0,0,1\n")


def test_small_samples_hold_every_value():
    frame = load("causal", n=2_000).frame

    assert [sorted(set(frame[name])) for name in "CAMY"] == [[0, 1], [0, 1], [0, 1, 2], [0, 1]]
    assert all(frame[name].dtype == np.int64 for name in "CAMY")
