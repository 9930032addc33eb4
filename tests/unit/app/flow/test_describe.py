"""The schema page without a browser: what every column holds, what is wrong, and what a person changed."""

import io
from dataclasses import replace

import pyarrow as pa
import pytest
from pyarrow import parquet

from evenhand.app.flow.data import check_upload
from evenhand.app.flow.describe import describe, guess_roles, load_schema_file, read_code_list
from evenhand.errors import EvenhandError, InvalidParameterError
from evenhand.schema import Schema
from evenhand.table import Table, read


def row(described, name):
    return next(column for column in described.columns if column.name == name)


def texts(looks):
    return [look.text for look in looks]


def test_every_column_has_a_domain_a_role_and_the_reason_of_a_guess(study):
    made = study()
    described = describe(made.folder, made.record)
    hired, sex = row(described, "hired"), row(described, "sex")

    assert [column.name for column in described.columns] == ["sex", "race", "job", "hired"]
    assert (hired.role, sex.role) == ("target", "protected, sensitive")
    assert "named like an outcome" in hired.reason
    assert sex.domain_words == "2 values: f, m"
    assert described.missing == ()
    assert described.error == ""
    assert Schema.from_toml(described.schema_text).privileged == "m"


def test_the_reason_of_a_guess_is_whole_whatever_a_column_is_called(study_of):
    """Reasons that were cut out of sentences began in the middle of such a name."""
    lines = ["sex is': so,hired': or not", *(f"{'fm'[at % 2]},{'ny'[at % 3 == 0]}" for at in range(90))]
    made = study_of("\n".join(lines).encode(), "people.csv")
    made.change(**guess_roles(made.folder, made.record))
    described = describe(made.folder, made.record)

    assert described.reasons["target"].startswith("it has two values and is named like an outcome")
    assert described.reasons["protected"].startswith("it is named like groups")


def test_domains_that_were_read_from_the_rows_are_a_leak_that_names_its_columns(study):
    """If this is false, people publish that a rare value exists and do not know it."""
    made = study()
    described = describe(made.folder, made.record)
    warning = next(look for look in described.warnings if "read from these rows" in look.text)

    assert warning.columns == ("sex", "race", "job", "hired")
    assert "read from these rows" in texts(row(described, "race").looks)

    declared = {name: {"public": True} for name in warning.columns}
    described = describe(made.folder, made.change(columns=declared).record)

    assert described.inferred == ()
    assert not [look for look in described.warnings if "read from these rows" in look.text]


def test_a_list_that_is_said_to_be_public_still_fits_the_file(study_of):
    """R writes NA for what is missing; saying that lists are public must not make these rows a fault."""
    lines = ["sex,age,town,hired"]
    for place in range(420):
        age = "NA" if place % 60 == 7 else str(20 + place % 37)
        town, hired = ("NA", "Bonn", "Lyon")[place % 3], ("yes", "no", "NA", "no", "yes")[place % 5]
        lines.append(f"{'fm'[place // 7 % 2]},{age},{town},{hired}")
    made = study_of("\n".join(lines).encode(), "people.csv")
    made.change(**guess_roles(made.folder, made.record))
    before = encoded(made)
    names = ("sex", "age", "town", "hired")
    made.change(columns={name: {"public": True} for name in names})
    described = describe(made.folder, made.record)

    assert [look for name in names for look in row(described, name).looks if look.tone != "plain"] == []
    assert "inferred" not in described.schema_text
    assert encoded(made) == before

    strict = {"town": {"public": True, "unknown": "error"}}
    described = describe(made.folder, made.change(columns=strict).record)
    assert "does not fit" in texts(row(described, "town").looks)


def encoded(made):
    """Return the codes of the file of a study by its schema."""
    schema = Schema.from_toml(describe(made.folder, made.record).schema_text)
    codes = Table.encode(read(made.folder / "data" / made.record.data.file, schema=schema), schema)
    return {name: codes[name].tolist() for name in schema.names}


