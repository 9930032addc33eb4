"""A CSV file cannot hurt: it is read, or refused in our words, quickly and in little memory."""

import io
import resource
import time

import pyarrow.csv as arrow_csv
import pytest

from attacks._mutations import CSV_WAYS, RARE_CSV_WAYS, SENTINEL, drawer, mutated
from evenhand.errors import EvenhandError, LimitExceededError, UnreadableFileError
from evenhand.schema import Column, Domain, Schema
from evenhand.table import Table, read_csv

SCHEMA = Schema(
    [
        Column("name", Domain.categorical([SENTINEL, "b"]), outside="other", nulls="other"),
        Column("age", Domain.integers(0, 99), outside="other", nulls="other"),
        Column("rate", Domain.binned([0, 1, 2]), outside="drop", nulls="drop"),
        Column("here", Domain.categorical([True, False]), outside="other", nulls="drop"),
    ]
)
ROW = f"{SENTINEL},41,1.5,true,{SENTINEL} note\n"
BASES = [
    "name,age,rate,here,note\n" + ROW * 3,
    "name,age,rate,here,note\n"
    + f'"{SENTINEL}",41,,false,"a ""{SENTINEL}"", b"\n' * 2
    + f'"{SENTINEL}\nx",,1e-3,,ü\n',
    f"name,age,rate,here,note\r\n{SENTINEL},0,0,TRUE,\r\n",
    "note;name\n1;2\n",
    f"name;age;rate;here;note\n{SENTINEL};41;1,5;true;ü\n" * 2,
    f"name\tage\trate|here\n{SENTINEL}\t41\t1.5|1,5\n",
    "name,age,rate,here,note\n",
    ROW,
    "",
]
SECONDS, MEGABYTES = 2, 512


def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def attack(count, seed):
    """Read `count` broken files and return what was worst, and what was said."""
    draw = drawer(seed)
    read_csv(io.BytesIO(BASES[0].encode()))  # the first use loads libraries, whatever the file
    before, slowest, read, messages = peak_megabytes(), 0.0, 0, set()
    for place in range(count):
        ways = RARE_CSV_WAYS if place % 100 == 0 else CSV_WAYS
        data = mutated(draw.choice(BASES).encode(), draw, ways)
        start = time.perf_counter()
        try:
            if place % 2:
                Table.encode(read_csv(io.BytesIO(data), schema=SCHEMA), SCHEMA)
            else:
                read_csv(io.BytesIO(data))
            read += 1
        except (UnreadableFileError, LimitExceededError) as error:
            messages.add(str(error))
        slowest = max(slowest, time.perf_counter() - start)
    return slowest, peak_megabytes() - before, read, messages


def check(count, seed):
    slowest, growth, read, messages = attack(count, seed)

    assert slowest < SECONDS
    assert growth < MEGABYTES
    assert [message for message in messages if SENTINEL in message or "SENTINEL" in message] == []
    assert count // 20 < read < count  # the files are broken, but not so that nothing passes
    assert len(messages) > 15


@pytest.mark.figures
def test_five_thousand_broken_csv_files_are_read_or_refused_in_our_words():
    """Any other error is a crash of whatever called the reader; a cell in a message is a leak."""
    check(5_000, seed=1)


@pytest.mark.nightly
def test_two_hundred_thousand_broken_csv_files_are_read_or_refused_in_our_words():
    check(200_000, seed=2)


def test_the_search_for_cells_in_messages_can_see():
    """The twin: pyarrow's own reader fails on the same files and tells the cell."""
    draw = drawer(3)
    leaks = 0
    for _ in range(300):
        data = mutated(BASES[0].encode(), draw, CSV_WAYS)
        try:
            arrow_csv.read_csv(io.BytesIO(data))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is not ours
            leaks += SENTINEL in str(error) and not isinstance(error, EvenhandError)

    assert leaks > 0
