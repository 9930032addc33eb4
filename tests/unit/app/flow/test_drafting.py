"""What a person declares of columns becomes the schema exactly, or is refused where it was written."""

import io
import itertools
from dataclasses import replace
from datetime import date

import pyarrow as pa
import pytest
from pyarrow import parquet

from evenhand.app.flow import opening
from evenhand.app.flow.describe import describe, guess_roles, load_schema_file, read_code_list
from evenhand.app.flow.drafting import declare_column, draft, read_roles, shown_bounds, write_roles
from evenhand.app.flow.opening import open_rows
from evenhand.app.state.record import DataChoice, StudyRecord
from evenhand.errors import EvenhandError, InvalidParameterError, SchemaError
from evenhand.schema import Domain, Schema
from evenhand.study.intake.opening import open_data as read

TYPED = "sex,age,score,member,day,moment,hired\n" + "".join(
    f"{'fm'[row % 2]},{18 + row % 40},{row % 4 + 0.5},{'true' if row % 3 else 'false'},"
    f"2026-0{1 + row % 9}-01,2026-01-01T0{row % 10}:00:00,{'yes' if row % 5 < 2 else 'no'}\n"
    for row in range(200)
)
CAUSAL = DataChoice(source="dataset", label="causal", dataset="causal", options={"n": 300})


@pytest.fixture
def typed(study_of):
    """Return a study of a file with a column of every type."""
    made = study_of(TYPED.encode(), "typed.csv")
    return made.change(**guess_roles(made.folder, made.record))


def drafted(made, **changes):
    made.change(**changes)
    opened = open_rows(made.folder, made.record)
    return draft(opened, made.record), opened


def row(described, name):
    return next(column for column in described.columns if column.name == name)


# --- values and bounds ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "written", "values"),
    [
        ("sex", ["f", " m ", "", "x"], ["f", "m", "x"]),
        ("age", ["18", " 19.0", "−5"], [18, 19, -5]),
        ("score", ["0.5", "1.5"], [0.5, 1.5]),
        ("score", ["1", "2.0"], [1, 2]),
        ("member", ["TRUE", "False"], [True, False]),
    ],
)
def test_values_have_the_type_of_their_column(typed, column, written, values):
    """A text that is compared with a number is outside of every list."""
    _, opened = drafted(typed)
    found = declare_column(opened, column, {"values": written})

    assert list(found.domain.values) == values
    assert found.domain.value_type is type(values[0])


@pytest.mark.parametrize(
    ("column", "edit", "field"),
    [
        ("sex", {"kind": "categories", "values": ["", " "]}, "values"),
        ("age", {"values": ["18", "old"]}, "values"),
        ("age", {"values": ["18.5"]}, "values"),
        ("member", {"values": ["yes"]}, "values"),
        ("age", {"kind": "much"}, "kind"),
        ("age", {"kind": "whole numbers", "low": "", "high": "9"}, "low"),
        ("age", {"kind": "whole numbers", "low": "1", "high": "9.5"}, "high"),
        ("age", {"kind": "whole numbers", "low": "9", "high": "1"}, "low"),
        ("age", {"kind": "whole numbers", "low": "1", "high": "inf"}, "high"),
        ("score", {"kind": "bands", "low": "3", "high": "3", "width": "1"}, "low"),
        ("score", {"kind": "bands", "low": "0", "high": "3", "width": "0"}, "width"),
        ("score", {"kind": "bands", "low": "0", "high": "3", "width": "1e-9"}, "width"),
        ("score", {"kind": "bands", "low": "0", "high": "3"}, "width"),
        ("score", {"kind": "bands", "edges": "0"}, "edges"),
        ("score", {"kind": "bands", "edges": "0, few, 9"}, "edges"),
        ("score", {"kind": "bands", "edges": "0, 9, 3"}, "edges"),
        ("score", {"kind": "bands", "edges": "1 " * 10_001}, "edges"),
    ],
)
def test_what_cannot_be_a_domain_is_refused_at_the_field_where_it_was_written(typed, column, edit, field):
    _, opened = drafted(typed)

    with pytest.raises(InvalidParameterError) as caught:
        declare_column(opened, column, edit)
    assert caught.value.parameter == field


def test_bands_end_where_the_person_says_although_the_width_does_not_fit(typed):
    """An edge that is computed as 0.30000000000000004 makes a band of nothing."""
    _, opened = drafted(typed)
    found = declare_column(opened, "score", {"kind": "bands", "low": "0", "high": "0.35", "width": "0.1"})

    assert list(found.domain.edges) == [0, 0.1, 0.2, 0.3, 0.35]