def test_a_column_that_gives_the_secret_away_is_marked(study_of):
    """If this is false, a study promises to hide what stands beside it in the clear."""
    lines = ["sex,title,job,hired"]
    for each in range(400):
        is_man = each % 2
        title, sex = ("Mr", "m") if is_man else ("Ms", "f")
        lines.append(
            f"{sex},{title},{'cook' if each % 3 else 'clerk'},{'yes' if each % 5 < 2 + is_man else 'no'}"
        )
    made = study_of("\n".join(lines).encode(), "people.csv")
    made.change(**guess_roles(made.folder, made.record))
    described = describe(made.folder, made.record)

    assert "gives 'sex' away" in texts(row(described, "title").looks)
    assert any(look.tone == "bad" and "title" in look.columns for look in described.warnings)


@pytest.mark.parametrize("kind", ["collect", "learn"])
@pytest.mark.parametrize(("wrong", "is_marked"), [(0, True), (40, True), (5, False)])
def test_a_column_that_gives_the_target_away_is_marked(study_of, kind, wrong, is_marked):
    """If this is false, a study compares models that read the answer from a column, which nobody can use."""
    lines = ["sex,job,letter,hired"]
    for each in range(400):
        hired = each * 7 % 10 < 4 + each % 2
        letter = hired if not wrong or each % wrong else not hired
        lines.append(f"{'fm'[each % 2]},{'cook' if each % 3 else 'clerk'},{'ba'[letter]},{'ny'[hired]}")
    made = study_of("\n".join(lines).encode(), "people.csv")
    roles = {"target": "hired", "positive": "y", "protected": "sex", "privileged": "m", "sensitive": ["sex"]}
    described = describe(made.folder, made.change(kind=kind, roles=roles).record)
    said = [look for look in described.warnings if "gives 'hired' away" in look.text]

    assert ("gives 'hired' away" in texts(row(described, "letter").looks)) is is_marked
    assert [look.columns for look in said] == ([("letter",)] if is_marked else [])


def test_identifiers_are_left_out_with_the_reason_and_small_groups_are_marked(study_of):
    lines = ["id,sex,hired"]
    lines += [
        f"{each},{'x' if each < 5 else 'fm'[each % 2]},{'yes' if each % 3 else 'no'}" for each in range(300)
    ]
    made = study_of("\n".join(lines).encode(), "people.csv")
    made.change(**guess_roles(made.folder, made.record))
    described = describe(made.folder, made.record)

    assert row(described, "id").role == "left out"
    assert "identifiers" in row(described, "id").reason
    assert "identifier" in texts(row(described, "id").looks)
    assert "smallest group: 5 people" in texts(row(described, "sex").looks)


def test_a_declared_list_with_labels_replaces_what_was_read(study):
    values, labels = read_code_list("a: Alpha\nb\nc\nd: Delta")
    edit = {"race": {"values": values, "labels": labels, "unknown": "other"}}
    made = study(columns=edit)
    race = row(describe(made.folder, made.record), "race")

    assert race.values == ("a", "b", "c", "d")
    assert race.labels == {"a": "Alpha", "d": "Delta"}
    assert (race.unknown, race.inferred, race.edited) == ("other", False, True)


def test_values_outside_a_declared_list_are_counted_where_they_stand(study):
    made = study(columns={"race": {"values": ["a", "b"]}})
    race = row(describe(made.folder, made.record), "race")

    assert race.looks[0].tone == "bad"
    assert "outside the domain" in race.looks[0].detail
    assert "Hint" not in race.looks[0].detail


def test_bounds_and_bands_of_numbers_are_taken_as_they_are_typed(study_of):
    text = "age,pay,sex,hired\n" + "\n".join(
        f"{18 + each % 60},{1000 + 7 * each},{'fm'[each % 2]},{'yes' if each % 3 else 'no'}"
        for each in range(300)
    )
    edits = {
        "age": {"kind": "whole numbers", "low": "0", "high": "120"},
        "pay": {"kind": "bands", "low": "0", "high": "5000", "width": "1000"},
    }
    made = study_of(text.encode(), "people.csv", columns=edits)
    described = describe(made.folder, made.record)

    assert (row(described, "age").low, row(described, "age").high) == ("0", "120")
    assert row(described, "pay").value_count == 5

    wrong = {"age": {"kind": "whole numbers", "low": "9", "high": "1"}}
    described = describe(made.folder, made.change(columns=wrong).record)

    assert described.field == "low"
    assert "at most the highest value" in described.error


