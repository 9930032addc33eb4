"""Credit default, against the figures of ghoukasian2024."""

import pytest

from evenhand.datasets.download.files import Reader
from evenhand.datasets.entries.credit_default import FILE, plain_numbers


def test_the_rates_hold(real):
    frame = real("credit_default").frame

    assert round(frame["default.payment.next.month"].mean(), 4) == 0.2212
    assert frame["SEX"].value_counts().sort_index().tolist() == [11_888, 18_112]


def test_merging_unnamed_codes_gives_the_inputs_of_ghoukasian2024(real):
    """85 inputs without SEX: 14 numbers and one for each other value that occurs."""

    def inputs(frame):
        codes = [name for name in frame.columns if name.startswith("PAY_") and "AMT" not in name]
        return 14 + sum(frame[name].nunique() for name in ["EDUCATION", "MARRIAGE", *codes])

    assert inputs(real("credit_default", unnamed_codes="merge").frame) == 85
    assert inputs(real("credit_default").frame) == 89


def test_merging_changes_the_unnamed_codes_only(real):
    kept, merged = real("credit_default").frame, real("credit_default", unnamed_codes="merge").frame
    education = kept["EDUCATION"].where(kept["EDUCATION"].isin([1, 2, 3]), 4)
    same = [name for name in kept.columns if name not in {"EDUCATION", "MARRIAGE"}]

    assert (merged["EDUCATION"] == education).all()
    assert (merged["MARRIAGE"] == kept["MARRIAGE"].replace(0, 3)).all()
    assert (merged[same] == kept[same]).all(axis=None)


@pytest.mark.figures
def test_the_published_copy_gives_our_file(data):
    """The copy writes round amounts such as 5.00E+05 and does not end its last line."""
    ours = Reader("credit_default", folder=data, download=False).content(FILE)
    header, *lines = ours.decode().splitlines()

    def published(cell):
        number = float(cell)
        return f"{number:.2E}" if number and number % 100_000 == 0 else str(int(number))

    raw = "\n".join([header, *(",".join(map(published, line.split(","))) for line in lines)])

    assert len(raw) == 2_706_833
    assert plain_numbers(raw.encode()) == ours
