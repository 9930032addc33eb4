"""The table in a notebook shows the schema and runs nothing that a schema holds."""

from html.parser import HTMLParser

import pytest

from evenhand.schema import Column, Domain, Level, Schema

PAYLOADS = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "' onmouseover='alert(1)",
    "</td></tr></table><h1>",
    "&lt;b&gt;",
    "<!--",
    "javascript:alert(1)",
]


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.texts, self.open = set(), set(), [], []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def _read(schema):
    reader = _Reader()
    reader.feed(schema._repr_html_())
    reader.close()
    return reader


def _plain():
    return Schema(
        [
            Column("gender", Domain.categorical(["Female", "Male"])),
            Column("age", Domain.integers(17, 90), outside="drop", nulls="other"),
        ],
        sensitive=["gender", "age"],
        protected="gender",
        privileged="Male",
    )


def test_the_table_says_what_the_schema_says():
    assert _read(_plain()).texts == [
        "Schema of 2 columns",
        *("Column", "Domain", "Roles", "Outside the domain", "Missing"),
        *("gender", "2 values: Female, Male", "sensitive, protected (privileged: Male)", "error", "error"),
        *("age", "74 values: 17 … 90", "sensitive", "drop", "other"),
    ]


def test_levels_are_shown_where_there_are_any():
    column = Column("age", Domain.integers(0, 99), nulls="other", levels=[Level("half", cuts=[50])])
    texts = _read(Schema([column, Column("x", Domain.integers(0, 1))])).texts

    assert "Levels" in texts
    assert "half (2)" in texts


@pytest.mark.parametrize("payload", PAYLOADS)
def test_text_from_a_schema_stays_text(payload):
    """A schema file may come from anybody; opening it in a notebook must not run it."""
    hostile = Schema(
        [
            Column(
                payload,
                Domain.categorical([payload, "b"]),
                levels=[Level(payload, {payload: [payload, "b"]})],
            ),
            Column("bins", Domain.binned([0, 1], labels=[payload])),
        ],
        protected=payload,
        privileged=payload,
        target="bins",
        positive=payload,
    )
    calm = _read(Schema([Column("a", Domain.integers(0, 1), levels=[Level("l", cuts=[1])])]))
    seen = _read(hostile)

    assert seen.tags == calm.tags == {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert seen.attributes == calm.attributes == {"style", "scope"}
    assert seen.open == []
    assert payload in seen.texts


def test_nothing_is_fetched_and_the_colours_are_those_of_the_page():
    html = _plain()._repr_html_()

    assert "http" not in html
    assert "url(" not in html
    assert "color:inherit" in html
    assert "background:transparent" in html


def test_a_long_domain_makes_a_short_table():
    values = [f"a rather long category, number {number}" for number in range(10_000)]

    assert len(Schema([Column("x", Domain.categorical(values))])._repr_html_()) < 3_000


@pytest.mark.parametrize(
    ("count", "words"), [(61, "… and 1 more column"), (5_000, "… and 4,940 more columns")]
)
def test_of_very_many_columns_the_first_are_shown_and_the_rest_counted(count, words):
    schema = Schema([Column(f"x{number}", Domain.integers(0, 1)) for number in range(count)])
    reader = _read(schema)

    assert reader.texts[-1] == words
    assert "x59" in reader.texts
    assert "x60" not in reader.texts
    assert repr(schema).splitlines()[-1] == f"  {words}"
    assert len(repr(schema).splitlines()) == 62
