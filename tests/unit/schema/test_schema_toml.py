"""A schema file can be read by a person, and only one text stands for a schema."""

import contextlib
import hashlib
import os
import stat
import subprocess
import sys
import time
import tomllib

import pytest

from evenhand.errors import InvalidParameterError, LimitExceededError, SchemaError, UnreadableFileError
from evenhand.schema import Column, Domain, Level, Schema

EXAMPLE = """\
format = 1

[roles]
sensitive = ["gender", "age"]
protected = "gender"
privileged = "Male"

[[columns]]
name = "gender"
kind = "categorical"
values = ["Female", "Male"]
outside = "error"
nulls = "other"

[[columns]]
name = "age"
kind = "integers"
low = 17
high = 90
outside = "drop"
nulls = "error"

[[columns.levels]]
name = "decade"
cuts = [20, 40, 60]
labels = ["under 20", "20 to 39", "40 to 59", "60 and over"]

[[columns.levels]]
name = "half"
of = "decade"

[columns.levels.groups]
young = ["under 20", "20 to 39"]
"not young" = ["40 to 59", "60 and over"]

[[columns]]
name = "school"
kind = "categorical"
values = ["none", "some", "all"]
ordered = true
outside = "error"
nulls = "error"

[[columns]]
name = "income"
kind = "binned"
edges = [0.0, 0.5, 1e+300]
labels = ["low", "high"]
outside = "other"
nulls = "other"
"""

SCHEMA = Schema(
    columns=(
        Column("gender", Domain.categorical(["Female", "Male"]), nulls="other"),
        Column(
            "age",
            Domain.integers(17, 90),
            outside="drop",
            levels=[
                Level(
                    "decade", cuts=[20, 40, 60], labels=["under 20", "20 to 39", "40 to 59", "60 and over"]
                ),
                Level(
                    "half",
                    {"young": ["under 20", "20 to 39"], "not young": ["40 to 59", "60 and over"]},
                    of="decade",
                ),
            ],
        ),
        Column("school", Domain.categorical(["none", "some", "all"], ordered=True)),
        Column(
            "income", Domain.binned([0, 0.5, 1e300], labels=["low", "high"]), outside="other", nulls="other"
        ),
    ),
    sensitive=["gender", "age"],
    protected="gender",
    privileged="Male",
)


def _changed(old, new):
    assert EXAMPLE.count(old) >= 1
    return EXAMPLE.replace(old, new, 1)


def test_the_file_looks_as_documented():
    assert SCHEMA.to_toml() == EXAMPLE


def test_the_file_gives_the_schema_back():
    assert Schema.from_toml(EXAMPLE) == SCHEMA


def test_a_long_list_is_written_a_value_a_line():
    schema = Schema(
        [Column("place", Domain.categorical([f"a place, number {number}" for number in range(50)]))]
    )

    assert '\n    "a place, number 7",\n' in schema.to_toml()
    assert Schema.from_toml(schema.to_toml()) == schema


def test_what_has_a_default_may_be_left_out():
    text = 'format = 1\n[[columns]]\nname = "x"\nkind = "integers"\nlow = 0\nhigh = 9\n'

    assert Schema.from_toml(text) == Schema([Column("x", Domain.integers(0, 9))])


def test_comments_line_ends_and_order_of_keys_do_not_count():
    text = _changed(
        'kind = "integers"\nlow = 17\nhigh = 90', 'high = 90 # oldest\nlow = 17\nkind = "integers"'
    )

    assert Schema.from_toml(text.replace("\n", "\r\n")) == SCHEMA


def test_whole_numbers_are_edges_too():
    assert Schema.from_toml(_changed("[0.0, 0.5, 1e+300]", "[0, 0.5, 1e300]")) == SCHEMA


def test_the_fingerprint_is_the_same_in_every_run():
    """A ledger notes the fingerprint: if it moved, an old charge would name a schema nobody has."""
    code = "import sys, evenhand.schema as s; print(s.Schema.from_toml(sys.stdin.read()).fingerprint)"
    expected = "effd03d04cff2a01184b06d4d02e564c4dcbcf69f5d91142f865d15b7d619888"
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            input=EXAMPLE,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("0", "1")
    }

    assert seen == {SCHEMA.fingerprint} == {expected}


