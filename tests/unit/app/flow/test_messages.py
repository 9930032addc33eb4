"""What goes wrong is said with the words of the page: no option of the command line, no code."""

import re

import pyarrow as pa
import pytest

from evenhand.app.flow.data import check_upload
from evenhand.app.flow.describe import describe
from evenhand.app.flow.messages import HOW_WRITTEN, say_in_browser
from evenhand.app.flow.question import ask
from evenhand.app.pages.question import error_words
from evenhand.app.tasks.registry import FORMS
from evenhand.errors import EvenhandError, MissingExtraError
from evenhand.schema import Column, Domain, Schema
from evenhand.schema.infer import leak_warning
from evenhand.table import Table
from evenhand.table.file_format import FileFormat

FOREIGN = re.compile(
    r"--[a-z]|\w=[\w'\"{\[.]|\w\(\w*[=)]|\bparameter of\b|\b[a-z]+_[a-z]+\b|Schema\.|pass \w+="
)
"""Options, arguments, calls and names of code."""

WRONG_FILES = {
    "empty.csv": b"",
    "no-rows.csv": b"a,b\n",
    "no-text.csv": b"a,b\n\x81\x8d\xff\xfe\x00\x01\n",
    "ragged.csv": b"a,b\n1,2\n3\n",
    "quotes.csv": b'a,b\n"1"x,2\n',
    "twice.csv": b"a,a\n1,2\n",
    "long.csv": b"a,b\n" + b"x" * 3_000_000 + b",1\n",
    "wide.csv": b",".join(b"c%d" % place for place in range(20_000)) + b"\n",
    "no.xlsx": b"PK\x03\x04 nothing",
    "no.parquet": b"PAR1 nothing PAR1",
    "decimals.csv": b"a;b\n1,234;1\n2,345;2\n3.456;1\n",
}
WRONG_ANSWERS = {
    "collect": ({"epsilons": "0"}, {"epsilons": "x"}, {"repeats": "0"}, {"repeats": "1.5"}, {"seed": "-1"},
                {"rows": "x"}, {"max_gap": "x"}, {"strategies": ["x"]},
                {"splits": ["x"]}, {"model": "x"}),
    "release": ({"columns": ["x"]}, {"bound": "x"}, {"threshold": "-1"}, {"delta": "3"}, {"fraction": "2"},
                {"rho": "x"}, {"mechanisms": ["k-anonymity"]}, {"k": "0"}, {"fill": "x"}),
    "learn": ({"gap": "x"}, {"gap": "2"}, {"delta": "2"}, {"strength": "-1"}, {"methods": ["x"]},
              {"epsilons": "-1"}),
    "decide": ({"rule": ""}, {"rule": "poor/"}, {"rule": "rich > 1"}, {"follows": "money"},
               {"follows": "money", "count": "poor", "budget": "-1"}, {"delta": "1e-6"}, {"draws": "1"},
               {"follows": "money", "allot": "poor * poor"}, {"name": "x"}, {"groups": ["x"]}),
}  # fmt: skip


def said(text, **labels):
    return say_in_browser(text, labels)


@pytest.mark.parametrize("name", WRONG_FILES)
def test_a_refused_file_is_told_what_to_do_on_the_page(study_of, name):
    """Somebody at a browser has no command line to type an option in."""
    made = study_of(WRONG_FILES[name], name)
    try:
        check_upload(made.folder, made.record.data.file, name)
    except EvenhandError as error:
        words = say_in_browser(str(error))
        assert not FOREIGN.search(words), words
        assert name in words
    else:
        assert name == "decimals.csv" or name == "twice.csv"


def test_a_file_with_column_names_alone_is_refused_at_once(study_of):
    """If this is false, a person goes on to the next page to learn that there is nothing to describe."""
    made = study_of(WRONG_FILES["no-rows.csv"], "people.csv")

    with pytest.raises(EvenhandError, match=r"people\.csv was not read: it has column names and no rows"):
        check_upload(made.folder, made.record.data.file, "people.csv")


