"""Public coverage in Texas, against the figures of arcolezi2023."""

import gzip

import pytest

from evenhand.datasets.download.files import Reader
from evenhand.datasets.entries.acs_coverage import FILE, decode


def test_the_rates_of_arcolezi2023_hold(real):
    frame = real("acs_coverage").frame
    disability, covered = frame["DIS"] == 1, frame["PUBCOV"]
    rates = [covered.mean(), disability.mean(), covered[~disability].mean(), covered[disability].mean()]

    assert [round(rate, 4) for rate in rates] == [0.1856, 0.1402, 0.1336, 0.5046]


def test_the_domains_are_those_of_arcolezi2023(real):
    assert real("acs_coverage", keep_state=True).schema.sizes == {
        "AGEP": 50, "SCHL": 24, "MAR": 5, "SEX": 2, "DIS": 2, "ESP": 9, "CIT": 5, "MIG": 3, "MIL": 5,
        "ANC": 4, "NATIVITY": 2, "ESR": 7, "ST": 1, "FER": 3, "RAC1P": 2, "PUBCOV": 2,
    }  # fmt: skip


def test_the_constant_state_is_an_option(real):
    assert set(real("acs_coverage", keep_state=True).frame["ST"]) == {48}
    assert "ST" not in real("acs_coverage").frame.columns


def test_inferred_meanings_are_marked_as_inferred(real):
    """Nobody documented these codes; a report must not present them as fact."""
    loaded = real("acs_coverage")
    means = loaded.frame[["SEX", "DIS", "RAC1P"]].mean().round(3)

    assert means.tolist() == [0.426, 0.140, 0.113]
    assert "Judging by their means" in loaded.note
    assert any("inferred" in each for each in loaded.provenance.departures)


@pytest.mark.figures
def test_the_published_file_gives_our_file(data):
    encoded = gzip.decompress((data / "acs_public_coverage_tx2018_encoded.csv.gz").read_bytes())

    assert decode(encoded) == Reader("acs_coverage", folder=data, download=False).content(FILE)