def test_the_fingerprint_is_the_checksum_of_the_saved_file(tmp_path):
    SCHEMA.save(tmp_path / "schema.toml")

    assert hashlib.sha256((tmp_path / "schema.toml").read_bytes()).hexdigest() == SCHEMA.fingerprint


def test_a_saved_schema_is_loaded_again(tmp_path):
    for path in (tmp_path / "schema.toml", str(tmp_path / "größe.toml")):
        SCHEMA.save(path)
        SCHEMA.save(path)

        assert Schema.load(path) == SCHEMA
    assert sorted(each.name for each in tmp_path.iterdir()) == ["größe.toml", "schema.toml"]


def test_a_failed_save_leaves_the_old_file_whole(tmp_path, monkeypatch):
    """Half a schema may still be TOML: it would be read as one with fewer columns."""
    path = tmp_path / "schema.toml"
    SCHEMA.save(path)

    def fail(self, target):
        raise OSError("disk full")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        SCHEMA.select(["age"]).save(path)

    assert Schema.load(path) == SCHEMA
    assert [each.name for each in tmp_path.iterdir()] == ["schema.toml"]


def test_a_file_with_a_byte_order_mark_is_read(tmp_path):
    (tmp_path / "schema.toml").write_bytes(b"\xef\xbb\xbf" + EXAMPLE.encode())

    assert Schema.load(tmp_path / "schema.toml") == SCHEMA


@pytest.mark.parametrize("path", ["{}/no/schema.toml", "{}/schema.toml", "{}/\0schema.toml", "{}"])
def test_a_file_that_cannot_be_read_is_named_without_its_folder(tmp_path, path):
    with pytest.raises(UnreadableFileError) as caught:
        Schema.load(path.format(tmp_path))

    assert "Hint: check its" in str(caught.value)
    assert str(tmp_path.parent) not in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_file_without_rights_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "schema.toml"
    SCHEMA.save(path)
    path.chmod(stat.S_IWUSR)
    if os.geteuid() == 0:  # root may read everything

        def refuse(*_, **__):
            raise PermissionError

        monkeypatch.setattr("builtins.open", refuse)

    with pytest.raises(UnreadableFileError, match=r"'schema.toml' cannot be opened"):
        Schema.load(path)


@pytest.mark.parametrize("path", [None, 3, b"schema.toml"])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(InvalidParameterError, match=r"'path' parameter of Schema.load must be a path"):
        Schema.load(path)


def test_a_file_beyond_the_limit_is_refused_having_read_little(tmp_path):
    path = tmp_path / "schema.toml"
    path.write_bytes(b"#" * (2**20 + 1))

    with pytest.raises(LimitExceededError, match=r"'schema.toml' is longer than 1,048,576 bytes") as caught:
        Schema.load(path)
    with pytest.raises(LimitExceededError, match="schema text is longer than 1,048,576 bytes"):
        Schema.from_toml("#" * (2**20 + 1))
    with pytest.raises(LimitExceededError, match="longer than 10 bytes"):
        Schema.from_toml("#éééééé", max_bytes=10)

    assert caught.value.limit == "max_bytes"


def test_the_limit_can_be_raised():
    text = EXAMPLE + "#" * 2**20

    assert Schema.from_toml(text, max_bytes=2**21) == SCHEMA
    for limit in (0, 1.5, "1", True):
        with pytest.raises(InvalidParameterError, match="'max_bytes' parameter of Schema"):
            Schema.from_toml(EXAMPLE, max_bytes=limit)