def test_a_workbook_of_two_sheets_is_told_where_to_choose_one(study_of, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for sheet in (book.active, book.create_sheet("second")):
        for row in (("a", "b"), (1, 2), (2, 3)):
            sheet.append(row)
    book.save(tmp_path / "book.xlsx")
    made = study_of((tmp_path / "book.xlsx").read_bytes(), "book.xlsx")

    with pytest.raises(EvenhandError) as refused:
        check_upload(made.folder, made.record.data.file, "book.xlsx")
    assert f"such as 1 under “{HOW_WRITTEN}”." in say_in_browser(str(refused.value))
    opened = check_upload(made.folder, made.record.data.file, "book.xlsx", file_format={"sheet": "2"})
    assert opened.columns == ("a", "b")


@pytest.mark.parametrize("kind", FORMS)
def test_a_wrong_answer_is_called_what_the_form_calls_it(study, kind):
    """The name of an argument means nothing to somebody who fills in a form."""
    made = study(kind)
    right = dict(made.record.form[kind])
    for wrong in WRONG_ANSWERS[kind]:
        made.change(form={kind: {**right, **wrong}})
        question = ask(made.folder, made.record)
        words = said(question.error, **{field.name: field.label for field in question.fields})

        assert question.error, wrong
        assert not FOREIGN.search(words), (wrong, words)


def test_messages_of_the_columns_name_the_controls_of_the_page(study_of):
    lines = [
        f"{row},20{row % 20:02d}-0{1 + row % 9}-11,{'fm'[row % 2]},{'yn'[row % 3 % 2]}" for row in range(200)
    ]
    data = "\n".join(["id,day,sex,ok", *lines, ""]).encode()
    made = study_of(data, "people.csv")
    described = describe(made.folder, made.record)
    day = next(row for row in described.columns if row.name == "day")
    texts = [
        described.error,
        *(text for row in described.columns for text in (row.reason, *_looks(row.looks))),
    ]
    texts += _looks(described.warnings)

    assert "choose bands under “Change”" in say_in_browser(day.reason)
    assert ("1y", "a year") in day.bands
    assert [text for text in map(say_in_browser, texts) if FOREIGN.search(text)] == []
    banded = made.change(roles={**made.record.roles, "bands": {"day": "1y"}})
    day = next(row for row in describe(banded.folder, banded.record).columns if row.name == "day")
    assert (day.band, day.kind) == ("1y", "categories") or (day.band, day.kind) == ("1y", "bands")


@pytest.mark.parametrize("value", ["x", None])
def test_a_value_that_does_not_fit_is_mended_on_the_page_of_the_columns(value):
    """Whoever cannot run a study is told which control to use, not what to write into a file."""
    schema = Schema([Column("sex", Domain.categorical(["f", "m"]))])
    with pytest.raises(EvenhandError) as refused:
        Table.encode(pa.table({"sex": ["f", "m", value]}), schema)
    words = say_in_browser(str(refused.value))

    assert "Hint: say on the page of the columns, under “Change”, what becomes of a " in words
    assert not FOREIGN.search(words)


def _looks(looks):
    return [text for look in looks for text in (look.text, look.detail)]


def test_messages_of_libraries_are_translated():
    missing = str(MissingExtraError("dp-accounting", feature="Training", extra="dp"))
    with pytest.raises(EvenhandError) as wrong:
        FileFormat(encoding="martian")

    assert said(missing).endswith("in the terminal, and start it again.")
    assert not FOREIGN.search(said(leak_warning(("sex",))))
    assert said(str(wrong.value)).startswith("“encoding” must be an encoding of text")
    assert said("First leave out age (--drop), or randomise it too (--sensitive).") == (
        "First leave out age, or randomise it too."
    )


def test_a_message_of_the_page_itself_stays_as_it_is():
    text = "Say on the page before which column is predicted."

    assert said(text) == text


def test_a_share_in_the_place_of_a_count_is_said_by_its_column(study_of):
    """Files of places hold shares beside counts, and "the plan field 'data'" names nothing on the page."""
    rows = "".join(f"p{row},{500 + 13 * row},{row / 7}\n" for row in range(60))
    made = study_of(f"place,people,share\n{rows}".encode(), "places.csv")
    made.change(kind="decide", form={"decide": {"rule": "people > 600 and share > 2"}})
    said = error_words(ask(made.folder, made.record, time=True))

    assert said.startswith("Column 'share' cannot be used here: it must hold counts, which are whole numbers")
    assert not FOREIGN.search(said)


@pytest.mark.parametrize("rule", ["pop > ", "poor/people > 0.2 and", "poor >> 3", "(poor > 3"])
def test_where_a_rule_is_wrong_is_said_without_a_caret(study, rule):
    """In a line of the browser a caret points at nothing, and a column is something else there."""
    made = study("decide", form={"decide": {"follows": "right", "rule": rule}})
    question = ask(made.folder, made.record)
    said = error_words(question)

    assert question.field == "rule"
    assert re.match(r"The rule cannot be read at character \d+: expected ", said)
    assert said.endswith((".", "?"))
    assert "^" not in said
    assert "\n" not in said
    assert "got the end" not in said