def test_roles_that_lack_are_asked_for_with_what_may_be_answered(study):
    made = study(roles={"target": "hired", "protected": ["sex"]})
    asked = {each.role: each for each in describe(made.folder, made.record).missing}

    assert asked["positive"].choices == ("no", "yes")
    assert asked["privileged"].choices == ("f", "m")
    assert "sensitive" in asked


def test_a_schema_file_gives_columns_and_roles(study):
    """If this is false, somebody who declared everything is told that their domains leak."""
    made = study()
    text = describe(made.folder, made.record).schema_text.replace("inferred = true\n", "")
    changes = load_schema_file(made.folder, made.record, text)
    described = describe(made.folder, made.change(**changes).record)

    assert described.schema_text == text
    assert described.inferred == ()

    with pytest.raises(InvalidParameterError, match="columns of the data"):
        load_schema_file(made.folder, made.record, text.replace('name = "job"', 'name = "jobs"'))
    with pytest.raises(EvenhandError):
        load_schema_file(made.folder, made.record, "format = [")


@pytest.mark.parametrize(
    ("text", "values", "labels"),
    [
        ("f, m", ["f", "m"], {}),
        ("1: White\n2: Black\n", ["1", "2"], {"1": "White", "2": "Black"}),
        ('"a, b", c', ["a, b", "c"], {}),
        ("10:30\n11:30", ["10:30", "11:30"], {}),
    ],
)
def test_a_code_list_is_one_value_a_line_or_with_commas(text, values, labels):
    assert read_code_list(text) == (values, labels)


@pytest.mark.parametrize("text", ["", " \n ", "a\nb\na"])
def test_a_code_list_without_values_or_with_one_twice_is_refused(text):
    with pytest.raises(InvalidParameterError):
        read_code_list(text)


# --- awkward files --------------------------------------------------------------------------------


def excel(sheets):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for cells in rows:
            sheet.append(cells)
    written = io.BytesIO()
    book.save(written)
    return written.getvalue()


def parquet_bytes(table):
    written = io.BytesIO()
    parquet.write_table(table, written)
    return written.getvalue()


ROWS = [["sex", "pay", "hired"], *([["f", 1.5, "yes"], ["m", 2.5, "no"]] * 20)]
DICTIONARY = pa.table({"sex": pa.array(["f", "m"] * 20).dictionary_encode(), "hired": ["yes", "no"] * 20})
AWKWARD = {
    "semicolons.csv": ("sex;pay;hired\n" + "f;1,5;yes\nm;2,5;no\n" * 20).encode(),
    "latin.csv": ("sex,town,hired\n" + "f,Köln,yes\nm,Nîmes,no\n" * 20).encode("latin-1"),
    "tabs.tsv": ("sex\tpay\thired\n" + "f\t1.5\tyes\nm\t2.5\tno\n" * 20).encode(),
    "sheets.xlsx": lambda: excel({"People": ROWS, "Other": [["a"], [1]]}),
    "codes.parquet": lambda: parquet_bytes(DICTIONARY),
    "no-header.csv": ("f,1.5,yes\nm,2.5,no\n" * 20).encode(),
    "twice.csv": ("sex,sex,hired\n" + "f,m,yes\nm,f,no\n" * 20).encode(),
    "one-row.csv": b"sex,hired\nf,yes\n",
    "no-rows.csv": b"sex,hired\n",
    "empty.csv": b"",
    "all-missing.csv": ("sex,none,hired\n" + "f,,yes\nm,,no\n" * 20).encode(),
    "wide.csv": (
        ",".join(f"c{each}" for each in range(2_000))
        + "\n"
        + "\n".join(",".join(str((row + each) % 3) for each in range(2_000)) for row in range(30))
    ).encode(),
    "not-a-table.csv": bytes(range(256)) * 4,
    "broken.parquet": b"PAR1 and nothing else",
}


@pytest.mark.parametrize(
    "label",
    [pytest.param(each, marks=[pytest.mark.figures] if each == "wide.csv" else []) for each in AWKWARD],
)
def test_every_awkward_file_has_a_description_or_one_clear_error(study_of, label):
    """If this is false, a person sees a traceback, or a page that says nothing."""
    data = AWKWARD[label]
    made = study_of(data() if callable(data) else data, label)
    described = describe(made.folder, made.record)

    assert described.columns or described.error
    for text in (described.error, *(look.text for look in described.warnings)):
        assert str(made.folder) not in text
        assert "5f3a" not in text  # the random name
        assert "Traceback" not in text