def test_labels_and_rules_are_those_of_values_that_there_are(typed):
    edit = {"values": ["f", "m"], "labels": {"f": " women ", "x": "nobody", "m": ""}, "missing": "drop"}
    found, _ = drafted(typed, columns={"sex": {**edit, "unknown": "other"}})
    column = found.columns["sex"].column

    assert column.named_values == {"f": "women"}
    assert (column.outside, column.nulls, column.inferred) == ("other", "drop", False)
    described = describe(typed.folder, typed.change(columns={"sex": {"unknown": "guess"}}).record)
    assert described.field == "unknown"


def test_where_one_answer_is_wrong_everything_that_was_said_is_still_there_to_be_corrected(typed):
    """A page that forgets roles and edits because of one slip takes all of a person's work."""
    roles = {
        "target": "hired",
        "positive": "yes",
        "protected": ["sex"],
        "sensitive": ["sex"],
        "drop": ["day"],
    }
    edits = {"age": {"kind": "whole numbers", "low": "9", "high": "1"}, "sex": {"values": ["f", "m"]}}
    described = describe(typed.folder, typed.change(columns=edits, roles=roles).record)
    age, sex = row(described, "age"), row(described, "sex")

    assert described.field == "low"
    assert dict(described.roles) == roles
    assert (age.kind, age.low, age.high, age.edited) == ("whole numbers", "9", "1", True)
    assert (sex.kind, sex.values, sex.role) == ("categories", ("f", "m"), "protected, sensitive")
    assert (row(described, "day").role, row(described, "member").role) == ("left out", "clear")
    assert [one.type_words for one in described.columns][:4] == [
        "text", "whole numbers", "numbers", "yes or no",
    ]  # fmt: skip
    wrong = describe(typed.folder, typed.change(columns={}, roles={**roles, "pool_below": "few"}).record)
    assert (wrong.field, wrong.roles["pool_below"]) == ("pool_below", "few")
    assert row(wrong, "sex").role == "protected, sensitive"


def test_dates_and_times_are_called_so(study_of):
    days = pa.array([date(2026, 1, 1 + place % 9) for place in range(60)])
    table = pa.table({"day": days, "moment": days.cast(pa.timestamp("s")), "hired": ["yes", "no"] * 30})
    written = io.BytesIO()
    parquet.write_table(table, written)
    made = study_of(written.getvalue(), "days.parquet", columns={"hired": {"unknown": "guess"}})
    described = describe(made.folder, made.record)

    assert [one.type_words for one in described.columns] == ["dates", "times", "text"]


def test_one_bound_is_changed_and_the_others_stay_as_they_are_shown(typed):
    """A bound beside it that was read from the rows is still a leak, and must be called one."""
    before = row(describe(typed.folder, typed.record), "age")
    part = row(describe(typed.folder, typed.change(columns={"age": {"low": "0"}}).record), "age")
    both = {"age": {"low": "0", "high": "130", **({"width": "10"} if before.kind == "bands" else {})}}
    whole = row(describe(typed.folder, typed.change(columns=both).record), "age")

    assert (part.kind, part.low, part.high) == (before.kind, "0", before.high)
    assert before.inferred
    assert part.inferred
    assert (whole.low, whole.high, whole.inferred) == ("0", "130", False)


UNEVEN = "".join(
    [
        "sex,pay,hired\n",
        *(f"{'fm'[row % 2]},{1.04**row:.2f},{'yes' if row % 5 < 2 else 'no'}\n" for row in range(300)),
    ]
)


def test_bands_of_different_widths_are_shown_by_their_edges(study_of):
    """The width of the first band is not that of the others, and all of them would be rebuilt with it."""
    made = study_of(UNEVEN.encode(), "pay.csv")
    pay = row(describe(made.folder, made.record), "pay")
    edges = [float(edge) for edge in pay.edges.split(", ")]
    widths = {round(right - left, 9) for left, right in itertools.pairwise(edges)}

    assert len(widths) > 1
    assert pay.width == ""
    assert (pay.low, pay.high) == (pay.edges.split(", ")[0], pay.edges.split(", ")[-1])
    assert Schema.from_toml(describe(made.folder, made.record).schema_text)["pay"].domain.edges == tuple(
        edges
    )


def test_edges_that_a_person_writes_are_taken_and_one_width_replaces_them(study_of):
    made = study_of(UNEVEN.encode(), "pay.csv", columns={"pay": {"edges": "0, 18; 65 200000"}})
    own = row(describe(made.folder, made.record), "pay")
    made.change(columns={"pay": {"low": "0", "high": "200000", "width": "50000"}})
    even = row(describe(made.folder, made.record), "pay")

    assert (own.edges, own.width, own.value_count) == ("0, 18, 65, 200000", "", 3)
    assert (own.inferred, own.edited) == (False, True)
    assert (even.edges, even.width, even.value_count, even.inferred) == ("", "50000", 4, False)


