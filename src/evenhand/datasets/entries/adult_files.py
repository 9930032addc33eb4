"""The files of Adult: where they are published and how they become ours."""

from __future__ import annotations

from evenhand.datasets.download.files import Download, SourceFile
from evenhand.datasets.download.parsing import read_rows, write_rows
from evenhand.datasets.download.sources import github, github_page
from evenhand.datasets.entries import adult_codes as codes

__all__ = ["RECONSTRUCTED", "TEST", "TRAIN", "join_reconstructed", "uci_rows"]

_ARCOLEZI = "hharcolezi/ldp-fairness-impact"
_MAKHLOUF = "KarimaMakhlouf/Impact_of_LDP_on_Fairness"
_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult"
_UCI_HEADER = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country",
    "income",
)  # fmt: skip

# Position in this order is the published code of each value.
_ENCODED = {
    "age": tuple(str(age) for age in range(17, 91)),
    "workclass": codes.WORKED,
    "education": tuple(codes.EDUCATION),
    "marital-status": codes.MARITAL,
    "occupation": codes.OCCUPATIONS,
    "native-country": codes.COUNTRIES,
    "relationship": codes.RELATIONSHIPS,
    "hours-per-week": tuple(str(hours) for hours in codes.HOURS),
    "gender": codes.SEXES,
    "race": codes.RACES,
}


def uci_rows(raw: bytes) -> bytes:
    """Make our file of a UCI part: header added, blanks stripped, no final point after a label."""
    rows = [[cell.strip() for cell in row] for row in read_rows(raw) if len(row) == len(_UCI_HEADER)]
    return write_rows([_UCI_HEADER, *([*row[:-1], row[-1].removesuffix(".")] for row in rows)])


def join_reconstructed(encoded: bytes, above_10000: bytes, above_27260: bytes, above_50000: bytes) -> bytes:
    """Decode the label-encoded file of arcolezi2023 and join the three labels of makhlouf2024, row by row."""
    header, *rows = read_rows(encoded)
    labels = [[row[-1] for row in read_rows(each)[1:]] for each in (above_10000, above_27260, above_50000)]
    names = list(_ENCODED)
    after = names.index("education") + 1
    thresholds = (10_000, 26_000, 27_260, 50_000)
    lines = [[*names[:after], "education-num", *names[after:], *(f"income_gt_{each}" for each in thresholds)]]
    for row, low, middle, high in zip(rows, *labels, strict=True):
        coded = dict(zip(header, row, strict=True))
        values = [_ENCODED[name][int(coded[name])] for name in names]
        schooling = str(codes.EDUCATION[values[after - 1]])
        lines.append([*values[:after], schooling, *values[after:], low, coded["income"], middle, high])
    return write_rows(lines)


RECONSTRUCTED = SourceFile(
    stem="adult_reconstructed_clean",
    sha256="fd68c98840d9bb6b2a6b991bf3ec9eedc1eaacdd9d495935c720254ee13d4c30",
    size=4_599_715,
    source=f"{_ARCOLEZI} and {_MAKHLOUF} on GitHub, after socialfoundations/folktables",
    licence="MIT; not stated for the thresholds 10,000, 27,260 and 50,000",
    page=github_page(_ARCOLEZI),
    download=Download(
        urls=(
            github(
                _ARCOLEZI, "c017d9d36e32c8d24925c52d3a5d10045edb47d9", "datasets/db_adult_processed_26k.csv"
            ),
            *(
                github(_MAKHLOUF, "3d5d8a9a6a39256c55b29e138676df82fc3cba95", f"Datasets/adult_{each}.csv")
                for each in (10_000, 27_260, 50_000)
            ),
        ),
        convert=join_reconstructed,
    ),
)

TRAIN = SourceFile(
    stem="adult_uci_train",
    sha256="f2c62076f19504d99a38b22badf445a7f42530ade6b827acf78dd143fbce38bb",
    size=3_518_606,
    source="UCI Machine Learning Repository, Adult",
    licence="CC BY 4.0",
    page="https://archive.ics.uci.edu/dataset/2/adult",
    download=Download(urls=(f"{_UCI}/adult.data",), convert=uci_rows),
)

TEST = SourceFile(
    stem="adult_uci_test",
    sha256="f6b1801c5d231515ea5ff04d4444997bacd57e04876e94710cb9b9bd5549c033",
    size=1_759_072,
    source="UCI Machine Learning Repository, Adult",
    licence="CC BY 4.0",
    page="https://archive.ics.uci.edu/dataset/2/adult",
    download=Download(urls=(f"{_UCI}/adult.test",), convert=uci_rows),
)