def test_a_workbook_of_two_sheets_is_read_once_a_person_says_which(study_of):
    made = study_of(AWKWARD["sheets.xlsx"](), "sheets.xlsx")

    with pytest.raises(EvenhandError, match="2 sheets with cells"):
        check_upload(made.folder, made.record.data.file, "sheets.xlsx")
    opening = check_upload(made.folder, made.record.data.file, "sheets.xlsx", file_format={"sheet": "People"})
    choice = replace(made.record.data, file_format={"sheet": "People"})
    described = describe(made.folder, made.change(data=choice).record)

    assert opening.columns == ("sex", "pay", "hired")
    assert row(described, "sex").values == ("f", "m")


@pytest.mark.parametrize("label", ["semicolons.csv", "latin.csv", "tabs.tsv", "codes.parquet"])
def test_files_as_other_programs_write_them_are_read(study_of, label):
    data = AWKWARD[label]
    made = study_of(data() if callable(data) else data, label)
    opening = check_upload(made.folder, made.record.data.file, label)
    described = describe(made.folder, made.record)

    assert opening.rows == 40
    assert opening.label == label
    assert row(described, "sex").values == ("f", "m")
    if label == "semicolons.csv":
        assert row(described, "pay").type_words.startswith("numbers")
        assert "semicolon" in opening.sentences[0]
    if label == "latin.csv":
        assert row(described, "town").values == ("Köln", "Nîmes")


def test_a_column_is_described_in_plain_words(study_of):
    """No kind is said twice, and a share is written as in reports, so that no line breaks before its sign."""
    ages = [str(20 + place % 37) if place % 8 else "" for place in range(80)]
    rows = "".join(
        f"{age},{'fm'[place % 2]},{'yes' if place % 3 else 'no'}\n" for place, age in enumerate(ages)
    )
    made = study_of(("age,sex,hired\n" + rows).encode(), "ages.csv")
    described = describe(made.folder, made.record)

    assert row(described, "age").type_words == "whole numbers"
    assert row(described, "sex").type_words == "text, as categories"
    assert row(described, "age").missing_share == "12.5%"


def test_a_column_without_any_value_is_left_out_with_the_reason(study_of):
    made = study_of(AWKWARD["all-missing.csv"], "all-missing.csv")
    column = row(describe(made.folder, made.record), "none")

    assert (column.role, column.missing_share) == ("left out", "all")
    assert column.reason == "it holds no value"


def test_a_file_that_cannot_be_read_is_refused_with_its_own_name(study_of):
    made = study_of(AWKWARD["broken.parquet"], "broken.parquet")

    with pytest.raises(EvenhandError) as caught:
        check_upload(made.folder, made.record.data.file, "broken.parquet")

    assert "broken.parquet" in str(caught.value)
    assert "5f3a" not in str(caught.value)
    assert str(made.folder) not in str(caught.value)


PLACES = "\n".join(["town,pupils,white,black", *(f"t{row},{90 + row},{40 + row},{20}" for row in range(40))])


def test_what_follows_from_counts_is_suggested_for_a_file_of_places(study_of):
    """Nobody has to know beforehand which questions a file of places answers."""
    made = study_of(PLACES.encode(), "places.csv")
    made.change(**guess_roles(made.folder, made.record))

    assert made.record.form["decide"] == {
        "follows": "money", "count": "pupils", "budget": "1000000", "name": "town",
        "groups": ["white", "black"],
    }  # fmt: skip
    assert "form" not in guess_roles(made.folder, made.record)


def test_answers_stay_unless_their_columns_are_gone(study_of):
    made = study_of(PLACES.encode(), "places.csv")
    own = {"decide": {"follows": "money", "count": "black"}}

    assert "form" not in guess_roles(made.folder, made.change(form=own).record)
    other = {"decide": {"follows": "money", "count": "students"}}
    assert guess_roles(made.folder, made.change(form=other).record)["form"]["decide"]["count"] == "pupils"


def test_people_are_no_places(study):
    made = study()

    assert "form" not in guess_roles(made.folder, made.record)