def test_a_width_alone_is_taken_and_the_bounds_are_still_those_of_the_rows(study_of):
    """A width that is written and not taken looks as if it were."""
    made = study_of(UNEVEN.encode(), "pay.csv")
    before = row(describe(made.folder, made.record), "pay")
    after = row(describe(made.folder, made.change(columns={"pay": {"width": "10000"}}).record), "pay")

    assert (after.low, after.high, after.width) == (before.low, before.high, "10000")
    assert after.inferred


@pytest.mark.parametrize(
    ("domain", "bounds"),
    [
        (Domain.integers(-3, 90), {"low": "-3", "high": "90"}),
        (Domain.binned([0, 0.1, 0.2, 0.3]), {"low": "0", "high": "0.3", "width": "0.1"}),
        (Domain.binned([0, 1_000_000, 1_234_567.5]), {"low": "0", "high": "1234567.5", "width": "1000000"}),
        (Domain.binned([0, 1e-9, 1e9]), {"low": "0", "high": "1000000000", "edges": "0, 1e-09, 1000000000"}),
        (Domain.threshold("> 50000"), {}),
        (Domain.dates("2026-01-01", "2026-03-31", band="1m"), {}),
        (Domain.categorical(["f", "m"]), {}),
    ],
)
def test_bounds_are_shown_as_they_are_read_back(domain, bounds):
    """A bound that is shown as 1.23457e+06 is another bound."""
    assert shown_bounds(domain) == bounds


@pytest.mark.parametrize("kind", ["whole numbers", "bands", "categories"])
def test_a_kind_that_is_chosen_is_shown_although_its_values_are_not_written_yet(typed, kind):
    """Otherwise the fields to write them in never appear."""
    for column in ("age", "sex"):
        described = describe(typed.folder, typed.change(columns={column: {"kind": kind}}).record)

        assert described.error == ""
        assert row(described, column).kind == kind


# --- roles ----------------------------------------------------------------------------------------


def test_roles_are_the_same_after_they_were_kept():
    roles = {
        "target": "hired", "positive": "yes", "protected": ["sex", "race"], "privileged": ["m", "a"],
        "sensitive": ["race"], "pool_below": "20", "rows_per_person": 3.0, "bands": {"age": "10"},
        "weight": "", "person": None, "nothing": 1,
    }  # fmt: skip
    words = read_roles(roles)

    assert (words.protected, words.privileged, words.pool_below) == (("sex", "race"), ("m", "a"), 20)
    assert read_roles(write_roles(words)) == words
    assert read_roles({"protected": ["sex"]}).protected == "sex"
    assert write_roles(read_roles({})) == {}


@pytest.mark.parametrize("name", ["rows_per_person", "pool_below"])
def test_a_number_of_rows_that_is_none_is_refused_by_its_name(name):
    with pytest.raises(InvalidParameterError) as caught:
        read_roles({name: "many"})
    assert caught.value.parameter == name


@pytest.mark.parametrize("role", ["target", "sensitive", "protected"])
def test_a_column_that_is_needed_and_cannot_be_used_is_said_with_the_reason(study_of, role):
    lines = "".join(f"{row},{'fm'[row % 2]},{'yes' if row % 3 else 'no'}\n" for row in range(300))
    made = study_of(f"id,sex,hired\n{lines}".encode(), "people.csv")
    roles = {"target": "hired", "protected": ["sex"], "sensitive": ["sex"], "drop": ["sex"]}
    roles |= {role: "sex" if role == "target" else ["sex"]}
    found, opened = drafted(made, roles=roles)

    with pytest.raises(SchemaError, match="was left out by you") as caught:
        found.set_up(opened)
    assert caught.value.field.startswith("roles.")


def test_one_column_alone_is_no_study(study_of):
    made = study_of(b"sex,hired\n" + b"f,yes\nm,no\n" * 50, "people.csv")
    found, opened = drafted(made, roles={"drop": ["sex"]})

    with pytest.raises(SchemaError, match="Fewer than two columns"):
        found.set_up(opened)


def test_a_data_set_says_its_roles_where_the_person_says_nothing(tmp_path):
    """Its good outcome is that of its own target, and means nothing in another column."""
    record = StudyRecord(id="0" * 16, name="", created=0.0, data=CAUSAL)
    own = draft(open_rows(tmp_path, record), record).words
    other = record.with_(roles={"target": "C", "protected": ["M"]})
    changed = draft(open_rows(tmp_path, other), other).words
    described = describe(tmp_path, record)

    assert (own.target, own.protected, own.positive) == ("Y", "A", "1")
    assert own.privileged is not None
    assert (changed.target, changed.protected) == ("C", "M")
    assert (changed.positive, changed.privileged) == (None, None)
    assert described.reasons["target"] == "the data set declares it"