def test_a_file_that_is_not_utf8_is_refused(tmp_path):
    (tmp_path / "schema.toml").write_bytes(EXAMPLE.replace("Male", "Mäle").encode("latin-1"))

    with pytest.raises(SchemaError, match=r"'schema.toml' is not text in UTF-8") as caught:
        Schema.load(tmp_path / "schema.toml")
    assert caught.value.field == "file"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,age\nSmith,41\n", "not TOML at line 1, column 5"),
        ("format = ", "not TOML at line 1, column 10|not TOML at end of document"),
        ("format = 1\nformat = 1", "not TOML at (line 2|end of document)"),
        ("a = 1" + "0" * 5000, "not TOML"),
        ("a = " + "[" * 100_000, "nested too deeply"),
        ("a = " + "{a=" * 50_000, "nested too deeply"),
        ("a" + ".a" * 400_000 + " = 1", "a key of more than 16 parts"),
        ("[" + '"a" . ' * 100_000 + "a]", "a key of more than 16 parts"),
        ('x = """\n"\n"""\n' + "a." * 100_000 + "a = 1", "a key of more than 16 parts"),
        ("x = '''\n'\\'''\n" + "a." * 100_000 + "a = 1", "a key of more than 16 parts"),
        ('x = "\\""\ny = \'"\' # "\n' + "a." * 100_000 + "a = 1", "a key of more than 16 parts"),
        ("x = ['''a'''', {" + "a." * 100_000 + "a = 1}]", "a key of more than 16 parts"),
        ('x = ["""a""""", {' + "a." * 100_000 + "a = 1}]", "a key of more than 16 parts"),
        ("x" * 1_000_000, "not TOML"),
        ("\ud800 = 1", "cannot be written as UTF-8"),
        ("", "'format' is missing"),
    ],
    ids=range(16),
)
def test_a_text_that_is_no_toml_gives_one_clear_error(text, message):
    """A key of many parts makes the parser of Python 3.11 need their number squared in memory."""
    with pytest.raises(SchemaError, match=message) as caught:
        Schema.from_toml(text)

    assert caught.value.field == ("file" if text else "format")
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert "Smith" not in str(caught.value)


@pytest.mark.parametrize("quote", ['"{}"', "'{}'", '"""{}"""', "'''{}'''"])
def test_points_inside_text_are_not_taken_for_a_key(quote):
    value = "a." * 1_000

    assert tomllib.loads(f"x = {quote.format(value)}") == {"x": value}
    schema = Schema.from_toml(
        _changed('values = ["Female", "Male"]', f'values = ["Male", {quote.format(value)}]')
    )
    assert schema["gender"].domain.values == ("Male", value)


def test_text_is_what_a_schema_is_read_from():
    with pytest.raises(
        InvalidParameterError, match=r"'text' parameter of Schema.from_toml must be of type str"
    ):
        Schema.from_toml(EXAMPLE.encode())