def test_a_column_with_a_role_beside_the_table_needs_no_list(typed):
    roles = {"target": "hired", "positive": "yes", "protected": ["sex"], "privileged": "m"}
    found, _ = drafted(typed, roles={**roles, "weight": "score", "person": "age"})

    assert found.columns["score"].column is None
    assert "needs no list" in found.columns["age"].why_not
    described = describe(typed.folder, typed.record)
    assert (row(described, "score").role, row(described, "age").role) == ("weight", "person")
    assert not [look for look in described.warnings if "'score'" in look.text and "left out" in look.text]


# --- what the description says --------------------------------------------------------------------


def test_a_file_that_is_gone_is_said_without_its_place(study):
    made = study()
    (made.folder / "data" / made.record.data.file).unlink()
    described = describe(made.folder, made.record)

    assert described.field == "data"
    assert "a file that is still here" in described.error
    assert str(made.folder) not in described.error


def test_a_file_without_rows_is_said_and_has_no_roles(study_of):
    made = study_of(b"sex,hired\n", "people.csv")

    assert "no rows" in describe(made.folder, made.record).error
    assert guess_roles(made.folder, made.record) == {}


def test_rows_that_were_drawn_from_a_larger_file_are_called_so(study, monkeypatch):
    """Numbers of a part must not be taken for those of all."""
    monkeypatch.setattr(
        opening, "open_data", lambda *words, **known: replace(read(*words, **known), drawn=400)
    )
    made = study()
    described = describe(made.folder, made.record)

    assert described.drawn
    assert described.warnings[0].tone == "plain"
    assert "400" in described.warnings[0].text


def test_roles_that_were_said_stay_when_the_others_are_guessed(study):
    made = study(roles={"target": "job"})
    roles = guess_roles(made.folder, made.record)["roles"]

    assert roles["target"] == "job"
    assert roles["protected"]


def test_places_with_counts_have_no_roles_of_people_and_no_error(study):
    made = study("decide")
    described = describe(made.folder, made.record)

    assert guess_roles(made.folder, made.record) == {}
    assert (described.error, described.missing) == ("", ())
    assert {one.name for one in described.columns} == {"place", "people", "poor"}


def test_what_people_hope_for_among_numbers_may_be_a_limit(typed):
    made = typed.change(
        roles={"target": "age", "protected": ["sex"], "privileged": "m", "sensitive": ["sex"]}
    )
    (asked,) = describe(made.folder, made.record).missing
    limit = float(asked.question.rstrip(".").rpartition("> ")[2])

    assert asked.role == "positive"
    assert "write a limit" in asked.question
    assert 18 < limit < 57  # as the column has it, so that the example makes two groups


def test_a_value_is_asked_for_only_once_its_column_is_known(study):
    made = study(roles={"sensitive": ["sex"]})

    assert [one.role for one in describe(made.folder, made.record).missing] == ["target", "protected"]


def test_long_lists_are_neither_shown_whole_nor_offered(study_of):
    lines = "".join(f"{row % 90},{'fm'[row % 2]},{'yes' if row % 3 else 'no'}\n" for row in range(900))
    made = study_of(f"code,sex,hired\n{lines}".encode(), "people.csv")
    made.change(columns={"code": {"kind": "whole numbers", "low": "0", "high": "500"}})
    made.change(roles={"target": "code", "protected": ["sex"]})
    described = describe(made.folder, made.record)
    texts = [f"v{place}" for place in range(80)]
    made.change(columns={"sex": {"values": ["f", "m", *texts]}})
    sex = row(describe(made.folder, made.record), "sex")

    assert described.choices["positive"] == ()
    assert row(described, "code").values == ()
    assert (len(sex.values), sex.value_count) == (60, 82)


def test_a_code_list_that_is_too_long_is_refused():
    with pytest.raises(InvalidParameterError, match="100,001 lines"):
        read_code_list("\n".join(map(str, range(100_001))))


def test_a_schema_file_gives_every_role_that_it_has(study):
    """What a person declared once must not be asked again."""
    made = study()
    roles = {
        "target": "hired", "positive": "yes", "protected": ["sex", "race"], "privileged": ["m", "a"],
        "sensitive": ["sex"], "pool_below": 5,
    }  # fmt: skip
    text = describe(made.folder, made.change(roles=roles).record).schema_text
    changes = load_schema_file(made.folder, made.record, text)

    assert changes["roles"] == roles
    assert not changes["described"]
    assert Schema.from_toml(text).privileged == ("m", "a")
    alone = Schema([column for column in Schema.from_toml(text) if column.name in {"sex", "hired"}])
    assert load_schema_file(made.folder, made.record, alone.to_toml())["roles"] == {"drop": ["race", "job"]}


def test_a_study_without_data_is_refused_in_one_sentence(tmp_path):
    record = StudyRecord(id="0" * 16, name="", created=0.0)

    with pytest.raises(EvenhandError, match="chosen first"):
        open_rows(tmp_path, record)
    assert describe(tmp_path, record).field == "data"