FAULTS = [
    (
        "format = 1",
        "format = 2",
        "format",
        "the file has the format 2; this evenhand knows the format 1",
    ),
    ("format = 1", "format = 2\nnew = 1", "format", "Hint: install a newer evenhand"),
    ("format = 1", "format = 0", "format", "Hint: read it with the evenhand that wrote it"),
    ("format = 1", "format = -1", "format", "has no format number"),
    ("format = 1", "format = true", "format", "must be 1"),
    ("format = 1", "format = '1'", "format", "must be 1"),
    ("format = 1", "'' = 1", '""', "is not known"),
    ("format = 1", "version = 1", "version", "Key 'version' is not a key of a schema file"),
    ("[roles]", "[rolls]", "rolls", "did you mean 'roles'"),
    ("[roles]", "roles = 3\n[x]", "x", "Key 'x'"),
    ("privileged =", "priviledged =", "roles.priviledged", "did you mean 'privileged'"),
    ('protected = "gender"', 'protected = "Gender"', "roles.protected", "did you mean 'gender'"),
    ('protected = "gender"', "protected = 3", "roles.protected", "must be the name of a column"),
    (
        'protected = "gender"',
        "protected = []",
        "roles.protected",
        "must be the name of a column, or of several",
    ),
    ('protected = "gender"', 'protected = ["gender", "gender"]', "roles.protected", "distinct columns"),
    ('protected = "gender"', 'protected = ["gender", "Age"]', "roles.protected", "did you mean 'age'"),
    ('["gender", "age"]', '["gender", "ages"]', "roles.sensitive", "did you mean 'age'"),
    ('["gender", "age"]', "[1, 2]", "roles.sensitive", "must be names of columns"),
    ('["gender", "age"]', '{gender = "age"}', "roles.sensitive", "must be names of columns"),
    ('["gender", "age"]', '["age", "age"]', "roles.sensitive", "distinct"),
    ('privileged = "Male"', 'privileged = "male"', "roles.privileged", "did you mean 'Male'"),
    ('privileged = "Male"', "privileged = []", "roles.privileged", "not in the domain"),
    ('protected = "gender"\n', "", "roles.privileged", "there is none"),
    ('name = "gender"', 'name = ""', "columns[0].name", "non-empty string"),
    ('name = "gender"', "name = 3", "columns[0].name", "non-empty string"),
    ('name = "gender"\n', "", "columns[0].name", "is missing"),
    ('name = "age"', 'name = "gender"', "columns.gender.name", "stands for two columns"),
    ('kind = "categorical"\n', "", "columns.gender.kind", "is missing"),
    (
        '"integers"',
        '"integer"',
        "columns.age.kind",
        "must be one of categorical, integers, binned, dates, threshold. Got 'integer'",
    ),
    ('"integers"', "3", "columns.age.kind", "must be one of"),
    ('"integers"', '["integers"]', "columns.age.kind", "must be one of"),
    ("low = 17", "lower = 17", "columns.age.lower", "did you mean 'low'"),
    ("low = 17\n", "", "columns.age.low", "is missing"),
    ("low = 17", "low = 17.0", "columns.age.low", "a whole number"),
    ("low = 17", "low = 99", "columns.age.high", "at least 'low', 99"),
    ("low = 17", "low = 0x" + "f" * 9000, "columns.age.low", "a value of type int"),
    ("low = 17", "low = 1979-05-27", "columns.age.low", "a value of type date"),
    (
        "low = 17",
        "values = [17]",
        "columns.age.values",
        "Key 'values' is not a key of a column of kind 'integers'",
    ),
    ('["Female", "Male"]', "[]", "columns.gender.values", "at least one value"),
    ('["Female", "Male"]', '["Male", "Male"]', "columns.gender.values", "'Male' twice"),
    ('["Female", "Male"]', '["Male", 1]', "columns.gender.values", "of one type"),
    ('["Female", "Male"]', "[1, 1.0]", "columns.gender.values", "of one type"),
    ('["Female", "Male"]', '"Male"', "columns.gender.values", "a list"),
    ('["Female", "Male"]', "{Female = 1}", "columns.gender.values", "a list"),
    ('["Female", "Male"]', "[nan]", "columns.gender.values", "nan"),
    ('["Female", "Male"]', '[["Male"]]', "columns.gender.values", "a value of type list"),
    ('["Female", "Male"]', "[07:32:00]", "columns.gender.values", "a value of type time"),
    ("ordered = true", "ordered = 1", "columns.school.ordered", "True or False"),
    ('nulls = "other"', 'nulls = "others"', "columns.gender.nulls", "one of 'error', 'other', 'drop'"),
    ('outside = "drop"', "outside = false", "columns.age.outside", "one of 'error', 'other', 'drop'"),
    ("[0.0, 0.5, 1e+300]", "[0.0, inf]", "columns.income.edges", "finite"),
    ("[0.0, 0.5, 1e+300]", "[0.0, 1.0]", "columns.income.labels", "a list of 1 labels"),
    ("[0.0, 0.5, 1e+300]", "[1, 0, 2]", "columns.income.edges", "strictly increasing"),
    ('labels = ["low", "high"]', "labels = []", "columns.income.labels", "a list of 2 labels"),
    ('name = "decade"\n', "", "columns.age.levels[0].name", "is missing"),
    ('name = "decade"', "name = 1", "columns.age.levels[0].name", "non-empty string"),
    ('name = "half"', 'name = "decade"', "columns.age.levels.decade", "the name of an earlier level"),
    ("cuts = [20, 40, 60]", "cut = [20, 40, 60]", "columns.age.levels.decade.cut", "did you mean 'cuts'"),
    ("cuts = [20, 40, 60]", "cuts = [20, 40, 95]", "columns.age.levels.decade", "cuts at 95"),
    ("cuts = [20, 40, 60]", "cuts = 20", "columns.age.levels.decade.cuts", "a list"),
    ("cuts = [20, 40, 60]", "cuts = [20, 40]", "columns.age.levels.decade.labels", "a list of 3 labels"),
    ('of = "decade"', 'of = "decades"', "columns.age.levels.half", "level 'decades', which is not one"),
    ('young = ["under 20", ', "young = [", "columns.age.levels.half", "leaves out 'under 20'"),
    ('young = ["under 20", ', 'young = ["under 20", "under 20", ', "columns.age.levels.half", "twice"),
    ('young = ["under 20", "20 to 39"]', "young = 3", "columns.age.levels.half.groups", "a list"),
    (
        "[columns.levels.groups]",
        "[columns.levels.group]",
        "columns.age.levels.half.group",
        "did you mean 'groups'",
    ),
]


@pytest.mark.parametrize(("old", "new", "field", "message"), FAULTS)
def test_a_fault_in_a_file_names_its_field(old, new, field, message):
    """Whoever edits the file by hand needs to know where to look."""
    with pytest.raises(SchemaError) as caught:
        Schema.from_toml(_changed(old, new))

    assert caught.value.field == field
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("format = 1", "columns"),
        ("format = 1\ncolumns = []", "columns"),
        ("format = 1\ncolumns = 3", "columns"),
        ("format = 1\ncolumns = [3]", "columns"),
        ("format = 1\n[columns]\nname = 'x'", "columns"),
        (EXAMPLE.replace("[roles]", "[columns2]", 1), "columns2"),
        ("format = 1\nroles = 3\n[[columns]]\nname='x'\nkind='integers'\nlow=0\nhigh=1", "roles"),
        ("format = 1\n[[columns]]\nname='x'\nkind='integers'\nlow=0\nhigh=1\nlevels=3", "columns.x.levels"),
        ("format = 1\n[[columns]]\nname='x'\nkind='integers'\nlow=0\nhigh=1\nlevels=[3]", "columns.x.levels"),
    ],
)
def test_a_file_of_another_shape_names_its_field(text, field):
    with pytest.raises(SchemaError) as caught:
        Schema.from_toml(text)

    assert caught.value.field == field


def test_a_message_stays_short_however_long_a_name_is():
    long = "x" * 100_000
    for text in (
        f'format = 1\n[[columns]]\nname = "{long}"\n',
        f"{long} = 1",
        f'format = 1\n[[columns]]\nname="a"\nkind="integers"\nlow=0\nhigh=1\nnulls="{long}"',
        f'format = 1\n[[columns]]\nname="a"\nkind="{long}"',
        f'format = 1\n[[columns]]\nname="a"\nkind="categorical"\nvalues=["{long}", 1]',
        f'format = 1\n[[columns]]\nname="a"\nkind="categorical"\nvalues=["{long}", "{long}"]',
        f'format = 1\n[roles]\ntarget="{long}"\n[[columns]]\nname="a"\nkind="integers"\nlow=0\nhigh=1',
    ):
        with pytest.raises(SchemaError) as caught:
            Schema.from_toml(text)

        assert len(str(caught.value)) < 1_500


def _large(kind):
    """Return a text just below the limit that makes one part of the reading work hard."""
    numbers = range(80_000)
    if kind == "edges and cuts":
        edges = ",".join(f"{number}.0" for number in numbers)
        cuts = ",".join(map(str, numbers[1:-1]))
        column = f"[[columns]]\nname='a'\nkind='binned'\nedges=[{edges}]\n"
        return f"{column}[[columns.levels]]\nname='l'\ncuts=[{cuts}]\n"
    if kind == "levels of levels":
        even, odd = (",".join(map(str, numbers[start::2])) for start in (0, 1))
        text = f"[[columns]]\nname='a'\nkind='integers'\nlow=0\nhigh={numbers[-1]}\n"
        text += f"[[columns.levels]]\nname='0'\ngroups={{x=[{even}],y=[{odd}]}}\n"
        return text + "".join(
            f"[[columns.levels]]\nname='{number + 1}'\nof='{number}'\ngroups={{x=['x'],y=['y']}}\n"
            for number in range(63)
        )
    names = [f"c{number}" for number in range(14_000)]
    text = f"[roles]\nsensitive={names}\nquasi_identifiers={names[::-1]}\ntarget='d'\n"
    return text + "".join(f"[[columns]]\nname='{name}'\nkind='integers'\nlow=0\nhigh=1\n" for name in names)


@pytest.mark.figures
@pytest.mark.parametrize("kind", ["edges and cuts", "levels of levels", "columns and roles"])
def test_a_large_file_is_read_or_refused_soon(kind):
    """Work that grows with the square of the file would let one file stop a server."""
    text = f"format = 1\n{_large(kind)}"
    start = time.perf_counter()
    with contextlib.suppress(SchemaError):
        Schema.from_toml(text, max_bytes=2**21)

    assert len(text) > 2**18
    assert time.perf_counter() - start < 10
